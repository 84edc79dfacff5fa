"""A fault of the user stops the run before the first job, with one clear message."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


def test_faulty_settings_stop_the_run_before_the_first_job(finished):
    """With the place alone; what is refused is tested in tests/faults/faulty_inputs.yaml."""
    text = finished.snakemake("-n", overrides={"simulation": {"frmaes": 25}}, fails=True)
    assert "key simulation.frmaes: " in text
    for noise in ("Traceback", "Building DAG", "common.smk", 'File "'):
        assert noise not in text


def test_job_that_fails_says_why_and_logs_the_traceback(finished, tmp_path_factory):
    copy = tmp_path_factory.mktemp("broken")
    shutil.copytree(finished.folder, copy, dirs_exist_ok=True)
    # Only a reader can notice a truncated file with an old time stamp.
    broken = finished.folder / "results" / "quick" / "simulation" / "gait" / "b000.nc"
    whole = broken.read_bytes()
    try:
        broken.write_bytes(whole[: len(whole) // 2])
        text = finished.snakemake(
            "--rerun-triggers",
            "params",
            "--forcerun",
            "accumulate_wear",
            "--until",
            "accumulate_wear",
            fails=True,
        )
        assert "b000.nc.damaged: run the same command again" in text
        log = finished.folder / "results" / "quick" / "logs" / "accumulate_wear" / "b000.log"
        assert "Traceback" in log.read_text()
    finally:
        shutil.rmtree(finished.folder / "results")
        shutil.rmtree(finished.folder / ".snakemake")
        shutil.copytree(copy / "results", finished.folder / "results")
        shutil.copytree(copy / ".snakemake", finished.folder / ".snakemake")


def test_make_study_shows_stages_and_names_its_log(finished):
    """With the logger of the Makefile; the whole of a fresh clone is under 80 lines."""
    command, environment = finished.command("--logger", "kneewear")
    plugins = str(finished.folder / "workflow" / "terminal")
    environment["PYTHONPATH"] += os.pathsep + plugins

    def shown():
        done = subprocess.run(
            command,
            cwd=finished.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = done.stderr.splitlines()
        assert len(lines) < 60
        assert max(map(len, lines)) <= 200
        return lines

    assert shown() == ["The study is up to date: nothing was run."]
    (finished.folder / "results/quick/report/index.html").unlink()
    begun, stage, log = shown()
    assert begun == "Jobs: 1, stages: 1"
    assert re.fullmatch(r"\[100 %\] write report, \d+ s", stage)
    assert (finished.folder / log.removeprefix("Full log: ")).is_file()


def test_when_all_cases_fail_the_message_states_why_and_a_second_attempt_ends_at_once(finished):
    overrides = {
        "study": "all_failing",
        "variables": {"thickness_mm": [6], "body_mass_kg": [390, 400]},
        "simulation": {"pressure_law": {"material": "polyethylene_37c"}},
    }
    wanted = "results/all_failing/tables/cases.csv"
    text = finished.snakemake(wanted, overrides=overrides, fails=True)
    assert "All 2 cases failed. The first: Case 6mm_390kg, activity gait: " in text
    assert "Error in rule simulate_contact" not in text
    # As the command of a cluster's second attempt.
    again = finished.snakemake("--attempt", "2", wanted, overrides=overrides, fails=True)
    assert "(not tried again; log: results/all_failing/logs/analyse_cases.log)" in again
