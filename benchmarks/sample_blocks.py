"""Surface samples in blocks of equal length, and the storage window that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.table import SurfaceTable
from kneewear.io import netcdf
from kneewear.verification.table_window import BlockLayout, Blocks, StorageWindow


def save_samples(tables: Mapping[str, SurfaceTable], path: str | Path, block: Blocks) -> None:
    """Write surface samples alone, in blocks of a given size.

    Parameters
    ----------
    tables : mapping of side to SurfaceTable
        The samples.
    path : str or Path
        File to write.
    block : pair of int
        Samples per block along u and v; a table with fewer samples is one block.
    """
    chunks = dict(zip(("u_sample", "v_sample"), block, strict=True))
    netcdf.save({"samples": tables}, path, chunks)


@contextmanager
def open_window(path: str | Path, side: str, size: Blocks = (3, 3)) -> Iterator[StorageWindow]:
    """Storage window on the samples of one side, which reads blocks while the file is open.

    Parameters
    ----------
    path : str or Path
        File written by `netcdf.save` or `save_samples`.
    side : str
        Side of the knee.
    size : pair of odd int
        Blocks kept along u and v.

    Yields
    ------
    StorageWindow

    Raises
    ------
    InputDataError
        When the file is missing, damaged, of another kind, or lacks the side.
    """
    with netcdf.open_checked(path, "surface samples") as (file, _):
        samples = file["samples"]
        if side not in samples:
            found = f"sides {', '.join(samples)}"
            raise InputDataError(path, found, f"side {side}", "Name one of its sides.")
        rows = samples[side]["rows"]
        shape, chunks = rows.shape, rows.chunks
        low, high = rows[0, 0, :2], rows[-1, -1, :2]

        def read(u_first: int, u_end: int, v_first: int, v_end: int) -> NDArray[np.float64]:
            return np.asarray(rows[u_first:u_end, v_first:v_end, :])

        layout = BlockLayout(
            points=(shape[0], shape[1]),
            block=(chunks[0], chunks[1]),
            origin=(float(low[0]), float(low[1])),
            step=(
                float(high[0] - low[0]) / (shape[0] - 1),
                float(high[1] - low[1]) / (shape[1] - 1),
            ),
        )
        yield StorageWindow(layout, read, size)
