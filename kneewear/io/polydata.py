"""Points and triangles of VTK XML files, read by VTK; run by `kneewear.io.apart`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkObject
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

from kneewear.io.data_file import cut_off
from kneewear.io.mesh_formats import strip_triangles
from kneewear.io.polygons import polygon_triangles

Faces = NDArray[np.int64]


def read_polydata(path: Path) -> tuple[NDArray[np.float64], Faces | None]:
    """Vertices and triangles; None for the latter when the file has no polygons.

    Strips and larger polygons are cut into triangles, none is left out; lines, single points and
    data are. Raises InputDataError if the file is damaged.
    """
    vtkObject.GlobalWarningDisplayOff()  # faults are reported here
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    for data in (reader.GetCellDataArraySelection(), reader.GetPointDataArraySelection()):
        data.DisableAllArrays()
    reader.Update()
    mesh = reader.GetOutput()
    if reader.GetErrorCode() or not mesh.GetNumberOfPoints():
        complete = "a VTK XML file of PolyData with points"
        raise cut_off(path, "content that VTK cannot read", complete)
    vertices = vtk_to_numpy(mesh.GetPoints().GetData()).astype(np.float64)
    polygons, strips = _cells(mesh.GetPolys()), _cells(mesh.GetStrips())
    if not polygons and not strips:
        return vertices, None
    return vertices, np.concatenate(
        [polygon_triangles(polygons, vertices), strip_triangles(strips)]
    )


def _cells(cells: Any) -> list[Faces]:
    """Vertex numbers of each cell."""
    corners, offsets = (
        vtk_to_numpy(part).astype(np.int64)
        for part in (cells.GetConnectivityArray(), cells.GetOffsetsArray())
    )
    return np.split(corners, offsets[1:-1]) if cells.GetNumberOfCells() else []
