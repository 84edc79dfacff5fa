"""Damage of the insert after a life of mixed activities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.settings.cases import Case


@dataclass(frozen=True)
class DamageMaps:
    """Wear, creep and damage per element for a batch of cases.

    Axes are in the order life, case, side, row, column.

    Parameters
    ----------
    lives : tuple of str
        Names of the lives (mixtures of activities).
    activities : tuple of str
        Names of the activities along the second axis of `shares`.
    shares : array, shape (life, activity)
        Share of the cycles of each life spent in each activity; rows sum to 1.
    cases : tuple of Case
        Cases.
    sides : tuple of str
        ("medial", "lateral").
    wear_depth, creep_depth, damage_depth : array, shape (life, case, side, row, column)
        Depths normal to the insert's surface, mm; damage = wear + creep.
    max_pressure : array, shape (life, case, side, row, column)
        Largest pressure of each element in any activity of the life, MPa.
    avg_pressure : array, shape (life, case, side)
        Maximum over the cycle, and over the activities of the life, of the mean non-zero element
        pressure, MPa.
    cross_shear : array, shape (life, case, side, row, column)
        Frictional work across its principal direction relative to all, over the life; 0 to 0.5.
    """

    lives: tuple[str, ...]
    activities: tuple[str, ...]
    shares: NDArray[np.float64]
    cases: tuple[Case, ...]
    sides: tuple[str, ...]
    wear_depth: NDArray[np.float64]
    creep_depth: NDArray[np.float64]
    damage_depth: NDArray[np.float64]
    max_pressure: NDArray[np.float64]
    avg_pressure: NDArray[np.float64]
    cross_shear: NDArray[np.float64]


def join_damage(parts: Sequence[DamageMaps]) -> DamageMaps:
    """Join batches of cases with the same lives, activities, shares and sides."""
    if not parts:
        raise ValueError("no batch of damage maps to join")
    first = parts[0]
    for part in parts[1:]:
        for name in ("lives", "activities", "shares", "sides"):
            if not np.array_equal(getattr(part, name), getattr(first, name)):
                raise ValueError(f"batches of damage maps differ in {name}")
    arrays = [name for name in vars(first) if name.endswith(("_depth", "_pressure", "_shear"))]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=1) for name in arrays
    }
    return replace(
        first,
        cases=tuple(case for part in parts for case in part.cases),
        **joined,
    )
