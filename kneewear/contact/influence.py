"""Influence of pressures on each other's deflections: an elastic layer bonded to a rigid base.

The layer's response to a pressure is that of a half-space with a correction by wave number. On
the equal cells of a grid it becomes one table: the deflection of a cell per force on another,
which depends on the distance between them alone.

Notes
-----
A pressure of wave number k deflects a layer of thickness h by 2 (1 - nu^2) / (E k) L(k h) of itself
(`layer_deflection`); L is one for a half-space. The deflection of a cell per force on another is

    love / cell area + (1 - nu^2) / (pi E h) S(r / h),  S(rho) = int_0^inf (L(x) - 1) J0(x rho) dx,

with the deflection `love` of a half-space under unit pressure on a rectangle and the distance r
between the cells. S is smooth; it tends to -1 / rho, because far from a force the layer rests.

References
----------
Johnson, K. L. (1985), Contact Mechanics, section 3.3, doi:10.1017/CBO9781139171731: the rectangle,
after Love (1929). L solves the plane problem of a layer whose base is fixed; tests compare it with
an Airy function fitted to the boundary conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Terms that kernels add together.
_GROUP = 4
# Parts of the wave numbers up to _LAST, where 1 - L is below 1e-15, and points of Gauss's rule on
# each.
_PARTS = 40
_POINTS = 20
_LAST = 25.0
# Distances over the thickness of the table of S; beyond them S is -1 / rho.
_DISTANCES = np.linspace(0.0, 12.0, 2401)


@dataclass(frozen=True)
class Influence:
    """Deflection of every cell of a grid per force on another, mm/N.

    Of the cells (i, j) and (k, l) it is across[|i - k|, j, l] + along[|j - l|, i, k] + the sum over
    t of joint_along[t, i, k] joint_across[t, j, l], and the same of both in exchange: `across`
    (rows, columns, columns) contains the layer and what depends on the place along a row, such as
    free ends and thickness; `along` (columns, rows, rows) what depends on the place along a column;
    `joint_along` (terms, rows, rows) and `joint_across` (terms, columns, columns) what depends on
    both, nothing by default. Their number is a multiple of four. ValueError if shapes do not fit,
    or if a number is not finite.
    """

    across: Array
    along: Array
    joint_along: Array | None = None
    joint_across: Array | None = None

    def __post_init__(self) -> None:
        rows, columns = self.shape
        joint_along, joint_across = self.joint
        parts = (self.across, self.along, joint_along, joint_across)
        terms = len(joint_along)
        expected = [
            (rows, columns, columns),
            (columns, rows, rows),
            (terms, rows, rows),
            (terms, columns, columns),
        ]
        found = [part.shape for part in parts]
        if found != expected or terms % _GROUP:
            raise ValueError(f"influences of shapes {found}; expected {expected}")
        if not all(np.isfinite(part).all() for part in parts):
            raise ValueError("an influence is not finite; check the sections of the layer")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the grid."""
        return self.across.shape[0], self.along.shape[0]

    @property
    def joint(self) -> tuple[Array, Array]:
        """`joint_along` and `joint_across`, without terms if there are none."""
        rows, columns = self.shape
        if self.joint_along is None or self.joint_across is None:
            return np.zeros((0, rows, rows)), np.zeros((0, columns, columns))
        return self.joint_along, self.joint_across

    @cached_property
    def of_kernels(self) -> tuple[Array, Array, Array, Array]:
        """The four parts in the order of indices that kernels read, copied once.

        The distance along a row, which is the last index of `along`, goes from least to most.
        """
        joint_along, joint_across = self.joint
        return (
            np.require(self.across, float, ["C", "W"]),
            np.moveaxis(np.concatenate([self.along[:0:-1], self.along]), 0, 2).copy(),
            np.moveaxis(joint_along, 0, 2).copy(),
            np.moveaxis(joint_across, 0, 1).copy(),
        )

    def softened(self, factor: float) -> Influence:
        """Influence of a layer whose modulus is that of this one divided by a factor."""
        joint_along, joint_across = self.joint
        return Influence(
            factor * self.across, factor * self.along, factor * joint_along, joint_across
        )

    def matrix(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Array:
        """Deflections of chosen cells (n,) per forces on them, mm/N, shape (n, n)."""
        far, wide = np.abs(rows[:, None] - rows), np.abs(columns[:, None] - columns)
        found = self.across[far, columns[:, None], columns]
        found = found + self.along[wide, rows[:, None], rows]
        for along, across in zip(*self.joint, strict=True):
            found += along[rows[:, None], rows] * across[columns[:, None], columns]
        return np.asarray(found)


def flat_influence(
    shape: tuple[int, int],
    cell: tuple[float, float],
    thickness: float,
    youngs_modulus: float,
    poisson_ratio: float,
) -> Influence:
    """Influence on a flat layer without ends, of a grid of `shape` with edges `cell`, mm."""
    table = flat_layer(shape, cell, thickness, youngs_modulus, poisson_ratio)
    rows, columns = shape
    apart = np.abs(np.arange(columns)[:, None] - np.arange(columns))
    return Influence(table[:, apart], np.zeros((columns, rows, rows)))


def flat_layer(
    shape: tuple[int, int],
    cell: tuple[float, float],
    thickness: float,
    youngs_modulus: float,
    poisson_ratio: float,
) -> Array:
    """Deflection of a cell per force on another so many rows and columns away, mm/N.

    Of a layer of even thickness without ends on equal cells with edges `cell`, mm, along columns
    and along rows; an infinite thickness is a half-space. Its entries are of `shape`.
    """
    rows, columns = shape
    x, z = np.meshgrid(cell[0] * np.arange(rows), cell[1] * np.arange(columns), indexing="ij")
    softness = (1.0 - poisson_ratio**2) / (np.pi * youngs_modulus)
    half_space = softness * rectangle_deflection(x, z, *cell) / (cell[0] * cell[1])
    if np.isinf(thickness):
        return half_space
    correction = layer_correction(np.hypot(x, z) / thickness, poisson_ratio)
    return half_space + softness / thickness * correction


def layer_deflection(wave: ArrayLike, poisson_ratio: float) -> Array:
    """Deflection L of a bonded layer under a wave of pressure, relative to that of a half-space.

    `wave` is x = k h, the wave number times the thickness, positive. With c = 3 - 4 nu,
    L = (2 c sinh 2x - 4 x) / (2 c cosh 2x + 1 + c^2 + 4 x^2).
    """
    x = np.asarray(wave, dtype=float)
    c = 3.0 - 4.0 * poisson_ratio
    # All terms times exp(-2 x), so that none overflows.
    small = np.exp(-2.0 * x)
    up = c * (1.0 - small**2) - 4.0 * x * small
    down = c * (1.0 + small**2) + (1.0 + c**2 + 4.0 * x**2) * small
    return np.asarray(up / down)


def layer_correction(distance: ArrayLike, poisson_ratio: float) -> Array:
    """S at distances over the thickness; see the notes of this module."""
    rho = np.asarray(distance, dtype=float)
    table = _correction_table(poisson_ratio)
    inside = np.interp(rho, _DISTANCES, table)
    return np.asarray(np.where(rho < _DISTANCES[-1], inside, -1.0 / np.maximum(rho, 1.0)))


@cache
def _correction_table(poisson_ratio: float) -> Array:
    """S at `_DISTANCES`."""
    # Importing SciPy's functions takes longer than most uses of this module.
    node, weight = np.polynomial.legendre.leggauss(_POINTS)
    part = _LAST / _PARTS
    wave = part * (np.arange(_PARTS)[:, None] + 0.5 * (node + 1.0)).ravel()
    weight = 0.5 * part * np.tile(weight, _PARTS)
    less = weight * (layer_deflection(wave, poisson_ratio) - 1.0)
    return np.asarray(scipy.special.j0(np.outer(_DISTANCES, wave)) @ less)


def rectangle_deflection(x: Array, z: Array, length: float, width: float) -> Array:
    """Deflection at (x, z) of a half-space under unit pressure on a rectangle, over its softness.

    The rectangle has edges along x and z and its middle at the origin; the softness is
    (1 - nu^2) / (pi E).
    """
    total = np.zeros(np.broadcast(x, z).shape)
    for sign, a, b in ((1.0, 0.5, 0.5), (-1.0, -0.5, 0.5), (-1.0, 0.5, -0.5), (1.0, -0.5, -0.5)):
        total += sign * _corner(x + a * length, z + b * width)
    return total


def _corner(x: Array, z: Array) -> Array:
    """X asinh(z / |x|) + z asinh(x / |z|), zero where a factor is."""
    beside_x, beside_z = np.where(x == 0.0, 1.0, np.abs(x)), np.where(z == 0.0, 1.0, np.abs(z))
    first = np.where(x == 0.0, 0.0, x * np.arcsinh(z / beside_x))
    return first + np.where(z == 0.0, 0.0, z * np.arcsinh(x / beside_z))
