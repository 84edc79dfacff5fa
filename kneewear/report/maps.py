"""Maps of the insert and of the condyles: damage, pressure, elements, cartilage and deviations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection, QuadMesh
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from numpy.typing import NDArray

from kneewear.base.cases import Case, centre_case
from kneewear.geometry.distance_table import DistanceTable, map_errors
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.extraction import Extraction
from kneewear.geometry.fit_quality import FitQuality
from kneewear.geometry.implant import Implant
from kneewear.geometry.meshes import TriangleMesh, circle_centre
from kneewear.geometry.settings import MeshImplantSettings
from kneewear.geometry.surface import Surface
from kneewear.geometry.thickness import layer_thickness
from kneewear.motion.history import cases_of, sides_of
from kneewear.report import style
from kneewear.wear.subsurface import subsurface_stress

# Part of the largest wear depth below which no cross-shear is shown.
MIN_WORN = 0.02
# Characters of a title above the map of one plateau.
TITLE_CHARACTERS = 22
# Maps of an insert that yields: variable, label and colours.
_YIELD_MAPS = (
    ("dent", "permanent dent without load (mm)", style.DEPTH_COLOURS),
    ("plastic_strain", "largest plastic strain below", style.DEPTH_COLOURS),
    ("residual_stress", "von Mises stress without load (MPa)", style.PRESSURE_COLOURS),
    ("yielded_stress", "von Mises stress at the largest load (MPa)", style.PRESSURE_COLOURS),
)
# Width of one plan of both plateaus with a colour bar, for heights of 2.7 in, in.
_TWO_PLATEAUS_WIDTH = 6.2
# Samples of a patch in wireframes and sections.
SAMPLES = (161, 121)


def sample_surface(surface: Surface, samples: tuple[int, int] = SAMPLES) -> Array:
    """Points of a surface on a regular grid of its parameters, shape (u, v, 3)."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, samples[0]), np.linspace(v0, v1, samples[1])
    return surface.evaluate(u[:, None], v[None, :])


def typical_cases(cases: Sequence[Case]) -> list[tuple[str, int]]:
    """Label and index of the best, worst, centre and corner cases (Bei 2003, Fig. 4-3)."""
    if len(cases) == 1:
        return [("The case", 0)]
    thickness = [case.thickness for case in cases]
    mass = [case.body_mass for case in cases]
    thick, thin, heavy, light = max(thickness), min(thickness), max(mass), min(mass)
    if thin == thick and light == heavy:
        return [("The first case", 0)]
    corners = {
        ("Best", "thickest insert", "smallest mass"): (thick, light),
        ("Corner", "thickest insert", "largest mass"): (thick, heavy),
        ("Corner", "thinnest insert", "smallest mass"): (thin, light),
        ("Worst", "thinnest insert", "largest mass"): (thin, heavy),
    }
    chosen: dict[int, str] = {}
    at = list(zip(thickness, mass, strict=True))
    for (name, insert, person), corner in corners.items():
        if corner in at:
            # What does not vary is not named.
            words = [insert] * (thin < thick) + [person] * (light < heavy)
            chosen.setdefault(at.index(corner), f"{name}: {', '.join(words)}")
    centre = centre_case(cases)
    known = [(label, index) for index, label in chosen.items()]
    return known if centre in chosen else [*known[:2], ("Centre", centre), *known[2:]]


@style.styled
def draw_damage_maps(
    maps: xr.Dataset, grid: ElementGrid, life: int, outside: Sequence[str] = ()
) -> Figure:
    """Damage depth of up to five cases, an X at each side's largest (Bei 2003, Fig. 4-3).

    The colours are those of the largest depth of these cases over all lives.

    Cases named in `outside` are marked as outside validity.
    """
    cases = cases_of(maps)
    chosen = typical_cases(cases)
    single = len(grid.sides) == 1
    most = 3 if single else 2
    # The colour bar has the last panel where maps leave one free, and is below full rows.
    places = len(chosen) if len(chosen) % most == 0 else len(chosen) + 1
    width = style.WIDTH * min(most, places) / most
    figure, panels = style.panels_in_rows(places, most, 2.7, width)
    plans, free = panels[: len(chosen)], panels[len(chosen) :]
    top = max(float(maps.damage_depth[:, index].max()) for _, index in chosen)
    for letter, axes, (label, index) in zip("ABCDE", plans, chosen, strict=False):
        depth = maps.damage_depth.values[life, index]
        mesh = draw_plateaus(axes, grid, depth, top, style.DEPTH_COLOURS)
        _mark_worst(axes, grid, depth)
        worst = ", ".join(
            f"{side} {own.max():.2f}\u00a0mm"
            for side, own in zip(sides_of(maps), depth, strict=True)
        )
        badge = ", outside validity" if cases[index].name in outside else ""
        # A single plateau is narrower than a line of its title.
        parts = f"{letter}  {label}", f"{cases[index].label}{badge}", worst
        lines = [fill(part, TITLE_CHARACTERS * len(grid.sides)) for part in parts]
        axes.set_title("\n".join(lines))
    style.share_plan_labels(figure, plans)
    if free:
        free[0].set_axis_off()
        bar: dict[str, Any] = {"cax": free[0].inset_axes((0.05, 0.55, 0.85, 0.09))}
    else:
        bar = {"ax": plans, "shrink": 0.5, "aspect": 40, "pad": 0.02}
    figure.colorbar(mesh, label="damage depth (mm)", orientation="horizontal", **bar)
    return figure


@style.styled
def draw_wear_maps(
    maps: xr.Dataset, grid: ElementGrid, life: int, outside: Sequence[str] = ()
) -> Figure:
    """Wear, creep and cross-shear of the centre case, an X at each side's largest depth.

    Cases named in `outside` are marked as outside validity.
    """
    cases = cases_of(maps)
    index = centre_case(cases)
    wear, creep = (maps[name].values[life, index] for name in ("wear_depth", "creep_depth"))
    # Where hardly anything is worn, a ratio of two small numbers would set the scale.
    worn = wear > MIN_WORN * wear.max()
    cross_shear = np.where(worn, maps.cross_shear.values[life, index], 0.0)
    single = len(grid.sides) == 1
    # A row of panels: one below the other they would fill a sheet of paper.
    figure, panels = style.new_figure(4.0 if single else 3.2, 1, 3)
    # Beside a bar of the whole height the title of a narrow panel would be written on it.
    bar: dict[str, Any] = {"location": "bottom", "aspect": 15 if single else 30}
    for axes, values, label, colours in zip(
        panels.flat,
        (wear, creep, cross_shear),
        ("wear depth (mm)", "creep depth (mm)", "cross-shear ratio"),
        (style.DEPTH_COLOURS, style.DEPTH_COLOURS, style.PRESSURE_COLOURS),
        strict=True,
    ):
        mesh = draw_plateaus(axes, grid, values, float(values.max()), colours)
        figure.colorbar(mesh, ax=axes, label=label, **bar)
        if values is not cross_shear:
            _mark_worst(axes, grid, values)
    badge = ", outside validity" if cases[index].name in outside else ""
    title = f"{cases[index].label}{badge}"
    panels.flat[0].set_title(fill(title, TITLE_CHARACTERS * len(grid.sides)))
    if not single:
        style.share_plan_labels(figure, panels.flat)
    return figure


@style.styled
def draw_pressure_map(history: xr.Dataset, grid: ElementGrid, outside: bool = False) -> Figure:
    """Pressure of the first case at the largest load, and paths of the centres of pressure.

    A case `outside` validity is marked.
    """
    load = history["load"].values[0]
    peak = int(np.argmax(load))
    pressure = history.pressure.values[0, peak]
    figure, ((axes,),) = style.new_figure(4.6)
    mesh = draw_plateaus(axes, grid, pressure, float(pressure.max()), style.PRESSURE_COLOURS)
    for side in range(history.sizes["side"]):
        line = history.centre_of_pressure.values[0, :, side]
        path = _draw_path(axes, line[:, [2, 0]], history.percent.values)
        axes.plot(
            line[peak, 2],
            line[peak, 0],
            "o",
            mfc="white",
            mec=style.INK,
            ms=6,
            zorder=5,
            clip_on=False,
        )
    axes.set_title(
        f"{history.attrs['activity']}, {cases_of(history)[0].label}: "
        f"largest load {load[peak]:.0f} N at {float(history.percent[peak]):.0f} % of the cycle"
        + (", outside validity" if outside else "")
    )
    figure.colorbar(mesh, ax=axes, label="pressure (MPa)", shrink=0.7, pad=0.01)
    label = "path of the centres of pressure, at % of the cycle"
    figure.colorbar(path, ax=axes, label=label, location="bottom", shrink=0.5, aspect=40)
    return figure


@style.styled
def draw_subsurface_map(history: xr.Dataset, grid: ElementGrid, poisson_ratio: float) -> Figure:
    """Index of delamination of the first case at the largest load, an X at each side's largest.

    `poisson_ratio` is that of the insert (`kneewear.wear.subsurface`).
    """
    first = history.isel(case=[0])
    found = subsurface_stress(first, grid, poisson_ratio)
    index, depth = (found[name].values[0] for name in ("delamination_index", "depth"))
    figure, ((axes,),) = style.new_figure(4.2)
    mesh = draw_plateaus(axes, grid, index, float(index.max()), style.PRESSURE_COLOURS)
    _mark_worst(axes, grid, index)
    worst = ", ".join(
        f"{side} {own.max():.2f}, {where.ravel()[own.argmax()]:.2g} mm deep"
        for side, own, where in zip(sides_of(history), index, depth, strict=True)
    )
    axes.set_title(f"{history.attrs['activity']}, {cases_of(history)[0].label}: {worst}")
    figure.colorbar(mesh, ax=axes, label="delamination index", shrink=0.7, pad=0.01)
    return figure


@style.styled
def draw_yield_maps(history: xr.Dataset, grid: ElementGrid) -> Figure:
    """Dent, plastic strain and stresses of the first case of an insert that yields.

    An X is at the largest of each side. Maps that are zero everywhere, as dent and residual stress
    are where no strain stays, are left out.
    """
    maps = {name: history[name].values[0].astype(float) for name, _, _ in _YIELD_MAPS}
    drawn = [row for row in _YIELD_MAPS if maps[row[0]].any()]
    rows = max(1, math.ceil(len(drawn) / 2))
    figure, panels = style.new_figure(3.1 * rows, rows, 2)
    for axes, (name, label, colours) in zip(panels.flat, drawn, strict=False):
        values = maps[name]
        mesh = draw_plateaus(axes, grid, values, float(values.max()), colours)
        _mark_worst(axes, grid, values)
        figure.colorbar(mesh, ax=axes, label=label, location="bottom", shrink=0.8, pad=0.02)
    for axes in panels.flat[len(drawn) :]:
        axes.set_axis_off()
    title = f"{history.attrs['activity']}, {cases_of(history)[0].label}"
    figure.suptitle(title, x=0.01, ha="left")
    return figure


@style.styled
def draw_thickness_map(grid: ElementGrid, nominal: float | None = None) -> Figure:
    """Local thickness under the elements of both plateaus, from above.

    Of an insert of `nominal` thickness, mm, or as built.
    """
    figure, ((axes,),) = style.new_figure(4.2)
    local = grid.thickness if nominal is None else grid.case_thickness(nominal)
    known = local[grid.valid]
    limits = (float(known.min()), float(known.max()))
    mesh = _draw_values(axes, grid, local, grid.valid, style.THICKNESS_COLOURS, limits)
    ranges = []
    for name, thickness, valid in zip(grid.sides, local, grid.valid, strict=True):
        own = thickness[valid]
        ranges.append(f"{name} {own.min():.2f} to {own.max():.2f} mm")
    insert = "" if nominal is None else f", {nominal:g} mm insert (nominal)"
    axes.set_title(f"Local thickness{insert}: {', '.join(ranges)}")
    figure.colorbar(mesh, ax=axes, label="thickness (mm)", shrink=0.8, pad=0.01)
    return figure


def draw_plateaus(
    axes: Axes, grid: ElementGrid, values: NDArray[np.floating], top: float, colours: str
) -> QuadMesh:
    """Colour both plateaus by their elements' values from 0 to `top`, leaving zeros bare.

    Returns the cells of the last side, for a colour bar.
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
            grid.corners[side, ..., 1],
            grid.corners[side, ..., 0],
            np.where(drawn[side], values[side], np.nan),
            cmap=colours,
            vmin=limits[0],
            vmax=limits[1],
            rasterized=True,
            zorder=2,
        )
    style.show_plan(axes)
    return mesh


def draw_outline(axes: Axes, grid: ElementGrid, side: int) -> None:
    """Bare plateau with its outline: the rectangle, or where half a cell is covered."""
    corners = grid.corners[side]
    axes.update_datalim(corners[..., ::-1].reshape(-1, 2) + [[1.0, 1.0]])
    axes.update_datalim(corners[..., ::-1].reshape(-1, 2) - [[1.0, 1.0]])
    if (grid.covered[side] >= 0.5).all():
        border = corners[[0, 0, -1, -1], [0, -1, -1, 0], ::-1]
        axes.add_patch(Polygon(border, fc=style.PLATEAU, ec=style.INK, lw=0.8, zorder=1))
        return
    # One ring of empty cells around, so that the outline closes.
    steps = [corners[1, 0] - corners[0, 0], corners[0, 1] - corners[0, 0]]
    first = corners[0, 0] - 0.5 * (steps[0] + steps[1])
    row, column = (np.arange(count + 1.0) for count in corners.shape[:2])
    middle = first + row[:, None, None] * steps[0] + column[None, :, None] * steps[1]
    inside = np.pad(grid.covered[side], 1)
    where = (middle[..., 1], middle[..., 0], inside)
    axes.contourf(*where, levels=[0.5, 2.0], colors=[style.PLATEAU], zorder=1)
    axes.contour(*where, levels=[0.5], colors=[style.INK], linewidths=0.8, zorder=3)


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
    axes.add_collection(LineCollection(list(pieces[whole]), colors="white", lw=4.4, zorder=3))
    axes.add_collection(LineCollection(list(pieces[whole]), colors="black", lw=3.4, zorder=3))
    line = LineCollection(list(pieces[whole]), cmap="plasma", lw=2.4, zorder=4)
    line.set_array(percent[whole])
    line.set_clim(0.0, 100.0)
    axes.add_collection(line)
    return line


Array = NDArray[np.float64]

COVERED_COLOURS = "YlGnBu"
LEFT_OUT = "#c9ccce"
# Samples of a femoral patch in the map of its cartilage.
MAP_SAMPLES = (161, 91)
# Elements along each side of the enlarged corner of a grid.
CORNER = 12
# Deviations below this, mm, are rounding, and the map says so.
ROUNDING = 1e-9
# Errors of distance tables below this, um or deg, are drawn as this.
MIN_ERROR = 1e-5
# Vertices that face up (insert) or away from the axis (condyles) by this much are drawn.
FACING = 0.2


def draw_geometry(
    implant: Implant, grid: ElementGrid, nominal: float | None = None
) -> dict[str, Figure]:
    """Figures `element_grid`, `thickness_map` and, of a natural knee, `cartilage_map`."""
    figures = {
        "element_grid": draw_element_grid(grid),
        "thickness_map": draw_thickness_map(grid, nominal),
    }
    return figures | ({"cartilage_map": draw_cartilage_map(implant)} if implant.natural else {})


@style.styled
def draw_element_grid(grid: ElementGrid) -> Figure:
    """Elements of both plateaus from above, and a corner of each coloured by its covered part."""
    figure, ((plan,), (below,)) = style.new_figure(6.4, 2, height_ratios=[1.25, 1.0])
    below.set_axis_off()
    rows, columns = grid.area.shape[1:]
    stride = max(1, round(max(rows, columns) / 25))
    turned = []
    for side, name in enumerate(grid.sides):
        draw_outline(plan, grid, side)
        corners = grid.corners[side][..., ::-1]
        lines = [*corners[::stride], *corners.swapaxes(0, 1)[::stride]]
        plan.add_collection(
            LineCollection(lines, colors=style.INK, linewidths=0.35, zorder=2, rasterized=True)
        )
        window = _window(grid.covered[side])
        part = corners[tuple(slice(one.start, one.stop + 1) for one in window)]
        loop = np.concatenate([part[:, 0], part[-1], part[::-1, -1], part[0, ::-1]])
        plan.plot(*loop.T, color=style.SIDE_COLOURS[name], lw=1.4, zorder=4)
        axes = below.inset_axes((0.02 + 0.5 * side, 0.0, 0.46, 0.88))
        cells = _draw_corner(axes, part, grid.covered[side][window])
        centre = grid.centre[side][window][grid.valid[side][window]]
        axes.plot(centre[:, 2], centre[:, 0], ".", color=style.RED, ms=3, rasterized=True)
        axes.set_title(f"{name.capitalize()} border enlarged")
        x, z = grid.corners[side, -1, 0] - grid.corners[side, 0, 0]
        turned.append(f"{np.degrees(np.arctan2(z, x)):.1f}° ({name})")
    style.show_plan(plan)
    lines_drawn = "" if stride == 1 else f", one of {stride} lines drawn"
    plan.set_title(
        f"{rows} x {columns} elements per side{lines_drawn}; turned by {' and '.join(turned)}"
    )
    figure.colorbar(cells, ax=below, label="covered part of the cell", pad=0.01)
    return figure


def _window(covered: Array) -> tuple[slice, slice]:
    """Rows and columns around the partly covered cell that is closest to a corner of the grid."""
    partial = np.argwhere((covered > 0.0) & (covered < 1.0))
    cells = partial if len(partial) else np.array([[0, 0]])
    middle = (np.array(covered.shape) - 1) / 2
    cell = cells[np.argmax((np.abs(cells - middle) / (middle + 1)).sum(axis=1))]
    first = np.clip(cell - CORNER // 2, 0, np.maximum(np.array(covered.shape) - CORNER, 0))
    return slice(first[0], first[0] + CORNER), slice(first[1], first[1] + CORNER)


def _draw_corner(axes: Axes, corners: Array, covered: Array) -> PolyCollection:
    """Plan of some cells, coloured by their covered part."""
    quads = np.stack(
        [corners[:-1, :-1], corners[1:, :-1], corners[1:, 1:], corners[:-1, 1:]], axis=2
    ).reshape(-1, 4, 2)
    look: dict[str, Any] = {"edgecolors": style.INK, "linewidths": 0.4}
    cells = style.draw_polygons(axes, quads, covered.ravel(), COVERED_COLOURS, 1.0, **look)
    axes.autoscale_view()
    style.show_plan(axes)
    return cells


@style.styled
def draw_cartilage_map(implant: Implant) -> Figure:
    """Thickness of the femoral cartilage of a natural knee, unrolled about the condyles' axis."""
    layer = implant.femoral_layer
    if layer is None:
        raise ValueError("an artificial femoral component has no cartilage")
    points = {side: sample_surface(one, MAP_SAMPLES) for side, one in implant.femoral.items()}
    thickness = {
        side: layer_thickness(
            own.reshape(-1, 3),
            layer.bone[side],
            layer.limits,
            layer.normal(implant.femoral[side], own.reshape(-1, 3)),
        )
        for side, own in points.items()
    }
    sagittal = np.concatenate([own[..., :2].reshape(-1, 2) for own in points.values()])
    # The lower half is close to a circle.
    centre = np.array(circle_centre(sagittal[sagittal[:, 1] <= np.median(sagittal[:, 1])]))
    top = max(float(own.max()) for own in thickness.values())
    figure, ((axes,),) = style.new_figure(4.6, width=style.WIDTH * 0.75)
    for side, own in points.items():
        mesh = axes.pcolormesh(
            own[..., 2],
            _angle(own, centre),
            thickness[side].reshape(MAP_SAMPLES),
            cmap=style.THICKNESS_COLOURS,
            vmin=layer.limits[0],
            vmax=top,
            shading="gouraud",
            rasterized=True,
        )
    style.show_unrolled(axes)
    axes.set_title("Femoral cartilage")
    figure.colorbar(mesh, ax=axes, label="thickness (mm)", pad=0.01)
    return figure


def _angle(points: Array, centre: Any) -> Array:
    """Angle about a medial-lateral axis, deg: 0 distal, posterior positive."""
    offset = points[..., :2] - np.asarray(centre)
    angle: Array = np.degrees(np.arctan2(offset[..., 0], -offset[..., 1]))
    return angle


@style.styled
def draw_deviation(quality: Sequence[FitQuality]) -> Figure:
    """Signed deviation of every judged point from its patch; condyles are unrolled."""
    figure, panels = style.new_figure(7.0, 2, 2)
    order = sorted(quality, key=lambda fit: (fit.component != "femoral", fit.side != "medial"))
    for axes, fit in zip(panels.flat, order, strict=False):
        limit = 1e3 * max(float(np.quantile(np.abs(fit.deviation), 0.995)), ROUNDING)
        condyle = fit.component == "femoral"
        along = _angle(fit.points, circle_centre(fit.points[:, :2])) if condyle else None
        dots = axes.scatter(
            fit.points[:, 2],
            fit.points[:, 0] if along is None else along,
            c=1e3 * fit.deviation,
            s=3,
            cmap=style.ERROR_COLOURS,
            vmin=-limit,
            vmax=limit,
            linewidths=0,
            rasterized=True,
        )
        figure.colorbar(dots, ax=axes, label="deviation (µm)", pad=0.01)
        sizes = (1e3 * value for value in (fit.max_mm, fit.mean_mm, fit.sd_mm))
        words = "max {:.2f}, mean {:.2f}, SD {:.2f} µm".format(*sizes)
        axes.set_title(
            f"{fit.side.capitalize()} {'condyle' if condyle else 'plateau'}, "
            f"{fit.n_u} x {fit.n_v} lines\n"
            f"{'no deviation but rounding' if fit.max_mm < ROUNDING else words}"
        )
        style.show_unrolled(axes, *(() if condyle else (style.X_LABEL,)))
    return figure


@style.styled
def draw_extraction(extractions: Mapping[str, Extraction]) -> Figure:
    """Triangles of insert and femoral component taken as bearing, beside those left out."""
    figure, panels = style.new_figure(7.0, 2, 2)
    views = {
        "insert": ((2, 0, 1.0, "from above"), (2, 1, -1.0, "from the front")),
        "femoral": ((2, 1, 1.0, "from behind"), (0, 1, 1.0, "from the medial side")),
    }
    labels = (style.SECTION_LABEL, "y (mm)", style.Z_LABEL)
    for row, (part, directions) in zip(panels, views.items(), strict=True):
        extraction = extractions[part]
        area = np.linalg.norm(extraction.mesh.face_normals, axis=1)
        share = 100.0 * area[extraction.kept].sum() / area.sum()
        for axes, (across, up, towards, name) in zip(row, directions, strict=True):
            _draw_triangles(axes, extraction, (across, up), towards)
            axes.set(xlabel=labels[across], ylabel=labels[up], aspect="equal")
            axes.set_title(f"{part.capitalize()}, {name}; {share:.0f} % of the area bears")
            axes.grid(False)
            if across == 2:
                axes.invert_xaxis()
            if up == 0:
                axes.invert_yaxis()
                axes.set_ylabel(style.X_LABEL)
    return figure


def _draw_triangles(
    axes: Axes, extraction: Extraction, directions: tuple[int, int], towards: float
) -> None:
    """Triangles that face the viewer, the nearest drawn last."""
    depth = 3 - sum(directions)
    mesh = extraction.mesh
    facing = np.flatnonzero(towards * mesh.face_normals[:, depth] > 0)
    corners = mesh.vertices[mesh.faces[facing]]
    order = np.argsort(towards * corners[:, :, depth].mean(axis=1))
    # Edges of triangles that are smaller than a point are noise.
    edges = "white" if len(facing) <= style.MANY else "face"
    drawn = PolyCollection(
        list(corners[order][:, :, list(directions)]),
        rasterized=True,
        facecolors=list(np.where(extraction.kept[facing], style.BLUE, LEFT_OUT)[order]),
        edgecolors=edges,
        linewidths=0.1,
    )
    axes.add_collection(drawn)
    axes.autoscale_view()


def _cell_corners(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinate (m + 1, n + 1) of the corners of cells: between their centres, and beyond."""
    for _ in range(2):
        half = 0.5 * np.diff(centres, axis=1)
        first, last = centres[:, :1] - half[:, :1], centres[:, -1:] + half[:, -1:]
        centres = np.hstack([first, centres[:, :-1] + half, last]).T
    return centres


@style.styled
def draw_distance_errors(implant: Implant, tables: Mapping[str, DistanceTable]) -> Figure:
    """Largest errors of the distance tables, an X at the worst; grey is not tabulated."""
    figure, panels = style.new_figure(2.8 * len(tables), len(tables), 2)
    maps = {side: map_errors(implant.femoral[side], table) for side, table in tables.items()}
    kinds = (("distance_error", 1e3, "µm"), ("normal_error", np.degrees(1.0), "deg"))
    for column, (name, scale, unit) in enumerate(kinds):
        values = {side: scale * getattr(one, name) for side, one in maps.items()}
        top = max(float(np.nanmax(value)) for value in values.values())
        least = max(MIN_ERROR, 1e-4 * top)
        for axes, side in zip(panels[:, column], maps, strict=True):
            across, angle = maps[side].across, np.degrees(maps[side].angle)
            # Corners, as centres that fall by rounding are none for Matplotlib.
            corners = map(_cell_corners, (across, angle))
            shown = np.maximum(values[side], least)
            mesh = axes.pcolormesh(
                *corners,
                shown,
                norm=LogNorm(least, top),
                cmap=style.DEPTH_COLOURS,
                rasterized=True,
            )
            worst = np.unravel_index(np.nanargmax(values[side]), shown.shape)
            axes.plot(across[worst], angle[worst], "x", color=style.INK)
            axes.set_facecolor("#d9d9d9")
            style.show_unrolled(axes)
            axes.set_title(f"{side.capitalize()}: worst {np.nanmax(values[side]):.2g} {unit}")
        label = f"{name.replace('_', ' ')} ({unit})"
        figure.colorbar(mesh, ax=panels[:, column], label=label, format="%g").minorticks_off()
    return figure


@style.styled
def draw_windows(
    settings: MeshImplantSettings,
    insert: TriangleMesh,
    femoral: TriangleMesh,
    axis: tuple[float, float],
) -> Figure:
    """A user's meshes (knee axes, mm) with the windows that the settings cut out of them.

    `axis` is x and y of the condyles' medial-lateral axis, about which the femur is unrolled.
    """
    figure, ((plan, unrolled),) = style.new_figure(4.6, columns=2)
    x, y, z = insert.vertices[insert.vertex_normals[:, 1] > FACING].T
    heights = plan.scatter(z, x, c=y, s=1.5, cmap=style.THICKNESS_COLOURS, rasterized=True)
    figure.colorbar(heights, ax=plan, label="height y (mm)", location="bottom")
    away = femoral.vertices[:, :2] - axis
    radius = np.linalg.norm(away, axis=1)
    out = (away * femoral.vertex_normals[:, :2]).sum(axis=1) > FACING * radius
    distances = unrolled.scatter(
        femoral.vertices[out, 2],
        _angle(femoral.vertices[out], axis),
        c=radius[out],
        s=1.5,
        cmap="viridis",
        rasterized=True,
    )
    figure.colorbar(distances, ax=unrolled, label="distance from the axis (mm)", location="bottom")
    for side, plateau in settings.insert_region_mm.given.items():
        condyle = settings.femoral_region_mm.given.get(side)
        if condyle is None:
            continue
        windows = ((plan, plateau.x, plateau.z), (unrolled, condyle.angle_deg, condyle.z))
        for axes, (low, high), (left, right) in windows:
            axes.add_patch(
                Rectangle(
                    (left, low),
                    right - left,
                    high - low,
                    fill=False,
                    ec=style.SIDE_COLOURS[side],
                    lw=2.0,
                )
            )
            axes.annotate(
                side,
                ((left + right) / 2, low),
                (0, 4),
                textcoords="offset points",
                ha="center",
                va="bottom",
                size=style.SMALL,
                color=style.SIDE_COLOURS[side],
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.85},
            )
        if plateau.outline is not None:
            corners = np.array(plateau.outline)[:, ::-1]
            colour = style.SIDE_COLOURS[side]
            plan.add_patch(Polygon(corners, fill=False, ec=colour, lw=1.2, ls="--"))
    style.show_plan(plan)
    plan.set_title("Insert from above")
    style.show_unrolled(unrolled)
    unrolled.set_title("Condyles unrolled")
    handles, labels = plan.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=style.SMALL)
    return figure
