"""The distance correction of the source, on elements of a simulated case."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.report.style import INK, SIDE_COLOURS, WIDTH, styled

# Elements nearer to touching than this part of the deepest one say nothing at the width of a page.
LEAST_DEPTH = 0.3
_METHODS = (
    ("minimum_distance_corrected_mm", "minimum distance, corrected", "#0072B2", "o"),
    ("ray_mm", "ray, uncorrected", "#D55E00", "^"),
    ("ray_corrected_mm", "ray, corrected", "#009E73", "x"),
)


@styled
def draw_distance_correction(table: pd.DataFrame) -> Figure:
    """One loaded element in section, and all of them by the angle of the normals.

    Parameters
    ----------
    table : DataFrame
        Table of `kneewear.verification.distance_correction.correct_distances`, not empty.
    """
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    section, ratios = figure.subplots(1, 2, width_ratios=[1.0, 1.15])
    _draw_element(section, tilted_element(table))
    for column, label, colour, marker in _METHODS:
        more = 100.0 * (table[column] / table["minimum_distance_mm"] - 1.0)
        ratios.plot(
            table["angle_deg"], more, marker, color=colour, ms=3.0, label=label, rasterized=True
        )
    angle = np.linspace(0.0, 1.05 * float(table["angle_deg"].max()), 60)
    half, whole = (1.0 / np.cos(np.radians(angle) * part) for part in (0.5, 1.0))
    for factor, label, style in ((half, "1 / cos(θ/2)", "--"), (whole, "1 / cos θ", ":")):
        excess = 100.0 * (factor - 1.0)
        ratios.plot(angle, excess, style, color=INK, lw=0.9, label=f"{label}, flat surfaces")
    ratios.set(
        xlabel="angle θ between the normals (deg)",
        ylabel="penetration over the minimum distance (%)",
        title="All loaded elements",
    )
    ratios.legend(loc="upper left")
    return figure


def tilted_element(table: pd.DataFrame) -> pd.Series:
    """The most tilted of the elements that are deep enough to be drawn."""
    deep = table["minimum_distance_mm"] >= LEAST_DEPTH * table["minimum_distance_mm"].max()
    chosen = table[deep & table["ray_mm"].notna()]
    return chosen.loc[chosen["angle_deg"].idxmax()]


def _draw_element(axes: Axes, element: pd.Series) -> None:
    """Section in the plane of both normals; A is the origin, n points up."""
    angle = np.radians(float(element["angle_deg"]))
    shortest, ray = float(element["minimum_distance_mm"]), float(element["ray_mm"])
    corrected = float(element["minimum_distance_corrected_mm"])
    wide = 1.1 * ray
    lines = (
        ("AB", shortest, angle, "#0072B2", "-"),
        ("AC", ray, 0.0, "#D55E00", "-"),
        ("corrected AB", corrected, 0.5 * angle, "#009E73", "--"),
    )
    across = np.array([-wide, wide])
    axes.plot(across, 0.0 * across, color=SIDE_COLOURS[str(element["side"])], lw=2.2)
    foot = shortest * np.array([np.sin(angle), -np.cos(angle)])
    along = np.array([np.cos(angle), np.sin(angle)])
    tangent = foot[:, None] + along[:, None] * across
    axes.plot(*tangent, color="#5b6770", lw=2.2)
    for name, length, turn, colour, style in lines:
        end = length * np.array([np.sin(turn), -np.cos(turn)])
        label = f"{name}: {1e3 * length:.1f} µm"
        axes.plot([0.0, end[0]], [0.0, end[1]], style, color=colour, marker=".", ms=7, label=label)
    axes.annotate("A", (0.0, 0.0), (-9, 5), textcoords="offset points")
    axes.annotate("B", (float(foot[0]), float(foot[1])), (6, -10), textcoords="offset points")
    axes.annotate("C", (0.0, -ray), (-13, -10), textcoords="offset points")
    axes.set_aspect("equal")
    axes.set(xlabel="in the section (mm)", ylabel="along the element's normal (mm)")
    axes.set_ylim(-1.75 * ray, 0.9 * ray)
    axes.set_title(f"An element of the {element['side']} side, θ = {element['angle_deg']:.1f}°")
    axes.legend(loc="upper left")
