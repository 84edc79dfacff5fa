"""Draws of wear laws, their constants and laboratories, found from measured wear.

The rows are of `wear_posterior.csv`, which `kneewear.evidence.synthesis` makes from measured wear.
No simulation depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.sides import BOTH
from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.motion.history import first_cases, sides_of
from kneewear.wear.history import ordered
from kneewear.wear.interval import COVERAGE, loss_scales, wear_intervals
from kneewear.wear.law_settings import (
    MM3_PER_N_MM_FROM_MM3_PER_N_M,
    UNIT_FACTOR,
    WEAR_LAWS,
)
from kneewear.wear.laws import cycles_of_life, over_histories
from kneewear.wear.settings import WearSettings

Array = NDArray[np.float64]
FILE = "wear_posterior.csv"
# Class of polyethylene of the rows.
MATERIAL_CLASS = "conventional"
SEED = 1
# Name of all laws together among the laws of a table of intervals.
ALL_LAWS = "laws"
# Columns that are no constants of laws.
_COMMON = ("law", "log_level", "tau", "sigma")


@cache
def _stored() -> pd.DataFrame:
    with files("kneewear.wear").joinpath(FILE).open("r", encoding="utf-8") as file:
        return pd.read_csv(file, comment="#")


def measured_draws(material_class: str = MATERIAL_CLASS) -> pd.DataFrame:
    """Draws of law, constants and laboratories from measured wear.

    Parameters
    ----------
    material_class : str
        Class of polyethylene, as `wear.material_class`.

    Returns
    -------
    DataFrame
        Columns law, log_level (logarithm of the wear factor over 1e-6 mm3/(N m)), tau and sigma
        (standard deviations of logarithms between laboratories, and of conditions within one) and
        the constants of the laws.

    Raises
    ------
    InputDataError
        If the class was not measured.
    """
    if material_class != MATERIAL_CLASS:
        raise InputDataError(
            "wear.material_class",
            f"{material_class}, which is not among the measured rows",
            MATERIAL_CLASS,
            "Give an interval of wear factors from tests of your own.",
        )
    return _stored().copy()


def volumes_of_draws(
    histories: Mapping[str, xr.Dataset], grid: ElementGrid, settings: WearSettings
) -> pd.DataFrame:
    """Volume of both sides at the end of each life of the first case, of every draw, mm3.

    Columns life, side, draw, volume (of the level, without laboratory) and measured (in a
    laboratory of its own, which is the same for all lives and sides of a draw).
    """
    draws = measured_draws(settings.material_class)
    cycles = cycles_of_life(settings.cycles_per_year, settings.months)
    level = UNIT_FACTOR * np.exp(draws["log_level"].to_numpy())
    random = np.random.default_rng(SEED)
    spread = np.hypot(draws["tau"].to_numpy(), draws["sigma"].to_numpy())
    laboratory = np.exp(spread * random.normal(size=len(draws)))
    work: dict[str, Array] = {}
    for name, cycle in first_cases(histories).items():
        sides = (*sides_of(cycle), BOTH)
        per_side = _work_of_draws(cycle, grid, draws)
        work[name] = np.column_stack([per_side, per_side.sum(axis=1)])
    parts = []
    for life, shares in settings.lives.items():
        of_life = cycles * sum(share * work[name] for name, share in shares.items())
        volume = MM3_PER_N_MM_FROM_MM3_PER_N_M * level[:, None] * of_life
        for number, side in enumerate(sides):
            own = volume[:, number]
            columns = {"draw": np.arange(len(own)), "volume": own, "measured": own * laboratory}
            parts.append(pd.DataFrame({"life": life, "side": side, **columns}))
    return pd.concat(parts, ignore_index=True)


def posterior_intervals(
    histories: Mapping[str, xr.Dataset],
    grid: ElementGrid,
    settings: WearSettings,
    coverage: float = COVERAGE,
) -> pd.DataFrame:
    """Interval of lost volume and mass of the first case by all laws, constants and laboratories.

    Columns life, side, quantity, unit, low, median, high and percent, as in
    :func:`kneewear.wear.interval.wear_intervals`.
    """
    volumes = volumes_of_draws(histories, grid, settings)
    scales = loss_scales(settings)
    ends = (0.5 - 0.5 * coverage, 0.5, 0.5 + 0.5 * coverage)
    rows = []
    for (life, side), own in volumes.groupby(["life", "side"], sort=False):
        points = own["measured"].quantile(ends).to_numpy()
        for quantity, (unit, scale) in scales.items():
            rows.append((life, side, quantity, unit, *(scale * points), 100.0 * coverage))
    columns = ["life", "side", "quantity", "unit", "low", "median", "high", "percent"]
    return pd.DataFrame(rows, columns=columns)


def intervals_of_laws(
    histories: Mapping[str, xr.Dataset], grid: ElementGrid, settings: WearSettings
) -> pd.DataFrame:
    """Interval by all laws, as law `ALL_LAWS`, and the rows of :func:`wear_intervals` below.

    No rows where the class of polyethylene was not measured.
    """
    by_law = wear_intervals(histories, grid, settings)
    if settings.material_class != MATERIAL_CLASS:
        return by_law
    together = posterior_intervals(histories, grid, settings).assign(law=ALL_LAWS)
    # Laboratories are unknowns of the draws, and are not counted.
    return pd.concat([together, by_law], ignore_index=True)[list(by_law.columns)]


def _work_of_draws(cycle: xr.Dataset, grid: ElementGrid, draws: pd.DataFrame) -> Array:
    """Volume of a cycle over level and `UNIT_FACTOR`, N mm, of every draw and side."""
    history = ordered(cycle)
    volumes = np.empty((len(draws), grid.area.shape[0]))
    for law, own in draws.groupby("law"):
        kind = WEAR_LAWS[str(law)]
        names = [name for name in own if name not in _COMMON and name in kind.model_fields]
        base = kind().model_copy(update=kind.unit_constants)
        unit = 1.0
        if not kind.multiplies_wear_factor:
            unit = UNIT_FACTOR * MM3_PER_N_MM_FROM_MM3_PER_N_M
        features: Any = None
        constants = own[names].to_numpy(dtype=float)
        for number, values in zip(own.index.to_numpy(), constants, strict=True):
            changed = base.model_copy(update=dict(zip(names, values.tolist(), strict=True)))
            model = over_histories(changed)
            if features is None or set(names) & set(kind.history_constants):
                features = model.features(history)
            volumes[number] = (model.depth(features) * grid.area).sum(axis=(1, 2)) / unit
    return volumes
