"""Analyses of tables of cases against analytical solutions and known samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kneewear.analysis.distributions import (
    analyse_pairs,
    analyse_percentiles,
    quantile_limits,
)
from kneewear.analysis.effects import analyse_effects
from kneewear.analysis.samples import (
    analyse_indices,
    analyse_intervals,
    analyse_steps,
    prediction_interval,
)
from kneewear.analysis.validity import MEAN, PEAK, analyse_validity
from kneewear.base.cases import OUTPUTS, Output
from kneewear.base.sides import BOTH, SIDES
from kneewear.study.analysis_settings import (
    EffectsOptions,
    IndicesOptions,
    IntervalsOptions,
    PairedOptions,
    PercentilesOptions,
    StepsOptions,
    ValidityOptions,
)
from kneewear.study.models import MODELS
from kneewear.study.plans import plan_cases
from kneewear.study.wear import column_name
from tests.study.studies import coarse_study

NAMES = ("x", "y", "z")
PATHS = ("simulation.youngs_modulus_mpa", "patient.body_mass_kg", "insert.thickness_mm")


def toy_study(plan, half_width=1.0):
    """Return a study of three uniform variables around the settings."""
    variables = {
        name: {"settings": [path], "change": "add", "uniform": [-half_width, half_width]}
        for name, path in zip(NAMES, PATHS, strict=True)
    }
    return coarse_study(variables, plan)


def toy_results(study, function, dropped=()):
    """Results whose every output is a function of the three variables."""
    table = plan_cases(study)
    values = function(*(table[name].fillna(0.0) for name in NAMES)).to_numpy(float).copy()
    values[list(dropped)] = np.nan
    columns = {column_name(side, name): values for side in (BOTH, *SIDES) for name in OUTPUTS}
    return table.assign(**columns)


def rows_of(table, quantity="damage_depth", side="medial"):
    """Rows of one output."""
    return table[(table["quantity"] == quantity) & (table["side"] == side)]


def ishigami(x, y, z):
    """Function of Ishigami and Homma (1990) on the cube from -1 to 1, a = 7 and b = 0.1."""
    x, y, z = (np.pi * each for each in (x, y, z))
    return np.sin(x) + 7.0 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)


@pytest.fixture
def _one_output(monkeypatch):
    only = replace(MODELS["wear"], outputs=lambda study: (Output("medial", "damage_depth", "mm"),))
    monkeypatch.setitem(MODELS, "wear", only)


@pytest.mark.usefixtures("_one_output")
def test_indices_of_the_ishigami_function():
    study = toy_study({"plan": "variance_based", "samples": 1024})
    tables = analyse_indices(toy_results(study, ishigami), study, IndicesOptions())
    rows = rows_of(tables["indices"])
    a, b, pi = 7.0, 0.1, np.pi
    first, second = 0.5 * (1.0 + b * pi**4 / 5.0) ** 2, a**2 / 8.0
    mixed = b**2 * pi**8 * (1.0 / 18.0 - 1.0 / 50.0)
    total = first + second + mixed
    # Within one and a half intervals of 95 %: beyond three standard deviations.
    error = np.abs(rows["first"] - np.array([first, second, 0.0]) / total)
    assert (error < 1.5 * rows["first_error"]).all()
    expected = np.array([first + mixed, second, mixed]) / total
    np.testing.assert_allclose(rows["total"], expected, atol=0.03)
    assert not rows["converged"].any()


@pytest.mark.usefixtures("_one_output")
def test_a_failure_costs_its_block_and_a_constant_output_has_no_indices():
    study = toy_study({"plan": "variance_based", "samples": 4096})
    # Of 1 + 1e-3 (x + 2 y): variances as 1 to 4, and nothing of z.
    linear = toy_results(study, lambda x, y, z: 1.0 + 1e-3 * (x + 2.0 * y), dropped=(7, 8, 4000))
    rows = rows_of(analyse_indices(linear, study, IndicesOptions())["indices"])
    np.testing.assert_allclose(rows["total"], [0.2, 0.8, 0.0], atol=0.02)
    assert (rows["dropped"] == 2).all()
    constant = toy_results(study, lambda x, y, z: 5.0 + 0.0 * x)
    rows = rows_of(analyse_indices(constant, study, IndicesOptions())["indices"])
    assert rows["total"].isna().all()


def test_steps_of_a_polynomial():
    study = toy_study({"plan": "one_at_a_time"})
    results = toy_results(study, lambda x, y, z: 4.0 + x + 2.0 * y + z**2)
    rows = rows_of(analyse_steps(results, study, StepsOptions())["steps"]).set_index("variable")
    rows, step = rows.loc[list(NAMES)], 1.0 / np.sqrt(3.0)
    np.testing.assert_allclose(rows["effect_percent"], 25.0 * step * np.array([1, 2, 0]), atol=1e-9)
    np.testing.assert_allclose(rows["curvature_percent"], [0, 0, 25.0 * step**2], atol=1e-9)
    np.testing.assert_allclose(rows["share_percent"], [20.0, 80.0, 0.0], atol=1e-9)


def test_interval_of_a_linear_output_is_that_of_its_distribution():
    study = toy_study({"plan": "monte_carlo", "samples": 4000})
    results = toy_results(study, lambda x, y, z: 10.0 + x, dropped=(5, 6))
    row = rows_of(analyse_intervals(results, study, IntervalsOptions())["intervals"]).iloc[0]
    # Ends of a uniform distribution on 9 to 11 are known to its spread over the root of n.
    np.testing.assert_allclose([row["lower"], row["upper"]], [9.05, 10.95], atol=0.025)
    assert (row["samples"], row["failed"], row["nominal"]) == (3998, 2, 10.0)
    assert row["converged"]


@pytest.mark.parametrize("draw", [stats.norm.rvs, stats.expon.rvs], ids=["normal", "skewed"])
def test_intervals_hold_the_next_sample_as_often_as_they_state(draw):
    generator = np.random.default_rng(3)
    sets = draw(size=(2000, 60), random_state=generator)
    following = draw(size=2000, random_state=generator)
    ends = [prediction_interval(values, 80.0) for values in sets]
    held = np.mean(
        [end.lower <= value <= end.upper for end, value in zip(ends, following, strict=True)]
    )
    # 2000 trials tell 0.8 to 0.009; three times that.
    assert held == pytest.approx(0.80, abs=0.027)


def known_results(**columns):
    """Results that are zero but for some columns."""
    count = len(next(iter(columns.values())))
    names = [column_name(side, name) for side in (*SIDES, BOTH) for name in OUTPUTS]
    labels = {"case": [f"s{n}" for n in range(count)]}
    before = {name: values for name, values in columns.items() if name not in names}
    after = {name: values for name, values in columns.items() if name in names}
    fixed = {"border_pressure": 0.0, "warnings": "", "failure": ""}
    table = pd.DataFrame({**labels, **before} | dict.fromkeys(names, 0.0) | fixed)
    return table.assign(**after).assign(**{k: v for k, v in before.items() if k in fixed})


STUDY = coarse_study({})


def test_percentiles_of_a_known_sample():
    count = 199
    results = known_results(both_wear_depth_at_deepest_damage=np.arange(1.0, count + 1.0))
    options = PercentilesOptions(percentiles=(25.0, 50.0))
    table = analyse_percentiles(results, STUDY, options)["percentiles"]
    row = table.set_index(["side", "quantity"]).loc[("both", "wear_depth_at_deepest_damage")]
    assert row["p50"] == 100.0
    # Hazen: position 0.25 n + 1/2.
    assert row["p25"] == pytest.approx(0.25 * count + 0.5)
    assert row["p50_low95"] < 100.0 < row["p50_high95"]
    assert (row["cases"], row["failed"]) == (count, 0)


def test_limits_hold_a_quantile_as_often_as_they_state():
    generator = np.random.default_rng(3)
    inside = 0
    for _ in range(400):
        low, high = quantile_limits(np.sort(generator.random(60)), 0.25)
        inside += low <= 0.25 <= high
    # Ranks are whole, so the level is 95 % or a little more; 380 with a deviation of 4.4.
    assert inside >= 366


def test_differences_are_between_equal_cases():
    results = known_results(
        design=["a"] * 3 + ["b"] * 3,
        subject=["s0", "s1", "s2", "s2", "s1", "s0"],
        both_wear_volume=[10.0, 20.0, 60.0, 59.0, 19.0, 11.0],
    )
    table = analyse_pairs(results, STUDY, PairedOptions(between="design"))["differences"]
    row = table.set_index(["side", "quantity"]).loc[("both", "wear_volume")]
    assert row["median"] == -1.0
    assert row["median_percent"] == pytest.approx(-5.0)
    assert row["less_percent"] == pytest.approx(200.0 / 3.0)
    assert row["pairs"] == 3


def test_cases_on_another_model_of_contact_have_its_limits():
    contact = {"settings": ["simulation.contact"], "values": ["foundation", "coupled_layer"]}
    study = coarse_study({"contact": contact})
    results = known_results(
        contact=["foundation", "coupled_layer", "coupled_layer"],
        both_max_pressure=[30.0, 30.0, 18.0],
        both_avg_pressure=[10.0, 10.0, 18.0],
        failure=["", "", ""],
    )
    outside = analyse_validity(results, study, ValidityOptions())["outside"]
    assert outside["case"].tolist() == ["s1", "s2"]
    assert outside["reason"].tolist() == [PEAK, MEAN]
    assert outside["limit"].tolist() == [20.0, 17.0]


def test_effects_are_of_variables_and_covariates_only_correlate():
    mass = np.linspace(50.0, 100.0, 40)
    study = coarse_study({"mass": {"settings": ["patient.body_mass_kg"], "low": 50, "high": 100}})
    index = mass / 3.0 + np.tile([1.0, -1.0], 20)
    results = known_results(mass=mass, index_=index, both_wear_volume=2.0 * mass)
    options = EffectsOptions(covariates=("index_",))
    effects = analyse_effects(results, study, options)["effects"]
    rows = effects.set_index(["side", "quantity", "variable"])
    assert rows.loc[("both", "wear_volume", "mass"), "effect"] == pytest.approx(100.0)
    covariate = rows.loc[("both", "wear_volume", "index_")]
    assert np.isnan(covariate["effect"])
    assert 0.9 < covariate["rank_correlation"] < 1.0
    # A result that does not vary has no effect to state.
    assert ("both", "max_pressure", "mass") not in rows.index
    # Nor has a case whose value of the variable is the study's, as the nominal one of a sample.
    nominal = results.iloc[:1].assign(mass=np.nan, both_wear_volume=1e6)
    again = analyse_effects(pd.concat([nominal, results]), study, options)["effects"]
    variables = again[again["variable"] == "mass"]
    pd.testing.assert_frame_equal(variables, effects[effects["variable"] == "mass"])
