"""Wear, work and largest pressure of every element over one cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.simulation.history import ContactHistory
from kneewear.wear.cross_shear import cross_shear_ratio, frictional_work
from kneewear.wear.laws import WearLaw, worn_depth

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CycleSums:
    """One cycle of one activity of one case, summed over its frames.

    Parameters
    ----------
    wear_depth : array, shape (side, row, column)
        Depth worn off in one cycle, mm.
    work, cross_work : array, shape (side, row, column)
        Frictional work of the cycle, total and across its principal direction, per area and
        coefficient of friction, MPa mm.
    max_pressure : array, shape (side, row, column)
        Largest pressure of the cycle, MPa.
    avg_pressure : array, shape (side,)
        Largest mean non-zero element pressure of the cycle, MPa.
    max_penetration : array, shape (side,)
        Largest penetration of the cycle, mm.
    """

    wear_depth: Array
    work: Array
    cross_work: Array
    max_pressure: Array
    avg_pressure: Array
    max_penetration: Array


def sum_cycle(history: ContactHistory, case: int, law: WearLaw) -> CycleSums:
    """Sum one cycle of one case over its frames.

    In double precision and in the order of the frames: the result of a case does not depend on
    the others of its batch.
    """
    max_pressure = history.pressure[case].max(axis=0).astype(np.float64)
    # Most elements are never loaded: omitting them halves the time. Frames remain the slowest axis
    # in memory because numpy adds in another order along the fastest.
    loaded = max_pressure > 0.0
    pressure = np.ascontiguousarray(history.pressure[case][:, loaded])
    slip = np.ascontiguousarray(history.slip[case][:, loaded])
    work, cross_work = frictional_work(pressure, slip)
    wear_depth = worn_depth(pressure, slip, cross_shear_ratio(work, cross_work), law)
    maps = np.zeros((3, *loaded.shape))
    maps[:, loaded] = wear_depth, work, cross_work
    return CycleSums(
        wear_depth=maps[0],
        work=maps[1],
        cross_work=maps[2],
        max_pressure=max_pressure,
        avg_pressure=history.avg_pressure[case].max(axis=0),
        max_penetration=history.max_penetration[case].max(axis=0),
    )
