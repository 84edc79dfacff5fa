"""Interval of the wear of a bearing from measured wear of simple bearings: one factor a laboratory.

The rows are of `laboratory_factors.csv`, which `kneewear.evidence.synthesis` makes from measured
wear. No simulation depends on them.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy
import xarray as xr

from kneewear.base.sides import BOTH
from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.motion.history import first_cases
from kneewear.wear.history import ordered
from kneewear.wear.law_settings import MM3_PER_N_MM_FROM_MM3_PER_N_M, WEAR_LAWS
from kneewear.wear.laws import MONTHS_PER_YEAR, Law, cycles_of_life, over_histories

if TYPE_CHECKING:
    from kneewear.wear.settings import WearSettings

FILE = "laboratory_factors.csv"
# Law of one wear factor for all motions.
ONE_FACTOR = "archard"
# Part of the laboratories whose wear is within the interval.
COVERAGE = 0.9
# Laboratories that a spread needs.
MIN_LABORATORIES = 3


class FactorInterval(NamedTuple):
    """Interval of the wear factor of a class of polyethylene in another laboratory, mm3/(N m)."""

    low: float
    median: float
    high: float
    log_sd: float  # between laboratories, of the logarithm
    laboratories: int
    measurements: int


class WearingSurface(NamedTuple):
    """WearingSurface of an insert or of a bearing that wears, and its cycles by activity."""

    histories: Mapping[str, xr.Dataset]
    grid: ElementGrid
    name: str = ""  # of the sum of its sides; without one each side has a row

    @property
    def rows(self) -> tuple[str, ...]:
        """Entries of the column side of tables."""
        return (self.name,) if self.name else tuple(self.grid.sides)


@cache
def laboratory_factors() -> tuple[Mapping[str, str], ...]:
    """Mean wear factor of every laboratory and class of polyethylene: rows of the data file."""
    text = files("kneewear.wear").joinpath(FILE).read_text(encoding="utf-8")
    return tuple(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def known_laws() -> tuple[str, ...]:
    """Laws with factors of laboratories, one factor for all motions first."""
    return tuple(dict.fromkeys(row["law"] for row in laboratory_factors()))


def factors_of(material_class: str, law: str = ONE_FACTOR) -> list[Mapping[str, str]]:
    """Rows of a class of polyethylene and a law."""
    of = {"material_class": material_class, "law": law}
    return [row for row in laboratory_factors() if {key: row[key] for key in of} == of]


def known_classes() -> tuple[str, ...]:
    """Classes of polyethylene that enough laboratories have measured."""
    names = [row["material_class"] for row in laboratory_factors() if row["law"] == ONE_FACTOR]
    return tuple(name for name in dict.fromkeys(names) if names.count(name) >= MIN_LABORATORIES)


def factor_interval(
    material_class: str, coverage: float = COVERAGE, law: str = ONE_FACTOR
) -> FactorInterval:
    """Interval of the wear factor in a laboratory that is not among the measured ones.

    Parameters
    ----------
    material_class : str
        Class of polyethylene, as `wear.material_class`.
    coverage : float
        Probability of the interval, between 0 and 1.
    law : str
        Law that the factor multiplies, of :func:`known_laws`.

    Raises
    ------
    InputDataError
        If fewer than three laboratories have measured the class.

    Notes
    -----
    With the mean m and the standard deviation s of the logarithms of n laboratories' factors, a
    further laboratory's is within m +- t s sqrt(1 + 1/n), where t is the quantile of Student's
    distribution with n - 1 degrees of freedom. Laboratories count equally: the differences within
    one are small against those between them. The rows are of multidirectional motion.
    """
    rows = factors_of(material_class, law)
    count = len(rows)
    if count < MIN_LABORATORIES:
        raise InputDataError(
            "wear.material_class",
            f"{material_class}, which {count} laboratories have measured",
            f"at least {MIN_LABORATORIES}; measured classes: {', '.join(known_classes())}",
            "Give an interval of wear factors from tests of your own.",
        )
    logarithms = np.log([float(row["factor_mm3_per_n_m"]) for row in rows])
    middle, spread = float(logarithms.mean()), float(logarithms.std(ddof=1))
    quantile = float(scipy.special.stdtrit(count - 1, 0.5 + 0.5 * coverage))
    half = quantile * spread * math.sqrt(1.0 + 1.0 / count)
    return FactorInterval(
        math.exp(middle - half),
        math.exp(middle),
        math.exp(middle + half),
        spread,
        count,
        sum(int(row["measurements"]) for row in rows),
    )


def within_log_sd() -> float:
    """Standard deviation of the logarithm of the factor within a laboratory, over all classes."""
    rows = [row for row in laboratory_factors() if row["law"] == ONE_FACTOR]
    squares = math.fsum(float(row["log_squares"]) for row in rows)
    freedom = sum(int(row["measurements"]) - 1 for row in rows)
    return math.sqrt(squares / freedom)


def wear_by_law(
    surfaces: Sequence[WearingSurface], settings: WearSettings, law: str
) -> pd.DataFrame:
    """Volume over the wear factor by a law, of each life of the first case, N mm.

    With one factor for all motions that is the integral of pressure times sliding. Columns life,
    side (`both` is the sum of all) and work. The surface is fresh: load and sliding hardly change
    as it wears.
    """
    by_law = over_histories(getattr(settings.laws, law, None) or WEAR_LAWS[law]())
    cycles = cycles_of_life(settings.cycles_per_year, settings.months)
    rows = []
    parts = [_work_of_surface(surface, by_law) for surface in surfaces]
    for life, shares in settings.lives.items():
        whole = 0.0
        for surface, work in zip(surfaces, parts, strict=True):
            mixed = [share * work[name] for name, share in shares.items()]
            of_life = (cycles * np.sum(mixed, axis=0)).tolist()
            sums = [math.fsum(of_life)] if surface.name else of_life
            rows += [(life, side, value) for side, value in zip(surface.rows, sums, strict=True)]
            whole += math.fsum(of_life)
        rows.append((life, BOTH, whole))
    return pd.DataFrame(rows, columns=["life", "side", "work"])


def _work_of_surface(surface: WearingSurface, law: Law) -> dict[str, np.ndarray]:
    """Volume over the wear factor of a cycle of every activity by sides, N mm."""
    work = {}
    for name, cycle in first_cases(surface.histories).items():
        depth = law.depth(law.features(ordered(cycle)))
        work[name] = (depth * surface.grid.area).sum(axis=(1, 2))
    return work


def loss_scales(settings: WearSettings) -> dict[str, tuple[str, float]]:
    """Unit of each loss of an insert, and its value over the lost volume, mm3.

    Lives without cycles have no rates.
    """
    cycles = cycles_of_life(settings.cycles_per_year, settings.months)
    scales = {"wear_volume": ("mm3", 1.0), "wear_mass": ("mg", settings.density_mg_per_mm3)}
    if cycles > 0.0:
        scales["volumetric_wear_rate"] = "mm3/year", 1.0 / (settings.months / MONTHS_PER_YEAR)
        scales["wear_volume_per_million_cycles"] = "mm3/10^6", 1e6 / cycles
    return scales


def wear_intervals(
    surfaces: Sequence[WearingSurface], settings: WearSettings, coverage: float = COVERAGE
) -> pd.DataFrame:
    """Interval of lost volume and mass of the first case in a laboratory or patient of its own.

    Parameters
    ----------
    surfaces : sequence of WearingSurface
        Fresh surfaces that wear; their losses are one of the insert or bearing.
    settings : WearSettings
        Class of polyethylene, density, lives, months and cycles.
    coverage : float
        Probability of the interval.

    Returns
    -------
    DataFrame
        Columns law (`archard` is one factor for all motions; tests do not decide between the
        laws), life, side, quantity (`wear_volume`, `wear_mass`, `volumetric_wear_rate` and
        `wear_volume_per_million_cycles`), unit, low, median, high, percent, laboratories and
        measurements. No rows where fewer than three laboratories have measured the class.
    """
    columns = ["law", "life", "side", "quantity", "unit", "low", "median", "high"]
    columns += ["percent", "laboratories", "measurements"]
    if settings.material_class not in known_classes():
        return pd.DataFrame(columns=columns)
    scales = loss_scales(settings)
    rows = []
    for law in known_laws():
        factor = factor_interval(settings.material_class, coverage, law)
        counts = (100.0 * coverage, factor.laboratories, factor.measurements)
        for life, side, work in wear_by_law(surfaces, settings, law).itertuples(index=False):
            for quantity, (unit, scale) in scales.items():
                by = scale * MM3_PER_N_MM_FROM_MM3_PER_N_M * work
                ends = (by * factor.low, by * factor.median, by * factor.high)
                rows.append((law, life, side, quantity, unit, *ends, *counts))
    return pd.DataFrame(rows, columns=columns)
