"""Damage of the insert after a life of mixed activities."""

from __future__ import annotations

from dataclasses import dataclass

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
