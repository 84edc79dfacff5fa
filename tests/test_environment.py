"""What is checked before Snakemake starts, each fault with its message."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kneewear.environment import check_machine, settings_files
from kneewear.errors import InputDataError

CHECKOUT = Path(__file__).parent.parent


def test_names_with_blanks_are_found_among_several(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("my file.yaml", "other.yaml"):
        Path(name).write_text("seed: 1\n")
    assert settings_files(["my file.yaml other.yaml"]) == ["my file.yaml", "other.yaml"]
    assert settings_files(["my", "file.yaml", "other.yaml"]) == ["my file.yaml", "other.yaml"]
    assert settings_files([""]) == []
    with pytest.raises(InputDataError, match=r"^none\.yaml: found no such file"):
        settings_files(["other.yaml none.yaml"])


@pytest.mark.parametrize(("variable", "said"), [
    ("TMPDIR", "temporary folder .*TMPDIR=folder make study"),
    ("XDG_CACHE_HOME", "cache folder .*XDG_CACHE_HOME=folder make study"),
])  # fmt: skip
def test_folder_that_cannot_be_used_is_named_with_the_remedy(variable, said, monkeypatch):
    check_machine()
    monkeypatch.setenv(variable, "/proc/none")
    with pytest.raises(InputDataError, match=said):
        check_machine()


MISTYPED = {
    "mistyped path": (None, "mine.yaml: found no such file"),
    "empty": (b"", "mine.yaml: found an empty file"),
    "list": (b"- 1\n", "mine.yaml: found a list"),
    "tab": (b"seed:\n\t- 1\n", "mine.yaml, line 2, column 1"),
    "Latin-1": ("study: é\n".encode("latin-1"), "mine.yaml, line 1: found a byte 0xe9"),
    "UTF-16": ("seed: 1\n".encode("utf-16"), "mine.yaml, line 1: found a byte"),
    "alias of itself": (b"a: &a [*a]\n", "aliases unfolded"),
}


@pytest.mark.workflow
@pytest.mark.parametrize("name", MISTYPED)
def test_make_study_reports_a_file_that_is_no_settings(name, tmp_path):
    content, said = MISTYPED[name]
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_bytes(content)
    if not (CHECKOUT / ".venv").exists():
        pytest.skip("needs the environment of make")
    done = subprocess.run(["make", "-s", "study", f"CONFIG={path}"], cwd=CHECKOUT, check=False,
                          capture_output=True, text=True, env=os.environ)  # fmt: skip
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.workflow
def test_link_to_no_environment_is_reported(tmp_path):
    for name in ("Makefile", "requirements.lock"):
        (tmp_path / name).write_bytes((CHECKOUT / name).read_bytes())
    (tmp_path / ".venv").symlink_to(tmp_path / "gone")
    done = subprocess.run(["make", "-s", "study"], cwd=tmp_path, check=False, capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode != 0
    assert "which holds no environment; expected a folder. Remove the link" in done.stdout


def test_source_distribution_holds_what_its_makefile_needs():
    text = (CHECKOUT / "pyproject.toml").read_text()
    included = next(line for line in text.splitlines() if line.startswith("include = "))
    assert '"/Makefile"' in included
    assert '"/requirements.lock"' in included


def test_setting_of_the_command_line_is_named_so():
    from kneewear.workflow import checked_study

    with pytest.raises(InputDataError, match=r"^option --config of the command line, key wear\."):
        checked_study({"wear": {"months": -3}}, [], str(CHECKOUT), False, {"wear": {"months": -3}})


def test_markup_in_texts_is_refused():
    from kneewear.workflow import checked_study

    own = {"implant": {"name": "</script><script>alert(1)</script>"}}
    with pytest.raises(InputDataError, match=r"key implant\.name: found the character '<'"):
        checked_study(own, [], str(CHECKOUT), False)


def test_digest_follows_the_content(tmp_path):
    from kneewear.workflow import input_digests

    path = tmp_path / "a.csv"
    path.write_text("1\n")
    before = input_digests([str(path)])
    path.write_text("2\n")
    os.utime(path, (1e9, 1e9))
    assert input_digests([str(path)]) != before
    assert input_digests([str(tmp_path / "none")]) == [""]
