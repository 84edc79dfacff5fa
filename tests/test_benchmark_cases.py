"""The open benchmark set: files of cases, their two solutions, and the runner."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from benchmarks.cases import frames, solutions
from benchmarks.cases.score import (
    FOLDER,
    MISSING,
    OUTSIDE,
    WITHIN,
    load_cases,
    main,
    read_submission,
    score,
)

CASES = load_cases()
# Solved by steps in time or triangle by triangle, for seconds.
LONG = {
    solutions.worn_sphere,
    solutions.groove,
    solutions.worn_ring,
    solutions.condyle_on_plateau,
    solutions.sphere_on_layer,
}


def test_set_is_documented_and_of_all_fields():
    assert {case["name"] for case in CASES} == {frames.NAME} | {
        build.__name__ for build in solutions.CASES
    }
    assert len(CASES) >= 12
    assert {case["field"] for case in CASES} == {"contact", "dynamics", "ligaments", "wear"}
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{case['name']}`" in text for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_file_obeys_the_schema_and_its_solutions_agree(case):
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(case, schema)
    # Elements of a whole bearing have mesh errors of up to 2.6 %; other solutions are exact.
    part = 0.5 if case["name"] == frames.NAME else 0.1
    for one in case["quantities"]:
        first, second = (solution["value"] for solution in one["solutions"])
        assert second == pytest.approx(first, rel=part * 0.01 * one["tolerance_percent"])


@pytest.mark.parametrize(
    "build",
    [pytest.param(one, marks=[pytest.mark.slow] if one in LONG else []) for one in solutions.CASES],
    ids=lambda one: one.__name__,
)
def test_file_is_what_its_solutions_compute(build):
    (stored,) = (case for case in CASES if case["name"] == build.__name__)
    for found, kept in zip(build()["quantities"], stored["quantities"], strict=True):
        assert found["name"] == kept["name"]
        for new, old in zip(found["solutions"], kept["solutions"], strict=True):
            assert new["method"] == old["method"]
            assert new["value"] == pytest.approx(old["value"], rel=1e-6)


def test_surfaces_and_poses_of_files_are_those_of_the_solutions(tmp_path):
    solutions.save_poses(tmp_path / "case")
    for file in (tmp_path / "case").iterdir():
        assert file.read_bytes() == (FOLDER / "condyle_on_plateau" / file.name).read_bytes()
    (case,) = (case for case in CASES if case["name"] == "condyle_on_plateau")
    assert all((FOLDER / name).is_file() for name in case["files"])


@pytest.mark.slow
def test_frames_of_a_bearing_equal_the_finite_element_comparison(tmp_path):
    found = frames.bearing_frames(tmp_path)
    (stored,) = (case for case in CASES if case["name"] == frames.NAME)
    assert found["quantities"] == stored["quantities"]
    assert found["inputs"] == stored["inputs"]
    new, old = (pd.read_csv(one / frames.NAME / "frames.csv") for one in (tmp_path, FOLDER))
    pd.testing.assert_frame_equal(new, old, rtol=1e-6)
    assert all((tmp_path / name).is_file() for name in stored["files"])


def write(path, *rows):
    path.write_text("# a code\ncase,quantity,value\n" + "".join(f"{row}\n" for row in rows))
    return path


def test_runner_judges_by_the_tolerance_of_each_quantity(tmp_path, capsys):
    (force,) = (case for case in CASES if case["name"] == "tilted_plane")
    exact = force["quantities"][0]["solutions"][0]["value"]
    file = write(
        tmp_path / "mine.csv", f"tilted_plane,force,{1.009 * exact}", "cross_shear,rectangle,0.31"
    )
    rows = {(row["case"], row["quantity"]): row for row in score(CASES, read_submission(file))}
    assert rows["tilted_plane", "force"]["verdict"] == WITHIN
    assert rows["tilted_plane", "force"]["error_percent"] == pytest.approx(0.9)
    assert rows["cross_shear", "rectangle"]["verdict"] == OUTSIDE
    assert rows["socket", "volume"]["verdict"] == MISSING
    assert main([str(file)]) == 1
    assert "outside" in capsys.readouterr().out
    assert main([str(write(file, f"tilted_plane,force,{exact}"))]) == 0


@pytest.mark.parametrize(
    ("code", "least"),
    [("kneewear", 12), ("kneewear_finite_elements", 4), ("opensim", 6), ("drake", 4)],
)
def test_stored_results_are_within_the_tolerances(code, least):
    rows = list(score(CASES, read_submission(Path(FOLDER) / "submissions" / f"{code}.csv")))
    assert all(row["verdict"] != OUTSIDE for row in rows)
    assert sum(row["verdict"] == WITHIN for row in rows) >= least
