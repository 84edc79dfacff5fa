"""Storage window on a surface table: only the blocks around the contact are in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.table import bilinear_with_slopes

Array = NDArray[np.float64]
Blocks = tuple[int, int]


@dataclass(frozen=True)
class BlockLayout:
    """Division of a surface table into equal blocks, along u and v."""

    points: tuple[int, int]  # samples
    block: tuple[int, int]  # samples per block; the last block of a row may hold fewer
    origin: tuple[float, float]  # first values
    step: tuple[float, float]  # spacing

    @property
    def blocks(self) -> Blocks:
        """Number of blocks along u and v."""
        counts = [-(-n // b) for n, b in zip(self.points, self.block, strict=True)]
        return counts[0], counts[1]

    def cell(self, u: float, v: float) -> tuple[int, int]:
        """Lower corner of the cell of (u, v)."""
        steps = np.subtract((u, v), self.origin) / self.step
        row, column = np.clip(steps.astype(int), 0, np.subtract(self.points, 2))
        return int(row), int(column)


class StorageWindow:
    """The blocks of a table around the contact, read again only when contact nears their border.

    `read` takes the first and end sample along u, then along v, and returns their rows, shape
    (n_u, n_v, n_columns); `size` is the odd number of blocks in the window along u and v, at least
    3, or all of them if the table has fewer; `updates` counts the moves of the window after it was
    first filled, and `extents` are the first and last u and v of all its places. Raises ValueError
    if a size is even or less than 3: the block of the contact is the middle one, and interpolation
    at its border needs the next (Machado thesis, section 6.3, Figs. 6.12 and 6.13).
    """

    def __init__(
        self,
        layout: BlockLayout,
        read: Callable[[int, int, int, int], Array],
        size: Blocks = (3, 3),
    ) -> None:
        for width, count in zip(size, layout.blocks, strict=True):
            if width < count and (width < 3 or width % 2 == 0):
                raise ValueError(f"a window is an odd number of blocks wide, 3 or more, not {size}")
        self.layout, self.size, self.updates = layout, size, 0
        self.extents: list[tuple[Array, Array]] = []
        self.first: Blocks | None = None
        self.rows = np.empty((0, 0, 0))
        self._start = (0, 0)
        self._read = read

    @property
    def end(self) -> Blocks:
        """One past the last block of the window, along u and v."""
        if self.first is None:
            return 0, 0
        row, column = np.minimum(np.add(self.first, self.size), self.layout.blocks)
        return int(row), int(column)

    def look_up(self, u: float, v: float) -> tuple[Array, Array, Array]:
        """All columns at (u, v), and their slopes, after moving the window if necessary.

        They are computed from the corners of the cell alone, so that they are the same in every
        window.
        """
        row, column = self.layout.cell(u, v)
        block = row // self.layout.block[0], column // self.layout.block[1]
        if not self._is_inner(block):
            self._move(block)
        i, j = row - self._start[0], column - self._start[1]
        return bilinear_with_slopes(self.rows[i : i + 2, j : j + 2], u, v)

    def _is_inner(self, block: Blocks) -> bool:
        """True if a block is in the window, and not at a border except the table's own."""
        return self.first is not None and all(
            first < number < end - 1 or (first <= number < end and number in (0, count - 1))
            for number, first, end, count in zip(
                block, self.first, self.end, self.layout.blocks, strict=True
            )
        )

    def _move(self, block: Blocks) -> None:
        """Read the window centred on a block, as far as the table extends."""
        layout, size = self.layout, np.array(self.size)
        last = np.maximum(layout.blocks - size, 0)
        row, column = np.clip(block - size // 2, 0, last)
        self.updates += self.first is not None
        self.first = int(row), int(column)
        first = np.multiply(self.first, layout.block)
        end = np.minimum(np.multiply(self.end, layout.block), layout.points)
        self._start = int(first[0]), int(first[1])
        self.rows = self._read(int(first[0]), int(end[0]), int(first[1]), int(end[1]))
        self.extents.append((self.rows[0, 0, :2], self.rows[-1, -1, :2]))
