"""Storage window on a surface table: only the blocks around the contact are kept in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.table import bilinear

Array = NDArray[np.float64]
Blocks = tuple[int, int]


@dataclass(frozen=True)
class BlockLayout:
    """How a surface table is cut into equal blocks.

    Parameters
    ----------
    points : pair of int
        Samples along u and v.
    block : pair of int
        Samples a block along u and v; the last block of a row may hold fewer.
    origin, step : pair of float
        First value and spacing of u and v.
    """

    points: tuple[int, int]
    block: tuple[int, int]
    origin: tuple[float, float]
    step: tuple[float, float]

    @property
    def blocks(self) -> Blocks:
        """Number of blocks along u and v."""
        counts = [-(-n // b) for n, b in zip(self.points, self.block, strict=True)]
        return counts[0], counts[1]

    def find(self, u: float, v: float) -> Blocks:
        """Block that holds the lower corner of the cell of (u, v)."""
        found = []
        for number, value in enumerate((u, v)):
            cell = int((value - self.origin[number]) / self.step[number])
            last = self.points[number] - 2
            found.append(min(max(cell, 0), last) // self.block[number])
        return found[0], found[1]


class StorageWindow:
    """The blocks of a table around the contact, read again only when contact nears their border.

    Parameters
    ----------
    layout : BlockLayout
        Blocks of the table.
    read : callable
        Given first and end sample along u and first and end sample along v, the rows of these
        samples, shape (n_u, n_v, n_columns).
    size : pair of odd int
        Blocks kept along u and v, at least 3; all of them where the table has no more.

    Attributes
    ----------
    updates : int
        How often the window was moved after it was first filled.

    Raises
    ------
    ValueError
        If a size is even or less than 3: the block of the contact is the middle one, and
        interpolation at its border needs the next.

    References
    ----------
    Machado thesis, section 6.3, Figs. 6.12 and 6.13.
    """

    def __init__(
        self,
        layout: BlockLayout,
        read: Callable[[int, int, int, int], Array],
        size: Blocks = (3, 3),
    ) -> None:
        for kept, there in zip(size, layout.blocks, strict=True):
            if kept < there and (kept < 3 or kept % 2 == 0):
                raise ValueError(f"a window is an odd number of blocks wide, 3 or more, not {size}")
        self.layout, self.size, self.updates = layout, size, 0
        self.first: Blocks | None = None
        self.rows = np.empty((0, 0, 0))
        self._read = read

    @property
    def end(self) -> Blocks:
        """One past the last block of the window, along u and v."""
        if self.first is None:
            return 0, 0
        there = self.layout.blocks
        return (
            min(self.first[0] + self.size[0], there[0]),
            min(self.first[1] + self.size[1], there[1]),
        )

    def interpolate(self, u: float, v: float) -> Array:
        """All columns at (u, v), the window moved first if need be.

        Parameters
        ----------
        u, v : float
            Parameters of the contact point.

        Returns
        -------
        array, shape (n_columns,)
        """
        block = self.layout.find(u, v)  # step 1
        if not self._holds(block) or self._is_border(block):  # steps 2 and 3
            self._move(block)  # steps 4 to 6
        return bilinear(self.rows, u, v)  # step 7

    def _holds(self, block: Blocks) -> bool:
        return self.first is not None and all(
            first <= number < end
            for first, number, end in zip(self.first, block, self.end, strict=True)
        )

    def _is_border(self, block: Blocks) -> bool:
        """Whether a block of the window lies at a border that is not the table's own."""
        return self.first is not None and any(
            (number == first and first > 0) or (number == end - 1 and end < there)
            for number, first, end, there in zip(
                block, self.first, self.end, self.layout.blocks, strict=True
            )
        )

    def _move(self, block: Blocks) -> None:
        """Read the window centred on a block, as far as the table's borders let it be."""
        starts = [
            min(max(number - kept // 2, 0), max(there - kept, 0))
            for number, kept, there in zip(block, self.size, self.layout.blocks, strict=True)
        ]
        self.updates += self.first is not None
        self.first = starts[0], starts[1]
        ranges = []
        for number in (0, 1):
            width, points = self.layout.block[number], self.layout.points[number]
            ranges += [starts[number] * width, min(self.end[number] * width, points)]
        self.rows = self._read(*ranges)
