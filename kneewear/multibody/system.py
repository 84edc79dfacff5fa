"""A system of bodies: what it consists of, and the forces along its coordinates.

To add something that acts, write a class with `on` and `add`, as `Action` describes; to add a model
of a knee, compose a `System` of bodies and actions. Solvers need nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics.bodies import BodyForces, BodyPoses, body_number
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.multibody import _kernels

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
# Coordinate axis of each of the three turns of a body, and its sign.
Turns = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]

# R = Rx Ry Rz, body-three 1-2-3, as of `kneewear.mechanics.rotations.body_three_123`.
BODY_THREE: Turns = ((0, 1), (1, 1), (2, 1))
# R = Rz(-flexion) Rx(adduction) Ry(rotation), in which joints of knee models are often described;
# of a patella the turns are flexion, rotation and tilt.
FLEXION_FIRST: Turns = ((2, -1), (0, 1), (1, 1))
# Turns an angle into a length, mm: half a usual spacing of condyles.
LEVER = 23.0


@dataclass(frozen=True)
class Body:
    """A rigid body placed in the ground frame by three translations, mm, and three turns, rad.

    `turns` is their convention; `inertia` is needed in dynamics only.
    """

    name: str
    turns: Turns = BODY_THREE
    inertia: RigidBody | None = None


class Action(Protocol):
    """Anything that exerts forces on bodies: contact, bundles, loads."""

    def on(self, bodies: Sequence[str]) -> Action:
        """The same action for poses of these bodies; UnknownBodyError if it is on another one."""

    def add(self, poses: BodyPoses, total: BodyForces) -> Any:
        """Add forces, their derivatives and stored energy to a total; returns what was found."""


class SystemForces(NamedTuple):
    """Forces along the coordinates of all bodies.

    `force` (6 n,) holds N and N mm, `derivative` and `resistance` (6 n, 6 n) its derivatives over
    coordinates and rates, `energy` is stored, N mm; `scale` is the largest force of one action on
    one body, N, moments divided by 23 mm; `parts` is what each action found, by name.
    """

    force: Array
    derivative: Array
    resistance: Array
    energy: float
    scale: float
    parts: Mapping[str, Any]
    apart: bool = False

    def residual(self, free: Numbers) -> float:
        """Largest force along free coordinates relative to `scale`; N where nothing acts."""
        worst = float(np.max(np.abs(self.force / weights(self.force.size))[free]))
        return worst / self.scale if self.scale > 0.0 else worst


@dataclass(frozen=True)
class System:
    """Bodies that move in the frame of a ground body, and what acts on them.

    Parameters
    ----------
    ground : str
        Name of the body that does not move, such as the femur.
    bodies : tuple of Body
        The n bodies that move; 6 n coordinates, of which solvers take some as free.
    actions : mapping of str to Action
        What acts, by names that results have. A ValueError is raised if two bodies have one name,
        an UnknownBodyError if an action is on a body that the system does not have.
    """

    ground: str
    bodies: tuple[Body, ...]
    actions: Mapping[str, Action]

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names) or not self.bodies:
            raise ValueError(f"bodies {', '.join(self.names)}: expected two or more, all different")
        placed = {name: action.on(self.names) for name, action in self.actions.items()}
        object.__setattr__(self, "actions", placed)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all bodies, the ground first, in the order of poses."""
        return (self.ground, *(body.name for body in self.bodies))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return 6 * len(self.bodies)

    def coordinate(self, name: str) -> int:
        """Number of a coordinate such as `tibia.theta_1`; ValueError if there is none."""
        body, _, of = name.rpartition(".")
        number = body_number(f"coordinate {name}", body, self.names[1:])
        if of not in COORDINATES:
            raise ValueError(f"coordinate {name}: expected one of {', '.join(COORDINATES)}")
        return 6 * number + COORDINATES.index(of)

    def coordinates(self, *names: str) -> Numbers:
        """Numbers of coordinates in ascending order; a body's name alone is all six of it."""
        found = []
        for name in names:
            if name in self.names[1:]:
                first = 6 * (self.names.index(name) - 1)
                found += list(range(first, first + 6))
            else:
                found.append(self.coordinate(name))
        return np.array(sorted(set(found)), dtype=np.int64)

    @cached_property
    def _turns(self) -> tuple[Numbers, Array]:
        order = np.array([[axis for axis, _ in body.turns] for body in self.bodies], np.int64)
        sign = np.array([[sign for _, sign in body.turns] for body in self.bodies], float)
        return order, sign

    def poses(
        self, coordinates: ArrayLike, rates: ArrayLike | None = None, time: float = 0.0
    ) -> BodyPoses:
        """Poses of all bodies, the ground first, from coordinates (6 n,) and their rates."""
        return self.placed(coordinates, rates, time)[0]

    def placed(
        self, coordinates: ArrayLike, rates: ArrayLike | None = None, time: float = 0.0
    ) -> tuple[BodyPoses, Array]:
        """Poses of all bodies, and in columns the axes of their turns, shape (n + 1, 3, 3)."""
        count = len(self.bodies) + 1
        poses = BodyPoses(
            np.stack([np.eye(3)] * count), np.zeros((count, 3)), np.zeros((count, 6)), time
        )
        axes = np.zeros((count, 3, 3))
        q = np.ascontiguousarray(coordinates, dtype=float)
        v = np.zeros(self.size) if rates is None else np.ascontiguousarray(rates, dtype=float)
        _kernels.place_bodies(q, v, *self._turns, *poses[:3], axes)
        return poses, axes

    def forces(
        self, coordinates: ArrayLike, rates: ArrayLike | None = None, time: float = 0.0
    ) -> SystemForces:
        """Forces of all actions along the coordinates, and their derivatives."""
        poses, axes = self.placed(coordinates, rates, time)
        total, parts, scale = BodyForces.zero(len(self.names)), {}, 0.0
        before = total.wrench.copy()
        for name, action in self.actions.items():
            parts[name] = action.add(poses, total)
            added = (total.wrench - before).reshape(-1, 2, 3)
            before[:] = total.wrench
            scale = max(scale, float((np.abs(added).max(axis=(0, 2)) / (1.0, LEVER)).max()))
        force = np.empty(self.size)
        derivative, resistance = np.empty((2, self.size, self.size))
        v = np.zeros(self.size) if rates is None else np.ascontiguousarray(rates, dtype=float)
        _kernels.project(
            axes, total.wrench, total.stiffness, total.damping, v, force, derivative, resistance
        )
        return SystemForces(force, derivative, resistance, float(total.energy[0]), scale, parts)


def weights(size: int) -> Array:
    """What turns coordinates into lengths, mm: one for translations, 23 mm for turns."""
    return np.tile(np.repeat([1.0, LEVER], 3), size // 6)
