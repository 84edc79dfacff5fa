"""Knee models (`geometry/knee.nc`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import SurfaceTable, table_from_rows
from kneewear.io import netcdf

FRAME = "right-knee insert frame: x posterior, y superior, z medial"


@dataclass(frozen=True)
class SampleRows:
    """Surface samples as rows of 14 or more columns: parameters, point and local frame.

    Rows are stored uncompressed in equal blocks, which can be read in any order.
    """

    columns: tuple[str, ...]
    rows: NDArray[np.float64]


def save_knee(knee: KneeModel, path: str | Path) -> None:
    """Write a knee model, a group for each of its parts.

    Parameters
    ----------
    knee : KneeModel
        The model.
    path : str or Path
        File to write. Its attribute `knee` is "left" or "right"; coordinates are those of a right
        knee either way, as the attribute `frame` states.
    """
    groups: dict[str, object] = {
        "surfaces": knee.implant,
        "grid": knee.grid,
        "samples": sample_rows(knee.samples),
        "distance_tables": knee.distance_tables,
    }
    if knee.coarse_grid is not None:
        groups["coarse_grid"] = knee.coarse_grid
    side = "left" if knee.implant.left else "right"
    netcdf.save(groups, path, {netcdf.KIND: "knee", "knee": side, "frame": FRAME})


def load_knee(path: str | Path) -> KneeModel:
    """Read a knee model.

    Parameters
    ----------
    path : str or Path
        File written by `save_knee`. A part of it is read by `netcdf.load` with the class and the
        name of its group, such as `load(ElementGrid, path, "grid")`.

    Returns
    -------
    KneeModel

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    kinds = {
        "surfaces": Implant,
        "grid": ElementGrid,
        "coarse_grid": ElementGrid,
        "samples": Mapping[str, SampleRows],
        "distance_tables": Mapping[str, DistanceTable],
    }
    parts = netcdf.load_groups(kinds, path, "knee", optional=("coarse_grid",))
    return KneeModel(
        implant=parts["surfaces"],
        grid=parts["grid"],
        coarse_grid=parts.get("coarse_grid"),
        samples={
            side: table_from_rows(item.rows, item.columns)
            for side, item in parts["samples"].items()
        },
        distance_tables=parts["distance_tables"],
    )


def sample_rows(tables: Mapping[str, SurfaceTable]) -> dict[str, SampleRows]:
    """Samples as they are stored."""
    return {side: SampleRows(table.columns, table.rows()) for side, table in tables.items()}
