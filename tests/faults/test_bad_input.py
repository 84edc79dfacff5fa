"""Every kind of bad input has its own message, before the first job."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kneewear import default_settings_file
from kneewear.__main__ import main
from tests.faults.bad_input import KINDS, render_table
from tests.faults.fault_catalogue import FAULTS
from tests.faults.fault_catalogue import render_table as fault_table
from tests.faults.faulty_files import CHECKOUT, bomb, example, replaced, text


def message(path):
    """What is said about a settings file; a fault must end the check without a traceback."""
    with pytest.raises(SystemExit) as caught:
        main([str(path)])
    assert isinstance(caught.value.code, str), caught.value
    return caught.value.code


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.group}: {kind.name}")
def test_bad_input_is_refused_with_its_own_message(kind, tmp_path):
    said = message(kind.make(tmp_path))
    position = 0
    for piece in kind.said:
        assert piece in said[position:], said
        position = said.index(piece, position)
    assert "found" in said
    assert "expected" in said
    assert said.rstrip().endswith((".", "?", '"', ")")), said


def test_catalogue_is_large_and_has_no_message_twice():
    assert len(KINDS) >= 60
    assert len({(kind.group, kind.name) for kind in KINDS}) == len(KINDS)
    assert len({kind.said for kind in KINDS}) == len(KINDS)
    assert render_table().count("\n") == len(KINDS) + 2


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_of_the_catalogue_has_its_test(fault):
    file, _, function = fault.test.partition("::")
    assert f"def {function}(" in (CHECKOUT / file).read_text()


def test_catalogue_of_faults_is_large():
    assert len(FAULTS) >= 12
    assert fault_table().count("\n") == len(FAULTS) + 2


HARMLESS = {
    "numbers that YAML takes for text": text("simulation: {tolerance: 1e-6}\n"),
    "number in quotes": text('simulation: {frames: "30"}\n'),
    "Windows line ends": text("simulation:\r\n  frames: 30\r\nseed: 2\r\n"),
    "byte order mark": text("\ufeffseed: 2\n"),
    "accents in a name": text("implant: {name: Prothèse à glissement}\n"),
    "quoted no": text('study: "no"\n'),
    "anchor and alias": text("cases: {thickness_mm: &a [6, 8], body_mass_kg: [50]}\n"),
    "tables with Windows line ends": example(motion=replaced("\n", "\r\n")),
    "table with a byte order mark": example(motion=lambda content: b"\xef\xbb\xbf" + content),
    "comment of a mesh in another encoding": example(
        insert=lambda content: "Implant von Müller".encode("latin-1").ljust(80) + content[80:]
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_oddities_are_accepted(name, tmp_path, capsys):
    main([str(HARMLESS[name](tmp_path))])
    assert "no fault found" in capsys.readouterr().out


def test_folders_with_blanks_and_accents_links_and_read_only_data_are_accepted(tmp_path, capsys):
    real = tmp_path / "échantillon n° 1 (à lire)"
    real.mkdir()
    settings = example()(real)
    for path in real.iterdir():
        path.chmod(0o444)
    real.chmod(0o555)
    (tmp_path / "link to data").symlink_to(real)
    linked = tmp_path / "données"
    linked.mkdir()
    for path in real.iterdir():
        (linked / path.name).symlink_to(path)
    for folder in (real, tmp_path / "link to data", linked):
        text_of = settings.read_text().replace(str(real), str(folder))
        (tmp_path / "mine.yaml").write_text(text_of, encoding="utf-8")
        main([str(tmp_path / "mine.yaml")])
        assert "no fault found" in capsys.readouterr().out
    real.chmod(0o755)


def test_file_without_permission_to_read_is_reported(monkeypatch):
    # The other user could not write what the coverage tool counts.
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    script = (
        "import os, sys\nimport kneewear.__main__ as program\n"
        # Checkout and Python may lie in folders that are closed to others: all is loaded, and the
        # default settings are copied, while this user may.
        "program.main(sys.argv[2:])\n"
        "program.default_settings_file = lambda: sys.argv[1]\n"
        "os.chmod('insert.stl', 0)\n"
        "if os.getuid() == 0:\n    os.setuid(65534)\n"
        "program.main(sys.argv[2:])\n"
    )
    # Folders of pytest are closed to other users.
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        settings = example()(folder)
        default = folder / "default.yaml"
        default.write_bytes(default_settings_file().read_bytes())
        done = subprocess.run(
            [sys.executable, "-c", script, str(default), str(settings)],
            cwd=folder, env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert "no fault found" in done.stdout
    assert "insert.stl: found a file without read permission" in done.stderr
    assert "Traceback" not in done.stderr


def test_reading_settings_runs_nothing_and_takes_no_memory(tmp_path):
    hook = f'seed: !!python/object/apply:pathlib.Path.touch ["{tmp_path / "ran"}"]\n'
    tracemalloc.start()
    for content in (bomb(), hook, "a: " + "9" * 100_000 + "\n"):
        assert "found" in message(text(content)(tmp_path))
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert not (tmp_path / "ran").exists()
