"""A fault of the user stops the run before the first job, with one clear message."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from tests.workflow.conftest import CHECKOUT

pytestmark = pytest.mark.workflow

EXAMPLE = CHECKOUT / "config" / "example_meshes.yaml"


def example(finished, **changes):
    """Overrides that run the example meshes, some of their files replaced."""
    import yaml

    settings = yaml.safe_load(EXAMPLE.read_text())
    settings["implant"]["meshes"] |= {
        key: value for key, value in changes.items() if key in ("insert", "femoral", "unit")
    }
    if "motion" in changes:
        settings["activities"]["example_gait"]["motion"]["file"] = changes["motion"]
    return settings


def refusal(finished, overrides):
    text = finished.snakemake("-n", overrides=overrides, fails=True)
    assert "Traceback" not in text
    assert "Building DAG" not in text
    # Where in our rules it was noticed is of no use to the one who can mend it.
    assert "common.smk" not in text
    assert 'File "' not in text
    return text


def test_misspelt_key(finished):
    text = refusal(finished, {"simulation": {"frmaes": 25}})
    assert "key simulation.frmaes: found an unknown key" in text
    assert "Did you mean 'frames'?" in text


def test_value_out_of_range(finished):
    text = refusal(finished, {"simulation": {"medial_share": 70}})
    assert "key simulation.medial_share: found 70; expected less than 1" in text


def test_missing_mesh(finished):
    text = refusal(finished, example(finished, insert="none.stl"))
    assert "none.stl: found no such file" in text
    assert "KNEEWEAR_DATA" in text


@pytest.mark.slow
def test_mesh_in_another_unit(finished):
    text = refusal(finished, example(finished, unit="m"))
    assert "insert.stl" in text
    assert "unit" in text


@pytest.mark.slow
def test_example_meshes_are_accepted(finished):
    planned = finished.planned(example(finished))
    assert planned["build_geometry"] == 1


@pytest.mark.slow
def test_simulator_is_accepted_and_only_its_motion_is_tried_with_other_signs(finished):
    import yaml

    settings = yaml.safe_load((CHECKOUT / "config" / "example_simulator.yaml").read_text())
    planned = finished.planned(settings)
    assert planned["prepare_activity"] == 2
    assert planned["check_signs"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("flexion_deg", "flexion", "a column 'flexion_deg'"),
        (None, "nan", "column 'flexion_deg', data row 49: found 'nan'"),
    ],
)
def test_motion_with_a_missing_column_or_a_gap(finished, old, new, message):
    source = CHECKOUT / "config" / "example_meshes" / "gait.csv"
    lines = source.read_text().splitlines()
    if old is None:
        cells = lines[-3].split(",")
        lines[-3] = ",".join([cells[0], new, *cells[2:]])
    else:
        lines = [line.replace(old, new) if line.startswith("percent") else line for line in lines]
    (finished.folder / "gait.csv").write_text("\n".join(lines) + "\n")
    assert message in refusal(finished, example(finished, motion="gait.csv"))


@pytest.mark.slow
def test_load_that_vanishes(finished):
    faulty = {"activities": {"gait": {"load_body_weights": {"base": -1.0}}}}
    text = refusal(finished, faulty)
    assert "key activities.gait.load_body_weights: found a load of" in text


@pytest.mark.slow
def test_files_of_the_checkout_used_for_want_of_the_data_folder(finished):
    text = finished.snakemake("-n", overrides=example(finished) | {"data_folder": "nowhere"})
    assert "Read from the checkout" in text
    assert "nowhere (no such folder)" in text


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_when_all_cases_fail_the_message_states_why_and_a_second_attempt_ends_at_once(finished):
    overrides = {
        "study": "all_failing",
        "cases": {"thickness_mm": [6, 10], "body_mass_kg": [390, 400]},
        "simulation": {"pressure_law": {"material": "polyethylene_37c"}},
    }
    wanted = "results/all_failing/tables/cases.csv"
    text = finished.snakemake(wanted, overrides=overrides, fails=True)
    assert "All 4 cases failed. The first: Case 6mm_390kg, activity gait: " in text
    assert "Error in rule simulate_contact" not in text
    # As the command of a cluster's second attempt.
    again = finished.snakemake("--attempt", "2", wanted, overrides=overrides, fails=True)
    assert "(not tried again; log: results/all_failing/logs/tabulate_results.log)" in again
