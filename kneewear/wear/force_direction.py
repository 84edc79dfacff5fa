"""How much the direction in which pressure acts moves every result."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from kneewear.config import WearSettings
from kneewear.geometry.grid import ElementGrid
from kneewear.simulation import ContactHistory
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.cycles import record_cycles
from kneewear.wear.summary import summarize_cases

KEYS = ["case", "life", "side", "quantity", "unit"]


def compare_force_directions(
    minimum_distance: Mapping[str, ContactHistory],
    mid_surface: Mapping[str, ContactHistory],
    grid: ElementGrid,
    settings: WearSettings,
) -> pd.DataFrame:
    """Every result of a case with pressure along either direction.

    Parameters
    ----------
    minimum_distance, mid_surface : mapping of activity to ContactHistory
        The same case or cases, simulated with pressure along either line.
    grid : ElementGrid
        Elements of the insert.
    settings : WearSettings
        Wear, creep and life; the surface stays fresh, whatever they say.

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
    columns = []
    plain = settings.without_updates()
    for name, histories in (("minimum_distance", minimum_distance), ("mid_surface", mid_surface)):
        maps = accumulate_wear(histories, grid, plain)
        summary = summarize_cases(maps, record_cycles(histories), grid, plain)
        columns.append(summary.set_index(KEYS)["value"].rename(name))
    table = pd.concat(columns, axis=1).reset_index()
    first, second = table["minimum_distance"], table["mid_surface"]
    return table.assign(relative_difference=(second - first) / first.abs().where(first != 0.0))
