"""Spread of the results of one case over choices of the model."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
import xarray as xr

from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.motion.history import first_cases, sides_of
from kneewear.wear.accumulation import Resimulation, accumulate_wear
from kneewear.wear.law_settings import WEAR_LAWS
from kneewear.wear.settings import WearSettings
from kneewear.wear.summary import damage_volume

CONFIGURED = "as configured"
SURFACE = "surface"
FRESH = "fresh"
LAW = "wear law"
FACTOR = "wear factor"
CONTACT = "contact"
logger = logging.getLogger(__name__)

UNITS = {"wear_volume": "mm3", "max_wear_depth": "mm", "damage_depth": "mm"}


def vary_models(
    histories: Mapping[str, xr.Dataset],
    grid: ElementGrid,
    settings: WearSettings,
    resimulate: Resimulation,
    blocks: int,
    factors: Sequence[float],
    contacts: Mapping[str, Resimulation] | None = None,
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
    contacts : mapping of str to callable, optional
        Other models of contact by name, which simulate the cycles again; one that finds a cycle
        outside its limits is left out.

    Returns
    -------
    DataFrame
        Columns choice, variant, life, side, quantity (`wear_volume`, `max_wear_depth` and
        `damage_depth`), value and unit. Choices are "as configured", "surface" (fresh, or following
        in so many blocks), "wear law" (the configured one and those that measured wear of moving
        contacts does not refute, on the fresh surface), "wear factor" and "contact".
    """
    first = first_cases(histories)
    rows = []
    computations = [
        (choice, variant, first, changed, resimulate)
        for choice, variant, changed in _variants(settings, blocks, factors)
    ]
    for name, again in (contacts or {}).items():
        cycles = _simulated(name, again, grid, first)
        computations += [(CONTACT, name, cycles, settings, again)] if cycles else []
    for choice, variant, cycles, changed, again in computations:
        maps = accumulate_wear(cycles, grid, changed, again)
        for number, life in enumerate(maps["life"].values):
            for index, side in enumerate(sides_of(maps)):
                wear, damage = (
                    maps.wear_depth.values[number, 0, index],
                    maps.damage_depth.values[number, 0, index],
                )
                values = (damage_volume(wear, grid.area[index]), wear.max(), damage.max())
                rows += [
                    (choice, variant, life, side, quantity, float(value), UNITS[quantity])
                    for quantity, value in zip(UNITS, values, strict=True)
                ]
    columns = ["choice", "variant", "life", "side", "quantity", "value", "unit"]
    return pd.DataFrame(rows, columns=columns)


def _simulated(
    name: str, again: Resimulation, grid: ElementGrid, first: Mapping[str, xr.Dataset]
) -> dict[str, xr.Dataset]:
    """Cycles by another model of contact; none if one is outside its limits."""
    try:
        return {activity: again(grid, history) for activity, history in first.items()}
    except InputDataError as error:
        logger.info("no variant with contact by %s: %s", name, error)
        return {}


def _variants(
    settings: WearSettings, blocks: int, factors: Sequence[float]
) -> Iterator[tuple[str, str, WearSettings]]:
    """Choice, variant and settings of every computation."""
    fresh = settings.without_updates()
    yield CONFIGURED, "", settings
    if settings.blocks > 1:
        yield SURFACE, FRESH, fresh
    elif blocks > 1:
        following = settings.model_copy(update={"blocks": blocks})
        yield SURFACE, f"following in {blocks} blocks", following
    for name, law in WEAR_LAWS.items():
        if law.survives or name == settings.wear_law:
            yield LAW, name, fresh.model_copy(update={"wear_law": name})
    for factor in factors:
        changed = settings.model_copy(update={"wear_factor_mm3_per_n_m": factor})
        yield FACTOR, f"{factor:g}", changed
