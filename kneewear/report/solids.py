"""Solids around the bearings in the 3-D view: whole components, or a block without files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.extraction import Extraction
from kneewear.geometry.meshes import TriangleMesh

Array = NDArray[np.float64]

# Triangles of a component, of which the files of scans have a hundred times as many.
TRIANGLES = 8000
# Edges sharper than this are drawn as edges.
_CREASE_DEG = 40.0
# A block is as high as this part of the insert below its bearings, at least that many mm, and this
# much wider than the bearings, mm.
_BLOCK_PART = 0.75
_MIN_BLOCK = 2.0
_RIM = 1.5
_ROUND = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)


def whole_components(extractions: Mapping[str, Extraction] | None) -> dict[str, TriangleMesh]:
    """Components that files hold whole, in few triangles; without sheets of bearings alone."""
    windows = extractions or {}
    return {
        name: fewer_triangles(one.mesh, TRIANGLES)
        for name, one in windows.items()
        if not one.kept.all()
    }


def fewer_triangles(mesh: TriangleMesh, triangles: int) -> TriangleMesh:
    """Mesh of at most so many triangles whose sharp edges have vertices of their own."""
    from vtkmodules.util.numpy_support import (  # noqa: PLC0415 - half a second, for solids only
        numpy_to_vtk,
        numpy_to_vtkIdTypeArray,
        vtk_to_numpy,
    )
    from vtkmodules.vtkCommonCore import vtkPoints  # noqa: PLC0415
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData  # noqa: PLC0415
    from vtkmodules.vtkFiltersCore import vtkPolyDataNormals, vtkQuadricDecimation  # noqa: PLC0415

    points, cells, shape = vtkPoints(), vtkCellArray(), vtkPolyData()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(mesh.vertices), deep=True))
    count = len(mesh.faces)
    rows = np.column_stack([np.full(count, 3), mesh.faces]).astype(np.int64)
    cells.ImportLegacyFormat(numpy_to_vtkIdTypeArray(rows.ravel(), deep=True))
    shape.SetPoints(points)
    shape.SetPolys(cells)
    fewer = vtkQuadricDecimation()
    fewer.SetInputData(shape)
    fewer.SetTargetReduction(max(0.0, 1.0 - triangles / max(count, 1)))
    edges = vtkPolyDataNormals()
    edges.SetInputConnection(fewer.GetOutputPort())
    edges.SetFeatureAngle(_CREASE_DEG)
    edges.SplittingOn()
    edges.ConsistencyOff()
    edges.Update()
    made = edges.GetOutput()
    faces = vtk_to_numpy(made.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    return TriangleMesh(vtk_to_numpy(made.GetPoints().GetData()).astype(float), faces)


def block_under(grid: ElementGrid, underside: float) -> TriangleMesh:
    """Block of an insert whose bearings alone are known: its outline surrounds both.

    The block reaches from the underside, mm, up to a part of the way to the lowest element; walls
    go down to it from the borders of the bearings.
    """
    lowest = float(grid.centre[grid.valid][:, 1].min())
    top = underside + max(_MIN_BLOCK, _BLOCK_PART * (lowest - underside))
    plan = grid.centre[grid.valid][:, [0, 2]]
    hull = plan[scipy.spatial.ConvexHull(plan).vertices]
    around = _RIM * np.column_stack([np.cos(_ROUND), np.sin(_ROUND)])
    wide = (hull[:, None, :] + around).reshape(-1, 2)
    outline = wide[scipy.spatial.ConvexHull(wide).vertices]
    return join(_prism(outline, underside, top), _walls(grid, top))


def join(*meshes: TriangleMesh) -> TriangleMesh:
    """All meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [one.faces + start for one, start in zip(meshes, starts, strict=True)]
    return TriangleMesh(
        np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces).astype(int)
    )


def _prism(outline: Array, bottom: float, top: float) -> TriangleMesh:
    """Convex outline, (n, 2) in x and z, between two heights; edges have vertices of their own."""
    count = len(outline)
    # From above, x to z turns clockwise: normals of the outline's order point down.
    fan = np.column_stack([np.zeros(count - 2, int), np.arange(1, count - 1), np.arange(2, count)])
    levels = [
        np.column_stack([outline[:, 0], np.full(count, height), outline[:, 1]])
        for height in (bottom, top)
    ]
    around = np.arange(count)
    after = np.roll(around, -1)
    low, high = around + 2 * count, around + 3 * count
    walls = np.concatenate(
        [np.column_stack([low, low[after], high]), np.column_stack([low[after], high[after], high])]
    )
    faces = np.concatenate([fan, fan[:, ::-1] + count, walls])
    return TriangleMesh(np.concatenate([*levels, *levels]), faces)


def _walls(grid: ElementGrid, bottom: float) -> TriangleMesh:
    """Walls from the outer edges of the elements down to a height."""
    count = np.arange(grid.valid.size).reshape(grid.valid.shape)
    number = np.where(grid.valid, count, -1)
    cells = np.stack(
        [number[:, :-1, :-1], number[:, :-1, 1:], number[:, 1:, 1:], number[:, 1:, :-1]], axis=-1
    ).reshape(-1, 4)
    cells = cells[(cells >= 0).all(axis=1)]
    edges = np.stack([cells, np.roll(cells, -1, axis=1)], axis=-1).reshape(-1, 2)
    # An edge inside is part of two elements, in either direction.
    key = np.sort(edges, axis=1)
    _, first, times = np.unique(key, axis=0, return_index=True, return_counts=True)
    border = edges[first[times == 1]]
    centre = grid.centre.reshape(-1, 3)
    start, end = centre[border[:, 0]], centre[border[:, 1]]
    below = [np.column_stack([p[:, 0], np.full(len(p), bottom), p[:, 2]]) for p in (start, end)]
    corners = np.stack([start, end, *below], axis=1)
    base = 4 * np.arange(len(border))[:, None]
    faces = np.concatenate([base + [0, 2, 1], base + [1, 2, 3]])
    return TriangleMesh(corners.reshape(-1, 3), faces)
