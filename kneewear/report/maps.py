"""Maps on the insert, seen from above."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.report.style import (
    DEPTH_COLOURS,
    INK,
    PLATEAU,
    PRESSURE_COLOURS,
    WIDTH,
    show_plan,
    styled,
)
from kneewear.settings.cases import Case
from kneewear.wear.cycles import CycleRecord
from kneewear.wear.maps import DamageMaps

# Part of the largest wear depth below which no cross-shear is shown.
LEAST_WORN = 0.02


def typical_cases(cases: Sequence[Case]) -> list[tuple[str, int]]:
    """Choose the cases of Bei (2003), Fig. 4-3: best, corners, centre, worst.

    Returns
    -------
    list of (str, int)
        Label and index of each; fewer when the study is small, never one case twice.
    """
    thickness = np.array([case.thickness for case in cases])
    mass = np.array([case.body_mass for case in cases])
    thick, thin, heavy, light = thickness.max(), thickness.min(), mass.max(), mass.min()
    wanted = [
        ("Best: thickest insert, smallest mass", thick, light),
        ("Corner: thickest insert, largest mass", thick, heavy),
        ("Centre", float(np.median(thickness)), float(np.median(mass))),
        ("Corner: thinnest insert, smallest mass", thin, light),
        ("Worst: thinnest insert, largest mass", thin, heavy),
    ]
    scale_h, scale_m = max(thick - thin, 1.0), max(heavy - light, 1.0)
    chosen: dict[int, str] = {}
    for label, at_h, at_m in wanted:
        away = np.hypot((thickness - at_h) / scale_h, (mass - at_m) / scale_m)
        chosen.setdefault(int(np.argmin(away)), label)
    if len(cases) == 1:
        return [("The case", 0)]
    return [(label, index) for index, label in chosen.items()]


def centre_case(cases: Sequence[Case]) -> int:
    """Index of the case nearest to the middle of the design."""
    typical = typical_cases(cases)
    return next((index for label, index in typical if label == "Centre"), typical[0][1])


@styled
def draw_damage_maps(maps: DamageMaps, grid: ElementGrid, life: int) -> Figure:
    """Damage depth of up to five cases on both plateaus (Bei 2003, Fig. 4-3).

    Parameters
    ----------
    maps : DamageMaps
        Maps of all cases.
    grid : ElementGrid
        Their elements.
    life : int
        Index of the life shown.

    Returns
    -------
    Figure
        One panel a case, one colour scale, an X at each side's largest damage.
    """
    chosen = typical_cases(maps.cases)
    columns = 2 if len(chosen) > 1 else 1
    rows = -(-len(chosen) // columns)
    figure = Figure(figsize=(WIDTH * columns / 2 + 1.0, 2.6 * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    top = max(float(maps.damage_depth[life, index].max()) for _, index in chosen)
    mesh = None
    for letter, axes, (label, index) in zip("ABCDE", panels.flat, chosen, strict=False):
        case = maps.cases[index]
        depth = maps.damage_depth[life, index]
        mesh = draw_plateaus(axes, grid, depth, top, DEPTH_COLOURS)
        _mark_worst(axes, grid, depth)
        worst = ", ".join(
            f"{side} {depth[number].max():.2f} mm" for number, side in enumerate(maps.sides)
        )
        axes.set_title(f"{letter}) {label}\n{case.thickness:g} mm, {case.body_mass:g} kg: {worst}")
    for axes in list(panels.flat)[len(chosen) :]:
        axes.set_axis_off()
    if mesh is not None:
        figure.colorbar(mesh, ax=panels, label="damage depth (mm)", shrink=0.6, pad=0.02)
    return figure


@styled
def draw_wear_maps(maps: DamageMaps, grid: ElementGrid, life: int) -> Figure:
    """Wear, creep and cross-shear of the centre case, an X at each side's largest depth.

    Parameters
    ----------
    maps : DamageMaps
        Maps of all cases.
    grid : ElementGrid
        Their elements.
    life : int
        Index of the life shown.
    """
    index = centre_case(maps.cases)
    case = maps.cases[index]
    wear, creep = maps.wear_depth[life, index], maps.creep_depth[life, index]
    # Where hardly anything is worn, a ratio of next to nothing would set the scale.
    worn = wear > LEAST_WORN * wear.max()
    cross_shear = np.where(worn, maps.cross_shear[life, index], 0.0)
    figure = Figure(figsize=(WIDTH, 8.2), layout="constrained")
    panels = figure.subplots(3, 1)
    for axes, values, label, colours in zip(
        panels,
        (wear, creep, cross_shear),
        ("wear depth (mm)", "creep depth (mm)", "cross-shear ratio"),
        (DEPTH_COLOURS, DEPTH_COLOURS, PRESSURE_COLOURS),
        strict=True,
    ):
        mesh = draw_plateaus(axes, grid, values, float(values.max()), colours)
        figure.colorbar(mesh, ax=axes, label=label, pad=0.02)
    for axes, depth in zip(panels[:2], (wear, creep), strict=True):
        _mark_worst(axes, grid, depth)
    figure.suptitle(f"{case.thickness:g} mm, {case.body_mass:g} kg")
    return figure


@styled
def draw_pressure_map(cycles: CycleRecord, grid: ElementGrid, activity: int) -> Figure:
    """Pressure at the largest load and the path of the centres of pressure, for the centre case.

    Parameters
    ----------
    cycles : CycleRecord
        Frame histories.
    grid : ElementGrid
        Elements.
    activity : int
        Index of the activity shown.
    """
    index = centre_case(cycles.cases)
    case, pressure = cycles.cases[index], cycles.peak_load_pressure[activity, index]
    peak = int(np.argmax(cycles.load[activity, index]))
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    axes = figure.subplots()
    mesh = draw_plateaus(axes, grid, pressure, float(pressure.max()), PRESSURE_COLOURS)
    path = None
    for side in range(len(cycles.sides)):
        line = cycles.centre_of_pressure[activity, index, :, side]
        path = _draw_path(axes, line[:, [2, 0]], cycles.percent)
        axes.plot(
            line[peak, 2], line[peak, 0], "o", mfc="white", mec=INK, ms=6, zorder=5, clip_on=False
        )
    axes.set_title(
        f"{cycles.activities[activity]}, {case.thickness:g} mm, {case.body_mass:g} kg: "
        f"largest load {cycles.load[activity, index, peak]:.0f} N at "
        f"{cycles.percent[peak]:.0f} % of the cycle"
    )
    figure.colorbar(mesh, ax=axes, label="pressure (MPa)", shrink=0.7, pad=0.01)
    if path is not None:
        label = "path of the centres of pressure, at % of the cycle"
        figure.colorbar(path, ax=axes, label=label, location="bottom", shrink=0.5, aspect=40)
    return figure


def draw_plateaus(
    axes: Axes, grid: ElementGrid, values: NDArray[np.floating], top: float, colours: str
) -> QuadMesh:
    """Colour both plateaus by their elements' values, leaving zeros as bare plateau.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    grid : ElementGrid
        Elements.
    values : array, shape (side, row, column)
        Values, not negative.
    top : float
        Value of the last colour.
    colours : str
        Colour map.

    Returns
    -------
    QuadMesh
        The coloured cells of the last side, for a colour bar.
    """
    for side in range(len(grid.sides)):
        x, z = grid.corners[side, ..., 0], grid.corners[side, ..., 1]
        draw_outline(axes, grid, side)
        shown = np.where(grid.valid[side] & (values[side] > 0.0), values[side], np.nan)
        mesh = axes.pcolormesh(
            z, x, shown, cmap=colours, vmin=0.0, vmax=max(top, 1e-12), rasterized=True, zorder=2
        )
    show_plan(axes)
    return mesh


def draw_outline(axes: Axes, grid: ElementGrid, side: int) -> None:
    """Bare plateau with its outline: the rectangle, or where half a cell is covered."""
    corners = grid.corners[side]
    axes.update_datalim(corners[..., ::-1].reshape(-1, 2) + [[1.0, 1.0]])
    axes.update_datalim(corners[..., ::-1].reshape(-1, 2) - [[1.0, 1.0]])
    if (grid.covered[side] >= 0.5).all():
        border = corners[[0, 0, -1, -1], [0, -1, -1, 0], ::-1]
        axes.add_patch(Polygon(border, fc=PLATEAU, ec=INK, lw=0.8, zorder=1))
        return
    # One ring of empty cells around, so that the outline closes.
    steps = [corners[1, 0] - corners[0, 0], corners[0, 1] - corners[0, 0]]
    first = corners[0, 0] - 0.5 * (steps[0] + steps[1])
    row, column = (np.arange(count + 1.0) for count in corners.shape[:2])
    middle = first + row[:, None, None] * steps[0] + column[None, :, None] * steps[1]
    inside = np.pad(grid.covered[side], 1)
    where = (middle[..., 1], middle[..., 0], inside)
    axes.contourf(*where, levels=[0.5, 2.0], colors=[PLATEAU], zorder=1)
    axes.contour(*where, levels=[0.5], colors=[INK], linewidths=0.8, zorder=3)


def _mark_worst(axes: Axes, grid: ElementGrid, depth: NDArray[np.float64]) -> None:
    """Set an X at the largest depth of each side."""
    for side in range(len(grid.sides)):
        if depth[side].max() > 0.0:
            worst = np.unravel_index(np.argmax(depth[side]), depth[side].shape)
            x, _, z = grid.centre[side][worst]
            axes.plot(z, x, "x", color="white", ms=8, mew=3.5, zorder=4)
            axes.plot(z, x, "x", color="black", ms=7, mew=1.6, zorder=5)


def _draw_path(
    axes: Axes, points: NDArray[np.float64], percent: NDArray[np.float64]
) -> LineCollection:
    """Line through the frames, coloured by percent of the cycle, closed to the first frame."""
    closed = np.concatenate([points, points[:1]])
    pieces = np.stack([closed[:-1], closed[1:]], axis=1)
    whole = np.isfinite(pieces).all(axis=(1, 2))
    axes.add_collection(LineCollection(list(pieces[whole]), colors="white", lw=3.2, zorder=3))
    line = LineCollection(list(pieces[whole]), cmap="plasma", lw=1.8, zorder=4)
    line.set_array(percent[whole])
    line.set_clim(0.0, 100.0)
    axes.add_collection(line)
    return line
