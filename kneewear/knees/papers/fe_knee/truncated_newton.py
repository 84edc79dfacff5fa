"""Truncated nonsmooth Newton multigrid (TNNMG) for quadratic energies under bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import ConvergenceError
from kneewear.knees.papers.fe_knee.bounded import Discretisation, Solution
from kneewear.knees.papers.fe_knee.multigrid import Multigrid

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
# Distances below this part of the largest displacement are rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class LineSearch:
    """A direction (n, 3), its product with the matrix, a length along it, and the energy gained."""

    direction: Array
    image: Array
    length: float
    decrease: float


class TruncatedNewton:
    """TNNMG solver.

    Parameters
    ----------
    problem : Discretisation
        With at least one prolongation.
    tolerance : float, optional
        Of the correction over the iterate, both in the energy norm; the source uses 1e-5.
    sweeps : int, optional
        Sweeps before and after the coarse correction of the linear cycle; 3 is V(3,3).
    max_iterations : int, optional
    cycles : int, optional
        Linear V-cycles per iteration, of which more than one are accelerated by conjugate
        gradients; one is the method of the source, which needs many more iterations where stiff
        thin layers come into contact.

    Notes
    -----
    An iteration is a projected block Gauss-Seidel sweep, a linear correction by V-cycles of the
    components that are not at their bound, projection of the sum on the bounds, and an exact
    line search along the projected correction. No part raises the energy, so that the method
    converges from any start (Gräser and Kornhuber 2009, theorem 6.4).

    Where the linear correction passes bounds, a second one is computed that places these components
    on their bounds, and the direction that lowers the energy more is taken. Without it, thin stiff
    layers that touch at many nodes at once stop the method: the projection of a nearly rigid
    motion bends the layer, and the line search allows small steps only.
    """

    def __init__(
        self,
        problem: Discretisation,
        tolerance: float = 1e-5,
        sweeps: int = 3,
        max_iterations: int = 200,
        cycles: int = 3,
    ) -> None:
        self._multigrid = Multigrid(problem, sweeps)
        self._matrix = problem.matrix
        self._tolerance = tolerance
        self._max_iterations = max_iterations
        self._cycles = cycles

    def __call__(self, right: Array, bound: Array, guess: Array) -> Solution:
        """Minimiser for a right-hand side (n, 3) and bounds (n,), from an admissible guess (n, 3).

        ConvergenceError after the largest number of iterations.
        """
        x, left = self._start(right, bound, guess)
        corrections: list[float] = []
        counted = self._multigrid.cycles
        for _ in range(self._max_iterations):
            before, left_before = x.copy(), left
            x, left = self._iterated(right, bound, x)
            moved = x - before
            # Energy norms: A moved is the change of the residual.
            size = np.sum(x * (right - left))
            change = np.sum(moved * (left_before - left))
            corrections.append(float(np.sqrt(max(change, 0.0) / size)) if size > 0.0 else 0.0)
            if corrections[-1] <= self._tolerance:
                count = self._multigrid.cycles - counted
                return Solution(x, x[:, 0] >= bound, tuple(corrections), count)
        raise ConvergenceError(
            "the contact problem",
            0,
            corrections[-1],
            "of the energy norm",
            "Use a smaller time step, or meshes with better elements.",
        )

    def _start(self, right: Array, bound: Array, guess: Array) -> tuple[Array, Array]:
        """Guess, or the admissible point next to zero if its energy is lower, and its residual."""
        image = self._times(guess)
        rest = np.zeros(guess.shape)
        rest[:, 0] = np.minimum(bound, 0.0)
        rest_image = self._times(rest)
        if np.sum(guess * (0.5 * image - right)) > np.sum(rest * (0.5 * rest_image - right)):
            return rest, right - rest_image
        return np.array(guess), right - image

    def _iterated(self, right: Array, bound: Array, x: Array) -> tuple[Array, Array]:
        """Iterate and residual after one iteration; x is overwritten."""
        self._multigrid.projected_sweep(right, x, bound)
        _settle(x, bound)
        left = right - self._times(x)
        room = bound - x[:, 0]
        active = room <= 0.0
        correction = self._multigrid.solve(left, active, self._cycles)
        beyond = correction[:, 0] > room
        found = self._searched(correction, left, room)
        if np.any(beyond):
            pressed = self._pressed(left, room, active | beyond)
            found = max(found, self._searched(pressed, left, room), key=lambda one: one.decrease)
        x = x + found.length * found.direction
        _settle(x, bound)
        return x, left - found.length * found.image

    def _pressed(self, left: Array, room: Array, nodes: Mask) -> Array:
        """Correction that moves the first components of some nodes onto their bounds."""
        moved = np.zeros(left.shape)
        moved[nodes, 0] = room[nodes]
        return moved + self._multigrid.solve(left - self._times(moved), nodes, self._cycles)

    def _searched(self, correction: Array, left: Array, room: Array) -> LineSearch:
        """Projected correction, and the admissible length along it of lowest energy."""
        direction = correction.copy()
        direction[:, 0] = np.minimum(direction[:, 0], room)
        image = self._times(direction)
        slope, curvature = float(np.sum(direction * left)), float(np.sum(direction * image))
        if slope <= 0.0:
            return LineSearch(direction, image, 0.0, 0.0)
        rising = direction[:, 0] > 0.0
        longest = float((room[rising] / direction[rising, 0]).min(initial=np.inf))
        length = min(slope / curvature, longest)
        return LineSearch(direction, image, length, length * (slope - 0.5 * length * curvature))

    def _times(self, x: Array) -> Array:
        """Product of the matrix and a field (n, 3)."""
        return np.asarray(self._matrix @ x.ravel()).reshape(-1, 3)


def _settle(x: Array, bound: Array) -> None:
    """Place components that differ from their bound by rounding on it, in place."""
    reached = bound - x[:, 0] <= _ROUNDING * np.abs(x[:, 0]).max()
    x[reached, 0] = bound[reached]
