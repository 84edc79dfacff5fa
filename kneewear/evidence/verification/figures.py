"""Figures of a verification study, and of benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.study_tables import PUBLISHED_BOUNDS, tilted_element
from kneewear.report.tables import rows_with

_THEORIES = {
    "foundation": ("elastic foundation", "analytical solution", style.BLUE),
    "half-space": ("elastic half-space", "Hertz", style.RED),
}
QUANTITIES = {
    "force": {"label": "force", "color": style.BLUE, "marker": "o"},
    "torque": {"label": "torque", "color": style.SKY, "marker": "s"},
    "peak": {"label": "largest pressure", "color": style.RED, "marker": "^"},
    "mean": {"label": "mean pressure", "color": style.AMBER, "marker": "v"},
    "area": {"label": "area", "color": style.GREEN, "marker": "D"},
}
SHAPES = {
    "sphere, linear, minimum distance": ("sphere", style.BLUE),
    "sphere, published, minimum distance": ("sphere, softening material", style.SKY),
    "cylinder, linear, minimum distance": ("cylinder", style.RED),
    "cylinder over a block's edge, linear": ("cylinder over an edge", style.AMBER),
    "tilted flat, linear": ("tilted flat", style.GREEN),
    "flat punch, linear": ("flat punch", style.PURPLE),
    "ball in a cup, linear": ("ball in a cup", style.INK),
}
DISTANCES = {
    "minimum_distance_corrected_mm": ("minimum distance, corrected", style.BLUE, "o"),
    "ray_mm": ("ray, uncorrected", style.RED, "^"),
    "ray_corrected_mm": ("ray, corrected", style.GREEN, "x"),
}


def draw_jobs(
    tables: Mapping[str, pd.DataFrame], records: Mapping[str, Any], files: Mapping[str, Path]
) -> dict[str, Figure]:
    """Figures of the tables of all jobs."""
    return draw_verification(tables)


def draw_verification(tables: Mapping[str, pd.DataFrame]) -> dict[str, Figure]:
    """Draw the figures of the verification tables, by the same names; missing ones are left out."""
    draw = {
        "sphere_models": draw_sphere_models,
        "refinement": draw_refinement,
        "active_elements": draw_active_elements,
        "distance_correction": draw_distance_correction,
    }
    known = {name: table for name, table in tables.items() if len(table)}
    figures = {name: draw[name](known[name]) for name in draw if name in known}
    if "analyses" in known:
        for activity, rows in known["analyses"].groupby("activity", sort=False):
            figures[f"analyses_{activity}"] = draw_analysis_comparison(rows)
    return figures


@style.styled
def draw_sphere_models(table: pd.DataFrame) -> Figure:
    """Pressure under one load and force over the approach, of models of one sphere."""
    figure, ((pressure, force),) = style.new_figure(3.4, columns=2)
    for axes, quantity, stride in ((pressure, "pressure", 3), (force, "force", 1)):
        for kind, (label, theory, colour) in _THEORIES.items():
            rows = rows_with(table, quantity=quantity, model=kind)
            exact = rows[rows["source"] == "exact"]
            found = rows[rows["source"] == "computed"].iloc[::stride]
            axes.plot(exact["place_mm"], exact["value"], color=colour, label=f"{label}, {theory}")
            axes.plot(
                found["place_mm"],
                found["value"],
                "o",
                color=colour,
                ms=4,
                mfc="white",
                label=f"{label}, computed",
            )
        axes.set(xlim=(0.0, None), ylim=(0.0, None))
    pressure.set(title="Under one load", xlabel="distance from the axis (mm)")
    pressure.set_ylabel("pressure (MPa)")
    force.set(title="Load", xlabel="approach (mm)", ylabel="force (N)")
    force.legend()
    return figure


@style.styled
def draw_refinement(table: pd.DataFrame) -> Figure:
    """Errors of force and area by the number of elements along either side."""
    figure, panels = style.new_figure(3.6, columns=2)
    for axes, quantity in zip(panels.flat, ("force", "area"), strict=True):
        looks = {
            name: {"marker": "o", "ms": 3.5, "label": label, "color": colour}
            for name, (label, colour) in SHAPES.items()
        }
        rows = rows_with(table, quantity=quantity)
        style.draw_series(axes, rows, "rows", "worst_error_percent", looks, "contact")
        style.show_logarithmic(axes, table["rows"].unique().tolist())
        axes.set(xlabel="elements along either side", ylabel="worst error (%)")
    panels[0, 0].set_title("Force")
    panels[0, 1].set_title("Contact area")
    panels[0, 0].legend(fontsize=style.SMALL)
    return figure


@style.styled
def draw_active_elements(table: pd.DataFrame) -> Figure:
    """Error of a sphere's contact by the number of active elements."""
    figure, panels = style.new_figure(3.6, columns=2, sharey=True)
    columns = {
        "median_error_percent": "Median over positions on the grid",
        "worst_error_percent": "Worst position on the grid",
    }
    for axes, (column, title) in zip(panels.flat, columns.items(), strict=True):
        looks = {name: {"ms": 4, **look} for name, look in QUANTITIES.items()}
        style.draw_series(axes, table, "active_elements", column, looks, "quantity")
        style.show_logarithmic(axes, table["active_elements"].unique().tolist())
        axes.set(title=title, xlabel="active elements")
    first = panels[0, 0]
    bounds = (PUBLISHED_BOUNDS.keys(), PUBLISHED_BOUNDS.values())
    label = "published bound of the pressures"
    first.plot(*bounds, "_", color=style.INK, ms=14, mew=2, label=label)
    first.set_ylabel("error (%)")
    first.legend()
    return figure


@style.styled
def draw_distance_correction(table: pd.DataFrame) -> Figure:
    """One loaded element in section, and all of them by the angle of the normals."""
    figure, ((section, ratios),) = style.new_figure(4.2, columns=2, width_ratios=[1.0, 1.15])
    _draw_element(section, tilted_element(table))
    for column, (label, colour, marker) in DISTANCES.items():
        more = 100.0 * (table[column] / table["minimum_distance_mm"] - 1.0)
        ratios.plot(
            table["angle_deg"], more, marker, color=colour, ms=3.0, label=label, rasterized=True
        )
    angle = np.linspace(0.0, 1.05 * float(table["angle_deg"].max()), 60)
    for part, label, line in ((0.5, "1 / cos(θ/2)", "--"), (1.0, "1 / cos θ", ":")):
        excess = 100.0 * (1.0 / np.cos(np.radians(angle) * part) - 1.0)
        ratios.plot(angle, excess, line, color=style.INK, lw=0.9, label=f"{label}, flat surfaces")
    ratios.set(
        xlabel="angle θ between the normals (deg)",
        ylabel="penetration over the minimum distance (%)",
        title="All loaded elements",
    )
    ratios.legend(loc="upper left")
    return figure


def _draw_element(axes: Axes, element: pd.Series) -> None:
    """Section in the plane of both normals; A is the origin, its normal is upwards."""
    angle = np.radians(float(element["angle_deg"]))
    shortest, ray = float(element["minimum_distance_mm"]), float(element["ray_mm"])
    corrected = float(element["minimum_distance_corrected_mm"])
    across = np.array([-1.1, 1.1]) * ray
    axes.plot(across, 0.0 * across, color=style.SIDE_COLOURS[str(element["side"])], lw=2.2)
    nearest = shortest * np.array([np.sin(angle), -np.cos(angle)])
    tangent = nearest[:, None] + np.array([[np.cos(angle)], [np.sin(angle)]]) * across
    axes.plot(*tangent, color=style.METAL, lw=2.2)
    for name, length, turn, colour, line in (
        ("AB", shortest, angle, style.BLUE, "-"),
        ("AC", ray, 0.0, style.RED, "-"),
        ("corrected AB", corrected, 0.5 * angle, style.GREEN, "--"),
    ):
        ends = ([0.0, length * np.sin(turn)], [0.0, -length * np.cos(turn)])
        label = f"{name}: {1e3 * length:.1f} µm"
        axes.plot(*ends, line, color=colour, marker=".", ms=7, label=label)
    for name, point, shift in (
        ("A", (0.0, 0.0), (-9, 5)),
        ("B", (float(nearest[0]), float(nearest[1])), (6, -10)),
        ("C", (0.0, -ray), (-13, -10)),
    ):
        axes.annotate(name, point, shift, textcoords="offset points")
    axes.set(xlabel="in the section (mm)", ylabel="along the element's normal (mm)")
    axes.set(aspect="equal", ylim=(-1.75 * ray, 0.9 * ray))
    axes.set_title(f"An element of the {element['side']} side, θ = {element['angle_deg']:.1f}°")
    axes.legend(loc="upper left")


@style.styled
def draw_analysis_comparison(comparison: pd.DataFrame) -> Figure:
    """Forward dynamics against quasi-static equilibria through the cycle of one activity."""
    figure, panels = style.new_figure(4.4, 2, 3)
    titles = (
        "Maximum pressure (MPa)",
        "Share of the load",
        "Pressure difference, stance (%)",
        "Medial shift (µm)",
        "Upward shift (µm)",
        "Inertia, % of the load",
    )
    for axes, title in zip(panels.flat, titles, strict=True):
        axes.set_title(title)
    for side, rows in comparison.groupby("side", sort=False):
        colour, percent = style.SIDE_COLOURS[str(side)], rows["percent"].to_numpy()
        for axes, quantity in zip(panels[0], ("max_pressure_mpa", "side_share"), strict=False):
            still, forward = (
                rows[f"{quantity}_{name}"].to_numpy() for name in ("quasi_static", "forward")
            )
            style.draw_cycle(axes, percent, forward, colour, f"{side}, forward")
            axes.plot(percent, still, ".", color=style.INK, ms=2.5, zorder=3)
        difference = rows["max_pressure_mpa_forward"] / rows["max_pressure_mpa_quasi_static"] - 1
        values = np.where(rows["stance"], 100.0 * difference, np.nan)
        style.draw_cycle(panels[0, 2], percent, values, colour)
    one = comparison[comparison["side"] == comparison["side"].iloc[0]]
    percent = one["percent"].to_numpy()
    for axes, name, factor in zip(
        panels[1], ("medial_shift_um", "height_shift_um", "inertia"), (1.0, 1.0, 100.0), strict=True
    ):
        style.draw_cycle(axes, percent, factor * one[name].to_numpy(), style.INK)
    mismatch = 100.0 * one["mismatch"].to_numpy()
    style.draw_cycle(panels[1, 2], percent, mismatch, "#9aa5ad", "finer grid")
    panels[0, 0].legend()
    panels[1, 2].legend()
    return figure


METHODS = {
    "minimum_distance_us": ("minimum distance, here", style.BLUE),
    "ray_firing_us": ("ray firing, here", style.SKY),
    "opencascade_minimum_distance_us": ("minimum distance, OpenCASCADE", style.RED),
    "opencascade_ray_firing_us": ("ray firing, OpenCASCADE", style.AMBER),
}
DEVIATIONS = {
    "max_mm": ("maximum", style.BLUE),
    "mean_mm": ("mean", style.AMBER),
    "sd_mm": ("standard deviation", style.GREEN),
}
VARIED = {"cases": "cases", "elements": "elements, five cases", "frames": "frames, five cases"}
ANALYSES = ((style.BLUE, "o-"), (style.RED, "s--"))


@figure("distance_methods", of="method")
def draw_methods(distance_methods: pd.DataFrame) -> Figure:
    """Cost and error of the methods of distance."""
    return draw_distance_methods(distance_methods)


@figure("cost", of="method")
def draw_costs(cost: pd.DataFrame) -> Figure:
    """Cost of an evaluation."""
    return draw_cost(cost)


@style.styled
def draw_distance_methods(table: pd.DataFrame) -> Figure:
    """Time of one query, of the tools that were there, and deviation, by geometry."""
    figure, panels = style.new_figure(6.0, 2, height_ratios=[1.6, 1.0])
    times, deviations = panels.flat
    known = [name for name in METHODS if name in table and table[name].notna().any()]
    bars = {METHODS[name][0]: (table[name], METHODS[name][1]) for name in known}
    style.draw_bars(times, table["geometry"].tolist(), bars)
    times.set(yscale="log", ylabel="time of one query (µs)", title="Time")
    times.legend(ncols=2, loc="upper left")
    times.margins(y=0.35)
    bars = {label: (1e3 * table[name], colour) for name, (label, colour) in DEVIATIONS.items()}
    style.draw_bars(deviations, table["geometry"].tolist(), bars)
    deviations.set(ylabel="deviation (µm)", title="Deviation from the dense patch")
    deviations.legend(ncols=3)
    return figure


@style.styled
def draw_cost(table: pd.DataFrame) -> Figure:
    """Time on one thread over the number of cases, elements and frames, on logarithmic axes."""
    figure, panels = style.new_figure(3.0, columns=len(VARIED), sharey=True)
    for axes, (varied, label) in zip(panels.flat, VARIED.items(), strict=True):
        own = table[table["varied"] == varied]
        groups = own.groupby("analysis", sort=False)
        for (analysis, rows), (colour, look) in zip(groups, ANALYSES, strict=False):
            name = str(analysis).replace("_", "-")
            axes.plot(rows["number"], rows["seconds"], look, color=colour, ms=4, label=name)
        ends = np.array([own["number"].iloc[0], own["number"].max()])
        times = own["seconds"].iloc[0] * ends / ends[0]
        axes.plot(ends, times, ":", color="#777777", label="proportional")
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.set_xticks(own["number"].unique(), own["number"].unique().astype(str), rotation=30)
        axes.minorticks_off()
    panels[0, 0].set_ylabel("processor time (s)")
    style.share_legend(figure, panels[0, 0], 3)
    return figure
