"""Stress of a bonded layer in slabs below its surface, by pressure and by plastic strain.

The layer is flat, elastic and bonded to a rigid base. It is cut into slabs of depth, in which
stress and plastic strain are means. In the plan, everything is a sum of waves.

Notes
-----
In the frame of a wave, x along it, y upwards and z across, displacements U(y) sin(k x), V(y)
cos(k x) are of plane strain, and W(y) cos(k x) is antiplane. Both are solved by quadratic finite
elements over the depth for every wave number k. With the mean strains B u of the slabs, stiffness
K and the elastic tensor D, a pressure f at the surface and plastic strains e of slabs of thickness
t give

    stress = D B K^-1 f + (D B K^-1 B' D t - D) e.

The deflection of the surface by plastic strain is the transpose of the stress by pressure (Betti):
it needs no solution of its own, and the work of both is equal to rounding.

This is semi-analytical elastic-plastic contact, with tables of a bonded layer in place of the
influence coefficients of a half-space.

References
----------
Jacq, C., et al. (2002), Development of a three-dimensional semi-analytical elastic-plastic contact
code, J. Tribol. 124 (named from memory; the paper was not read).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.contact._slab_kernels import FREE, fill_deflection, fill_pressed_stress, fill_stress
from kneewear.contact.line_elements import GAUSS, quadratic_elements, solve_banded
from kneewear.contact.material import Elastic
from kneewear.contact.slab_ends import FreeEnds, end_table

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# Depths between slabs, mm: thin below the surface, where stress changes most.
BORDERS = (0.0, 0.12, 0.3, 0.6, 1.1, 1.8, 2.8, 4.3, 6.5)
# Largest depth of a slab's lower border over the thickness of the layer.
_DEEPEST = 0.98
_GROWTH = 1.5  # of elements below the slabs
_THICK_SLAB = 0.3  # mm; thicker slabs have three elements, others two
MARGIN = 3.0  # thicknesses of unloaded surface: the Fourier transform repeats the window
_WAVES = 90  # wave numbers of the tables, between which they are interpolated
_SMALLEST_WAVE = 0.02  # 1/mm
_WAVE_STEP = 0.25  # 1/mm
NO_ENDS = ((math.inf, math.inf), (math.inf, math.inf))
_ALIASES = (-1, 0, 1)  # of the columns: ends of contact are one or two of them wide
# Order of the components in spectra, zz last, and from there to the order of the fields.
_LAST_ZZ = (0, 1, 3, 4, 5, 2)
_ZZ_THIRD = (0, 1, 5, 2, 3, 4)
# Components of the plane part in the frame of a wave: xx, yy, zz, xy (engineering).
_PLANE = 4
_SHEAR = 2  # of the antiplane part: yz, zx (engineering)


@dataclass(frozen=True)
class SlabResponse:
    """Mean stresses of M slabs by waves of n wave numbers, in the frame of the wave.

    `pressure` (n, M, 4) belongs to a unit pressure wave; `plane` (n, 4 M, 4 M) and `antiplane`
    (n, 2 M, 2 M), MPa, are those of plastic strain in the slabs while the surface is free. Shear
    components of the plane part are of sin(k x), the others of cos(k x).
    """

    pressure: Array
    plane: Array
    antiplane: Array


def slab_response(
    wave: ArrayLike, thickness: float, material: Elastic, borders: ArrayLike
) -> SlabResponse:
    """Solve the layer for wave numbers, 1/mm; `borders` are depths of the slabs from zero, mm."""
    wave, borders = np.asarray(wave, dtype=float), np.asarray(borders, dtype=float)
    elements, plane, antiplane, surface = _layer_strains(wave, thickness, borders)
    tensor = material.tensor[:_PLANE, :_PLANE]
    by_pressure, by_strain = _solve(plane, elements, tensor, surface)
    shear = material.shear_modulus * np.eye(_SHEAR)
    _, by_shear = _solve(antiplane, elements, shear, np.zeros(antiplane.shape[-1]))
    return SlabResponse(by_pressure.reshape(wave.size, -1, _PLANE), by_strain, by_shear)


def pressure_response(
    wave: ArrayLike, thickness: float, material: Elastic, borders: ArrayLike
) -> Array:
    """`SlabResponse.pressure` alone."""
    wave, borders = np.asarray(wave, dtype=float), np.asarray(borders, dtype=float)
    elements, plane, _, surface = _layer_strains(wave, thickness, borders)
    tensor = material.tensor[:_PLANE, :_PLANE]
    by_pressure, _ = _solve(plane, elements, tensor, surface, by_plastic_strain=False)
    return by_pressure.reshape(wave.size, -1, _PLANE)


class _SlabElements(NamedTuple):
    """Weights of Gauss points, their part in the mean of a slab, and thicknesses of slabs."""

    weight: Array
    mean: Array
    height: Array


def _layer_strains(
    wave: Array, thickness: float, borders: Array
) -> tuple[_SlabElements, Array, Array, Array]:
    """Elements, their plane and antiplane strains by displacements, and a force at the surface."""
    lines = _element_borders(borders, thickness)
    depth, weight, value, slope = quadratic_elements(lines)
    count, free = wave.size, value.shape[1] - 1  # the base is fixed
    value, slope = value[:, :free], slope[:, :free]
    height = np.diff(borders)
    inside = (depth > borders[:-1, None]) & (depth < borders[1:, None])
    mean = inside * weight / height[:, None]

    points = depth.size
    plane = np.zeros((count, points, _PLANE, 2 * free))
    plane[:, :, 0, :free] = wave[:, None, None] * value
    plane[:, :, 1, free:] = slope
    plane[:, :, 3, :free] = slope
    plane[:, :, 3, free:] = -wave[:, None, None] * value
    antiplane = np.zeros((count, points, _SHEAR, free))
    antiplane[:, :, 0] = slope
    antiplane[:, :, 1] = wave[:, None, None] * value

    surface = np.zeros(2 * free)
    surface[free] = -1.0  # on V of the first node
    return _SlabElements(weight, mean, height), plane, antiplane, surface


def _element_borders(borders: Array, thickness: float) -> Array:
    """Depths between the elements, from the surface to the base."""
    lines = [0.0]
    for low, high in pairwise(borders):
        number = 3 if high - low > _THICK_SLAB else 2
        lines.extend(np.linspace(low, high, number + 1)[1:])
    step = lines[-1] - lines[-2]
    while lines[-1] < thickness * (1.0 - 1e-9):
        step = min(_GROWTH * step, thickness - lines[-1])
        lines.append(lines[-1] + step)
    return np.array(lines)


def _solve(
    strain: Array,
    elements: _SlabElements,
    tensor: Array,
    surface: Array,
    *,
    by_plastic_strain: bool = True,
) -> tuple[Array, Array]:
    """Mean stresses of the slabs by a force at the surface, and by their plastic strains."""
    weight, mean, height = elements
    count, points, parts, size = strain.shape
    own = strain.reshape(count, points * parts, size)
    stress = (tensor @ strain * weight[:, None, None]).reshape(own.shape)
    slabs = np.einsum("mp,npaf->nmaf", mean, strain).reshape(count, height.size * parts, size)
    whole = np.kron(np.eye(height.size), tensor)
    forces = slabs.transpose(0, 2, 1) @ (whole * np.repeat(height, parts))
    right = np.broadcast_to(surface[:, None], (count, size, 1))
    if by_plastic_strain:
        right = np.concatenate([right, forces], axis=2)
    # Displacements of a node beside each other, so that few diagonals are occupied.
    free = points // GAUSS * 2
    order = np.arange(size).reshape(-1, free).T.ravel()
    stiffness = _stiffness(own[:, :, order], stress[:, :, order], GAUSS * parts)
    moved = np.empty_like(right)
    moved[:, order] = solve_banded(stiffness, right[:, order])
    strains = slabs @ moved
    identity = np.eye(height.size * parts) if by_plastic_strain else 0.0
    return (whole @ strains[:, :, :1])[..., 0], whole @ (strains[:, :, 1:] - identity)


def _stiffness(strain: Array, stress: Array, rows: int) -> Array:
    """Stiffness (wave, n, n) of strains and stresses (wave, point, n), by elements of some rows."""
    count, points, size = strain.shape
    stiffness = np.zeros((count, size, size))
    for first in range(0, points, rows):
        own = slice(first, first + rows)
        inside = np.flatnonzero(strain[:, own].any(axis=(0, 1)))
        part = strain[:, own, inside], stress[:, own, inside]
        stiffness[:, inside[:, None], inside] += np.einsum("npi,npj->nij", *part)
    return stiffness


class StrainWaves(NamedTuple):
    """Plastic strain of a window: its spectrum, and its amplitudes at the free ends."""

    spectrum: Complex
    ends: list[Array]


@dataclass(frozen=True)
class SlabWindow:
    """Slabs below a window of equal cells in the plan of a flat layer.

    Parameters
    ----------
    shape : int, int
        Rows along x and columns along z.
    cell : float, float
        Edges of a cell, mm.
    thickness : float
        Thickness of the layer, mm.
    material : Elastic
        Elastic part of the material.
    borders : tuple of float
        Depths between the slabs, ascending from zero, mm; those deeper than the layer are left out.
    margin : float
        Unloaded surface around the window, in thicknesses: the Fourier transform repeats both.
    single : bool
        Whether spectra and tables are of single precision, which halves the time.
    ends : pairs of float
        Distances, mm, from the window to the free ends of the layer before and after it, along x
        and along z; infinite where the layer goes on.

    Notes
    -----
    Fields of the slabs have the shape (6, M, rows, columns) with the tensor components xx, yy, zz,
    xy, yz, zx (not engineering shear), y upwards. Beyond the window the layer is unloaded. What two
    ends do to each other, across the layer and at a corner, is left out.
    """

    shape: tuple[int, int]
    cell: tuple[float, float]
    thickness: float
    material: Elastic
    borders: tuple[float, ...] = BORDERS
    margin: float = MARGIN
    single: bool = False
    ends: tuple[tuple[float, float], tuple[float, float]] = NO_ENDS

    @cached_property
    def depths(self) -> Array:
        """Depths of the borders of the slabs, mm."""
        return np.array([depth for depth in self.borders if depth < _DEEPEST * self.thickness])

    @cached_property
    def heights(self) -> Array:
        """Thicknesses of the slabs, mm."""
        return np.diff(self.depths)

    @property
    def field_shape(self) -> tuple[int, int, int, int]:
        """Shape of a tensor field of the slabs."""
        return 6, self.heights.size, *self.shape

    def deflection(self, plastic: Array) -> Array:
        """Downward deflection of the surface (rows, columns) by plastic strain in the slabs, mm."""
        ends = [own.amplitudes_of_strain(plastic) for own in self._ends_of_all]
        return self.deflection_of(StrainWaves(self._transform(plastic[list(_LAST_ZZ)]), ends))

    def stress(self, pressure: Array, plastic: Array) -> Array:
        """Mean stress of the slabs, MPa, by pressure (rows, columns), MPa, and plastic strain."""
        waves = self._stress_waves(pressure, self._transform(plastic[list(_LAST_ZZ)]))
        field = self._inverse(waves)[list(_ZZ_THIRD)]
        for ends in self._ends_of_all:
            amplitude = ends.amplitudes_of_strain(plastic)
            field = field + ends.stress(amplitude + ends.amplitudes_of_pressure(pressure))
        return field

    def waves(self, plastic: Array) -> StrainWaves:
        """Waves of plastic strain, which has no trace, for `deflection_of` and `deviator`."""
        yielding = plastic.any(axis=(0, 2, 3))
        spectrum = np.zeros(
            (FREE, self.heights.size, *self._direction[0].shape),
            np.complex64 if self.single else np.complex128,
        )
        parts = np.ix_(np.array(_LAST_ZZ[:-1]), np.flatnonzero(yielding))
        spectrum[:, yielding] = self._transform(plastic[parts])
        ends = [own.amplitudes_of_strain(plastic[list(_LAST_ZZ[:-1])]) for own in self._ends]
        return StrainWaves(spectrum, ends)

    def deflection_of(self, waves: StrainWaves) -> Array:
        """Downward deflection of the surface (rows, columns) by waves of plastic strain."""
        deflection = np.empty_like(waves.spectrum[0, 0])
        fill_deflection(
            waves.spectrum, *self._direction, self._by_pressure, self.heights, deflection
        )
        field = self._inverse(deflection)
        for ends, amplitude in zip(self._ends, waves.ends, strict=True):
            field = field + ends.deflection(amplitude)
        return field

    def deviator(self, pressure: Array, waves: StrainWaves) -> Array:
        """Stress by pressure and by waves of plastic strain, without its pressure.

        Components (5, M, rows, columns) are xx and yy beyond zz, xy, yz and zx.
        """
        field = self._inverse(self._stress_waves(pressure, waves.spectrum))
        for ends, amplitude in zip(self._ends, waves.ends, strict=True):
            field += ends.stress(amplitude + ends.amplitudes_of_pressure(pressure))
        return field

    def pressed_deviator(self, pressure: Array) -> Array:
        """The part of `deviator` by pressure alone, in a fraction of its time."""
        shape = FREE, self.heights.size, *self._direction[0].shape
        stress = np.empty(shape, np.complex64 if self.single else np.complex128)
        pressed = self._transform(pressure)
        fill_pressed_stress(pressed, *self._direction, self._by_pressure, stress)
        field = self._inverse(stress)
        for ends in self._ends:
            field += ends.stress(ends.amplitudes_of_pressure(pressure))
        return field

    @cached_property
    def _ends(self) -> list[FreeEnds]:
        """Ends of the layer that matter to the window, by direction, for strain without trace."""
        field = []
        for axis, distances in enumerate(self.ends):
            if min(distances) == math.inf:
                continue
            rows, columns = self.shape
            width, length = self.cell
            ends = FreeEnds(
                axis,
                distances,
                self.cell if axis == 1 else (length, width),
                self.shape if axis == 1 else (columns, rows),
                self._size[1 - axis],
                tuple(self.heights.tolist()),
                end_table(self.thickness, self.material),
                FREE,
                self.single,
            )
            if ends.near:
                field.append(ends)
        return field

    @cached_property
    def _ends_of_all(self) -> list[FreeEnds]:
        """Ends with all six components of stress and strain."""
        return [replace(ends, parts=6) for ends in self._ends]

    def _stress_waves(self, pressure: Array, waves: Complex) -> Complex:
        stress = np.empty_like(waves)
        fill_stress(
            waves,
            self._transform(pressure),
            *self._direction,
            self._by_pressure,
            *self._tables,
            stress,
        )
        return stress

    @cached_property
    def _size(self) -> tuple[int, int]:
        margins = (self.margin * self.thickness / edge for edge in self.cell)
        rows, columns = (
            scipy.fft.next_fast_len(number + math.ceil(margin), real=True)
            for number, margin in zip(self.shape, margins, strict=True)
        )
        return rows, columns

    @cached_property
    def _waves(self) -> tuple[Array, Array]:
        """Wave numbers along x of the first half of the rows, and along z, 1/mm."""
        rows, columns = self._size
        half = np.abs(np.fft.fftfreq(rows, self.cell[0])[: rows // 2 + 1])
        along = 2.0 * np.pi * half[:, None]
        return along, np.asarray(2.0 * np.pi * np.fft.rfftfreq(columns, self.cell[1]), dtype=float)

    @cached_property
    def _direction(self) -> tuple[Array, Array]:
        """Cosine and sine of the directions of all waves; the uniform one is along x."""
        rows, columns = self._size
        along = np.fft.fftfreq(rows, self.cell[0])[:, None]
        across = np.fft.rfftfreq(columns, self.cell[1])
        length = np.hypot(along, across)
        whole = np.where(length == 0.0, 1.0, length)
        cos = np.where(length == 0.0, 1.0, along / whole)
        return self._stored(cos), self._stored(across / whole)

    @cached_property
    def _tables(self) -> tuple[Array, Array]:
        """Stress by plastic strain, plane and antiplane, at the wave numbers of half the rows.

        Matrices are transposed: kernels add multiples of their columns.
        """
        along, across = self._waves
        wave = np.hypot(along, across)
        nodes, response = _kept_response(*self._layer(float(wave.max())))
        plane, antiplane = (
            self._stored(
                scipy.interpolate.CubicSpline(nodes, part.swapaxes(1, 2))(wave.ravel()).reshape(
                    *wave.shape, *part.shape[1:]
                )
            )
            for part in (response.plane, response.antiplane)
        )
        return plane, antiplane

    @cached_property
    def _by_pressure(self) -> Array:
        """Stress by uniform pressures of the cells (half the rows, columns of spectra, M, 4)."""
        along, across = self._waves
        cell_x, cell_z = self.cell
        period = 2.0 * np.pi / cell_z
        longest = np.hypot(along.max(), across.max() + max(_ALIASES) * period)
        table = scipy.interpolate.CubicSpline(*_kept_pressure(*self._layer(float(longest))))
        total = np.zeros((*np.broadcast_shapes(along.shape, across.shape), self.heights.size, 4))
        for alias in _ALIASES:
            shifted = across + alias * period
            share = np.sinc(0.5 * cell_x / np.pi * along) * np.sinc(0.5 * cell_z / np.pi * shifted)
            wave = np.hypot(along, shifted)
            own = table(wave.ravel()).reshape(*wave.shape, self.heights.size, 4)
            # Shear changes its sign with the direction of the wave.
            own[..., 3] *= np.where(shifted < 0.0, -1.0, 1.0)[None, :, None]
            total += share[..., None, None] * own
        return self._stored(total)

    def _layer(self, longest: float) -> tuple[int, float, Elastic, tuple[float, ...]]:
        """Arguments of `_kept_response` and `_kept_pressure` for wave numbers up to the longest."""
        # Rounded up, so that windows of nearly equal cells share it.
        steps = math.ceil(longest / _WAVE_STEP)
        return steps, self.thickness, self.material, tuple(self.depths.tolist())

    def _stored(self, table: Array) -> Array:
        """A table as kernels read it."""
        return np.ascontiguousarray(table, dtype=np.float32 if self.single else np.float64)

    def _transform(self, field: Array) -> Complex:
        own = field.astype(np.float32) if self.single else field
        waves = scipy.fft.rfft(own, self._size[1], axis=-1)
        return np.asarray(scipy.fft.fft(waves, self._size[0], axis=-2))

    def _inverse(self, waves: Complex) -> Array:
        rows, columns = self.shape
        part = scipy.fft.ifft(waves, axis=-2)[..., :rows, :]
        return np.asarray(scipy.fft.irfft(part, self._size[1], axis=-1)[..., :columns])


@lru_cache(maxsize=8)
def _kept_response(
    steps: int, thickness: float, material: Elastic, borders: tuple[float, ...]
) -> tuple[Array, SlabResponse]:
    """Wave numbers up to some steps, 1/mm, and the response of a layer; the last are kept."""
    nodes = _wave_nodes(_WAVE_STEP * steps)
    return nodes, slab_response(nodes, thickness, material, borders)


@lru_cache(maxsize=8)
def _kept_pressure(
    steps: int, thickness: float, material: Elastic, borders: tuple[float, ...]
) -> tuple[Array, Array]:
    """Wave numbers up to some steps, 1/mm, and the stress by pressure; the last are kept."""
    nodes = _wave_nodes(_WAVE_STEP * steps)
    return nodes, pressure_response(nodes, thickness, material, borders)


def _wave_nodes(longest: float) -> Array:
    """Wave numbers of a table that reaches to the longest one, from zero, 1/mm."""
    return np.concatenate([[0.0], np.geomspace(_SMALLEST_WAVE, 1.001 * longest, _WAVES)])
