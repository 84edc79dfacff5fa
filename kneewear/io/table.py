"""Lookup tables of the condyles (`geometry/table.nc`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kneewear.geometry.table import SurfaceTable
from kneewear.io import netcdf
from kneewear.io.netcdf import Variable

_SAMPLE = ("side", "u_sample", "v_sample", "component")
LAYOUT = netcdf.Layout(
    "surface table",
    (
        Variable("side", ("side",), "1", "side of the knee", coordinate=True),
        Variable("component", ("component",), "1", "axis of the femoral frame", coordinate=True),
        Variable("u", ("side", "u_sample"), "1", "first parameter of the surface"),
        Variable("v", ("side", "v_sample"), "1", "second parameter of the surface"),
        Variable("point", _SAMPLE, "mm", "point on the surface"),
        Variable("normal", _SAMPLE, "1", "outward unit normal"),
        Variable("tangent", _SAMPLE, "1", "unit tangent along the first parameter"),
        Variable("binormal", _SAMPLE, "1", "normal x tangent"),
    ),
)
_ARRAYS = ("u", "v", "point", "normal", "tangent", "binormal")


def save_tables(tables: Mapping[str, SurfaceTable], path: str | Path) -> None:
    """Write the tables of all sides.

    Parameters
    ----------
    tables : mapping of side to SurfaceTable
        Tables with the same number of samples.
    path : str or Path
        File to write.
    """
    values = {
        name: np.stack([getattr(table, name) for table in tables.values()]) for name in _ARRAYS
    }
    labels = {"side": np.array(list(tables)), "component": np.array(["x", "y", "z"])}
    netcdf.save(LAYOUT, values | labels, path, {})


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
    return {
        str(side): SurfaceTable(**{name: values[name][i] for name in _ARRAYS})
        for i, side in enumerate(values["side"])
    }
