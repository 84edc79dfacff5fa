"""Damage maps, geometry and solids for ParaView (`wear`, `geometry` and `fe`, folders `vtk`)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData, vtkStructuredGrid
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter, vtkXMLStructuredGridWriter

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.implant import Implant, InsertLayer
from kneewear.geometry.surface import Surface
from kneewear.geometry.thickness import layer_thickness
from kneewear.io.result_files import atomic_path

Array = NDArray[np.float64]

# Samples of a patch along u and along v.
PATCH_SAMPLES = (121, 91)
# Level of compression: higher ones take twice as long for files 3 % smaller.
FASTEST = 1
CELL_ARRAYS = {
    "max_pressure_MPa": "max_pressure",
    "wear_depth_mm": "wear_depth",
    "creep_depth_mm": "creep_depth",
    "damage_depth_mm": "damage_depth",
    "cross_shear_ratio": "cross_shear",
}


def save_damage_vtk(
    maps: xr.Dataset, grid: ElementGrid, folder: str | Path, left: bool = False
) -> list[Path]:
    """Write one file per case (and life, if several) with both plateaus; return the files.

    `left` mirrors the maps back to a left knee (x becomes -x). Each valid element becomes a
    quadrilateral with the `CELL_ARRAYS` and the side (0 medial, 1 lateral). Corners are means of
    the neighbouring element centres, so cells have no gaps and may differ from the element's area
    by the curvature within it.
    """
    points, quads = element_mesh(grid)
    side = np.nonzero(grid.valid)[0].astype(np.int32)
    written = []
    lives, cases = (maps[label].values.tolist() for label in ("life", "case"))
    for (n, life), (m, case) in product(enumerate(lives), enumerate(cases)):
        cells = {name: maps[field].values[n, m][grid.valid] for name, field in CELL_ARRAYS.items()}
        stem = case if len(lives) == 1 else f"{case}_{life}"
        written.append(Path(folder) / f"{stem}.vtp")
        cells["side"] = side
        _write(written[-1], points, quads, left, "damage_depth_mm", cell_data=cells)
    return written


def save_geometry_vtk(implant: Implant, grid: ElementGrid, folder: str | Path) -> list[Path]:
    """Write surfaces, their control nets and the element grid; return the files.

    Each body is in its own frame, mm; a left knee is mirrored back. Surfaces carry the side (0
    medial, 1 lateral, 2 cam or post), normals and principal curvatures (1/mm), cartilage also its
    thickness (mm).
    """
    layers = {"insert": implant.insert_layer, "femoral": implant.femoral_layer}
    bodies: dict[str, Mapping[str, Surface]] = {
        "insert": {side: bearing_of(implant, side).surface for side in implant.sides},
        "femoral": {side: implant.indenter(side) for side in implant.sides},
    }
    bodies |= {f"{body}_bone": layer.bone for body, layer in layers.items() if layer is not None}
    written = []
    for body, patches in bodies.items():
        written += [Path(folder, f"{body}.vtp"), Path(folder, f"{body}_net.vtp")]
        _write_patches(written[-2], patches, layers.get(body), implant.left)
        _write_nets(written[-1], patches, implant.left)
    written.append(Path(folder, "grid.vtp"))
    _write_grid(written[-1], grid, implant.left)
    return written


class MeshFields(Protocol):
    """A solid of columns, its pressed state, and stresses at its nodes, MPa."""

    @property
    def solid(self) -> Any:
        """The solid, with its `nodes`."""

    @property
    def pressed(self) -> Any:
        """Its `displacement`, mm, and the `pressure` on its surface, MPa."""

    @property
    def von_mises(self) -> NDArray[np.float64]:
        """Von Mises stress."""

    @property
    def max_shear(self) -> NDArray[np.float64]:
        """Maximum shear stress."""


def save_solids_vtk(
    fields: Mapping[str, MeshFields], folder: str | Path, left: bool = False
) -> list[Path]:
    """Write the solids of a finite-element comparison by their names (`fe_comparison/*/vtk/*.vts`).

    Nodes carry displacement (mm), von Mises and maximum shear stress, and the contact pressure
    (MPa, zero below the surface). `left` mirrors them back to a left knee.
    """
    mirror = np.array([-1.0 if left else 1.0, 1.0, 1.0])
    written = []
    for name, one in fields.items():
        nodes = one.solid.nodes
        pressure = np.zeros(nodes.shape[:3])
        pressure[:, :, -1] = one.pressed.pressure
        mesh, points = vtkStructuredGrid(), vtkPoints()
        # The first index of a structured grid varies fastest, here the height.
        mesh.SetDimensions(*nodes.shape[2::-1])
        points.SetData(
            numpy_to_vtk(np.ascontiguousarray((nodes * mirror).reshape(-1, 3)), deep=True)
        )
        mesh.SetPoints(points)
        data = {
            "von_mises_MPa": one.von_mises.ravel(),
            "max_shear_MPa": one.max_shear.ravel(),
            "pressure_MPa": pressure.ravel(),
            "displacement_mm": (one.pressed.displacement * mirror).reshape(-1, 3),
        }
        for label, values in data.items():
            array = numpy_to_vtk(np.ascontiguousarray(values, dtype=np.float32), deep=True)
            array.SetName(label)
            mesh.GetPointData().AddArray(array)
        mesh.GetPointData().SetActiveScalars("von_mises_MPa")
        written.append(Path(folder) / f"{name}.vts")
        with atomic_path(written[-1]) as temporary:
            writer = vtkXMLStructuredGridWriter()
            writer.SetCompressionLevel(FASTEST)
            writer.SetFileName(str(temporary))
            writer.SetInputData(mesh)
            if not writer.Write():
                raise OSError(f"cannot write {written[-1]}")
    return written


def save_triangles_vtk(
    path: Path,
    vertices: Array,
    faces: NDArray[np.int64],
    point_data: Mapping[str, NDArray[Any]],
    left: bool = False,
) -> None:
    """Write triangles with values of their vertices, mirrored for a left knee.

    The first of the values is the one that ParaView colours.
    """
    _write(path, vertices, faces, left, next(iter(point_data)), point_data=point_data)


def element_mesh(grid: ElementGrid) -> tuple[Array, NDArray[np.int64]]:
    """Corner points of all sides and the quadrilaterals of the valid elements."""
    points = np.stack([_corners(grid, side) for side in range(len(grid.sides))])
    number = np.arange(points[..., 0].size).reshape(points.shape[:-1])
    # Along +z first, then +x: the normal of this order points up.
    corners = (number[:, :-1, :-1], number[:, :-1, 1:], number[:, 1:, 1:], number[:, 1:, :-1])
    return points.reshape(-1, 3), np.stack(corners, axis=-1)[grid.valid]


def _corners(grid: ElementGrid, side: int) -> Array:
    """Corners of the cells of a side; their heights are means of the elements around them."""
    height = np.where(grid.valid[side], grid.centre[side, ..., 1], np.nan)
    height = np.pad(height, 1, constant_values=np.nan)
    around = np.stack([height[:-1, :-1], height[1:, :-1], height[:-1, 1:], height[1:, 1:]])
    known = np.isfinite(around)
    # A corner without neighbours belongs to no cell; its height is arbitrary.
    y = np.where(known, around, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    plan = grid.corners[side]
    return np.stack([plan[..., 0], y, plan[..., 1]], axis=-1)


def _write_patches(
    path: Path, patches: Mapping[str, Surface], layer: InsertLayer | None, left: bool
) -> None:
    """Write the surfaces of a body on regular u-v grids, with normals and curvatures."""
    points: list[Array] = []
    data: dict[str, list[NDArray[Any]]] = {}
    for index, (side, surface) in enumerate(patches.items()):
        (u0, u1), (v0, v1) = surface.domain
        u = np.repeat(np.linspace(u0, u1, PATCH_SAMPLES[0]), PATCH_SAMPLES[1])
        v = np.tile(np.linspace(v0, v1, PATCH_SAMPLES[1]), PATCH_SAMPLES[0])
        smaller, larger = surface.curvature(u, v)
        points.append(surface.evaluate(u, v))
        arrays: dict[str, NDArray[Any]] = {
            "normal": surface.normal(u, v),
            "smaller_curvature_per_mm": smaller,
            "larger_curvature_per_mm": larger,
            "side": np.full(u.size, index, dtype=np.int32),
        }
        if layer is not None:
            bone, normal = layer.bone[side], layer.normal(surface, points[-1])
            arrays["thickness_mm"] = layer_thickness(points[-1], bone, layer.limits, normal)
        for name, values in arrays.items():
            data.setdefault(name, []).append(values)
    number = np.arange(len(patches) * np.prod(PATCH_SAMPLES)).reshape(-1, *PATCH_SAMPLES)
    corners = (number[:, :-1, :-1], number[:, 1:, :-1], number[:, 1:, 1:], number[:, :-1, 1:])
    cells = np.stack(corners, axis=-1).reshape(-1, 4)
    shown = "side" if layer is None else "thickness_mm"
    joined = {name: np.concatenate(values) for name, values in data.items()}
    _write(path, np.concatenate(points), cells, left, shown, point_data=joined)


def _write_nets(path: Path, patches: Mapping[str, Surface], left: bool) -> None:
    """Write the control nets of a body's patches as lines along u and v."""
    lines, offset = [], 0
    for surface in patches.values():
        number = offset + np.arange(surface.weights.size).reshape(surface.weights.shape)
        lines.append(np.stack([number[:-1], number[1:]], axis=-1).reshape(-1, 2))
        lines.append(np.stack([number[:, :-1], number[:, 1:]], axis=-1).reshape(-1, 2))
        offset += surface.weights.size
    surfaces = list(patches.values())
    data = {
        "side": np.repeat(
            np.arange(len(surfaces), dtype=np.int32), [s.weights.size for s in surfaces]
        ),
        "weight": np.concatenate([s.weights.ravel() for s in surfaces]),
    }
    points = np.concatenate([s.control_points.reshape(-1, 3) for s in surfaces])
    _write(path, points, np.concatenate(lines), left, "side", point_data=data)


def _write_grid(path: Path, grid: ElementGrid, left: bool) -> None:
    """Write the elements with their properties."""
    points, quads = element_mesh(grid)
    side, row, column = (index.astype(np.int32) for index in np.nonzero(grid.valid))
    cells: dict[str, NDArray[Any]] = {
        "side": side,
        "row": row,
        "column": column,
        "thickness_mm": grid.thickness[grid.valid],
        "area_mm2": grid.area[grid.valid],
        "covered": grid.covered[grid.valid],
        "normal": grid.normal[grid.valid],
    }
    _write(path, points, quads, left, "thickness_mm", cell_data=cells)


def _write(
    path: Path,
    points: Array,
    cells: NDArray[np.int64],
    left: bool,
    shown: str,
    cell_data: Mapping[str, NDArray[Any]] | None = None,
    point_data: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Write polygons, or lines of two points, with their data, mirrored for a left knee.

    `shown` is the array that ParaView colours first.
    """
    size = cells.shape[1]
    mirror = np.array([-1.0 if left else 1.0, 1.0, 1.0])
    if left and size > 2:
        cells = cells[:, ::-1]
    mesh, corners, cell_array = vtkPolyData(), vtkPoints(), vtkCellArray()
    corners.SetData(numpy_to_vtk(np.ascontiguousarray(points * mirror), deep=True))
    starts = np.arange(0, size * len(cells) + 1, size, dtype=np.int64)
    cell_array.SetData(
        numpy_to_vtkIdTypeArray(starts, deep=True),
        numpy_to_vtkIdTypeArray(np.ascontiguousarray(cells.ravel(), dtype=np.int64), deep=True),
    )
    mesh.SetPoints(corners)
    (mesh.SetLines if size == 2 else mesh.SetPolys)(cell_array)
    for target, data in ((mesh.GetCellData(), cell_data), (mesh.GetPointData(), point_data)):
        for name, values in (data or {}).items():
            stored = values * mirror if values.ndim == 2 else values
            array = numpy_to_vtk(np.ascontiguousarray(stored), deep=True)
            array.SetName(name)
            target.AddArray(array)
        if shown in (data or {}):
            target.SetActiveScalars(shown)
    writer = vtkXMLPolyDataWriter()
    writer.SetCompressionLevel(FASTEST)
    with atomic_path(path) as temporary:
        writer.SetFileName(str(temporary))
        writer.SetInputData(mesh)
        if not writer.Write():
            raise OSError("VTK could not write the file")
