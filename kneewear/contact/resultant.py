"""Results of contact: the resultant of every pair, and the pressures of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.contact._force_kernels import OUTCOME, RESULT
from kneewear.geometry.element_grid import covered_area

Array = NDArray[np.float64]


def _number(name: str, meaning: str) -> Any:
    """Property of a pair: a number of its RESULT."""
    return property(lambda self: self._numbers[name].item(), doc=meaning)


def _of_elements(name: str, meaning: str) -> Any:
    """Property of the active elements: a column of their OUTCOME."""
    return property(lambda self: self._elements[name], doc=meaning)


class Cells(NamedTuple):
    """Elements of a pair among the cells of their grid."""

    cell: NDArray[np.int64]  # flat index of each element's cell
    area: Array  # of the element of each cell, mm2, zero without one, shape (rows, columns)
    by_pressure: bool = False  # whether bodies touch where pressure is, not where they overlap


class Resultant:
    """Contact of one pair at one pose.

    All vectors are in the frame of the fixed body, which feels the opposite of what the moving one
    does. Element-wise results are of the active elements only: those whose penetration is positive
    and that face the indenter, in an order that does not depend on the search.
    """

    __slots__ = ("_area", "_cells", "_elements", "_numbers")

    def __init__(self, numbers: np.void, elements: NDArray[np.void], cells: Cells | None) -> None:
        self._numbers, self._elements, self._cells = numbers, elements, cells
        self._area: float | None = None

    @property
    def wrench(self) -> Array:
        """Force on the moving body, N, and its moment about its origin, N mm, shape (6,)."""
        return self._numbers["wrench"]

    @property
    def stiffness(self) -> Array:
        """Derivative of the wrench over the pose, shape (6, 6).

        Its columns belong to a translation, mm, and a rotation, rad, of the moving body about its
        own origin, both along the axes of the fixed body. Moments rotate along: the lower right
        block is not symmetric. Velocities, where they matter, are constant.
        """
        return self._numbers["stiffness"]

    @property
    def damping(self) -> Array:
        """Derivative of the wrench over velocity and angular velocity, shape (6, 6).

        Zero without friction and damping, and where no velocity was given.
        """
        return self._numbers["damping"]

    @property
    def force(self) -> Array:
        """Force on the fixed body, N, shape (3,)."""
        return -self.wrench[:3]

    @property
    def torque(self) -> Array:
        """Torque on the fixed body about its origin, N mm, shape (3,)."""
        # In numbers: `np.cross` takes longer than the evaluation of a distance table.
        x, y, z = self._numbers["translation"].tolist()
        fx, fy, fz, mx, my, mz = self.wrench.tolist()
        return -np.array([mx + (y * fz - z * fy), my + (z * fx - x * fz), mz + (x * fy - y * fx)])

    max_pressure = _number("max_pressure", "Largest element pressure, MPa.")
    max_penetration = _number("max_penetration", "Largest penetration, mm.")
    active_elements = _number("active_elements", "Number of active elements.")
    evaluated_elements = _number("evaluated_elements", "Number of distances computed.")

    @property
    def contact_area(self) -> float:
        """Area where the bodies touch, finer than the elements, mm2; see `covered_area`.

        On a foundation they touch where they overlap, on a coupled layer where pressure is.

        Of triangles, which are not cells of a grid, it is the area of the active ones. Computed
        when it is first read, because the search for a pose does not need it.
        """
        cells = self._cells
        if self._area is None and cells is None:
            self._area = float(self.area.sum())
        elif self._area is None and cells is not None:
            value = np.zeros(cells.area.shape)
            value.ravel()[cells.cell[self.element]] = (
                self.pressure if cells.by_pressure else self.penetration
            )
            self._area = covered_area(value, cells.area)
        return float(self._area or 0.0)

    @property
    def avg_pressure(self) -> float:
        """Mean pressure over the contact area, the sum of pressure times area over it, MPa."""
        if self.active_elements == 0:
            return 0.0
        return float(self._numbers["normal_force"] / self.contact_area)

    @property
    def centre_of_pressure(self) -> Array:
        """Centre of pressure, mm, shape (3,); NaN where there is no contact."""
        if self.active_elements == 0:
            return np.full(3, np.nan)
        return self._numbers["centre_of_pressure"]

    element = _of_elements("element", "Their numbers among the valid ones, `ContactPair.index`.")
    penetration = _of_elements("penetration", "Penetration, mm, shape (n,).")
    pressure = _of_elements("pressure", "Elastic pressure, MPa, shape (n,).")
    area = _of_elements("area", "Areas, mm2, shape (n,).")
    direction = _of_elements("direction", "Direction of pressure, unit vectors, shape (n, 3).")

    @property
    def slip_velocity(self) -> Array:
        """Velocity of the moving body along row and column tangents, mm/s, shape (n, 2).

        NaN where no velocity was given.
        """
        slip = self._elements["slip_velocity"]
        return slip if self._numbers["is_moving"] else np.full_like(slip, np.nan)


class ContactResult(Mapping[str, Resultant]):
    """Contact of all pairs between two bodies at one pose, by name of the pair."""

    __slots__ = ("_buffer", "_cells")

    def __init__(self, cells: Mapping[str, Cells], buffer: NDArray[np.uint8], active: int) -> None:
        # The results of all pairs, then the outcomes of their active elements.
        end = len(cells) * RESULT.itemsize + active * OUTCOME.itemsize
        self._cells, self._buffer = cells, buffer[:end].copy()

    def __getitem__(self, name: str) -> Resultant:
        cells, results = self._cells[name], self._results
        number = list(self._cells).index(name)
        counts = results["active_elements"]
        outcomes = self._buffer[results.nbytes :].view(OUTCOME)
        first = int(counts[:number].sum())
        return Resultant(results[number], outcomes[first : first + int(counts[number])], cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def wrench(self) -> Array:
        """Force of all pairs on the moving body, N, and moment about its origin, N mm."""
        return self._sum("wrench")

    @property
    def stiffness(self) -> Array:
        """Derivative of the wrench over the pose, see `Resultant.stiffness`."""
        return self._sum("stiffness")

    @property
    def damping(self) -> Array:
        """Derivative of the wrench over the velocities, see `Resultant.damping`."""
        return self._sum("damping")

    @property
    def _results(self) -> NDArray[np.void]:
        return self._buffer[: len(self._cells) * RESULT.itemsize].view(RESULT)

    def _sum(self, name: str) -> Array:
        return self._results[name].sum(axis=0)


def peak_columns(pressure: NDArray[Any]) -> int:
    """Neighbouring columns with more than half of the largest pressure, in its row.

    Parameters
    ----------
    pressure : array, shape (rows, columns)
        Pressure of the elements, MPa.

    Returns
    -------
    int
        Columns, the one of the largest pressure included; zero without pressure.
    """
    row, column = np.unravel_index(int(pressure.argmax()), pressure.shape)
    low = np.flatnonzero(pressure[row] <= 0.5 * pressure[row, column])
    before, after = low[low < column], low[low > column]
    first = int(before[-1]) + 1 if before.size else 0
    last = int(after[0]) if after.size else pressure.shape[1]
    return last - first if pressure[row, column] > 0.0 else 0
