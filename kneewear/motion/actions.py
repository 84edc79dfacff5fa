"""Contact as an action of a system; bundles of `kneewear.knees.tissue` are actions themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics.bodies import BodyForces, BodyPoses, body_number

Array = NDArray[np.float64]


class ContactLaw(Protocol):
    """Contact between two bodies, such as `kneewear.contact.pair.ContactModel`."""

    def evaluate(
        self, rotation: Array, translation: Array, velocity: Array | None = None
    ) -> ContactWrench:
        """Contact at a pose and velocity of the moving body in the frame of the other one."""


class ContactWrench(Protocol):
    """Wrench (6,) on the moving body about its origin, in the frame of the other, and derivatives.

    `stiffness` and `damping` (6, 6) are over its motion and over its velocity there.
    """

    @property
    def wrench(self) -> Array:
        """Force, N, and moment, N mm."""

    @property
    def stiffness(self) -> Array:
        """Derivative over translation, mm, and rotation, rad."""

    @property
    def damping(self) -> Array:
        """Derivative over velocity, mm/s, and angular velocity, rad/s."""


@dataclass(frozen=True)
class Contact:
    """Contact of a `moving` body with a `fixed` one, either of which may move in the ground.

    `law` is evaluated in the frame of `fixed`. `has_rate` states that it depends on velocity.
    """

    fixed: str
    moving: str
    law: ContactLaw
    has_rate: bool = False
    numbers: tuple[int, int] = (0, 1)

    def on(self, bodies: Sequence[str]) -> Contact:
        """The same contact for poses of these bodies."""
        what = f"contact of {self.moving} with {self.fixed}"
        one, other = (body_number(what, name, bodies) for name in (self.fixed, self.moving))
        return replace(self, numbers=(one, other))

    def add(self, poses: BodyPoses, total: BodyForces) -> Any:
        """Add the wrench on both bodies and its derivatives; returns the law's result."""
        a, b = self.numbers
        frame = poses.rotation[a]
        apart = poses.translation[b] - poses.translation[a]
        turn, place = frame.T @ poses.rotation[b], frame.T @ apart
        if not self.has_rate:
            found = self.law.evaluate(turn, place)
        else:
            spin = poses.velocity[a, 3:]
            drift = poses.velocity[b, :3] - poses.velocity[a, :3] - skew(spin) @ apart
            twist = poses.velocity[b, 3:] - spin
            velocity = np.concatenate([frame.T @ drift, frame.T @ twist])
            found = self.law.evaluate(turn, place, velocity)
        wrench, stiffness = np.asarray(found.wrench), np.asarray(found.stiffness)
        # A joint is stiff where it is closed, too.
        if not (wrench.any() or stiffness.any()):
            return found
        add_between(
            a,
            b,
            poses,
            np.concatenate([frame @ wrench[:3], frame @ wrench[3:]]),
            rotated(frame, stiffness),
            total,
            rotated(frame, found.damping) if self.has_rate else None,
        )
        energy = getattr(found, "energy", None)
        total.energy[0] += 0.0 if energy is None else energy
        return found


def rotated(rotation: Array, matrix: Array) -> Array:
    """A 6 x 6 matrix of two vectors each in other axes."""
    out = np.empty((6, 6))
    for i in (0, 3):
        for j in (0, 3):
            out[i : i + 3, j : j + 3] = rotation @ matrix[i : i + 3, j : j + 3] @ rotation.T
    return out


def skew(vector: Array) -> Array:
    """Matrix of the cross product with a vector from the left."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def add_between(
    a: int,
    b: int,
    poses: BodyPoses,
    wrench: Array,
    stiffness: Array,
    total: BodyForces,
    damping: Array | None = None,
) -> None:
    """Add a wrench of body a on body b that depends on their relative motion, and its reaction.

    `wrench` (6,) is that on b about the origin of b; `stiffness` and `damping` (6, 6) are its
    derivatives over motion and velocity of b relative to a; all are along the axes of the ground,
    at the current pose.

    Notes
    -----
    With d from the origin of a to that of b, the relative motion is t_b - t_a + d x s_a and
    s_b - s_a; in addition the wrench rotates along with a, and the lever of its reaction about the
    origin of a changes.
    """
    apart = poses.translation[b] - poses.translation[a]
    force, moment = wrench[:3], wrench[3:]
    across, lever = skew(force), skew(apart)
    # Relative motion from that of a; and the transfer of a wrench to the origin of a.
    to_a = -np.eye(6)
    to_a[:3, 3:] = lever
    move = np.eye(6)
    move[3:, :3] = lever
    over_b = stiffness.copy()
    over_a = stiffness @ to_a
    over_a[:3, 3:] -= across
    over_a[3:, 3:] -= skew(moment)
    if damping is not None:
        spin = poses.velocity[a, 3:]
        drift = poses.velocity[b, :3] - poses.velocity[a, :3] - skew(spin) @ apart
        # Velocity relative to a, over motions at constant velocities.
        rate = np.zeros((6, 6))
        rate[:3, :3] = -skew(spin)
        over_b += damping @ rate
        rate = -rate
        rate[:3, 3:] = skew(drift)
        rate[3:, 3:] = skew(poses.velocity[b, 3:] - spin)
        over_a += damping @ rate
        of_a, of_b = slice(6 * a, 6 * a + 6), slice(6 * b, 6 * b + 6)
        total.damping[of_b, of_b] += damping
        total.damping[of_b, of_a] += damping @ to_a
        total.damping[of_a, of_b] -= move @ damping
        total.damping[of_a, of_a] -= move @ damping @ to_a
    of_a, of_b = slice(6 * a, 6 * a + 6), slice(6 * b, 6 * b + 6)
    total.wrench[of_b] += wrench
    total.wrench[of_a] -= move @ wrench
    total.stiffness[of_b, of_b] += over_b
    total.stiffness[of_b, of_a] += over_a
    back_b, back_a = -move @ over_b, -move @ over_a
    back_b[3:, :3] += across
    back_a[3:, :3] -= across
    total.stiffness[of_a, of_b] += back_b
    total.stiffness[of_a, of_a] += back_a


class Driven(NamedTuple):
    """Unscaled result of an action, and the `factor` that scales it.

    `power`, N mm/s, is of the scaled forces on all bodies.
    """

    factor: float
    found: Any
    power: float


@dataclass(frozen=True)
class FlexionDriven:
    """The forces of an action, such as a muscle of 1 N, times a function of a body's flexion.

    `factor` (n,) belongs to `flexion` (n,), rad, ascending; it is linear between, and constant
    beyond. Flexion is the first turn of `FLEXION_FIRST`, -flexion about z of the ground. The forces
    have no potential, so that the stored energy is that of the other actions.
    """

    action: Any
    body: str
    flexion: ArrayLike
    factor: ArrayLike
    number: int = 1

    def on(self, bodies: Sequence[str]) -> FlexionDriven:
        """The same action for poses of these bodies."""
        number = body_number("flexion", self.body, bodies)
        return replace(self, action=self.action.on(bodies), number=number)

    def add(self, poses: BodyPoses, total: BodyForces) -> Driven:
        """Add the scaled forces and their derivatives, those over the flexion included."""
        own = BodyForces.zero(len(poses.rotation))
        found = self.action.add(poses, own)
        x, y, z = poses.rotation[self.number][:, 1]
        at, values = np.asarray(self.flexion), np.asarray(self.factor)
        flexion = float(np.arctan2(x, y))
        factor = float(np.interp(flexion, at, values))
        total.wrench[:] += factor * own.wrench
        total.stiffness[:] += factor * own.stiffness
        total.damping[:] += factor * own.damping
        if at[0] < flexion < at[-1]:
            after = int(np.searchsorted(at, flexion))
            slope = (values[after] - values[after - 1]) / (at[after] - at[after - 1])
            # Flexion over a small rotation of the body, whose second axis is (x, y, z).
            turn = np.array([z * x, z * y, -(x * x + y * y)]) / (x * x + y * y)
            own_turn = slice(6 * self.number + 3, 6 * self.number + 6)
            total.stiffness[:, own_turn] += slope * np.outer(own.wrench, turn)
        return Driven(factor, found, factor * float(own.wrench @ poses.velocity.ravel()))
