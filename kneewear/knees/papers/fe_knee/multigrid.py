"""Linear geometric multigrid for bodies of which some components are prescribed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from kneewear.knees.papers.fe_knee.bounded import Discretisation
from kneewear.knees.papers.fe_knee.smoothing import Blocks

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Diagonals of the coarsest matrix below this part of the largest one belong to functions that the
# truncation removed.
_SMALLEST = 1e-10


@dataclass(frozen=True)
class Level:
    """Blocks of a level, their inverses, and the prolongation of nodal values to this level."""

    blocks: Blocks
    inverses: Array
    prolongation: sparse.csr_array

    def sweep(self, right: Array, x: Array, backward: bool) -> None:
        """One Gauss-Seidel sweep, in place."""
        self.blocks.sweep(self.inverses, right, x, backward)

    def residual(self, right: Array, x: Array) -> Array:
        """Residual (n, 3) of x (n, 3)."""
        return np.asarray(right - (self.blocks.matrix @ x.ravel()).reshape(-1, 3))


class Multigrid:
    """V-cycles for the matrix of a discretisation with truncated basis functions.

    Parameters
    ----------
    problem : Discretisation
        With at least one prolongation; ValueError otherwise.
    sweeps : int, optional
        Gauss-Seidel sweeps before (forward) and after (backward) the coarse correction.

    Notes
    -----
    Coarse functions are the nodal ones of the coarse meshes. On the finest mesh they are written in
    the transformed basis and set to zero in the components that are prescribed (truncation,
    Gräser and Kornhuber 2009), and coarse matrices are Galerkin products of these. Only the
    rows of prescribed components change a Galerkin product, so that a new active set costs
    little. The matrices of the last set remain in memory. `cycles` counts the V-cycles.
    """

    def __init__(self, problem: Discretisation, sweeps: int = 3) -> None:
        if not problem.prolongations:
            raise ValueError(
                "multigrid needs refined meshes; use DirectActiveSet for a single mesh"
            )
        self.matrix = problem.matrix
        self.fixed = problem.fixed
        self._sweeps = sweeps
        self._to_basis = problem.to_basis
        self._prolongations = problem.prolongations[::-1]
        self._scalar = problem.matrix.tocsr()
        self._columns = problem.columns[::-1]
        self._blocks = Blocks(problem.matrix, self._columns[0])
        self._inverses = self._blocks.inverses(self._held(np.zeros(0, int)))
        moving = np.repeat(~problem.fixed, 3).astype(float)
        first = sparse.diags_array(moving) @ problem.to_basis @ _of_blocks(self._prolongations[0])
        self._interpolation = first.tocsr()
        self._applied = (problem.matrix @ first.tobsr((3, 3))).tocsr()
        self._galerkin = (self._interpolation.T @ self._applied).tocsr()
        self.cycles = 0
        self._active: Mask | None = None
        self._levels: list[Level] = []
        self._coarsest: Any = None

    def cycle(self, right: Array, active: Mask) -> Array:
        """Correction (n, 3) of one V-cycle, zero in the first components of active nodes."""
        if self._active is None or not np.array_equal(active, self._active):
            self._truncate(active)
        self.cycles += 1
        return self._cycled(0, right)

    def projected_sweep(self, right: Array, x: Array, bound: Array) -> None:
        """One Gauss-Seidel sweep of the finest level under x[:, 0] <= bound, in place."""
        self._blocks.sweep(self._inverses, right, x, False, bound)

    def solve(self, right: Array, active: Mask, cycles: int, tolerance: float = 0.0) -> Array:
        """Solution by conjugate gradients with V-cycles as preconditioner.

        Zero in the first components of active nodes and at fixed nodes. Ends when the norm of the
        residual (n, 3) is at most `tolerance`, or after a number of cycles; one is a plain V-cycle
        with the best step length.
        """
        held = self._held(np.flatnonzero(active))
        left = np.where(held, 0.0, right)
        x, direction, squared = np.zeros(right.shape), np.zeros(right.shape), 1.0
        for _ in range(cycles):
            if np.linalg.norm(left) <= tolerance:
                break
            preconditioned = self.cycle(left, active)
            before, squared = squared, float(np.sum(left * preconditioned))
            direction = preconditioned + squared / before * direction
            image = np.where(held, 0.0, (self.matrix @ direction.ravel()).reshape(-1, 3))
            length = squared / float(np.sum(direction * image))
            x += length * direction
            left -= length * image
        return x

    def _cycled(self, number: int, right: Array) -> Array:
        """Correction of one V-cycle from a level on."""
        if number == len(self._levels):
            return np.asarray(self._coarsest.solve(right.ravel()).reshape(-1, 3))
        level = self._levels[number]
        x = np.zeros(right.shape)
        for _ in range(self._sweeps):
            level.sweep(right, x, False)
        x += self._prolonged(number, self._cycled(number + 1, self._restricted(number, right, x)))
        for _ in range(self._sweeps):
            level.sweep(right, x, True)
        return x

    def _restricted(self, number: int, right: Array, x: Array) -> Array:
        """Residual of a level as right-hand side of the next coarser one."""
        level = self._levels[number]
        left = level.residual(right, x)
        if number == 0:
            left = self._masked(left)
            left = np.asarray(self._to_basis.T @ left.ravel()).reshape(-1, 3)
        return np.asarray(level.prolongation.T @ left)

    def _prolonged(self, number: int, coarse: Array) -> Array:
        """Coarse correction on a level."""
        fine = np.asarray(self._levels[number].prolongation @ coarse)
        if number == 0:
            fine = self._masked(np.asarray(self._to_basis @ fine.ravel()).reshape(-1, 3))
        return fine

    def _masked(self, field: Array) -> Array:
        """A field of the finest level without its prescribed components, in place."""
        field[self.fixed] = 0.0
        field[self._active, 0] = 0.0
        return field

    def _held(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mask (n, 3) of prescribed components: fixed nodes, and the first ones of `rows`."""
        held = np.repeat(self.fixed[:, None], 3, axis=1)
        held[rows, 0] = True
        return held

    def _truncate(self, active: Mask) -> None:
        """Set up the levels for an active set."""
        self._active = active.copy()
        nodes = np.flatnonzero(active & ~self.fixed)
        inverses = self._blocks.held_inverses(self._inverses, nodes, self._held(nodes))
        self._levels = [Level(self._blocks, inverses, self._prolongations[0])]
        matrix = self._truncated_galerkin(3 * nodes)
        for prolongation, columns in zip(self._prolongations[1:], self._columns[1:], strict=False):
            blocks = Blocks(sparse.bsr_array(matrix.tobsr((3, 3))), columns)
            self._levels.append(Level(blocks, blocks.inverses(), prolongation))
            down = _of_blocks(prolongation)
            matrix = (down.T @ blocks.matrix @ down).tocsr()
        empty = matrix.diagonal() <= _SMALLEST * matrix.diagonal().max()
        matrix = (matrix + sparse.diags_array(empty * matrix.diagonal().max())).tocsc()
        self._coarsest = splu(
            matrix,
            permc_spec="MMD_AT_PLUS_A",
            options={"SymmetricMode": True},
            diag_pivot_thresh=0.0,
        )

    def _truncated_galerkin(self, rows: NDArray[np.int64]) -> sparse.csr_array:
        """First coarse matrix, of coarse functions that are zero in some rows."""
        if not rows.size:
            return self._galerkin
        removed = self._interpolation[rows]
        inner = self._scalar[rows][:, rows]
        part = removed.T @ (self._applied[rows] - 0.5 * (inner @ removed))
        return sparse.csr_array(self._galerkin - part - part.T)


def _of_blocks(prolongation: sparse.csr_array) -> sparse.bsr_array:
    """Prolongation of vectors from that of scalars."""
    return sparse.bsr_array(sparse.kron(prolongation, np.eye(3), format="bsr"))
