"""Draws of wear laws, their constants and laboratories, found from measured wear.

The rows are of `wear_posterior.csv`, which `kneewear.evidence.synthesis` makes from measured wear.
No simulation depends on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.base.sides import BOTH
from kneewear.errors import InputDataError
from kneewear.motion.history import first_cases
from kneewear.wear.history import History, ordered
from kneewear.wear.interval import COVERAGE, WearingSurface, loss_scales, wear_intervals
from kneewear.wear.law_settings import (
    MM3_PER_N_MM_FROM_MM3_PER_N_M,
    UNIT_FACTOR,
    WEAR_LAWS,
)
from kneewear.wear.laws import Law, cycles_of_life, over_histories
from kneewear.wear.settings import WearSettings

Array = NDArray[np.float64]
FILE = "wear_posterior.csv"
# The same with results that were looked for after predictions by the first one were stored.
LARGER_FILE = "wear_posterior_larger.csv"
Rows = Literal["first", "larger"]
# Class of polyethylene of the rows.
MATERIAL_CLASS = "conventional"
SEED = 1
# Name of all laws together among the laws of a table of intervals.
ALL_LAWS = "laws"
LAWS_OF_LARGER_TABLE = "laws of the larger table"
BY_ROWS: Mapping[str, Rows] = {ALL_LAWS: "first", LAWS_OF_LARGER_TABLE: "larger"}
# Largest depth of a surface that follows its wear.
WORN_IN_DEPTH = "worn_in_depth"
# Columns that are no constants of laws.
_COMMON = ("law", "log_level", "tau", "sigma")


class WornIn(NamedTuple):
    """Largest depth on a surface that follows its wear, as a function of that on a fresh one.

    Depths `worn` belong to rising depths `fresh`; both are in mm and begin at zero.
    """

    fresh: Array
    worn: Array

    def depth(self, fresh: Array) -> Array:
        """Depths on the surface that follows its wear, mm; beyond the end by the last slope."""
        (near, end), (low, high) = self.fresh[-2:], self.worn[-2:]
        beyond = np.maximum(fresh - end, 0.0) * (high - low) / (end - near)
        return np.asarray(np.interp(fresh, self.fresh, self.worn) + beyond)


@cache
def _stored(name: str) -> pd.DataFrame:
    with files("kneewear.wear").joinpath(name).open("r", encoding="utf-8") as file:
        return pd.read_csv(file, comment="#")


def measured_draws(material_class: str = MATERIAL_CLASS, rows: Rows = "first") -> pd.DataFrame:
    """Draws of law, constants and laboratories from measured wear.

    Parameters
    ----------
    material_class : str
        Class of polyethylene, as `wear.material_class`.
    rows : {"first", "larger"}
        Rows from before the search for further results, or the larger table with these results.

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
    return _stored(FILE if rows == "first" else LARGER_FILE).copy()


def typical_law() -> tuple[Law, float]:
    """Law of most draws with the medians of its constants, and a large level of it.

    The level, which multiplies the depth of the law, is exceeded in one of twenty laboratories.
    """
    draws = measured_draws()
    name = str(draws["law"].mode()[0])
    own, kind = draws[draws["law"] == name], WEAR_LAWS[name]
    medians = {constant: float(own[constant].median()) for constant in _constants_of(own, name)}
    model = kind().model_copy(update={**kind.unit_constants, **medians})
    levels = np.exp(own["log_level"] + _deviations(draws)[own.index])
    factor = UNIT_FACTOR * MM3_PER_N_MM_FROM_MM3_PER_N_M if kind.multiplies_wear_factor else 1.0
    return over_histories(model), factor * float(levels.quantile(0.5 + 0.5 * COVERAGE))


def _deviations(draws: pd.DataFrame) -> Array:
    """Deviation of the logarithm in a laboratory of its own, of every draw."""
    spread = np.hypot(draws["tau"].to_numpy(), draws["sigma"].to_numpy())
    return np.asarray(spread * np.random.default_rng(SEED).normal(size=len(draws)))


def _constants_of(draws: pd.DataFrame, law: str) -> list[str]:
    """Columns of the constants of a law."""
    kind = WEAR_LAWS[law]
    return [name for name in draws if name not in _COMMON and name in kind.model_fields]


def losses_of_draws(
    surfaces: Sequence[WearingSurface], settings: WearSettings, rows: Rows = "first"
) -> pd.DataFrame:
    """Volume and depth at the end of each life of the first case, of every draw.

    Parameters
    ----------
    surfaces : sequence of WearingSurface
        Fresh surfaces that wear, of one insert or bearing.
    settings : WearSettings
        Class of polyethylene, lives, months and cycles.
    rows : {"first", "larger"}
        Measured rows, as in :func:`measured_draws`.

    Returns
    -------
    DataFrame
        Columns life, side (`both` is all surfaces), draw, volume (mm3), depth (mm, the largest) and
        laboratory: what a laboratory of its own multiplies both by, the same for all lives and
        surfaces of a draw.
    """
    draws = measured_draws(settings.material_class, rows)
    laboratory = np.exp(_deviations(draws))
    cycles = cycles_of_life(settings.cycles_per_year, settings.months)
    level = MM3_PER_N_MM_FROM_MM3_PER_N_M * UNIT_FACTOR * np.exp(draws["log_level"].to_numpy())
    work = [_of_surface(surface, settings.lives, draws) for surface in surfaces]
    parts = []
    for number, life in enumerate(settings.lives):
        of_life = [(volume[number], depth[number]) for volume, depth in work]
        for side, own, deepest in _rows_of_life(surfaces, of_life):
            columns = {
                "draw": np.arange(len(own)),
                "volume": cycles * level * own,
                "depth": cycles * level * deepest,
                "laboratory": laboratory,
            }
            parts.append(pd.DataFrame({"life": life, "side": side, **columns}))
    return pd.concat(parts, ignore_index=True)


def _rows_of_life(
    surfaces: Sequence[WearingSurface], losses: Sequence[tuple[Array, Array]]
) -> list[tuple[str, Array, Array]]:
    """Side, volume and largest depth of every draw, from the sides of each surface."""
    rows: list[tuple[str, Array, Array]] = []
    for surface, (volume, depth) in zip(surfaces, losses, strict=True):
        own, deepest = volume.T, depth.T
        if surface.name:
            own, deepest = own.sum(axis=0, keepdims=True), deepest.max(axis=0, keepdims=True)
        rows += zip(surface.rows, own, deepest, strict=True)
    volumes, depths = (np.array([row[at] for row in rows]) for at in (1, 2))
    return [*rows, (BOTH, volumes.sum(axis=0), depths.max(axis=0))]


def posterior_intervals(
    surfaces: Sequence[WearingSurface],
    settings: WearSettings,
    coverage: float = COVERAGE,
    worn_in: Mapping[tuple[str, str], WornIn] | None = None,
    rows: Rows = "first",
) -> pd.DataFrame:
    """Interval of lost volume and mass of the first case by all laws, constants and laboratories.

    Parameters
    ----------
    surfaces, settings, coverage
        Those of :func:`kneewear.wear.interval.wear_intervals`.
    worn_in : mapping of (life, side) to WornIn, optional
        Largest depth of a surface that follows its wear: a fresh surface is worn too deep where its
        pressure is largest, and the more so the deeper. Without it depths have no interval.
    rows : {"first", "larger"}
        Measured rows, as in :func:`measured_draws`.

    Returns
    -------
    DataFrame
        Columns life, side, quantity, unit, low, median, high and percent, as in
        :func:`kneewear.wear.interval.wear_intervals`; with `worn_in` also of `worn_in_depth`.
    """
    losses = losses_of_draws(surfaces, settings, rows)
    scales = loss_scales(settings)
    ends = (0.5 - 0.5 * coverage, 0.5, 0.5 + 0.5 * coverage)
    table = []
    for (life, side), own in losses.groupby(["life", "side"], sort=False):
        points = (own["volume"] * own["laboratory"]).quantile(ends).to_numpy()
        for quantity, (unit, scale) in scales.items():
            table.append((life, side, quantity, unit, *(scale * points), 100.0 * coverage))
        depth = _worn_in_depth(losses, str(life), str(side), worn_in or {})
        if depth is not None:
            points = depth.quantile(ends).to_numpy()
            table.append((life, side, WORN_IN_DEPTH, "mm", *points, 100.0 * coverage))
    columns = ["life", "side", "quantity", "unit", "low", "median", "high", "percent"]
    return pd.DataFrame(table, columns=columns)


def _worn_in_depth(
    losses: pd.DataFrame, life: str, side: str, worn_in: Mapping[tuple[str, str], WornIn]
) -> pd.Series | None:
    """Largest depth of every draw on a surface that follows its wear; None where it is unknown."""
    of_life = losses[losses["life"] == life]
    names = [side] if side != BOTH else [name for name in of_life["side"].unique() if name != BOTH]
    if not all((life, name) in worn_in for name in names):
        return None
    depths = []
    for name in names:
        own = of_life[of_life["side"] == name]
        fresh = (own["depth"] * own["laboratory"]).to_numpy()
        depths.append(worn_in[life, name].depth(fresh))
    return pd.Series(np.max(depths, axis=0))


def intervals_of_laws(
    surfaces: Sequence[WearingSurface],
    settings: WearSettings,
    worn_in: Mapping[tuple[str, str], WornIn] | None = None,
) -> pd.DataFrame:
    """Intervals by all laws, and the rows of :func:`wear_intervals` below.

    Law `ALL_LAWS` is by the rows that stored predictions were made from, `LAWS_OF_LARGER_TABLE` by
    these and the results found later. No rows where the class of polyethylene was not measured.
    """
    by_law = wear_intervals(surfaces, settings)
    if settings.material_class != MATERIAL_CLASS:
        return by_law
    together = [
        posterior_intervals(surfaces, settings, worn_in=worn_in, rows=rows).assign(law=name)
        for name, rows in BY_ROWS.items()
    ]
    # Laboratories are unknowns of the draws, and are not counted.
    return pd.concat([*together, by_law], ignore_index=True)[list(by_law.columns)]


def _of_surface(
    surface: WearingSurface, lives: Mapping[str, Mapping[str, float]], draws: pd.DataFrame
) -> tuple[Array, Array]:
    """Volume (N mm) and largest depth of a cycle over level and unit, shape (life, draw, side)."""
    cycles = {name: ordered(cycle) for name, cycle in first_cases(surface.histories).items()}
    used = {name for shares in lives.values() for name, share in shares.items() if share > 0.0}
    cycles = {name: cycle for name, cycle in cycles.items() if name in used}
    # Elements that never wear cost as much as those that do.
    worn = np.any([cycle.frictional_work[0] > 0.0 for cycle in cycles.values()], axis=0)
    area = surface.grid.area[worn]
    ends = np.searchsorted(np.nonzero(worn)[0], np.arange(len(worn) + 1)).tolist()
    volumes, depths = np.zeros((2, len(lives), len(draws), len(worn)))
    for law, own in draws.groupby("law"):
        for number, of_cycle in _depths_of_draws(str(law), own, cycles, worn):
            for life, shares in enumerate(lives.values()):
                parts = [share * of_cycle[name] for name, share in shares.items() if share > 0.0]
                mixed = np.sum(parts, axis=0)
                for side, (first, last) in enumerate(pairwise(ends)):
                    volumes[life, number, side] = mixed[first:last] @ area[first:last]
                    depths[life, number, side] = mixed[first:last].max(initial=0.0)
    return volumes, depths


def _depths_of_draws(
    law: str, draws: pd.DataFrame, cycles: Mapping[str, History], worn: NDArray[np.bool_]
) -> Iterator[tuple[int, dict[str, Array]]]:
    """Yield number and depth by cycle of each draw of a law, over level and unit, where worn."""
    kind = WEAR_LAWS[law]
    names = _constants_of(draws, law)
    base = kind().model_copy(update=kind.unit_constants)
    unit = 1.0 if kind.multiplies_wear_factor else UNIT_FACTOR * MM3_PER_N_MM_FROM_MM3_PER_N_M
    # Draws with equal features follow each other.
    deciding = [name for name in names if name in kind.history_constants]
    draws = draws.sort_values(deciding, kind="stable") if deciding else draws
    features: dict[str, Any] = {}
    latest: list[float] = []
    constants = draws[names].to_numpy(dtype=float).tolist()
    for number, values in zip(draws.index.tolist(), constants, strict=True):
        named = dict(zip(names, values, strict=True))
        model = over_histories(base.model_copy(update=named))
        key = [named[name] for name in deciding]
        if not features or key != latest:
            latest = key
            features = {name: _among(model.features(one), worn) for name, one in cycles.items()}
        yield number, {name: model.depth(one) / unit for name, one in features.items()}


def _among(features: Any, chosen: NDArray[np.bool_]) -> Any:
    """Features of chosen elements."""
    return type(features)(*(values[chosen] for values in features))
