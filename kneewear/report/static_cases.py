"""Static study: poses, pressures on the insert, and pressures over the load."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from kneewear.geometry.implant import Implant
from kneewear.geometry.surface import Surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.report.implant import METAL, draw_section, sample_surface
from kneewear.report.position_scan import draw_position_scan
from kneewear.report.static_facts import scans_positions
from kneewear.report.style import (
    INK,
    PLATEAU,
    PRESSURE_COLOURS,
    SIDE_COLOURS,
    WIDTH,
    show_plan,
    styled,
)
from kneewear.report.tables import quantity_name
from kneewear.sides import POST, SIDES
from kneewear.studies.static.record import StaticRecord

Array = NDArray[np.float64]

MATERIAL_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = "osD^vP"
# Height of what sections show, mm, room under plateaus that lie below their origin, and room round
# the loaded part of the post.
SECTION_HEIGHT = 45.0
SECTION_ROOM = 3.0
POST_ROOM = 1.5
# Samples along a border of a patch.
BORDER = np.linspace(0.0, 1.0, 61)


def shown_cases(record: StaticRecord) -> list[int]:
    """Cases of the first material at the largest load, one a flexion and position."""
    top = max(case.load for case in record.cases)
    first = record.cases[0].material
    return [
        number
        for number, case in enumerate(record.cases)
        if case.material == first and case.load == top
    ]


@styled
def draw_static_sections(record: StaticRecord, implant: Implant) -> Figure:
    """Sagittal sections through the bearings in every pose, and through cam and post.

    Parameters
    ----------
    record : StaticRecord
        Poses.
    implant : Implant
        Surfaces.
    """
    chosen = shown_cases(record)
    figure, panels = _panels(len(chosen), columns=4, height=1.9)
    insert = {side: sample_surface(surface) for side, surface in implant.insert.items()}
    metal = {side: sample_surface(surface) for side, surface in implant.femoral.items()}
    for axes, number in zip(panels, chosen, strict=True):
        rotation = body_three_123(record.rotation[number])
        for side in SIDES:
            centre = record.centre_of_pressure[number, record.sides.index(side)]
            if np.isfinite(centre).all():
                moved = metal[side] @ rotation.T + record.translation[number]
                draw_section(axes, (insert[side], moved), (2, centre[2]), 0, SIDE_COLOURS[side])
                axes.plot(centre[0], centre[1], ".", color=SIDE_COLOURS[side], ms=8, zorder=4)
        if implant.cam_and_post is not None:
            _draw_cam_and_post(axes, implant, record, number)
        axes.set(aspect="equal", title=_title(record, number), xlabel="x, posterior (mm)")
    panels[0].set_ylabel("y (mm)")
    limits = np.array([axes.get_xlim() for axes in panels])
    # A tibia's frame has its origin far above the plateaus; an insert's stands on its underside.
    lowest = min(float(points[..., 1].min()) for points in insert.values())
    bottom = min(0.0, lowest - SECTION_ROOM)
    for axes in panels:
        axes.set(
            xlim=(limits[:, 0].min(), limits[:, 1].max()), ylim=(bottom, bottom + SECTION_HEIGHT)
        )
    return figure


@styled
def draw_static_pressure(record: StaticRecord, implant: Implant) -> Figure:
    """Loaded elements of the first material at the largest load, coloured by their pressure.

    Parameters
    ----------
    record : StaticRecord
        Loaded elements.
    implant : Implant
        Surfaces, for the outlines.
    """
    chosen = shown_cases(record)
    figure, panels = _panels(len(chosen), columns=2, height=2.8)
    drawn = np.isin(record.element_case, chosen)
    top = float(record.element_pressure[drawn].max())
    cells = None
    for axes, number in zip(panels, chosen, strict=True):
        for place, side in enumerate(record.sides):
            if side != POST:
                _draw_outline(axes, implant, side)
                cells = _draw_elements(axes, record, (number, place), top)
        axes.autoscale_view()
        show_plan(axes)
        axes.set_title(f"{_title(record, number)}\n{_peaks(record, number)}")
        if POST in record.sides and record.max_pressure[number, record.sides.index(POST)] > 0.0:
            _draw_post(axes, record, number, top)
    if cells is not None:
        figure.colorbar(cells, ax=panels, label="pressure (MPa)", shrink=0.7, pad=0.01)
    return figure


def can_compare_materials(static: pd.DataFrame) -> bool:
    """Tell whether there are curves over the load to draw, of several materials."""
    return static["load_n"].nunique() > 1 and static["material"].nunique() > 1


@styled
def draw_material_comparison(static: pd.DataFrame, comparison: pd.DataFrame) -> Figure:
    """Mean and largest pressure over the load at every flexion (Bei 2003, Fig. 3-4).

    Parameters
    ----------
    static : DataFrame
        Tidy table of the study.
    comparison : DataFrame
        Differences of the materials; with published values a band shows where the measurements lay
        on average, counted from the first material.
    """
    bearing = static[static["side"].isin(SIDES)]
    keys = ["quantity", "flexion_deg", "material", "load_n"]
    curves = bearing.groupby(keys)["value"].mean()
    flexions, materials = (list(dict.fromkeys(static[key])) for key in keys[1:3])
    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    panels: Any = figure.subplots(2, len(flexions), sharex=True, sharey="row", squeeze=False)
    for row, quantity in zip(panels, ("avg_pressure", "max_pressure"), strict=True):
        for axes, flexion in zip(row, flexions, strict=True):
            _draw_measured(axes, curves[quantity, flexion, materials[0]], comparison, quantity)
            for number, material in enumerate(materials):
                curve = curves[quantity, flexion, material]
                axes.plot(
                    curve.index,
                    curve,
                    color=MATERIAL_COLOURS[number % len(MATERIAL_COLOURS)],
                    marker=MARKERS[number % len(MARKERS)],
                    ms=4,
                    label=material.replace("_", ", "),
                )
            axes.set_xticks(curve.index)
        row[0].set_ylim(bottom=0.0)
        row[0].set_ylabel(f"{quantity_name(quantity)} (MPa)")
    for axes, flexion in zip(panels[0], flexions, strict=True):
        axes.set_title(f"{flexion:g}°")
    for axes in panels[1]:
        axes.set_xlabel("load (N)")
        axes.tick_params(axis="x", labelrotation=45)
    figure.legend(*panels[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _draw_measured(axes: Axes, curve: pd.Series, comparison: pd.DataFrame, quantity: str) -> None:
    """Band round the first material's curve in which the measurements lay on average."""
    if "measured_least_mpa" not in comparison:
        return
    row = comparison[(comparison["quantity"] == quantity) & comparison["load_n"].isna()].iloc[0]
    least, greatest = curve + row["measured_least_mpa"], curve + row["measured_greatest_mpa"]
    label = "measured, by its mean error"
    if (greatest - least).max() > 0.0:
        axes.fill_between(curve.index, least, greatest, color="#c9ccce", lw=0, label=label)
    else:
        axes.plot(curve.index, least, color="#9a9d9f", ls="--", label=label)


def _draw_cam_and_post(axes: Axes, implant: Implant, record: StaticRecord, number: int) -> None:
    """Middle sections of cam and post."""
    pair = implant.cam_and_post
    if pair is None:
        return
    back = _middle_line(pair.post)
    front = np.full(2, pair.front)
    outline = np.vstack([back[:, :2], np.column_stack([front, back[[-1, 0], 1]])])
    axes.add_patch(Polygon(outline, fc=PLATEAU, ec=INK, lw=1.0, zorder=1))
    rotation = body_three_123(record.rotation[number])
    cam = _middle_line(pair.cam) @ rotation.T + record.translation[number]
    axes.plot(cam[:, 0], cam[:, 1], color=METAL, lw=2.2)
    centre = record.centre_of_pressure[number, record.sides.index(POST)]
    if np.isfinite(centre).all():
        axes.plot(centre[0], centre[1], ".", color=INK, ms=8, zorder=4)


def _middle_line(surface: Surface) -> Array:
    """Points along u in the middle of v, shape (n, 3)."""
    (u0, u1), (v0, v1) = surface.domain
    return surface.evaluate(np.linspace(u0, u1, 2 * BORDER.size), 0.5 * (v0 + v1))


def _draw_elements(
    axes: Axes, record: StaticRecord, place: tuple[int, int], top: float
) -> PolyCollection:
    """Cells of the loaded elements of one case and side."""
    mine = (record.element_case == place[0]) & (record.element_side == place[1])
    cells = PolyCollection(
        list(record.element_corners[mine][..., ::-1]),
        cmap=PRESSURE_COLOURS,
        linewidths=0.0,
        zorder=2,
    )
    cells.set_array(record.element_pressure[mine])
    cells.set_clim(0.0, top)
    axes.add_collection(cells)
    return cells


def _draw_post(axes: Axes, record: StaticRecord, number: int, top: float) -> None:
    """Inset of the loaded elements on the post, seen from the front: medial left, superior up."""
    place = record.sides.index(POST)
    inset = axes.inset_axes((0.385, 0.08, 0.23, 0.34))
    _draw_elements(inset, record, (number, place), top)
    mine = (record.element_case == number) & (record.element_side == place)
    down, z = np.moveaxis(record.element_corners[mine].reshape(-1, 2), -1, 0)
    inset.set(
        xlim=(z.max() + POST_ROOM, z.min() - POST_ROOM),
        ylim=(down.max() + POST_ROOM, down.min() - POST_ROOM),
        aspect="equal",
        facecolor=PLATEAU,
        xticks=[],
        yticks=[],
    )
    size = f"{np.ptp(z):.1f} x {np.ptp(down):.1f} mm"
    inset.set_title(f"post\n{size}", fontsize=7, fontweight="normal", loc="center", pad=2)


def _draw_outline(axes: Axes, implant: Implant, side: str) -> None:
    """Plateau in plan: the border of what carries elements, or else of the patch."""
    surface = implant.insert[side]
    if implant.coverage is not None:
        # Not the border's own segments: some lie on the window's edge twice, there and back.
        points = surface.control_points.reshape(-1, 3)
        x, z = (np.linspace(points[:, n].min(), points[:, n].max(), 300) for n in (0, 2))
        inside = implant.coverage[side].contains(*np.meshgrid(x, z, indexing="ij"))
        axes.contourf(z, x, inside, levels=[0.5, 1.5], colors=[PLATEAU], zorder=0)
        axes.contour(z, x, inside, levels=[0.5], colors=[INK], linewidths=0.8, zorder=1)
        return
    (u0, u1), (v0, v1) = surface.domain
    u, v = u0 + (u1 - u0) * BORDER, v0 + (v1 - v0) * BORDER
    low, high = np.full(BORDER.size, 0.0), np.full(BORDER.size, 1.0)
    border = surface.evaluate(
        np.concatenate([u, u0 + (u1 - u0) * high, u[::-1], u0 + (u1 - u0) * low]),
        np.concatenate([v0 + (v1 - v0) * low, v, v0 + (v1 - v0) * high, v[::-1]]),
    )
    axes.add_patch(Polygon(border[:, [2, 0]], fc=PLATEAU, ec=INK, lw=0.8, zorder=1))


def _panels(count: int, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of as many panels as needed, so many in a row."""
    columns = min(count, columns)
    rows = -(-count // columns)
    figure = Figure(figsize=(WIDTH, height * rows + 0.4), layout="constrained")
    found = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in found[count:]:
        axes.set_axis_off()
    return figure, found[:count]


def _title(record: StaticRecord, number: int) -> str:
    """Flexion and place of a case."""
    # Rounded first: there is no negative zero millimetres.
    place = round(float(record.translation[number, 0]), 1) + 0.0
    return f"{record.cases[number].flexion:g}°, femur at {place:+.1f} mm"


def _peaks(record: StaticRecord, number: int) -> str:
    """Largest pressures of the sides that touch."""
    found = ", ".join(
        f"{side} {record.max_pressure[number, place]:.1f}"
        for place, side in enumerate(record.sides)
        if record.max_pressure[number, place] > 0.0
    )
    return f"{found} MPa"


def draw_static_figures(
    record: StaticRecord,
    implant: Implant,
    static: pd.DataFrame,
    comparison: pd.DataFrame,
) -> dict[str, Figure]:
    """Draw every figure of a static study but those of its elements.

    Parameters
    ----------
    record : StaticRecord
        All cases.
    implant : Implant
        Surfaces.
    static, comparison : DataFrame
        Tidy table of the cases, and differences of the materials.

    Returns
    -------
    dict of str to Figure
        `static_sections`, `static_pressure` and, where there are several of them, `position_scan`
        over held positions and `material_comparison` over loads.
    """
    figures = {
        "static_sections": draw_static_sections(record, implant),
        "static_pressure": draw_static_pressure(record, implant),
    }
    if scans_positions(static):
        figures["position_scan"] = draw_position_scan(static)
    if can_compare_materials(static):
        figures["material_comparison"] = draw_material_comparison(static, comparison)
    return figures
