"""Plans: marginals, order, seeds, files, and faults by their place."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from scipy import stats

import kneewear as kw
from kneewear.errors import InputDataError
from kneewear.io.documents import save_table
from kneewear.study.centre import constant_table, sample_intervals, sampled_study
from kneewear.study.files import case_files, check_inputs, count_cases
from kneewear.study.job_sizes import describe_cost
from kneewear.study.plan_files import read_plan
from kneewear.study.plans import (
    NOMINAL,
    ROLE,
    VARIED,
    plan_cases,
    stratify_samples,
    variable_values,
)
from kneewear.study.settings import merge_settings, validate_study
from tests.refusals import refusal, refused_at
from tests.study.studies import CONFIG, DEFAULT, coarse_study, shipped

SWEEP = shipped("sweep.yaml")
MONTE_CARLO = shipped("monte_carlo.yaml")
COHORT = shipped("cohort_example.yaml")


def sampled(plan, base=MONTE_CARLO, **changes):
    """Study with another plan."""
    return validate_study(merge_settings(base, {"cases": plan, **changes}))


@pytest.mark.parametrize("plan", ["latin_hypercube", "sobol"])
def test_every_part_of_a_range_has_one_case(plan):
    study = sampled({"plan": plan, "samples": 64}, SWEEP)
    table = plan_cases(study)
    assert len(table) == 64 == count_cases(study, ".")
    for name, variable in study.variables.items():
        low, high = variable.bounds
        parts = np.floor(64 * (table[name] - low) / (high - low)).astype(int)
        assert sorted(parts) == list(range(64))
    correlation = stats.spearmanr(table[list(study.variables)].to_numpy()).statistic
    # Independent columns of 64: standard deviation 0.13; four of them.
    assert np.abs(correlation - np.eye(len(correlation))).max() < 0.5


def test_a_sample_depends_on_its_number_alone():
    few, many = (plan_cases(sampled({"plan": "monte_carlo", "samples": n})) for n in (3, 5))
    assert many[:4].equals(few)
    assert few[ROLE].tolist() == [NOMINAL, "draw", "draw", "draw"]
    assert few.iloc[0][list(MONTE_CARLO["variables"])].isna().all()


def test_one_at_a_time_changes_one_variable_by_a_standard_deviation():
    study = sampled({"plan": "one_at_a_time"})
    table = plan_cases(study)
    assert len(table) == 1 + 2 * len(study.variables) == count_cases(study, ".")
    rows = table[table[VARIED] == "load"]
    expected = [1.0 + sign * study.variables["load"].standard_deviation for sign in (-1.0, 1.0)]
    assert rows["load"].tolist() == pytest.approx(expected)
    assert rows.drop(columns=["load"])[list(study.variables)[:3]].isna().all(axis=None)


def test_blocks_of_variance_based_samples_mix_two_rows():
    study = sampled({"plan": "variance_based", "samples": 128})
    table, names = plan_cases(study), list(study.variables)
    assert len(table) == count_cases(study, ".") == 1 + 128 * (len(names) + 2)
    block = table[(table["block"] == 2) & (table[ROLE] != NOMINAL)].set_index(ROLE)
    mixed = block.loc["mixed"].set_index(VARIED)
    for name in names:
        assert mixed.loc[name, name] == block.loc["B", name]
        others = [other for other in names if other != name]
        assert (mixed.loc[name, others] == block.loc["A", others]).all()


@pytest.mark.parametrize("samples", [4, 8, 16])
def test_variance_based_samples_whose_halves_correlate_are_refused(samples):
    study = sampled({"plan": "variance_based", "samples": samples})
    assert refused_at(plan_cases, study) == "cases.samples"


def test_rows_of_a_file_are_combined_with_other_variables():
    study = validate_study(COHORT)
    rows = read_plan(CONFIG / "cohort/synthetic.csv", study)
    table = plan_cases(study, rows)
    assert len(table) == 400 == count_cases(study, CONFIG.parent)
    assert table["design"].tolist() == ["nominal"] * 200 + ["conforming"] * 200
    row = table.iloc[200]
    case = study.case(variable_values(study, row), row["case"])
    changed = study.at(variable_values(study, row))
    assert case.body_mass == rows[0]["body_mass_kg"] == changed.patient.body_mass_kg
    base = study.activities["gait"].femur_posterior_mm.bumps
    heights = [bump.height for bump in changed.activities["gait"].femur_posterior_mm.bumps]
    assert heights == pytest.approx([rows[0]["travel"] * bump.height for bump in base])
    shape = changed.implant.parametric
    assert shape.plateau_sagittal_radius_mm == 120.0
    assert shape.femoral_sagittal_radius_mm == study.implant.parametric.femoral_sagittal_radius_mm


def test_a_plan_in_a_file_is_the_plan_itself(tmp_path):
    study = sampled({"plan": "latin_hypercube", "samples": 9}, SWEEP)
    table = plan_cases(study)
    save_table(table, tmp_path / "plan.csv")
    given = sampled({"plan": "table", "file": str(tmp_path / "plan.csv")}, SWEEP)
    assert count_cases(given, ".") == 9
    again = plan_cases(given, read_plan(tmp_path / "plan.csv", given))
    cases = [
        [one.case(variable_values(one, row), row["case"]) for row in rows.to_dict("records")]
        for one, rows in ((given, again), (study, table))
    ]
    assert cases[0] == cases[1]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("mass\n60\n", "header"),
        ("mass,age,weight\n60,70,1\n", "header"),
        ("mass,age\nheavy,60\n", "line 2"),
        ("mass,age\nnan,60\n", "line 2"),
        ("mass,age\n1\n", "line 2"),
        ("mass,age\n", "plan.csv"),
        ("mass,mass\n1,2\n", "plan.csv"),
        ("case,mass,age\nx,60,2\nx,61,3\n", "line 3"),
        ("mass,age,size\n60,2,tiny\n", "line 2"),
    ],
)
def test_faults_of_a_file_name_their_place(tmp_path, text, place):
    (tmp_path / "plan.csv").write_text(text)
    variables = {
        "mass": {"settings": ["patient.body_mass_kg"]},
        "size": {"settings": ["implant"], "blocks": {"small": {}}},
    }
    plan = {"plan": "table", "file": str(tmp_path / "plan.csv"), "labels": ["age"]}
    study = coarse_study(variables, plan)
    with pytest.raises(InputDataError) as error:
        read_plan(tmp_path / "plan.csv", study)
    assert "plan.csv" in str(error.value)
    assert place in str(error.value)


def test_a_missing_file_of_a_case_is_named_before_any_job(tmp_path):
    (tmp_path / "plan.csv").write_text("case,motion\ns1,none.csv\n")
    base = merge_settings(DEFAULT, shipped("example_meshes.yaml"))
    changes = {
        "variables": {"motion": {"settings": ["activities.example_gait.motion.file"]}},
        "cases": {"plan": "table", "file": str(tmp_path / "plan.csv")},
    }
    with pytest.raises(InputDataError) as error:
        case_files(validate_study(merge_settings(base, changes)), CONFIG.parent)
    assert "none.csv" in str(error.value)
    assert "s1" in str(error.value)


def stratified(samples=24, seed=1, implant=None, names=()):
    """Stratified samples of the default case, the unchanged one left out."""
    named = {"implant": {"name": implant}} if implant else {}
    wear = validate_study(merge_settings(DEFAULT, {"seed": seed, **named}))
    constants = validate_study(MONTE_CARLO).variables
    chosen = {name: constants[name] for name in names or constants}
    table = stratify_samples(sampled_study(wear, wear.case_list()[0], chosen), samples)
    return table[table[ROLE] == "draw"].reset_index(drop=True)


def test_samples_of_a_constant_do_not_depend_on_the_others():
    alone, among = stratified(names=("load", "wear_factor")), stratified()
    for name in ("load", "wear_factor"):
        np.testing.assert_array_equal(alone[name], among[name])
    assert not np.allclose(alone["load"], stratified(seed=2)["load"])
    other = stratified(implant="another")
    np.testing.assert_array_equal(among["youngs_modulus"], other["youngs_modulus"])
    assert not np.allclose(among["sagittal_radius"], other["sagittal_radius"])


def test_a_real_implant_has_the_constants_that_it_has():
    study = validate_study(merge_settings(DEFAULT, shipped("dm_measured.yaml")))
    constants = validate_study(MONTE_CARLO).variables
    part = sampled_study(study, study.case_list()[0], constants)
    assert {"wear_factor", "youngs_modulus", "load", "thickness"} < set(part.variables)
    assert set(part.variables).isdisjoint({"travel", "stance_flexion", "sagittal_radius"})
    varied = constant_table(constants, part).set_index("constant")["varied"]
    assert set(varied.index[varied]) == set(part.variables)
    assert (part.grid.rows, part.grid.columns, part.wear.blocks) == (60, 45, 1)


def test_intervals_are_percentiles():
    from kneewear.base.cases import OUTPUTS

    values = np.arange(1.0, 41.0)
    table = {ROLE: [NOMINAL] + ["draw"] * 40}
    for side in ("both", "medial", "lateral"):
        for quantity in OUTPUTS:
            table[f"{side}_{quantity}"] = [7.0, *np.random.default_rng(1).permutation(values)]
    import pandas as pd

    rows = sample_intervals(pd.DataFrame(table)).set_index(["side", "quantity"])
    row = rows.loc["both", "wear_volume"]
    # Sample k of 40 is the (k - 1/2) / 40 quantile: 2.5 % is half way between the first two.
    assert [row["lower"], row["median"], row["upper"]] == pytest.approx([1.5, 20.5, 39.5])
    assert (row["nominal"], row["samples"]) == (7.0, 40)


@pytest.mark.parametrize(
    ("levels", "severity"), [(300, None), (400, "warn"), (1000, "warn"), (1001, "refuse")]
)
def test_plans_of_very_many_cases_are_warned_of_and_larger_ones_refused(levels, severity):
    variables = {
        name: {"settings": [path], "low": low, "high": 2.0 * low, "levels": number}
        for name, path, low, number in (
            ("thickness_mm", "insert.thickness_mm", 6.0, min(levels, 1000)),
            ("body_mass_kg", "patient.body_mass_kg", 50.0, min(levels, 1000)),
            ("months", "wear.months", 12.0, 1 + (levels > 1000)),
        )
        if number > 1
    }
    study = kw.load_study("quick", {"variables": variables})
    root = kw.checkout_folder()
    if severity == "refuse":
        assert refusal(check_inputs, study, root).check == "cases.count"
        return
    found = [one.severity for one in check_inputs(study, root) if one.check == "cases.count"]
    assert found == [severity] * (severity is not None)
    count, *_ = re.findall(r"[\d,]+", describe_cost(study, root))
    assert int(count.replace(",", "")) == levels**2


def test_many_levels_are_read_in_seconds():
    levels = [round(10.0 + 1e-4 * number, 4) for number in range(100_000)]
    start = time.process_time()
    study = kw.load_study("quick", {"variables": {"thickness_mm": levels, "body_mass_kg": [75]}})
    # Of the order of a second; quadratic in the levels it took minutes.
    assert time.process_time() - start < 30.0
    assert study.cases.case_count(study.variables) == len(levels)
