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
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.interpolate import CubicSpline

from kneewear.contact.material import Elastic

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# Depths between slabs, mm: thin below the surface, where stress changes most.
BORDERS = (0.0, 0.12, 0.3, 0.6, 1.1, 1.8, 2.8, 4.3, 6.5)
# Largest depth of a slab's lower border over the thickness of the layer.
_DEEPEST = 0.98
_GROWTH = 1.5  # of elements below the slabs
_THICK_SLAB = 0.3  # mm; thicker slabs have three elements, others two
_MARGIN = 3.0  # thicknesses of unloaded surface: the Fourier transform repeats the window
_WAVES = 90  # wave numbers of the tables, between which they are interpolated
_SMALLEST_WAVE = 0.02  # 1/mm
_ALIASES = (-1, 0, 1)  # of the columns: ends of contact are one or two of them wide
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
    lines = _element_borders(borders, thickness)
    depth, weight, value, slope = _quadratic_elements(lines)
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
    tensor = material.tensor[:_PLANE, :_PLANE]
    by_pressure, by_strain = _solve(plane, weight, mean, height, tensor, surface)
    shear = material.shear_modulus * np.eye(_SHEAR)
    _, by_shear = _solve(antiplane, weight, mean, height, shear, np.zeros(free))
    return SlabResponse(by_pressure.reshape(count, height.size, _PLANE), by_strain, by_shear)


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


def _quadratic_elements(lines: Array) -> tuple[Array, Array, Array, Array]:
    """Depths and weights (p,) of Gauss points; values and upward slopes (p, nodes) of functions."""
    gauss, weights = np.polynomial.legendre.leggauss(3)
    length = np.diff(lines)
    depth = lines[:-1, None] + 0.5 * length[:, None] * (1.0 + gauss)
    shape = np.stack([0.5 * gauss * (gauss - 1.0), 1.0 - gauss**2, 0.5 * gauss * (gauss + 1.0)])
    change = np.stack([gauss - 0.5, -2.0 * gauss, gauss + 0.5])
    value = np.zeros((length.size, 3, 2 * length.size + 1))
    slope = np.zeros_like(value)
    for number, own in enumerate(length):
        nodes = slice(2 * number, 2 * number + 3)
        value[number, :, nodes] = shape.T
        slope[number, :, nodes] = -2.0 / own * change.T  # depth grows downwards
    points = depth.size
    weight = 0.5 * length[:, None] * weights
    return depth.ravel(), weight.ravel(), value.reshape(points, -1), slope.reshape(points, -1)


def _solve(
    strain: Array, weight: Array, mean: Array, height: Array, tensor: Array, surface: Array
) -> tuple[Array, Array]:
    """Mean stresses of the slabs by a force at the surface, and by their plastic strains."""
    count, points, parts, size = strain.shape
    own = strain.reshape(count, points * parts, size)
    stress = (tensor @ strain * weight[:, None, None]).reshape(own.shape)
    stiffness = own.transpose(0, 2, 1) @ stress
    slabs = np.einsum("mp,npaf->nmaf", mean, strain).reshape(count, height.size * parts, size)
    whole = np.kron(np.eye(height.size), tensor)
    forces = slabs.transpose(0, 2, 1) @ (whole * np.repeat(height, parts))
    right = np.concatenate([np.broadcast_to(surface[:, None], (count, size, 1)), forces], axis=2)
    strains = slabs @ np.linalg.solve(stiffness, right)
    identity = np.eye(height.size * parts)
    return (whole @ strains[:, :, :1])[..., 0], whole @ (strains[:, :, 1:] - identity)


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

    Notes
    -----
    Fields of the slabs have the shape (6, M, rows, columns) with the tensor components xx, yy, zz,
    xy, yz, zx (not engineering shear), y upwards. Beyond the window the layer is unloaded.
    """

    shape: tuple[int, int]
    cell: tuple[float, float]
    thickness: float
    material: Elastic
    borders: tuple[float, ...] = BORDERS

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
        plane, _ = self._in_wave_frame(self._transform(plastic))
        waves = np.einsum("m,akmi,akmi->ak", self.heights, self._by_pressure, plane)
        return self._inverse(waves)

    def stress(self, pressure: Array, plastic: Array) -> Array:
        """Mean stress of the slabs, MPa, by pressure (rows, columns), MPa, and plastic strain."""
        spectrum = self._transform(plastic)
        plane, antiplane = self._in_wave_frame(spectrum)
        count = self.heights.size
        shape = plane.shape[:2]
        plane_stress = self._product(self._by_plane, plane.reshape(*shape, count * _PLANE))
        plane_stress = plane_stress.reshape(*shape, count, _PLANE)
        plane_stress += self._by_pressure * self._transform(pressure)[..., None, None]
        shear = self._product(self._by_antiplane, antiplane.reshape(*shape, count * _SHEAR))
        return self._inverse(self._in_grid_frame(plane_stress, shear.reshape(*shape, count, 2)))

    @cached_property
    def _size(self) -> tuple[int, int]:
        margins = (_MARGIN * self.thickness / edge for edge in self.cell)
        rows, columns = (
            fft.next_fast_len(number + math.ceil(margin), real=True)
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
        return np.asarray(cos), np.asarray(across / whole)

    @cached_property
    def _tables(self) -> tuple[Array, Array]:
        """Stress by plastic strain, plane and antiplane, at the wave numbers of half the rows."""
        along, across = self._waves
        wave = np.hypot(along, across)
        nodes = _wave_nodes(wave.max())
        response = slab_response(nodes, self.thickness, self.material, self.depths)
        plane, antiplane = (
            CubicSpline(nodes, part)(wave.ravel()).reshape(*wave.shape, *part.shape[1:])
            for part in (response.plane, response.antiplane)
        )
        return plane, antiplane

    @property
    def _by_plane(self) -> Array:
        return self._tables[0]

    @property
    def _by_antiplane(self) -> Array:
        return self._tables[1]

    @cached_property
    def _by_pressure(self) -> Array:
        """Stress by uniform pressures of the cells (all rows, columns of the spectrum, M, 4)."""
        along, across = self._waves
        cell_x, cell_z = self.cell
        period = 2.0 * np.pi / cell_z
        longest = np.hypot(along.max(), across.max() + max(_ALIASES) * period)
        nodes = _wave_nodes(longest)
        table = CubicSpline(
            nodes, slab_response(nodes, self.thickness, self.material, self.depths).pressure
        )
        total = np.zeros((*np.broadcast_shapes(along.shape, across.shape), self.heights.size, 4))
        for alias in _ALIASES:
            shifted = across + alias * period
            share = np.sinc(0.5 * cell_x / np.pi * along) * np.sinc(0.5 * cell_z / np.pi * shifted)
            wave = np.hypot(along, shifted)
            own = table(wave.ravel()).reshape(*wave.shape, self.heights.size, 4)
            # Shear changes its sign with the direction of the wave.
            own[..., 3] *= np.where(shifted < 0.0, -1.0, 1.0)[None, :, None]
            total += share[..., None, None] * own
        return np.asarray(total[self._half])

    @cached_property
    def _half(self) -> NDArray[np.int64]:
        """Row of half the rows with the same wave number, of every row."""
        rows = np.arange(self._size[0])
        return np.minimum(rows, self._size[0] - rows)

    def _transform(self, field: Array) -> Complex:
        waves = fft.rfft(field, self._size[1], axis=-1)
        return np.asarray(fft.fft(waves, self._size[0], axis=-2))

    def _inverse(self, waves: Complex) -> Array:
        rows, columns = self.shape
        part = fft.ifft(waves, axis=-2)[..., :rows, :]
        return np.asarray(fft.irfft(part, self._size[1], axis=-1)[..., :columns])

    def _in_wave_frame(self, spectrum: Complex) -> tuple[Complex, Complex]:
        """Components of the frames of the waves: (rows, columns, M, 4) and (rows, columns, M, 2).

        Shear is engineering strain; components of the sine are multiplied by i.
        """
        cos, sin = self._direction
        xx, yy, zz, xy, yz, zx = spectrum
        both = 2.0 * cos * sin * zx
        plane = (
            cos**2 * xx + sin**2 * zz + both,
            yy,
            sin**2 * xx + cos**2 * zz - both,
            2j * (cos * xy + sin * yz),
        )
        antiplane = (
            2.0 * (cos * yz - sin * xy),
            -2j * (cos * sin * (zz - xx) + (cos**2 - sin**2) * zx),
        )
        return (
            np.stack(plane, axis=-1).transpose(1, 2, 0, 3),
            np.stack(antiplane, axis=-1).transpose(1, 2, 0, 3),
        )

    def _in_grid_frame(self, plane: Complex, antiplane: Complex) -> Complex:
        """Spectrum (6, M, rows, columns) of stresses in the frames of the waves."""
        cos, sin = self._direction
        xx, yy, zz, xy = plane.transpose(3, 2, 0, 1)
        yz, zx = antiplane.transpose(3, 2, 0, 1)
        xy, zx = -1j * xy, 1j * zx
        both = 2.0 * cos * sin * zx
        return np.stack(
            (
                cos**2 * xx + sin**2 * zz - both,
                yy,
                sin**2 * xx + cos**2 * zz + both,
                cos * xy - sin * yz,
                sin * xy + cos * yz,
                cos * sin * (xx - zz) + (cos**2 - sin**2) * zx,
            )
        )

    def _product(self, table: Array, waves: Complex) -> Complex:
        """Product of real matrices of half the rows with the waves of all rows.

        Rows of opposite wave numbers share a matrix, which is read once for both.
        """
        rows = self._size[0]
        half = np.arange(rows // 2 + 1)
        opposite = -half % rows
        both = np.stack([waves[half], waves[opposite]], axis=-1)
        real = table @ np.concatenate([both.real, both.imag], axis=-1)
        product = np.empty_like(waves)
        product[half] = real[..., 0] + 1j * real[..., 2]
        product[opposite] = real[..., 1] + 1j * real[..., 3]
        return product


def _wave_nodes(longest: float) -> Array:
    """Wave numbers of a table that reaches to the longest one, from zero, 1/mm."""
    return np.concatenate([[0.0], np.geomspace(_SMALLEST_WAVE, 1.001 * longest, _WAVES)])
