"""The command line: each command in the folder of its settings, by the functions behind it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kneewear.__main__ import main
from kneewear.runs.launch import enter_study_folder, study_folder

CHECKOUT = Path(__file__).parents[1]


def test_studies_run_beside_their_settings_and_those_of_the_checkout_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "mine.yaml").touch()
    assert study_folder([]) == Path()
    assert study_folder([str(CHECKOUT / "config" / "quick.yaml")]) == Path()
    assert study_folder(["elsewhere/mine.yaml"]) == folder
    assert enter_study_folder(["elsewhere/mine.yaml"]) == [str(folder / "mine.yaml")]
    assert Path.cwd() == folder


@pytest.mark.workflow
@pytest.mark.slow
def test_a_study_outside_the_checkout_is_planned_with_the_workflow_of_the_package(tmp_path):
    (tmp_path / "mine.yaml").write_text("study: mine\n", encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    for command in (["run", "mine.yaml", "--", "--dry-run"], ["unlock", "mine.yaml"]):
        done = subprocess.run(
            [sys.executable, "-m", "kneewear", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / ".snakemake").is_dir()


def test_studies_that_are_not_there_are_not_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["compare", "one two"])
    assert str(ended.value).startswith(str(Path("results", "one")))


@pytest.mark.parametrize("cores", ["-3", "0", "1.5", "many"])
def test_numbers_of_cores_that_are_none_are_refused(cores):
    with pytest.raises(SystemExit) as ended:
        main(["run", f"--cores={cores}", "config/quick.yaml"])
    assert ended.value.code == 2
