"""The elastic half-space as contact model: the pressure on every element deflects all others.

An alternative to the elastic foundation (Bei 2003, Table 2-2) for bodies that are thick relative to
the contact. An insert is not: a half-space is softer than a layer of a few contact radii, and it
is limited to small strain and linear materials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

Array = NDArray[np.float64]

MAX_ITERATIONS = 50
# Tolerances: of a gap, relative to the largest overlap; of the force, relative to the load.
_GAP_TOLERANCE = 1e-12
_LOAD_TOLERANCE = 1e-10


def sphere_gap(
    radius: float, width: float, cells: int, offset: tuple[float, float] = (0.0, 0.0)
) -> tuple[Array, tuple[float, float]]:
    """Gap under a paraboloid, Hertz's profile, on a square lattice, and the size of a cell, mm."""
    cell = width / cells
    line = cell * (np.arange(cells) + 0.5 - 0.5 * cells)
    along, across = np.meshgrid(line - offset[0], line - offset[1], indexing="ij")
    return (along**2 + across**2) / (2.0 * radius), (cell, cell)


@dataclass(frozen=True)
class HalfSpaceContact:
    """Contact of an elastic half-space."""

    pressure: Array  # of every element, MPa, zero where apart, shape (rows, columns)
    approach: float  # of the bodies, mm
    force: float  # sum of pressure times area, N


def pressed_rectangle(
    along: ArrayLike, across: ArrayLike, half_length: float, half_width: float
) -> Array:
    """Deflection of a half-space by uniform pressure on a rectangle, times E* over the pressure.

    Positive into the half-space, mm, at positions along and across the rectangle from its middle:
    the antiderivative of 1 / distance, x asinh(y / |x|) + y asinh(x / |y|), summed over the corners
    with alternating signs and divided by pi (Love, A. E. H. 1929, Phil. Trans. R. Soc. A 228:377,
    doi:10.1098/rsta.1929.0009, as given by Johnson 1985, Eq. 3.25). Far away the four terms cancel:
    the relative rounding error is about 1e-16 times (distance / half side)^2.
    """
    x, y = np.asarray(along, dtype=float), np.asarray(across, dtype=float)
    corners = [
        sign * _corner(x + side * half_length, y + other * half_width)
        for side, other, sign in ((1, 1, 1.0), (1, -1, -1.0), (-1, 1, -1.0), (-1, -1, 1.0))
    ]
    return np.asarray(sum(corners[1:], corners[0]) / math.pi)


def solve_half_space(
    gap: Array,
    cell: tuple[float, float],
    modulus: float,
    *,
    approach: float | None = None,
    load: float | None = None,
) -> HalfSpaceContact:
    """Pressures of a half-space on a lattice of elements, for an approach (mm) or a load (N).

    `gap` is the distance of the undeformed surfaces at the middle of every element at no approach,
    mm, NaN where there is no element; `cell` the length and width of a cell, mm; `modulus` E* of
    the pair, MPa, see `contact_modulus`. The gap is closed where there is pressure and open
    elsewhere.

    Raises ValueError unless one of approach and load is given, the load is positive and there are
    elements, and RuntimeError if the iteration for the contact area or the approach does not
    converge.

    Notes
    -----
    Only elements that overlap undeformed can touch. From an initial set in contact, elements in
    tension are removed and overlapping ones added until the set is unchanged (primal-dual active
    set method, Hintermueller, Ito and Kunisch 2003, doi:10.1137/S1052623401383558). Each iteration
    is a Cholesky factorisation: time grows with the cube of the number of elements in contact and
    memory with the square of the number that overlap (1900 need a second and 90 MB). Under a load,
    the approach follows from Newton's method on logarithms, which is exact for a power law.
    """
    if (approach is None) == (load is None):
        raise ValueError("solve_half_space needs an approach or a load, one of them")
    flexibility = _flexibility(gap.shape, cell, modulus)
    if approach is None:
        approach = _approach_under(float(load or 0.0), gap, flexibility)
    index, force, _ = _forces_at(approach, gap, flexibility)
    pressure = np.zeros(gap.shape)
    pressure[index] = force / math.prod(cell)
    return HalfSpaceContact(pressure, approach, float(force.sum()))


def _flexibility(shape: tuple[int, ...], cell: tuple[float, float], modulus: float) -> Array:
    """Deflection per force, mm/N, by steps along rows and columns between two elements."""
    steps = [side * np.arange(count) for side, count in zip(cell, shape, strict=True)]
    along, across = np.meshgrid(*steps, indexing="ij")
    spread = pressed_rectangle(along, across, 0.5 * cell[0], 0.5 * cell[1])
    return spread / (modulus * math.prod(cell))


def _forces_at(approach: float, gap: Array, flexibility: Array) -> tuple[Any, Array, float]:
    """Indices of the overlapping elements, their forces, and the rate of the forces' sum."""
    row, column = index = np.nonzero(approach - gap > 0.0)
    steps = np.abs(row[:, None] - row), np.abs(column[:, None] - column)
    return index, *_contact_forces(approach - gap[index], flexibility[steps])


def _approach_under(load: float, gap: Array, flexibility: Array) -> float:
    """Approach at which the forces add up to a load."""
    heights = gap[np.isfinite(gap)]
    if not load > 0.0 or not heights.size:
        raise ValueError(f"a load of {load:g} N finds no contact on {heights.size} elements")
    lowest = float(heights.min())
    depth = max(float(np.quantile(heights, 0.1)) - lowest, 1e-3)
    for _ in range(MAX_ITERATIONS):
        _, force, rate = _forces_at(lowest + depth, gap, flexibility)
        total = float(force.sum())
        if abs(total - load) < _LOAD_TOLERANCE * load:
            return lowest + depth
        depth *= (load / total) ** (total / (depth * rate))
    raise RuntimeError(f"no approach found for a load of {load:g} N in {MAX_ITERATIONS} steps")


def _contact_forces(overlap: Array, flexibility: Array) -> tuple[Array, float]:
    """Forces f >= 0 with flexibility f >= overlap, equal where f > 0, and d(sum f) / d(overlap)."""
    if not overlap.size:
        return np.zeros(0), 0.0
    # Under smooth bodies contact ends where the overlap is half its maximum (Hertz: exactly).
    active = overlap >= 0.5 * overlap.max()
    for _ in range(MAX_ITERATIONS):
        force = np.zeros(overlap.size)
        sides = np.column_stack([overlap[active], np.ones(np.count_nonzero(active))])
        solved = cho_solve(cho_factor(flexibility[np.ix_(active, active)]), sides)
        force[active] = solved[:, 0]
        left = overlap - flexibility @ force
        wrong = np.where(active, force < 0.0, left > _GAP_TOLERANCE * overlap.max())
        if not wrong.any():
            return force, float(solved[:, 1].sum())
        active ^= wrong
    raise RuntimeError(f"the contact area did not converge in {MAX_ITERATIONS} iterations")


def _corner(x: Array, y: Array) -> Array:
    """Antiderivative of 1 / distance over both coordinates."""
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(x == 0.0, 0.0, x * np.arcsinh(y / np.abs(x)))
        across = np.where(y == 0.0, 0.0, y * np.arcsinh(x / np.abs(y)))
    return along + across
