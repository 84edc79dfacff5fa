"""Figures of static contact: poses, pressures over loads and positions, and number of elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from kneewear.base.sides import POST, SIDES
from kneewear.contact.foundation import MATERIALS
from kneewear.geometry.grid import Bearing, bearing_of
from kneewear.geometry.implant import Implant
from kneewear.mechanics.coordinates import POSE_FACTORS, weights
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.report import style
from kneewear.report.bodies import Pose, draw_component, draw_section, moved
from kneewear.report.maps import sample_surface
from kneewear.report.study_tables import (
    PUBLISHED_BOUNDS,
    convergence_errors,
    division_errors,
    position_scan,
    scans_positions,
)
from kneewear.report.tables import quantity_name, rows_with, words

Array = NDArray[np.float64]

MARKERS = "osD^vP"
# Of the curves of materials, and the largest pressure they are drawn to, MPa.
DASHES = ("-", "--", ":")
SHOWN_PRESSURE = 50.0
# Height of sections, mm, room under plateaus that are below their origin, and room around the
# loaded part of the post.
SECTION_HEIGHT = 45.0
SECTION_ROOM = 3.0
POST_ROOM = 1.5
# Samples of the middle line of a cam or post, and of the border of a plateau.
LINE_SAMPLES = (122, 3)
BORDER_SAMPLES = (61, 61)
PRESSURES = {"max_pressure": style.RED, "avg_pressure": style.BLUE}
DIVIDED = ("force_n", "torque_n_mm", "max_pressure_mpa", "avg_pressure_mpa")
MAX_SHOWN = 12
# Points of the map of bone on each plateau.
BONE_RASTER = (120, 120)
# Poses of a settling sequence, by the part of their path so far, and their view, deg.
SETTLING_SHOWN = (0.0, 0.1, 0.25, 0.5, 1.0)
SIDE_VIEW = (4.0, 90.0)
SETTLING_SIZES = {
    "acceleration_mm_per_s2": "acceleration (mm/s²)",
    "acceleration_rad_per_s2": "acceleration (rad/s²)",
    "kinetic_energy_n_mm": "kinetic energy (N mm)",
}
# Part of the random positions inside the bands.
BAND = (0.05, 0.95)


def draw_static_figures(
    contact: xr.Dataset,
    cases: pd.DataFrame,
    implant: Implant,
    tables: Mapping[str, pd.DataFrame],
) -> dict[str, Figure]:
    """Draw every figure of static contact; scans and comparisons where there is more than one.

    Parameters
    ----------
    contact : Dataset
        As of :func:`kneewear.motion.press_results.join_cases`.
    cases : DataFrame
        Conditions of the same cases (:func:`kneewear.analysis.contact_tables.case_conditions`).
    implant : Implant
        Implant or natural knee of all cases.
    tables : mapping of str to DataFrame
        Table `contact` and, where they are made, `material_comparison`, `element_convergence`,
        `grid_sensitivity` and `settling`.
    """
    static = tables["contact"]
    chosen = drawn_cases(cases)
    figures = {
        "static_sections": draw_static_sections(contact, chosen, implant),
        "static_pressure": draw_static_pressure(contact, chosen, implant),
    }
    if any(bearing_of(implant, side).without_bone for side in implant.plateaus):
        figures["bone_map"] = draw_bone_map(contact, implant)
    if scans_positions(static):
        figures["position_scan"] = draw_position_scan(static)
    if "material_comparison" in tables and static["load_n"].nunique() > 1:
        figures["material_moduli"] = draw_material_moduli()
        figures["material_comparison"] = draw_material_comparison(
            static, tables["material_comparison"]
        )
    if "element_convergence" in tables:
        figures["element_convergence"] = draw_element_convergence(tables["element_convergence"])
    if "grid_sensitivity" in tables:
        figures["grid_sensitivity"] = draw_grid_sensitivity(tables["grid_sensitivity"])
    if "settling" in tables:
        figures["settling"] = draw_settling(tables["settling"], implant)
    return figures


def drawn_cases(cases: pd.DataFrame) -> list[str]:
    """Names of the cases of the first material at the largest load; at most some poses."""
    chosen = cases
    if "load_n" in cases:
        chosen = chosen[chosen["load_n"] == chosen["load_n"].max()]
    if "material" in cases:
        chosen = chosen[chosen["material"] == cases["material"].iloc[0]]
    names = [str(name) for name in chosen["case"]]
    # Of many some are shown, spread evenly.
    return names[:: -(-len(names) // MAX_SHOWN)]


@style.styled
def draw_static_sections(contact: xr.Dataset, chosen: Sequence[str], implant: Implant) -> Figure:
    """Sagittal sections through the bearings in some cases, and through cam and post."""
    figure, panels = style.panels_in_rows(len(chosen), 4, 1.9)
    insert = {side: sample_surface(surface) for side, surface in implant.insert.items()}
    metal = {side: sample_surface(surface) for side, surface in implant.femoral.items()}
    for axes, name in zip(panels, chosen, strict=True):
        case = contact.sel(case=name)
        centres = list(zip(case["side"].values, case["centre_of_pressure"].values, strict=True))
        for side, centre in centres:
            if side != POST and np.isfinite(centre).all():
                femur = moved(metal[side], case["rotation"].values, case["translation"].values)
                draw_section(
                    axes, (insert[side], femur), (2, centre[2]), 0, style.SIDE_COLOURS[side]
                )
        if implant.cam_and_post is not None:
            _draw_cam_and_post(axes, implant, case)
        for side, centre in centres:
            if np.isfinite(centre).all():
                colour = style.SIDE_COLOURS.get(side, style.INK)
                axes.plot(centre[0], centre[1], ".", color=colour, ms=8, zorder=4)
        axes.set(aspect="equal", title=_title(case), xlabel="x (mm)")
    panels[0].set_ylabel("y (mm)")
    limits = np.array([axes.get_xlim() for axes in panels])
    # The origin of a tibia is far above the plateaus, that of an insert on its underside.
    lowest = min(float(points[..., 1].min()) for points in insert.values())
    bottom = min(0.0, lowest - SECTION_ROOM)
    for axes in panels:
        axes.set_xlim(limits[:, 0].min(), limits[:, 1].max())
        axes.set_ylim(bottom, bottom + SECTION_HEIGHT)
    return figure


def _draw_cam_and_post(axes: Axes, implant: Implant, case: xr.Dataset) -> None:
    """Middle sections of cam and post."""
    pair = implant.cam_and_post
    if pair is None:
        return
    back, cam = (sample_surface(one, LINE_SAMPLES)[:, 1] for one in (pair.post, pair.cam))
    front = np.column_stack([np.full(2, pair.front), back[[-1, 0], 1]])
    axes.add_patch(
        Polygon(np.vstack([back[:, :2], front]), fc=style.PLATEAU, ec=style.INK, lw=1.0, zorder=1)
    )
    cam = moved(cam, case["rotation"].values, case["translation"].values)
    axes.plot(cam[:, 0], cam[:, 1], color=style.METAL, lw=2.2)


@style.styled
def draw_static_pressure(contact: xr.Dataset, chosen: Sequence[str], implant: Implant) -> Figure:
    """Loaded elements of some cases, coloured by their pressure."""
    figure, panels = style.panels_in_rows(len(chosen), 2, 2.8)
    numbers = [list(contact["case"].values).index(name) for name in chosen]
    shown = np.isin(contact["element_case"].values, numbers)
    top = float(contact["element_pressure"].values[shown].max())
    for axes, name in zip(panels, chosen, strict=True):
        case = contact.sel(case=name)
        sides = list(case["side"].values)
        peaks = dict(zip(sides, case["max_pressure"].values, strict=True))
        for side in implant.plateaus:
            draw_plateau(axes, implant, side)
            cells = draw_elements(axes, contact, name, side, top)
        axes.autoscale_view()
        style.show_plan(axes)
        largest = ", ".join(f"{side} {peak:.1f}" for side, peak in peaks.items() if peak > 0.0)
        axes.set_title(f"{_title(case)}\n{largest} MPa")
        if peaks.get(POST, 0.0) > 0.0:
            _draw_post(axes, contact, name, top)
    figure.colorbar(cells, ax=panels, label="pressure (MPa)", shrink=0.7, pad=0.01)
    return figure


def elements_of(contact: xr.Dataset, side: str, case: str | None = None) -> xr.Dataset:
    """Loaded elements of one side, of one case or of all."""
    chosen = contact["element_side"] == list(contact["side"].values).index(side)
    if case is not None:
        chosen &= contact["element_case"] == list(contact["case"].values).index(case)
    names = [name for name in contact.data_vars if "element" in contact[name].dims]
    return contact[names].isel(element=np.flatnonzero(chosen.values))


def draw_elements(
    axes: Axes, contact: xr.Dataset, case: str, side: str, top: float
) -> PolyCollection:
    """Cells of the loaded elements of one case and side."""
    loaded = elements_of(contact, side, case)
    corners, pressure = loaded["element_corners"].values, loaded["element_pressure"].values
    return style.draw_polygons(
        axes, corners[..., ::-1], pressure, style.PRESSURE_COLOURS, top, linewidths=0.0, zorder=2
    )


def _draw_post(axes: Axes, contact: xr.Dataset, case: str, top: float) -> None:
    """Inset of the loaded elements on the post, seen from the front: medial left, superior up."""
    inset = axes.inset_axes((0.385, 0.08, 0.23, 0.34))
    cells = draw_elements(inset, contact, case, POST, top)
    corners = np.concatenate([path.vertices for path in cells.get_paths()])
    (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
    inset.set(
        xlim=(right + POST_ROOM, left - POST_ROOM),
        ylim=(high + POST_ROOM, low - POST_ROOM),
        aspect="equal",
        facecolor=style.PLATEAU,
        xticks=[],
        yticks=[],
    )
    size = f"{right - left:.1f} x {high - low:.1f} mm"
    inset.set_title(f"post\n{size}", fontsize=style.SMALL, fontweight="normal", loc="center", pad=2)


@style.styled
def draw_bone_map(contact: xr.Dataset, implant: Implant) -> Figure:
    """Tibial cartilage coloured by its thickness, hatched where no bone is under its normal."""
    figure, ((axes,),) = style.new_figure(4.4)
    parts = {side: _bone_raster(bearing_of(implant, side)) for side in implant.plateaus}
    known = np.concatenate([part[3].ravel() for part in parts.values()])
    limits = {"vmin": np.nanmin(known), "vmax": np.nanmax(known)}
    for side, (z, x, _, thickness, lost) in parts.items():
        mesh = axes.pcolormesh(
            z, x, thickness, cmap=style.THICKNESS_COLOURS, rasterized=True, **limits
        )
        # Cartilage is thin, and dark, where most of it is hatched.
        hatched = axes.contourf(z, x, lost, levels=[0.5, 1.5], colors="none", hatches=["////"])
        hatched.set_edgecolor("white")
        axes.contour(z, x, lost, levels=[0.5], colors="white", linewidths=0.8)
        centre = elements_of(contact, side)["element_centre"].values
        axes.plot(centre[:, 2], centre[:, 0], ".", color=style.RED, ms=2.5, label="loaded elements")
    style.show_plan(axes)
    shares = ", ".join(
        f"{side} {100.0 * lost.sum() / inside.sum():.0f} %"
        for side, (_, _, inside, _, lost) in parts.items()
    )
    axes.set_title(f"Without bone under the normal: {shares} of the area seen from above")
    axes.legend(*(label[:1] for label in axes.get_legend_handles_labels()), loc="upper right")
    figure.colorbar(mesh, ax=axes, label="thickness (mm)", shrink=0.8, pad=0.01)
    return figure


def _bone_raster(bearing: Bearing) -> tuple[NDArray[Any], ...]:
    """Positions z and x, and there: on the plateau, thickness (NaN without layer), without bone."""
    cells = bearing.rectangle(*BONE_RASTER)
    row, column = 0.5 + np.indices(BONE_RASTER)
    plan = cells.at(row, column)
    inside = bearing.covered.contains(plan[..., 0], plan[..., 1])
    points = bearing.surface.evaluate(*bearing.projection(plan[inside]))
    thickness, lost = np.full(BONE_RASTER, np.nan), np.zeros(BONE_RASTER)
    thickness[inside] = bearing.thickness(points) if callable(bearing.thickness) else np.nan
    lost[inside] = bearing.without_bone(points) if bearing.without_bone else 0.0
    return plan[..., 1], plan[..., 0], inside, thickness, lost


def draw_plateau(axes: Axes, implant: Implant, side: str) -> None:
    """Plateau in plan: the border of what carries elements, or else of the patch."""
    surface = implant.insert[side]
    if implant.coverage is not None:
        # Not the border's own segments: some are on the window's edge twice, there and back.
        points = surface.control_points.reshape(-1, 3)
        x, z = (np.linspace(points[:, n].min(), points[:, n].max(), 300) for n in (0, 2))
        inside = implant.coverage[side].contains(*np.meshgrid(x, z, indexing="ij"))
        axes.contourf(z, x, inside, levels=[0.5, 1.5], colors=[style.PLATEAU], zorder=0)
        axes.contour(z, x, inside, levels=[0.5], colors=[style.INK], linewidths=0.8, zorder=1)
        return
    points = sample_surface(surface, BORDER_SAMPLES)
    border = np.concatenate([points[:, 0], points[-1], points[::-1, -1], points[0, ::-1]])
    axes.add_patch(Polygon(border[:, [2, 0]], fc=style.PLATEAU, ec=style.INK, lw=0.8, zorder=1))


def _title(case: xr.Dataset) -> str:
    """Flexion and position of a case."""
    # Rounded first: there is no negative zero millimetres.
    position = round(float(case["translation"].values[0]), 1) + 0.0
    flexion = np.degrees(clinical_angles(body_three_123(case["rotation"].values[None])))[0, 0]
    return f"{round(float(flexion), 6) + 0.0:g}°, femur at {position:+.1f} mm"


@style.styled
def draw_position_scan(static: pd.DataFrame) -> Figure:
    """Pressures and contact over the held position: first material and flexion, largest load."""
    curves = position_scan(static)
    figure, panels = style.new_figure(2.8, columns=3)
    labels = {
        "max_pressure": "Maximum pressure (MPa)",
        "avg_pressure": "Average pressure (MPa)",
        "centre_posterior": "Centre of pressure (mm posterior)",
    }
    for axes, (quantity, label) in zip(panels.flat, labels.items(), strict=True):
        for side in curves[quantity].columns:
            curve = curves[quantity, side]
            axes.plot(curve.index, curve, "o-", ms=4, color=style.SIDE_COLOURS[side], label=side)
        axes.set(xlabel="femur held at (mm posterior)", ylabel=label)
    for axes in panels.flat[:2]:
        axes.set_ylim(bottom=0.0)
    # Anterior on top, as in the maps.
    panels[0, 2].invert_yaxis()
    panels[0, 0].legend()
    return figure


@style.styled
def draw_material_moduli() -> Figure:
    """Tangent modulus of the published materials over pressure (Bei 2003, Eq. 3-3, Fig. 3-1B)."""
    figure, ((axes,),) = style.new_figure(2.8, width=style.WIDTH * 0.6)
    pressures = np.linspace(0.0, SHOWN_PRESSURE, 101)
    looks = zip(style.SERIES, DASHES, MATERIALS.items(), strict=False)
    for color, dashes, (name, material) in looks:
        modulus = material.tangent_modulus(pressures)
        axes.plot(pressures, modulus, dashes, color=color, label=words(name))
    axes.set_xlim(0.0, SHOWN_PRESSURE)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("pressure (MPa)")
    axes.set_ylabel("tangent modulus (MPa)")
    axes.legend()
    return figure


@style.styled
def draw_material_comparison(static: pd.DataFrame, comparison: pd.DataFrame) -> Figure:
    """Mean and largest pressure over the load at every flexion (Bei 2003, Fig. 3-4).

    With published values a band shows where the measurements are on average, counted from the
    first material.
    """
    bearing = static[static["side"].isin(SIDES)]
    keys = ["quantity", "flexion_deg", "material", "load_n"]
    curves = bearing.groupby(keys)["value"].mean()
    flexions, materials = (list(dict.fromkeys(static[key])) for key in keys[1:3])
    figure, panels = style.new_figure(5.0, 2, len(flexions), sharex=True, sharey="row")
    for row, quantity in zip(panels, ("avg_pressure", "max_pressure"), strict=True):
        for axes, flexion in zip(row, flexions, strict=True):
            first = materials[0]
            _draw_measured(axes, curves[quantity, flexion, first], first, comparison, quantity)
            for number, material in enumerate(materials):
                curve = curves[quantity, flexion, material]
                look = number % len(MARKERS)
                axes.plot(
                    curve.index,
                    curve,
                    color=style.SERIES[look],
                    marker=MARKERS[look],
                    ms=4,
                    label=words(material),
                )
            axes.set_xticks(curve.index)
        row[0].set_ylim(bottom=0.0)
        row[0].set_ylabel(f"{quantity_name(quantity)} (MPa)")
    for (above, below), flexion in zip(panels.T, flexions, strict=True):
        above.set_title(f"{flexion:g}°")
        below.set_xlabel("load (N)")
        below.tick_params(axis="x", labelrotation=45)
    style.share_legend(figure, panels[1, 0], 4, below=True)
    return figure


def _draw_measured(
    axes: Axes, curve: pd.Series, first: str, comparison: pd.DataFrame, quantity: str
) -> None:
    """Band of the curve of the first material less its published mean errors.

    It is no measurement: that material is inside by construction.
    """
    if "measured_least_mpa" not in comparison:
        return
    row = comparison[(comparison["quantity"] == quantity) & comparison["load_n"].isna()].iloc[0]
    least, greatest = curve + row["measured_least_mpa"], curve + row["measured_greatest_mpa"]
    label = f"{words(first)} less its published mean error"
    if (greatest - least).max() > 0.0:
        axes.fill_between(curve.index, least, greatest, color="#c9ccce", lw=0, label=label)
    else:
        axes.plot(curve.index, least, color="#9a9d9f", ls="--", label=label)


@style.styled
def draw_element_convergence(table: pd.DataFrame) -> Figure:
    """Largest and mean pressure over the number of loaded elements (Bei 2003, Fig. 3-1D)."""
    errors = convergence_errors(table)
    figure, ((values, relative),) = style.new_figure(3.6, columns=2)
    for quantity, colour in PRESSURES.items():
        groups = table.groupby("wanted")[f"{quantity}_mpa"]
        own = rows_with(errors, quantity=quantity)
        active = own["active_elements"]
        look: dict[str, Any] = {"color": colour, "ms": 4, "label": quantity_name(quantity)}
        values.axhline(groups.median().iloc[-1], color="#9a9d9f", lw=1.0)
        band = (groups.quantile(end) for end in BAND)
        values.fill_between(active, *band, color=colour, alpha=0.2, lw=0)
        values.plot(active, groups.median(), "o-", **look)
        relative.plot(active, own["median_percent"], "o-", **look)
        relative.plot(active, own["greatest_percent"], ":", color=colour, lw=1.2)
    relative.plot(
        PUBLISHED_BOUNDS.keys(), PUBLISHED_BOUNDS.values(), "kv", ms=7, label="published bounds"
    )
    values.set(ylim=(0.0, None), ylabel="pressure (MPa)", title="Pressure")
    relative.set(ylim=(0.0, None), ylabel="error (%)", title="Error: median, and greatest (dotted)")
    ticks = sorted(set(table["wanted"]))
    for axes in (values, relative):
        axes.set_xscale("log")
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("loaded elements per side")
        axes.legend()
    return figure


@style.styled
def draw_grid_sensitivity(table: pd.DataFrame) -> Figure:
    """Force, torque and pressures of one pose over rows and columns (Bei 2003, Fig. 2-3)."""
    deviations = {quantity: division_errors(table, quantity) for quantity in DIVIDED}
    names = ("Contact force", "Contact torque", "Maximum pressure", "Average pressure")
    worst = [float(np.abs(part.to_numpy()).max()) for part in deviations.values()]
    limits = (-max(worst), max(worst))
    figure, panels = style.new_figure(6.4, 2, 2, style.WIDTH * 0.85, sharex=True, sharey=True)
    for number, (axes, part) in enumerate(zip(panels.flat, deviations.values(), strict=True)):
        image = style.draw_cells(axes, part, style.ERROR_COLOURS, limits, "{:.1f}")
        axes.set_xticks(range(part.shape[1]), [str(n) for n in part.columns])
        axes.set_yticks(range(part.shape[0]), [str(n) for n in part.index])
        axes.set_title(f"{'ABCD'[number]}  {names[number]}: within {worst[number]:.1f} %")
    for axes in panels[1]:
        axes.set_xlabel("columns (side to side)")
    for axes in panels[:, 0]:
        axes.set_ylabel("rows (front to back)")
    figure.colorbar(image, ax=panels, label="deviation from the finest grid (%)", shrink=0.8)
    return figure


@style.styled
def draw_settling(settling: pd.DataFrame, implant: Implant) -> Figure:
    """Component on insert from the start (left) to rest (right), and accelerations and energy."""
    figure = Figure(figsize=(style.WIDTH, 4.2), layout="constrained")
    above, below = cast(Any, figure.subfigures(2, 1))
    coordinates = settling[list(POSE_FACTORS)].to_numpy() / np.array(list(POSE_FACTORS.values()))
    lengths = np.linalg.norm(np.diff(coordinates, axis=0) * weights(1), axis=1)
    path = np.concatenate([[0.0], np.cumsum(lengths)])
    shown = np.searchsorted(path, path[-1] * np.array(SETTLING_SHOWN))
    poses = [
        Pose(f"{1e3 * settling['time_s'].iloc[n]:.1f} ms", coordinates[n, 3:], coordinates[n, :3])
        for n in shown
    ]
    draw_component(above, implant, poses, len(poses), SIDE_VIEW)
    left, right = below.subplots(1, 2)
    for name in POSE_FACTORS:
        if np.ptp(settling[name]) > 0.0:
            stem, _, unit = name.rpartition("_")
            left.plot(settling[name] - settling[name].iloc[-1], label=f"{words(stem)} ({unit})")
    for name, label in SETTLING_SIZES.items():
        right.semilogy(settling[name].where(settling[name] > 0.0), label=label)
    left.set(title="Distance from rest", xlabel="step")
    right.set(title="Accelerations and kinetic energy", xlabel="step")
    left.legend()
    right.legend()
    return figure
