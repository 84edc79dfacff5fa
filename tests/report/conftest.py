"""A small made-up study on the built-in implant, cheap enough for every test."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kneewear import default_study
from kneewear.activity.sources import build_parametric_activity
from kneewear.analysis.models import compare_models, predict_cases
from kneewear.analysis.regression import correlate_pressure, fit_regression
from kneewear.analysis.regression_tables import flag_validity
from kneewear.base.cases import Case
from kneewear.base.schemas import CONTACT
from kneewear.evidence.published.comparison import (
    compare_correlation,
    compare_published,
    compare_regression,
    compare_trends,
)
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.motion.history import case_coordinates, failure_attribute
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.summary import summarize_cases
from tests.report.static_results import solve_small_study

FRAMES = 6


def make_history(grid, activity, cases):
    """A round patch that travels along x; pressures follow mass and thickness."""
    shape = (len(cases), FRAMES, *grid.area.shape)
    pressure, slip = np.zeros(shape, np.float32), np.zeros((*shape, 2), np.float32)
    middle = np.nanmean(grid.centre, axis=(1, 2))
    load = 9.81 * np.array(
        [[case.body_mass * (1.0 + frame % 3) for frame in range(FRAMES)] for case in cases]
    )
    for index, case in enumerate(cases):
        for frame in range(FRAMES):
            position = middle + np.array([2.0 * frame - 5.0, 0.0, 0.0])
            away = np.linalg.norm((grid.centre - position[:, None, None])[..., [0, 2]], axis=-1)
            scale = np.sqrt(load[index, frame] / case.thickness)
            pressure[index, frame] = np.nan_to_num(np.maximum(0.0, scale * (1.0 - away / 7.0)))
    slip[..., 0] = np.where(pressure > 0.0, 2.0, 0.0)
    weight = pressure.astype(float)
    total = weight.sum(axis=(-1, -2))
    sides, three = shape[:3], (len(cases), FRAMES, 3)
    centre = np.einsum("cfsij,sijk->cfsk", weight, np.nan_to_num(grid.centre)) / total[..., None]
    count = (weight > 0).sum(axis=(-1, -2))
    return CONTACT.dataset(
        {
            **case_coordinates(cases),
            "side": grid.sides,
            "percent": activity.percent,
            "time": activity.percent / 100.0 * activity.duration,
            "pressure": pressure,
            "slip": slip,
            "translation": np.broadcast_to([0.0, 37.5, 0.0], three).copy(),
            "rotation": np.broadcast_to(activity.rotation, three).copy(),
            "load": load,
            "load_line": np.full(load.shape, 9.0),
            "force": np.zeros((*sides, 3)),
            "torque": np.zeros((*sides, 3)),
            "reaction_force": np.zeros(three),
            "reaction_moment": np.zeros(three),
            "inertia_force": np.zeros(three),
            "inertia_moment": np.zeros(three),
            "spring_force": np.zeros(load.shape),
            "max_pressure": weight.max(axis=(-1, -2)),
            "avg_pressure": total / count,
            "contact_area": count * 1.0,
            "max_penetration": np.zeros(sides),
            "active_elements": count,
            "centre_of_pressure": centre,
            "residual": np.full(load.shape, 1e-12),
        },
        leading=("case", "frame"),
        activity=activity.name,
        analysis="quasi_static",
        **failure_attribute(()),
    )


def make_study(thicknesses, masses, lives=None):
    """All that the report takes, from made-up histories."""
    study = default_study()
    implant, _ = build_implant(study.implant)
    grid = build_grid(implant, 24, 18)
    activity = build_parametric_activity("gait", study.activities["gait"], FRAMES)
    cases = [Case(f"{h:g}mm_{m:g}kg", h, m) for h in thicknesses for m in masses]
    histories = {"gait": make_history(grid, activity, cases)}
    wear = study.wear.model_copy(update={"lives": lives} if lives else {})
    maps = accumulate_wear(histories, grid, wear)
    cycles = record_cycles(histories)
    table = summarize_cases(maps, cycles, grid, wear)
    regression = fit_regression(table)
    tables: dict[str, pd.DataFrame] = {
        "cases": table,
        "regression": regression,
        "regression_models": compare_models(table),
        "regression_points": predict_cases(table),
        "correlation": correlate_pressure(table),
        "validity": flag_validity(table, 35.0, 14.0),
        "comparison": compare_published(table),
        "regression_comparison": (beside := compare_regression(regression)),
        "statements": compare_trends(compare_correlation(correlate_pressure(table)), beside, table),
    }
    return SimpleNamespace(
        settings=study.model_dump(mode="json"),
        implant=implant,
        grid=grid,
        maps=maps,
        cycles=cycles,
        activities={"gait": activity},
        histories=histories,
        tables=tables,
    )


@pytest.fixture(scope="session")
def whole():
    """Six of the published cases: curves and surfaces need three levels of one variable."""
    return make_study((6.0, 8.0, 10.0), (50.0, 100.0))


@pytest.fixture(scope="session")
def single():
    """One case that was not published, with two lives."""
    return make_study((6.8,), (70.0,), {"walk": {"gait": 1.0}, "rest": {"gait": 1.0}})


@pytest.fixture(scope="session")
def static_study():
    """Results of a small study of static contact."""
    return solve_small_study()
