"""Coupling of rods and elastic bodies in a time step: Dirichlet-Neumann iteration on SE(3).

Unknowns are the poses of the rods' ends. Rods are stepped with prescribed ends, the bodies with the
forces and moments of the rods, and the poses move along geodesics of R^3 x SO(3) towards those of
the insertions (Sander et al. 2012, section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import ConvergenceError
from kneewear.knees.papers.fe_knee.insertions import Insertion
from kneewear.knees.papers.fe_knee.rod_step import Poses, RodStep, RodSystem, relative_turn
from kneewear.knees.papers.fe_knee.rods import RodState
from kneewear.knees.papers.rotation_vectors import cayley, exponential, logarithm, transposed

Array = NDArray[np.float64]
# From loads (n, 3), N, on the nodes of each body to their displacements (n, 3), mm, after the step.
Solve = Callable[[tuple[Array, ...]], tuple[Array, ...]]

# A motion in a step below this, mm, counts as none when corrections are related to it.
_MIN_MOTION = 1e-10


@dataclass(frozen=True)
class Answer:
    """Answer of bodies to forces of rods: poses of the insertions, and the motion in the step.

    `ends` has the poses of the insertions, shapes (rod, 2, 3) and (rod, 2, 3, 3); `motion` holds
    the displacements in the step of all points whose convergence matters, mm, in any shape.
    """

    ends: Poses
    motion: Array


class Bodies(Protocol):
    """Bodies in one time step."""

    def __call__(self, force: Array, moment: Array) -> Answer:
        """Answer to forces, N, and moments, N mm, of the rods' ends on the bodies, (rod, 2, 3)."""


@dataclass(frozen=True)
class Attachment:
    """Insertion of a rod's end into a body.

    `body` is the number of the body and `rotation` (3, 3) the rotation of the cross-section in the
    undeformed state.
    """

    body: int
    insertion: Insertion
    rotation: Array


@dataclass(frozen=True)
class AttachedBodies:
    """Elastic bodies with the insertions of rods, as `Bodies` of one time step.

    Parameters
    ----------
    attachments
        Insertions of start and end of each rod.
    displacements
        Displacements (n, 3), mm, of the nodes of each body at the start of the step.
    solve
        Step of the bodies: from nodal loads, N, of each body to its displacements after the step.
        It must start from the same state in each call.
    ends
        Poses of the rods' ends at the start of the step, if the coupling must conserve energy.

    Notes
    -----
    By default, the rotation of an insertion is that of its mean deformation gradient, as in the
    source. Its change is not adjoint to the tractions of a moment: what the moment does on the rod
    differs from what the tractions do on the body, so that the coupling loses or adds energy. If
    `ends` is given, insertions turn in the step by the least-squares rotation of the patch
    (`Insertion.mean_turn`, a Cayley vector), which is adjoint; both works are then the same, and
    rods and bodies together conserve energy.
    """

    attachments: Sequence[tuple[Attachment, Attachment]]
    displacements: tuple[Array, ...]
    solve: Solve
    ends: Poses | None = None

    def __call__(self, force: Array, moment: Array) -> Answer:
        """Answer of the bodies to forces and moments of the rods' ends."""
        displaced = self.solve(self.loads(force, moment))
        moves = [new - old for new, old in zip(displaced, self.displacements, strict=True)]
        ends = insertion_poses(self.attachments, displaced)
        if self.ends is not None:
            turns = [
                [one.insertion.mean_turn(moves[one.body]) for one in pair]
                for pair in self.attachments
            ]
            ends = Poses(ends.position, cayley(np.array(turns)) @ self.ends.rotation)
        return Answer(ends, np.concatenate([np.ravel(move) for move in moves]))

    def loads(self, force: Array, moment: Array) -> tuple[Array, ...]:
        """Nodal loads of each body, N, of forces and moments of the rods' ends."""
        loads = tuple(np.zeros_like(displacement) for displacement in self.displacements)
        for rod, pair in enumerate(self.attachments):
            for end, at in enumerate(pair):
                nodal = at.insertion.nodal_forces(force[rod, end], moment[rod, end])
                loads[at.body][at.insertion.numbers] += nodal
        return loads


def insertion_poses(
    attachments: Sequence[tuple[Attachment, Attachment]], displacements: Sequence[Array]
) -> Poses:
    """Poses of the rods' ends by the displacements (n, 3), mm, of the bodies' nodes."""
    position = [
        [one.insertion.mean_position(displacements[one.body]) for one in pair]
        for pair in attachments
    ]
    rotation = [
        [one.insertion.mean_rotation(displacements[one.body]) @ one.rotation for one in pair]
        for pair in attachments
    ]
    return Poses(np.array(position), np.array(rotation))


@dataclass(frozen=True)
class DirichletNeumann:
    """Settings of the iteration.

    `damping` is the share of each move towards the poses of the insertions; `tolerance` the largest
    relative correction of rods and bodies at which the iteration ends; `max_iterations` its limit.
    """

    damping: float = 0.6
    tolerance: float = 1e-4
    max_iterations: int = 100


@dataclass(frozen=True)
class CoupledStep:
    """Result of a coupled time step.

    `rods` are the rods after the step with forces on their ends, `answer` that of the bodies;
    `corrections` (iteration - 1, 2) the relative corrections of rods and bodies from the second
    iteration on; `gap`, mm, the largest distance between a rod's end and its insertion.
    """

    rods: RodStep
    answer: Answer
    corrections: Array
    gap: float

    @property
    def iterations(self) -> int:
        """Number of iterations, each one step of the rods and one of the bodies."""
        return len(self.corrections) + 1

    @property
    def rate(self) -> float:
        """Mean factor by which an iteration reduces the larger correction; NaN for a single one."""
        largest = np.max(self.corrections, axis=1)
        if len(largest) < 2 or largest[0] == 0.0:
            return float("nan")
        return float((largest[-1] / largest[0]) ** (1.0 / (len(largest) - 1)))


def coupled_step(
    system: RodSystem,
    state: RodState,
    tau: float,
    bodies: Bodies,
    start: Poses | None = None,
    settings: DirichletNeumann | None = None,
    scales: tuple[float, float] | None = None,
) -> CoupledStep:
    """Step of rods and bodies whose ends and insertions agree.

    Parameters
    ----------
    system, state, tau
        Rods, their state at the start of the step, and the time step, s.
    bodies
        Step of the bodies.
    start
        First poses of the ends; by default those of a motion with the velocities of `state`. From
        the poses of `state` themselves more iterations are needed.
    settings
        Damping and tolerance; by default 0.6 and 1e-4, as in the source.
    scales
        Lengths, mm, to which the corrections of rods and bodies are related; by default the largest
        motion of each in the step.

    Raises
    ------
    ConvergenceError
        If the corrections are not below the tolerance after the most iterations. A rod that is
        stiff beside its body needs a smaller damping.

    Notes
    -----
    The correction of iteration k is the largest absolute component of x_k - x_(k-1), divided by
    that of x_k, where x is the motion in the step: for bodies the displacements of all nodes; for
    rods the displacements of all nodes and their turns (Cayley vectors) times the radius of the
    cross-section. Both must be below the tolerance, thus there are at least two iterations. The
    source does not state to what it relates corrections; related to displacements since the start,
    or to coordinates, fewer iterations are needed the longer a motion lasts.

    The error of the poses is multiplied by |1 - damping (1 + k)| in each iteration, with the ratio
    k of the dynamic stiffness of a rod's end to that of the body there; thus by about 0.4 with a
    damping of 0.6 and soft rods, for which a damping near 1 is faster.
    """
    settings = settings or DirichletNeumann()
    ends = system.coasting_ends(state, tau) if start is None else start
    corrections: list[list[float]] = []
    before: tuple[Array, Array] | None = None
    for _ in range(settings.max_iterations):
        rods = system.step(state, tau, ends)
        answer = bodies(-rods.force, -rods.moment)
        motion = _motion(system, state, rods.state), answer.motion
        if before is not None:
            pairs = zip(motion, before, scales or (None, None), strict=True)
            corrections.append([_correction(*pair) for pair in pairs])
            if max(corrections[-1]) < settings.tolerance:
                gap = np.max(np.linalg.norm(answer.ends.position - ends.position, axis=-1))
                return CoupledStep(rods, answer, np.array(corrections), float(gap))
        before = motion
        ends = geodesic(ends, answer.ends, settings.damping)
    raise ConvergenceError(
        "Dirichlet-Neumann iteration of rods and bodies",
        0,
        max(corrections[-1]) if corrections else np.inf,
        "of the motion in the step",
        "Use a smaller damping or a shorter step.",
    )


def geodesic(start: Poses, end: Poses, share: float) -> Poses:
    """Poses at a share of the geodesics of R^3 x SO(3) between two sets of poses."""
    turn = logarithm(transposed(start.rotation) @ end.rotation)
    return Poses(
        start.position + share * (end.position - start.position),
        start.rotation @ exponential(share * turn),
    )


def _motion(system: RodSystem, old: RodState, new: RodState) -> Array:
    """Displacements of nodes, mm, and turns times radius, mm, (rod, node, 6)."""
    radius = np.array([material.radius for material in system.materials])[:, None, None]
    turn = relative_turn(Poses(old.position, old.rotation), Poses(new.position, new.rotation))
    return np.concatenate([new.position - old.position, radius * turn], axis=-1)


def _correction(now: Array, before: Array, scale: float | None) -> float:
    """Largest change of a component, divided by the scale or else by the largest component."""
    size = float(np.max(np.abs(now))) if scale is None else scale
    return float(np.max(np.abs(now - before))) / max(size, _MIN_MOTION)
