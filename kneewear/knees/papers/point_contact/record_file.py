"""Direct-access file of a lookup table: equal records, of which any can be read by its number.

Record 1 describes the table; record 2 and those after it hold a block of samples each, blocks along
v first. A record of b_u x b_v samples has b_u b_v n_d 8 bytes, with n_d = 14 columns of 8 bytes
(Equation 6.23). Blocks at the ends of a table are filled up, so that all records have one length.

References
----------
Machado thesis, section 6.3, Figures 6.10 and 6.11; the order of the blocks is not printed.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.table import SurfaceTable
from kneewear.knees.papers.point_contact.table_window import BlockLayout

Array = NDArray[np.float64]

# What record 1 holds, in the order of Figure 6.11.
HEADER = np.dtype(
    [("points", "<i8", 2), ("block", "<i8", 2), ("origin", "<f8", 2), ("step", "<f8", 2)]
    + [("record_length", "<i8")]
)
_VALUE = np.dtype("<f8")


def write_records(file: BinaryIO, table: SurfaceTable, block: tuple[int, int]) -> None:
    """Rearrange a lookup table into records and write them (the reshuffle of section 6.2.1).

    Parameters
    ----------
    file : binary file
        Open for writing, at its beginning.
    table : SurfaceTable
        Samples at even steps of u and of v.
    block : (int, int)
        Samples of a record along u and along v.
    """
    rows = table.rows
    points, columns = np.array(rows.shape[:2]), rows.shape[2]
    blocks = -(-points // block)
    full = np.full((*(blocks * block), columns), np.nan, _VALUE)
    full[: points[0], : points[1]] = rows
    records = full.reshape(blocks[0], block[0], blocks[1], block[1], columns).swapaxes(1, 2)
    header = np.zeros((), HEADER)
    low, high = rows[0, 0, :2], rows[-1, -1, :2]
    header["points"], header["block"] = points, block
    header["origin"], header["step"] = low, (high - low) / (points - 1)
    header["record_length"] = length = int(np.prod(block)) * columns * _VALUE.itemsize
    file.write(header.tobytes().ljust(length, b"\0"))
    file.write(records.tobytes())


class RecordFile:
    """Lookup table in a direct-access file, of which only the records asked for are read.

    Parameters
    ----------
    file : binary file
        Written by :func:`write_records`, open for reading.

    Raises
    ------
    InputDataError
        Its length is not that of the records that its first one describes.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        size = file.seek(0, 2)
        file.seek(0)
        start = file.read(HEADER.itemsize).ljust(HEADER.itemsize, b"\0")
        header = np.frombuffer(start, HEADER)[0]
        (n_u, n_v), (high, wide) = header["points"].tolist(), header["block"].tolist()
        origin, step = header["origin"].tolist(), header["step"].tolist()
        self.record_length = int(header["record_length"])
        self._columns, rest = divmod(self.record_length, max(high * wide, 1) * _VALUE.itemsize)
        whole = min(n_u, n_v, high, wide, self._columns) > 0 and not rest
        self.layout = BlockLayout(
            (n_u, n_v), (high, wide), (origin[0], origin[1]), (step[0], step[1])
        )
        records = 1 + self.layout.blocks[0] * self.layout.blocks[1] if whole else 0
        if not whole or size != records * self.record_length:
            raise InputDataError(
                getattr(file, "name", "lookup table"),
                f"{size} bytes",
                f"{records} records of {self.record_length} bytes"
                if whole
                else "a first record with numbers of points and the length of a record",
                "Write the table again.",
            )

    def read(self, begin: int, end: int, first: int, last: int) -> Array:
        """Rows of the samples `begin` to `end` along u and `first` to `last` along v.

        Parameters
        ----------
        begin, end, first, last : int
            First sample, and one past the last one.

        Returns
        -------
        (end - begin, last - first, n_columns) array
        """
        (high, wide), (_, across) = self.layout.block, self.layout.blocks
        top, left = begin // high, first // wide
        strips = [
            self._records(row * across + left, -(-last // wide) - left)
            for row in range(top, -(-end // high))
        ]
        rows = np.concatenate(strips)
        return rows[begin - top * high : end - top * high, first - left * wide : last - left * wide]

    def _records(self, number: int, count: int) -> Array:
        """Samples of records that follow each other along v; the first after the header is 0."""
        self._file.seek((1 + number) * self.record_length)
        data = np.frombuffer(self._file.read(count * self.record_length), _VALUE)
        blocks = data.reshape(count, *self.layout.block, self._columns)
        return np.concatenate(blocks, axis=1)
