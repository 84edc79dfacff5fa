"""Loads that act on a body in addition to contact and tissues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics import _kernels

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
        """True if the load is given over the frames of a cycle."""
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
