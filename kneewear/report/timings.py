"""Times of distance queries, and of whole cases."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kneewear.report.style import WIDTH, styled

_METHODS = (
    ("minimum_distance_us", "minimum distance, here", "#0072B2"),
    ("ray_firing_us", "ray firing, here", "#56B4E9"),
    ("opencascade_minimum_distance_us", "minimum distance, OpenCASCADE", "#D55E00"),
    ("opencascade_ray_firing_us", "ray firing, OpenCASCADE", "#E69F00"),
)
_VARIED = (
    ("cases", "cases"),
    ("elements", "elements, five cases"),
    ("frames", "frames, five cases"),
)
_ANALYSES = (("#0072B2", "o-"), ("#D55E00", "s--"))
_DEVIATIONS = (("max_mm", "maximum"), ("mean_mm", "mean"), ("sd_mm", "standard deviation"))


@styled
def draw_distance_methods(table: pd.DataFrame) -> Figure:
    """Time of one query and deviation from the dense patch, by geometry.

    Parameters
    ----------
    table : DataFrame
        Columns `geometry`, the times in microseconds (absent where a tool is) and the deviations.
    """
    figure = Figure(figsize=(WIDTH, 6.0), layout="constrained")
    times, deviations = figure.subplots(2, 1, height_ratios=[1.6, 1.0])
    place = np.arange(len(table))
    shown = [method for method in _METHODS if method[0] in table and table[method[0]].notna().any()]
    width = 0.8 / max(len(shown), 1)
    for number, (column, label, colour) in enumerate(shown):
        offset = (number - 0.5 * (len(shown) - 1)) * width
        times.bar(place + offset, table[column], width, label=label, color=colour)
    times.set(yscale="log", ylabel="time of one query (µs)", title="Time")
    times.legend(ncols=2, loc="upper left")
    times.margins(y=0.35)
    for number, (column, label) in enumerate(_DEVIATIONS):
        deviations.bar(place + 0.25 * (number - 1), 1e3 * table[column], 0.25, label=label)
    deviations.set(ylabel="deviation (µm)", title="Deviation from the dense patch")
    deviations.legend(ncols=3)
    for axes in (times, deviations):
        axes.set_xticks(place, table["geometry"])
        axes.grid(axis="x", visible=False)
    return figure


@styled
def draw_cost(table: pd.DataFrame) -> Figure:
    """Time on one thread over the number of cases, elements and frames.

    Parameters
    ----------
    table : DataFrame
        Columns `analysis`, `varied` (cases, elements or frames), `number` and `seconds`.

    Returns
    -------
    Figure
        A panel for each; all axes logarithmic, with a line of what is proportional.
    """
    figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
    panels = figure.subplots(1, len(_VARIED), sharey=True)
    for axes, (varied, label) in zip(panels, _VARIED, strict=True):
        own = table[table["varied"] == varied]
        for (analysis, rows), (colour, look) in zip(
            own.groupby("analysis", sort=False), _ANALYSES, strict=False
        ):
            axes.plot(rows["number"], rows["seconds"], look, color=colour, ms=4, label=analysis)
        first, last = own.iloc[0], own["number"].max()
        times = first["seconds"] * np.array([1.0, last / first["number"]])
        axes.plot([first["number"], last], times, ":", color="#777777", label="proportional")
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.set_xticks(own["number"].unique(), own["number"].unique().astype(str), rotation=30)
        axes.minorticks_off()
    panels[0].set_ylabel("time of the processor (s)")
    names = [name.replace("_", "-") for name in panels[0].get_legend_handles_labels()[1]]
    figure.legend(
        panels[0].get_legend_handles_labels()[0], names, loc="outside upper center", ncols=3
    )
    return figure
