"""Where a femoral component lowered straight down touches the insert first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]

# Height above the insert, mm, from which the component is lowered.
START = 500.0


@dataclass(frozen=True)
class FirstContact:
    """A femoral component that just touches the insert.

    Parameters
    ----------
    translation : array, shape (3,)
        Its origin in the insert's frame, mm.
    clearance : mapping of side to float
        Minimum vertical gap of each side, mm; zero on the side that touches, inf where a condyle
        is beside its plateau.
    point : mapping of side to array, shape (3,)
        Point of the insert where that gap is, mm; NaN where there is none.
    """

    translation: Array
    clearance: Mapping[str, float]
    point: Mapping[str, Array]

    @property
    def side(self) -> str:
        """Side that touches."""
        return min(self.clearance, key=lambda side: self.clearance[side])


def find_first_contact(
    grid: ElementGrid, femoral: Mapping[str, Surface], rotation: ArrayLike, translation: ArrayLike
) -> FirstContact:
    """Lower the femoral component vertically until it touches an element of the insert.

    Parameters
    ----------
    grid : ElementGrid
        Elements of the insert.
    femoral : mapping of side to Surface
        Condyles in the femoral frame.
    rotation, translation : array, shape (3, 3) and (3,)
        Orientation of the component and position of its origin, mm, whose height is not used.

    Raises
    ------
    ValueError
        If no condyle is above its plateau.

    Notes
    -----
    The gap of a side is the minimum height at which vertical rays from its element centres meet the
    condyle. Between centres contact may occur earlier by up to d^2 / 8 R for elements of size d and
    a condyle of radius R: a micrometre for half a millimetre and 30 mm.
    """
    start = np.array(translation, dtype=float)
    start[1] = START
    gaps = {
        side: _vertical_gap(grid, number, femoral[side].transformed(rotation, start))
        for number, side in enumerate(grid.sides)
    }
    least = min(gap for gap, _ in gaps.values())
    if not np.isfinite(least):
        raise ValueError(
            "no condyle is above its plateau; check the axes and origins of both components, "
            "and the anterior-posterior and medial-lateral position of the motion"
        )
    start[1] -= least
    return FirstContact(
        start,
        {side: gap - least for side, (gap, _) in gaps.items()},
        {side: point for side, (_, point) in gaps.items()},
    )


def _vertical_gap(grid: ElementGrid, side: int, condyle: Surface) -> tuple[float, Array]:
    """Minimum height of a condyle above the elements of a side, and where."""
    centres = grid.centre[side][grid.valid[side]]
    height = condyle.ray_hits(centres, (0.0, 1.0, 0.0))[2]
    lowest = int(np.argmin(height))
    if not np.isfinite(height[lowest]):
        return np.inf, np.full(3, np.nan)
    return float(height[lowest]), centres[lowest]
