"""Plans of sweeps: their marginals, files, and the settings of their cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from kneewear.errors import InputDataError
from kneewear.io.documents import save_table
from kneewear.io.plans import read_plan
from kneewear.io.study_inputs import count_cases
from kneewear.settings.study import apply_case, load_study, merge_settings, read_settings
from kneewear.studies.sweep.plan import plan_cases, plan_of, planned_cases
from tests.workflow.conftest import CHECKOUT

DEFAULT = read_settings(CHECKOUT / "config/config.yaml")
SWEEP = merge_settings(DEFAULT, read_settings(CHECKOUT / "config/sweep.yaml"))


def sweep(**changes):
    """Return the shipped sweep with some keys of its block replaced."""
    return load_study(merge_settings(SWEEP, {"sweep": changes}))


def only(**factors):
    """Changes by which a sweep has these factors and no other."""
    return dict.fromkeys(SWEEP["sweep"]["factors"]) | factors


RADIUS = {"settings": ["implant.parametric.femoral_coronal_radius_mm.*"], "low": 250, "high": 310}
FACTOR = {"settings": ["wear.wear_factor_mm3_per_n_m"], "low": 1e-7, "high": 2e-7, "levels": 2}

MASS = {"settings": ["cases.body_mass_kg.0"]}
UPDATES = {"settings": ["wear.blocks"], "low": 1, "high": 4}


@pytest.mark.parametrize("plan", ["latin_hypercube", "sobol"])
def test_every_part_of_a_range_has_one_case(plan):
    one = sweep(plan=plan, samples=64)
    found = plan_cases(one)
    assert len(found) == 64 == count_cases(one, ".")
    for name, factor in one.sweep.factors.items():
        low, high = factor.bounds
        parts = np.floor(64 * (found[name] - low) / (high - low)).astype(int)
        assert sorted(parts) == list(range(64))
    correlation = stats.spearmanr(found[list(one.sweep.factors)].to_numpy()).statistic
    # Independent columns of 64: standard deviation 0.13; four of them.
    assert np.abs(correlation - np.eye(len(correlation))).max() < 0.5


def test_a_plan_depends_on_the_seed_alone():
    assert plan_cases(sweep()).equals(plan_cases(sweep()))
    other = load_study(merge_settings(SWEEP, {"seed": 2}))
    assert not plan_cases(sweep())["body_mass"].equals(plan_cases(other)["body_mass"])


def test_a_factorial_plan_has_all_levels_and_changes_shapes_least():
    one = sweep(plan="full_factorial", samples=None, factors=only(wear=FACTOR, radius=RADIUS))
    plan = plan_cases(one)
    assert list(plan["radius"]) == [250, 250, 280, 280, 310, 310]
    assert list(plan["wear"]) == [1e-7, 2e-7] * 3


def test_values_reach_their_settings():
    one = sweep()
    plan = plan_cases(one)[:1]
    row = plan.iloc[0]
    changed = apply_case(one, next(planned_cases(one, plan)))
    shape, nominal = changed.implant.parametric, one.implant.parametric
    assert shape.femoral_coronal_radius_mm.lateral == row["femoral_coronal_radius"]
    product = row["coronal_ratio"] * row["femoral_coronal_radius"]
    assert shape.plateau_coronal_radius_mm.medial == pytest.approx(product)
    assert changed.cases.body_mass_kg == (row["body_mass"],)
    insert = changed.simulation.alignment.tibial
    assert insert.external_rotation_deg == row["tibial_rotation"]
    assert insert.slope_deg == row["tibial_slope"]
    assert shape.femoral_half_width_mm == nominal.femoral_half_width_mm


def test_a_plan_in_a_file_is_the_plan_itself(tmp_path):
    one = sweep(samples=8)
    plan = plan_cases(one)
    save_table(plan, tmp_path / "plan.csv")
    again = plan_of(read_plan(tmp_path / "plan.csv", list(one.sweep.factors)))
    assert again.equals(plan)
    unbounded = {name: {"low": None, "high": None} for name in one.sweep.factors}
    file = str(tmp_path / "plan.csv")
    given = sweep(plan="file", samples=None, file=file, factors=unbounded)
    assert count_cases(given, ".") == 8
    assert list(planned_cases(given, again)) == list(planned_cases(one, plan))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "no column c, column b, which is no factor"),
        ("a,c\n1,x\n", r"line 2: found 'x' in column c; expected a finite number"),
        ("a,c\n1,nan\n", "a finite number"),
        ("a,c\n1\n", "found 1 cells; expected 2"),
        ("a,c\n", "no row"),
        ("a,a\n1,2\n", "column 'a' 2 times"),
        ("case,a,c\nx,1,2\nx,1,3\n", "line 3: found case 'x' again"),
    ],
)
def test_faults_of_a_file_are_one_clear_message(tmp_path, text, said):
    (tmp_path / "plan.csv").write_text(text)
    with pytest.raises(InputDataError, match=said):
        read_plan(tmp_path / "plan.csv", ["a", "c"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"factors": {"body_mass": {"low": 90, "high": 60}}}, "low: 90, high: 60; expected low be"),
        ({"factors": {"body_mass": {"high": None}}}, "both bounds or none"),
        ({"factors": {"body_mass": {"settings": ["wear.nothing"]}}}, "there is no 'nothing'"),
        ({"factors": {"body_mass": {"settings": ["wear.wear_law"]}}}, "is no number"),
        ({"factors": {"body_mass": {"settings": ["report.pressure_limit_mpa"]}}}, "not built from"),
        ({"factors": {"body_mass": {"low": -5.0}}}, "body_mass, low|body_mass.low"),
        (
            {"factors": {"steps": UPDATES}},
            "factors.steps.settings: found wear.blocks, which updates",
        ),
        (
            {"factors": {"mass_again": {**MASS, "low": 50, "high": 80}}},
            "which body_mass changes too",
        ),
        ({"plan": "sobol", "samples": 100}, "Take 64 or 128"),
        ({"plan": "file", "samples": None}, "plan: file without file"),
        ({"plan": "full_factorial"}, "plan: full_factorial with samples"),
        ({"plan": "file", "samples": None, "file": "a.csv"}, "bounds with plan: file"),
    ],
)
def test_faults_of_settings_are_one_clear_message(changes, said):
    with pytest.raises(InputDataError, match=said):
        sweep(**changes)


def test_a_further_factor_may_change_what_another_one_set():
    scale = {**MASS, "change": "multiply", "low": 1.1, "high": 1.2}
    one = sweep(factors={"obesity": scale})
    plan = plan_cases(one)[:1]
    case = next(planned_cases(one, plan))
    assert case.body_mass == plan["body_mass"][0] * plan["obesity"][0]


def test_a_sweep_is_of_one_quasi_static_case():
    forward = {"simulation": {"analysis": "forward"}, "cases": {"thickness_mm": [6, 8]}}
    with pytest.raises(InputDataError, match="analysis: forward, 2 cases"):
        load_study(merge_settings(SWEEP, forward))
