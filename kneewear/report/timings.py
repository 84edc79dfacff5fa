"""Times of distance queries, and of whole cases (tables of `benchmarks/`)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kneewear.report.style import AMBER, BLUE, RED, SKY, new_figure, share_legend, styled

METHODS = {
    "minimum_distance_us": ("minimum distance, here", BLUE),
    "ray_firing_us": ("ray firing, here", SKY),
    "opencascade_minimum_distance_us": ("minimum distance, OpenCASCADE", RED),
    "opencascade_ray_firing_us": ("ray firing, OpenCASCADE", AMBER),
}
DEVIATIONS = {"max_mm": "maximum", "mean_mm": "mean", "sd_mm": "standard deviation"}
VARIED = {
    "cases": "cases",
    "elements": "elements, five cases",
    "frames": "frames, five cases",
}
ANALYSES = ((BLUE, "o-"), (RED, "s--"))


@styled
def draw_distance_methods(table: pd.DataFrame) -> Figure:
    """Time of one query and deviation from the dense patch, by geometry.

    Parameters
    ----------
    table : DataFrame
        Columns `geometry`, the times in microseconds (absent where a tool is) and the deviations.
    """
    figure, panels = new_figure(6.0, 2, height_ratios=[1.6, 1.0])
    times, deviations = panels.flat
    place = np.arange(len(table))
    shown = {name: look for name, look in METHODS.items() if name in table}
    shown = {name: look for name, look in shown.items() if table[name].notna().any()}
    width = 0.8 / max(len(shown), 1)
    for number, (column, (label, colour)) in enumerate(shown.items()):
        offset = (number - 0.5 * (len(shown) - 1)) * width
        times.bar(place + offset, table[column], width, label=label, color=colour)
    times.set(yscale="log", ylabel="time of one query (µs)", title="Time")
    times.legend(ncols=2, loc="upper left")
    times.margins(y=0.35)
    for number, (column, label) in enumerate(DEVIATIONS.items()):
        deviations.bar(place + 0.25 * (number - 1), 1e3 * table[column], 0.25, label=label)
    deviations.set(ylabel="deviation (µm)", title="Deviation from the dense patch")
    deviations.legend(ncols=3)
    for axes in panels.flat:
        axes.set_xticks(place, table["geometry"])
        axes.grid(axis="x", visible=False)
    return figure


@styled
def draw_cost(table: pd.DataFrame) -> Figure:
    """Time on one thread over the number of cases, elements and frames, on logarithmic axes.

    Parameters
    ----------
    table : DataFrame
        Columns `analysis`, `varied` (cases, elements or frames), `number` and `seconds`.
    """
    figure, panels = new_figure(3.0, columns=len(VARIED), sharey=True)
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
    share_legend(figure, panels[0, 0], 3)
    return figure
