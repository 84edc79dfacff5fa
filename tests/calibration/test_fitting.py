"""Fits of known constants, and the settings of the real one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kneewear
from kneewear.errors import ConvergenceError, InputDataError
from kneewear.reference.published import CALIBRATION_CASES, published_values
from kneewear.regression.comparison import compare_published
from kneewear.settings.calibration import CalibrationStudy, ResolutionSettings, StageSettings
from kneewear.settings.cases import location
from kneewear.settings.files import value_at
from kneewear.studies.calibration import fitting, trade_off
from kneewear.studies.calibration.cells import simulate_cells
from kneewear.studies.calibration.fitting import (
    part_of,
    search_constants,
    separate_constants,
    value_of,
)
from kneewear.studies.calibration.trade_off import calibrate, error_rows, pose_problem

FILE = Path(kneewear.__file__).parents[1] / "config" / "calibration.yaml"
# Coarser elements make the errors so jagged that a search may end early.
FINE = {"rows": 80, "columns": 60, "frames": 12}
TINY = (StageSettings(**FINE, starts=12, steps=0), StageSettings(**FINE, starts=2, steps=25))
COARSE = ResolutionSettings(rows=24, columns=18, frames=8)


def read(**overrides) -> CalibrationStudy:
    return kneewear.load_study(FILE, overrides)


@pytest.fixture(scope="module")
def study() -> CalibrationStudy:
    return read()


def test_cells_are_nine_of_25_and_the_others_stay_unused():
    cells = set(
        published_values()[["thickness_mm", "body_mass_kg"]].itertuples(index=False, name=None)
    )
    assert len(cells) == 25
    assert set(CALIBRATION_CASES) < cells
    assert len(set(CALIBRATION_CASES)) == 9


def test_constants_are_few_and_those_of_the_default_study_lie_within_bounds(study):
    constants = study.calibration.constants
    assert len(constants) <= 15
    content = study.model_dump(mode="json")
    for name, constant in constants.items():
        for key in (constant.key, *constant.also):
            assert constant.low <= value_at(content, location(key)) <= constant.high, name


def only(study, names, **settings):
    """The study with some of its constants fitted."""
    chosen = {name: study.calibration.constants[name] for name in names}
    update = {"constants": chosen, "exponent": 1.0, "trade_off": ()} | settings
    grid = study.grid.model_copy(update={"rows": FINE["rows"], "columns": FINE["columns"]})
    simulation = study.simulation.model_copy(update={"frames": FINE["frames"]})
    blocks = {"calibration": study.calibration.model_copy(update=update)}
    return study.model_copy(update=blocks | {"grid": grid, "simulation": simulation})


@pytest.mark.slow
def test_plain_values_make_a_study(study):
    plain = {
        key: one.plain
        for one in study.calibration.constants.values()
        for key in (one.key, *one.also)
    }
    assert np.isfinite(simulate_cells(study, plain, [(10.0, 75.0)], COARSE)["value"]).any()


@pytest.mark.slow
@pytest.mark.compiled
def test_known_constants_are_found_again(study):
    truth = {"femoral sagittal radius": 33.0, "wear factor": 3e-7, "creep constant": 0.018}
    one = only(study, truth, stages=TINY)
    problem = pose_problem(one)
    problem = replace(problem, published=problem.published.loc[[10.0, 6.0], [75.0]])
    constants = problem.constants
    parts = np.array([part_of(constants[name], value) for name, value in truth.items()])
    made = problem.published * np.exp(problem.errors(parts, TINY[0]))
    problem = replace(problem, published=made)
    with ThreadPoolExecutor(1) as pool:
        points = search_constants(problem, pool)
    best = points.iloc[0]
    for name, value in truth.items():
        assert value_of(constants[name], best[name]) == pytest.approx(value, rel=5e-3)
    tables = separate_constants(problem, best[list(truth)].to_numpy(float), TINY[0])
    table = tables["constants"].set_index("constant")
    # Wear depth is in proportion to the wear factor.
    hundredth = 0.01 * (constants["wear factor"].high - constants["wear factor"].low)
    expected = pytest.approx(100.0 * hundredth / 3e-7, rel=0.3)
    assert table["wear_depth_percent"]["wear factor"] == expected
    assert table["max_pressure_percent"]["wear factor"] == 0.0


@pytest.mark.slow
@pytest.mark.compiled
def test_error_of_the_discretisation_is_subtracted(study):
    problem = pose_problem(only(study, ("femoral sagittal radius", "wear factor")))
    problem = replace(problem, published=problem.published.loc[[10.0], [75.0]])
    parts, near = np.array([0.4, 0.5]), np.array([0.42, 0.48])
    coarse, fine = problem.errors(parts, COARSE), problem.errors(parts, problem.finest)
    assert np.abs(coarse - fine).max() > 0.02
    np.testing.assert_allclose(problem.at(parts, COARSE).errors(parts, COARSE), fine, atol=1e-12)
    # Beside the point the difference is nearly the same.
    beside = problem.at(parts, COARSE).errors(near, COARSE) - problem.errors(near, problem.finest)
    assert np.abs(beside).max() < 0.25 * np.abs(coarse - fine).max()


@pytest.fixture
def linear(study, monkeypatch):
    """Problem of two constants whose errors are known: linear in their positions."""
    slopes = np.array([[3.0, 3.0], [0.0, 0.4]])

    def errors(self, parts, resolution):
        if parts[0] > 0.9:
            return np.full(4, np.inf)
        return np.concatenate([slopes @ (parts - 0.4), [0.001, -0.001]])

    stages = tuple(
        StageSettings(rows=8, columns=8, frames=8, starts=starts, steps=steps)
        for starts, steps in ((40, 0), (5, 20))
    )
    one = only(study, ["femoral sagittal radius", "wear factor"], stages=stages)
    problem = pose_problem(one)
    monkeypatch.setattr(fitting.Problem, "errors", errors)
    monkeypatch.setattr(fitting.Problem, "spread", np.full(4, 0.01))
    monkeypatch.setattr(fitting, "QUANTITIES", ("wear_depth", "damage_depth"))
    return replace(problem, published=problem.published.iloc[:4]), slopes


def test_search_narrows_and_leaves_out_points_without_equilibrium(linear):
    problem, _ = linear
    with ThreadPoolExecutor(2) as pool:
        points = search_constants(problem, pool)
    first, last = (points[points["stage"] == stage] for stage in (1, 2))
    assert 30 < len(first) < 40
    assert first["femoral sagittal radius"].max() <= 0.9
    assert len(last) == 5
    names = list(problem.constants)
    np.testing.assert_allclose(last[names].to_numpy(), 0.4, atol=1e-3)
    assert points["stage"].iloc[0] == 2


def test_separation_is_that_of_linear_regression(linear):
    problem, slopes = linear
    parts = np.array([0.4, 0.4])
    tables = separate_constants(problem, parts, problem.study.calibration.stages[0])
    design = np.vstack([slopes, np.zeros((2, 2))])
    covariance = np.linalg.inv(design.T @ design) * (2 * 0.001**2 / 2)
    deviation = np.sqrt(np.diag(covariance))
    table = tables["constants"].set_index("constant")
    widths = np.array([one.high - one.low for one in problem.constants.values()])
    np.testing.assert_allclose(table["standard_error"], deviation * widths, rtol=1e-6)
    expected = covariance[0, 1] / deviation.prod()
    np.testing.assert_allclose(table["largest_correlation"], expected, rtol=1e-6)
    assert table["correlated_with"].tolist() == list(problem.constants)[::-1]
    assert table["source"].tolist() == [one.source for one in problem.constants.values()]
    singular = np.linalg.svd(design / 0.01, compute_uv=False)
    np.testing.assert_allclose(tables["singular_values"]["singular_value"], singular, rtol=1e-6)
    assert tables["correlations"].iloc[0, 2] == pytest.approx(expected)


def test_a_search_without_any_equilibrium_is_empty(linear, monkeypatch):
    problem, _ = linear
    monkeypatch.setattr(fitting.Problem, "errors", lambda *_: np.full(4, np.inf))
    with ThreadPoolExecutor(1) as pool:
        assert search_constants(problem, pool).empty


@given(st.floats(0.0, 1.0))
def test_parts_and_values_are_inverse(study, part):
    for constant in study.calibration.constants.values():
        value = value_of(constant, part)
        assert part_of(constant, value) == pytest.approx(part, abs=1e-12)
        assert constant.low - 1e-9 <= value <= constant.high + 1e-9


def test_unknown_settings_are_refused(study):
    with pytest.raises(ValueError, match=r"no setting wear\.tear"):
        simulate_cells(study, {"wear.tear": 1.0}, [(10.0, 75.0)], COARSE)


def test_what_a_calibration_cannot_analyse_is_refused():
    with pytest.raises(InputDataError, match=r"a calibration with wear\.blocks: 4"):
        read(wear={"blocks": 4, "creep_time": "logarithm"})


def test_errors_are_told_of_fitted_and_other_cells_apart():
    values = published_values().rename(columns={"published": "value"}).assign(life="gait")
    cells = set(CALIBRATION_CASES)
    used = [
        cell in cells for cell in zip(values["thickness_mm"], values["body_mass_kg"], strict=True)
    ]
    values["value"] *= np.where(used, 1.02, 1.10)
    for row in error_rows(compare_published(values)):
        expected = 2.0 if row["cells"] == "fitted" else 10.0
        assert row["median_percent"] == pytest.approx(expected)
        assert row["largest_beyond_rounding_percent"] < expected


@pytest.mark.parametrize("failing", [(), (0.1, 15), (0.1, 0.2, 9), (0.1, 0.2, 15)])
def test_next_best_point_replaces_one_without_an_equilibrium(study, monkeypatch, caplog, failing):
    def search(problem, pool, near=None):
        points = pd.DataFrame({name: [0.1, 0.2] for name in problem.constants})
        return points.assign(stage=len(study.calibration.stages), sum_of_squares=[1.0, 2.0])

    def simulate(one, values, resolution):
        constants = study.calibration.constants
        first = next(iter(constants.values()))
        fitted = [values[one.key] != one.plain for one in constants.values()]
        part = round(part_of(first, values[first.key]), 3)
        if part in failing and sum(fitted) in failing:
            raise ConvergenceError("equilibrium", 3, 0.7, "of the load", "Check the load.")
        return published_values().rename(columns={"published": "value"}).assign(life="gait")

    # `calibrate` changes the level of this logger: the original one is restored after the test.
    caplog.set_level("INFO", logger="kneewear.simulation")
    monkeypatch.setattr(trade_off, "search_constants", search)
    monkeypatch.setattr(trade_off, "simulate_published", simulate)
    monkeypatch.setattr(trade_off, "separate_constants", lambda *_: {})
    if 0.2 in failing and 15 in failing:
        with pytest.raises(ConvergenceError, match="search for 15 constants"):
            calibrate(study)
        return
    found = calibrate(study)
    first = next(iter(study.calibration.constants.values()))
    part = 0.2 if 15 in failing else 0.1
    assert found.overrides[first.key] == pytest.approx(value_of(first, part), rel=1e-3)
    without = {9} if 9 in failing else set()
    assert set(found.tables["trade_off"]["constants"]) == {9, 12, 15} - without
    assert ("9 constants are left out" in caplog.text) == bool(without)
