"""How far results of one case depend on choices of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from kneewear.geometry.element_grid import ElementGrid
from kneewear.settings.wear import WearSettings
from kneewear.simulation.history import ContactHistory
from kneewear.wear.accumulation import Resimulation, accumulate_wear
from kneewear.wear.laws import WEAR_LAWS
from kneewear.wear.summary import damage_volume

CONFIGURED, SURFACE, LAW, FACTOR = "as configured", "surface", "wear law", "wear factor"
UNITS = {"wear_volume": "mm3", "max_wear_depth": "mm", "damage_depth": "mm"}


def vary_models(
    histories: Mapping[str, ContactHistory],
    grid: ElementGrid,
    settings: WearSettings,
    resimulate: Resimulation,
    blocks: int,
    factors: Sequence[float],
) -> pd.DataFrame:
    """Wear and damage of the first case with one choice of the model changed at a time.

    Parameters
    ----------
    histories, grid, settings, resimulate
        Those of `accumulate_wear`.
    blocks : int
        Blocks between which the surface follows wear and creep; 1 leaves this variant out.
    factors : sequence of float
        Wear factors to be taken instead, mm3/(N m).

    Returns
    -------
    DataFrame
        Columns choice, variant, life, side, quantity (`wear_volume`, `max_wear_depth` and
        `damage_depth`), value and unit. Choices are "as configured", "surface" (fresh, or following
        in so many blocks), "wear law" (each on the fresh surface) and "wear factor".
    """
    first = {name: history.only(history.cases[0].name) for name, history in histories.items()}
    rows = []
    for choice, variant, changed in _variants(settings, blocks, factors):
        maps = accumulate_wear(first, grid, changed, resimulate)
        for number, life in enumerate(maps.lives):
            for index, side in enumerate(maps.sides):
                wear, damage = (
                    maps.wear_depth[number, 0, index],
                    maps.damage_depth[number, 0, index],
                )
                values = (damage_volume(wear, grid.area[index]), wear.max(), damage.max())
                rows += [
                    (choice, variant, life, side, quantity, float(value), UNITS[quantity])
                    for quantity, value in zip(UNITS, values, strict=True)
                ]
    columns = ["choice", "variant", "life", "side", "quantity", "value", "unit"]
    return pd.DataFrame(rows, columns=columns)


def _variants(
    settings: WearSettings, blocks: int, factors: Sequence[float]
) -> Iterator[tuple[str, str, WearSettings]]:
    """Choice, variant and settings of every computation."""
    fresh = settings.without_updates()
    yield CONFIGURED, "", settings
    if settings.blocks > 1:
        yield SURFACE, "fresh", fresh
    elif blocks > 1:
        following = settings.model_copy(update={"blocks": blocks})
        yield SURFACE, f"following in {blocks} blocks", following
    for law in WEAR_LAWS:
        yield LAW, law, fresh.model_copy(update={"wear_law": law})
    for factor in factors:
        changed = settings.model_copy(update={"wear_factor_mm3_per_n_m": factor})
        yield FACTOR, f"{factor:g}", changed
