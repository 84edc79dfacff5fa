"""What was cut out of solids as bearing (`geometry/extraction.nc`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kneewear.geometry.extraction import Extraction
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io import netcdf
from kneewear.io.netcdf import Layout, Variable

_PARTS = ("insert", "femoral")


def save_extractions(extractions: Mapping[str, Extraction], path: str | Path) -> None:
    """Write both components with the triangles kept.

    Parameters
    ----------
    extractions : mapping
        "insert" and "femoral" to their extraction.
    path : str or Path
        File to write.
    """
    values: dict[str, Any] = {}
    for part in _PARTS:
        values[f"{part}_vertices"] = extractions[part].mesh.vertices
        values[f"{part}_faces"] = extractions[part].mesh.faces
        values[f"{part}_kept"] = extractions[part].kept
    netcdf.save(_LAYOUT, values, path, {})


@netcdf.tells_damage("bearings cut out of solids")
def load_extractions(path: str | Path) -> dict[str, Extraction]:
    """Read both components with the triangles kept.

    Parameters
    ----------
    path : str or Path
        File written by `save_extractions`.

    Returns
    -------
    dict
        "insert" and "femoral" to their extraction.

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    values, _ = netcdf.load(_LAYOUT, path)
    return {
        part: Extraction(
            TriangleMesh(values[f"{part}_vertices"], values[f"{part}_faces"].astype(np.int64)),
            values[f"{part}_kept"].astype(bool),
        )
        for part in _PARTS
    }


def _variables() -> tuple[Variable, ...]:
    found = []
    for part in _PARTS:
        vertex, face = f"{part}_vertex", f"{part}_face"
        found += [
            Variable(f"{part}_vertices", (vertex, "component"), "mm", f"vertices, {part}"),
            Variable(f"{part}_faces", (face, "corner"), "1", f"triangles, {part}"),
            Variable(f"{part}_kept", (face,), "1", f"1 on the bearing, {part}"),
        ]
    return tuple(found)


_LAYOUT = Layout("bearings cut out of solids", _variables())
