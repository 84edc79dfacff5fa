"""Surface tables of the condyles in equal blocks (`geometry/table.nc`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5netcdf
import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.table import SurfaceTable, table_from_rows
from kneewear.io import netcdf
from kneewear.io.digests import check_digest
from kneewear.io.netcdf import Variable
from kneewear.verification.table_window import BlockLayout, Blocks, StorageWindow

# Samples a block along u and v: 81 rows of 14 columns are the 9072 bytes of Machado's records.
BLOCK = (9, 9)
LAYOUT = netcdf.Layout(
    "surface table",
    (
        Variable("side", ("side",), "1", "side of the knee", coordinate=True),
        Variable("column", ("column",), "1", "what a column holds", coordinate=True),
        Variable(
            "row",
            ("side", "u_sample", "v_sample", "column"),
            "u and v of the surface, mm, 1 (unit vectors) and as extra columns are named",
            "parameters, point, outward normal, tangent and binormal in the femoral frame",
            compressed=False,
        ),
    ),
)


def save_tables(
    tables: Mapping[str, SurfaceTable], path: str | Path, block: Blocks = BLOCK
) -> None:
    """Write the tables of all sides.

    Parameters
    ----------
    tables : mapping of side to SurfaceTable
        Tables with the same number of samples and the same columns.
    path : str or Path
        File to write.
    block : pair of int
        Samples a block along u and v. Blocks are stored uncompressed and in equal length, and can
        be read in any order; a table with fewer samples is one block.

    Raises
    ------
    ValueError
        When the tables differ in samples or columns.
    """
    first = next(iter(tables.values()))
    if any(
        t.columns != first.columns or t.point.shape != first.point.shape for t in tables.values()
    ):
        raise ValueError("tables of one file need the same samples and columns")
    values = {
        "side": np.array(list(tables)),
        "column": np.array(first.columns),
        "row": np.stack([table.rows() for table in tables.values()]),
    }
    kept = [min(pair) for pair in zip(block, first.point.shape[:2], strict=True)]
    attributes = {
        "u_samples_per_block": kept[0],
        "v_samples_per_block": kept[1],
        "block_bytes": 8 * kept[0] * kept[1] * len(first.columns),
    }
    chunks = (1, *kept, len(first.columns))
    *labels, row = LAYOUT.variables
    layout = netcdf.Layout(LAYOUT.kind, (*labels, replace(row, chunks=chunks)))
    netcdf.save(layout, values, path, attributes)


@netcdf.tells_damage("surface table")
def load_tables(path: str | Path) -> dict[str, SurfaceTable]:
    """Read the tables of all sides.

    Parameters
    ----------
    path : str or Path
        File written by `save_tables`.

    Returns
    -------
    dict of side to SurfaceTable
        The tables.

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    values, _ = netcdf.load(LAYOUT, path)
    columns = tuple(str(name) for name in values["column"])
    return {
        str(side): table_from_rows(values["row"][number], columns)
        for number, side in enumerate(values["side"])
    }


@contextmanager
def open_window(path: str | Path, side: str, size: Blocks = (3, 3)) -> Iterator[StorageWindow]:
    """Storage window on one side's table, which reads blocks while the file stays open.

    Parameters
    ----------
    path : str or Path
        File written by `save_tables`.
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
    with netcdf.absence_told(path, LAYOUT):
        check_digest(path)
    with netcdf.damage_told(path, LAYOUT.kind):
        file = h5netcdf.File(path, "r")
    with file:
        with netcdf.damage_told(path, LAYOUT.kind):
            netcdf.check_kind(LAYOUT, file, path)
            window = _window(file, side, size, path)
        yield window


def _window(file: Any, side: str, size: Blocks, path: str | Path) -> StorageWindow:
    """Storage window on one side of an open file."""
    sides = [str(name) for name in file.variables["side"][...].astype(str)]
    if side not in sides:
        found = f"sides {', '.join(sides)}"
        raise InputDataError(path, found, f"side {side}", "Name one of its sides.")
    rows, number = file.variables["row"], sides.index(side)

    def read(u_first: int, u_end: int, v_first: int, v_end: int) -> NDArray[np.float64]:
        return np.asarray(rows[number, u_first:u_end, v_first:v_end, :])

    shape = rows.shape
    low, high = read(0, 1, 0, 1)[0, 0], read(shape[1] - 1, shape[1], shape[2] - 1, shape[2])
    layout = BlockLayout(
        points=(shape[1], shape[2]),
        block=(int(file.attrs["u_samples_per_block"]), int(file.attrs["v_samples_per_block"])),
        origin=(float(low[0]), float(low[1])),
        step=(
            float(high[0, 0, 0] - low[0]) / (shape[1] - 1),
            float(high[0, 0, 1] - low[1]) / (shape[2] - 1),
        ),
    )
    return StorageWindow(layout, read, size)
