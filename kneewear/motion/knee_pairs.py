"""The pairs of surfaces of an implant, over elements that can be chosen for each case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kneewear.base.sides import SIDES
from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactPair
from kneewear.contact.traction import Friction
from kneewear.geometry.coverage import Rectangle, cover_cells
from kneewear.geometry.element_grid import ElementGrid, join_grids
from kneewear.geometry.grid import MIN_FRACTION, Bearing, bearing_of, build_elements
from kneewear.geometry.implant import Implant
from kneewear.geometry.settings import GridSettings, TableSettings
from kneewear.geometry.table import tabulate_surface
from kneewear.motion.evaluation import add_femoral_layers, build_layers, femoral_layers
from kneewear.motion.settings import PressureLawSettings, SimulationSettings

Array = NDArray[np.float64]

# Cells of the grid on which the pairs are first built.
_MIN_CELLS = (4, 4)
# Height of the femoral component over the insert at the start of a search, mm.
CLEARANCE = 1.0


@dataclass(frozen=True)
class CellPairs:
    """Contact pairs over one choice of cells by side, with their elements and layers."""

    cells: Mapping[str, Rectangle]
    grid: ElementGrid
    pairs: tuple[ContactPair, ...]
    layers: tuple[ElasticLayer, ...]
    # Elements with no bone under their normal, also where they are left out; shape of the grid.
    without_bone: NDArray[np.bool_]


class KneePairs:
    """Contact pairs of an implant or natural knee, over any choice of elements.

    Parameters
    ----------
    implant : Implant
        Implant or natural knee; a post makes a third pair.
    table : TableSettings
        Samples of the femoral surfaces from which searches start.
    settings : SimulationSettings
        Modulus, Poisson's ratio, direction of the pressure and tolerance. Distances are exact
        for any value of its `distance`: few poses are evaluated.
    distance, force_direction : str
        Method and direction as of `ContactPair`; the direction is that of the settings by default.
    friction : Friction, optional
        Friction of every pair where poses change; none by default.
    """

    def __init__(
        self,
        implant: Implant,
        table: TableSettings,
        settings: SimulationSettings,
        *,
        distance: str = "minimum_distance",
        force_direction: str | None = None,
        friction: Friction | None = None,
    ) -> None:
        self.bearings: Mapping[str, Bearing] = {
            side: bearing_of(implant, side) for side in implant.sides
        }
        self._nominal_thickness = implant.nominal_thickness
        self._settings = settings
        self.tolerance = settings.tolerance
        self._pairs = {}
        samples = {}
        for side, bearing in self.bearings.items():
            surface = implant.indenter(side)
            samples[side] = tabulate_surface(surface, table.u_points, table.v_points)
            self._pairs[side] = ContactPair(
                self._elements(side, bearing.rectangle(*_MIN_CELLS)),
                0,
                surface,
                samples[side],
                method=distance,
                direction=force_direction or settings.force_direction,
                friction=friction,
            )
        self._cartilage = femoral_layers(implant, samples)
        self.plateaus = implant.plateaus
        self._plateau_top = max(
            float(implant.insert[side].control_points[..., 1].max()) for side in self.plateaus
        )
        self._condyles = np.concatenate(
            [implant.femoral[side].control_points.reshape(-1, 3) for side in self.plateaus]
        )

    def cells(self, grid: GridSettings) -> dict[str, Rectangle]:
        """Cells of every bearing, all of so many rows and columns."""
        return {
            side: bearing.rectangle(grid.rows, grid.columns)
            for side, bearing in self.bearings.items()
        }

    def with_cells(self, cells: Mapping[str, Rectangle], law: PressureLawSettings) -> CellPairs:
        """Contact pairs over given cells, in their order; sides that are left out have no pair."""
        grid = join_grids(*(self._elements(side, part) for side, part in cells.items()))
        pairs = tuple(self._pairs[side].with_grid(grid, n) for n, side in enumerate(cells))
        settings = self._settings.model_copy(update={"pressure_law": law})
        layers = build_layers(grid, pairs, self._nominal_thickness, settings)
        without = np.zeros(grid.valid.shape, dtype=bool)
        for number, side in enumerate(cells):
            bearing, on = self.bearings[side], grid.valid[number]
            if bearing.layer_may_end:
                # The cells of a side may be fewer than those of the joined grid.
                fraction, _ = cover_cells(bearing.covered, cells[side])
                rows, columns = fraction.shape
                part = without[number, :rows, :columns]
                part[:] = (fraction > MIN_FRACTION) & ~on[:rows, :columns]
            elif bearing.without_bone is not None:
                without[number][on] = bearing.without_bone(grid.centre[number][on])
        return CellPairs(cells, grid, pairs, layers, without)

    @property
    def natural(self) -> bool:
        """True if the moving body carries a layer too."""
        return bool(self._cartilage)

    def pressed_layers(self, elements: CellPairs, translation: Array, rotation: Array) -> CellPairs:
        """The pairs with both layers that are pressed together at a pose.

        The same pairs are returned when the moving body is rigid.
        """
        if not self._cartilage:
            return elements
        named = dict(zip(elements.cells, elements.pairs, strict=True))
        layers = add_femoral_layers(self._cartilage, named, elements.layers, translation, rotation)
        return replace(elements, layers=layers)

    def height_above(self, rotation: Array) -> float:
        """Height of the femoral origin at which all plateaus are clear, mm, at an orientation."""
        lowest = float((self._condyles @ rotation.T)[:, 1].min())
        return self._plateau_top - lowest + CLEARANCE

    def _elements(self, side: str, cells: Rectangle) -> ElementGrid:
        """Elements of one bearing; only a plateau grows thicker with the insert."""
        nominal = self._nominal_thickness if side in SIDES else None
        return build_elements(self.bearings[side], cells, nominal_thickness=nominal)
