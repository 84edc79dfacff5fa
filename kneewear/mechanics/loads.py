"""Loads and springs that act on the moving body besides contact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics.coordinates import COORDINATES, cross_matrix

Array = NDArray[np.float64]
Frame = Literal["fixed", "moving"]


@dataclass(frozen=True)
class Load:
    """A force and a moment on the moving body.

    Parameters
    ----------
    force : array, shape (3,)
        Force, N.
    moment : array, shape (3,)
        Moment besides that of the force, N mm.
    point : array, shape (3,)
        Where the force acts, mm.
    frame : {"fixed", "moving"}
        Frame whose axes force and moment keep.
    point_frame : {"fixed", "moving"}
        Frame in which the point stands still. One in the fixed frame is where a testing machine
        pushes; the body slides through it.

    Raises
    ------
    ValueError
        If a vector is not three finite numbers or a frame is unknown.
    """

    force: ArrayLike = (0.0, 0.0, 0.0)
    moment: ArrayLike = (0.0, 0.0, 0.0)
    point: ArrayLike = (0.0, 0.0, 0.0)
    frame: Frame = "fixed"
    point_frame: Frame = "moving"

    def __post_init__(self) -> None:
        for name in ("force", "moment", "point"):
            vector = np.asarray(getattr(self, name), dtype=float)
            if vector.shape != (3,) or not np.isfinite(vector).all():
                raise ValueError(f"{name} of a load: found {vector}, expected three finite numbers")
        for frame in (self.frame, self.point_frame):
            if frame not in ("fixed", "moving"):
                raise ValueError(f"frame of a load: found {frame!r}, expected fixed or moving")

    def wrench(self, translation: Array, rotation: Array) -> tuple[Array, Array]:
        """Force and moment about the moving origin, and their derivative.

        Parameters
        ----------
        translation : array, shape (3,)
            Position of the moving origin, mm.
        rotation : array, shape (3, 3)
            Orientation of the moving body.

        Returns
        -------
        wrench : array, shape (6,)
            N and N mm, in the fixed frame.
        rate : array, shape (6, 6)
            Derivative over translation, mm, and turn about fixed axes, rad.
        """
        force, moment, point = (np.asarray(v, dtype=float) for v in self._vectors())
        follows, carried = self.frame == "moving", self.point_frame == "moving"
        if follows:
            force, moment = rotation @ force, rotation @ moment
        lever = rotation @ point if carried else point - translation
        rate = np.zeros((6, 6))
        if carried:
            rate[3:, 3:] += cross_matrix(force) @ cross_matrix(lever)
        else:
            rate[3:, :3] += cross_matrix(force)
        if follows:
            rate[:3, 3:] -= cross_matrix(force)
            rate[3:, 3:] -= cross_matrix(lever) @ cross_matrix(force) + cross_matrix(moment)
        return np.concatenate([force, moment + np.cross(lever, force)]), rate

    def _vectors(self) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        return self.force, self.moment, self.point


@dataclass(frozen=True)
class Spring:
    """A spring and a damper along one coordinate, slack over a gap.

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

    def __post_init__(self) -> None:
        if self.coordinate not in COORDINATES:
            raise ValueError(
                f"spring on {self.coordinate!r}; expected one of {', '.join(COORDINATES)}"
            )
        for name in ("stiffness", "gap", "damping"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise ValueError(f"{name} of a spring: found {value}, expected zero or more")


def spring_force(spring: Spring, value: float) -> tuple[float, float]:
    """Force of a spring along its coordinate, and its derivative.

    Parameters
    ----------
    spring : Spring
        The spring.
    value : float
        The coordinate, mm or rad.

    Returns
    -------
    force : float
        -k (q - rest -+ gap) outside the gap, zero inside; N or N mm.
    derivative : float
        -k outside the gap, zero inside.
    """
    stretch = value - spring.rest
    beyond = stretch - np.clip(stretch, -spring.gap, spring.gap)
    taut = abs(stretch) >= spring.gap
    return -spring.stiffness * float(beyond), -spring.stiffness * float(taut)
