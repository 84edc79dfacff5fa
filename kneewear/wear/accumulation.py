"""Wear and creep of a batch of cases over lives of mixed activities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.grid import ElementGrid
from kneewear.simulation.history import ContactHistory
from kneewear.wear.cycles import check_same_cases
from kneewear.wear.laws import (
    MM3_PER_N_MM_FROM_MM3_PER_N_M,
    archard_depth,
    creep_from_pressure,
    creep_from_strain,
    cycles_of_life,
    minutes_of_life,
)
from kneewear.wear.maps import DamageMaps

if TYPE_CHECKING:
    from kneewear.config import WearSettings

SHARE_TOLERANCE = 1.0e-9


def accumulate_wear(
    histories: Mapping[str, ContactHistory], grid: ElementGrid, settings: WearSettings
) -> DamageMaps:
    """Extrapolate one cycle of each activity to the lives of a study.

    Parameters
    ----------
    histories : mapping of activity name to ContactHistory
        The same cases in every activity; activities that no life uses have no influence.
    grid : ElementGrid
        The element grid of the histories.
    settings : WearSettings
        Wear factor, mm3/(N m); creep law and its constant; cycles a year; months; shares of the
        activities in each life.

    Returns
    -------
    DamageMaps
        Depths after the life, and the pressures they came from.

    Raises
    ------
    ValueError
        If the histories do not share cases and frames, if a life names an activity that was not
        simulated, or if its shares do not sum to 1.

    Notes
    -----
    Cycles of every activity wear the same fresh surface (geometry is not updated), and both wear
    and creep mix linearly by the activities' shares, as in Bei (2003), section 4.2.1 ("linear
    rules-of-mixture"): depth = sum_a share_a depth_a. Sums run in float64 over the frames of one
    case at a time, so a case's result does not depend on its neighbours in the batch.
    """
    first = check_same_cases(histories)
    shares = _share_matrix(settings.lives, tuple(histories))
    per_case = [_case_depths(histories, index, grid, settings) for index in range(len(first.cases))]
    wear, creep, pressure, avg_pressure = (
        np.stack([case[item] for case in per_case]) for item in range(4)
    )

    wear_depth, creep_depth = _mix(shares, wear), _mix(shares, creep)
    used = shares > 0.0
    return DamageMaps(
        lives=tuple(settings.lives),
        activities=tuple(histories),
        shares=shares,
        cases=first.cases,
        sides=first.sides,
        wear_depth=wear_depth,
        creep_depth=creep_depth,
        damage_depth=wear_depth + creep_depth,
        max_pressure=np.stack([pressure[:, row].max(axis=1) for row in used]),
        avg_pressure=np.stack([avg_pressure[:, row].max(axis=1) for row in used]),
    )


def _share_matrix(
    lives: Mapping[str, Mapping[str, float]], activities: tuple[str, ...]
) -> NDArray[np.float64]:
    """Shares as an array (life, activity)."""
    if not lives:
        raise ValueError("no life given: name at least one mixture of activities")
    for life, mixture in lives.items():
        missing = sorted(set(mixture) - set(activities))
        if missing:
            raise ValueError(f"life {life!r} names activities that were not simulated: {missing}")
        if abs(sum(mixture.values()) - 1.0) > SHARE_TOLERANCE or min(mixture.values()) < 0.0:
            raise ValueError(f"shares of life {life!r} must be positive and sum to 1: {mixture}")
    return np.array([[mix.get(name, 0.0) for name in activities] for mix in lives.values()])


def _case_depths(
    histories: Mapping[str, ContactHistory], index: int, grid: ElementGrid, settings: WearSettings
) -> tuple[NDArray[np.float64], ...]:
    """Wear, creep, largest and peak mean pressure of one case, activities along the first axis."""
    wear_factor = settings.wear_factor_mm3_per_n_m * MM3_PER_N_MM_FROM_MM3_PER_N_M
    cycles = cycles_of_life(settings.cycles_per_year, settings.months)
    rows = []
    for history in histories.values():
        max_pressure = history.pressure[index].max(axis=0).astype(np.float64)
        wear = cycles * archard_depth(history.pressure[index], history.slip[index], wear_factor)
        creep = _creep_depth(
            max_pressure, grid.case_thickness(history.cases[index].thickness), settings
        )
        rows.append((wear, creep, max_pressure, history.avg_pressure[index].max(axis=0)))
    return tuple(np.stack([row[item] for row in rows]) for item in range(4))


def _creep_depth(
    max_pressure: NDArray[np.float64], thickness: NDArray[np.float64], settings: WearSettings
) -> NDArray[np.float64]:
    """Creep depth by the law the settings name."""
    if settings.creep_law == "pressure":
        return creep_from_pressure(max_pressure, settings.creep_mm_per_mpa)
    if settings.creep_law == "strain":
        # Cells outside the bearing may have no thickness; they carry no pressure either.
        solid = np.where(max_pressure > 0.0, thickness, 0.0)
        return creep_from_strain(max_pressure, solid, minutes_of_life(settings.months))
    raise ValueError(f"creep_law must be 'pressure' or 'strain', got {settings.creep_law!r}")


def _mix(shares: NDArray[np.float64], depth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear rule of mixtures: (case, activity, ...) to (life, case, ...) in a fixed order."""
    mixed = np.zeros((shares.shape[0], depth.shape[0], *depth.shape[2:]))
    for life, row in enumerate(shares):
        for activity, share in enumerate(row):
            mixed[life] += share * depth[:, activity]
    return mixed
