"""Small made-up histories whose wear is known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear import default_study
from kneewear.base.cases import Case
from kneewear.base.schemas import CONTACT
from kneewear.geometry.element_grid import ElementGrid
from kneewear.motion.history import case_coordinates, failure_attribute

SIDES = ("medial", "lateral")


def make_grid(rows=6, columns=4, nominal=6.0):
    """Flat plateaus on either side of z = 0, cells of 2 x 3 mm."""
    x = np.arange(rows) * 2.0
    z = np.arange(columns) * 3.0
    centre = np.zeros((2, rows, columns, 3))
    centre[..., 0] = x[None, :, None]
    centre[0, ..., 2] = 10.0 + z
    centre[1, ..., 2] = -20.0 + z
    up = np.broadcast_to([0.0, 1.0, 0.0], centre.shape).copy()
    along_x = np.broadcast_to([1.0, 0.0, 0.0], centre.shape).copy()
    along_z = np.broadcast_to([0.0, 0.0, 1.0], centre.shape).copy()
    shape = (2, rows, columns)
    position = np.meshgrid(
        2.0 * np.arange(rows + 1) - 1.0, 3.0 * np.arange(columns + 1) - 1.5, indexing="ij"
    )
    plan = np.stack(position, axis=-1)
    return ElementGrid(
        centre=centre,
        normal=up,
        tangent_row=along_x,
        tangent_column=along_z,
        area=np.full(shape, 6.0),
        thickness=np.full(shape, nominal + 1.0),
        valid=np.ones(shape, dtype=bool),
        covered=np.ones(shape),
        corners=np.stack([plan + [0.0, 10.0], plan - [0.0, 20.0]]),
        nominal_thickness=nominal,
        sides=SIDES,
    )


def make_history(activity="gait", cases=None, frames=8, seed=0, grid=None):
    """Random pressures and slips with every tenth element loaded, consistent frame values."""
    cases = cases or (Case("t06_m050", 6.0, 50.0), Case("t10_m100", 10.0, 100.0))
    grid = grid or make_grid()
    random = np.random.default_rng(seed)
    shape = (len(cases), frames, *grid.area.shape)
    loaded = random.random(shape) < 0.4
    pressure = np.where(loaded, random.uniform(1.0, 20.0, shape), 0.0).astype(np.float32)
    slip = random.normal(0.0, 0.3, (*shape, 2)).astype(np.float32) * loaded[..., None]
    sides = shape[:3]
    count = np.maximum(loaded.sum(axis=(-1, -2)), 1)
    total = pressure.sum(axis=(-1, -2), dtype=float)
    centre = np.einsum("cfsij,sijk->cfsk", pressure.astype(float), grid.centre)
    three = (len(cases), frames, 3)
    return CONTACT.dataset(
        {
            **case_coordinates(cases),
            "side": SIDES,
            "percent": np.arange(frames) * 100.0 / frames,
            "time": np.arange(frames) * 1.2 / frames,
            "pressure": pressure,
            "slip": slip,
            "translation": random.normal(size=three),
            "rotation": random.normal(size=three),
            "load": random.uniform(500.0, 2000.0, three[:2]),
            "load_line": random.uniform(5.0, 9.0, three[:2]),
            "force": random.normal(size=(*sides, 3)),
            "torque": random.normal(size=(*sides, 3)),
            "reaction_force": random.normal(size=three),
            "reaction_moment": random.normal(size=three),
            "inertia_force": random.normal(size=three),
            "inertia_moment": random.normal(size=three),
            "spring_force": np.zeros(three[:2]),
            "max_pressure": pressure.max(axis=(-1, -2)).astype(float),
            "avg_pressure": total / count,
            "contact_area": 6.0 * loaded.sum(axis=(-1, -2)).astype(float),
            "max_penetration": np.zeros(sides),
            "active_elements": loaded.sum(axis=(-1, -2)),
            "centre_of_pressure": centre / total[..., None],
            "residual": np.full(three[:2], 1e-12),
        },
        leading=("case", "frame"),
        activity=activity,
        analysis="quasi_static",
        **failure_attribute(()),
    )


def make_settings(**changes):
    """Wear settings of the default study, with changes."""
    values = {"wear_factor_mm3_per_n_m": 2.6e-7, "creep_mm_per_mpa": 0.0184}
    return default_study().wear.model_copy(update=values | changes)


@pytest.fixture
def grid():
    return make_grid()


@pytest.fixture
def history(grid):
    return make_history(grid=grid)


@pytest.fixture
def stairs(grid):
    return make_history("stairs", seed=1, grid=grid)


@pytest.fixture
def settings():
    return make_settings


@pytest.fixture
def history_of():
    return make_history
