"""Block Gauss-Seidel smoothing: the nodes of a column across the cartilage are one block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kneewear.knees.papers.fe_knee._kernels import sweep

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Eigenvalues of a block below this part of its largest one belong to functions that the
# truncation removed.
_SMALLEST = 1e-10


@dataclass(frozen=True)
class Blocks:
    """Partition of the nodes of a matrix of 3 x 3 blocks, by a number per node (n,).

    Cartilage layers are thin against the width of their prisms, so that nodes of a column are
    coupled far more strongly than columns with each other; smoothing single nodes would hardly
    reduce errors that vary across the layer.
    """

    matrix: sparse.bsr_array
    numbers: Numbers

    @cached_property
    def nodes(self) -> Numbers:
        """Nodes of block after block (n,)."""
        return np.argsort(self.numbers, kind="stable")

    @cached_property
    def first(self) -> Numbers:
        """Place of the first node of every block, and n; shape (b + 1,)."""
        count = np.bincount(self.numbers)
        return np.concatenate([[0], np.cumsum(count)])

    @cached_property
    def offset(self) -> Numbers:
        """Place of the inverse of every block, and their total size; shape (b + 1,)."""
        return np.concatenate([[0], np.cumsum((3 * np.diff(self.first)) ** 2)])

    def inverses(self, held: Mask | None = None) -> Array:
        """Inverses of all blocks, by rows, without the components in `held` (n, 3)."""
        found = np.empty(self.offset[-1])
        self._fill(found, np.arange(len(self.first) - 1), held)
        return found

    def held_inverses(self, inverses: Array, nodes: Numbers, held: Mask) -> Array:
        """Copy of inverses in which the blocks of some nodes have other components held."""
        found = inverses.copy()
        self._fill(found, np.unique(self.numbers[nodes]), held)
        return found

    def sweep(
        self, inverses: Array, right: Array, x: Array, backward: bool, bound: Array | None = None
    ) -> None:
        """One Gauss-Seidel sweep for matrix x = right, in place; both of shape (n, 3).

        With bounds (n,) each block is minimised under x[:, 0] <= bound.
        """
        m = self.matrix
        sweep(
            *(m.indptr, m.indices, m.data),
            *(self.first, self.nodes, self.offset, inverses),
            *(right, self._unbounded if bound is None else bound, x, backward),
        )

    @cached_property
    def _unbounded(self) -> Array:
        """Bounds of nodes without a bound."""
        return np.full(len(self.numbers), np.inf)

    def _fill(self, found: Array, chosen: Numbers, held: Mask | None) -> None:
        """Write the inverses of chosen blocks, in groups of equal size."""
        size = np.diff(self.first)[chosen]
        for m in np.unique(size):
            some = chosen[size == m]
            nodes = self.nodes[self.first[some][:, None] + np.arange(m)]
            dense = self._dense(nodes)
            kept = np.ones(dense.shape, dtype=bool)
            if held is not None:
                free = ~held[nodes].reshape(len(some), 3 * m)
                kept = free[:, :, None] & free[:, None, :]
            place = self.offset[some][:, None] + np.arange(9 * m * m)
            # Held components are decoupled; the second product removes their rounding.
            found[place] = (_pseudoinverse(dense * kept) * kept).reshape(len(some), -1)

    def _dense(self, nodes: Numbers) -> Array:
        """Parts (b, 3 m, 3 m) of the matrix that belong to groups of nodes (b, m)."""
        count, m = nodes.shape
        row = np.broadcast_to(nodes[:, :, None], (count, m, m))
        place = np.asarray(self._places[row.ravel(), row.swapaxes(1, 2).ravel()]).ravel()
        data = np.where((place > 0)[:, None, None], self.matrix.data[place - 1], 0.0)
        dense = data.reshape(count, m, m, 3, 3).swapaxes(2, 3)
        return np.array(dense.reshape(count, 3 * m, 3 * m))

    @cached_property
    def _places(self) -> sparse.csr_array:
        """Place of every stored block in `matrix.data`, counted from one."""
        n = len(self.matrix.indptr) - 1
        places = np.arange(1, len(self.matrix.indices) + 1)
        return sparse.csr_array((places, self.matrix.indices, self.matrix.indptr), shape=(n, n))


def _pseudoinverse(dense: Array) -> Array:
    """Inverses of symmetric matrices on the directions that have energy."""
    value, vector = np.linalg.eigh(dense)
    positive = value > _SMALLEST * value[:, -1:]
    inverse = np.divide(1.0, value, out=np.zeros_like(value), where=positive & (value > 0.0))
    return np.asarray((vector * inverse[:, None, :]) @ vector.swapaxes(1, 2))
