"""A system of bodies: what it consists of, and the forces along its coordinates.

To add something that acts, write a class with `on` and `add`, as `Action` describes; to add a model
of a knee, compose a `System` of bodies and actions. Solvers need nothing else. In wear studies the
femoral component is the one body, and the insert the ground.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact._force_kernels import RESULT
from kneewear.contact.pair import ContactModel, empty_model
from kneewear.mechanics.bodies import BodyForces, BodyPoses, body_number
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH, COORDINATES, weights
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.mechanics.springs import Spring, spring_arrays
from kneewear.motion import _kernels
from kneewear.motion.actions import Contact

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
# Coordinate axis of each of the three turns of a body, and its sign.
Turns = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]

# R = Rx Ry Rz, body-three 1-2-3, as of `kneewear.mechanics.rotations.body_three_123`.
BODY_THREE: Turns = ((0, 1), (1, 1), (2, 1))
# R = Rz(-flexion) Rx(adduction) Ry(rotation), in which joints of knee models are often described;
# of a patella the turns are flexion, rotation and tilt.
FLEXION_FIRST: Turns = ((2, -1), (0, 1), (1, 1))


@dataclass(frozen=True)
class Body:
    """A rigid body placed in the ground frame by three translations, mm, and three turns, rad.

    `turns` is their convention; `inertia` is needed in dynamics only.
    """

    name: str
    turns: Turns = BODY_THREE
    inertia: RigidBody | None = None


class Action(Protocol):
    """Anything that exerts forces on bodies, such as contact and bundles."""

    def on(self, bodies: Sequence[str]) -> Action:
        """The same action for poses of these bodies; UnknownBodyError if it is on another one."""

    def add(self, poses: BodyPoses, total: BodyForces) -> Any:
        """Add forces, their derivatives and stored energy to a total; returns what was found."""


class SystemForces(NamedTuple):
    """Forces along the coordinates of all bodies.

    `force` (6 n,) holds N and N mm, `derivative` and `resistance` (6 n, 6 n) its derivatives over
    coordinates and rates, `energy` is stored, N mm; `scale` is the largest force of one action on
    one body, N, moments divided by 23 mm; `parts` is what each action found, by name: of contact
    over elements the numbers of each pair, of a load its wrench (6,) about the body's origin, of a
    spring its force without damping. `apart` states that nothing touches the ground, though
    something could.
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
        worst = float(np.max(np.abs(self.force / weights(self.force.size // 6))[free]))
        return worst / self.scale if self.scale > 0.0 else worst


@dataclass(frozen=True)
class System:
    """Bodies that move in the frame of a ground body, and what acts on them.

    Compiled together are loads, springs and the first contact of a body with the ground
    over elements (`ContactModel`); other actions are called one by one. A system works in arrays of
    its own: one thread at a time may use it.

    Parameters
    ----------
    ground : str
        Name of the body that does not move, such as the femur.
    bodies : tuple of Body
        The n bodies that move; 6 n coordinates, of which solvers take some as free.
    actions : mapping of str to Action, Load or Spring
        What acts, by names that results have. A ValueError is raised if two bodies have one name,
        an UnknownBodyError if an action is on a body that the system does not have.
    """

    ground: str
    bodies: tuple[Body, ...]
    actions: Mapping[str, Action | Load | Spring]

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names) or not self.bodies:
            raise ValueError(f"bodies {', '.join(self.names)}: expected two or more, all different")
        placed = {
            name: action if isinstance(action, Load | Spring) else action.on(self.names)
            for name, action in self.actions.items()
        }
        object.__setattr__(self, "actions", placed)
        _ = self.arrays  # bodies of loads and springs are checked here

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all bodies, the ground first, in the order of poses."""
        return (self.ground, *(body.name for body in self.bodies))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return 6 * len(self.bodies)

    def at(self, frame: int) -> System:
        """The system with the steady loads of one frame."""
        if not any(load.varies for load in self.loads.values()):
            return self
        steady = {name: load.at(frame) for name, load in self.loads.items()}
        return replace(self, actions={**self.actions, **steady})

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
    def contact(self) -> tuple[str, ContactModel] | None:
        """Name and model of the contact that kernels evaluate."""
        for name, action in self.actions.items():
            if (
                isinstance(action, Contact)
                and action.fixed == self.ground
                and isinstance(action.law, ContactModel)
            ):
                return name, action.law
        return None

    @cached_property
    def loads(self) -> dict[str, Load]:
        """Loads by name."""
        return {name: one for name, one in self.actions.items() if isinstance(one, Load)}

    @cached_property
    def called(self) -> dict[str, Action]:
        """Actions that kernels do not add, by name."""
        own = self.contact[0] if self.contact else ""
        return {
            name: action
            for name, action in self.actions.items()
            if name != own and not isinstance(action, Load | Spring)
        }

    @cached_property
    def is_compiled(self) -> bool:
        """True if kernels add everything, at any time."""
        return not self.called and not any(callable(load.force) for load in self.loads.values())

    @cached_property
    def arrays(self) -> _kernels.SystemArrays:
        """Arrays of the system for kernels, and their work space."""
        turns = np.array([body.turns for body in self.bodies])
        inertia = [body.inertia.arrays if body.inertia else None for body in self.bodies]
        springs = {name: one for name, one in self.actions.items() if isinstance(one, Spring)}
        touching: Any = self.actions[self.contact[0]] if self.contact else None
        n, m, loads = len(self.bodies), len(self.loads), self.loads.values()
        return _kernels.SystemArrays(
            order=np.array(turns[..., 0], dtype=np.int64),
            sign=np.array(turns[..., 1], dtype=float),
            mass=np.array([one.mass if one else 0.0 for one in inertia]),
            inertia=np.array([one.inertia if one else np.zeros((3, 3)) for one in inertia]),
            centre=np.array([one.centre if one else np.zeros(3) for one in inertia]),
            contact_body=self.names.index(touching.moving) if touching else 1,
            has_rate=bool(touching and touching.has_rate),
            load_body=np.array(
                [
                    body_number(f"load {name}", load.body, self.names)
                    for name, load in self.loads.items()
                ],
                dtype=np.int64,
            ),
            follows=np.array([load.frame == "moving" for load in loads], dtype=bool),
            carried=np.array([load.point_frame == "moving" for load in loads], dtype=bool),
            loads=np.zeros(9 * m),
            springs=spring_arrays(list(springs.values()), self.names[1:]),
            rotation=np.stack([np.eye(3)] * (n + 1)),
            translation=np.zeros((n + 1, 3)),
            velocity=np.zeros((n + 1, 6)),
            axes=np.zeros((n + 1, 3, 3)),
            wrench=np.zeros(6 * n + 6),
            energy=np.zeros(1),
            scale=np.zeros(1),
            contact=np.zeros(len(self.contact[1].work) if self.contact else 0, dtype=RESULT),
            applied=np.zeros((m, 6)),
            pulls=np.zeros(len(springs)),
            **{name: np.zeros((6 * n + 6, 6 * n + 6)) for name in ("stiffness", "damping")},
            **{name: np.zeros((6 * n, 6 * n)) for name in ("derivative", "resistance", "masses")},
            **{
                name: np.zeros(6 * n)
                for name in ("coordinates", "rates", "accelerations", "force", "bias", "reaction")
            },
        )

    @cached_property
    def steady_loads(self) -> Array:
        """Force, moment and point of each load (9 m,), of functions of time at a time of zero.

        ValueError if one is given over the frames of a cycle.
        """
        for name, load in self.loads.items():
            if load.varies:
                raise ValueError(f"load {name} is given over frames; expected one of `Load.at`")
        return np.concatenate([load.time_history(1)[0] for load in self.loads.values()] or [[]])

    @cached_property
    def record(self) -> Any:
        """The system as kernels take it."""
        model = self.contact[1].record if self.contact else empty_model()
        return _kernels.build_record(model, self.arrays)

    def poses(
        self, coordinates: ArrayLike, rates: ArrayLike | None = None, time: float = 0.0
    ) -> BodyPoses:
        """Poses of all bodies, the ground first, from coordinates (6 n,) and their rates."""
        s, count = self.arrays, len(self.bodies) + 1
        turns = np.stack([np.eye(3)] * count)
        poses = BodyPoses(turns, np.zeros((count, 3)), np.zeros((count, 6)), time)
        q = np.array(coordinates, dtype=float)
        v = np.zeros(self.size) if rates is None else np.array(rates, dtype=float)
        _kernels.place_bodies(q, v, s.order, s.sign, *poses[:3], np.empty((count, 3, 3)))
        return poses

    def forces(
        self, coordinates: ArrayLike, rates: ArrayLike | None = None, time: float = 0.0
    ) -> SystemForces:
        """Forces of all actions along the coordinates, and their derivatives.

        ValueError if a load is given over the frames of a cycle.
        """
        self._set(coordinates, rates)
        self.arrays.loads[:] = self.steady_loads
        return self.found(self.act(time))

    def act(self, time: float) -> dict[str, Any]:
        """Place the bodies at the coordinates and rates in `arrays`, and find all forces.

        Returns what each action found that is not compiled, by name.
        """
        _kernels.place(self.record)
        s, found = self.arrays, {}
        if not self.is_compiled:
            for number, load in enumerate(self.loads.values()):
                if callable(load.force):
                    s.loads[9 * number : 9 * number + 9] = load.time_history(1, time)[0]
            poses = BodyPoses(s.rotation, s.translation, s.velocity, time)
            total = BodyForces(s.wrench, s.stiffness, s.damping, s.energy)
            before = s.wrench.copy()
            for name, action in self.called.items():
                found[name] = action.add(poses, total)
                added = np.abs(s.wrench - before).reshape(-1, 2, 3).max(axis=(0, 2))
                before[:] = s.wrench
                s.scale[0] = max(s.scale[0], added[0], added[1] / CHARACTERISTIC_LENGTH)
        _kernels.find_forces(self.record, bool(self.called))
        return found

    def found(self, parts: Mapping[str, Any]) -> SystemForces:
        """The forces in `arrays`, with the parts of actions that are not compiled."""
        s, own = self.arrays, dict(parts)
        own |= dict(zip(self.loads, s.applied.copy(), strict=True))
        springs = [name for name, one in self.actions.items() if isinstance(one, Spring)]
        own |= dict(zip(springs, s.pulls.tolist(), strict=True))
        if self.contact:
            own[self.contact[0]] = s.contact.copy()
        return SystemForces(
            s.force.copy(),
            s.derivative.copy(),
            s.resistance.copy(),
            float(s.energy[0]),
            float(s.scale[0]),
            own,
            apart=self.contact is not None and not s.contact["max_penetration"].any(),
        )

    def _set(self, coordinates: ArrayLike, rates: ArrayLike | None) -> None:
        self.arrays.coordinates[:] = np.asarray(coordinates, dtype=float)
        self.arrays.rates[:] = 0.0 if rates is None else np.asarray(rates, dtype=float)
