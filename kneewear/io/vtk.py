"""Damage maps for ParaView (`wear/vtk/*.vtp`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

from kneewear.geometry.grid import ElementGrid
from kneewear.io.atomic import atomic_path
from kneewear.wear.maps import DamageMaps

CELL_ARRAYS = {
    "max_pressure_MPa": "max_pressure",
    "wear_depth_mm": "wear_depth",
    "creep_depth_mm": "creep_depth",
    "damage_depth_mm": "damage_depth",
}


def save_damage_vtk(
    maps: DamageMaps, grid: ElementGrid, folder: str | Path, left: bool = False
) -> list[Path]:
    """Write one file a case (and life) with both plateaus.

    Parameters
    ----------
    maps : DamageMaps
        Maps of the cases to write.
    grid : ElementGrid
        Their elements; each valid one becomes a quadrilateral.
    folder : str or Path
        Folder to write into; made when missing.
    left : bool
        True mirrors the maps back to a left knee (x becomes -x).

    Returns
    -------
    list of Path
        Files written: `{case}.vtp`, or `{case}_{life}.vtp` when there are several lives.

    Notes
    -----
    Cell data: largest pressure (MPa), wear, creep and damage depth (mm) and side (0 medial,
    1 lateral). Corners are means of the neighbouring element centres, so cells are drawn without
    gaps and may differ from the element's area by the curvature within it.
    """
    points, quads = _mesh(grid)
    if left:
        points = points * [-1.0, 1.0, 1.0]
        quads = quads[:, ::-1]
    written = []
    for life_index, life in enumerate(maps.lives):
        for case_index, case in enumerate(maps.cases):
            place = (life_index, case_index)
            cells = {
                label: getattr(maps, name)[place][grid.valid] for label, name in CELL_ARRAYS.items()
            }
            cells["side"] = np.nonzero(grid.valid)[0].astype(np.int32)
            stem = case.name if len(maps.lives) == 1 else f"{case.name}_{life}"
            path = Path(folder) / f"{stem}.vtp"
            _write(points, quads, cells, path)
            written.append(path)
    return written


def _mesh(grid: ElementGrid) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Corner points of both plateaus and the quadrilaterals of the valid elements."""
    points, quads = [], []
    offset = 0
    for side in range(len(grid.sides)):
        corners = _corners(grid, side)
        rows, columns = np.nonzero(grid.valid[side])
        width = corners.shape[1]
        first = offset + rows * width + columns
        # Along +z first, then +x: the normal of this order points up.
        quads.append(np.stack([first, first + 1, first + width + 1, first + width], axis=1))
        points.append(corners.reshape(-1, 3))
        offset += corners.shape[0] * width
    return np.concatenate(points), np.concatenate(quads)


def _corners(grid: ElementGrid, side: int) -> NDArray[np.float64]:
    """Corners of a plateau's raster; their heights are means of the elements around them."""
    height = np.where(grid.valid[side], grid.centre[side, ..., 1], np.nan)
    height = np.pad(height, 1, constant_values=np.nan)
    around = np.stack([height[:-1, :-1], height[1:, :-1], height[:-1, 1:], height[1:, 1:]])
    known = np.isfinite(around)
    total = np.where(known, around, 0.0).sum(axis=0)
    # A corner without any neighbour belongs to no cell; its height is of no account.
    y = total / np.maximum(known.sum(axis=0), 1)
    plan = grid.corners[side]
    return np.stack([plan[..., 0], y, plan[..., 1]], axis=-1)


def _write(
    points: NDArray[np.float64],
    quads: NDArray[np.int64],
    cells: dict[str, NDArray[np.generic]],
    path: Path,
) -> None:
    """Write quadrilaterals with cell data."""
    mesh, corners, polygons = vtkPolyData(), vtkPoints(), vtkCellArray()
    corners.SetData(numpy_to_vtk(np.ascontiguousarray(points), deep=True))
    starts = np.arange(0, 4 * len(quads) + 1, 4, dtype=np.int64)
    polygons.SetData(
        numpy_to_vtkIdTypeArray(starts, deep=True),
        numpy_to_vtkIdTypeArray(np.ascontiguousarray(quads.ravel(), dtype=np.int64), deep=True),
    )
    mesh.SetPoints(corners)
    mesh.SetPolys(polygons)
    for name, values in cells.items():
        array = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
        array.SetName(name)
        mesh.GetCellData().AddArray(array)
    mesh.GetCellData().SetActiveScalars("damage_depth_mm")
    writer = vtkXMLPolyDataWriter()
    with atomic_path(path) as temporary:
        writer.SetFileName(str(temporary))
        writer.SetInputData(mesh)
        if not writer.Write():
            raise OSError(f"VTK could not write {path}")
