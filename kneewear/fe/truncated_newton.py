"""Truncated nonsmooth Newton multigrid (TNNMG) for quadratic energies under bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import ConvergenceError
from kneewear.fe.bounded import Discretisation, Solution
from kneewear.fe.multigrid import Multigrid

Array = NDArray[np.float64]
# Distances below this part of the largest displacement are rounding.
_ROUNDING = 1e-13


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
    An iteration is a projected block Gauss-Seidel sweep, one linear V-cycle for the components
    that are not at their bound, projection of the sum on the bounds, and an exact line search
    along the projected correction. Each part lowers the energy, so that the method converges from
    any start (Gräser and Kornhuber 2009, theorem 6.4).
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
        x = np.array(guess)
        left = right - self._times(x)
        corrections: list[float] = []
        for _ in range(self._max_iterations):
            before, left_before = x.copy(), left
            x, left = self._iterated(right, bound, x)
            moved = x - before
            # Energy norms: A moved is the change of the residual.
            size = np.sum(x * (right - left))
            change = np.sum(moved * (left_before - left))
            corrections.append(float(np.sqrt(max(change, 0.0) / size)) if size > 0.0 else 0.0)
            if corrections[-1] <= self._tolerance:
                count = self._cycles * len(corrections)
                return Solution(x, x[:, 0] >= bound, tuple(corrections), count)
        raise ConvergenceError(
            "the contact problem",
            0,
            corrections[-1],
            "of the energy norm",
            "Use a smaller time step, or meshes with better elements.",
        )

    def _iterated(self, right: Array, bound: Array, x: Array) -> tuple[Array, Array]:
        """Iterate and residual after one iteration; x is overwritten."""
        self._multigrid.projected_sweep(right, x, bound)
        _settle(x, bound)
        left = right - self._times(x)
        correction, _ = self._multigrid.solve(left, x[:, 0] >= bound, self._cycles)
        correction[:, 0] = np.minimum(correction[:, 0], bound - x[:, 0])
        image = self._times(correction)
        curvature = float(np.sum(correction * image))
        if curvature <= 0.0:
            return x, left
        length = float(np.sum(correction * left)) / curvature
        rising = correction[:, 0] > 0.0
        room = (bound - x[:, 0])[rising] / correction[rising, 0]
        length = min(max(length, 0.0), float(room.min(initial=np.inf)))
        x = x + length * correction
        _settle(x, bound)
        return x, left - length * image

    def _times(self, x: Array) -> Array:
        """Product of the matrix and a field (n, 3)."""
        return np.asarray(self._matrix @ x.ravel()).reshape(-1, 3)


def _settle(x: Array, bound: Array) -> None:
    """Place components that differ from their bound by rounding on it, in place."""
    reached = bound - x[:, 0] <= _ROUNDING * np.abs(x[:, 0]).max()
    x[reached, 0] = bound[reached]
