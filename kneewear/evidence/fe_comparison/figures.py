"""Figures of finite-element comparisons: pressures, errors, and stress below the surface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from kneewear.base.sides import SIDES
from kneewear.report import style
from kneewear.report.tables import rows_with

_CASE = ["case", "percent"]
METHODS = {
    "foundation": "elastic foundation",
    "coupled_layer": "coupled layer",
    "finite_elements": "finite elements",
}
TITLES = {
    "max_pressure": "Maximum pressure",
    "middle_pressure": "Maximum in the middle",
    "avg_pressure": "Mean pressure",
    "contact_area": "Contact area",
    "force_at_pose": "Force at equal pose",
}
STRESSES = {"von_mises": "von Mises stress (MPa)", "max_shear": "maximum shear stress (MPa)"}


def draw_jobs(
    tables: Mapping[str, pd.DataFrame], records: Mapping[str, Any], files: Mapping[str, Path]
) -> dict[str, Figure]:
    """Figures of the tables of all cases."""
    return draw_comparison(tables["fe_twin"], tables["fe_maps"], tables["fe_profiles"])


def draw_comparison(
    results: pd.DataFrame, maps: pd.DataFrame, profiles: pd.DataFrame
) -> dict[str, Figure]:
    """Figures of a finite-element comparison from its tables."""
    return {
        "twin_pressure": draw_maps(maps),
        "twin_errors": draw_errors(results),
        "twin_stress": draw_profiles(profiles),
    }


@style.styled
def draw_maps(maps: pd.DataFrame) -> Figure:
    """Pressures of all methods for the first frame of every case."""
    first = maps["percent"].iloc[0]
    shown = rows_with(maps, percent=first)
    frames = list(shown.groupby("case", sort=False))
    methods = {name: label for name, label in METHODS.items() if (shown["method"] == name).any()}
    ends = [(shown[axis].min() - 2.0, shown[axis].max() + 2.0) for axis in ("z", "x")]
    figure, panels = style.new_figure(1.6 * len(frames) + 0.5, len(frames), len(methods))
    top = float(maps["pressure"].max())
    for row, (name, frame) in zip(panels, frames, strict=True):
        for axes, (method, label) in zip(row, methods.items(), strict=True):
            own = rows_with(frame, method=method)
            cells = _draw_rectangles(axes, own, top)
            peaks = ", ".join(
                f"{side} {part['pressure'].max():.1f} MPa"
                for side in SIDES
                if len(part := rows_with(own, side=side))
            )
            axes.set_title(f"{str(name).replace('_', ', ')}: {label}\n{peaks}")
            axes.set(xlim=ends[0], ylim=ends[1])
            style.show_plan(axes)
    style.share_plan_labels(figure, list(panels.flat))
    figure.colorbar(cells, ax=panels, label="pressure (MPa)", shrink=0.6, pad=0.01)
    return figure


def _draw_rectangles(axes: Axes, own: pd.DataFrame, top: float) -> PolyCollection:
    """Rectangles of the plan in the colours of their pressures."""
    half = 0.5 * own[["width_z", "width_x"]].to_numpy()[:, None, :]
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    cells = PolyCollection(
        own[["z", "x"]].to_numpy()[:, None, :] + half * corners,
        array=own["pressure"].to_numpy(),
        cmap=style.PRESSURE_COLOURS,
        clim=(0.0, top),
        edgecolors="face",
        linewidths=0.1,
        rasterized=True,
    )
    axes.add_collection(cells)
    return cells


@style.styled
def draw_errors(results: pd.DataFrame) -> Figure:
    """Errors in every quantity, by case and side; bars are mesh errors, rings the coupled layer."""
    figure, panels = style.new_figure(4.2, 1, len(TITLES), style.WIDTH + 1.0, sharey=True)
    frames = [tuple(row.values()) for row in results[_CASE].drop_duplicates().to_dict("records")]
    for axes, quantity in zip(panels.flat, TITLES, strict=True):
        for row in rows_with(results, quantity=quantity).to_dict("records"):
            number, side = frames.index((row["case"], row["percent"])), str(row["side"])
            axes.errorbar(
                row["foundation_error_percent"],
                -number + (0.15 if side == SIDES[0] else -0.15),
                xerr=row["mesh_error_percent"],
                fmt="o",
                ms=4,
                color=style.SIDE_COLOURS[side],
                label=side if number == 0 else None,
            )
            axes.plot(
                row["layer_error_percent"],
                -number + (0.15 if side == SIDES[0] else -0.15),
                "o",
                ms=4,
                mfc="none",
                color=style.SIDE_COLOURS[side],
                label=f"{side}, coupled layer" if number == 0 else None,
            )
        axes.axvline(0.0, color=style.INK, lw=0.8)
        axes.set_title(TITLES[quantity], fontsize=style.SMALL)
        axes.set_xlabel("error (%)")
    panels[0, 0].set_yticks(
        -np.arange(len(frames)),
        [f"{str(case).replace('_', ', ')}, {percent:g} %" for case, percent in frames],
    )
    style.share_legend(figure, panels[0, 0], 4, below=True)
    return figure


@style.styled
def draw_profiles(profiles: pd.DataFrame) -> Figure:
    """Largest stresses over the depth, below the middle of the contact and below all of it."""
    figure, panels = style.new_figure(6.4, len(STRESSES), len(SIDES), sharex=True, sharey=True)
    first = rows_with(profiles, percent=profiles["percent"].iloc[0])
    cases = list(dict.fromkeys(first["case"]))
    colours = colormaps[style.THICKNESS_COLOURS](np.linspace(0.0, 0.9, len(cases)))
    for row, (stress, label) in zip(panels, STRESSES.items(), strict=True):
        for axes, side in zip(row, SIDES, strict=True):
            for case, colour in zip(cases, colours, strict=True):
                for part, line in (("middle", "-"), ("all", ":")):
                    own = rows_with(first, case=case, side=side, part=part)
                    name = case.replace("_", ", ") if part == "middle" else None
                    axes.plot(own["depth"], own[stress], line, color=colour, label=name, lw=1.2)
            axes.set_title(side)
            axes.set_xlabel("depth below the surface (mm)")
        row[0].set_ylabel(label)
    style.share_legend(figure, panels[0, 0], len(cases), below=True)
    return figure
