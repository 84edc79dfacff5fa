"""A frame of one side on a coupled layer that yields: the quantities of its finite elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.material import Elastic, Hardening
from kneewear.contact.resultant import peak_columns
from kneewear.contact.slabs import SlabWindow
from kneewear.contact.yielding import PlasticSlabs, YieldingLayer
from kneewear.evidence.fe_comparison.frames import SideAtFrame
from kneewear.evidence.fe_comparison.insert_solid import rigid_body
from kneewear.geometry.element_grid import ElementGrid, covered_area
from kneewear.motion.coupling import end_distances, insert_influence

Array = NDArray[np.float64]

# Elements of the window: those nearer to the condyle than this, mm, which is more than any pile-up
# beside a contact, and that face it with at least this part of their normal.
_REACH = 0.12
_MIN_DESCENT = 0.3
_BESIDE = 4.0  # mm around the foundation's contact
# Moves of the body to the load: gaps change by its lift times their descent, to first order.
_MOVES = 2


@dataclass(frozen=True)
class SideYielding:
    """Elements of one side near contact, and the yielding layer below them.

    `layer` is a layer of the body that the finite elements mesh; `centre` (n, 3) are the elements,
    mm; `cells` their rows and columns in the grid.
    """

    side: SideAtFrame
    layer: YieldingLayer
    grid: ElementGrid
    number: int
    cells: NDArray[np.int64]
    centre: Array

    @classmethod
    def of(
        cls,
        side: SideAtFrame,
        grid: ElementGrid,
        number: int,
        thickness: float,
        material: Elastic,
        hardening: Hardening,
        *,
        further: Sequence[Array] = (),
    ) -> SideYielding:
        """Layer of a side at its pose, and at `further` ones near it.

        `thickness` is the minimum one of the case, mm.
        """
        local = grid.case_thickness(thickness)
        plan = grid.centre[number][..., [0, 2]]
        off = plan - 0.5 * (side.box.low + side.box.high)
        row, column = np.unravel_index(np.nanargmin((off**2).sum(axis=-1)), off.shape[:2])
        inside = ((plan > side.box.low - _BESIDE) & (plan < side.box.high + _BESIDE)).all(axis=-1)
        cells = np.argwhere(grid.valid[number] & inside)
        centre = grid.centre[number][tuple(cells.T)]
        near = np.zeros(len(centre), dtype=bool)
        for pose in (side.pose, *further):
            gap, normal = rigid_body(side.condyle, pose)(centre)
            near |= (gap < _REACH) & (normal[:, 1] < -_MIN_DESCENT)
        cells, centre = cells[near], centre[near]
        influence = insert_influence(
            grid, number, local, material, place=(int(row), int(column)), plan=side.plan
        )
        low, high = cells.min(axis=0), cells.max(axis=0) + 1
        rows, columns = (int(count) for count in high - low)
        width, length = grid.cell_edges(number)
        window = SlabWindow(
            (rows, columns),
            (float(width), float(length)),
            float(local[number][row, column]),
            material,
            ends=end_distances(
                grid, number, _corners(low, high), place=(int(row), int(column)), plan=side.plan
            ),
        )
        layer = YieldingLayer(
            PlasticSlabs(window, hardening), influence.matrix(*cells.T), cells - low
        )
        return cls(side, layer, grid, number, cells, centre)

    def gaps(self, height: float) -> tuple[Array, Array]:
        """Gaps of the elements from the body lifted by a height, mm, and their descent."""
        gap, normal = rigid_body(self.side.condyle, self.side.pose)(self.centre - [0, height, 0])
        return gap, -normal[:, 1]

    def values(self, load_steps: int) -> dict[str, float]:
        """Values at equal load of material that was never loaded; the plastic strain of a slab.

        The force at equal pose is left out: the finite elements that it is compared with do not
        yield. In its place are the height by which the body was raised, mm, and `peak_columns`, the
        columns across the largest pressure.
        """
        fresh, height = self.layer.fresh(), 0.0
        for _ in range(_MOVES):
            gap, descent = self.gaps(height)
            pressed = self.layer.press(gap, descent, fresh, load=self.side.load, steps=load_steps)
            height += pressed.lift
        pressure = pressed.force / self.grid.area[self.number][tuple(self.cells.T)]
        middle = self.side.box.in_middle(self.centre[:, 2])
        whole = np.zeros(self.grid.valid.shape[1:])
        whole[tuple(self.cells.T)] = pressure
        area = covered_area(whole, np.nan_to_num(self.grid.area[self.number]))
        return {
            "max_pressure": float(pressure.max()),
            "middle_pressure": float(pressure[middle].max()),
            "avg_pressure": float(pressed.force.sum()) / area,
            "contact_area": area,
            "plastic_strain": float(pressed.state.equivalent.max()),
            "height_mm": height,
            "peak_columns": float(peak_columns(whole)),
        }


def _corners(
    low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """First row and column, and those after the last."""
    return (int(low[0]), int(low[1])), (int(high[0]), int(high[1]))
