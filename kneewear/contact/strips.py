"""Finite strips: an elastic body of one cross-section under waves of pressure along it.

A body that is prismatic along x, fixed on its base, responds to a pressure p(z) cos(k x) with
displacements u sin(k x), v cos(k x), w cos(k x) along x, y and z: every wave number is a problem
of the cross-section alone (Cheung 1976, The Finite Strip Method in Structural Analysis). Elements
of the section are nine-node quadrilaterals. The stiffness is K0 + k K1 + k^2 K2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.contact.material import Elastic

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# Three-point Gauss rule: exact for polynomials of degree five.
_GAUSS = np.sqrt(0.6) * np.array([-1.0, 0.0, 1.0])
_GAUSS_WEIGHT = np.array([5.0, 8.0, 5.0]) / 9.0
_VALUE = np.stack(
    [0.5 * _GAUSS * (_GAUSS - 1.0), 1.0 - _GAUSS**2, 0.5 * _GAUSS * (_GAUSS + 1.0)], 1
)
_SLOPE = np.stack([_GAUSS - 0.5, -2.0 * _GAUSS, _GAUSS + 0.5], 1)
# Groups of neighbouring loads, each solved from the first freedom on that it moves.
_GROUPS = 8
# Integral of quadratic shape functions over the half of an element next to its first node.
HALF = np.array([5.0, 8.0, -1.0]) / 24.0


@dataclass(frozen=True)
class Section:
    """Cross-section of a body between its base, which is fixed, and its surface.

    `position` (n,) are equally spaced places along z, `top` the height of the surface there and
    `thickness` that of the body below it, mm. Columns of elements are between them; both ends are
    free. ValueError if there are less than three places, they are not equally spaced, or a
    thickness is not positive.
    """

    position: Array
    top: Array
    thickness: Array

    def __post_init__(self) -> None:
        steps = np.diff(self.position)
        if steps.size < 2 or not np.allclose(steps, steps.mean(), rtol=1e-6) or steps[0] <= 0.0:
            raise ValueError("a section needs three or more equally spaced, ascending places")
        if not ((self.thickness > 0.0) & np.isfinite(self.top)).all():
            raise ValueError("a section has a positive thickness below a surface everywhere")

    @property
    def width(self) -> float:
        """Distance between neighbouring places, mm."""
        return float(self.position[1] - self.position[0])


def flat_section(columns: int, width: float, thickness: float) -> Section:
    """Section of even thickness, of so many columns of elements of a width, mm."""
    position: Array = width * np.arange(columns + 1.0)
    even: Array = np.full(columns + 1, thickness)
    return Section(position, even, even)


class Strip:
    """A prismatic body of a cross-section.

    `levels` are borders of elements over the thickness, from 0 at the base to 1 at the surface. A
    `mirrored` one is half of a body that is level in its middle, the first place, and so are its
    loads: of a force in the middle it carries one half.
    """

    def __init__(
        self, section: Section, material: Elastic, levels: ArrayLike, *, mirrored: bool = False
    ) -> None:
        self.section, self._mirrored = section, mirrored
        borders = np.asarray(levels, dtype=float)
        heights = np.sort(np.concatenate([borders, 0.5 * (borders[1:] + borders[:-1])]))
        self._levels = heights.size
        lines = np.arange(2 * section.position.size - 1)
        at, fine = np.arange(section.position.size), 0.5 * lines
        self._z = np.interp(fine, at, section.position)
        top, thickness = (self._smooth(values) for values in (section.top, section.thickness))
        self._y = top[:, None] - thickness[:, None] * (1.0 - heights)
        self._bands = self._assemble(material)

    def compliance(self, wave: float, loads: Numbers | None = None) -> Array:
        """Deflections of all places under waves at chosen ones, mm2/N, shape (n, loads).

        Unit pressure acts along minus the normal of the surface on the cell around a place, half a
        column to each side, and what is reported is the mean deflection of such cells, along the
        same lines. All places are loaded by default. `wave` is the wave number, 1/mm.
        """
        even, mixed, square = self._bands
        banded = wave * square
        banded += mixed
        banded *= wave
        banded += even
        factor = scipy.linalg.cholesky_banded(
            banded, lower=True, overwrite_ab=True, check_finite=False
        )
        if loads is None:
            half = np.zeros(self._loads.shape, order="F")
            for first, own in self._groups:
                half[first:, own], _ = scipy.linalg.lapack.dtbtrs(
                    factor[:, first:], self._loads[first:, own], uplo="L"
                )
            moved = half.T @ half
        else:
            found = scipy.linalg.cho_solve_banded(
                (factor, True), self._loads[:, loads], check_finite=False
            )
            surface = self._z.size, self._levels - 1, 3, -1
            top = self._loads.reshape(surface)[:, -1], found.reshape(surface)[:, -1]
            moved = np.tensordot(*top, axes=((0, 1), (0, 1)))
        return np.asarray(moved / self._cells[:, None])

    def influence(self, wave: float, loads: Numbers | None = None) -> Array:
        """Mean deflections of cells per force on others, 1/N per length along x; symmetric."""
        chosen = self._cells if loads is None else self._cells[loads]
        return self.compliance(wave, loads) / chosen

    @property
    def _cells(self) -> Array:
        """Widths of the cells around the places; at the ends half a column."""
        cells = np.full(self.section.position.size, self.section.width)
        cells[[0, -1]] *= 0.5
        return cells

    def _smooth(self, values: Array) -> Array:
        return np.asarray(scipy.interpolate.CubicSpline(self.section.position, values)(self._z))

    @cached_property
    def _loads(self) -> Array:
        """Forces on all freedoms under unit pressure on the cell of each place."""
        count, width = self.section.position.size, self.section.width
        slope = np.gradient(self.section.top, self.section.position)
        along, up = -slope / np.hypot(1.0, slope), 1.0 / np.hypot(1.0, slope)
        forces = np.zeros((3 * self._z.size * (self._levels - 1), count))
        for side in (-1, 1):
            for node, part in enumerate(HALF):
                line = 2 * np.arange(count) + side * node
                on = (2 * np.arange(count) + 2 * side >= 0) & (
                    2 * np.arange(count) + 2 * side < self._z.size
                )
                top = 3 * (line[on] * (self._levels - 1) + self._levels - 2)
                place = np.flatnonzero(on)
                forces[top + 1, place] -= part * width * up[on]
                forces[top + 2, place] -= part * width * along[on]
        return forces

    @cached_property
    def _groups(self) -> list[tuple[int, slice]]:
        """Groups of neighbouring places, and the first freedom that the loads of each move."""
        count = self.section.position.size
        borders = np.unique(np.linspace(0, count, _GROUPS + 1).astype(int)).tolist()
        groups = [slice(*ends) for ends in pairwise(borders)]
        return [(int(self._loads[:, group].any(axis=1).argmax()), group) for group in groups]

    def _assemble(self, material: Elastic) -> tuple[Array, ...]:
        """Lower bands of K0, K1 and K2; the base is fixed."""
        slopes, area, freedoms = self._geometry()
        value = np.einsum("ia,jb->ijab", _VALUE, _VALUE).reshape(9, 9)
        # Components xx, yy, zz, xy, yz, zx. Displacements along x, y, z.
        constant = np.zeros((len(area), 9, 6, 9, 3))
        for component, axis, direction in (
            (1, 1, 0),
            (2, 2, 1),
            (3, 0, 0),
            (4, 1, 1),
            (4, 2, 0),
            (5, 0, 1),
        ):
            constant[:, :, component, :, axis] = slopes[direction]
        linear = np.zeros((9, 6, 9, 3))
        for component, axis, sign in ((0, 0, 1.0), (3, 1, -1.0), (5, 2, -1.0)):
            linear[:, component, :, axis] = sign * value
        fixed, rising = constant.reshape(-1, 9, 6, 27), linear.reshape(9, 6, 27)
        stress = np.einsum("st,eptn->epsn", material.tensor, fixed) * area[..., None, None]
        even = np.einsum("epsm,epsn->emn", fixed, stress, optimize=True)
        mixed = np.einsum("psm,epsn->emn", rising, stress, optimize=True)
        square = np.einsum(
            "psm,st,ptn,ep->emn", rising, material.tensor, rising, area, optimize=True
        )
        parts = even, mixed + mixed.transpose(0, 2, 1), square
        bands = tuple(self._banded(part, freedoms) for part in parts)
        if self._mirrored:
            bands[0][0, 2 : 3 * (self._levels - 1) : 3] = 1.0
        return bands

    def _geometry(self) -> tuple[tuple[Array, Array], Array, Numbers]:
        """Derivatives of shape functions over y and z, areas of points, freedoms of elements."""
        lines, levels = self._y.shape
        number = np.arange(lines * levels).reshape(lines, levels)
        nodes = np.stack(
            [
                number[a : lines - 2 + a : 2, b : levels - 2 + b : 2]
                for a in range(3)
                for b in range(3)
            ],
            axis=-1,
        ).reshape(-1, 9)
        z, y = np.repeat(self._z, levels)[nodes], self._y.ravel()[nodes]
        over_line = np.einsum("ia,jb->ijab", _SLOPE, _VALUE).reshape(9, 9)
        over_level = np.einsum("ia,jb->ijab", _VALUE, _SLOPE).reshape(9, 9)
        z_line, y_line = z @ over_line.T, y @ over_line.T
        z_level, y_level = z @ over_level.T, y @ over_level.T
        size = z_line * y_level - y_line * z_level
        over_z = (y_level[..., None] * over_line - y_line[..., None] * over_level) / size[..., None]
        over_y = (z_line[..., None] * over_level - z_level[..., None] * over_line) / size[..., None]
        area = size * np.outer(_GAUSS_WEIGHT, _GAUSS_WEIGHT).ravel()
        line, level = np.divmod(nodes, levels)
        first = 3 * (line * (levels - 1) + level - 1)
        freedoms = np.where(level[..., None] > 0, first[..., None] + np.arange(3), -1)
        if self._mirrored:
            freedoms[line == 0, 2] = -1
        return (over_y, over_z), area, freedoms.reshape(-1, 27)

    def _banded(self, elements: Array, freedoms: Numbers) -> Array:
        """Lower bands of the matrix that the elements make."""
        size = 3 * self._z.size * (self._levels - 1)
        width = 3 * (2 * (self._levels - 1) + self._levels)
        row = np.broadcast_to(freedoms[:, :, None], elements.shape).ravel()
        column = np.broadcast_to(freedoms[:, None, :], elements.shape).ravel()
        used = (column >= 0) & (row >= column)
        place = (row - column)[used] + column[used] * (width + 1)
        summed = np.bincount(place, elements.ravel()[used], minlength=(width + 1) * size)
        return np.asarray(summed.reshape(size, width + 1).T)
