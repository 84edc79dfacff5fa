"""Joints between two bodies: stiff springs along what a joint does not let move.

A coordinate of one body in the ground is held exactly by leaving it out of the free ones; a joint
is for two bodies that both move, or for an axis that is no axis of coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.motion.actions import skew

Array = NDArray[np.float64]
JointKind = Literal["hinge", "ball", "planar"]


class JointForce(NamedTuple):
    """Wrench (6,) on the moving body about its origin and its derivatives; what the joint yields.

    `gap` is the distance of the joint's points along what is locked, mm, `tilt` the angle between
    its axes, rad (zero of a ball joint); `energy` is stored, N mm.
    """

    wrench: Array
    stiffness: Array
    damping: Array
    energy: float
    gap: float
    tilt: float


@dataclass(frozen=True)
class Joint:
    """A joint as the law of a `kneewear.motion.actions.Contact`.

    A ball joint keeps two points together, a hinge their axes parallel too; a planar joint keeps a
    point in the plane through the other one across its axis, and the axes parallel.

    Parameters
    ----------
    kind : {"hinge", "ball", "planar"}
        What is locked.
    point, axis : array, shape (3,)
        Point, mm, and unit axis in the frame of the fixed body.
    other_point, other_axis : array, shape (3,)
        Those of the moving body, in its frame.
    stiffness : float
        N/mm; axes are kept parallel by this stiffness at a lever of 23 mm
        (`kneewear.mechanics.coordinates.CHARACTERISTIC_LENGTH`), or another `lever`, mm.

    Notes
    -----
    The energy is k (P d)^2 / 2 + k L^2 |a - b|^2 / 2 with the distance d of the points, P the
    projection on what is locked, and the axes a and b. A joint yields by the constraint force over
    the stiffness.
    """

    kind: JointKind
    point: ArrayLike
    axis: ArrayLike
    other_point: ArrayLike
    other_axis: ArrayLike
    stiffness: float
    lever: float = 23.0

    def evaluate(
        self, rotation: Array, translation: Array, velocity: Array | None = None
    ) -> JointForce:
        """Force at a pose of the moving body in the frame of the fixed one."""
        del velocity
        axis, other = np.asarray(self.axis), rotation @ np.asarray(self.other_axis)
        arm = rotation @ np.asarray(self.other_point)
        locked = np.outer(axis, axis) if self.kind == "planar" else np.eye(3)
        gap = locked @ (translation + arm - np.asarray(self.point))
        force = -self.stiffness * gap
        over = -self.stiffness * locked @ np.hstack([np.eye(3), -skew(arm)])
        moment, turning = np.cross(arm, force), skew(arm) @ over
        # The arm rotates along: (s x r) x f.
        turning[:, 3:] += skew(force) @ skew(arm)
        energy, apart = 0.5 * self.stiffness * float(gap @ gap), np.zeros(3)
        if self.kind != "ball":
            parallel = self.stiffness * self.lever**2
            apart = axis - other
            moment = moment + parallel * np.cross(other, axis)
            turning[:, 3:] += parallel * skew(axis) @ skew(other)
            energy += 0.5 * parallel * float(apart @ apart)
        return JointForce(
            np.concatenate([force, moment]),
            np.vstack([over, turning]),
            np.zeros((6, 6)),
            energy,
            float(np.linalg.norm(gap)),
            2.0 * float(np.arcsin(min(0.5 * float(np.linalg.norm(apart)), 1.0))),
        )
