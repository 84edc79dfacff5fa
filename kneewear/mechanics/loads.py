"""Loads and springs that act on a body in addition to contact and tissues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics import _kernels
from kneewear.mechanics.bodies import body_number
from kneewear.mechanics.coordinates import COORDINATES

Array = NDArray[np.float64]
Frame = Literal["fixed", "moving"]
# The body that moves in wear studies.
FEMORAL = "femoral component"


@dataclass(frozen=True)
class Load:
    """A force and a moment on a body, steady, over the frames of a cycle or over time.

    Parameters
    ----------
    force : array, shape (3,) or (n_frames, 3), or function of time
        Force, N; a function takes the time, s, and returns three numbers.
    moment : array, shape (3,) or (n_frames, 3)
        Moment in addition to that of the force, N mm.
    point : array, shape (3,) or (n_frames, 3)
        Point at which the force acts, mm.
    frame : {"fixed", "moving"}
        Frame of the components of force and moment: of the ground, or of the body.
    point_frame : {"fixed", "moving"}
        Frame of the point; "fixed" for the actuator of a testing machine.
    body : str
        The body.

    Raises
    ------
    ValueError
        If a vector is not three finite numbers, steady or in every frame, or a frame is unknown.
    """

    force: ArrayLike | Callable[[float], ArrayLike] = (0.0, 0.0, 0.0)
    moment: ArrayLike = (0.0, 0.0, 0.0)
    point: ArrayLike = (0.0, 0.0, 0.0)
    frame: Frame = "fixed"
    point_frame: Frame = "moving"
    body: str = FEMORAL

    def __post_init__(self) -> None:
        for name in ("force", "moment", "point"):
            if callable(getattr(self, name)):
                continue
            vector = np.asarray(getattr(self, name), dtype=float)
            if vector.shape[-1:] != (3,) or vector.ndim > 2 or not np.isfinite(vector).all():
                raise ValueError(
                    f"{name} of a load: found an array of shape {vector.shape}, expected three "
                    "finite numbers, or as many in every frame"
                )
        for frame in (self.frame, self.point_frame):
            if frame not in ("fixed", "moving"):
                raise ValueError(f"frame of a load: found {frame!r}, expected fixed or moving")

    def time_history(self, n_frames: int, time: float = 0.0) -> Array:
        """Force, moment and point in every frame, N, N mm and mm, shape (n_frames, 9).

        Of a function of time it has the value at `time`, s.
        """
        force = self.force(time) if callable(self.force) else self.force
        parts = [np.broadcast_to(v, (n_frames, 3)) for v in (force, self.moment, self.point)]
        return np.concatenate(parts, axis=1, dtype=float)

    @property
    def varies(self) -> bool:
        """Whether it is given over the frames of a cycle."""
        parts = (self.force, self.moment, self.point)
        return any(not callable(part) and np.ndim(part) == 2 for part in parts)

    def at(self, frame: int) -> Load:
        """The steady load of one frame."""
        changed = {
            name: vector[frame]
            for name in ("force", "moment", "point")
            if not callable(vector := getattr(self, name))
            if (vector := np.asarray(vector)).ndim == 2
        }
        return replace(self, **changed)

    def wrench(self, translation: Array, rotation: Array) -> tuple[Array, Array]:
        """Wrench (6,) of a steady load about the moving origin, and its derivative (6, 6).

        The wrench, N and N mm, is in the fixed frame; the derivative is over translation, mm, and
        rotation about fixed axes, rad.
        """
        wrench, rate = np.zeros(6), np.zeros((6, 6))
        _kernels.apply_load(
            *self.time_history(1)[0].reshape(3, 3),
            self.frame == "moving",
            self.point_frame == "moving",
            np.asarray(translation, dtype=float),
            np.ascontiguousarray(rotation, dtype=float),
            wrench,
            rate,
        )
        return wrench, rate


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
) -> _kernels.SpringArrays:
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
    return _kernels.SpringArrays(np.array(numbers, dtype=np.int64), *values)


def spring_forces(
    springs: Sequence[Spring], coordinates: ArrayLike, rates: ArrayLike = (0.0,) * 6
) -> tuple[Array, Array]:
    """Forces (6,) of springs and dampers along the coordinates, and their derivative (6, 6).

    With coordinates q, mm and rad, and rates q': the sum of -k (q - rest -+ gap) outside the gap,
    zero inside, and -c q', N or N mm; the derivative over the coordinates is -k outside the gap.
    """
    force, derivative = np.zeros(6), np.zeros((6, 6))
    _kernels.pull_springs(
        spring_arrays(springs),
        np.asarray(coordinates, dtype=float),
        np.asarray(rates, dtype=float),
        np.empty(len(springs)),
        force,
        derivative,
        np.zeros((6, 6)),
    )
    return force, derivative
