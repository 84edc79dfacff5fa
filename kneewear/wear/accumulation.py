"""Wear and creep of a batch of cases over lives of mixed activities."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.settings.cases import Case
from kneewear.simulation.history import ContactHistory
from kneewear.wear.creep import (
    FIRST_MINUTE,
    creep_development,
    creep_from_pressure,
    creep_from_strain,
    minutes_of_life,
    recovered_part,
)
from kneewear.wear.cross_shear import cross_shear_ratio
from kneewear.wear.cycle_sums import CycleSums, sum_cycle
from kneewear.wear.cycles import check_same_cases
from kneewear.wear.laws import WearLaw, choose_wear_law, cycles_of_life
from kneewear.wear.maps import DamageMaps
from kneewear.wear.wear_steps import WearStep, divide_life
from kneewear.wear.worn_contact import Resimulation
from kneewear.wear.worn_surface import lower_surface

if TYPE_CHECKING:
    from kneewear.settings.wear import WearSettings

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

SHARE_TOLERANCE = 1.0e-9
# Depths oscillate from step to step if a step lowers elements by more than this times penetration.
LARGEST_LOWERING = 2.0


def accumulate_wear(
    histories: Mapping[str, ContactHistory],
    grid: ElementGrid,
    settings: WearSettings,
    resimulate: Resimulation | None = None,
    law: WearLaw | None = None,
) -> DamageMaps:
    """Extrapolate one cycle of each activity to the lives of a study.

    Parameters
    ----------
    histories : mapping of activity name to ContactHistory
        Cycles on the fresh insert, the same cases in every activity; activities that no life uses
        have no influence.
    grid : ElementGrid
        The element grid of the histories.
    settings : WearSettings
        Laws of wear and creep and their constants; cycles per year; months; shares of the
        activities in each life; blocks of cycles between which the surface is updated.
    resimulate : callable, optional
        Simulates a cycle again on a worn grid, such as `WornContact`; needed when the surface is
        updated.
    law : WearLaw, optional
        A wear law instead of the one that the settings name.

    Returns
    -------
    DamageMaps
        Depths after the life, and the pressures of its cycles.

    Raises
    ------
    ValueError
        If the histories do not share cases and frames, if a life names an activity that was not
        simulated or its shares do not sum to 1, or if the surface is to be updated without
        `resimulate`.
    ConvergenceError
        If a cycle has no equilibrium on a worn surface.

    Notes
    -----
    A life is divided into steps (:func:`kneewear.wear.wear_steps.divide_life`) during which the
    surface does not change. Wear of a step is its cycles times the depth of one cycle. Within a
    step activities mix linearly by their shares, as in Bei (2003), section 4.2.1 ("linear
    rules-of-mixture"): depth = sum_a share_a depth_a, for wear and creep alike. One step is the
    dissertation's extrapolation of the fresh surface's cycle.

    Between steps the surface is lowered by wear and creep. Creep is not summed over steps: it is
    what the creep law gives for the largest pressure of an element so far and the age reached, so
    it never decreases and is not compounded. When activities follow each other instead of mixing,
    that largest pressure is the largest of any activity.

    Every case and life starts from the fresh surface; cost grows with the number of steps times
    activities.
    """
    first = check_same_cases(histories)
    shares = _share_matrix(settings.lives, tuple(histories))
    law = law or choose_wear_law(settings)
    ends = [
        simulate_life(
            {name: history.only(case.name) for name, history in histories.items()},
            _Life(case, dict(zip(histories, row.tolist(), strict=True)), law, grid, settings),
            resimulate,
        )
        for row in shares
        for case in first.cases
    ]
    # A batch may have no case.
    axes = len(shares), len(first.cases)
    stacked = {
        name: np.array([getattr(end, name) for end in ends]).reshape(*axes, *array.shape)
        for name, array in vars(_fresh_insert(grid)).items()
    }
    creep = (1.0 - recovered_part(settings.recovery_minutes)) * stacked["creep"]
    return DamageMaps(
        lives=tuple(settings.lives),
        activities=tuple(histories),
        shares=shares,
        cases=first.cases,
        sides=first.sides,
        wear_depth=stacked["wear"],
        creep_depth=creep,
        damage_depth=stacked["wear"] + creep,
        max_pressure=stacked["max_pressure"],
        avg_pressure=stacked["avg_pressure"],
        cross_shear=cross_shear_ratio(stacked["work"], stacked["cross_work"]),
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


@dataclass(frozen=True)
class _Life:
    """What does not change during one life of one case."""

    case: Case
    mixture: Mapping[str, float]
    law: WearLaw
    grid: ElementGrid
    settings: WearSettings


@dataclass
class _Insert:
    """State of an insert during a life."""

    wear: Array
    creep: Array
    work: Array
    cross_work: Array
    max_pressure: Array
    avg_pressure: Array


def _fresh_insert(grid: ElementGrid) -> _Insert:
    zero = np.zeros(grid.area.shape)
    return _Insert(zero, zero, zero, zero, zero, np.zeros(len(grid.sides)))


def simulate_life(
    fresh: Mapping[str, ContactHistory], life: _Life, resimulate: Resimulation | None
) -> _Insert:
    """Insert at the end of a life; `fresh` holds this case's cycles on the fresh surface."""
    steps = divide_life(life.mixture, life.settings)
    if len(steps) > 1 and resimulate is None:
        raise ValueError("updating the surface needs a way to simulate contact again")
    update, surface = life.settings.surface_update, life.grid
    insert = _fresh_insert(surface)
    largest: dict[str, Array] = {}
    for number, step in enumerate(steps):
        cycles = {name: fresh[name] for name in step.shares}
        if number and resimulate is not None:
            cycles = {name: resimulate(surface, cycle) for name, cycle in cycles.items()}
        sums = {name: sum_cycle(cycle, 0, life.law) for name, cycle in cycles.items()}
        before = insert.wear + insert.creep
        _add_step(insert, largest, step, sums, life)
        if number + 1 < len(steps):
            damage = insert.wear + insert.creep
            _warn_of_oscillation(damage - before, sums, step, life)
            surface = lower_surface(
                life.grid, damage, insert.wear, update.smoothing_mm, update.thins_layer
            )
    return insert


def _add_step(
    insert: _Insert,
    largest: dict[str, Array],
    step: WearStep,
    sums: Mapping[str, CycleSums],
    life: _Life,
) -> None:
    """Add a step's wear, and update creep and the largest pressures to its end."""
    settings = life.settings
    cycles = cycles_of_life(settings.cycles_per_year, settings.months) * (step.end - step.start)
    for name, share in step.shares.items():
        cycle = sums[name]
        insert.wear = insert.wear + share * (cycles * cycle.wear_depth)
        insert.work = insert.work + share * (cycles * cycle.work)
        insert.cross_work = insert.cross_work + share * (cycles * cycle.cross_work)
        insert.max_pressure = np.maximum(insert.max_pressure, cycle.max_pressure)
        insert.avg_pressure = np.maximum(insert.avg_pressure, cycle.avg_pressure)
        largest[name] = np.maximum(largest.get(name, 0.0), cycle.max_pressure)
    pressures = [(share, largest[name]) for name, share in step.shares.items()]
    if settings.mixing == "sequence":
        pressures = [(1.0, insert.max_pressure)]
    insert.creep = sum(
        (share * _creep_depth(pressure, step.end, life) for share, pressure in pressures),
        start=np.zeros(life.grid.area.shape),
    )


def _creep_depth(max_pressure: Array, part: float, life: _Life) -> Array:
    """Creep depth by the law of the settings, after a part of the life."""
    settings = life.settings
    minutes = minutes_of_life(settings.months)
    if settings.creep_law == "pressure":
        developed = 1.0
        if settings.creep_time == "logarithm":
            reference = minutes_of_life(settings.creep_months)
            developed = creep_development(part * minutes, reference)
        return creep_from_pressure(max_pressure, settings.creep_mm_per_mpa * developed)
    if settings.creep_law == "strain":
        # Elements outside the bearing may have no thickness; they carry no pressure either.
        thickness = life.grid.case_thickness(life.case.thickness)
        solid = np.where(max_pressure > 0.0, thickness, 0.0)
        age = max(part * minutes, FIRST_MINUTE)
        return creep_from_strain(max_pressure, solid, age)
    raise ValueError(f"creep_law must be 'pressure' or 'strain', got {settings.creep_law!r}")


def _warn_of_oscillation(
    lowering: Array, sums: Mapping[str, CycleSums], step: WearStep, life: _Life
) -> None:
    """Warn when a step lowers the surface by much more than the penetration."""
    deepest = np.max([cycle.max_penetration for cycle in sums.values()], axis=0)
    ratio = lowering.max(axis=(1, 2)) / np.where(deepest > 0.0, deepest, np.inf)
    if ratio.max() > LARGEST_LOWERING:
        logger.warning(
            "case %s: cycles from %.3g to %.3g of the life lower the surface by %.1f times the "
            "penetration; depths oscillate when it is more than about %g: take more blocks",
            life.case.name,
            step.start,
            step.end,
            ratio.max(),
            LARGEST_LOWERING,
        )
