"""Indices, effects and intervals against analytical solutions, through plans and tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kneewear.report.case_facts import convergence
from kneewear.studies.cases import FAILURE, column_name
from kneewear.studies.uncertainty import analysis
from kneewear.studies.uncertainty.analysis import analyse_samples, prediction_interval
from kneewear.studies.uncertainty.plan import LABELS, draw_samples, standard_deviation
from tests.uncertainty.test_plan import MONTE_CARLO, merge_settings, study

OUTPUTS = {"damage_depth": "mm"}
KEPT = ("youngs_modulus", "load", "thickness")


@pytest.fixture(autouse=True)
def _one_output(monkeypatch):
    monkeypatch.setattr(analysis, "OUTPUTS", OUTPUTS)


def toy_study(method, samples, **spread):
    """Return a study of three constants with uniform spread."""
    removed = {name: None for name in MONTE_CARLO["uncertainty"]["constants"] if name not in KEPT}
    kept = {name: {"distribution": "uniform"} for name in KEPT}
    for name, value in spread.items():
        kept[name]["spread"] = value
    return study(merge_settings(MONTE_CARLO, {"uncertainty": {"constants": removed | kept}}),
                 method=method, samples=samples)  # fmt: skip


def samples_of(one, function, dropped=()):
    """Return the samples of a study whose every output is a function of the three constants."""
    plan = draw_samples(one)
    unit = [plan[name] / one.uncertainty.constants[name].spread for name in KEPT]
    value = function(*unit)
    value[list(dropped)] = np.nan
    columns = {column_name(side, name): value for side in ("medial", "lateral") for name in OUTPUTS}
    return pd.DataFrame({**{name: plan[name] for name in LABELS}, **columns, FAILURE: ""})


def output_rows(table, quantity="damage_depth", side="medial"):
    """Return the rows of one output."""
    return table[(table["quantity"] == quantity) & (table["side"] == side)]


def ishigami(x, y, z):
    """Function of Ishigami and Homma (1990) on the cube from -1 to 1, a = 7 and b = 0.1."""
    x, y, z = (np.pi * one for one in (x, y, z))
    return np.sin(x) + 7.0 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)


def ishigami_indices():
    """First and total indices by the analytical solution."""
    a, b, pi = 7.0, 0.1, np.pi
    one, two = 0.5 * (1.0 + b * pi**4 / 5.0) ** 2, a**2 / 8.0
    mixed = b**2 * pi**8 * (1.0 / 18.0 - 1.0 / 50.0)
    total = one + two + mixed
    return np.array([one, two, 0.0]) / total, np.array([one + mixed, two, mixed]) / total


def test_indices_of_the_ishigami_function():
    one = toy_study("variance_based", 1024)
    rows = output_rows(analyse_samples(one.uncertainty, one.seed, samples_of(one, ishigami)))
    first, total = ishigami_indices()
    # Within one and a half intervals of 95 %: beyond three standard deviations.
    assert (np.abs(rows["first"] - first) < 1.5 * rows["first_error"]).all()
    assert (np.abs(rows["total"] - total) < 1.5 * rows["total_error"]).all()
    np.testing.assert_allclose(rows["total"], total, atol=0.03)
    assert not rows["converged"].any()
    assert not convergence(rows)["converged"]


def test_indices_of_a_linear_output_converge_and_a_failure_costs_its_block():
    one = toy_study("variance_based", 4096)
    # Of 1 + 1e-3 (x + 2 y): variances as 1 to 4, and nothing of z.
    samples = samples_of(one, lambda x, y, z: 1.0 + 1e-3 * (x + 2.0 * y), dropped=(7, 8, 4000))
    table = analyse_samples(one.uncertainty, one.seed, samples)
    rows = output_rows(table)
    np.testing.assert_allclose(rows["total"], [0.2, 0.8, 0.0], atol=0.02)
    np.testing.assert_allclose(rows["first"], [0.2, 0.8, 0.0], atol=0.02)
    assert (rows["dropped"] == 2).all()
    assert (rows["blocks"] == 4094).all()
    assert rows["converged"].sum() in (0, 3)
    assert convergence(rows)["converged"] == rows["converged"].all()


def test_an_output_that_does_not_vary_has_no_indices():
    one = toy_study("variance_based", 8)
    rows = output_rows(
        analyse_samples(one.uncertainty, one.seed, samples_of(one, lambda x, y, z: 5.0 + 0.0 * x))
    )
    assert rows["total"].isna().all()
    assert not rows["converged"].any()


def test_effects_of_a_polynomial():
    one = toy_study("one_at_a_time", 2)
    table = analyse_samples(
        one.uncertainty, one.seed, samples_of(one, lambda x, y, z: 4.0 + x + 2.0 * y + z**2)
    )
    rows = output_rows(table).set_index("constant").loc[list(KEPT)]
    step = 1.0 / np.sqrt(3.0)
    np.testing.assert_allclose(rows["effect_percent"], 25.0 * step * np.array([1, 2, 0]), atol=1e-9)
    np.testing.assert_allclose(rows["curvature_percent"], [0, 0, 25.0 * step**2], atol=1e-9)
    np.testing.assert_allclose(rows["share_percent"], [20.0, 80.0, 0.0], atol=1e-9)
    constant = one.uncertainty.constants["load"]
    assert standard_deviation(constant) == pytest.approx(constant.spread * step)


def test_interval_of_a_linear_output_is_that_of_its_distribution():
    one = toy_study("monte_carlo", 4000)
    samples = samples_of(one, lambda x, y, z: 10.0 + x, dropped=(5, 6))
    row = output_rows(analyse_samples(one.uncertainty, one.seed, samples)).iloc[0]
    # Ends of a uniform distribution on 9 to 11 are known to its spread over the root of n.
    np.testing.assert_allclose([row["lower"], row["upper"]], [9.05, 10.95], atol=0.025)
    assert (row["samples"], row["failed"], row["nominal"]) == (3998, 2, 10.0)
    assert row["converged"]


@pytest.mark.parametrize("draw", [stats.norm.rvs, stats.expon.rvs], ids=["normal", "skewed"])
def test_intervals_hold_the_next_sample_as_often_as_they_say(draw):
    generator = np.random.default_rng(3)
    sets = draw(size=(2000, 60), random_state=generator)
    following = draw(size=2000, random_state=generator)
    ends = [prediction_interval(values, 80.0) for values in sets]
    held = np.mean([end.lower <= value <= end.upper
                    for end, value in zip(ends, following, strict=True)])  # fmt: skip
    # 2000 trials tell 0.8 to 0.009; three times that.
    assert held == pytest.approx(0.80, abs=0.027)


def test_too_few_samples_leave_an_interval_open():
    found = prediction_interval(np.arange(20.0), 95.0)
    assert (found.lower, found.upper) == (-np.inf, np.inf)
    assert not found.converged
