"""Faulty input is refused at its place, or warned of, before the first job."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tracemalloc
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

import kneewear
from kneewear import default_settings_file
from kneewear.__main__ import main
from kneewear.base.checks import checks, drop_ignored
from kneewear.base.keys import ranges_by_path
from kneewear.errors import InputDataError
from kneewear.study.files import check_inputs
from kneewear.study.settings import STUDIES, read_settings, read_study
from tests.faults.faulty_inputs import CHECKOUT, DATA, write_input
from tests.overlays import AFTER

CASES = yaml.safe_load(Path(__file__).with_name("faulty_inputs.yaml").read_text(encoding="utf-8"))
RIGHT = yaml.safe_load(Path(__file__).with_name("right_inputs.yaml").read_text(encoding="utf-8"))
SHIPPED = sorted(
    str(path.relative_to(CHECKOUT))
    for path in (CHECKOUT / "config").glob("**/*.yaml")
    if path.name != "defaults.yaml"
)


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(CHECKOUT)
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)


def judged(*paths):
    """Findings about a study and its files."""
    return check_inputs(read_study(*paths, defaults=default_settings_file()), CHECKOUT)


def noted(path):
    """Checks that warn of a study."""
    return {one.check for one in judged(path) if one.severity != "note"}


@cache
def noted_of_base(**base):
    """Checks that warn of the study that inputs are made from."""
    with TemporaryDirectory() as folder:
        return noted(write_input(base, Path(folder)))


def refusal(path):
    """Finding of a refused study."""
    with pytest.raises(InputDataError) as caught:
        judged(path)
    assert caught.value.finding.found
    return caught.value.finding


@pytest.mark.parametrize(
    "case",
    [pytest.param(one, marks=pytest.mark.slow) if one.get("data") else one for one in CASES],
    ids=lambda case: case["case"],
)
def test_faulty_input_is_refused_at_its_place_or_warned_of(case, tmp_path):
    if case.get("data") and not DATA.is_dir():
        pytest.skip("needs the data folder")
    path = write_input(case, tmp_path)
    if "refused" in case:
        finding = refusal(path)
        where = finding.where
        for folder in (tmp_path, CHECKOUT, DATA):
            where = where.replace(f"{folder}/", "")
        # Lines of shipped studies may move.
        where = where if {"text", "bytes"} & set(case) else re.sub(r"line \d+, (?=key)", "", where)
        assert (where, finding.check) == (case["refused"], case.get("check", ""))
        assert finding.remedy
        return
    findings = judged(path)
    found = {finding.check for finding in findings}
    assert case["warned"] in found
    assert {finding.severity for finding in drop_ignored(findings, sorted(found))} == {"note"}


@pytest.mark.parametrize(
    "case",
    [pytest.param(one, marks=pytest.mark.slow) if one.get("data") else one for one in RIGHT],
    ids=lambda case: case["case"],
)
def test_right_input_is_not_named(case, tmp_path):
    if case.get("data") and not DATA.is_dir():
        pytest.skip("needs the data folder")
    base = {key: case[key] for key in ("base", "data") if key in case}
    assert noted(write_input(case, tmp_path)) <= noted_of_base(**base)


def test_cases_are_many_and_name_checks():
    assert len({case["case"] for case in CASES}) == len(CASES) > 200
    named = {case[key] for case in CASES for key in ("warned", "check") if key in case}
    assert named <= {*checks(), *(path for one in STUDIES.values() for path in ranges_by_path(one))}


def write_huge(path):
    """A mesh of two gigabytes that take no room on the disk."""
    with path.open("wb") as file:
        file.truncate(2_000_000_000)


@pytest.mark.parametrize(
    "make",
    [lambda path: path.symlink_to("gone.stl"), Path.mkdir, write_huge],
    ids=["link to nowhere", "folder", "two gigabytes"],
)
def test_a_mesh_that_is_no_readable_file(make, tmp_path):
    make(tmp_path / "odd.stl")
    case = {"base": "example_meshes", "set": {"implant.meshes.insert": "odd.stl"}}
    assert refusal(write_input(case, tmp_path)).where == str(tmp_path / "odd.stl")


# Nine to the power of nine entries.
BOMB = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "# padding\n" * 100_000,
        "seed: " + "9" * 100_000 + "\n",
        f"study: {'a' * 300}\n",
        f"data_folder: {'a' * 100_000}\n",
        'seed: !!python/object/apply:pathlib.Path.touch ["ran"]\n',
    ],
    ids=["aliases", "megabyte", "digits", "name", "folder", "code"],
)
def test_settings_without_end_take_no_memory_and_run_nothing(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tracemalloc.start()
    refusal(write_input({"text": text}, tmp_path))
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "value",
    ["[" * 1000 + "]" * 1000, "[" * 90000, "{a: " * 20000, "\n " + "- " * 90000],
    ids=["closed", "open", "mappings", "dashes"],
)
def test_lists_within_lists_without_end_are_refused(value, tmp_path):
    """A compiled reader of YAML would overflow its stack."""
    refusal(write_input({"text": f"study: {value}\n"}, tmp_path))


EXAMPLE = {"base": "example_meshes"}
HARMLESS = {
    "numbers that YAML takes for text": {"text": "simulation: {tolerance: 1e-6}\n"},
    "number in quotes": {"text": 'simulation: {frames: "30"}\n'},
    "Windows line ends": {"text": "simulation:\r\n  frames: 30\r\nseed: 2\r\n"},
    "byte order mark": {"text": "\ufeffseed: 2\n"},
    "accents in a name": {"text": "implant: {name: Prothèse à glissement}\n"},
    "quoted no": {"text": 'study: "no"\n'},
    "anchor and alias": {"text": "variables: {thickness_mm: &a [6, 8], body_mass_kg: [50]}\n"},
    "table with Windows line ends": EXAMPLE | {"motion": [{"replace": ["\n", "\r\n"]}]},
    "table with a byte order mark": EXAMPLE | {"motion": [{"before": "efbbbf"}]},
    "held angle with the digits of a file": EXAMPLE
    | {"motion": [{"scaled": {"varus_deg": [1.0, 0.0, 1e-8]}}]},
    "comment of a mesh in another encoding": EXAMPLE | {"insert": [{"put": [0, "4df66c6c6572"]}]},
}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_oddities_are_accepted(name, tmp_path, capsys):
    main(["check", "--files-only", str(write_input(HARMLESS[name], tmp_path))])
    assert capsys.readouterr().out


def test_folders_with_blanks_and_accents_links_and_read_only_data_are_accepted(tmp_path, capsys):
    real = tmp_path / "échantillon n° 1 (à lire)"
    real.mkdir()
    settings = write_input(EXAMPLE, real)
    for path in real.iterdir():
        path.chmod(0o444)
    real.chmod(0o555)
    (tmp_path / "link to data").symlink_to(real)
    linked = tmp_path / "données"
    linked.mkdir()
    for path in real.iterdir():
        (linked / path.name).symlink_to(path)
    for folder in (real, tmp_path / "link to data", linked):
        text = settings.read_text().replace(str(real), str(folder))
        (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
        main(["check", "--files-only", str(tmp_path / "mine.yaml")])
        assert capsys.readouterr().out
    real.chmod(0o755)


def test_file_without_permission_to_read_is_reported(monkeypatch):
    # The other user could not write what the coverage tool counts.
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    script = (
        # Checkout and Python may lie in folders that are closed to others: all is loaded, the
        # checkout is looked for, and the default settings are copied, while this user may.
        "import functools, os, sys\nimport kneewear\n"
        "kneewear.checkout_folder = functools.cache(kneewear.checkout_folder)\n"
        "import kneewear.__main__ as program\n"
        "program.main(['check', '--files-only', *sys.argv[2:]])\n"
        "program.default_settings_file = lambda: sys.argv[1]\n"
        "os.chmod('insert.stl', 0)\n"
        "if os.getuid() == 0:\n    os.setuid(65534)\n"
        "program.main(['check', '--files-only', *sys.argv[2:]])\n"
    )
    # Folders of pytest are closed to other users.
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        settings = write_input(EXAMPLE, folder)
        default = folder / "default.yaml"
        default.write_bytes(default_settings_file().read_bytes())
        done = subprocess.run(
            [sys.executable, "-c", script, str(default), str(settings)],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout
    assert "insert.stl: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", AFTER)
def test_files_that_come_after_another_one_are_refused_alone(name):
    with pytest.raises(InputDataError) as caught:
        read_study(CHECKOUT / name, defaults=default_settings_file())
    assert AFTER[name] in caught.value.finding.remedy
    assert caught.value.finding.where.endswith("key follows")
    together = read_study(CHECKOUT / AFTER[name], CHECKOUT / name, defaults=default_settings_file())
    assert together.follows is None


def test_settings_of_python_may_be_followed():
    base = read_settings(CHECKOUT / AFTER["config/papers/fe_knee_natural.yaml"])
    followed = read_study(
        base, CHECKOUT / "config/papers/fe_knee_natural.yaml", defaults=default_settings_file()
    )
    assert followed.study == "fe_knee_natural"


@pytest.mark.parametrize(
    "name",
    [name if "example" in name else pytest.param(name, marks=pytest.mark.slow) for name in SHIPPED],
)
def test_shipped_studies_give_no_alarm(name):
    paths = [AFTER[name], name] if name in AFTER else [name]
    try:
        findings = judged(*(CHECKOUT / path for path in paths))
    except InputDataError as error:
        # Tables of the standards are for the user to fill in.
        shipped = "config/" in error.finding.where.split(",")[0]
        if not shipped or name == "config/standards.yaml":
            pytest.skip(f"needs files that are not shipped: {error}")
        raise
    # What a study ignores, it names with a reason.
    alarms = {finding.check for finding in findings if finding.where != "checks.ignore"}
    assert alarms <= {"files.checkout"}


def test_default_study_gives_no_alarm():
    assert judged() == ()


def test_natural_knee_with_exchanged_sides_is_refused():
    axes = {"x": "posterior", "y": "superior", "z": "medial"}
    try:
        judged(CHECKOUT / "config/papers/natural_knee.yaml")
    except InputDataError:
        pytest.skip("needs the data folder")
    with pytest.raises(InputDataError):
        judged(
            CHECKOUT / "config/papers/natural_knee.yaml", {"implant": {"natural": {"axes": axes}}}
        )


@pytest.mark.parametrize(
    ("start", "refused"), [("dwell_pose", False), (-104.0, False), (53.0, False), ("file", True)]
)
def test_positions_relative_to_the_dwell_pose_or_moved_are_judged_on_the_bearing(
    start, refused, tmp_path
):
    gait = kneewear.default_study().model_dump(mode="json")["activities"]["gait"]
    changes = {
        "activities.gait.femur_posterior_mm": gait["femur_posterior_mm"] | {"base": 100.0},
        "activities.gait.zero": {"anterior_posterior": start},
    }
    path = write_input({"set": changes}, tmp_path)
    if refused:
        assert refusal(path).check == "motion.anterior_posterior"
    else:
        assert judged(path) == ()
