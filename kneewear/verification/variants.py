"""How much a choice of method moves every result."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from kneewear.geometry.element_grid import ElementGrid
from kneewear.settings.wear import WearSettings
from kneewear.simulation.history import ContactHistory
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.cycles import record_cycles
from kneewear.wear.summary import summarize_cases

KEYS = ["case", "life", "side", "quantity", "unit"]


def compare_variants(
    histories: Mapping[str, ContactHistory],
    variants: Mapping[str, Mapping[str, ContactHistory]],
    grid: ElementGrid,
    settings: WearSettings,
) -> pd.DataFrame:
    """Every result of a case as configured, and with one choice of method changed.

    Parameters
    ----------
    histories : mapping of activity to ContactHistory
        A case or cases as configured.
    variants : mapping of name to mapping of activity to ContactHistory
        The same simulated otherwise; names say what was changed, such as "distance: exact".
    grid : ElementGrid
        Elements of the insert.
    settings : WearSettings
        Wear, creep and life; the surface stays fresh, whatever they say.

    Returns
    -------
    DataFrame
        Columns variant, case, life, side, quantity, unit, value (as configured), changed, and
        relative_difference (of the second against the first). Without rows where there is no case.
    """
    reference = _results(histories, grid, settings)
    tables = []
    for name, others in variants.items():
        changed = _results(others, grid, settings).rename("changed")
        table = pd.concat([reference, changed], axis=1, join="inner").reset_index()
        tables.append(table.assign(variant=name))
    columns = ["variant", *KEYS, "value", "changed", "relative_difference"]
    if not tables:
        return pd.DataFrame(columns=columns)
    joined = pd.concat(tables, ignore_index=True)
    value = joined["value"]
    difference = (joined["changed"] - value) / value.abs().where(value != 0.0)
    return joined.assign(relative_difference=difference)[columns]


def _results(
    histories: Mapping[str, ContactHistory], grid: ElementGrid, settings: WearSettings
) -> pd.Series:
    """Summary of all cases as one column."""
    if not all(history.cases for history in histories.values()):
        return pd.Series(name="value", index=pd.MultiIndex.from_tuples([], names=KEYS), dtype=float)
    plain = settings.without_updates()
    maps = accumulate_wear(histories, grid, plain)
    summary = summarize_cases(maps, record_cycles(histories), grid, plain)
    return summary.set_index(KEYS)["value"]
