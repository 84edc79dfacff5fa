"""Forces along the six coordinates of the moving body at a pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.contact._force_kernels import RESULT
from kneewear.contact.foundation import Layer
from kneewear.contact.pair import ContactModel, ContactPair, empty_model
from kneewear.contact.resultant import Resultant
from kneewear.mechanics._kernels import orient
from kneewear.mechanics.loads import Load, Spring, spring_arrays, spring_forces
from kneewear.mechanics.rotations import body_three_123
from kneewear.simulation import _kernels
from kneewear.simulation._equilibrium_kernels import LEVER

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Weighs angles against lengths in steps and residuals; the poses found do not depend on it.
WEIGHT = np.array([1.0, 1.0, 1.0, LEVER, LEVER, LEVER])
# What messages suggest when no solution is found.
REMEDY = (
    "Check that loads, start pose and free coordinates belong together; a weak spring settles a "
    "coordinate that nothing restores."
)


def contact_model(pairs: Sequence[ContactPair], layers: Sequence[Layer]) -> ContactModel:
    """Contact of pairs without names; results are in the order of the pairs."""
    return ContactModel(
        {str(number): pair for number, pair in enumerate(pairs)},
        {str(number): layer for number, layer in enumerate(layers)},
    )


@dataclass(frozen=True)
class Forces:
    """Forces along the six coordinates at one pose.

    `force` (6,) is the sum of contact, loads and springs, N and N mm, and `derivative` (6, 6) its
    derivative over the coordinates; `scale` the largest single force among what acts, N, moments
    divided by the lever; `depth` the largest penetration, mm, zero where nothing touches.
    """

    force: Array
    derivative: Array
    scale: float
    depth: float

    @property
    def apart(self) -> bool:
        """Whether nothing touches."""
        return self.depth == 0.0

    def residual(self, free: Numbers) -> float:
        """Largest force along free coordinates relative to `scale`; N where nothing acts."""
        worst = float(np.max(np.abs(self.force / WEIGHT)[free]))
        return worst / self.scale if self.scale > 0.0 else worst


class Balance:
    """Contact pairs with their layers, loads and springs, for evaluation at many poses.

    There may be no pair; ValueError if there are not as many layers. Over a cycle the time history
    of the loads is given to kernels with `arrays`. `previous` is the pose (6,) a step started from
    and its duration, s: bodies then move there at constant rates, against friction and damping;
    without it they are at rest.
    """

    def __init__(
        self,
        pairs: Sequence[ContactPair],
        layers: Sequence[Layer],
        loads: Sequence[Load] = (),
        springs: Sequence[Spring] = (),
        previous: tuple[Array, float] | None = None,
    ) -> None:
        self.previous = previous
        self.pairs, self.loads, self.springs = tuple(pairs), tuple(loads), tuple(springs)
        self.model = contact_model(pairs, layers) if pairs or layers else None
        self.record = empty_model() if self.model is None else self.model.record
        self.arrays = _kernels.ActionArrays(
            has_friction=any(pair.has_friction for pair in self.pairs),
            follows=np.array([load.frame == "moving" for load in loads], dtype=bool),
            carried=np.array([load.point_frame == "moving" for load in loads], dtype=bool),
            springs=spring_arrays(springs),
            damping=np.zeros((6, 6)),
        )
        self.found = _kernels.Forces(
            force=np.zeros(6),
            derivative=np.zeros((6, 6)),
            resistance=np.zeros((6, 6)),
            contact=np.zeros(len(self.pairs), dtype=RESULT),
            applied=np.zeros(6),
        )

    def forces(self, pose: Array) -> Forces:
        """Forces at a pose (6) under steady loads, at rest or at the end of a step."""
        found, rates = self.found, np.zeros(6)
        if self.previous is not None:
            start, duration = self.previous
            rates = (pose - start) / duration
        rotation, axes = np.empty((3, 3)), np.empty((3, 3))
        orient(pose[3:], rotation, axes)
        loads = np.concatenate([load.time_history(1)[0] for load in self.loads] or [np.zeros(0)])
        _kernels.balance(self.record, self.arrays, loads, pose, rates, rotation, axes, found)
        derivative = found.derivative.copy()
        if self.previous is not None:
            derivative += found.resistance / self.previous[1]
        pulls, _ = spring_forces(self.springs, pose)
        sizes = [_size(wrench) for wrench in (*found.contact["wrench"], found.applied)]
        return Forces(
            force=found.force.copy(),
            derivative=derivative,
            scale=max(*sizes, float(np.max(np.abs(pulls / WEIGHT)))),
            depth=float(found.contact["max_penetration"].max(initial=0.0)),
        )

    def contacts(self, pose: Array) -> tuple[Resultant, ...]:
        """Contact of each pair at a pose (6)."""
        if self.model is None:
            return ()
        return tuple(self.model.evaluate(body_three_123(pose[3:]), pose[:3]).values())

    def lifted(self, pose: Array, free: Numbers, deepest: float) -> Array:
        """The pose, or `clear` of the fixed body where it penetrates by more than `deepest`, mm."""
        if self.forces(pose).depth <= deepest:
            return pose
        return self.clear(pose, free)

    def clear(self, pose: Array, free: Numbers) -> Array:
        """The pose moved against the loads to where the moving body just leaves the fixed one.

        Only free translations move; without one along the loads the pose is returned unchanged.
        """
        rotation = body_three_123(pose[3:])
        wrench = sum((load.wrench(pose[:3], rotation)[0] for load in self.loads), np.zeros(6))
        way = np.where(np.isin(np.arange(3), free), -wrench[:3], 0.0)
        if not (way.any() and self.pairs):
            return pose
        way /= np.linalg.norm(way)
        lowest = min(float((pair.control_points @ rotation.T @ way).min()) for pair in self.pairs)
        highest = max(float((pair.centre @ way).max()) for pair in self.pairs)
        moved = pose.copy()
        moved[:3] += (highest - lowest - pose[:3] @ way) * way
        return moved


def _size(wrench: Array) -> float:
    """Force, or moment over the lever, whichever is larger, N."""
    return max(float(np.linalg.norm(wrench[:3])), float(np.linalg.norm(wrench[3:6])) / LEVER)
