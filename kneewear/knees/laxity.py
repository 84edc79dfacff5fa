"""Laxity tests of a composed knee: how far loads move a body whose flexion is held."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from kneewear.errors import ConvergenceError
from kneewear.knees.assembly import free_names
from kneewear.knees.settings.composed_knee import ComposedKneeSettings
from kneewear.mechanics.loads import Load
from kneewear.motion.equilibrium import SystemEquilibrium, solve_system
from kneewear.motion.system import System

logger = logging.getLogger(__name__)

# What the tests move, with units, and the last columns of their table.
MOVED = (
    ("anterior", "mm"),
    ("superior", "mm"),
    ("lateral", "mm"),
    ("varus", "deg"),
    ("internal rotation", "deg"),
)
LAXITY = ("coordinate", "unit", "change")


def body_laxity(
    system: System, settings: ComposedKneeSettings, found: Sequence[SystemEquilibrium]
) -> pd.DataFrame:
    """Displacement of the body by each load of the laxity tests.

    Flexion is held, all free coordinates are in equilibrium. Loads grow in steps from the
    equilibrium without load. Its search starts at the one of `found`, one per frame, with the
    nearest flexion.

    Returns
    -------
    DataFrame
        One row per flexion (deg), test and coordinate: `change`, in `unit`, of the position of the
        body's origin along its own axes (anterior, superior, lateral), of varus and of internal
        rotation; `borne` is the part of the load up to which equilibria were found, below 1 where
        the body leaves its bearing.

    Raises
    ------
    ConvergenceError
        If there is no equilibrium without load.
    """
    tests = settings.laxity
    if tests is None:
        raise ValueError("no laxity tests are given")
    number, free = system.coordinate(f"{tests.body}.theta_1"), free_names(settings)
    first, tolerance = system.coordinate(f"{tests.body}.x"), settings.tolerance
    rows: list[tuple[Any, ...]] = []
    for angle in tests.flexion_deg:
        flexion = np.array([one.coordinates[number] for one in found])
        near = int(np.abs(flexion - np.radians(angle)).argmin())
        start, knee = found[near].coordinates.copy(), system.at(near)
        start[number] = np.radians(angle)
        rest = solve_system(knee, start, free, tolerance=tolerance).coordinates
        axes = knee.poses(rest).rotation[system.names.index(tests.body)]
        for test, load in tests.loads.items():
            loaded, borne = rest, 0.0
            for part in np.linspace(0.0, 1.0, tests.steps + 1)[1:]:
                pull = Load(
                    part * np.array(load.force_n),
                    moment=part * 1e3 * np.array(load.moment_n_m),
                    point=load.point_mm,
                    frame="moving",
                    body=tests.body,
                )
                pulled = System(knee.ground, knee.bodies, {**knee.actions, test: pull})
                try:
                    loaded = solve_system(pulled, loaded, free, tolerance=tolerance).coordinates
                except ConvergenceError as error:
                    logger.warning("%s at %.3g deg ends: %s", test, angle, error)
                    break
                borne = float(part)
            moved = (loaded - rest)[first : first + 6]
            changes = np.concatenate([axes.T @ moved[:3], np.degrees(moved[4:])])
            rows += [
                (test, angle, borne, *coordinate, float(change))
                for coordinate, change in zip(MOVED, changes, strict=True)
            ]
    return pd.DataFrame(rows, columns=["test", "flexion_deg", "borne", *LAXITY])
