"""Data of the interactive view of the page: the insert, its maps and the femoral component."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.cases import Case
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.geometry.meshes import TriangleMesh
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.history import cases_of, sides_of
from kneewear.report.maps import sample_surface, typical_cases
from kneewear.report.solids import block_under
from kneewear.report.style import DEPTH_COLOURS, INK, PRESSURE_COLOURS, SIDE_COLOURS
from kneewear.report.viewer import (
    ENDS,
    body,
    build_view,
    choice,
    colour_steps,
    cycle_curve,
    matrices,
    packed,
    scale,
    unpacked,
)
from kneewear.wear.leading import DAMAGE, LeadingDepth

# A study of the default size has 25 cases x 101 frames x 15 000 elements; beyond this many values
# the page would be too large, and only the typical cases are shown.
MAX_VALUES = 60_000_000
MAX_VERTICES = 20_000
MAX_FRAMES = 51
FEMORAL_STRIDE = 4
POLYETHYLENE = "#ece7da"
# Of the femoral component in contact, so that what is below it is seen.
SEEN_THROUGH = 0.3
# Taken off, it stands anterior of the insert, most of its height below the bearing's top: from
# above it hides none of the bearing, and the insert hides a part of it. Turn about z, by which its
# condyles face the camera and its flange is behind; gap; part of its height below that top.
TURNED_DEG = 66.0
GAP_MM = 2.0
SUNK = 0.8
# A solid of other origins than its bearing's is not shown: largest distance of their ends, mm.
MAX_OFFSET = 6.0

DEPTHS = ("damage_depth", "wear_depth", "creep_depth")
NAMES = {
    "damage_depth": "Damage depth with creep",
    "wear_depth": "Wear depth",
    "creep_depth": "Creep depth",
    "pressure": "Contact pressure",
}
UNITS = {name: "MPa" if name == "pressure" else "mm" for name in NAMES}
COLOURS = {name: PRESSURE_COLOURS if name == "pressure" else DEPTH_COLOURS for name in NAMES}


@dataclass(frozen=True)
class Mesh:
    """Triangles through points of the insert's frame, mm, vertices anticlockwise from outside."""

    points: NDArray[np.float64]
    triangles: NDArray[np.int64]


def shown_cases(cases: Sequence[Case], values_per_case: int) -> tuple[int, ...]:
    """Indices of the cases whose maps fit on a page: all, or else the typical ones."""
    if len(cases) * values_per_case <= MAX_VALUES:
        return tuple(range(len(cases)))
    return tuple(sorted(index for _, index in typical_cases(cases)))


def block_values(reduce: np.ufunc, values: NDArray[Any], factor: int) -> NDArray[Any]:
    """Reduction (maximum, sum) of each `factor` x `factor` elements of the last two axes."""
    for _ in range(2):
        # The last axis, which becomes the last but one. `reduceat` takes six times as long.
        reduced = values[..., ::factor].copy()
        for offset in range(1, factor):
            part = values[..., offset::factor]
            inner = reduced[..., : part.shape[-1]]
            reduce(inner, part, out=inner)
        values = reduced.swapaxes(-1, -2)
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


def shown_depths(leading: LeadingDepth) -> tuple[str, ...]:
    """Maps of depths that are shown: damage only where it leads, the leading one first."""
    return DEPTHS if leading is DAMAGE else tuple(name for name in DEPTHS if name != DAMAGE.map)


def scale_tops(maps: xr.Dataset) -> dict[str, float]:
    """Largest value of each map and of the pressure, mm and MPa."""
    tops = {name: float(np.nanmax(maps[name].values)) for name in DEPTHS}
    return tops | {"pressure": float(np.nanmax(maps.max_pressure.values))}


def build_insert_view(
    implant: Implant,
    grid: ElementGrid,
    maps: xr.Dataset,
    percent: NDArray[np.float64],
    histories: Iterable[xr.Dataset],
    first: str = "",
    tops: Mapping[str, float] | None = None,
    leading: LeadingDepth = DAMAGE,
    solids: Mapping[str, TriangleMesh] | None = None,
) -> dict[str, Any]:
    """View (:mod:`kneewear.report.viewer`) of maps and pressures, small enough for a page.

    Parameters
    ----------
    implant, grid : Implant, ElementGrid
        Femoral surfaces, and the elements of the insert.
    maps : Dataset
        Maps of the cases that have some; of many only the typical ones are shown.
    percent : array, shape (n_frames,)
        Percent of the cycle of each frame.
    histories : iterable of Dataset
        Contact of the cases by activity, in any order of batches.
    first : str
        Case that is shown at first; the first one if empty.
    tops : mapping, optional
        Ends of the colour scales, those of `scale_tops` when not given.
    leading : LeadingDepth
        Depth that leads; damage is shown only if it does.
    solids : mapping, optional
        Whole components "insert" and "femoral" in the frames of their bearings.
    """
    factor = int(np.ceil(np.sqrt(grid.valid.sum() / MAX_VERTICES)))
    mesh, valid = insert_mesh(grid, factor)
    frames = np.arange(0, len(percent), -(-len(percent) // MAX_FRAMES))
    lives, activities = (maps[label].values.tolist() for label in ("life", "activity"))
    maps_per_case = len(activities) * len(frames) + len(shown_depths(leading)) * len(lives)
    all_cases = cases_of(maps)
    chosen = shown_cases(all_cases, len(mesh.points) * maps_per_case)
    tops = scale_tops(maps) if tops is None else tops
    quantities = (*shown_depths(leading), "pressure")
    titles = {name: f"{NAMES[name]} ({UNITS[name]})" for name in quantities}
    names = {all_cases[index].name: all_cases[index].label for index in chosen}

    def painted(values: NDArray[Any], quantity: str) -> dict[str, Any]:
        """Colours of the vertices, and the largest value of each side as text, by frame."""
        steps = colour_steps(block_values(np.maximum, values, factor)[..., valid], tops[quantity])
        largest = values.reshape(-1, *grid.valid.shape).max(axis=(-2, -1))
        texts = [
            "largest " + ", ".join(f"{side} {value:.3g} {UNITS[quantity]}" for side, value in pairs)
            for pairs in (zip(grid.sides, row, strict=True) for row in largest)
        ]
        return {"scale": quantity, "coloured": "insert", "colours": packed(steps), "texts": texts}

    bodies = {"insert": body(mesh.points, mesh.triangles)} | _solid_bodies(
        implant, grid, solids or {}
    )
    beside = [_beside(bodies)]
    scenes = [
        {
            "of": {"quantity": quantity, "case": all_cases[index].name, "life": life},
            "title": f"{NAMES[quantity]}, {all_cases[index].label}, {life}",
            "bodies": list(bodies),
            "poses": {"femoral": beside},
        }
        | painted(maps[quantity].values[number, index], quantity)
        for index in chosen
        for number, life in enumerate(lives)
        for quantity in shown_depths(leading)
    ]
    for history in histories:
        activity = history.attrs["activity"]
        for number, case in enumerate(cases_of(history)):
            if case.name in names:
                scenes.append(
                    {
                        "of": {"quantity": "pressure", "case": case.name, "activity": activity},
                        "title": f"{NAMES['pressure']}, {case.label}, {activity}",
                        "bodies": list(bodies),
                        "frames": [f"{at:.0f} % of the cycle" for at in percent[frames]],
                        "first_frame": int(np.argmax(history["load"].values[number, frames])),
                        "poses": {"femoral": _poses(history, number, frames)},
                        "opacity": {"femoral": SEEN_THROUGH},
                        "curves": _cycle_curves(history, number, frames),
                    }
                    | painted(history.pressure.values[number, frames], "pressure")
                )
    left = " This left knee is shown as a right one." if implant.left else ""
    return build_view(
        bodies,
        scenes,
        [
            choice("quantity", "Show", titles),
            choice("case", "Case", names, first if first in names else ""),
            choice("life", "Life", {name: name for name in lives}),
            choice("activity", "Activity", {name: name for name in activities}),
        ],
        groups={"femoral": {"label": "Femoral component", "shown": True}},
        scales={
            name: scale(NAMES[name], UNITS[name], tops[name], COLOURS[name]) for name in quantities
        },
        ends=ENDS,
        hint="Point at a place for its value; × marks the largest value of each side. One colour "
        f"scale for all cases; grey was never touched.{left}",
    )


def _solid_bodies(
    implant: Implant, grid: ElementGrid, solids: Mapping[str, TriangleMesh]
) -> dict[str, Any]:
    """Bodies around the elements: the solid of the insert, or a block, and the other component."""
    bodies = {}
    insert = solids.get("insert")
    if insert is not None and _has_place_of(insert.vertices, grid.centre[grid.valid]):
        bodies["insert_solid"] = body(insert.vertices, insert.faces, POLYETHYLENE)
    elif isinstance(implant.underside, float) and not implant.natural:
        block = block_under(grid, implant.underside)
        bodies["insert_solid"] = body(block.vertices, block.faces, POLYETHYLENE)
    surfaces = {side: sample_surface(one) for side, one in implant.femoral.items()}
    everything = np.concatenate([points.reshape(-1, 3) for points in surfaces.values()])
    femoral = solids.get("femoral")
    if femoral is not None and _has_place_of(femoral.vertices, everything):
        return bodies | {
            "femoral_solid": body(femoral.vertices, femoral.faces, group="femoral", metal=True)
        }
    for side, sampled in surfaces.items():
        points, triangles = raster(sampled[::FEMORAL_STRIDE, ::FEMORAL_STRIDE])
        bodies[f"femoral_{side}"] = body(points, triangles, group="femoral", metal=True)
    return bodies


def _has_place_of(solid: NDArray[np.float64], bearing: NDArray[np.float64]) -> bool:
    """True if a bearing is within the box of a solid, which then has its origin."""
    below = solid.min(axis=0) - MAX_OFFSET <= bearing.min(axis=0)
    above = solid.max(axis=0) + MAX_OFFSET >= bearing.max(axis=0)
    return bool(below.all() and above.all())


def _beside(bodies: Mapping[str, Any]) -> list[float]:
    """Matrix of the femoral component beside the insert, row by row."""
    points = {
        name: unpacked(one["points"], "<f4").reshape(-1, 3).astype(float)
        for name, one in bodies.items()
    }
    groups: dict[bool, list[NDArray[np.float64]]] = {True: [], False: []}
    for name, one in bodies.items():
        groups[one["group"] == "femoral"].append(points[name])
    angle = np.radians(TURNED_DEG)
    turn = np.array(
        [[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0, 0, 1.0]]
    )
    femoral, insert = np.concatenate(groups[True]) @ turn.T, np.concatenate(groups[False])
    low, high = femoral.min(axis=0), femoral.max(axis=0)
    place = [
        insert[:, 0].min() - GAP_MM - high[0],
        points["insert"][:, 1].max() - low[1] - SUNK * (high[1] - low[1]),
        0.5 * (insert[:, 2].min() + insert[:, 2].max() - low[2] - high[2]),
    ]
    return matrices([turn], [place])[0]


def _poses(history: xr.Dataset, number: int, frames: NDArray[np.int64]) -> list[list[float]]:
    """Matrices of the femoral component's pose, row by row."""
    turns = body_three_123(history.rotation.values[number, frames])
    return matrices(turns, history.translation.values[number, frames])


def _cycle_curves(
    history: xr.Dataset, number: int, frames: NDArray[np.int64]
) -> list[dict[str, Any]]:
    """Load, pressure and place of contact of a case over the cycle."""
    one = history.isel(case=number, frame=frames)
    inside = one.max_pressure.values > 0.0
    # Without contact there is no place of it.
    place = np.where(inside, one.centre_of_pressure.values[..., 0], np.nan)
    sides = sides_of(history)
    by_side = (
        ("Largest pressure", "MPa", one.max_pressure.values),
        ("Force on the insert", "N", -one.force.values[..., 1]),
        ("Centre of pressure, posterior", "mm", place),
    )
    return [
        cycle_curve("Load", "N", {"load": (INK, one["load"].values)}),
        *(
            cycle_curve(
                label,
                unit,
                {
                    side: (SIDE_COLOURS[side], line)
                    for side, line in zip(sides, values.T, strict=True)
                },
            )
            for label, unit, values in by_side
        ),
    ]


def raster(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points and triangles of a regular raster of points, shape (u, v, 3)."""
    number = np.arange(points.shape[0] * points.shape[1]).reshape(points.shape[:2])
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    triangles = np.concatenate(
        [np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)]
    )
    return points.reshape(-1, 3), triangles
