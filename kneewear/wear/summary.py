"""Case summaries: the tidy table of all results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.cases import PLASTIC_MAPS, PLASTIC_OUTPUTS
from kneewear.base.sides import BOTH
from kneewear.errors import KneewearError
from kneewear.geometry.element_grid import ElementGrid, border_elements, covered_area
from kneewear.motion.history import Failure, cases_of, failures_of, select_cases, tabulate_failures
from kneewear.wear.creep import creep_beside_curve, minutes_of_life, recovered_part
from kneewear.wear.laws import MONTHS_PER_YEAR, cycles_of_life
from kneewear.wear.records import record_cycles

if TYPE_CHECKING:
    from kneewear.wear.settings import WearSettings

RESULT_COLUMNS = ("side", "quantity", "value", "unit")
# Components of positions in the plan.
AXES = ((0, "x"), (2, "z"))

Arrays = Mapping[str, NDArray[Any]]
# quantity, value, unit
Row = tuple[str, float, str]


def damage_area(
    depth: NDArray[np.float64], max_pressure: NDArray[np.float64], area: NDArray[np.float64]
) -> float:
    """Surface area with a positive depth, mm2, finer than the elements; see `covered_area`.

    It ends where the largest pressure of the elements with a depth tends to zero. A depth tends to
    zero more slowly, at an angle of zero, from which no border follows.
    """
    return covered_area(np.where(depth > 0.0, max_pressure, 0.0), area)


def damage_volume(depth: NDArray[np.float64], area: NDArray[np.float64]) -> float:
    """Integral of a depth (mm) over the surface (element areas in mm2), mm3."""
    loaded = depth > 0.0
    return float(np.sum(depth[loaded] * area[loaded]))


def border_pressure(max_pressure: NDArray[np.float64], valid: NDArray[np.bool_]) -> float:
    """Largest pressure on the outermost elements, MPa: if positive, contact is cut off there."""
    return float(np.max(max_pressure, where=border_elements(valid), initial=0.0))


def summarize_cases(
    maps: xr.Dataset, cycles: xr.Dataset, grid: ElementGrid, settings: WearSettings
) -> pd.DataFrame:
    """Reduce damage maps and cycles to one value per quantity.

    Parameters
    ----------
    maps : xarray.Dataset
        Depths and pressures per element after each life, of the schema DAMAGE.
    cycles : xarray.Dataset
        Frame histories of the same cases, of the schema CONTACT.
    grid : ElementGrid
        Element centres and areas of the fresh insert.
    settings : WearSettings
        Length of the lives, cycles per year and density.

    Returns
    -------
    DataFrame
        Columns case, life, the settings that cases override, side (medial, lateral, or both for the
        whole knee), quantity, value and unit.

    Raises
    ------
    ValueError
        If maps and cycles hold different cases or activities.

    Notes
    -----
    `max_pressure` is the largest element pressure of the cycle and `avg_pressure` the maximum over
    the cycle of the mean over the contact area. `wear_depth_at_deepest_damage` and
    `creep_depth_at_deepest_damage` are depths at the element of maximum `damage_depth`; their own
    maxima are `max_wear_depth` and `max_creep_depth`. In maps `wear_depth` is of each element.
    `damage_area` is that loaded at any frame, `wear_area` and `creep_area` the parts of it that
    wear and creep, see `covered_area`; `damage_volume` includes creep, `wear_volume`
    is material lost, the only part of `mass_loss` (mg per million cycles). Rates are averages over
    the life, per year, of the largest wear (`linear_wear_rate`), the largest damage
    (`linear_penetration_rate`) and the same of volumes; NaN for a life of zero length.
    `cross_shear` is the mean ratio of the wear volume. A positive `border_pressure` shows that
    contact reaches the end of the element grid and is cut off there; `border_force_share` is the
    largest force of a frame on the outermost elements over the largest force of the side,
    `border_wear_share` their part of the wear volume and `border_area_share` their largest loaded
    area of a frame over the largest contact area. The same where the femoral surface ends are
    `femoral_border_pressure`, `femoral_border_force_share` and `femoral_border_area_share`. Where
    frames are not kept, `border_force_share` is an upper limit: the largest pressure of each of
    these elements over the cycle times its area, summed, over the same force. Centres of
    pressure, load line and residual are those of the fresh surface, over the activities that have a
    share in the life; `centre_of_pressure_x` and `..._z` are at the frame of largest load. The
    reactions are what
    prescribes the motion: the posterior force on the femoral component, and the moment on it about
    the superior axis through its origin, zero where no motion is prescribed. Positions are in the
    insert's frame of a right knee: x posterior, z medial. An insert that yields has the permanent
    deflection of its surface without load, `dent_depth` and `dent_volume` of the parts below the
    surface that was never pressed, neither in damage nor in creep; the largest `plastic_strain` of
    a slab below it; and the largest von Mises stress of a slab, `residual_stress` without load and
    `yielded_stress` at the largest load; and the largest creep beside its curve, between
    `least_creep_depth` and `most_creep_depth` of `creep_beside_curve`.
    """
    cases = cases_of(maps)
    if cases != cases_of(cycles) or not np.array_equal(maps["activity"], cycles["activity"]):
        raise ValueError("damage maps and cycle record hold different cases or activities")
    covariates = list(dict.fromkeys(name for case in cases for name in case.settings))
    depths, frames = _arrays(maps), _arrays(cycles)
    rows = [
        (case.name, life, *(case.settings.get(name) for name in covariates), side, *row)
        for case_index, case in enumerate(cases)
        for life_index, life in enumerate(maps["life"].values.tolist())
        for side, row in _case_rows(depths, frames, grid, settings, life_index, case_index)
    ]
    return pd.DataFrame(rows, columns=["case", "life", *covariates, *RESULT_COLUMNS])


def summarize_batches(
    batches: Iterable[tuple[xr.Dataset, Sequence[xr.Dataset], WearSettings]], grid: ElementGrid
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables of `summarize_cases` and `tabulate_failures` for batches with settings of their own.

    Batches hold the damage of their cases and the histories of every activity, and are taken one at
    a time. KneewearError with the first reason when every case failed.
    """
    tables: list[pd.DataFrame] = []
    failures: list[tuple[str, Failure]] = []
    for maps, histories, own in batches:
        for history in histories:
            failures += [(history.attrs["activity"], one) for one in failures_of(history)]
        failures += [("wear", one) for one in failures_of(maps)]
        names = maps["case"].values.tolist()
        if names:
            finished = {
                history.attrs["activity"]: select_cases(history, names) for history in histories
            }
            tables.append(summarize_cases(maps, record_cycles(finished), grid, own))
    if not tables:
        count = len({one.case.name for _, one in failures})
        raise KneewearError(f"All {count} cases failed. The first: {failures[0][1].reason}")
    return pd.concat(tables, ignore_index=True), tabulate_failures(failures)


def _arrays(dataset: xr.Dataset) -> Arrays:
    """Arrays of a dataset by name, which are faster to index."""
    return {str(name): variable.values for name, variable in dataset.variables.items()}


def _case_rows(
    maps: Arrays,
    cycles: Arrays,
    grid: ElementGrid,
    settings: WearSettings,
    life: int,
    case: int,
) -> Iterator[tuple[str, Row]]:
    """All rows of one life and case with their side."""
    # Largest share first: of equal largest loads, that of the most frequent activity counts.
    order = np.argsort(-maps["shares"][life], kind="stable")
    used = order[maps["shares"][life][order] > 0.0]
    for index, side in enumerate(maps["side"].tolist()):
        yield from ((side, row) for row in _damage_rows(maps, grid, settings, (life, case, index)))
        peak = np.linalg.norm(cycles["force"][used, case, :, index], axis=-1).max(initial=0.0)
        window = _window_rows(cycles, used, case, index, float(peak))
        border = _border_rows(maps, grid, (life, case, index), None if window else float(peak))
        yield from ((side, row) for row in (*border, *window))
        if "dent" in cycles:
            plastic = _plastic_rows(cycles, grid, used, case, index)
            creep = _creep_rows(maps, settings, (life, case, index))
            yield from ((side, row) for row in (*plastic, *creep))
        deepest = float(cycles["max_penetration"][used, case, :, index].max(initial=0.0))
        yield side, ("max_penetration", deepest, "mm")
        yield from ((side, row) for row in _centre_of_pressure_rows(cycles, used, case, index))
    yield from ((BOTH, row) for row in _equilibrium_rows(cycles, used, case))


def _damage_rows(
    maps: Arrays, grid: ElementGrid, settings: WearSettings, index: tuple[int, int, int]
) -> list[Row]:
    """Pressures, depths, area, volumes, positions and rates of one life, case and side."""
    wear, creep, damage = (
        maps["wear_depth"][index],
        maps["creep_depth"][index],
        maps["damage_depth"][index],
    )
    pressure, area, centre = maps["max_pressure"][index], grid.area[index[2]], grid.centre[index[2]]
    worst, pressed, worn, crept = (
        np.unravel_index(np.argmax(values), values.shape)
        for values in (damage, pressure, wear, creep)
    )
    unknown = np.full(3, np.nan)
    loaded = bool(pressure[pressed] > 0.0)
    position = centre[worst] if loaded else unknown
    distance = float(np.linalg.norm(centre[worst] - centre[pressed])) if loaded else float("nan")
    volumes = {"damage": damage_volume(damage, area), "wear": damage_volume(wear, area)}
    rows: list[Row] = [
        ("max_pressure", float(pressure[pressed]), "MPa"),
        ("avg_pressure", float(maps["avg_pressure"][index]), "MPa"),
        ("wear_depth_at_deepest_damage", float(wear[worst]), "mm"),
        ("creep_depth_at_deepest_damage", float(creep[worst]), "mm"),
        ("damage_depth", float(damage[worst]), "mm"),
        ("wear_area", damage_area(wear, pressure, area), "mm2"),
        ("creep_area", damage_area(creep, pressure, area), "mm2"),
        ("damage_area", damage_area(pressure, pressure, area), "mm2"),
        ("damage_volume", volumes["damage"], "mm3"),
        ("max_wear_depth", float(wear.max()), "mm"),
        ("max_creep_depth", float(creep.max()), "mm"),
        ("wear_volume", volumes["wear"], "mm3"),
        ("creep_volume", damage_volume(creep, area), "mm3"),
        ("damage_location_x", float(position[0]), "mm"),
        ("damage_location_z", float(position[2]), "mm"),
        ("distance_max_damage_to_max_pressure", distance, "mm"),
        ("border_pressure", border_pressure(pressure, grid.valid[index[2]]), "MPa"),
    ]
    for name, depth, at in (("wear", wear, worn), ("creep", creep, crept)):
        position = centre[at] if depth[at] > 0.0 else unknown
        rows += [(f"{name}_location_{axis}", float(position[n]), "mm") for n, axis in AXES]
    years = settings.months / MONTHS_PER_YEAR
    per_year = 1.0 / years if years > 0.0 else float("nan")
    cycles = cycles_of_life(settings.cycles_per_year, settings.months)
    per_million = 1.0e6 / cycles if cycles > 0.0 else float("nan")
    mass = settings.density_mg_per_mm3 * volumes["wear"]
    crossed = damage_volume(wear * maps["cross_shear"][index], area)
    cross_shear = crossed / volumes["wear"] if volumes["wear"] > 0.0 else float("nan")
    return [
        *rows,
        ("linear_wear_rate", per_year * float(wear.max()), "mm/year"),
        ("linear_penetration_rate", per_year * float(damage.max()), "mm/year"),
        ("volumetric_wear_rate", per_year * volumes["wear"], "mm3/year"),
        ("volumetric_penetration_rate", per_year * volumes["damage"], "mm3/year"),
        ("mass_loss", per_million * mass, "mg/million cycles"),
        ("cross_shear", cross_shear, "1"),
    ]


def _plastic_rows(
    cycles: Arrays, grid: ElementGrid, used: NDArray[np.intp], case: int, side: int
) -> list[Row]:
    """Dent, plastic strain and stresses of one case and side of an insert that yields.

    Of each element the largest of all activities of the life.
    """
    dent, *others = (cycles[name][used, case, side].max(axis=0) for name in PLASTIC_MAPS)
    largest = dict(zip(PLASTIC_MAPS[1:], (float(values.max()) for values in others), strict=True))
    return [
        ("dent_depth", float(dent.max()), "mm"),
        ("dent_volume", damage_volume(dent, grid.area[side]), "mm3"),
        *((name, value, PLASTIC_OUTPUTS[name]) for name, value in largest.items()),
    ]


def _creep_rows(maps: Arrays, settings: WearSettings, index: tuple[int, int, int]) -> list[Row]:
    """Largest creep depth of one life, case and side of an insert that yields: least and most."""
    under_load = maps["creep_depth"][index] / (1.0 - recovered_part(settings.recovery_minutes))
    minutes = minutes_of_life(settings.months)
    limits = creep_beside_curve(under_load, maps["max_pressure"][index], minutes)
    named = zip(limits._fields, limits, strict=True)
    return [(f"{name}_creep_depth", float(depth.max()), "mm") for name, depth in named]


def _border_rows(
    maps: Arrays, grid: ElementGrid, index: tuple[int, int, int], peak: float | None
) -> list[Row]:
    """Part of the wear of a side that its outermost elements have.

    With the largest force of the side, N, also the part of it that they carry at most.
    """
    area, wear = grid.area[index[2]], maps["wear_depth"][index]
    border = border_elements(grid.valid[index[2]])
    volume, whole = damage_volume(wear[border], area[border]), damage_volume(wear, area)
    rows = [("border_wear_share", volume / whole if whole > 0.0 else 0.0, "1")]
    if peak is None:
        return rows
    force = float(np.sum((maps["max_pressure"][index] * area)[border]))
    return [("border_force_share", force / peak if peak > 0.0 else 0.0, "1"), *rows]


def _window_rows(
    cycles: Arrays, used: NDArray[np.intp], case: int, side: int, peak: float
) -> list[Row]:
    """Shares of force and area where a surface ends, over the largest of the side."""
    if "border_force" not in cycles:
        return []
    area = float(cycles["contact_area"][used, case, :, side].max(initial=0.0))
    pressure, force, covered = (
        cycles[name][used, case, :, side].max(axis=(0, 1), initial=0.0)
        for name in ("border_pressure", "border_force", "border_area")
    )
    insert, femoral = (covered / area if area > 0.0 else covered).tolist()
    carried = (force / peak if peak > 0.0 else 0.0 * force).tolist()
    return [
        ("border_force_share", carried[0], "1"),
        ("border_area_share", insert, "1"),
        ("femoral_border_pressure", float(pressure[1]), "MPa"),
        ("femoral_border_force_share", carried[1], "1"),
        ("femoral_border_area_share", femoral, "1"),
    ]


def _centre_of_pressure_rows(
    cycles: Arrays, used: NDArray[np.intp], case: int, side: int
) -> list[Row]:
    """Centre of pressure of one side at the largest load, and its range over the cycles."""
    load = cycles["load"][used, case]
    activity, frame = np.unravel_index(np.argmax(load), load.shape)
    path = cycles["centre_of_pressure"][used, case, :, side]
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


def _equilibrium_rows(cycles: Arrays, used: NDArray[np.intp], case: int) -> list[Row]:
    """Motion, load line, reactions, residual and spring force of the whole knee."""
    load, line = cycles["load"][used, case], cycles["load_line"][used, case]
    push, turn = (
        cycles["reaction_force"][used, case, :, 0],
        cycles["reaction_moment"][used, case, :, 1],
    )
    spring = np.abs(cycles["spring_force"][used, case]) / load
    place = cycles["translation"][used, case, :, 0]
    angle = np.degrees(cycles["rotation"][used, case, :, 1])
    return [
        ("max_load", float(load.max()), "N"),
        ("posterior_position_min", float(place.min()), "mm"),
        ("posterior_position_max", float(place.max()), "mm"),
        ("tibial_external_rotation_min", float(angle.min()), "deg"),
        ("tibial_external_rotation_max", float(angle.max()), "deg"),
        ("load_line_min", float(line.min()), "mm"),
        ("load_line_max", float(line.max()), "mm"),
        ("anterior_posterior_reaction_min", float(push.min()), "N"),
        ("anterior_posterior_reaction_max", float(push.max()), "N"),
        ("rotation_torque_min", 1e-3 * float(turn.min()), "N m"),
        ("rotation_torque_max", 1e-3 * float(turn.max()), "N m"),
        ("max_relative_spring_force", float(spring.max()), "1"),
        ("max_residual", float(cycles["residual"][used, case].max()), "1"),
    ]
