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
    THICKNESS_COLOURS,
    WIDTH,
    new_figure,
    panels_in_rows,
    show_plan,
    styled,
)
from kneewear.settings.cases import Case
from kneewear.wear.records import CycleRecord, DamageMaps

# Part of the largest wear depth below which no cross-shear is shown.
LEAST_WORN = 0.02


def typical_cases(cases: Sequence[Case]) -> list[tuple[str, int]]:
    """Label and index of the cases of Bei (2003), Fig. 4-3: best, corners, centre, worst.

    Small studies have fewer; no case is chosen twice.
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
    """Damage depth of up to five cases, an X at each side's largest (Bei 2003, Fig. 4-3)."""
    chosen = typical_cases(maps.cases)
    columns = min(2, len(chosen))
    figure, panels = panels_in_rows(len(chosen), 2, 2.6, WIDTH * columns / 2 + 1.0)
    top = max(float(maps.damage_depth[life, index].max()) for _, index in chosen)
    for letter, axes, (label, index) in zip("ABCDE", panels, chosen, strict=False):
        depth = maps.damage_depth[life, index]
        mesh = draw_plateaus(axes, grid, depth, top, DEPTH_COLOURS)
        _mark_worst(axes, grid, depth)
        worst = ", ".join(
            f"{side} {own.max():.2f} mm" for side, own in zip(maps.sides, depth, strict=True)
        )
        axes.set_title(f"{letter}) {label}\n{_case_words(maps.cases[index])}: {worst}")
    figure.colorbar(mesh, ax=panels, label="damage depth (mm)", shrink=0.6, pad=0.02)
    return figure


@styled
def draw_wear_maps(maps: DamageMaps, grid: ElementGrid, life: int) -> Figure:
    """Wear, creep and cross-shear of the centre case, an X at each side's largest depth."""
    index = centre_case(maps.cases)
    wear, creep = maps.wear_depth[life, index], maps.creep_depth[life, index]
    # Where hardly anything is worn, a ratio of two small numbers would set the scale.
    worn = wear > LEAST_WORN * wear.max()
    cross_shear = np.where(worn, maps.cross_shear[life, index], 0.0)
    figure, panels = new_figure(8.2, rows=3)
    for axes, values, label, colours in zip(
        panels.flat,
        (wear, creep, cross_shear),
        ("wear depth (mm)", "creep depth (mm)", "cross-shear ratio"),
        (DEPTH_COLOURS, DEPTH_COLOURS, PRESSURE_COLOURS),
        strict=True,
    ):
        mesh = draw_plateaus(axes, grid, values, float(values.max()), colours)
        figure.colorbar(mesh, ax=axes, label=label, pad=0.02)
        if values is not cross_shear:
            _mark_worst(axes, grid, values)
    figure.suptitle(_case_words(maps.cases[index]))
    return figure


@styled
def draw_pressure_map(cycles: CycleRecord, grid: ElementGrid, activity: int) -> Figure:
    """Pressure of the centre case at the largest load, and paths of the centres of pressure."""
    index = centre_case(cycles.cases)
    pressure = cycles.peak_load_pressure[activity, index]
    load = cycles.load[activity, index]
    peak = int(np.argmax(load))
    figure, ((axes,),) = new_figure(4.6)
    mesh = draw_plateaus(axes, grid, pressure, float(pressure.max()), PRESSURE_COLOURS)
    for side in range(len(cycles.sides)):
        line = cycles.centre_of_pressure[activity, index, :, side]
        path = _draw_path(axes, line[:, [2, 0]], cycles.percent)
        axes.plot(
            line[peak, 2], line[peak, 0], "o", mfc="white", mec=INK, ms=6, zorder=5, clip_on=False
        )
    axes.set_title(
        f"{cycles.activities[activity]}, {_case_words(cycles.cases[index])}: "
        f"largest load {load[peak]:.0f} N at {cycles.percent[peak]:.0f} % of the cycle"
    )
    figure.colorbar(mesh, ax=axes, label="pressure (MPa)", shrink=0.7, pad=0.01)
    label = "path of the centres of pressure, at % of the cycle"
    figure.colorbar(path, ax=axes, label=label, location="bottom", shrink=0.5, aspect=40)
    return figure


@styled
def draw_thickness_map(grid: ElementGrid) -> Figure:
    """Local thickness under the elements of both plateaus, from above."""
    figure, ((axes,),) = new_figure(4.2)
    known = grid.thickness[grid.valid]
    limits = (float(known.min()), float(known.max()))
    mesh = _draw_values(axes, grid, grid.thickness, grid.valid, THICKNESS_COLOURS, limits)
    ranges = []
    for name, thickness, valid in zip(grid.sides, grid.thickness, grid.valid, strict=True):
        own = thickness[valid]
        ranges.append(f"{name} {own.min():.2f} to {own.max():.2f} mm")
    axes.set_title(f"Local thickness: {', '.join(ranges)}")
    figure.colorbar(mesh, ax=axes, label="thickness (mm)", shrink=0.8, pad=0.01)
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
    loaded = grid.valid & (values > 0.0)
    return _draw_values(axes, grid, values, loaded, colours, (0.0, max(top, 1e-12)))


def _draw_values(
    axes: Axes,
    grid: ElementGrid,
    values: NDArray[np.floating],
    drawn: NDArray[np.bool_],
    colours: str,
    limits: tuple[float, float],
) -> QuadMesh:
    """Plan of both plateaus with some elements coloured."""
    for side in range(len(grid.sides)):
        draw_outline(axes, grid, side)
        mesh = axes.pcolormesh(
            grid.corners[side, ..., 1], grid.corners[side, ..., 0],
            np.where(drawn[side], values[side], np.nan),
            cmap=colours, vmin=limits[0], vmax=limits[1], rasterized=True, zorder=2,
        )  # fmt: skip
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


def _case_words(case: Case) -> str:
    return f"{case.thickness:g} mm, {case.body_mass:g} kg"


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
