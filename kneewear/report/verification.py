"""Figures of a verification study."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from kneewear.report.distance_correction import draw_distance_correction
from kneewear.report.grids import draw_grid_comparison
from kneewear.report.histories import draw_cycle
from kneewear.report.style import INK, SIDE_COLOURS, WIDTH, styled

_MODELS = {
    "foundation": ("elastic foundation", "analytical solution", "#0072B2"),
    "half-space": ("elastic half-space", "Hertz", "#D55E00"),
}
_QUANTITIES = {
    "force": ("force", "#0072B2", "o"),
    "torque": ("torque", "#56B4E9", "s"),
    "peak": ("largest pressure", "#D55E00", "^"),
    "mean": ("mean pressure", "#E69F00", "v"),
    "area": ("area", "#009E73", "D"),
}
_SHAPES = {
    "sphere, linear, minimum distance": ("sphere", "#0072B2"),
    "sphere, published, minimum distance": ("sphere, softening material", "#56B4E9"),
    "cylinder, linear, minimum distance": ("cylinder", "#D55E00"),
    "cylinder over a block's edge, linear": ("cylinder over an edge", "#E69F00"),
    "tilted flat, linear": ("tilted flat", "#009E73"),
    "flat punch, linear": ("flat punch", "#CC79A7"),
    "ball in a cup, linear": ("ball in a cup", INK),
}


def draw_verification(tables: Mapping[str, pd.DataFrame]) -> dict[str, Figure]:
    """Figures of a verification study.

    Parameters
    ----------
    tables : mapping of name to DataFrame
        Tables of `kneewear.verification.study`.

    Returns
    -------
    dict of str to Figure
        By the names of the tables; of `analyses` one per activity, `analyses_{name}`.
    """
    draw = {
        "sphere_models": draw_sphere_models,
        "refinement": draw_refinement,
        "active_elements": draw_active_elements,
        "grid_comparison": draw_grid_comparison,
        "distance_correction": draw_distance_correction,
    }
    figures = {name: function(tables[name]) for name, function in draw.items()}
    for name, rows in tables["analyses"].groupby("activity", sort=False):
        figures[f"analyses_{name}"] = draw_analyses(rows)
    return figures


@styled
def draw_sphere_models(table: pd.DataFrame) -> Figure:
    """Pressure under one load and force over the approach, of three models of one sphere."""
    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    pressure, force = figure.subplots(1, 2)
    for axes, quantity in ((pressure, "pressure"), (force, "force")):
        for model, (label, theory, colour) in _MODELS.items():
            rows = table[(table["quantity"] == quantity) & (table["model"] == model)]
            exact = rows[rows["source"] == "exact"]
            found = rows[rows["source"] == "computed"].iloc[:: 3 if quantity == "pressure" else 1]
            axes.plot(exact["place_mm"], exact["value"], color=colour, label=f"{label}, {theory}")
            axes.plot(found["place_mm"], found["value"], "o", color=colour, markersize=4,
                      markerfacecolor="white", label=f"{label}, computed")  # fmt: skip
        axes.set_ylim(bottom=0.0)
        axes.set_xlim(left=0.0)
    pressure.set(
        title="Under one load", xlabel="distance from the axis (mm)", ylabel="pressure (MPa)"
    )
    force.set(title="Load", xlabel="approach (mm)", ylabel="force (N)")
    force.legend()
    return figure


@styled
def draw_refinement(table: pd.DataFrame) -> Figure:
    """Error of force and of contact area by the number of elements."""
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    force, area = figure.subplots(1, 2)
    for axes, quantity in ((force, "force"), (area, "area")):
        for contact, (label, colour) in _SHAPES.items():
            rows = table[(table["contact"] == contact) & (table["quantity"] == quantity)]
            axes.plot(rows["rows"], rows["worst_error_percent"], "o-", color=colour, markersize=3.5,
                      label=label)  # fmt: skip
        _logarithmic(axes, table["rows"].unique().tolist())
        axes.set(xlabel="elements along either side", ylabel="worst error (%)")
    force.set_title("Force")
    area.set_title("Contact area")
    force.legend(fontsize=7)
    return figure


@styled
def draw_active_elements(table: pd.DataFrame) -> Figure:
    """Error of a sphere's contact by the number of active elements."""
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    columns = (("median_error_percent", "Median over positions on the grid"),
               ("worst_error_percent", "Worst position on the grid"))  # fmt: skip
    for axes, (column, title) in zip(panels, columns, strict=True):
        for quantity, (label, colour, marker) in _QUANTITIES.items():
            rows = table[table["quantity"] == quantity]
            axes.plot(rows["active_elements"], rows[column], color=colour, marker=marker,
                      markersize=4, label=label)  # fmt: skip
        _logarithmic(axes, table["active_elements"].unique().tolist())
        axes.set(title=title, xlabel="active elements")
    published = ((25, 10.0), (50, 5.0))
    panels[0].plot(*zip(*published, strict=True), "_", color=INK, markersize=14, markeredgewidth=2,
                   label="published bound of the pressures")  # fmt: skip
    panels[0].set_ylabel("error (%)")
    panels[0].legend()
    return figure


@styled
def draw_analyses(comparison: pd.DataFrame) -> Figure:
    """Forward dynamics against quasi-static equilibria through the cycle of one activity."""
    figure = Figure(figsize=(WIDTH, 4.4), layout="constrained")
    panels = figure.subplots(2, 3)
    for side, rows in comparison.groupby("side", sort=False):
        colour, percent = SIDE_COLOURS[str(side)], rows["percent"].to_numpy()
        for axes, quantity in ((panels[0, 0], "max_pressure_mpa"), (panels[0, 1], "side_share")):
            still, moved = (
                rows[f"{quantity}_{name}"].to_numpy() for name in ("quasi_static", "forward")
            )
            draw_cycle(axes, percent, moved, colour, f"{side}, forward")
            axes.plot(percent, still, ".", color=INK, ms=2.5, zorder=3)
        difference = rows["max_pressure_mpa_forward"] / rows["max_pressure_mpa_quasi_static"] - 1
        values = np.where(rows["stance"], 100.0 * difference, np.nan)
        draw_cycle(panels[0, 2], percent, values, colour)
    one = comparison[comparison["side"] == comparison["side"].iloc[0]]
    percent = one["percent"].to_numpy()
    for axes, name, factor in (
        (panels[1, 0], "medial_shift_um", 1.0),
        (panels[1, 1], "height_shift_um", 1.0),
        (panels[1, 2], "inertia", 100.0),
    ):
        draw_cycle(axes, percent, factor * one[name].to_numpy(), INK)
    draw_cycle(panels[1, 2], percent, 100.0 * one["mismatch"].to_numpy(), "#9aa5ad", "finer grid")
    panels[0, 0].set_title("Maximum pressure (MPa)")
    panels[0, 1].set_title("Share of the load")
    panels[0, 2].set_title("Pressure difference, stance (%)")
    panels[1, 0].set_title("Medial shift (µm)")
    panels[1, 1].set_title("Upward shift (µm)")
    panels[1, 2].set_title("Inertia, % of the load")
    panels[0, 0].legend()
    panels[1, 2].legend()
    return figure


def _logarithmic(axes: Axes, ticks: list[float]) -> None:
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(ticks)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
