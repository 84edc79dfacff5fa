"""Poses of several rigid bodies in one frame, and the forces that act on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.base.faults import suggestion
from kneewear.errors import KneewearError

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


class UnknownBodyError(KneewearError, ValueError):
    """A body that a system does not have; `found` is its name, `bodies` are the known ones."""

    def __init__(self, what: str, found: str, bodies: Sequence[str]) -> None:
        self.what, self.found, self.bodies = what, found, tuple(bodies)
        super().__init__(what, found, self.bodies)

    def __str__(self) -> str:
        remedy = suggestion(self.found, self.bodies) or "Name a body of the system."
        return (
            f"{self.what}: found body '{self.found}'; expected one of "
            f"{', '.join(self.bodies)}. {remedy}"
        )


def body_number(what: str, name: str, bodies: Sequence[str]) -> int:
    """Number of a body by name; UnknownBodyError, which names `what` is on it, if it is unknown."""
    if name not in bodies:
        raise UnknownBodyError(what, name, bodies)
    return list(bodies).index(name)


class BodyPoses(NamedTuple):
    """Pose and velocity of every body in the ground frame.

    `rotation` (n, 3, 3) turns components of a body's frame into those of the ground; `translation`
    (n, 3) is the position of its origin, mm; `velocity` (n, 6) that of its origin, mm/s, and its
    angular velocity, rad/s, along the axes of the ground; `time`, s, is for loads that vary.
    """

    rotation: Array
    translation: Array
    velocity: Array
    time: float = 0.0

    @classmethod
    def at_rest(cls, rotation: ArrayLike, translation: ArrayLike) -> BodyPoses:
        """Poses without velocity."""
        rotation = np.array(rotation, dtype=float, ndmin=3)
        translation = np.array(translation, dtype=float, ndmin=2)
        return cls(rotation, translation, np.zeros((len(translation), 6)))


class BodyForces(NamedTuple):
    """Forces on all bodies, to which everything that acts adds its part.

    `wrench` (6 n,) holds for each body the force, N, and the moment about its origin, N mm, along
    the axes of the ground; `stiffness` (6 n, 6 n) its derivative over the translation, mm, and the
    rotation, rad, of each body about its own origin and the axes of the ground, at constant
    velocities; `damping` (6 n, 6 n) that over the velocities; `energy` (1,) what is stored, N mm.
    """

    wrench: Array
    stiffness: Array
    damping: Array
    energy: Array

    @classmethod
    def zero(cls, count: int) -> BodyForces:
        """No force on any of `count` bodies."""
        size = 6 * count
        return cls(np.zeros(size), np.zeros((size, size)), np.zeros((size, size)), np.zeros(1))
