"""Time steps and equilibria of Cosserat rods: the energy-momentum method and damped Newton."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_banded

from kneewear.errors import ConvergenceError
from kneewear.knees.papers.fe_knee.rod_elements import (
    NodalForces,
    complex_steps,
    forces_at_rest,
    forces_of_step,
    moved_nodes,
    slopes,
)
from kneewear.knees.papers.fe_knee.rods import Rods, RodState
from kneewear.knees.papers.rotation_vectors import cayley, inverse_cayley, transposed, turned

Array = NDArray[np.float64]
# Nodal forces of elements after a change of chords and turns of both nodes.
Law = Callable[[Array, Array, Array], NodalForces]

_MAX_ITERATIONS = 50
_MAX_HALVINGS = 30
# Corrections of Newton's method below this, as a share of an element and in rad, end it. Its
# convergence is quadratic, so that the error after the last correction is at rounding.
_TOLERANCE = 1e-9
# From the three changes of the chord and the turns of both nodes to the nodes' twelve unknowns.
_SPREAD = np.zeros((9, 12))
_SPREAD[:3, :3], _SPREAD[:3, 6:9] = -np.eye(3), np.eye(3)
_SPREAD[3:6, 3:6] = _SPREAD[6:, 9:] = np.eye(3)
_BAND = 11


@dataclass(frozen=True)
class Poses:
    """Poses of cross-sections: `position` (..., 3), mm, and `rotation` (..., 3, 3)."""

    position: Array
    rotation: Array


@dataclass(frozen=True)
class RodStep:
    """Rods after a step, and what their supports exert on them during the step.

    `force` (rod, end, 3), N, and `moment` (rod, end, 3), N mm, about the centre of the end's
    cross-section, act on the rods; ends are start and end of each rod. On the bodies at the ends
    act the opposite ones. They contain inertia and weight of the half elements at the ends, so that
    the momentum of rods and bodies together is conserved. Zero at free ends. `iterations` are those
    of Newton's method.
    """

    state: RodState
    force: Array
    moment: Array
    iterations: int


class RodSystem(Rods):
    """Rods that are stepped in time or brought to equilibrium."""

    def ends(self, state: RodState) -> Poses:
        """Poses of both ends of each rod, shapes (rod, 2, 3) and (rod, 2, 3, 3)."""
        return Poses(state.position[:, [0, -1]], state.rotation[:, [0, -1]])

    def coasting_ends(self, state: RodState, tau: float) -> Poses:
        """Poses of both ends after a time tau, s, with their present velocities."""
        ends = self.ends(state)
        turn = cayley(tau * state.spin[:, [0, -1]])
        return Poses(ends.position + tau * state.velocity[:, [0, -1]], turn @ ends.rotation)

    def step(
        self,
        state: RodState,
        tau: float,
        ends: Poses | None = None,
        *,
        held: tuple[bool, bool] = (True, True),
        loads: ArrayLike = 0.0,
    ) -> RodStep:
        """State after a time step of the energy-momentum method.

        Parameters
        ----------
        state
            State at the start of the step.
        tau
            Time step, s.
        ends
            Poses of both ends at the end of the step, (rod, 2, 3) and (rod, 2, 3, 3); by default
            those of `state`. Only held ends are used.
        held
            Whether starts and ends of the rods have prescribed poses, or are free.
        loads : broadcast to (rod, node, 6)
            Constant forces, N, and moments, N mm, on nodes, spatial components, in addition to
            gravity.

        Raises
        ------
        ConvergenceError
            If Newton's method does not converge: the step is too long for the motion.

        Notes
        -----
        Unknowns are the displacement delta = tau (v_new + v_old) / 2 and the Cayley vector theta =
        tau (w_new + cay(theta) w_old) / 2 of each node. With one factor 1 / tau (the source repeats
        it in equation 25) the balance of each node is

            (p_new - p_old) / tau + internal force = load,
            (pi_new - pi_old) / tau + internal moment = load,

        with p = m v and pi = R I R^T w. Free rods conserve energy, linear and angular momentum.
        Second order in tau and in the length of elements.

        References
        ----------
        Sander et al. 2012, equations 19 to 25.
        """
        sections, length, stiffness = self.sections(state), self.element_length, self.stiffness

        def law(shift: Array, turn_a: Array, turn_b: Array) -> NodalForces:
            return forces_of_step(sections, length, stiffness, shift, turn_a, turn_b)

        def inertia(delta: Array, theta: Array) -> Array:
            return self._inertial_forces(state, tau, delta, theta)

        guess = np.concatenate([tau * state.velocity, tau * state.spin], axis=-1)
        unknown = self._start(state, ends, held, guess)
        unknown, residual, iterations = self._solve(law, inertia, unknown, held, loads)
        delta, theta = unknown[..., :3], unknown[..., 3:]
        turn = cayley(theta)
        new = RodState(
            state.position + delta,
            turn @ state.rotation,
            2.0 / tau * delta - state.velocity,
            2.0 / tau * theta - turned(turn, state.spin),
        )
        return _reactions(new, residual, held, iterations)

    def equilibrium(
        self,
        state: RodState,
        ends: Poses | None = None,
        *,
        held: tuple[bool, bool] = (True, True),
        loads: ArrayLike = 0.0,
    ) -> RodStep:
        """State of rest under loads and prescribed ends, from `state` as the first guess.

        Arguments, result and errors are those of `step`. Large changes of load need several calls.
        """
        sections = self.sections(state)
        length, stiffness = self.element_length, self.stiffness

        def law(shift: Array, turn_a: Array, turn_b: Array) -> NodalForces:
            return forces_at_rest(moved_nodes(sections, shift, turn_a, turn_b), length, stiffness)

        def inertia(delta: Array, theta: Array) -> Array:
            return np.zeros((*np.broadcast_shapes(delta.shape, theta.shape)[:-1], 6), delta.dtype)

        unknown = self._start(state, ends, held, np.zeros((*state.position.shape[:-1], 6)))
        unknown, residual, iterations = self._solve(law, inertia, unknown, held, loads)
        still = np.zeros_like(state.position)
        new = RodState(
            state.position + unknown[..., :3],
            cayley(unknown[..., 3:]) @ state.rotation,
            still,
            still,
        )
        return _reactions(new, residual, held, iterations)

    def _start(
        self, state: RodState, ends: Poses | None, held: tuple[bool, bool], guess: Array
    ) -> Array:
        """First guess of displacements and turns, with prescribed values at held ends."""
        present = self.ends(state)
        wanted = present if ends is None else ends
        for end, node in ((0, 0), (1, -1)):
            if held[end]:
                guess[:, node, :3] = wanted.position[:, end] - present.position[:, end]
                guess[:, node, 3:] = inverse_cayley(
                    wanted.rotation[:, end] @ transposed(present.rotation[:, end])
                )
        return guess

    def _inertial_forces(self, state: RodState, tau: float, delta: Array, theta: Array) -> Array:
        """Change of linear and angular momentum of nodes per time, (..., rod, node, 6)."""
        turn = cayley(theta)
        rotation = turn @ state.rotation
        spin = 2.0 / tau * theta - turned(turn, state.spin)
        angular = turned(rotation, self.nodal_inertia * turned(transposed(rotation), spin))
        linear = self.nodal_mass * (2.0 / tau * delta - 2.0 * state.velocity)
        change = angular - self.spin_momentum(state)
        linear = np.broadcast_to(linear, change.shape)
        return np.concatenate([linear, change], axis=-1) / tau

    def _solve(
        self,
        law: Law,
        inertia: Callable[[Array, Array], Array],
        unknown: Array,
        held: tuple[bool, bool],
        loads: ArrayLike,
    ) -> tuple[Array, Array, int]:
        """Damped Newton's method: unknowns, residual of all nodes, and number of iterations.

        A correction is halved until the residual of each rod is smaller than before, or the
        correction is at the level of rounding. Moments count per length of an element.
        """
        load = np.broadcast_to(np.asarray(loads, dtype=float), unknown.shape).copy()
        load[..., :3] += self.weight
        inner = slice(6 * held[0], unknown.shape[1] * 6 - 6 * held[1])
        scale = np.concatenate(
            [np.repeat(self.element_length, 3, 2), np.ones((len(load), 1, 3))], 2
        )

        def residual_of(at: Array) -> Array:
            return _internal(law, at) + inertia(at[..., :3], at[..., 3:]) - load

        def size(residual: Array) -> float:
            norm: Array = (residual * scale).reshape(len(load), -1)[:, inner]
            return float(np.max(np.linalg.norm(norm, axis=-1)))

        residual = residual_of(unknown)
        for iteration in range(1, _MAX_ITERATIONS + 1):
            correction = _corrections(_bands(law, inertia, unknown), residual, inner)
            largest = np.max(np.abs(correction / scale))
            factor = 1.0
            for _ in range(_MAX_HALVINGS):
                trial = unknown + factor * correction
                new_residual = residual_of(trial)
                if largest < _TOLERANCE or size(new_residual) < size(residual):
                    break
                factor *= 0.5
            unknown, residual = trial, new_residual
            if largest < _TOLERANCE:
                return unknown, residual, iteration
        raise ConvergenceError(
            "Newton's method for Cosserat rods", 0, size(residual), "N mm", "Use a shorter step."
        )


def relative_turn(first: Poses, second: Poses) -> Array:
    """Cayley vectors of the rotations from `first` to `second`, spatial components."""
    return inverse_cayley(second.rotation @ transposed(first.rotation))


def _reactions(
    state: RodState, residual: Array, held: tuple[bool, bool], iterations: int
) -> RodStep:
    """A step's result; the residual at held ends is what the supports exert."""
    at_ends = residual[:, [0, -1]] * np.array(held, dtype=float)[:, None]
    return RodStep(state, at_ends[..., :3], at_ends[..., 3:], iterations)


def _internal(law: Law, unknown: Array) -> Array:
    """Internal forces and moments of nodes, (rod, node, 6)."""
    delta, theta = unknown[..., :3], unknown[..., 3:]
    element = law(np.diff(delta, axis=1), theta[:, :-1], theta[:, 1:])
    total = np.zeros(unknown.shape)
    total[:, :-1] += np.concatenate([-element.force, element.start], axis=-1)
    total[:, 1:] += np.concatenate([element.force, element.end], axis=-1)
    return total


def _bands(law: Law, inertia: Callable[[Array, Array], Array], unknown: Array) -> Array:
    """Jacobian of each rod as a banded matrix, (rod, 23, unknown), by complex steps."""
    delta, theta = unknown[..., :3], unknown[..., 3:]
    chord = np.diff(delta, axis=1)
    at = np.concatenate([chord, theta[:, :-1], theta[:, 1:]], axis=-1)
    at = at + complex_steps(9, at.ndim)
    forces = np.concatenate(law(at[..., :3], at[..., 3:6], at[..., 6:]), axis=-1)
    elements = _SPREAD.T @ slopes(forces) @ _SPREAD

    at = unknown + complex_steps(6, unknown.ndim)
    nodes = slopes(inertia(at[..., :3], at[..., 3:]))

    count = unknown.shape[1]
    bands = np.zeros((len(unknown), 2 * _BAND + 1, 6 * count))
    rod = np.arange(len(unknown))[:, None, None, None]
    for blocks in (elements, nodes):
        row, column = np.indices(blocks.shape[-2:])
        first = 6 * np.arange(blocks.shape[1])[:, None, None]
        np.add.at(bands, (rod, _BAND + row - column, first + column), blocks)
    return bands


def _corrections(bands: Array, residual: Array, inner: slice) -> Array:
    """Newton's corrections of all nodes; zero at held ends."""
    correction = np.zeros((len(residual), residual[0].size))
    for one, band, right in zip(correction, bands, residual, strict=True):
        one[inner] = solve_banded((_BAND, _BAND), band[:, inner], -right.ravel()[inner])
    return correction.reshape(residual.shape)
