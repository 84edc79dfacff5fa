"""Results of some cases: histories of their cycles, and damage after their lives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kneewear.settings.cases import Case
from kneewear.simulation.history import ContactHistory, CycleResults, Failure

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class CycleRecord(CycleResults):
    """Frame histories of some cases in every simulated activity, without the element ones.

    Axes are in the order activity, case, frame, side, row, column, component.

    Parameters
    ----------
    activities : tuple
        Activities along the first axis.
    """

    activities: tuple[str, ...]


@dataclass(frozen=True)
class DamageMaps:
    """Wear, creep and damage per element for a batch of cases.

    Axes are in the order life, case, side, row, column.

    Parameters
    ----------
    lives, activities, cases, sides : tuple
        Names of the lives (mixtures of activities) and activities, the cases, and ("medial",
        "lateral").
    shares : array, shape (life, activity)
        Share of the cycles of each life spent in each activity; rows sum to 1.
    wear_depth, creep_depth, damage_depth : array, shape (life, case, side, row, column)
        Depths normal to the insert's surface, mm; damage = wear + creep.
    max_pressure : array, shape (life, case, side, row, column)
        Largest pressure of each element in any activity of the life, MPa.
    avg_pressure : array, shape (life, case, side)
        Maximum over the cycle, and over the activities of the life, of the mean pressure
        over the contact area, MPa.
    cross_shear : array, shape (life, case, side, row, column)
        Frictional work across its principal direction relative to all, over the life; 0 to 0.5.
    failures : tuple
        Cases that wore through, or did not converge on a worn surface; they are not in `cases`.
    """

    lives: tuple[str, ...]
    activities: tuple[str, ...]
    shares: Array
    cases: tuple[Case, ...]
    sides: tuple[str, ...]
    wear_depth: Array
    creep_depth: Array
    damage_depth: Array
    max_pressure: Array
    avg_pressure: Array
    cross_shear: Array
    failures: tuple[Failure, ...] = ()


def check_same_cases(histories: Mapping[str, ContactHistory]) -> ContactHistory:
    """First history, after a check that there is one and all share cases, sides and frames."""
    if not histories:
        raise ValueError("no contact history given")
    first = next(iter(histories.values()))
    for name, history in histories.items():
        if history.cases != first.cases or history.sides != first.sides:
            raise ValueError(f"activity {name!r} was simulated for other cases or sides")
        if not np.array_equal(history.percent, first.percent):
            raise ValueError(f"activity {name!r} has other frames than {first.activity!r}")
    return first


def record_cycles(histories: Mapping[str, ContactHistory]) -> CycleRecord:
    """Frame histories of several activities.

    `histories` are those of each activity; ValueError unless all share cases, sides and frames.
    """
    first = check_same_cases(histories)
    own = ("activities", "cases", "sides", "percent")
    frame_histories = [field.name for field in fields(CycleRecord) if field.name not in own]
    return CycleRecord(
        activities=tuple(histories),
        cases=first.cases,
        sides=first.sides,
        percent=first.percent,
        **{
            name: np.stack([getattr(history, name) for history in histories.values()])
            for name in frame_histories
        },
    )
