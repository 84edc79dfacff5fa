"""Case summaries: the tidy table every later result is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.errors import KneewearError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.wear.cycles import CycleRecord
from kneewear.wear.laws import MONTHS_PER_YEAR, cycles_of_life
from kneewear.wear.maps import DamageMaps

if TYPE_CHECKING:
    from kneewear.settings.wear import WearSettings

COLUMNS = [
    "case",
    "life",
    "thickness_mm",
    "body_mass_kg",
    "side",
    "quantity",
    "value",
    "unit",
]
BOTH_SIDES = "both"
# Components of positions in the plan.
AXES = ((0, "x"), (2, "z"))

# quantity, value, unit
Row = tuple[str, float, str]


def damage_area(max_pressure: NDArray[np.float64], area: NDArray[np.float64]) -> float:
    """Surface area of all elements that were ever loaded, mm2."""
    return float(area[max_pressure > 0.0].sum())


def damage_volume(depth: NDArray[np.float64], area: NDArray[np.float64]) -> float:
    """Integral of a depth (mm) over the surface (element areas in mm2), mm3."""
    loaded = depth > 0.0
    return float(np.sum(depth[loaded] * area[loaded]))


def border_pressure(max_pressure: NDArray[np.float64], valid: NDArray[np.bool_]) -> float:
    """Largest pressure on the outermost elements, MPa: above zero, contact is cut off there."""
    padded = np.pad(valid, 1)
    inner = valid & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return float(np.max(max_pressure, where=valid & ~inner, initial=0.0))


def summarize_cases(
    maps: DamageMaps, cycles: CycleRecord, grid: ElementGrid, settings: WearSettings
) -> pd.DataFrame:
    """Reduce damage maps and cycles to one value a quantity.

    Parameters
    ----------
    maps : DamageMaps
        Depths and pressures per element after each life.
    cycles : CycleRecord
        Frame histories of the same cases.
    grid : ElementGrid
        Element centres and areas of the fresh insert.
    settings : WearSettings
        Length of the lives, cycles a year and density.

    Returns
    -------
    DataFrame
        Columns case, life, thickness_mm, body_mass_kg, side, quantity, value, unit. `side` is
        medial, lateral, or both for quantities of the whole knee.

    Raises
    ------
    ValueError
        If maps and cycles hold different cases or activities.
    KneewearError
        If there is no case.

    Notes
    -----
    `max_pressure` is the largest element pressure of the cycle and `avg_pressure` the maximum over
    the cycle of the mean non-zero element pressure. `wear_depth` and `creep_depth` stand at the
    element of maximum `damage_depth`; their own maxima are `max_wear_depth` and
    `max_creep_depth`. `damage_area` is the union of elements ever loaded; `damage_volume` includes
    creep, `wear_volume` is material lost, and only it counts for `mass_loss` (mg in a million
    cycles). Rates are those of the whole life, a year: `linear_wear_rate` of the largest wear,
    `linear_penetration_rate` of the largest damage, and the same of volumes; they do not exist for
    a life of no length. `cross_shear` is the mean ratio of the wear volume. A `border_pressure`
    above zero says that contact reaches the end of the element grid and is cut off there. Centres
    of pressure, load line and residual are those of the fresh surface, over the activities that
    have a share in the life; the centre of pressure of `..._x` and `..._z` is the one at the frame
    of largest load. Positions are in the insert's frame of a
    right knee: x posterior, z medial.
    """
    if maps.cases != cycles.cases or maps.activities != cycles.activities:
        raise ValueError("damage maps and cycle record hold different cases or activities")
    if not maps.cases:
        raise KneewearError("No case could be simulated: tables/failures.csv and the logs say why.")
    rows = [
        (case.name, life, case.thickness, case.body_mass, side, *row)
        for case_index, case in enumerate(maps.cases)
        for life_index, life in enumerate(maps.lives)
        for side, row in _case_rows(maps, cycles, grid, settings, (life_index, case_index))
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _case_rows(
    maps: DamageMaps,
    cycles: CycleRecord,
    grid: ElementGrid,
    settings: WearSettings,
    place: tuple[int, int],
) -> Iterator[tuple[str, Row]]:
    """All rows of one life and case with their side."""
    life, case = place
    used = np.flatnonzero(maps.shares[life] > 0.0)
    for index, side in enumerate(maps.sides):
        for row in _damage_rows(maps, grid, (life, case, index)):
            yield side, row
        for row in _rate_rows(maps, grid, settings, (life, case, index)):
            yield side, row
        for row in _centre_of_pressure_rows(cycles, used, case, index):
            yield side, row
    for row in _balance_rows(cycles, used, case):
        yield BOTH_SIDES, row


def _damage_rows(maps: DamageMaps, grid: ElementGrid, place: tuple[int, int, int]) -> list[Row]:
    """Pressures, depths, area, volumes and places of one life, case and side."""
    wear, creep, damage = maps.wear_depth[place], maps.creep_depth[place], maps.damage_depth[place]
    pressure, area, centre = maps.max_pressure[place], grid.area[place[2]], grid.centre[place[2]]
    worst = np.unravel_index(np.argmax(damage), damage.shape)
    pressed = np.unravel_index(np.argmax(pressure), pressure.shape)
    touched = bool(pressure[pressed] > 0.0)
    where = centre[worst] if touched else np.full(3, np.nan)
    apart = float(np.linalg.norm(centre[worst] - centre[pressed])) if touched else float("nan")
    return [
        ("max_pressure", float(pressure[pressed]), "MPa"),
        ("avg_pressure", float(maps.avg_pressure[place]), "MPa"),
        ("wear_depth", float(wear[worst]), "mm"),
        ("creep_depth", float(creep[worst]), "mm"),
        ("damage_depth", float(damage[worst]), "mm"),
        ("damage_area", damage_area(pressure, area), "mm2"),
        ("damage_volume", damage_volume(damage, area), "mm3"),
        ("max_wear_depth", float(wear.max()), "mm"),
        ("max_creep_depth", float(creep.max()), "mm"),
        ("wear_volume", damage_volume(wear, area), "mm3"),
        ("creep_volume", damage_volume(creep, area), "mm3"),
        ("damage_location_x", float(where[0]), "mm"),
        ("damage_location_z", float(where[2]), "mm"),
        ("distance_max_damage_to_max_pressure", apart, "mm"),
        ("border_pressure", border_pressure(pressure, grid.valid[place[2]]), "MPa"),
    ]


def _rate_rows(
    maps: DamageMaps, grid: ElementGrid, settings: WearSettings, place: tuple[int, int, int]
) -> list[Row]:
    """Places of largest wear and creep, rates and cross-shear of one life, case and side."""
    wear, creep, damage = maps.wear_depth[place], maps.creep_depth[place], maps.damage_depth[place]
    area = grid.area[place[2]]
    volume = damage_volume(wear, area)
    years = settings.months / MONTHS_PER_YEAR
    a_year = 1.0 / years if years > 0.0 else float("nan")
    cycles = cycles_of_life(settings.cycles_per_year, settings.months)
    a_million = 1.0e6 / cycles if cycles > 0.0 else float("nan")
    crossed = damage_volume(wear * maps.cross_shear[place], area)
    rows: list[Row] = []
    for name, depth in (("wear", wear), ("creep", creep)):
        where = _deepest(depth, grid.centre[place[2]])
        rows += [(f"{name}_location_{axis}", where[number], "mm") for number, axis in AXES]
    return [
        *rows,
        ("linear_wear_rate", a_year * float(wear.max()), "mm/year"),
        ("linear_penetration_rate", a_year * float(damage.max()), "mm/year"),
        ("volumetric_wear_rate", a_year * volume, "mm3/year"),
        ("volumetric_penetration_rate", a_year * damage_volume(damage, area), "mm3/year"),
        ("mass_loss", a_million * settings.density_mg_per_mm3 * volume, "mg/million cycles"),
        ("cross_shear", crossed / volume if volume > 0.0 else float("nan"), "1"),
    ]


def _deepest(depth: NDArray[np.float64], centre: NDArray[np.float64]) -> tuple[float, float, float]:
    """Place of the largest depth, mm; NaN where there is none."""
    worst = np.unravel_index(np.argmax(depth), depth.shape)
    x, y, z = centre[worst] if depth[worst] > 0.0 else np.full(3, np.nan)
    return float(x), float(y), float(z)


def _centre_of_pressure_rows(
    cycles: CycleRecord, used: NDArray[np.intp], case: int, side: int
) -> list[Row]:
    """Centre of pressure of one side at the largest load, and its range over the cycles."""
    load = cycles.load[used, case]
    activity, frame = np.unravel_index(np.argmax(load), load.shape)
    path = cycles.centre_of_pressure[used, case, :, side]
    rows: list[Row] = []
    for axis, name in AXES:
        along = path[..., axis]
        known = along[np.isfinite(along)]
        low, high = (known.min(), known.max()) if known.size else (np.nan, np.nan)
        rows += [
            (f"centre_of_pressure_{name}", float(along[activity, frame]), "mm"),
            (f"centre_of_pressure_{name}_min", float(low), "mm"),
            (f"centre_of_pressure_{name}_max", float(high), "mm"),
        ]
    unloaded = float(np.mean(~np.isfinite(path[..., 0])))
    return [*rows, ("unloaded_frames", unloaded, "1")]


def _balance_rows(cycles: CycleRecord, used: NDArray[np.intp], case: int) -> list[Row]:
    """Load line, residual and spring force of the whole knee."""
    load, line = cycles.load[used, case], cycles.load_line[used, case]
    spring = np.abs(cycles.spring_force[used, case]) / load
    return [
        ("max_load", float(load.max()), "N"),
        ("load_line_min", float(line.min()), "mm"),
        ("load_line_max", float(line.max()), "mm"),
        ("max_relative_spring_force", float(spring.max()), "1"),
        ("max_residual", float(cycles.residual[used, case].max()), "1"),
    ]
