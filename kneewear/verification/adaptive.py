"""Contact with elements laid afresh round each contact region of a pose."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import Layer, PressureLaw
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.geometry.bearing import Bearing
from kneewear.geometry.coverage import Rectangle
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import build_elements
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable
from kneewear.verification.regions import RegionSearch

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RegionContact:
    """Contact of one region.

    Parameters
    ----------
    cells : Rectangle
        Cells of the bearing's plan that its elements are laid on.
    grid : ElementGrid
        These elements, of one side.
    index : int array, shape (n_valid,)
        Flat places (row x columns + column) of its valid elements.
    resultant : Resultant
        Wrench, stiffness and what every candidate feels.
    """

    cells: Rectangle
    grid: ElementGrid
    index: NDArray[np.int64]
    resultant: Resultant

    @property
    def force(self) -> Array:
        """Pressure times area of every cell, N, shape (rows, columns)."""
        force = np.zeros(self.cells.rows * self.cells.columns)
        place = self.index[self.resultant.element]
        force[place] = self.resultant.pressure * self.resultant.area
        return force.reshape(self.cells.rows, self.cells.columns)


@dataclass(frozen=True)
class AdaptiveResultant:
    """Contact of one pair at one pose, region by region.

    Parameters
    ----------
    regions : tuple of RegionContact
        Regions that may be in contact; none where the bodies are apart.
    """

    regions: tuple[RegionContact, ...]

    @property
    def wrench(self) -> Array:
        """Force on the moving body, N, and moment about its origin, N mm, shape (6,)."""
        return np.sum([region.resultant.wrench for region in self.regions], axis=0) + np.zeros(6)

    @property
    def stiffness(self) -> Array:
        """Derivative of the wrench over the pose with the elements held, shape (6, 6)."""
        parts = [region.resultant.stiffness for region in self.regions]
        return np.sum(parts, axis=0) + np.zeros((6, 6))

    @property
    def penetration(self) -> Array:
        """Penetration of the candidates of all regions, mm."""
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
        return np.concatenate(
            [np.zeros(0), *(getattr(region.resultant, name) for region in self.regions)]
        )


class AdaptivePair:
    """A contact pair whose elements follow the contact.

    Every pose has its regions found and as many elements laid on each, scaled to its size: the
    accuracy of force, peak and mean pressure hardly depends on how shallow the contact is. Nothing
    is kept from pose to pose.

    Parameters
    ----------
    bearing : Bearing
        Bearing of the fixed body that carries the elements.
    indenter : Surface
        Surface of the moving body, exact.
    table : SurfaceTable
        Its lookup table, from which every projection starts.
    rows, columns : int
        Elements laid on each region.
    pair
        Further keywords of `ContactPair`.

    Notes
    -----
    Meant for forces and pressures: static studies, forward dynamics with light touches. Wear adds
    up on elements that stay where they are, so histories and wear maps keep a fixed grid; what a
    region carries can be handed over to one by `spread_force`.

    The rectangle laid on is continuous in the pose as long as regions neither merge nor split; the
    stiffness is that of elements held in place and leaves out what their motion adds, which is of
    the order of the force's own error.
    """

    def __init__(
        self,
        bearing: Bearing,
        indenter: Surface,
        table: SurfaceTable,
        rows: int,
        columns: int,
        **pair: Any,
    ) -> None:
        self.bearing = bearing
        self.rows, self.columns = rows, columns
        self.search = RegionSearch(bearing, indenter)
        everywhere = build_elements(bearing, bearing.rectangle(rows, columns))
        self.fixed_pair = ContactPair(everywhere, 0, indenter, table, **pair)

    def with_elements(self, rows: int, columns: int) -> AdaptivePair:
        """The same pair with other numbers of elements a region."""
        other = copy(self)
        other.rows, other.columns = rows, columns
        return other

    def evaluate(
        self, rotation: Array, translation: Array, law: PressureLaw, more_thickness: float = 0.0
    ) -> AdaptiveResultant:
        """Contact at one pose.

        Parameters
        ----------
        rotation : array, shape (3, 3)
            Orientation of the moving body in the frame of the fixed one.
        translation : array, shape (3,)
            Position of its origin, mm.
        law : PressureLaw
            Pressure law of the layer.
        more_thickness : float
            What the layer is thicker than the bearing says, mm.

        Returns
        -------
        AdaptiveResultant
        """
        regions = []
        for found in self.search.find(rotation, translation):
            cells = found.cut(self.rows, self.columns)
            grid = build_elements(self.bearing, cells)
            if grid.valid.any():
                pair = self.fixed_pair.over(grid, 0)
                layer = Layer(law, grid.thickness[grid.valid] + more_thickness)
                resultant = pair.evaluate(rotation, translation, layer)
                regions.append(RegionContact(cells, grid, pair.index, resultant))
        return AdaptiveResultant(tuple(regions))


def spread_force(region: RegionContact, cells: Rectangle) -> Array:
    """Force of each cell of a fixed grid, so that none is lost.

    Parameters
    ----------
    region : RegionContact
        Region of the same bearing.
    cells : Rectangle
        Cells of the fixed grid: `bearing.rectangle(rows, columns)`.

    Returns
    -------
    array, shape (rows, columns)
        Pressure times area, N: each element's is shared by the cells its own overlaps, in
        proportion. Divided by the areas of the fixed elements it is their mean pressure.
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
