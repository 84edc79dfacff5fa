"""Static equilibrium of the femoral component for any free coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import coordinate_numbers
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rotations import body_three_123
from kneewear.mechanics.springs import Spring
from kneewear.motion.component import CONTACT, component_system, contacts_at, free_coordinates
from kneewear.motion.equilibrium import SystemEquilibrium, solve_system
from kneewear.motion.frame_equilibrium import Equilibrium
from kneewear.motion.system import System

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# A start that overlaps by more than this is lifted clear first, mm.
DEEPEST = 2.0


@dataclass(frozen=True)
class StaticEquilibrium(Equilibrium):
    """Equilibrium along any free coordinates, with the forces along all six.

    `reaction` (6,) holds the coordinates that are not free, N and N mm, and is the residual along
    free ones; `stiffness` (6, 6) is the derivative of the forces over the coordinates, N, mm and
    rad.
    """

    reaction: Array
    stiffness: Array


def solve_static(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    pose: tuple[ArrayLike, ArrayLike],
    free: Sequence[str],
    *,
    loads: Sequence[Load] = (),
    springs: Sequence[Spring] = (),
    previous: tuple[Array, float] | None = None,
    tolerance: float = 1e-8,
    frame: int = 0,
    case: str = "",
    model: ContactModel | None = None,
) -> StaticEquilibrium:
    """Find the pose at which contact, loads and springs balance along the free coordinates.

    `pose` is the start (translation, mm, and body-three 1-2-3 angles, rad), apart or overlapping;
    coordinates not in `free` (of `COORDINATES`) keep its values. `previous`, as of
    `solve_system`, adds friction and damping of the step that ends at the pose. `tolerance` is the
    largest residual; `frame` and `case` are named in messages. `model` is the contact of the pairs
    where many searches share it. ConvergenceError if no stable equilibrium is reached; ValueError
    if no coordinate is free or a name is unknown.

    Newton's method with the contact's own stiffness in a trust region. A step is accepted when the
    forces before and after it do work on it, so that, as for a body that sinks in a viscous fluid,
    only stable equilibria are found; forces need no potential. Apart from the fixed body the moving
    one follows the loads' force without rotation until they touch. A pose at which the force jumps
    (see `kneewear.mechanics.descent`) counts as found. Where nothing restores a free
    coordinate, add a weak spring.
    """
    chosen = coordinate_numbers(free)
    if chosen.size == 0:
        raise ValueError("solve_static needs at least one free coordinate")
    system = component_system(pairs, layers, loads, springs, model=model)
    start = np.concatenate([np.asarray(part, dtype=float) for part in pose])
    above = _clear(start, chosen, pairs, loads)
    solve = partial(
        solve_system,
        system,
        free=free_coordinates(free),
        previous=previous,
        tolerance=tolerance,
        frame=frame,
        what=f"Static equilibrium{f' of case {case}' if case else ''}",
    )
    deep = bool(pairs) and system.forces(start).parts[CONTACT]["max_penetration"].max() > DEEPEST
    try:
        found = solve(above if deep else start)
    except ConvergenceError:
        # The start may be on the wrong side.
        found = solve(above)
    return _at(system, found)


def hold_pose(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    pose: Array,
    loads: Sequence[Load] = (),
) -> StaticEquilibrium:
    """Forces where all six coordinates of a pose (6,) are held, as an equilibrium."""
    system = component_system(pairs, layers, loads)
    return _at(system, SystemEquilibrium(pose, system.forces(pose), 0.0, 1))


def _at(system: System, found: SystemEquilibrium) -> StaticEquilibrium:
    return StaticEquilibrium(
        translation=found.coordinates[:3].copy(),
        rotation=found.coordinates[3:].copy(),
        contacts=contacts_at(system, found.coordinates),
        residual=found.residual,
        iterations=found.evaluations,
        reaction=-found.forces.force,
        stiffness=found.forces.derivative,
    )


def _clear(
    pose: Array, free: Numbers, pairs: Sequence[ContactPair], loads: Sequence[Load]
) -> Array:
    """The pose moved against the loads to where the moving body just leaves the fixed one.

    Only free translations move; without one along the loads the pose is returned unchanged.
    """
    rotation = body_three_123(pose[3:])
    wrench = sum((load.wrench(pose[:3], rotation)[0] for load in loads), np.zeros(6))
    way = np.where(np.isin(np.arange(3), free), -wrench[:3], 0.0)
    if not (way.any() and pairs):
        return pose
    way /= np.linalg.norm(way)
    lowest = min(float((pair.control_points @ rotation.T @ way).min()) for pair in pairs)
    highest = max(float((pair.centre @ way).max()) for pair in pairs)
    moved = pose.copy()
    moved[:3] += (highest - lowest - pose[:3] @ way) * way
    return moved
