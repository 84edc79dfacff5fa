"""Quantities of the published tables, computed for any constants of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kneewear.regression.groups import QUANTITIES
from kneewear.settings.base import WearStudy
from kneewear.settings.calibration import CalibrationStudy, ResolutionSettings
from kneewear.settings.cases import Case
from kneewear.settings.study import apply_case
from kneewear.sides import SIDES
from kneewear.studies.life import (
    built_in_activities,
    exact_knee,
    simulate_cycles,
    summarize_life,
    with_exact_distances,
)

# Insert thickness, mm, and body mass, kg.
Cell = tuple[float, float]


def study_of_cells(
    study: CalibrationStudy,
    values: Mapping[str, float],
    cells: Sequence[Cell],
    resolution: ResolutionSettings,
) -> WearStudy:
    """Quasi-static study of given cells with the constants changed."""
    first = Case("calibration", *cells[0], values)
    found = with_exact_distances(apply_case(study, first))
    grid = {"rows": resolution.rows, "columns": resolution.columns}
    simulation = {"analysis": "quasi_static", "frames": resolution.frames}
    return found.model_copy(
        update={
            "grid": found.grid.model_copy(update=grid),
            "simulation": found.simulation.model_copy(update=simulation),
        }
    )


def simulate_cells(
    study: CalibrationStudy,
    values: Mapping[str, float],
    cells: Sequence[Cell],
    resolution: ResolutionSettings,
) -> NDArray[np.float64]:
    """Quantities of the published tables for some thicknesses and body masses.

    Parameters
    ----------
    study : CalibrationStudy
        Settings.
    values : mapping of str to float
        Settings that are changed, by path.
    cells : sequence of (thickness in mm, body mass in kg)
        Cases.
    resolution : ResolutionSettings
        Elements and frames, instead of those of the study.

    Returns
    -------
    array, shape (cells, sides, quantities)
        In the order of `cells`, `SIDES` and `QUANTITIES`; MPa, mm, mm2 and mm3.

    Raises
    ------
    InputDataError
        If a value is out of its range, or the geometry is impossible.
    ConvergenceError
        If a frame has no equilibrium.
    """
    cycle = study_of_cells(study, values, cells, resolution)
    cases = [Case(str(number), *cell) for number, cell in enumerate(cells)]
    knee = exact_knee(cycle)
    histories = simulate_cycles(cycle, knee, built_in_activities(cycle), cases)
    _, table = summarize_life(cycle, knee, histories)
    values_of = table.set_index(["case", "side", "quantity"])["value"]
    return np.array(
        [[[values_of[case.name, side, name] for name in QUANTITIES] for side in SIDES]
         for case in cases]
    )  # fmt: skip
