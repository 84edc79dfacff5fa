"""Contact-stabilised Newmark steps of elastic bodies in contact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import spsolve

from kneewear.knees.papers.fe_knee.bounded import (
    ROUNDING,
    Discretisation,
    Solution,
    Solver,
    settled,
)
from kneewear.knees.papers.fe_knee.constraints import HalfSpace, constrained, tied
from kneewear.knees.papers.fe_knee.elasticity import KelvinVoigt, assembled
from kneewear.knees.papers.fe_knee.mortar import Mortar, mortar
from kneewear.knees.papers.fe_knee.volume_mesh import Hierarchy, columns

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ElasticBody:
    """An elastic body: meshes from coarse to fine, materials, and the patch that is fixed, if any.

    Patches are those of the meshes, by name.
    """

    name: str
    meshes: Hierarchy
    bone: KelvinVoigt
    cartilage: KelvinVoigt | None = None
    fixed: str | None = None


@dataclass(frozen=True)
class BodyPair:
    """Contact of two patches, each named by body and patch; constraints are on the non-mortar one.

    Triangles at most `reach` apart along the normal are coupled, mm.
    """

    nonmortar: tuple[str, str]
    mortar: tuple[str, str]
    reach: float


@dataclass(frozen=True)
class RigidObstacle:
    """A rigid half-space that the nodes of one patch of a body, or of `more`, must not enter."""

    patch: tuple[str, str]
    half_space: HalfSpace
    more: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PrescribedMotion:
    """Nodes of the finest mesh of a body with a given displacement (2a), mm, shape (3,).

    It grows evenly within the time `ramp`, s, and stays then.
    """

    body: str
    nodes: Numbers
    displacement: Array
    ramp: float = 0.0

    def at(self, time: float) -> Array:
        """Displacement (3,), mm, at a time after the start, s."""
        return self.displacement * (min(time / self.ramp, 1.0) if self.ramp > 0.0 else 1.0)


@dataclass(frozen=True)
class State:
    """Displacement, mm, and velocity, mm/s, of all nodes, shape (n, 3), after some steps."""

    displacement: Array
    velocity: Array
    steps: int = 0


@dataclass(frozen=True)
class Energy:
    """Kinetic, elastic and gravitational energy of a state, N mm."""

    kinetic: float
    elastic: float
    gravitational: float

    @property
    def total(self) -> float:
        """Sum of the three, N mm."""
        return self.kinetic + self.elastic + self.gravitational


@dataclass(frozen=True)
class Losses:
    """Work done and energy dissipated during one step, N mm.

    The balance is exact except for the residual of the solver: the total energy changes by
    work + prescribed - viscous - contact - stabilisation, and none of the last three is negative.

    Parameters
    ----------
    work : float
        Of the external nodal forces, without gravity.
    viscous : float
        tau b(v, v) with the mean velocity of the step.
    contact : float
        Of contact forces at nodes that were apart at the start of the step.
    stabilisation : float
        Kinetic energy that the projection of the predictor removes.
    prescribed : float
        Work of the reactions at prescribed displacements.
    """

    work: float
    viscous: float
    contact: float
    stabilisation: float
    prescribed: float = 0.0


@dataclass(frozen=True)
class Prediction:
    """Projected predictor (15a): displacement (n, 3), mm, and impulses (k,) of the projection, N s.

    It does not depend on the external forces, so that the iterations of a coupling share it.
    """

    displacement: Array
    impulses: Array


@dataclass(frozen=True)
class Step:
    """Result of a time step.

    Parameters
    ----------
    state : State
        At the end of the step.
    forces : array, shape (k,)
        Contact force of every condition, N, along its normal; at least zero.
    active : array of bool, shape (k,)
        Conditions that are met with equality at the end of the step.
    impulses : array, shape (k,)
        Impulses of the stabilisation, N s; the whole impulse of contact in the step is
        time_step * forces + impulses.
    energy : Energy
        At the end of the step.
    losses : Losses
        During the step.
    solution : Solution
        Record of the solver; `solution.x` is the increment in the transformed basis, without that
        of prescribed nodes.
    reactions : array, shape (p, 3)
        Mean force in the step on the nodes of each prescribed motion, N, with what accelerates
        them: momentum changes by time_step * (reactions + other forces).
    """

    state: State
    forces: Array
    active: Mask
    impulses: Array
    energy: Energy
    losses: Losses
    solution: Solution
    reactions: Array


class ContactProblem:
    """Elastic bodies that move, and touch each other and rigid obstacles without friction.

    Parameters
    ----------
    bodies : sequence of ElasticBody
        With equal numbers of levels.
    time_step : float
        tau, s.
    solver : callable
        `TruncatedNewton` or `DirectActiveSet`, see `Solver`.
    pairs : sequence of BodyPair, optional
    obstacles : sequence of RigidObstacle, optional
    gravity : array, shape (3,), optional
        Acceleration, mm/s2.
    loads : mapping of str to array, shape (m, 3), optional
        Constant forces at all nodes of a body, N.
    ties : sequence of BodyPair, optional
        Patches that are joined; nodes of the non-mortar one follow the mortar one.
    prescribed : sequence of PrescribedMotion, optional

    Attributes
    ----------
    positions : array, shape (n, 3)
        Reference positions of the nodes of all bodies, mm.
    parts : dict of str to slice
        Nodes of each body in arrays over all nodes.
    mass : array, shape (n,)
        Lumped mass, t; tied nodes have theirs at the nodes that they follow.
    fixed : array of bool, shape (n,)
        Nodes whose displacement is given.
    ties : list of Tie
    motions : list of (PrescribedMotion, array of int)
        Prescribed motions and the numbers of their nodes in all bodies.
    dead_load : array, shape (n, 3)
        Weight and constant forces, N; `Energy.gravitational` is the potential of both.
    constraints : Constraints
        Contact conditions; group i is pair i, then follow the obstacles.

    Notes
    -----
    Equations (15) of Sander et al. (2012), with the density that is missing there: mass-weighted
    projection of the predictor on the admissible displacements, and

        2/tau^2 M (u' - u_pred) + A (u + u')/2 + B (u' - u)/tau + N^T lambda = f,

    solved as a bounded minimisation over the increment u' - u. This is the minimiser of
    (16)-(17) with the viscous term tau/2 b(v - u, v - u) and tau^2 f((u + v)/2), both
    misprinted there. Mass is lumped in both steps: with the same mass in both, the energy
    balance of `Losses` is an identity. Small strains and rotations, frozen contact mapping and
    normals. Ties are mortar conditions with equality: relative displacements of tied nodes, which
    are their components in the transformed basis, are zero.
    """

    def __init__(
        self,
        bodies: Sequence[ElasticBody],
        time_step: float,
        solver: Callable[[Discretisation], Solver],
        pairs: Sequence[BodyPair] = (),
        obstacles: Sequence[RigidObstacle] = (),
        gravity: Array | None = None,
        loads: Mapping[str, Array] | None = None,
        ties: Sequence[BodyPair] = (),
        prescribed: Sequence[PrescribedMotion] = (),
    ) -> None:
        self.bodies = {body.name: body for body in bodies}
        self.time_step = time_step
        meshes = [body.meshes.finest for body in bodies]
        starts = np.cumsum([0] + [len(mesh.nodes) for mesh in meshes])
        self.parts = {
            body.name: slice(int(a), int(b))
            for body, (a, b) in zip(bodies, pairwise(starts), strict=True)
        }
        self.positions = np.concatenate([mesh.nodes for mesh in meshes])
        matrices = [assembled(body.meshes.finest, body.bone, body.cartilage) for body in bodies]
        self.mass = np.concatenate([part.mass for part in matrices])
        self.ties = [tied(self.positions, self._mortar(pair)) for pair in ties]
        for tie in self.ties:
            self.mass += tie.mean.T @ self.mass[tie.nodes]
            self.mass[tie.nodes] = 0.0
        self._stiffness = _block_diagonal([part.stiffness for part in matrices])
        self._viscosity = _block_diagonal([part.viscosity for part in matrices])
        self.dead_load = self.mass[:, None] * (np.zeros(3) if gravity is None else gravity)
        for name, forces in (loads or {}).items():
            self.dead_load[self.parts[name]] += forces
        self.fixed = np.zeros(len(self.positions), dtype=bool)
        for body in bodies:
            if body.fixed is not None:
                self.fixed[self.triangles(body.name, body.fixed).ravel()] = True
        self.motions = [
            (one, self.parts[one.body].start + np.unique(one.nodes)) for one in prescribed
        ]
        for one, nodes in self.motions:
            if np.any(self.fixed[nodes]):
                raise ValueError(f"a prescribed motion of {one.body} at nodes that have another")
            self.fixed[nodes] = True
        # Zero in the transformed basis.
        self._still = self.fixed.copy()
        for tie in self.ties:
            if np.any(self.fixed[tie.nodes]):
                raise ValueError("tied nodes have a prescribed motion")
            self._still[tie.nodes] = True
        if np.all(self._still) or np.any(self.mass[~self._still] <= 0.0):
            raise ValueError("no node is free, or one without mass")
        self.constraints = constrained(
            len(self.positions),
            [self._mortar(pair) for pair in pairs],
            [self._obstacle(obstacle) for obstacle in obstacles],
            np.flatnonzero(self._still),
            self.ties,
        )
        self._solver = solver(self._discretisation())

    def triangles(self, body: str, patch: str) -> Numbers:
        """Triangles (t, 3) of a patch as numbers of nodes of all bodies."""
        patches = self.bodies[body].meshes.finest.patches
        if patch not in patches:
            raise ValueError(f"body {body} has no patch {patch}; it has {', '.join(patches)}")
        return patches[patch] + self.parts[body].start

    def at_rest(self, velocity: Array | Sequence[float] = (0.0, 0.0, 0.0)) -> State:
        """State without displacement, with a velocity (3,) or (n, 3), mm/s; zero at fixed nodes."""
        speed = np.broadcast_to(np.asarray(velocity, dtype=float), self.positions.shape).copy()
        speed[self.fixed] = 0.0
        return State(np.zeros(self.positions.shape), self._following(speed))

    def step(self, state: State, load: Array | None = None, guess: Step | None = None) -> Step:
        """State after one time step under external nodal forces (n, 3), N."""
        return self.correct(state, self.predict(state), load, guess)

    def predict(self, state: State) -> Prediction:
        """Mass-weighted projection of u + tau v on the admissible displacements (15a)."""
        free = state.displacement + self.time_step * state.velocity
        for one, nodes in self.motions:
            free[nodes] = one.at(self.time_step * (state.steps + 1))
        conditions = self.constraints.matrix
        excess = conditions @ free.ravel() - self.constraints.gaps
        if not np.any(excess > 0.0):
            return Prediction(self._following(free), np.zeros(excess.size))
        multiplier = _projected(self._response, excess)
        moved = self._mobility * (conditions.T @ multiplier).reshape(-1, 3)
        return Prediction(self._following(free - moved), multiplier / self.time_step)

    def correct(
        self,
        state: State,
        prediction: Prediction,
        load: Array | None = None,
        guess: Step | None = None,
    ) -> Step:
        """Corrector (15b) and velocities for a prediction and external nodal forces (n, 3), N.

        `guess` is a step from the same state, such as the last iteration of a coupling.
        """
        tau, start = self.time_step, state.displacement
        external = np.zeros(start.shape) if load is None else load
        predicted = prediction.displacement - start
        right = 2.0 / tau**2 * self.mass[:, None] * predicted + external + self.dead_load
        right = right - self._elastic(start)
        bound = self.constraints.bounds(start)
        x = self._to_basis(predicted) if guess is None else guess.solution.x.copy()
        x[:, 0] = np.minimum(x[:, 0], bound)
        x[self._still] = 0.0
        given = np.zeros(start.shape)
        forward, transposed = self.constraints.forward, self.constraints.forward.T
        rest = right
        if self.motions:
            for _, nodes in self.motions:
                given[nodes] = predicted[nodes]
            rest = right - (self._matrix @ (forward @ given.ravel())).reshape(-1, 3)
        solution = self._solver((transposed @ rest.ravel()).reshape(-1, 3), bound, x)
        increment = (forward @ (solution.x + given).ravel()).reshape(-1, 3)
        velocity = (2.0 * increment - predicted) / tau
        end = State(start + increment, velocity, state.steps + 1)
        residual = right - (self._matrix @ increment.ravel()).reshape(-1, 3)
        nodes = self.constraints.nodes
        residual = (transposed @ residual.ravel()).reshape(-1, 3)
        forces = residual[nodes, 0]
        active = solution.active[nodes]
        forces = np.where(active, np.maximum(forces, 0.0), 0.0)
        return Step(
            end,
            forces,
            active,
            prediction.impulses,
            self.energy(end),
            self._losses(state, predicted, increment, external, forces, residual),
            solution,
            self._reactions(velocity - state.velocity, residual),
        )

    def energy(self, state: State) -> Energy:
        """Energy of a state; gravitational energy is zero at zero displacement."""
        u = state.displacement
        return Energy(
            0.5 * float(self.mass @ np.einsum("nc,nc->n", state.velocity, state.velocity)),
            0.5 * float(np.sum(u * self._elastic(u))),
            -float(np.sum(self.dead_load * u)),
        )

    def resultants(self, values: Array) -> Array:
        """Sum of forces or impulses (k,) of conditions per pair and obstacle, in space; (g, 3).

        The force on the body of the non-mortar patch, or of the patch at the obstacle.
        """
        count = int(self.constraints.group.max(initial=-1)) + 1
        vectors = -values[:, None] * self.constraints.directions
        return np.stack(
            [np.bincount(self.constraints.group, part, minlength=count) for part in vectors.T],
            axis=1,
        )

    def nodal_forces(self, values: Array) -> Array:
        """Contact forces (n, 3) on the nodes of all bodies from forces (k,) of the conditions."""
        return -np.asarray(self.constraints.matrix.T @ values).reshape(-1, 3)

    def _elastic(self, displacement: Array) -> Array:
        """Elastic nodal forces (n, 3) of a displacement, N."""
        return np.asarray(self._stiffness @ displacement.ravel()).reshape(-1, 3)

    def _to_basis(self, field: Array) -> Array:
        """A nodal field (n, 3) in the transformed basis."""
        return np.asarray(self.constraints.inverse @ field.ravel()).reshape(-1, 3)

    def _losses(
        self,
        state: State,
        predicted: Array,
        increment: Array,
        external: Array,
        forces: Array,
        residual: Array,
    ) -> Losses:
        """Work and losses of a step from a state, with predicted and found increments.

        Prescribed nodes have the velocity of their increment, without stabilisation.
        """
        tau = self.time_step
        flat = increment.ravel()
        bound = self.constraints.bounds(state.displacement)[self.constraints.nodes]
        squares = [np.einsum("nc,nc->n", v, v) for v in (state.velocity, predicted / tau)]
        free = np.where(self.fixed, 0.0, self.mass)
        before, after = (0.5 * float(free @ square) for square in squares)
        held = self.mass[self.fixed] @ (squares[1] - squares[0])[self.fixed]
        return Losses(
            float(np.sum(external * increment)),
            float(flat @ (self._viscosity @ flat)) / tau,
            float(forces @ bound),
            before - after,
            0.5 * float(held) - float(np.sum((residual * increment)[self.fixed])),
        )

    def _reactions(self, gained: Array, residual: Array) -> Array:
        """Force (p, 3) on the nodes of each prescribed motion from their gain of velocity."""
        nodal = self.mass[:, None] * gained / self.time_step - residual
        sums = [nodal[nodes].sum(axis=0) for _, nodes in self.motions]
        return np.array(sums).reshape(-1, 3)

    def _following(self, field: Array) -> Array:
        """A field (n, 3) of displacement or velocity, completed at tied nodes, in place."""
        for tie in self.ties:
            field[tie.nodes] = (tie.weights @ field.ravel()).reshape(-1, 3)
        return field

    def _mortar(self, pair: BodyPair) -> Mortar:
        """Mortar coupling of a pair."""
        first, second = self.triangles(*pair.nonmortar), self.triangles(*pair.mortar)
        return mortar(self.positions, first, second, pair.reach)

    def _obstacle(self, obstacle: RigidObstacle) -> tuple[Numbers, Array, Array, Array]:
        """Nodes, directions, distances and areas of an obstacle."""
        patches = (obstacle.patch, *obstacle.more)
        triangles = np.concatenate([self.triangles(*patch) for patch in patches])
        nodes = np.unique(triangles)
        at = self.positions[triangles]
        size = 0.5 * np.linalg.norm(np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]), axis=1)
        areas = np.bincount(triangles.ravel(), np.repeat(size / 3.0, 3))[nodes].astype(float)
        return nodes, *obstacle.half_space.conditions(self.positions[nodes]), areas

    @cached_property
    def _mobility(self) -> Array:
        """Inverse mass (n, 1), zero at fixed and tied nodes, 1/t."""
        inverse = np.zeros(self.mass.shape)
        inverse[~self._still] = 1.0 / self.mass[~self._still]
        return inverse[:, None]

    @cached_property
    def _response(self) -> sparse.csr_array:
        """Matrix N M^-1 N^T (k, k) of the conditions."""
        conditions = self.constraints.matrix
        inverse = sparse.diags_array(np.repeat(self._mobility.ravel(), 3))
        return sparse.csr_array(conditions @ inverse @ conditions.T)

    @cached_property
    def _matrix(self) -> sparse.bsr_array:
        """Matrix of the increment, N/mm: 2 M / tau^2 + A / 2 + B / tau."""
        inertia = 2.0 / self.time_step**2 * np.repeat(self.mass, 3)
        total = self._stiffness * 0.5 + self._viscosity / self.time_step
        return sparse.bsr_array(total + sparse.diags_array(inertia).tobsr((3, 3)))

    def _discretisation(self) -> Discretisation:
        """Discretisation that a solver needs."""
        levels = {len(body.meshes.prolongations) for body in self.bodies.values()}
        if len(levels) > 1:
            raise ValueError(f"bodies have {sorted(levels)} refinements; refine all equally often")
        forward = self.constraints.forward
        return Discretisation(
            sparse.bsr_array((forward.T @ self._matrix @ forward).tobsr((3, 3))),
            self._still,
            tuple(
                sparse.block_diag(parts, format="csr")
                for parts in zip(
                    *(b.meshes.prolongations for b in self.bodies.values()), strict=True
                )
            ),
            tuple(
                _joined([columns(mesh) for mesh in meshes])
                for meshes in zip(*(b.meshes.meshes for b in self.bodies.values()), strict=True)
            ),
            self.constraints.inverse,
        )


def _joined(parts: Sequence[Numbers]) -> Numbers:
    """Numbers of several bodies as numbers of all."""
    starts = np.cumsum([0] + [int(part.max()) + 1 for part in parts])
    return np.concatenate([part + start for part, start in zip(parts, starts, strict=False)])


def _block_diagonal(parts: Sequence[sparse.bsr_array]) -> sparse.bsr_array:
    """Block-diagonal matrix of matrices of 3 x 3 blocks."""
    blocks = np.concatenate([part.data for part in parts])
    nodes = np.cumsum([0] + [part.shape[0] // 3 for part in parts])
    items = np.cumsum([0] + [len(part.data) for part in parts])
    columns = [part.indices + shift for part, shift in zip(parts, nodes, strict=False)]
    starts = [part.indptr[:-1] + shift for part, shift in zip(parts, items, strict=False)]
    size = 3 * int(nodes[-1])
    return sparse.bsr_array(
        (blocks, np.concatenate(columns), np.concatenate([*starts, items[-1:]])), shape=(size, size)
    )


def _projected(response: sparse.csr_array, excess: Array) -> Array:
    """Multipliers of the projection: at least zero, with response @ multiplier >= excess."""

    def evaluate(pressed: Mask) -> tuple[Array, Mask]:
        multiplier = np.zeros(excess.size)
        at = np.flatnonzero(pressed)
        if at.size:
            multiplier[at] = spsolve(response[at][:, at].tocsc(), excess[at])
        left = response @ multiplier - excess
        lowest = -ROUNDING * np.abs(excess).max()
        return multiplier, np.where(pressed, multiplier < 0.0, left < lowest)

    return settled(evaluate, excess > 0.0)[0]
