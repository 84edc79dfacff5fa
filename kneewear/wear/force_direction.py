"""How much the direction in which pressure acts moves every result."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.config import SimulationSettings, WearSettings
from kneewear.geometry.grid import ElementGrid
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable
from kneewear.simulation import Case, simulate_cases
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.cycles import record_cycles
from kneewear.wear.summary import summarize_cases

DIRECTIONS = ("minimum_distance", "mid_surface")


def compare_force_directions(
    grid: ElementGrid,
    surfaces: Mapping[str, Surface],
    tables: Mapping[str, SurfaceTable],
    activities: Mapping[str, Activity],
    case: Case,
    settings: tuple[SimulationSettings, WearSettings],
) -> pd.DataFrame:
    """Simulate one case with pressure along either direction.

    Parameters
    ----------
    grid : ElementGrid
        Elements of the insert.
    surfaces, tables : mapping of side to Surface and SurfaceTable
        Femoral condyles and their lookup tables.
    activities : mapping of name to Activity
        All activities of the study.
    case : Case
        The case, usually the one at the centre of the design.
    settings : SimulationSettings and WearSettings
        Settings of the study; only the force direction is changed.

    Returns
    -------
    DataFrame
        Columns case, life, side, quantity, unit, minimum_distance, mid_surface and
        relative_difference (of the second against the first).

    Notes
    -----
    Along the line of minimum distance (the indenter's normal) forces derive from a potential; along
    the source's mid-surface normal they do not, and its penetration is a little larger (Bei 2003,
    Fig. 2-2).
    """
    simulation, wear = settings
    columns = []
    for direction in DIRECTIONS:
        changed = simulation.model_copy(update={"force_direction": direction})
        histories = {
            name: simulate_cases(grid, surfaces, tables, activity, [case], changed)
            for name, activity in activities.items()
        }
        summary = summarize_cases(
            accumulate_wear(histories, grid, wear), record_cycles(histories), grid
        )
        columns.append(
            summary.set_index(["case", "life", "side", "quantity", "unit"])["value"].rename(
                direction
            )
        )
    table = pd.concat(columns, axis=1).reset_index()
    first, second = (table[direction] for direction in DIRECTIONS)
    return table.assign(relative_difference=(second - first) / first.abs().where(first != 0.0))
