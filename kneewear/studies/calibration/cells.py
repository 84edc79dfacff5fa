"""Quasi-static cycles and wear of some cells, for any constants of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from kneewear.settings.calibration import CalibrationStudy, ResolutionSettings
from kneewear.settings.cases import Case
from kneewear.settings.study import apply_case
from kneewear.studies.life import (
    built_in_activities,
    exact_knee,
    simulate_cycles,
    summarize_life,
    with_exact_distances,
)

# Insert thickness, mm, and body mass, kg.
Cell = tuple[float, float]


def simulate_cells(
    study: CalibrationStudy,
    values: Mapping[str, float],
    cells: Sequence[Cell],
    resolution: ResolutionSettings,
) -> pd.DataFrame:
    """Tidy case table of some cells with settings changed, by path, on the given grid and frames.

    Raises InputDataError for a value out of its range or an impossible geometry, ConvergenceError
    where a frame has no equilibrium.
    """
    found = with_exact_distances(apply_case(study, Case("calibration", *cells[0], values)))
    grid = {"rows": resolution.rows, "columns": resolution.columns}
    simulation = {"analysis": "quasi_static", "frames": resolution.frames}
    cycle = found.model_copy(
        update={
            "grid": found.grid.model_copy(update=grid),
            "simulation": found.simulation.model_copy(update=simulation),
        }
    )
    cases = [Case(f"{thickness:g}mm_{mass:g}kg", thickness, mass) for thickness, mass in cells]
    knee = exact_knee(cycle)
    histories = simulate_cycles(cycle, knee, built_in_activities(cycle), cases)
    return summarize_life(cycle, knee, histories)[1]
