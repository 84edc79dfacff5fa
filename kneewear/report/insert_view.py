"""Data of the interactive view of the page: the insert, its maps and the femoral component."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.mechanics.rotations import body_three_123
from kneewear.report.maps import sample_surface, typical_cases
from kneewear.report.style import DEPTH_COLOURS, PRESSURE_COLOURS
from kneewear.settings.cases import Case
from kneewear.simulation.history import ContactHistory
from kneewear.wear.records import DamageMaps

# Values are kept as steps of the colour scale, one byte each.
STEPS = 255
# A study of the default size has 25 cases x 101 frames x 15 000 elements; beyond this many values
# the page would be too large, and only the typical cases are shown.
MOST_VALUES = 60_000_000
MOST_VERTICES = 20_000
MOST_FRAMES = 101
FEMORAL_STRIDE = 4

DEPTHS = ("damage_depth", "wear_depth", "creep_depth")
COLOUR_STOPS = 32
# Colour of elements without contact; darker than in the plans because it is lit.
UNTOUCHED = "#d6d2c6"


@dataclass(frozen=True)
class Mesh:
    """Triangles through points of the insert's frame, mm, vertices anticlockwise from outside."""

    points: NDArray[np.float64]
    triangles: NDArray[np.int64]


def shown_cases(cases: Sequence[Case], values_per_case: int) -> tuple[int, ...]:
    """Indices of the cases whose maps fit on a page: all, or else the typical ones."""
    if len(cases) * values_per_case <= MOST_VALUES:
        return tuple(range(len(cases)))
    return tuple(sorted(index for _, index in typical_cases(cases)))


def block_values(reduce: np.ufunc, values: NDArray[Any], factor: int) -> NDArray[Any]:
    """Reduction (maximum, sum) of each `factor` x `factor` elements of the last two axes."""
    for axis in (-2, -1):
        starts = np.arange(0, values.shape[axis], factor)
        values = reduce.reduceat(values, starts, axis=axis)
    return values


def insert_mesh(grid: ElementGrid, factor: int = 1) -> tuple[Mesh, NDArray[np.bool_]]:
    """Triangles through the element centres of all bearings, in blocks of `factor` x `factor`.

    Vertices are the valid elements (or blocks) in the order side, row, column; with the triangles
    are returned the blocks that have a vertex, shape (side, row, column).
    """
    weight = block_values(np.add, grid.valid.astype(np.float64), factor)
    valid = weight > 0.0
    centre = np.moveaxis(np.where(grid.valid[..., None], grid.centre, 0.0), -1, 0)
    points = block_values(np.add, centre, factor)[:, valid] / weight[valid]
    number = np.full(valid.shape, -1)
    number[valid] = np.arange(valid.sum())
    # Corners of each cell of four neighbours, in turn; columns run along +z, rows along +x.
    corners = [number[:, :-1, :-1], number[:, :-1, 1:], number[:, 1:, 1:], number[:, 1:, :-1]]
    cells = np.stack(corners, axis=-1).reshape(-1, 4)
    whole = (cells >= 0).all(axis=1)
    triangles = [cells[whole][:, [0, 1, 2]], cells[whole][:, [0, 2, 3]]]
    for missing in range(4):
        three = np.delete(cells, missing, axis=1)
        triangles.append(three[(cells[:, missing] < 0) & (three >= 0).all(axis=1)])
    return Mesh(points.T, np.concatenate(triangles)), valid


def colour_steps(values: NDArray[Any], top: float) -> NDArray[np.uint8]:
    """Values as steps of a colour scale that ends at `top`.

    Zero is step 0, all else 1 to `STEPS`: the smallest pressure keeps a colour, all other values
    are known to half a step.
    """
    steps = np.rint(np.asarray(values, dtype=np.float64) * (STEPS / max(top, 1e-300)))
    return np.where(values > 0.0, np.clip(steps, 1, STEPS), 0).astype(np.uint8)


def scale_tops(maps: DamageMaps) -> dict[str, float]:
    """Largest value of each map and of the pressure, mm and MPa."""
    tops = {name: float(np.nanmax(getattr(maps, name))) for name in DEPTHS}
    return tops | {"pressure": float(np.nanmax(maps.max_pressure))}


def build_insert_view(
    implant: Implant,
    grid: ElementGrid,
    maps: DamageMaps,
    percent: NDArray[np.float64],
    histories: Iterable[ContactHistory],
    tops: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Gather the data of the view, small enough for a page.

    `percent` is that of the frames; `histories` are the batches of all activities, in any order,
    read one at a time; `tops` are the ends of the colour scales, without which they are those of
    `scale_tops`. Returned are plain builtins: meshes, colour scales, and for each case shown
    the maps of each life and the pressures and poses of each activity. Arrays are compressed and
    coded as text. Each map comes with its exact largest value by side.
    """
    factor = int(np.ceil(np.sqrt(grid.valid.sum() / MOST_VERTICES)))
    mesh, valid = insert_mesh(grid, factor)
    frames = np.arange(0, len(percent), -(-len(percent) // MOST_FRAMES))
    maps_per_case = len(maps.activities) * len(frames) + len(DEPTHS) * len(maps.lives)
    chosen = shown_cases(maps.cases, len(mesh.points) * maps_per_case)
    tops = scale_tops(maps) if tops is None else tops

    def packed_map(values: NDArray[Any], name: str) -> dict[str, Any]:
        """Steps of the vertices, and the exact largest value of each side."""
        steps = colour_steps(block_values(np.maximum, values, factor)[..., valid], tops[name])
        largest = np.atleast_2d(values.max(axis=(-2, -1)).astype(np.float64))
        rounded = [[float(f"{value:.6g}") for value in row] for row in largest]
        return {"steps": packed(steps), "largest": rounded}

    cases: dict[str, dict[str, Any]] = {
        maps.cases[index].name: {
            "name": maps.cases[index].name,
            "label": maps.cases[index].label,
            "thickness_mm": maps.cases[index].thickness,
            "body_mass_kg": maps.cases[index].body_mass,
            "maps": {
                life: {
                    name: packed_map(getattr(maps, name)[number, index], name) for name in DEPTHS
                }
                for number, life in enumerate(maps.lives)
            },
            "cycles": {},
        }
        for index in chosen
    }
    for history in histories:
        for number, case in enumerate(history.cases):
            if case.name in cases:
                pressure = packed_map(history.pressure[number, frames], "pressure")
                cases[case.name]["cycles"][history.activity] = pressure | {
                    "poses": _poses(history, number, frames),
                    "load_n": history.load[number, frames].round(1).tolist(),
                    "peak_load_frame": int(np.argmax(history.load[number, frames])),
                }
    femoral = (sample_surface(one) for one in implant.femoral.values())
    return {
        "knee": "left" if implant.left else "right",
        "sides": list(grid.sides),
        "elements_per_vertex": factor**2,
        "percent": percent[frames].round(2).tolist(),
        "insert": packed_mesh(mesh),
        "femoral": [
            packed_mesh(_patch_mesh(points[::FEMORAL_STRIDE, ::FEMORAL_STRIDE]))
            for points in femoral
        ],
        "scales": {
            name: {"top": top, "steps": STEPS} | scale_colours(name) for name, top in tops.items()
        },
        "lives": list(maps.lives),
        "activities": list(maps.activities),
        "cases": list(cases.values()),
    }


def _poses(history: ContactHistory, number: int, frames: NDArray[np.int64]) -> list[list[float]]:
    """Matrices of the femoral component's pose, row by row."""
    poses = np.broadcast_to(np.eye(4), (len(frames), 4, 4)).copy()
    poses[:, :3, :3] = [body_three_123(angles) for angles in history.rotation[number, frames]]
    poses[:, :3, 3] = history.translation[number, frames]
    rows: list[list[float]] = poses.reshape(-1, 16).round(6).tolist()
    return rows


def _patch_mesh(points: NDArray[np.float64]) -> Mesh:
    """Triangles of a regular raster of points, shape (u, v, 3)."""
    number = np.arange(points.shape[0] * points.shape[1]).reshape(points.shape[:2])
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    triangles = np.concatenate(
        [np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)]
    )
    return Mesh(points.reshape(-1, 3), triangles)


def packed_mesh(mesh: Mesh) -> dict[str, str]:
    """Points and triangles of a mesh as text."""
    return {
        "points": packed(mesh.points.astype("<f4")),
        "triangles": packed(mesh.triangles.astype("<u4")),
    }


def packed(values: NDArray[Any]) -> str:
    """Bytes of an array, compressed and as text; without a time stamp, so equal data are equal."""
    return b64encode(gzip.compress(np.ascontiguousarray(values).tobytes(), 6, mtime=0)).decode()


def scale_colours(name: str) -> dict[str, Any]:
    """Colours of a scale from its start to its end, and that of zero."""
    colours = mpl.colormaps[PRESSURE_COLOURS if name == "pressure" else DEPTH_COLOURS]
    stops = colours(np.linspace(0.0, 1.0, COLOUR_STOPS))
    return {"zero": UNTOUCHED, "stops": [to_hex(stop) for stop in stops]}
