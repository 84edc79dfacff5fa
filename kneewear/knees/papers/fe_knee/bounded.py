"""Quadratic energies under bounds of one component per node: problem, solution, active set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from kneewear.errors import ConvergenceError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Reactions and distances below this part of the largest one have no sign.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Discretisation:
    """Matrix (3 n, 3 n) in the transformed basis, fixed nodes, and prolongations of nodal values.

    `prolongations` are those between levels, from coarse to fine, in the nodal basis; `columns`
    number the columns of nodes across the cartilage of each level, from coarse to fine, shape
    (n,); `to_basis` transforms nodal values to the basis of the matrix.
    """

    matrix: sparse.bsr_array
    fixed: Mask
    prolongations: tuple[sparse.csr_array, ...]
    columns: tuple[NDArray[np.int64], ...]
    to_basis: sparse.bsr_array


@dataclass(frozen=True)
class Solution:
    """Minimiser of 1/2 x A x - b x under x[:, 0] <= bound.

    Parameters
    ----------
    x : array, shape (n, 3)
        Minimiser.
    active : array of bool, shape (n,)
        Nodes at their bound.
    corrections : tuple of float
        Per iteration the correction over the iterate, both in the energy norm (TNNMG), or the
        number of changes of the active set (active-set method).
    linear_iterations : int
        Linear multigrid cycles or factorisations in all.
    """

    x: Array
    active: Mask
    corrections: tuple[float, ...]
    linear_iterations: int

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.corrections)

    @property
    def rate(self) -> float:
        """Geometric mean of the ratios of successive corrections; NaN with fewer than two."""
        found = np.array([value for value in self.corrections if value > 0.0])
        if found.size < 2:
            return float("nan")
        return float((found[-1] / found[0]) ** (1.0 / (found.size - 1)))

    @property
    def rate_per_cycle(self) -> float:
        """The rate of an iteration as that of each of its linear cycles."""
        return float(self.rate ** (self.iterations / self.linear_iterations))


class Solver(Protocol):
    """Solves bounded problems with one matrix."""

    def __call__(self, right: Array, bound: Array, guess: Array) -> Solution:
        """Minimiser for a right-hand side (n, 3) and bounds (n,), from a guess (n, 3)."""


def settled(
    evaluate: Callable[[Mask], tuple[Array, Mask]], active: Mask, max_iterations: int = 200
) -> tuple[Array, Mask, tuple[float, ...]]:
    """Primal-dual active-set iteration (Hintermüller, Ito and Kunisch 2003).

    `evaluate` returns the solution for an active set and the mask of its wrong members. Sets that
    are not settled within ten iterations are changed by the first wrong member alone, which ends
    after a finite number of iterations (Murty 1974).

    Returns
    -------
    x, active, changes
        Solution, its active set, and the number of wrong members in each iteration.

    Raises
    ------
    ConvergenceError
        After `max_iterations`.
    """
    changes: list[float] = []
    for iteration in range(max_iterations):
        x, wrong = evaluate(active)
        changes.append(float(wrong.sum()))
        if not np.any(wrong):
            return x, active, tuple(changes)
        if iteration >= 10:
            wrong[np.argmax(wrong) + 1 :] = False
        active = active ^ wrong
    raise ConvergenceError(
        "the active set of contact", 0, changes[-1], "nodes", "Use a smaller time step."
    )


class DirectActiveSet:
    """Active-set method with a sparse factorisation; for small problems and for comparison.

    The last factorisation remains in memory: the iterations of a coupling share it.
    """

    def __init__(self, problem: Discretisation) -> None:
        self._matrix = problem.matrix
        self._columns = problem.matrix.tocsc()
        self._fixed = problem.fixed
        self._factorised: tuple[bytes, object] | None = None

    def __call__(self, right: Array, bound: Array, guess: Array) -> Solution:
        """Minimiser for a right-hand side (n, 3) and bounds (n,), from a guess (n, 3)."""
        finite = np.isfinite(bound)

        def evaluate(active: Mask) -> tuple[Array, Mask]:
            x = self._solve(right, np.where(active, bound, 0.0), active)
            reaction = (right - (self._matrix @ x.ravel()).reshape(-1, 3))[:, 0]
            lowest = -ROUNDING * np.abs(reaction[finite]).max(initial=0.0)
            beyond = ROUNDING * np.abs(x[finite, 0]).max(initial=0.0)
            return x, np.where(active, reaction < lowest, x[:, 0] > bound + beyond)

        x, active, changes = settled(evaluate, guess[:, 0] >= bound)
        return Solution(x, active, changes, len(changes))

    def _solve(self, right: Array, prescribed: Array, active: Mask) -> Array:
        """Solution with prescribed first components at active nodes."""
        held = np.repeat(self._fixed[:, None], 3, axis=1)
        held[:, 0] |= active
        free = np.flatnonzero(~held.ravel())
        key = active.tobytes()
        if self._factorised is None or self._factorised[0] != key:
            self._factorised = (
                key,
                splu(
                    self._columns[:, free][free],
                    permc_spec="MMD_AT_PLUS_A",
                    options={"SymmetricMode": True},
                    diag_pivot_thresh=0.0,
                ),
            )
        x = np.zeros(right.size)
        x[::3] = np.where(active & ~self._fixed, prescribed, 0.0)
        rest = right.ravel() - self._matrix @ x
        x[free] += self._factorised[1].solve(rest[free])  # type: ignore[attr-defined]
        return x.reshape(-1, 3)
