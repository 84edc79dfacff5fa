"""Fits of known constants, and the settings of the shipped one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kneewear.errors import ConvergenceError
from kneewear.evidence.calibration import fit
from kneewear.evidence.calibration import tables as analysis
from kneewear.evidence.calibration.fit import fit_study, pose_problem, search_constants
from kneewear.evidence.calibration.tables import separate_constants
from kneewear.evidence.published.values import HALF_UNITS
from kneewear.study import inputs
from kneewear.study.plan_settings import ResolutionSettings, StageSettings
from kneewear.study.run import FAILURE
from kneewear.study.settings import merge_settings, validate_study
from tests.study.studies import shipped

CALIBRATION = shipped("calibration.yaml")
# Coarser elements make the errors so jagged that a search may end early.
FINE = {"rows": 80, "columns": 60, "frames": 12}
TINY = [FINE | {"starts": 12, "steps": 0}, FINE | {"starts": 2, "steps": 25}]
COARSE = ResolutionSettings(rows=24, columns=18, frames=8)


@pytest.fixture(scope="module")
def study():
    """The shipped fit."""
    return validate_study(CALIBRATION)


def only(names, stages=None):
    """The shipped fit of some of its variables, on fewer elements."""
    plan = CALIBRATION["cases"] | {"exponent": 1.0, "trade_off": []}
    blocks = {
        "variables": {name: CALIBRATION["variables"][name] for name in names},
        "cases": plan | ({} if stages is None else {"stages": stages}),
        "grid": {"rows": FINE["rows"], "columns": FINE["columns"]},
        "simulation": {"frames": FINE["frames"]},
    }
    return validate_study(merge_settings(CALIBRATION, blocks))


def test_constants_are_few_and_those_of_the_default_study_lie_within_bounds(study):
    assert len(study.variables) <= 15
    settings = study.model_dump(mode="json")
    for name, variable in study.variables.items():
        assert variable.low <= variable.current(settings) <= variable.high, name
        assert variable.source, name


@pytest.mark.slow
@pytest.mark.compiled
def test_known_constants_are_found_again():
    truth = {"femoral_sagittal_radius": 33.0, "wear_factor": 3e-7, "creep_constant": 0.018}
    problem = pose_problem(only(truth, TINY))
    problem = replace(problem, published=problem.published.loc[[10.0, 6.0], [75.0]])
    parts = np.array([problem.variables[name].position(value) for name, value in truth.items()])
    stage = StageSettings(**TINY[0])
    made = problem.published * np.exp(problem.errors(parts, stage))
    with ThreadPoolExecutor(1) as pool:
        points = search_constants(replace(problem, published=made), pool)
    best = points.iloc[0]
    for name, value in truth.items():
        assert problem.variables[name].quantiles(best[name]) == pytest.approx(value, rel=5e-3)


@pytest.mark.slow
@pytest.mark.compiled
def test_error_of_the_discretisation_is_subtracted():
    problem = pose_problem(only(("femoral_sagittal_radius", "wear_factor")))
    problem = replace(problem, published=problem.published.loc[[10.0], [75.0]])
    parts, near = np.array([0.4, 0.5]), np.array([0.42, 0.48])
    coarse, fine = problem.errors(parts, COARSE), problem.errors(parts, problem.finest)
    assert np.abs(coarse - fine).max() > 0.02
    np.testing.assert_allclose(problem.at(parts, COARSE).errors(parts, COARSE), fine, atol=1e-12)
    # Beside the point the difference is nearly the same.
    beside = problem.at(parts, COARSE).errors(near, COARSE) - problem.errors(near, problem.finest)
    assert np.abs(beside).max() < 0.25 * np.abs(coarse - fine).max()


def test_contact_is_simulated_once_where_wear_and_creep_alone_differ(monkeypatch):
    simulated = []
    simulate = inputs.simulate_activities

    def counted(*arguments, **options):
        simulated.append(arguments[2])
        return simulate(*arguments, **options)

    monkeypatch.setattr(inputs, "simulate_activities", counted)
    names = ["femoral_sagittal_radius", "wear_factor", "creep_constant"]
    problem = pose_problem(only(names))
    problem = replace(problem, published=problem.published.loc[[10.0], [75.0, 100.0]])
    first, other_wear, other_shape = np.array([[0.4, 0.3, 0.3], [0.4, 0.6, 0.7], [0.5, 0.6, 0.7]])
    problem.errors(first, COARSE)
    kept = problem.errors(other_wear, COARSE)
    assert len(simulated) == 2
    alone = replace(problem, contact={}).errors(other_wear, COARSE)
    assert kept.tolist() == alone.tolist()
    assert len(simulated) == 4
    assert problem.errors(other_shape, COARSE).tolist() != kept.tolist()
    assert len(simulated) == 6


@pytest.fixture
def linear(monkeypatch):
    """Problem of two constants whose errors are known: linear in their positions."""
    slopes = np.array([[3.0, 3.0], [0.0, 0.4]])

    def errors(self, parts, resolution):
        if parts[0] > 0.9:
            return np.full(4, np.inf)
        return np.concatenate([slopes @ (parts - 0.4), [0.001, -0.001]])

    few = {"rows": 8, "columns": 8, "frames": 8}
    stages = [few | {"starts": 40, "steps": 0}, few | {"starts": 5, "steps": 20}]
    problem = pose_problem(only(["femoral_sagittal_radius", "wear_factor"], stages))
    monkeypatch.setattr(fit.FitProblem, "errors", errors)
    for module in (fit, analysis):
        monkeypatch.setattr(module, "relative_spread", lambda *_: np.full(4, 0.01))
    return replace(problem, published=problem.published.iloc[:4]), slopes


def test_search_narrows_and_leaves_out_points_without_results(linear):
    problem, _ = linear
    with ThreadPoolExecutor(2) as pool:
        points = search_constants(problem, pool)
    first, last = (points[points["stage"] == stage] for stage in (1, 2))
    assert 30 < len(first) < 40
    assert first["femoral_sagittal_radius"].max() <= 0.9
    assert len(last) == 5
    np.testing.assert_allclose(last[list(problem.variables)].to_numpy(), 0.4, atol=1e-3)
    assert points["stage"].iloc[0] == 2


def test_separation_is_that_of_linear_regression(linear, monkeypatch):
    problem, slopes = linear
    names, parts = list(problem.variables), np.array([0.4, 0.4])
    rows, errors = [], {}
    for stepped in ("", *names):
        at = parts + 0.02 * np.array([name == stepped for name in names])
        values = {
            name: problem.variables[name].quantiles(part).item()
            for name, part in zip(names, at, strict=True)
        }
        rows.append({"stepped": stepped, **values})
        errors[stepped] = problem.errors(at, COARSE)

    def computed(rows, index):
        return problem.published.to_numpy() * np.exp(errors[rows["stepped"].iloc[0]])

    monkeypatch.setattr(analysis, "QUANTITIES", ("wear_depth_at_deepest_damage", "damage_depth"))
    monkeypatch.setattr(analysis, "fitted_cells", lambda: problem.published)
    monkeypatch.setattr(analysis, "computed_values", computed)
    tables = separate_constants(pd.DataFrame(rows), problem.study)
    design = np.vstack([slopes, np.zeros((2, 2))])
    covariance = np.linalg.inv(design.T @ design) * (2 * 0.001**2 / 2)
    deviation = np.sqrt(np.diag(covariance))
    table = tables["constants"].set_index("constant")
    widths = np.array([one.high - one.low for one in problem.variables.values()])
    np.testing.assert_allclose(table["standard_error"], deviation * widths, rtol=1e-6)
    expected = covariance[0, 1] / deviation.prod()
    np.testing.assert_allclose(table["largest_correlation"], expected, rtol=1e-6)
    assert table["correlated_with"].tolist() == names[::-1]
    assert table["source"].tolist() == [one.source for one in problem.variables.values()]
    singular = np.linalg.svd(design / 0.01, compute_uv=False)
    np.testing.assert_allclose(tables["singular_values"]["singular_value"], singular, rtol=1e-6)
    assert tables["correlations"].iloc[0, 2] == pytest.approx(expected)


@pytest.mark.parametrize("failing", [(), (0.1, 15), (0.1, 0.2, 9), (0.1, 0.2, 15)])
def test_next_best_point_replaces_one_without_results(study, monkeypatch, failing):
    first = next(iter(study.variables))

    def search(problem, pool, near=None):
        points = pd.DataFrame({name: [0.1, 0.2] for name in problem.variables})
        return points.assign(stage=len(problem.plan.stages), sum_of_squares=[1.0, 2.0])

    def compute(study, values, cells, resolution, contact):
        fitted = sum(values[name] != one.start for name, one in study.variables.items())
        part = round(study.variables[first].position(values[first]), 3)
        fails = part in failing and fitted in failing
        columns = {"thickness_mm": [10.0], "body_mass_kg": [75.0]}
        columns |= {f"{side}_{name}": 1.0 for side in ("medial", "lateral") for name in HALF_UNITS}
        return pd.DataFrame({**columns, FAILURE: "no equilibrium" if fails else ""})

    monkeypatch.setattr(fit, "search_constants", search)
    monkeypatch.setattr(fit, "compute_cells", compute)
    if 0.2 in failing and 15 in failing:
        with pytest.raises(ConvergenceError, match="15"):
            fit_study(study)
        return
    outcome = fit_study(study)
    part = 0.2 if 15 in failing else 0.1
    expected = study.variables[first].quantiles(part).item()
    assert outcome.values[first] == pytest.approx(expected, rel=1e-3)
    location = ("implant", "parametric", "femoral_sagittal_radius_mm")
    assert outcome.settings(study)[location] == outcome.values[first]
    of_cells = outcome.results[outcome.results["role"] == "cells"]
    assert set(of_cells["constants"]) == {9, 12, 15} - ({9} if 9 in failing else set())
