"""Damage maps and geometry for ParaView (`wear/vtk/*.vtp`, `geometry/vtk/*.vtp`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

from kneewear.geometry.bearing import bearing_of
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.geometry.layers import layer_thickness
from kneewear.geometry.surface import Surface
from kneewear.io.atomic import atomic_path
from kneewear.wear.maps import DamageMaps

Array = NDArray[np.float64]

# Samples of a patch along u and along v.
PATCH_SAMPLES = (121, 91)
CELL_ARRAYS = {
    "max_pressure_MPa": "max_pressure",
    "wear_depth_mm": "wear_depth",
    "creep_depth_mm": "creep_depth",
    "damage_depth_mm": "damage_depth",
    "cross_shear_ratio": "cross_shear",
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
    Cell data: largest pressure (MPa), wear, creep and damage depth (mm), cross-shear ratio and side
    (0 medial, 1 lateral). Corners are means of the neighbouring element centres, so cells are drawn
    without gaps and may differ from the element's area by the curvature within it.
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
            _write(path, points, quads, cells, shown="damage_depth_mm")
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


def save_geometry_vtk(implant: Implant, grid: ElementGrid, folder: str | Path) -> list[Path]:
    """Write surfaces, their control nets and the element grid.

    Parameters
    ----------
    implant : Implant
        Implant or natural knee.
    grid : ElementGrid
        Its elements.
    folder : str or Path
        Folder to write into; made when missing.

    Returns
    -------
    list of Path
        Files written: `insert.vtp` and `femoral.vtp` (of a natural knee also `insert_bone.vtp` and
        `femoral_bone.vtp`), the control net of each as `*_net.vtp`, and `grid.vtp`.

    Notes
    -----
    Each body is in its own frame, mm; a left knee is mirrored back. Surfaces carry the side (0
    medial, 1 lateral, 2 cam or post), normals and principal curvatures (1/mm), cartilage also its
    thickness (mm). Elements carry side, row, column, thickness (mm), true area (mm2), covered part
    of the cell and normal.
    """
    written = []
    mirror = np.array([-1.0 if implant.left else 1.0, 1.0, 1.0])
    layers = {"insert": implant.insert_layer, "femoral": implant.femoral_layer}
    bodies: dict[str, Mapping[str, Surface]] = {
        "insert": {side: bearing_of(implant, side).surface for side in implant.sides},
        "femoral": {side: implant.indenter(side) for side in implant.sides},
    }
    bodies |= {f"{body}_bone": layer.bone for body, layer in layers.items() if layer is not None}
    for body, patches in bodies.items():
        written.append(Path(folder, f"{body}.vtp"))
        layer = layers.get(body)
        parts = []
        for number, (side, surface) in enumerate(patches.items()):
            points, data = _sampled(surface)
            if layer is not None:
                data["thickness_mm"] = layer_thickness(points, layer.bone[side], layer.limits)
            parts.append((points, data | {"side": np.full(len(points), number, dtype=np.int32)}))
        points, data = _joined(parts)
        data["normal"] = data["normal"] * mirror
        cells = _raster_cells(PATCH_SAMPLES, len(parts))
        shown = "thickness_mm" if layer is not None else "side"
        turned = cells[:, ::-1] if implant.left else cells
        _write(written[-1], points * mirror, turned, points_data=data, shown=shown)
        written.append(Path(folder, f"{body}_net.vtp"))
        _write_nets(written[-1], list(patches.values()), mirror)
    written.append(Path(folder, "grid.vtp"))
    _write_grid(written[-1], grid, mirror)
    return written


def _sampled(surface: Surface) -> tuple[Array, dict[str, NDArray[np.generic]]]:
    """Points of a patch on a regular u-v raster, with normals and curvatures."""
    (u0, u1), (v0, v1) = surface.domain
    u = np.repeat(np.linspace(u0, u1, PATCH_SAMPLES[0]), PATCH_SAMPLES[1])
    v = np.tile(np.linspace(v0, v1, PATCH_SAMPLES[1]), PATCH_SAMPLES[0])
    smaller, larger = surface.curvature(u, v)
    data: dict[str, NDArray[np.generic]] = {
        "normal": surface.normal(u, v),
        "smaller_curvature_per_mm": smaller,
        "larger_curvature_per_mm": larger,
    }
    return surface.evaluate(u, v), data


def _joined(
    parts: list[tuple[Array, dict[str, NDArray]]],
) -> tuple[Array, dict[str, NDArray]]:
    """Points and data of several patches as one."""
    names = parts[0][1]
    data = {name: np.concatenate([part[1][name] for part in parts]) for name in names}
    return np.concatenate([part[0] for part in parts]), data


def _raster_cells(shape: tuple[int, int], count: int) -> NDArray[np.int64]:
    """Quadrilaterals of `count` rasters of points, one after the other, oriented along u x v."""
    number = np.arange(count * shape[0] * shape[1]).reshape(count, *shape)
    corners = (number[:, :-1, :-1], number[:, 1:, :-1], number[:, 1:, 1:], number[:, :-1, 1:])
    return np.stack(corners, axis=-1).reshape(-1, 4)


def _write_nets(path: Path, patches: list[Surface], mirror: Array) -> None:
    """Write the control nets of a body's patches as lines along u and v."""
    points, lines, sides, weights = [], [], [], []
    offset = 0
    for side, surface in enumerate(patches):
        n_u, n_v = surface.weights.shape
        number = offset + np.arange(n_u * n_v).reshape(n_u, n_v)
        along = np.stack([number[:-1], number[1:]], axis=-1).reshape(-1, 2)
        across = np.stack([number[:, :-1], number[:, 1:]], axis=-1).reshape(-1, 2)
        lines += [along, across]
        points.append(surface.control_points.reshape(-1, 3) * mirror)
        weights.append(surface.weights.ravel())
        sides.append(np.full(n_u * n_v, side, dtype=np.int32))
        offset += n_u * n_v
    data: dict[str, NDArray] = {"side": np.concatenate(sides), "weight": np.concatenate(weights)}
    _write(path, np.concatenate(points), np.concatenate(lines), points_data=data, shown="side")


def _write_grid(path: Path, grid: ElementGrid, mirror: Array) -> None:
    """Write the elements with what they carry."""
    points, quads = _mesh(grid)
    on = grid.valid
    side, row, column = (index.astype(np.int32) for index in np.nonzero(on))
    cells: dict[str, NDArray] = {
        "side": side,
        "row": row,
        "column": column,
        "thickness_mm": grid.thickness[on],
        "area_mm2": grid.area[on],
        "covered": grid.covered[on],
        "normal": grid.normal[on] * mirror,
    }
    quads = quads[:, ::-1] if mirror[0] < 0 else quads
    _write(path, points * mirror, quads, cells, shown="thickness_mm")


def _write(
    path: Path,
    points: Array,
    cells: NDArray[np.int64],
    cells_data: Mapping[str, NDArray] | None = None,
    points_data: Mapping[str, NDArray] | None = None,
    shown: str = "",
) -> None:
    """Write polygons, or lines of two points, with their data; `shown` is coloured first."""
    mesh, corners, cell_array = vtkPolyData(), vtkPoints(), vtkCellArray()
    corners.SetData(numpy_to_vtk(np.ascontiguousarray(points), deep=True))
    size = cells.shape[1]
    starts = np.arange(0, size * len(cells) + 1, size, dtype=np.int64)
    cell_array.SetData(
        numpy_to_vtkIdTypeArray(starts, deep=True),
        numpy_to_vtkIdTypeArray(np.ascontiguousarray(cells.ravel(), dtype=np.int64), deep=True),
    )
    mesh.SetPoints(corners)
    (mesh.SetLines if size == 2 else mesh.SetPolys)(cell_array)
    for target, data in ((mesh.GetCellData(), cells_data), (mesh.GetPointData(), points_data)):
        for name, values in (data or {}).items():
            array = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
            array.SetName(name)
            target.AddArray(array)
        if shown in (data or {}):
            target.SetActiveScalars(shown)
    writer = vtkXMLPolyDataWriter()
    with atomic_path(path) as temporary:
        writer.SetFileName(str(temporary))
        writer.SetInputData(mesh)
        if not writer.Write():
            raise OSError("VTK gave up")
