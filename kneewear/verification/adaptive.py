"""Contact with an element grid of its own for each contact region of a pose."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import Layer, PressureLaw
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.geometry.coverage import Rectangle
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable
from kneewear.verification.regions import RegionSearch

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RegionContact:
    """Contact of one region."""

    cells: Rectangle  # of the bearing's plan
    grid: ElementGrid  # its elements, of one side
    index: NDArray[np.int64]  # flat indices (row x columns + column) of its valid elements
    resultant: Resultant

    @property
    def force(self) -> Array:
        """Pressure times area of every cell, N, shape (rows, columns)."""
        force = np.zeros((self.cells.rows, self.cells.columns))
        force.flat[self.index[self.resultant.element]] = (
            self.resultant.pressure * self.resultant.area
        )
        return force


@dataclass(frozen=True)
class AdaptiveResultant:
    """Contact of one pair at one pose, by region; without regions where the bodies are apart."""

    regions: tuple[RegionContact, ...]

    @property
    def wrench(self) -> Array:
        """Force on the moving body, N, and moment about its origin, N mm, shape (6,)."""
        return sum((region.resultant.wrench for region in self.regions), np.zeros(6))

    @property
    def stiffness(self) -> Array:
        """Derivative of the wrench over the pose with the elements fixed, shape (6, 6)."""
        return sum((region.resultant.stiffness for region in self.regions), np.zeros((6, 6)))

    @property
    def penetration(self) -> Array:
        """Penetration of the active elements of all regions, mm."""
        return self._joined("penetration")

    @property
    def pressure(self) -> Array:
        """Their pressure, MPa."""
        return self._joined("pressure")

    @property
    def area(self) -> Array:
        """Their areas, mm2."""
        return self._joined("area")

    def _joined(self, name: str) -> Array:
        parts = [getattr(region.resultant, name) for region in self.regions]
        return np.concatenate([np.zeros(0), *parts])


class AdaptivePair:
    """A contact pair whose elements follow the contact.

    At every pose the contact regions are found, and each gets the same number of elements, scaled
    to its size. The accuracy of force, peak and mean pressure hardly depends on the depth of the
    contact. A result does not depend on previous poses.

    For forces and pressures: static studies, forward dynamics with light contact. Wear accumulates
    on fixed elements; `spread_force` transfers the load of a region to those.

    The rectangle under a region is continuous in the pose while regions neither merge nor split.
    The stiffness is that of fixed elements, without the effect of their motion, which is of the
    order of the force's error. `options` are further arguments of `ContactPair`.
    """

    def __init__(
        self,
        bearing: Bearing,
        indenter: Surface,
        table: SurfaceTable,
        rows: int,
        columns: int,
        **options: Any,
    ) -> None:
        self.bearing = bearing
        self.rows, self.columns = rows, columns
        self.search = RegionSearch(bearing, indenter)
        whole = build_elements(bearing, bearing.rectangle(rows, columns))
        self._fixed_pair = ContactPair(whole, 0, indenter, table, **options)

    def with_elements(self, rows: int, columns: int) -> AdaptivePair:
        """The same pair with other numbers of elements per region."""
        other = copy(self)
        other.rows, other.columns = rows, columns
        return other

    def on(self, grid: ElementGrid) -> ContactPair:
        """The same surfaces with fixed elements."""
        return self._fixed_pair.with_grid(grid, 0)

    def evaluate(
        self, rotation: Array, translation: Array, law: PressureLaw, more_thickness: float = 0.0
    ) -> AdaptiveResultant:
        """Contact at one pose, with `more_thickness` (mm) added to the layer of the bearing."""
        regions = []
        for region in self.search.find(rotation, translation):
            cells = region.cut(self.rows, self.columns)
            grid = build_elements(self.bearing, cells)
            if grid.valid.any():
                pair = self.on(grid)
                layer = Layer(law, grid.thickness[grid.valid] + more_thickness)
                resultant = pair.evaluate(rotation, translation, layer)
                regions.append(RegionContact(cells, grid, pair.index, resultant))
        return AdaptiveResultant(tuple(regions))


def spread_force(region: RegionContact, cells: Rectangle) -> Array:
    """Force (N) of a region on each cell of a fixed grid of the same bearing, with the same sum.

    The force of an element is divided between the cells it overlaps in proportion to the overlap.
    Divided by the areas of the fixed elements it is their mean pressure.
    """
    corners = region.cells.corners
    (row, column), (last_row, last_column) = cells.cells(corners[[0, -1], [0, -1]])
    by_row = _shares(np.linspace(row, last_row, region.cells.rows + 1), cells.rows)
    by_column = _shares(np.linspace(column, last_column, region.cells.columns + 1), cells.columns)
    return by_row @ region.force @ by_column.T


def _shares(edges: Array, cells: int) -> Array:
    """Share of each part between edges in each cell, shape (cells, parts)."""
    first = np.arange(float(cells))[:, None]
    overlap = np.minimum(edges[1:], first + 1.0) - np.maximum(edges[:-1], first)
    return np.maximum(overlap, 0.0) / np.diff(edges)
