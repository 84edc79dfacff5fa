"""Free ends of a bonded layer below its surface: the stress of slabs beyond a wide layer.

Notes
-----
A layer that ends at a plane is softer than a layer that goes on. Both are prismatic along the end,
so that every wave number along it is a problem of the cross-section alone, as in
`kneewear.contact.strips`. The layer that goes on is the ending one, joined at the plane to its
mirror image. With the compliance C of the nodes at the end, its mirror image J C J (displacements
across the end change their sign), and the displacements P by unit forces there, the ending layer
responds to loads f by

    P' (C + J C J)^-1 P f

more than the other one: the exact difference of two finite strips from one solution, symmetric,
positive and of the rank of the nodes at the end. A load is a pressure on the surface or a plastic
strain; its response is a deflection or a stress.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.base.one_thread import on_one_thread
from kneewear.contact._end_kernels import add_amplitudes, fill_waves
from kneewear.contact.line_elements import quadratic_elements, solve_banded
from kneewear.contact.material import Elastic

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# Depths between the cells, mm; below them, elements grow to the base.
_BORDERS = (0.0, 0.8, 2.0, 4.0, 6.5)
_THINNEST = 0.5  # mm; a cell that the base cuts to less joins the one above
_GROWTH = 1.7  # of elements below the cells
# Lengths of cells from the end on: the first, mm, and their growth. Loads far from the end cause
# smooth stress there.
_FIRST = 0.7
_LENGTHENING = 1.22
# Thicknesses from the end up to which there are cells, and up to which the layer goes on.
_REACH = 2.5
_TAIL = 4.5
# Wave numbers along the end, 1/mm, between which tables are interpolated.
_WAVES = (0.0, 0.03, 0.07, 0.12, 0.18, 0.26, 0.36, 0.5, 0.7, 0.95, 1.3, 1.8, 2.4)
# Waves act over their length: more than so many over the distance of a load are left out.
_DECAY = 5.0
# Thicknesses up to which an end beside a window matters: beyond, it changes stress by less than
# 0.5 % of the largest.
_FARTHEST = 1.5
_TOGETHER = 5  # wave numbers that are solved at once
_COMPONENTS = 6


class EndTable(NamedTuple):
    """Modes of an end by wave number along it.

    `border` (cells + 1,) are distances between the cells from the end of a layer of `thickness`,
    and `depth` (levels + 1,) those from its surface, mm. `stress` (waves, levels, cells, 6, modes),
    MPa, are mean stresses of the cells, and `surface` (waves, cells, modes) the work of a unit
    pressure on each, per length along the end. The difference of two responses is the sum of
    products over all modes.
    """

    thickness: float
    border: Array
    depth: Array
    stress: Array
    surface: Array


@lru_cache(maxsize=8)
@on_one_thread
def end_table(thickness: float, material: Elastic) -> EndTable:
    """Modes of an end at the wave numbers of the tables."""
    border, line = _lengths(thickness)
    depth, level = _depths(thickness)
    along, below = _Line.of(line), _Line.of(level).fixed()
    parts = [
        _modes(waves, along, below, material, border.size - 1, depth.size - 1)
        for waves in np.split(np.array(_WAVES), range(_TOGETHER, len(_WAVES), _TOGETHER))
    ]
    stress, surface = (np.concatenate(part) for part in zip(*parts, strict=True))
    return EndTable(thickness, border, depth, stress, surface)


def _lengths(thickness: float) -> tuple[Array, Array]:
    """Distances from the end between the cells, and between all columns of elements, mm."""
    lines = [0.0]
    while lines[-1] < _TAIL * thickness:
        lines.append(lines[-1] + _FIRST * _LENGTHENING ** (len(lines) - 1))
    whole = np.array(lines)
    return whole[: int(np.searchsorted(whole, _REACH * thickness)) + 1], whole


def _depths(thickness: float) -> tuple[Array, Array]:
    """Depths between the cells, and between all layers of elements down to the base, mm."""
    lines = [depth for depth in _BORDERS if depth < thickness - _THINNEST]
    if thickness < _BORDERS[-1] + _THINNEST:
        lines.append(thickness)
    cells = np.array(lines)
    while lines[-1] < thickness * (1.0 - 1e-9):
        step = min(_GROWTH * (lines[-1] - lines[-2]), thickness - lines[-1])
        lines.append(lines[-1] + step)
    return cells, np.array(lines)


class _Line(NamedTuple):
    """Quadratic functions on a line: integrals of products, and means over the elements.

    `mass` is of two values, `stiffness` of two slopes, `mixed` of a value and a slope.
    """

    mass: Array
    stiffness: Array
    mixed: Array
    value: Array
    slope: Array
    length: Array

    @classmethod
    def of(cls, lines: Array) -> _Line:
        """Functions of elements between lines."""
        _, weight, value, downward = quadratic_elements(lines)
        slope = -downward
        weighted = value * weight[:, None]
        length = np.diff(lines)
        points = weight.reshape(length.size, -1) / length[:, None]
        means = [
            np.einsum("ep,epn->en", points, part.reshape(*points.shape, -1))
            for part in (value, slope)
        ]
        return cls(
            mass=np.einsum("pi,pj->ij", weighted, value),
            stiffness=np.einsum("pi,pj->ij", slope * weight[:, None], slope),
            mixed=np.einsum("pi,pj->ij", weighted, slope),
            value=means[0],
            slope=means[1],
            length=length,
        )

    def fixed(self) -> _Line:
        """Functions without the last node, which is fixed; slopes are upwards."""
        value, slope = self.value[:, :-1], -self.slope[:, :-1]
        return _Line(
            mass=self.mass[:-1, :-1],
            stiffness=self.stiffness[:-1, :-1],
            mixed=-self.mixed[:-1, :-1],
            value=value,
            slope=slope,
            length=self.length,
        )


def _modes(
    wave: Array, along: _Line, below: _Line, material: Elastic, cells: int, levels: int
) -> tuple[Array, Array]:
    """`EndTable.stress` and `EndTable.surface` at wave numbers."""
    nodes = below.mass.shape[0]
    size = 3 * nodes * along.mass.shape[0]
    constant, linear, square = _stiffness(along, below, material)
    at = wave[:, None, None]
    matrix = constant + at * linear + at**2 * square
    forces = np.zeros((wave.size, size, 3 * nodes))
    forces[:] = np.eye(size, 3 * nodes)
    moved = solve_banded(matrix, forces)

    count = cells * levels * _COMPONENTS
    stress = np.empty((wave.size, count, 3 * nodes))
    for number, own in enumerate(wave):
        stress[number] = _cell_stress(own, along, below, material, cells, levels) @ moved[number]
    top = moved.reshape(wave.size, -1, nodes, 3, 3 * nodes)[:, :, 0, 1]
    surface = -np.einsum("ca,waf->wcf", along.value * along.length[:, None], top)[:, :cells]
    both = np.concatenate([stress, surface], axis=1)
    # Forces across are apart from the others: the mirror image changes the sign of these alone.
    across = np.arange(3 * nodes) % 3 == 2
    halves = [
        _whitened(moved[:, : 3 * nodes][:, own][:, :, own], both[:, :, own].swapaxes(1, 2))
        for own in (~across, across)
    ]
    modes = np.concatenate(halves, axis=1).swapaxes(1, 2) / np.sqrt(2.0)
    shape = wave.size, levels, cells, _COMPONENTS, 3 * nodes
    return modes[:, :count].reshape(shape), modes[:, count:]


def _stiffness(along: _Line, below: _Line, material: Elastic) -> tuple[Array, Array, Array]:
    """Parts of the stiffness of zeroth, first and second order in the wave number.

    Displacements u sin(k x), v cos(k x), w cos(k x) of a node follow each other.
    """
    shear = material.shear_modulus
    first = material.bulk_modulus - 2.0 / 3.0 * shear
    whole = first + 2.0 * shear
    count = along.mass.shape[0] * below.mass.shape[0]
    constant, linear, square = (np.zeros((count, 3, count, 3)) for _ in range(3))
    mass = np.kron(along.mass, below.mass)
    upright = np.kron(along.mass, below.stiffness)
    across = np.kron(along.stiffness, below.mass)
    constant[:, 0, :, 0] = shear * (upright + across)
    constant[:, 1, :, 1] = whole * upright + shear * across
    constant[:, 2, :, 2] = whole * across + shear * upright
    crossed = first * np.kron(along.mixed, below.mixed.T)
    crossed += shear * np.kron(along.mixed.T, below.mixed)
    constant[:, 1, :, 2], constant[:, 2, :, 1] = crossed, crossed.T
    for axis, part in (
        (1, np.kron(along.mass, first * below.mixed - shear * below.mixed.T)),
        (2, np.kron(first * along.mixed - shear * along.mixed.T, below.mass)),
    ):
        linear[:, 0, :, axis], linear[:, axis, :, 0] = part, part.T
    for axis, modulus in enumerate((whole, shear, shear)):
        square[:, axis, :, axis] = modulus * mass
    size = 3 * count
    return constant.reshape(size, size), linear.reshape(size, size), square.reshape(size, size)


def _cell_stress(
    wave: float, along: _Line, below: _Line, material: Elastic, cells: int, levels: int
) -> scipy.sparse.csr_array:
    """Mean stresses (level, cell, component) by the displacements of all nodes."""
    value, slope = along.value[:cells], along.slope[:cells]
    height, rise = below.value[:levels], below.slope[:levels]
    mean, upright, across = (
        # Levels first, as in the table; nodes with the depth last.
        np.einsum("ca,lb->lcab", *pair).reshape(cells * levels, -1)
        for pair in ((value, height), (value, rise), (slope, height))
    )
    strain = np.zeros((cells * levels, _COMPONENTS, mean.shape[1], 3))
    strain[:, 0, :, 0] = wave * mean
    strain[:, 1, :, 1], strain[:, 2, :, 2] = upright, across
    strain[:, 3, :, 0], strain[:, 3, :, 1] = upright, -wave * mean
    strain[:, 4, :, 1], strain[:, 4, :, 2] = across, upright
    strain[:, 5, :, 0], strain[:, 5, :, 2] = across, -wave * mean
    # Sparse: a cell has few nodes.
    flat = scipy.sparse.csr_array(strain.reshape(cells * levels * _COMPONENTS, -1))
    tensor = scipy.sparse.csr_array(material.tensor)
    return scipy.sparse.kron(scipy.sparse.eye_array(cells * levels), tensor, format="csr") @ flat


def _whitened(matrix: Array, right: Array) -> Array:
    """L^-1 right, with the Cholesky factor L of positive definite matrices (wave, n, n)."""
    return np.linalg.solve(np.linalg.cholesky(matrix), right)


@dataclass(frozen=True)
class FreeEnds:
    """Ends of the layer across one direction of a window of cells.

    Parameters
    ----------
    axis : int
        Direction across the ends: 0 for rows along x, 1 for columns along z.
    distances : float, float
        Distances of the window from the ends before and after it, mm; infinite without an end.
    cell : float, float
        Edges of a cell of the window along and across the ends, mm.
    shape : int, int
        Cells of the window along and across the ends.
    period : int
        Cells along the ends with the unloaded surface beside the window.
    heights : tuple of float
        Thicknesses of the slabs, mm.
    table : EndTable
        Modes of an end.
    parts : int
        Components of stress and strain: all six, or the five of `SlabWindow.deviator` of strain
        without trace.
    single : bool
        True for tables of single precision.
    """

    axis: int
    distances: tuple[float, float]
    cell: tuple[float, float]
    shape: tuple[int, int]
    period: int
    heights: tuple[float, ...]
    table: EndTable
    parts: int
    single: bool

    def amplitudes_of_strain(self, plastic: Array) -> Array:
        """Complex amplitudes (ends, waves, modes) by strain of the slabs."""
        order = (1, 3, 0, 2) if self.axis == 1 else (1, 2, 0, 3)
        own = plastic[: self.parts].transpose(order) * self._sizes
        waves = self._transform(self._gather @ self._flat(own))
        return self._amplitudes(self._stress, waves)

    def amplitudes_of_pressure(self, pressure: Array) -> Array:
        """Complex amplitudes (ends, waves, modes) by the pressure of the cells of the window."""
        own = (pressure.T if self.axis == 1 else pressure) * self.cell[1]
        return self._amplitudes(self._surface, self._transform(self._columns @ self._flat(own)))

    def deflection(self, amplitude: Array) -> Array:
        """Downward deflection of the cells of the window by amplitudes, mm."""
        spread = self._columns_back @ self._inverse(self._surface, amplitude)
        return spread.T if self.axis == 1 else spread

    def stress(self, amplitude: Array) -> Array:
        """Stress (parts, M, rows, columns) by amplitudes, MPa."""
        spread = self._inverse(self._stress, amplitude)
        spread = self._gather_back @ spread.reshape(-1, self.parts * self.shape[0])
        field = spread.reshape(len(self.heights), self.shape[1], self.parts, self.shape[0])
        return field.transpose((2, 0, 3, 1) if self.axis == 1 else (2, 0, 1, 3))

    @cached_property
    def near(self) -> list[int]:
        """Ends that matter to the window: 0 before and 1 after it."""
        thickness = float(self.table.thickness)
        return [end for end in (0, 1) if self.distances[end] < _FARTHEST * thickness]

    @cached_property
    def _waves(self) -> Array:
        """Wave numbers along the ends, 1/mm, that reach the window."""
        wave = 2.0 * np.pi * np.fft.rfftfreq(self.period, self.cell[0])
        nearest = max(min(self.distances[end] for end in self.near), 1e-9)
        return np.asarray(wave[wave <= min(_DECAY / nearest, _WAVES[-1])])

    @cached_property
    def _stress(self) -> Array:
        """Stress of the modes (ends, waves, cells with all components, modes)."""
        table = scipy.interpolate.CubicSpline(_WAVES, self.table.stress)(self._waves)
        table = table.reshape(self._waves.size, -1, _COMPONENTS, self._modes)
        if self.axis == 0:  # across the end is x
            table = table[:, :, [2, 1, 0, 4, 3, 5]]
        sine = np.array([3, 5] if self.axis == 1 else [4, 5])
        turned = np.array([4, 5] if self.axis == 1 else [3, 5])
        ends = []
        for end in self.near:
            own = table.astype(complex)
            own[:, :, sine] *= -1j
            if end == 1:
                own[:, :, turned] *= -1.0
            if self.parts < _COMPONENTS:
                own = np.concatenate([own[:, :, :2] - own[:, :, 2:3], own[:, :, 3:]], axis=2)
            ends.append(own.reshape(self._waves.size, -1, self._modes))
        return self._stored(np.array(ends))

    @cached_property
    def _surface(self) -> Array:
        """Mean deflection of the cells by the modes (ends, waves, cells, modes)."""
        length = np.diff(self.table.border)[:, None]
        table = scipy.interpolate.CubicSpline(_WAVES, self.table.surface / length)(self._waves)
        return self._stored(np.array([table.astype(complex)] * len(self.near)))

    @property
    def _modes(self) -> int:
        return int(self.table.stress.shape[-1])

    def _stored(self, table: NDArray[Any]) -> Array:
        kind = np.complex64 if self.single else np.complex128
        return np.ascontiguousarray(table, dtype=kind)

    def _shares_of(self, share: Array) -> scipy.sparse.csr_array:
        return scipy.sparse.csr_array(share.astype(np.float32 if self.single else np.float64))

    @cached_property
    def _columns(self) -> scipy.sparse.csr_array:
        """Cells of all ends by columns of the window: shares of linear interpolation."""
        border = self.table.border
        away = self.cell[1] * (np.arange(self.shape[1]) + 0.5)
        ends = []
        for end in self.near:
            at = np.asarray(self.distances[end] + (away if end == 0 else away[::-1]), dtype=float)
            share = _shares(0.5 * (border[1:] + border[:-1]), at)
            share[at > border[-1]] = 0.0
            ends.append(share.T)
        return self._shares_of(np.concatenate(ends))

    @cached_property
    def _gather(self) -> scipy.sparse.csr_array:
        """Cells of all ends and levels by slabs and columns of the window."""
        depth = np.concatenate([[0.0], np.cumsum(self.heights)])
        levels = 0.5 * (self.table.depth[1:] + self.table.depth[:-1])
        share = self._shares_of(_shares(levels, 0.5 * (depth[1:] + depth[:-1])).T)
        count = self.table.border.size - 1
        return scipy.sparse.vstack(
            [
                scipy.sparse.kron(share, self._columns[number * count : (number + 1) * count])
                for number in range(len(self.near))
            ],
            format="csr",
        )

    @cached_property
    def _columns_back(self) -> scipy.sparse.csr_array:
        return self._columns.T.tocsr()

    @cached_property
    def _gather_back(self) -> scipy.sparse.csr_array:
        return self._gather.T.tocsr()

    @cached_property
    def _sizes(self) -> Array:
        """Areas of the cells of the slabs across the end, twice for shear."""
        twice = np.ones(self.parts)
        twice[self.parts - 3 :] = 2.0
        height = self.cell[1] * np.array(self.heights)
        return height[:, None, None, None] * twice[:, None]

    def _flat(self, field: Array) -> Array:
        kind = np.float32 if self.single else np.float64
        rows = field.shape[0] if field.ndim == 2 else field.shape[0] * field.shape[1]
        return np.asarray(field.reshape(rows, -1), dtype=kind)

    def _transform(self, field: Array) -> Array:
        """Waves along the ends of a field, (ends, cells with all components, waves)."""
        rows = field.reshape(len(self.near), -1, self.shape[0])
        waves = scipy.fft.rfft(rows, self.period, axis=-1)
        return np.asarray(waves)

    def _amplitudes(self, table: Array, waves: Array) -> Array:
        ends, count, _, modes = table.shape
        amplitude = np.zeros((ends, count, modes), dtype=waves.dtype)
        add_amplitudes(table, waves, amplitude)
        return amplitude

    def _inverse(self, table: Array, amplitude: Array) -> Array:
        """Field along the ends (cells with all components, cells along them) of amplitudes."""
        waves = np.empty((*table.shape[:1], table.shape[2], table.shape[1]), amplitude.dtype)
        fill_waves(table, amplitude, waves)
        field = scipy.fft.irfft(waves, self.period, axis=-1)[..., : self.shape[0]]
        return np.ascontiguousarray(field.reshape(-1, self.shape[0]))


def _shares(middle: Array, at: Array) -> Array:
    """Shares (places, middles) of linear interpolation between middles, constant beyond them."""
    return np.array([np.interp(at, middle, unit) for unit in np.eye(middle.size)]).T
