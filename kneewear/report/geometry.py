"""The geometry a study stands on: surfaces with control nets, elements, thickness."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.geometry.layers import layer_thickness
from kneewear.geometry.surface import Surface
from kneewear.report.maps import draw_outline
from kneewear.report.style import INK, SIDE_COLOURS, WIDTH, show_plan, styled

Array = NDArray[np.float64]

THICKNESS_COLOURS = "cividis"
COVERED_COLOURS = "YlGnBu"
# Samples of a patch where it is drawn in space, and where its parameters are a map.
SPACE_SAMPLES = (49, 33)
MAP_SAMPLES = (161, 91)
# Elements along each side of the enlarged corner of a grid.
CORNER = 12


def draw_geometry(implant: Implant, grid: ElementGrid) -> dict[str, Figure]:
    """Draw every figure of the geometry.

    Parameters
    ----------
    implant : Implant
        Implant or natural knee.
    grid : ElementGrid
        Its elements.

    Returns
    -------
    dict of str to Figure
        `control_nets`, `element_grid`, `thickness_map` and, of a natural knee, `cartilage_map`.
    """
    figures = {
        "control_nets": draw_control_nets(implant),
        "element_grid": draw_element_grid(grid),
        "thickness_map": draw_thickness_map(grid),
    }
    return figures | ({"cartilage_map": draw_cartilage_map(implant)} if implant.natural else {})


@styled
def draw_control_nets(implant: Implant) -> Figure:
    """Bearing surfaces of both bodies with the control nets that shape them.

    Parameters
    ----------
    implant : Implant
        Implant or natural knee; each body is drawn in its own frame.
    """
    figure = Figure(figsize=(WIDTH, 4.0), layout="constrained")
    views = (("insert", "Insert", (32, 150)), ("femoral", "Femoral component", (-28, 150)))
    names = {"insert": "Tibia", "femoral": "Femur"} if implant.natural else {}
    for number, (body, title, (elevation, azimuth)) in enumerate(views):
        axes: Any = figure.add_subplot(1, 2, number + 1, projection="3d")
        counts = []
        for side, surface in getattr(implant, body).items():
            _draw_patch(axes, surface, SIDE_COLOURS[side])
            counts.append(f"{side} {' x '.join(str(n) for n in surface.weights.shape)}")
        axes.set_aspect("equal")
        axes.view_init(elev=elevation, azim=azimuth)
        axes.set(xlabel="x (mm)", ylabel="z (mm)")
        # The heights of a flat insert would be written one over the other.
        low, high = axes.get_zlim()
        axes.locator_params(axis="z", nbins=3 if high - low > 10.0 else 1)
        axes.set_title(f"{names.get(body, title)}\ncontrol points: {', '.join(counts)}")
    return figure


@styled
def draw_element_grid(grid: ElementGrid) -> Figure:
    """Elements of both plateaus from above, and one corner of each enlarged.

    Parameters
    ----------
    grid : ElementGrid
        Elements; the colour of a cell is its covered part.
    """
    figure = Figure(figsize=(WIDTH, 6.4), layout="constrained")
    panels: Any = figure.subplots(2, 1, height_ratios=[1.25, 1.0])
    for side in range(len(grid.sides)):
        draw_outline(panels[0], grid, side)
        _draw_lines(panels[0], grid.corners[side], 0.35)
        _mark_window(panels[0], grid, side)
    show_plan(panels[0])
    rows, columns = grid.area.shape[1:]
    stride = _stride(rows, columns)
    lines = "" if stride == 1 else f", every {_ordinal(stride)} line drawn"
    turned = ", ".join(f"{side} {_turn(grid, n):.1f}°" for n, side in enumerate(grid.sides))
    panels[0].set_title(f"{rows} x {columns} elements a side{lines}; turned by {turned}")
    panels[1].set_axis_off()
    cells = None
    for side, name in enumerate(grid.sides):
        axes = panels[1].inset_axes((0.02 + 0.5 * side, 0.0, 0.46, 0.88))
        cells = _draw_corner(axes, grid, side)
        axes.set_title(f"{name.capitalize()} border enlarged")
    if cells is not None:
        figure.colorbar(cells, ax=panels[1], label="covered part of the cell", pad=0.01)
    return figure


@styled
def draw_thickness_map(grid: ElementGrid) -> Figure:
    """Local thickness under the elements of both plateaus, from above.

    Parameters
    ----------
    grid : ElementGrid
        Elements.
    """
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    axes = figure.subplots()
    known = grid.thickness[grid.valid]
    low, high = float(known.min()), float(known.max())
    ranges = []
    for side, name in enumerate(grid.sides):
        draw_outline(axes, grid, side)
        x, z = grid.corners[side, ..., 0], grid.corners[side, ..., 1]
        shown = np.where(grid.valid[side], grid.thickness[side], np.nan)
        mesh = axes.pcolormesh(
            z, x, shown, cmap=THICKNESS_COLOURS, vmin=low, vmax=high, rasterized=True, zorder=2
        )
        ranges.append(f"{name} {np.nanmin(shown):.2f} to {np.nanmax(shown):.2f} mm")
    show_plan(axes)
    axes.set_title(f"Local thickness: {', '.join(ranges)}")
    figure.colorbar(mesh, ax=axes, label="thickness (mm)", shrink=0.8, pad=0.01)
    return figure


@styled
def draw_cartilage_map(implant: Implant) -> Figure:
    """Thickness of the femoral cartilage, unrolled about the condyles' axis.

    Parameters
    ----------
    implant : Implant
        Natural knee.

    Raises
    ------
    ValueError
        If the implant is an artificial one.
    """
    layer = implant.femoral_layer
    if layer is None:
        raise ValueError("an artificial femoral component has no cartilage")
    maps = {}
    for side, surface in implant.femoral.items():
        (u0, u1), (v0, v1) = surface.domain
        u, v = np.linspace(u0, u1, MAP_SAMPLES[0]), np.linspace(v0, v1, MAP_SAMPLES[1])
        points = surface.evaluate(u[:, None], v[None, :])
        thickness = layer_thickness(points.reshape(-1, 3), layer.bone[side], layer.limits)
        maps[side] = (points, thickness.reshape(MAP_SAMPLES))
    figure = Figure(figsize=(WIDTH * 0.75, 4.6), layout="constrained")
    axes = figure.subplots()
    centre = _circle_centre(np.concatenate([p[..., :2].reshape(-1, 2) for p, _ in maps.values()]))
    top = max(float(thickness.max()) for _, thickness in maps.values())
    for points, thickness in maps.values():
        mesh = axes.pcolormesh(
            points[..., 2],
            _angle(points, centre),
            thickness,
            cmap=THICKNESS_COLOURS,
            vmin=layer.limits[0],
            vmax=top,
            shading="gouraud",
            rasterized=True,
        )
    _show_unrolled(axes)
    axes.set_title("Femoral cartilage")
    figure.colorbar(mesh, ax=axes, label="thickness (mm)", pad=0.01)
    return figure


def _draw_patch(axes: Any, surface: Surface, colour: str) -> None:
    """Surface in its side's colour under its control net, with y drawn upwards."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, SPACE_SAMPLES[0]), np.linspace(v0, v1, SPACE_SAMPLES[1])
    points = surface.evaluate(u[:, None], v[None, :])
    x, y, z = (points[..., axis] for axis in range(3))
    axes.plot_surface(
        x, z, y, color=to_rgba(colour, 0.55), rstride=1, cstride=1, linewidth=0, rasterized=True
    )
    net = surface.control_points
    # With many lines the net would hide the surface.
    fine = net.shape[0] * net.shape[1] > 400
    for lines in (net, net.swapaxes(0, 1)):
        for line in lines:
            axes.plot(line[:, 0], line[:, 2], line[:, 1], color=INK, lw=0.25 if fine else 0.6)
    if not fine:
        axes.scatter(*(net[..., axis].ravel() for axis in (0, 2, 1)), color=INK, s=5)


def _draw_lines(axes: Axes, corners: Array, width: float) -> None:
    """Borders between cells."""
    plan = corners[..., ::-1]
    stride = _stride(plan.shape[0] - 1, plan.shape[1] - 1)
    lines = [*plan[::stride], *plan.swapaxes(0, 1)[::stride]]
    axes.add_collection(LineCollection(lines, colors=INK, linewidths=width, zorder=2))


def _stride(rows: int, columns: int) -> int:
    """Every how many-th line between cells is drawn, so that they can be told apart."""
    return max(1, round(max(rows, columns) / 25))


def _ordinal(number: int) -> str:
    """Ordinal of a small number in words or digits."""
    words = {2: "second", 3: "third", 4: "fourth", 5: "fifth"}
    return words.get(number, f"{number}th")


def _window(grid: ElementGrid, side: int) -> tuple[slice, slice]:
    """Rows and columns round the partly covered cell farthest from the middle of the border."""
    partial = (grid.covered[side] > 0.0) & (grid.covered[side] < 1.0)
    rows, columns = grid.covered.shape[1:]
    # Of the partly covered cells one near a corner tells most: both directions meet there.
    place = np.argwhere(partial) if partial.any() else np.array([[0, 0]])
    middle = np.array([rows - 1, columns - 1]) / 2
    row, column = place[np.argmax((np.abs(place - middle) / (middle + 1)).sum(axis=1))]
    first = [
        int(np.clip(index - CORNER // 2, 0, max(count - CORNER, 0)))
        for index, count in ((row, rows), (column, columns))
    ]
    return slice(first[0], first[0] + CORNER), slice(first[1], first[1] + CORNER)


def _mark_window(axes: Axes, grid: ElementGrid, side: int) -> None:
    """Frame the enlarged part of a grid."""
    rows, columns = _window(grid, side)
    plan = grid.corners[side][rows.start : rows.stop + 1, columns.start : columns.stop + 1, ::-1]
    loop = np.concatenate([plan[:, 0], plan[-1], plan[::-1, -1], plan[0, ::-1]])
    axes.plot(*loop.T, color=SIDE_COLOURS[grid.sides[side]], lw=1.4, zorder=4)


def _draw_corner(axes: Axes, grid: ElementGrid, side: int) -> PolyCollection:
    """Cells of the enlarged part, coloured by their covered part, with their centres."""
    rows, columns = _window(grid, side)
    plan = grid.corners[side][rows.start : rows.stop + 1, columns.start : columns.stop + 1, ::-1]
    quads = np.stack([plan[:-1, :-1], plan[1:, :-1], plan[1:, 1:], plan[:-1, 1:]], axis=2)
    cells = PolyCollection(
        list(quads.reshape(-1, 4, 2)), cmap=COVERED_COLOURS, edgecolors=INK, linewidths=0.4
    )
    cells.set_array(grid.covered[side][rows, columns].ravel())
    cells.set_clim(0.0, 1.0)
    axes.add_collection(cells)
    centre = grid.centre[side][rows, columns][grid.valid[side][rows, columns]]
    axes.plot(centre[:, 2], centre[:, 0], ".", color=SIDE_COLOURS["lateral"], ms=3)
    axes.autoscale_view()
    show_plan(axes)
    return cells


def _turn(grid: ElementGrid, side: int) -> float:
    """Turn of a plateau's rectangle from +x towards +z, deg."""
    x, z = grid.corners[side, -1, 0] - grid.corners[side, 0, 0]
    return float(np.degrees(np.arctan2(z, x)))


def _circle_centre(points: Array) -> Array:
    """Centre of the least-squares circle through the lower half of plane points, shape (n, 2)."""
    points = points[points[:, 1] <= np.median(points[:, 1])]
    terms = np.column_stack([2.0 * points, np.ones(len(points))])
    centre: Array = np.linalg.lstsq(terms, (points**2).sum(axis=1), rcond=None)[0][:2]
    return centre


def _angle(points: Array, centre: Array) -> Array:
    """Angle about a medial-lateral axis, deg: 0 distal, posterior positive."""
    offset = points[..., :2] - centre
    angle: Array = np.degrees(np.arctan2(offset[..., 0], -offset[..., 1]))
    return angle


def _show_unrolled(axes: Axes) -> None:
    """Turn axes into an unrolled condyle: anterior up, medial left (right knee)."""
    axes.invert_xaxis()
    axes.invert_yaxis()
    axes.grid(False)
    axes.set_xlabel("z, medial (mm)")
    axes.set_ylabel("angle, posterior (deg)")
