"""Elimination of the inner degrees of freedom of a solid by nested dissection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from kneewear.contact._fe_kernels import add_lower
from kneewear.contact.solid import Solid

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Front:
    """One elimination: eliminated and remaining freedoms, Cholesky factor, and its coupling."""

    eliminated: Numbers
    remaining: Numbers
    factor: Array
    coupling: Array


class Condensation:
    """A factorised stiffness matrix, condensed to some degrees of freedom.

    `stiffness` (element, 81, 81), N/mm, are the matrices of the elements of a solid and `kept` the
    degrees of freedom, ascending, to which it is condensed; `matrix` is the result, in their order.
    RuntimeError if the matrix is not positive definite.

    Notes
    -----
    The plan of columns of elements is cut into halves recursively; what lies inside a part is
    eliminated before the parts are joined (George 1973, doi:10.1137/0710032). All work is on dense
    symmetric matrices: a layer of some elements between base and surface fills these anyway. Time
    grows with the power 1.5 of the number of columns and the third power of that of layers.
    """

    def __init__(self, solid: Solid, stiffness: Array, kept: Numbers) -> None:
        self.kept = kept
        self._fronts: list[_Front] = []
        self._size = solid.size
        self._solid, self._stiffness = solid, stiffness
        self._is_kept = np.zeros(solid.size, dtype=bool)
        self._is_kept[kept] = True
        n_x, n_z, _ = solid.elements
        remaining, matrix = self._condense(0, n_x, 0, n_z)
        place = np.searchsorted(remaining, kept)
        lower = np.tril(matrix)[np.ix_(place, place)]
        self.matrix = lower + np.tril(lower, -1).T
        del self._stiffness

    def reduce(self, load: Array) -> tuple[Array, Array]:
        """Load on the kept freedoms that is equivalent to a load (size,) on all, and a remainder.

        The remainder is what `expand` needs.
        """
        rest = load.copy()
        for front in self._fronts:
            part = _solve(front.factor, rest[front.eliminated], transposed=False)
            rest[front.eliminated] = part
            rest[front.remaining] -= front.coupling.T @ part
        return rest[self.kept], rest

    def expand(self, displacement: Array, rest: Array | None = None) -> Array:
        """All displacements, mm, from those of the kept freedoms and the remainder of the load."""
        found = np.zeros(self._size) if rest is None else rest.copy()
        found[self.kept] = displacement
        for front in reversed(self._fronts):
            right = found[front.eliminated] - front.coupling @ found[front.remaining]
            found[front.eliminated] = _solve(front.factor, right, transposed=True)
        return found

    def _condense(self, x0: int, x1: int, z0: int, z1: int) -> tuple[Numbers, Array]:
        """Freedoms and condensed matrix (lower triangle) of the columns of a rectangle."""
        if x1 - x0 == 1 and z1 - z0 == 1:
            parts = [self._column(x0, z0)]
        else:
            if x1 - x0 >= z1 - z0:
                middle = (x0 + x1) // 2
                halves = (x0, middle, z0, z1), (middle, x1, z0, z1)
            else:
                middle = (z0 + z1) // 2
                halves = (x0, x1, z0, middle), (x0, x1, middle, z1)
            parts = [self._condense(*half) for half in halves]
        freedoms = np.unique(np.concatenate([own for own, _ in parts]))
        inner = self._is_inner(freedoms, x0, x1, z0, z1) & ~self._is_kept[freedoms]
        eliminated, remaining = freedoms[inner], freedoms[~inner]
        count = eliminated.size
        place = np.where(inner, np.cumsum(inner), count + np.cumsum(~inner)) - 1
        matrix = np.zeros((freedoms.size, freedoms.size), order="F")
        for own, part in parts:
            add_lower(matrix, place[np.searchsorted(freedoms, own)], part)
        if count == 0:
            return remaining, matrix
        factor, failed = lapack.dpotrf(matrix[:count, :count], lower=1, clean=0)
        if failed:
            raise RuntimeError("the stiffness of the solid is not positive definite")
        coupling = blas.dtrsm(1.0, factor, matrix[count:, :count].T, lower=1)
        left = np.asfortranarray(matrix[count:, count:])
        left = blas.dsyrk(-1.0, coupling, 1.0, left, trans=1, lower=1, overwrite_c=1)
        self._fronts.append(_Front(eliminated, remaining, factor, coupling))
        return remaining, left

    def _column(self, x: int, z: int) -> tuple[Numbers, Array]:
        """Freedoms and matrix of one column of elements."""
        _, n_z, n_y = self._solid.elements
        first = (x * n_z + z) * n_y
        freedoms = self._solid.element_freedoms[first : first + n_y]
        found = np.unique(freedoms)
        found = found[found >= 0]
        matrix = np.zeros((found.size, found.size))
        for number, one in enumerate(freedoms):
            free = one >= 0
            place = np.searchsorted(found, one[free])
            matrix[np.ix_(place, place)] += self._stiffness[first + number][np.ix_(free, free)]
        return found, matrix

    def _is_inner(self, freedoms: Numbers, x0: int, x1: int, z0: int, z1: int) -> NDArray[np.bool_]:
        """True where all elements of a freedom are within a rectangle of the plan."""
        lines_x, lines_z, height = self._solid.nodes.shape[:3]
        i, k = np.divmod(freedoms // (3 * (height - 1)), lines_z)
        after_x = 2 * x1 if 2 * x1 < lines_x - 1 else lines_x
        after_z = 2 * z1 if 2 * z1 < lines_z - 1 else lines_z
        inside: NDArray[np.bool_] = (i < after_x) & (k < after_z)
        inside &= (i > 2 * x0) | (x0 == 0)
        inside &= (k > 2 * z0) | (z0 == 0)
        return inside


def _solve(factor: Array, right: Array, transposed: bool) -> Array:
    """Solution with a lower Cholesky factor, or its transpose."""
    found, _ = lapack.dtrtrs(factor, right, lower=1, trans=int(transposed))
    return np.asarray(found)
