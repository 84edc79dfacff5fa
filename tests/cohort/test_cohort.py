"""Cohorts: rows of the file, percentiles of known samples, and subjects outside validity."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from examples.synthetic_cohort import write_cohort
from kneewear.errors import InputDataError
from kneewear.io.cohorts import read_cohort, subject_reader
from kneewear.io.study_inputs import load_activity, subject_files
from kneewear.settings.cases import OUTPUTS
from kneewear.settings.study import apply_case, load_study, merge_settings, read_settings
from kneewear.sides import SIDES
from kneewear.studies.cases import CaseRunner, column_name, evaluate_cases, join_sides
from kneewear.studies.cohort.analysis import (
    compare_designs,
    find_effects,
    find_outside,
    find_percentiles,
    quantile_limits,
)
from kneewear.studies.cohort.cases import evaluate_subjects, list_pairs
from kneewear.studies.life import built_in_activities, exact_knee
from tests.physics.bodies import IS_COMPILED, SMALL
from tests.workflow.conftest import CHECKOUT

DEFAULT = read_settings(CHECKOUT / "config/config.yaml")
EXAMPLE = merge_settings(DEFAULT, read_settings(CHECKOUT / "config/cohort_example.yaml"))
PLAIN = merge_settings(
    EXAMPLE,
    {
        "grid": {"rows": SMALL[0], "columns": SMALL[1]},
        "table": {"u_points": 31, "v_points": 21},
        "simulation": {"frames": 8 if IS_COMPILED else 6, "distance": "exact"},
        "cohort": {
            "columns": dict.fromkeys(EXAMPLE["cohort"]["columns"])
            | {"mass": {"settings": ["cases.body_mass_kg.0"]}},
            "covariates": ["age"],
        },
        "designs": {
            "nominal": {"sizes": dict.fromkeys(("small", "medium", "large"))},
            "conforming": None,
            "stiff": {"changes": {"nominal_thickness_mm": 6.0}},
        },
    },
)
MEASURED = merge_settings(
    merge_settings(PLAIN, read_settings(CHECKOUT / "config/example_meshes.yaml")),
    {
        "kind": "cohort",
        "implant": DEFAULT["implant"],
        "cases": EXAMPLE["cases"],
        "designs": {"nominal": None, "stiff": None},
        "grid": {"rows": SMALL[0], "columns": SMALL[1]},
        "simulation": {"analysis": "quasi_static", "frames": 8},
        "cohort": {"activity": "example_gait"},
        "report": {"compare_with_published": False},
    },
)


def plain(**changes):
    """Return a small cohort of a column of masses, with some settings changed."""
    return load_study(merge_settings(PLAIN, changes))


def rows_of(tmp_path, text, study=None):
    """Subjects of a file with some text."""
    (tmp_path / "cohort.csv").write_text(text)
    return read_cohort(tmp_path / "cohort.csv", study or plain())


def results(**columns):
    """Results of evaluated subjects: zero, but for some columns."""
    count = len(next(iter(columns.values())))
    names = [column_name(side, name) for side in SIDES for name in OUTPUTS]
    table = pd.DataFrame(0.0, index=range(count), columns=names)
    labels = {"subject": [f"s{n}" for n in range(count)], "design": "one"}
    fixed = {"border_pressure": 0.0, "failure": "", "warnings": ""}
    return table.assign(**labels, **fixed).assign(**columns)


def test_the_committed_cohort_is_what_its_generator_draws(tmp_path):
    write_cohort(tmp_path / "again.csv")
    committed = CHECKOUT / "config/cohort/synthetic.csv"
    assert (tmp_path / "again.csv").read_bytes() == committed.read_bytes()
    subjects = read_cohort(committed, load_study(EXAMPLE))
    assert len(subjects) == 200
    index = np.array([one.numbers["body_mass_index"] for one in subjects])
    # Share below 30: 58.1 % in the source; standard deviation of 200 draws 3.5 %, three of them.
    assert np.mean(index < 30.0) == pytest.approx(0.581, abs=0.105)


def test_a_row_reaches_the_settings_of_its_case():
    study = load_study(EXAMPLE)
    one = read_cohort(CHECKOUT / "config/cohort/synthetic.csv", study)[0]
    changed = apply_case(study, study.case_of(one, "nominal"))
    assert changed.cases.body_mass_kg == (one.numbers["body_mass_kg"],)
    assert changed.wear.cycles_per_year == one.numbers["cycles_per_year"]
    base = study.activities["gait"].femur_posterior_mm
    bumps = changed.activities["gait"].femur_posterior_mm.bumps
    heights = [bump.height for bump in bumps]
    assert heights == pytest.approx([one.numbers["travel"] * bump.height for bump in base.bumps])
    assert study.implant_of(one, "conforming") == f"conforming_{one.size}"
    assert set(study.implants()) == {
        f"{design}_{size}"
        for design in ("nominal", "conforming")
        for size in ("small", "medium", "large")
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("subject,mass\ns,70\n", "no column age"),
        ("subject,mass,age,weight\ns,70,60,1\n", "column weight, which nothing uses"),
        ("subject,mass,age\ns,heavy,60\n", "line 2: found 'heavy' in column mass"),
        ("subject,mass,age\ns,70,60\ns,71,60\n", "line 3: found subject 's' again"),
        ("subject,side,mass,age\ns,up,70,60\n", "side 'up'; expected right or left"),
        ("subject,motion_file,mass,age\ns,a.csv,70,60\n", "motion_file, which nothing uses.*act"),
        ("# nothing\n", "no row"),
    ],
)
def test_faults_of_the_file_are_one_clear_message(tmp_path, text, said):
    with pytest.raises(InputDataError, match=said):
        rows_of(tmp_path, text)


def test_an_unknown_size_is_refused(tmp_path):
    sizes = {"designs": {"nominal": {"sizes": {"small": {}, "large": {}}}}}
    with pytest.raises(InputDataError, match=r"line 2: found size 'smal'; .*Did you mean 'small'"):
        rows_of(tmp_path, "subject,size,mass,age\ns,smal,70,60\n", plain(**sizes))


def test_a_missing_file_of_a_subject_is_named_before_any_job(tmp_path):
    (tmp_path / "cohort.csv").write_text("subject,motion_file,mass,age\ns1,none.csv,70,60\n")
    study = load_study(merge_settings(MEASURED, {"cohort": {"subjects": f"{tmp_path}/cohort.csv"}}))
    with pytest.raises(InputDataError, match=r"cohort.csv, subject s1: found motion file none.csv"):
        subject_files(study, CHECKOUT)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cohort": {"activity": "gait"}}, "an activity of curve files: this study has none"),
        ({"cohort": {"columns": {"mass": {"settings": ["wear.x"]}}}}, "there is no 'x'"),
        (
            {"cohort": {"columns": {"mass": {"low": 50, "high": 90}}}},
            "none: the file has the values",
        ),
        ({"cohort": {"columns": {"mass": {"settings": ["grid.rows"]}}}}, "a subject cannot have"),
        ({"cohort": {"columns": {"mass": {"settings": ["wear.blocks"]}}}}, "updates the surface"),
        ({"designs": {"bad": {"changes": {"nominal_thickness_mm": -1}}}}, "designs.bad.changes"),
        ({"simulation": {"analysis": "forward"}}, "a cohort with analysis: forward"),
    ],
)
def test_faults_of_settings_are_one_clear_message(changes, said):
    with pytest.raises(InputDataError, match=said):
        plain(**changes)


def test_subjects_are_computed_with_every_design_in_any_batches(tmp_path):
    study = plain()
    subjects = rows_of(tmp_path, "subject,mass,age\nlight,50,70\nheavy,100,60\nno,2,60\n")
    knees = {name: exact_knee(one) for name, one in study.implants().items()}
    pairs = list_pairs(study, subjects)
    activities = built_in_activities(study)
    whole = evaluate_subjects(study, pairs, knees, activities)
    assert whole["design"].tolist() == ["nominal"] * 3 + ["stiff"] * 3
    parts = [evaluate_subjects(study, pairs[n : n + 2], knees, activities) for n in (0, 2, 4)]
    again = pd.concat(parts, ignore_index=True)
    pd.testing.assert_frame_equal(again, whole, check_exact=True, check_dtype=False)
    volume = whole["medial_wear_volume"]
    # Archard's law at a given motion: wear volume is proportional to the load, but for the sliding,
    # which differs a little over a larger contact.
    assert volume[1] == pytest.approx(2.0 * volume[0], rel=0.05)
    outside = find_outside(join_sides(whole), 35.0, 14.0)
    assert set(outside.loc[outside["reason"] == "no result", "subject"]) == {"no"}
    assert "body_mass_kg" in " ".join(outside.loc[outside["subject"] == "no", "detail"])


def test_a_subject_walks_as_its_own_file_says_on_its_own_side(tmp_path):
    curves = (CHECKOUT / "config/example_meshes/gait.csv").read_text()
    (tmp_path / "own.csv").write_text(curves)
    text = "subject,side,motion_file,mass,age\na,right,own.csv,70,60\nb,left,own.csv,70,60\n"
    path = str(tmp_path / "own.csv")
    (tmp_path / "cohort.csv").write_text(text.replace("own.csv", path))
    study = load_study(merge_settings(MEASURED, {"cohort": {"subjects": f"{tmp_path}/cohort.csv"}}))
    subjects = read_cohort(tmp_path / "cohort.csv", study)
    files = subject_files(study, CHECKOUT)
    assert path in files
    read = subject_reader(study, subjects, files)
    found = [
        read(case, apply_case(study, case), "example_gait")
        for case in (study.case_of(one, "design") for one in subjects)
    ]
    study_own = load_activity(study, "example_gait", CHECKOUT)
    np.testing.assert_array_equal(found[0].coordinates, study_own.coordinates)
    # Clinical conventions have the same signs on both sides: a left knee is mirrored as it is read.
    np.testing.assert_allclose(found[1].coordinates, found[0].coordinates, atol=1e-12)


def test_a_column_may_place_components_under_a_measured_motion(tmp_path):
    (tmp_path / "cohort.csv").write_text("subject,mass,slope,age\na,70,0,60\nb,70,4,60\n")
    column = {"slope": {"settings": ["simulation.alignment.tibial.slope_deg"], "unit": "deg"}}
    cohort = {"subjects": f"{tmp_path}/cohort.csv", "columns": column}
    study = load_study(merge_settings(MEASURED, {"cohort": cohort}))
    subjects = read_cohort(tmp_path / "cohort.csv", study)
    cases = [study.case_of(one, "design") for one in subjects]
    assert [case.overrides["simulation.alignment.tibial.slope_deg"] for case in cases] == [0.0, 4.0]
    activities = {"example_gait": load_activity(study, "example_gait", CHECKOUT)}
    runner = CaseRunner(study, exact_knee(study), activities, exact=True)
    found = evaluate_cases(runner, cases)
    assert list(found["failure"]) == ["", ""]
    assert found["medial_wear_volume"].is_unique


def test_percentiles_of_a_known_sample():
    count = 199
    table = join_sides(results(medial_wear_depth=np.arange(1.0, count + 1.0)))
    rows = find_percentiles(table, [25, 50]).set_index(["side", "quantity"])
    own = rows.loc[("both", "wear_depth")]
    assert own["p50"] == 100.0
    # Hazen: position 0.25 n + 1/2.
    assert own["p25"] == pytest.approx(0.25 * count + 0.5)
    assert own["p50_low95"] < 100.0 < own["p50_high95"]
    assert (own["subjects"], own["failed"]) == (count, 0)


def test_limits_hold_a_quantile_as_often_as_they_say():
    generator = np.random.default_rng(3)
    inside = 0
    for _ in range(400):
        low, high = quantile_limits(np.sort(generator.random(60)), 0.25)
        inside += low <= 0.25 <= high
    # Ranks are whole, so the level is 95 % or a little more; 380 with a deviation of 4.4.
    assert inside >= 366


def test_limits_beyond_the_sample_are_unknown():
    low, high = quantile_limits(np.arange(5.0), 0.01)
    assert np.isnan(low)
    assert high <= 4.0
    assert all(np.isnan(quantile_limits(np.zeros(0), 0.5)))


def test_differences_are_between_the_same_subjects():
    first = results(medial_wear_volume=[10.0, 20.0, 60.0])
    other = results(medial_wear_volume=[11.0, 19.0, 59.0], design="two")[::-1]
    table = compare_designs(join_sides(pd.concat([first, other], ignore_index=True)))
    own = table.set_index(["side", "quantity"]).loc[("both", "wear_volume")]
    assert own["median"] == -1.0
    assert own["median_percent"] == pytest.approx(-5.0)
    assert own["less_percent"] == pytest.approx(200.0 / 3.0)


def test_who_is_outside_and_why():
    table = results(
        medial_max_pressure=[30.0, 40.0, 30.0, 30.0],
        lateral_avg_pressure=[10.0, 10.0, 15.0, 10.0],
        border_pressure=[0.0, 0.0, 0.0, 2.0],
    )
    outside = find_outside(join_sides(table), 35.0, 14.0)
    assert outside["subject"].tolist() == ["s1", "s2", "s3"]
    assert outside["detail"].tolist() == ["40.0 MPa", "15.0 MPa", "2.0 MPa there"]


def test_effects_are_of_columns_that_change_settings_and_covariates_only_correlate():
    mass = np.linspace(50.0, 100.0, 40)
    index = mass / 3.0 + np.tile([1.0, -1.0], 20)
    table = join_sides(results(medial_wear_volume=2.0 * mass)).assign(mass=mass, index_=index)
    found = find_effects(table, ["mass"], ["index_"]).set_index(["side", "quantity", "factor"])
    assert found.loc[("both", "wear_volume", "mass"), "effect"] == pytest.approx(100.0)
    covariate = found.loc[("both", "wear_volume", "index_")]
    assert np.isnan(covariate["effect"])
    assert 0.9 < covariate["rank_correlation"] < 1.0
