"""What one cycle does to every element, summed over its frames."""

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
    """One cycle of one activity of one case, without its frames.

    Parameters
    ----------
    wear_depth : array, shape (side, row, column)
        Depth worn off in one cycle, mm.
    work, cross_work : array, shape (side, row, column)
        Frictional work of the cycle, in all and across its principal direction, per area and
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

    Parameters
    ----------
    history : ContactHistory
        Histories of a batch of cases.
    case : int
        Index of the case.
    law : WearLaw
        Wear law.

    Returns
    -------
    CycleSums
        Sums in double precision and in the order of the frames: a case's result does not depend on
        its neighbours in the batch.
    """
    max_pressure = history.pressure[case].max(axis=0).astype(np.float64)
    # Most elements are never touched: leaving them out halves the time. Frames stay the slowest
    # axis in memory, for numpy adds in another order along the fastest.
    touched = max_pressure > 0.0
    pressure = np.ascontiguousarray(history.pressure[case][:, touched])
    slip = np.ascontiguousarray(history.slip[case][:, touched])
    work, cross_work = frictional_work(pressure, slip)
    wear_depth = worn_depth(pressure, slip, cross_shear_ratio(work, cross_work), law)
    return CycleSums(
        wear_depth=_put_back(wear_depth, touched),
        work=_put_back(work, touched),
        cross_work=_put_back(cross_work, touched),
        max_pressure=max_pressure,
        avg_pressure=history.avg_pressure[case].max(axis=0),
        max_penetration=history.max_penetration[case].max(axis=0),
    )


def _put_back(values: Array, touched: NDArray[np.bool_]) -> Array:
    """Values of the touched elements among all others, which are zero."""
    everywhere = np.zeros(touched.shape)
    everywhere[touched] = values
    return everywhere
