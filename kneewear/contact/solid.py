"""Solids between a base and a surface above it, as columns of quadratic hexahedra."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Three-point Gauss rule: exact for polynomials of degree five.
_GAUSS = np.sqrt(0.6) * np.array([-1.0, 0.0, 1.0])
_GAUSS_WEIGHT = np.array([5.0, 8.0, 5.0]) / 9.0


def _quadratic(at: Array) -> tuple[Array, Array]:
    """Lagrange polynomials with nodes -1, 0 and 1, and their derivatives; shape (n, 3)."""
    value = np.stack([0.5 * at * (at - 1.0), 1.0 - at**2, 0.5 * at * (at + 1.0)], axis=-1)
    slope = np.stack([at - 0.5, -2.0 * at, at + 0.5], axis=-1)
    return value, slope


def _product(first: Array, second: Array, third: Array) -> Array:
    """Products of three sets of functions, nodes and points both in the order x, z, y."""
    return np.einsum("ai,bj,ck->abcijk", first, second, third).reshape(27, 27)


_VALUE, _SLOPE = _quadratic(_GAUSS)
# Shape functions (point, node) and their reference derivatives (axis, point, node).
SHAPE = _product(_VALUE, _VALUE, _VALUE)
_SHAPE_SLOPE = np.stack(
    [
        _product(_SLOPE, _VALUE, _VALUE),
        _product(_VALUE, _SLOPE, _VALUE),
        _product(_VALUE, _VALUE, _SLOPE),
    ]
)
_WEIGHT = np.einsum("a,b,c->abc", _GAUSS_WEIGHT, _GAUSS_WEIGHT, _GAUSS_WEIGHT).ravel()
# Reference coordinates of points and nodes.
_POINT = np.stack(np.meshgrid(_GAUSS, _GAUSS, _GAUSS, indexing="ij"), axis=-1).reshape(27, 3)
_CORNERS = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(27, 3)


@dataclass(frozen=True)
class Solid:
    """A solid of columns of 27-node hexahedra; its base is fixed.

    `nodes` (2 n_x + 1, 2 n_z + 1, 2 n_y + 1, 3), mm, are ordered along x, along z, and from the
    base to the surface; ValueError if their numbers are even. Degrees of freedom are three
    displacements of every node above the base, in the order of the nodes.
    """

    nodes: Array

    def __post_init__(self) -> None:
        if self.nodes.shape[3:] != (3,) or any(
            count % 2 == 0 or count < 3 for count in self.nodes.shape[:3]
        ):
            raise ValueError(
                f"nodes of shape {self.nodes.shape}; expected odd numbers of three or more and "
                "three coordinates"
            )
        if not np.all(self.geometry[1] > 0.0):
            raise ValueError("elements are turned inside out; use smaller or straighter ones")

    @property
    def elements(self) -> tuple[int, int, int]:
        """Number of elements along x, z and y."""
        n_x, n_z, n_y = self.nodes.shape[:3]
        return (n_x - 1) // 2, (n_z - 1) // 2, (n_y - 1) // 2

    @property
    def size(self) -> int:
        """Number of degrees of freedom."""
        n_x, n_z, n_y = self.nodes.shape[:3]
        return 3 * n_x * n_z * (n_y - 1)

    @cached_property
    def element_nodes(self) -> Numbers:
        """Numbers (n_elements, 27) of the nodes of every element, of all nodes with the base."""
        number = np.arange(self.nodes[..., 0].size).reshape(self.nodes.shape[:3])
        n_x, n_z, n_y = self.elements
        parts = [
            number[a : a + 2 * n_x - 1 : 2, b : b + 2 * n_z - 1 : 2, c : c + 2 * n_y - 1 : 2]
            for a in range(3)
            for b in range(3)
            for c in range(3)
        ]
        return np.stack(parts, axis=-1).reshape(-1, 27)

    @cached_property
    def element_freedoms(self) -> Numbers:
        """Degrees of freedom (n_elements, 81) of every element; -1 on the base."""
        height = self.nodes.shape[2]
        line, level = np.divmod(self.element_nodes, height)
        first = np.where(level > 0, 3 * (line * (height - 1) + level - 1), -3)
        freedoms = first[..., None] + np.arange(3)
        return np.where(level[..., None] > 0, freedoms, -1).reshape(-1, 81)

    @cached_property
    def surface_freedoms(self) -> Numbers:
        """Degrees of freedom (2 n_x + 1, 2 n_z + 1, 3) of the nodes of the surface."""
        n_x, n_z, n_y = self.nodes.shape[:3]
        line = np.arange(n_x * n_z).reshape(n_x, n_z, 1)
        return 3 * (line * (n_y - 1) + n_y - 2) + np.arange(3)

    @cached_property
    def geometry(self) -> tuple[Array, Array]:
        """Derivatives of shape functions (element, point, node, axis), 1/mm; volumes of points."""
        at = self.nodes.reshape(-1, 3)[self.element_nodes]
        jacobian = np.einsum("dpn,enc->epcd", _SHAPE_SLOPE, at)
        # x, z, y is a left-handed order.
        volume = -np.linalg.det(jacobian) * _WEIGHT
        inverse = np.linalg.inv(jacobian)
        slope = np.einsum("dpn,epdc->epnc", _SHAPE_SLOPE, inverse, optimize=True)
        return slope, volume

    @cached_property
    def points(self) -> Array:
        """Positions of the integration points (element, point, 3), mm."""
        return np.einsum("pn,enc->epc", SHAPE, self.nodes.reshape(-1, 3)[self.element_nodes])

    @cached_property
    def surface_area(self) -> Array:
        """Integral of the shape function of every node of the surface, mm2; shape (2 n_x + 1, ...).

        A uniform pressure acts on the nodes by these areas.
        """
        n_x, n_z, _ = self.elements
        top = self.nodes[:, :, -1]
        value, slope = _VALUE, _SLOPE
        area = np.zeros(top.shape[:2])
        patch = np.lib.stride_tricks.sliding_window_view(top, (3, 3), axis=(0, 1))[::2, ::2]
        along = np.einsum("pa,qb,ijcab->ijpqc", slope, value, patch)
        across = np.einsum("pa,qb,ijcab->ijpqc", value, slope, patch)
        size = np.linalg.norm(np.cross(along, across), axis=-1)
        size = size * _GAUSS_WEIGHT[:, None] * _GAUSS_WEIGHT
        parts = np.einsum("ijpq,pa,qb->ijab", size, value, value)
        for a in range(3):
            for b in range(3):
                area[a : a + 2 * n_x - 1 : 2, b : b + 2 * n_z - 1 : 2] += parts[:, :, a, b]
        return area

    def displacements(self, freedoms: Array) -> Array:
        """Displacement of every node, mm, in the shape of `nodes`; zero on the base."""
        moved = np.zeros(self.nodes.shape)
        moved[:, :, 1:] = freedoms.reshape(*self.nodes.shape[:2], -1, 3)
        return moved

    def at_nodes(self, values: Array) -> Array:
        """Values (element, point, ...) as means of the elements at every node.

        Within an element values are fitted by products of linear functions: stresses of quadratic
        elements are most accurate at the points where these agree (Barlow 1976,
        doi:10.1002/nme.1620100202).
        """
        fit = np.linalg.pinv(_products(_POINT) * np.sqrt(_WEIGHT)[:, None]) * np.sqrt(_WEIGHT)
        flat = values.reshape(*values.shape[:2], -1)
        nodal = np.einsum("np,epv->env", _products(_CORNERS) @ fit, flat, optimize=True)
        count = self.nodes[..., 0].size
        number = self.element_nodes.ravel()
        shared = np.bincount(number, minlength=count)
        mean = [
            np.bincount(number, nodal[..., v].ravel(), minlength=count) / shared
            for v in range(flat.shape[2])
        ]
        return np.stack(mean, axis=-1).reshape(*self.nodes.shape[:3], *values.shape[2:])


def dilatation_means(volume: Array) -> Array:
    """Matrices (element, point, point) that fit the dilatation of elements by linear functions.

    With them quadratic elements do not lock at any Poisson's ratio: their pressure is linear and
    discontinuous (Q2-P1; Hughes 1980, doi:10.1002/nme.1620150914, for the projection).
    """
    basis = np.column_stack([np.ones(27), _POINT])
    weighted = basis.T * volume[:, None]
    return np.asarray(basis @ np.linalg.solve(weighted @ basis, weighted))


def graded_lines(
    low: float, high: float, fine: tuple[float, float], size: float, growth: float = 1.7
) -> Array:
    """Borders of elements from low to high: of equal size in a fine part, growing outside it.

    Elements of the fine part have at most `size`, mm; every further one is at most `growth` times
    as long as its neighbour. The fine part is cut at low and high; ValueError if nothing is left.
    """
    start, end = max(fine[0], low), min(fine[1], high)
    if not end > start:
        raise ValueError(f"no part of {fine} is between {low:g} and {high:g} mm")
    count = max(1, int(np.ceil((end - start) / size - 1e-9)))
    middle = np.linspace(start, end, count + 1)
    step = middle[1] - middle[0]
    before = start - _growing(start - low, step, growth)[::-1]
    after = end + _growing(high - end, step, growth)
    return np.concatenate([before, middle, after])


def _growing(length: float, step: float, growth: float) -> Array:
    """Distances of borders over a length, each step at most `growth` times its predecessor."""
    if length <= 1e-6 * step:
        return np.empty(0)
    steps = step * growth ** np.arange(1, 60)
    count = int(np.searchsorted(np.cumsum(steps), length)) + 1
    # The same factor for all, so that they add up to the length.
    low, high = 1e-6, growth
    powers = np.arange(1, count + 1)
    for _ in range(80):
        factor = 0.5 * (low + high)
        low, high = (low, factor) if (step * factor**powers).sum() > length else (factor, high)
    found = np.cumsum(step * factor**powers)
    return np.asarray(found * (length / found[-1]))


def with_middles(lines: ArrayLike) -> Array:
    """Borders of elements and, between them, their middles."""
    lines = np.asarray(lines, dtype=float)
    both = np.empty(2 * lines.size - 1)
    both[::2], both[1::2] = lines, 0.5 * (lines[:-1] + lines[1:])
    return both


def _products(at: Array) -> Array:
    """Products of linear functions of three coordinates (n, 3), shape (n, 8)."""
    one = np.stack([np.ones_like(at), at], axis=-1)
    return np.einsum("na,nb,nc->nabc", one[:, 0], one[:, 1], one[:, 2]).reshape(-1, 8)
