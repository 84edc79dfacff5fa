"""Soft tissue of knee simulators: springs along coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics import _tissue_kernels as kernels
from kneewear.mechanics.bodies import body_number
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import FEMORAL

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Spring:
    """A spring and a damper along one coordinate, slack over a gap.

    The soft tissue of a knee simulator, as ISO 14243-1 states it. It pulls as two tendons along the
    coordinate do that are slack over the gap, one on each side.

    Parameters
    ----------
    coordinate : str
        One of `COORDINATES`.
    stiffness : float
        N/mm, or N mm/rad for an angle.
    rest : float
        Middle of the range without force, mm or rad.
    gap : float
        Half-width of that range, mm or rad; zero for a linear spring.
    damping : float
        Force against the coordinate's rate, N s/mm or N mm s/rad, in the gap too.
    body : str
        The body whose coordinate it is.

    Raises
    ------
    ValueError
        If the coordinate is unknown, or stiffness, gap or damping is negative or not finite.
    """

    coordinate: str
    stiffness: float
    rest: float = 0.0
    gap: float = 0.0
    damping: float = 0.0
    body: str = FEMORAL

    def __post_init__(self) -> None:
        if self.coordinate not in COORDINATES:
            raise ValueError(
                f"spring on {self.coordinate!r}; expected one of {', '.join(COORDINATES)}"
            )
        for name in ("stiffness", "gap", "damping"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise ValueError(f"{name} of a spring: found {value}, expected zero or more")


def spring_arrays(
    springs: Sequence[Spring], bodies: Sequence[str] = (FEMORAL,)
) -> kernels.SpringArrays:
    """Springs in the form of kernels, for the coordinates (6 n,) of moving `bodies`.

    UnknownBodyError if a spring is on another one.
    """
    numbers = [
        6 * body_number("spring", s.body, bodies) + COORDINATES.index(s.coordinate) for s in springs
    ]
    values = [
        np.array([getattr(s, name) for s in springs], dtype=float)
        for name in ("stiffness", "rest", "gap", "damping")
    ]
    return kernels.SpringArrays(np.array(numbers, dtype=np.int64), *values)


def spring_forces(
    springs: Sequence[Spring], coordinates: ArrayLike, rates: ArrayLike = (0.0,) * 6
) -> tuple[Array, Array]:
    """Forces (6,) of springs and dampers along the coordinates, and their derivative (6, 6).

    With coordinates q, mm and rad, and rates q': the sum of -k (q - rest -+ gap) outside the gap,
    zero inside, and -c q', N or N mm; the derivative over the coordinates is -k outside the gap.
    """
    force, derivative = np.zeros(6), np.zeros((6, 6))
    kernels.add_spring_forces(
        spring_arrays(springs),
        np.asarray(coordinates, dtype=float),
        np.asarray(rates, dtype=float),
        np.empty(len(springs)),
        force,
        derivative,
        np.zeros((6, 6)),
    )
    return force, derivative
