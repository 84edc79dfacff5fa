"""What the interactive view of the page shows: the insert, its maps and the femoral component."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.mechanics.rotations import body_three_123
from kneewear.report.implant import sample_surface
from kneewear.report.maps import typical_cases
from kneewear.report.style import DEPTH_COLOURS, PRESSURE_COLOURS
from kneewear.settings.cases import Case
from kneewear.simulation.history import ContactHistory
from kneewear.wear.cycles import CycleRecord
from kneewear.wear.maps import DamageMaps

# Values are kept as steps of the colour scale, one byte each.
STEPS = 255
# A study of the default size has 25 cases x 101 frames x 15 000 elements; beyond this many values
# the page would grow too large for a mail, and only the typical cases are shown.
MOST_VALUES = 60_000_000
MOST_VERTICES = 20_000
MOST_FRAMES = 101
FEMORAL_STRIDE = 4

DEPTHS = ("damage_depth", "wear_depth", "creep_depth")
COLOUR_STOPS = 32
# What was never touched; darker than in the plans, for light falls on it.
UNTOUCHED = "#d6d2c6"


@dataclass(frozen=True)
class Mesh:
    """Triangles through element centres.

    Parameters
    ----------
    points : array, shape (vertex, 3)
        Insert frame, mm.
    triangles : int array, shape (triangle, 3)
        Vertices, seen anticlockwise from outside.
    """

    points: NDArray[np.float64]
    triangles: NDArray[np.int64]


def shown_cases(cases: Sequence[Case], values_per_case: int) -> tuple[int, ...]:
    """Indices of the cases whose maps fit on a page: all, or else the typical ones.

    Parameters
    ----------
    cases : sequence of Case
        All cases of the study.
    values_per_case : int
        Values one case needs.

    Returns
    -------
    tuple of int
        In the order of the cases.
    """
    if len(cases) * values_per_case <= MOST_VALUES:
        return tuple(range(len(cases)))
    return tuple(sorted(index for _, index in typical_cases(cases)))


def coarsening(grid: ElementGrid) -> int:
    """Elements along each edge of the blocks that are shown as one."""
    return int(np.ceil(np.sqrt(grid.valid.sum() / MOST_VERTICES)))


def block_largest(values: NDArray[Any], factor: int) -> NDArray[Any]:
    """Largest value of each block of `factor` x `factor` elements.

    Parameters
    ----------
    values : array, shape (..., row, column)
        Values, not negative.
    factor : int
        Elements along the edge of a block; blocks at the end may be smaller.

    Returns
    -------
    array, shape (..., ceil(row / factor), ceil(column / factor))
        The maxima: coarsening keeps the largest value of a map.
    """
    if factor == 1:
        return values
    more = [(0, 0)] * (values.ndim - 2) + [(0, -size % factor) for size in values.shape[-2:]]
    padded = np.pad(values, more)
    rows, columns = (size // factor for size in padded.shape[-2:])
    return padded.reshape(*values.shape[:-2], rows, factor, columns, factor).max(axis=(-3, -1))


def insert_mesh(grid: ElementGrid, factor: int = 1) -> tuple[Mesh, NDArray[np.bool_]]:
    """Triangles through the element centres of all bearings.

    Parameters
    ----------
    grid : ElementGrid
        Elements.
    factor : int
        Edge of the blocks shown as one vertex.

    Returns
    -------
    Mesh
        Its vertices are the valid elements (or blocks) in the order side, row, column. It ends at
        the centres of the outermost elements, half an element short of the border.
    bool array, shape (side, row, column)
        Blocks that have a vertex.
    """
    weight = block_sum(grid.valid.astype(np.float64), factor)
    valid = weight > 0.0
    centre = np.moveaxis(np.where(grid.valid[..., None], grid.centre, 0.0), -1, 0)
    points = block_sum(centre, factor)[:, valid] / weight[valid]
    number = np.full(valid.shape, -1)
    number[valid] = np.arange(valid.sum())
    # Corners of each cell of four neighbours, in turn; columns run along +z, rows along +x.
    corners = [number[:, :-1, :-1], number[:, :-1, 1:], number[:, 1:, 1:], number[:, 1:, :-1]]
    cells = np.stack(corners, axis=-1).reshape(-1, 4)
    found = [cells[:, picked] for picked in ((0, 1, 2), (0, 2, 3))]
    whole = (cells >= 0).all(axis=1)
    triangles = [part[whole] for part in found]
    for missing in range(4):
        three = cells[:, [corner for corner in range(4) if corner != missing]]
        triangles.append(three[(cells[:, missing] < 0) & (three >= 0).all(axis=1)])
    return Mesh(points.T, np.concatenate(triangles)), valid


def block_sum(values: NDArray[np.float64], factor: int) -> NDArray[np.float64]:
    """Sum of each block of `factor` x `factor` elements of the last two axes."""
    rows = np.add.reduceat(values, np.arange(0, values.shape[-2], factor), axis=-2)
    return np.add.reduceat(rows, np.arange(0, values.shape[-1], factor), axis=-1)


def colour_steps(values: NDArray[Any], top: float) -> NDArray[np.uint8]:
    """Values as steps of a colour scale that ends at `top`.

    Parameters
    ----------
    values : array
        Values, not negative.
    top : float
        End of the scale.

    Returns
    -------
    uint8 array
        0 where the value is zero, else 1 to `STEPS`: the lightest touch keeps a colour, all other
        values are known to half a step.
    """
    steps = np.rint(np.asarray(values, dtype=np.float64) * (STEPS / max(top, 1e-300)))
    return np.where(values > 0.0, np.clip(steps, 1, STEPS), 0).astype(np.uint8)


def build_insert_view(
    implant: Implant,
    grid: ElementGrid,
    maps: DamageMaps,
    cycles: CycleRecord,
    histories: Iterable[ContactHistory],
) -> dict[str, Any]:
    """Gather what the view shows, small enough for a page.

    Parameters
    ----------
    implant : Implant
        Bearing surfaces.
    grid : ElementGrid
        Elements.
    maps, cycles : DamageMaps and CycleRecord
        All cases.
    histories : iterable of ContactHistory
        Batches of all activities, in any order; read one at a time.

    Returns
    -------
    dict
        Plain builtins: meshes, colour scales, and for each case shown the maps of each life and
        the pressures and poses of each activity. Arrays are compressed and coded as text. Each map
        comes with its exact largest value by side.
    """
    factor = coarsening(grid)
    mesh, valid = insert_mesh(grid, factor)
    every = -(-len(cycles.percent) // MOST_FRAMES)
    frames = np.arange(0, len(cycles.percent), every)
    per_case = len(mesh.points) * (
        len(cycles.activities) * len(frames) + len(DEPTHS) * len(maps.lives)
    )
    chosen = shown_cases(cycles.cases, per_case)
    tops = {name: _largest(getattr(maps, name)) for name in DEPTHS}
    tops["pressure"] = _largest(cycles.max_pressure)
    cases: list[dict[str, Any]] = [
        {
            "name": cycles.cases[index].name,
            "thickness_mm": cycles.cases[index].thickness,
            "body_mass_kg": cycles.cases[index].body_mass,
            "maps": _depth_maps(maps, index, valid, factor, tops),
            "cycles": {},
        }
        for index in chosen
    ]
    places = {cycles.cases[index].name: place for place, index in enumerate(chosen)}
    for history in histories:
        for number, case in enumerate(history.cases):
            if case.name in places:
                cases[places[case.name]]["cycles"][history.activity] = _cycle(
                    history, number, frames, valid, factor, tops["pressure"]
                )
    return {
        "knee": "left" if implant.left else "right",
        "sides": list(grid.sides),
        "elements_per_vertex": factor**2,
        "cases_in_study": len(cycles.cases),
        "percent": cycles.percent[frames].round(2).tolist(),
        "insert": _packed_mesh(mesh),
        "femoral": [_packed_mesh(_patch_mesh(sample)) for sample in _femoral_samples(implant)],
        "scales": {
            name: {"top": top, "steps": STEPS} | _colours(name) for name, top in tops.items()
        },
        "lives": list(maps.lives),
        "activities": list(cycles.activities),
        "cases": cases,
    }


def _largest(values: NDArray[Any]) -> float:
    return float(np.nanmax(values))


def _depth_maps(
    maps: DamageMaps,
    index: int,
    valid: NDArray[np.bool_],
    factor: int,
    tops: dict[str, float],
) -> dict[str, Any]:
    """Maps of one case by life and quantity."""
    return {
        life: {
            name: _packed_map(getattr(maps, name)[number, index], valid, factor, tops[name])
            for name in DEPTHS
        }
        for number, life in enumerate(maps.lives)
    }


def _cycle(
    history: ContactHistory,
    number: int,
    frames: NDArray[np.int64],
    valid: NDArray[np.bool_],
    factor: int,
    top: float,
) -> dict[str, Any]:
    """Pressures and poses of one case in one activity."""
    poses = np.broadcast_to(np.eye(4), (len(frames), 4, 4)).copy()
    poses[:, :3, :3] = [body_three_123(angles) for angles in history.rotation[number, frames]]
    poses[:, :3, 3] = history.translation[number, frames]
    packed = _packed_map(history.pressure[number, frames], valid, factor, top)
    return packed | {
        "poses": poses.reshape(-1, 16).round(6).tolist(),
        "load_n": history.load[number, frames].round(1).tolist(),
        "peak_load_frame": int(np.argmax(history.load[number, frames])),
    }


def _packed_map(
    values: NDArray[Any], valid: NDArray[np.bool_], factor: int, top: float
) -> dict[str, Any]:
    """Steps of the vertices, and the exact largest value of each side."""
    blocks = block_largest(values, factor)
    largest = values.max(axis=(-2, -1)).astype(np.float64)
    return {
        "steps": _packed(colour_steps(blocks[..., valid], top)),
        "largest": [[float(f"{value:.6g}") for value in row] for row in np.atleast_2d(largest)],
    }


def _femoral_samples(implant: Implant) -> list[NDArray[np.float64]]:
    return [
        sample_surface(surface)[::FEMORAL_STRIDE, ::FEMORAL_STRIDE]
        for surface in implant.femoral.values()
    ]


def _patch_mesh(points: NDArray[np.float64]) -> Mesh:
    """Triangles of a regular raster of points, shape (u, v, 3)."""
    number = np.arange(points.shape[0] * points.shape[1]).reshape(points.shape[:2])
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    triangles = np.concatenate(
        [np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)]
    )
    return Mesh(points.reshape(-1, 3), triangles)


def _packed_mesh(mesh: Mesh) -> dict[str, str]:
    return {
        "points": _packed(mesh.points.astype("<f4")),
        "triangles": _packed(mesh.triangles.astype("<u4")),
    }


def _packed(values: NDArray[Any]) -> str:
    """Bytes of an array, compressed and as text; without a time stamp, so equal data are equal."""
    return b64encode(gzip.compress(np.ascontiguousarray(values).tobytes(), 6, mtime=0)).decode()


def _colours(name: str) -> dict[str, Any]:
    """Colours of a scale from its start to its end, and that of zero."""
    colours = mpl.colormaps[PRESSURE_COLOURS if name == "pressure" else DEPTH_COLOURS]
    stops = colours(np.linspace(0.0, 1.0, COLOUR_STOPS))
    return {"zero": UNTOUCHED, "stops": [to_hex(stop) for stop in stops]}
