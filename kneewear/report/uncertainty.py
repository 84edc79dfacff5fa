"""Figures of uncertainty studies: prediction intervals, effects, indices and maps of spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.geometry.element_grid import ElementGrid
from kneewear.report.facts import SHOWN
from kneewear.report.maps import draw_plateaus
from kneewear.report.style import (
    DEPTH_COLOURS,
    INK,
    SIDE_COLOURS,
    WIDTH,
    new_figure,
    share_legend,
    styled,
)
from kneewear.report.tables import quantity_name, unit_name, words
from kneewear.studies.uncertainty.element_sums import ElementSums
from kneewear.studies.uncertainty.samples import column_name

# Constants a panel can name.
MOST = 10
BINS = 40


def draw_uncertainty(
    method: str,
    found: pd.DataFrame,
    samples: pd.DataFrame,
    sums: ElementSums,
    grid: ElementGrid,
) -> dict[str, Figure]:
    """Draw every figure of an uncertainty study from the table that its method found.

    `predictions`, `effects` or `indices`, and `damage_spread` where samples are random.
    """
    if method == "one_at_a_time":
        return {"effects": draw_effects(found)}
    spread = {"damage_spread": draw_spread(sums, grid)}
    if method == "variance_based":
        return {"indices": draw_indices(found)} | spread
    return {"predictions": draw_predictions(found, samples)} | spread


@styled
def draw_predictions(found: pd.DataFrame, samples: pd.DataFrame) -> Figure:
    """Distribution of each output, and a bar over its prediction interval."""
    figure, panels = new_figure(5.6, 2, 4, WIDTH + 1.5)
    drawn = samples[samples["role"] == "draw"]
    for axes, quantity in zip(panels.flat, SHOWN, strict=True):
        rows = found[found["quantity"] == quantity].set_index("side")
        for (side, colour), height in zip(SIDE_COLOURS.items(), (0.93, 0.86), strict=True):
            values = drawn[column_name(side, quantity)].dropna()
            axes.hist(values, bins=BINS, color=colour, alpha=0.45, label=side)
            row = rows.loc[side]
            bar: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "color": colour}
            axes.plot([row["lower"], row["upper"]], [height, height], lw=2.5, **bar)
            axes.plot(row["median"], height, "|", ms=9, mew=2, **bar)
            axes.plot(row["nominal"], height, "o", ms=4, mfc="white", **bar)
        # Room for both bars over the histograms.
        axes.set(yticks=[], ylim=(0, 1.3 * axes.get_ylim()[1]), xlim=(0.0, None))
        axes.set(title=quantity_name(quantity), xlabel=unit_name(rows["unit"].iloc[0]))
    share_legend(figure, panels[0, 0], 2, below=True)
    return figure


@styled
def draw_effects(found: pd.DataFrame) -> Figure:
    """Tornado: change of each output with each constant alone, largest on top."""
    figure, panels = new_figure(7.6, 2, 4, WIDTH + 1.5)
    for axes, quantity in zip(panels.flat, SHOWN, strict=True):
        rows = found[found["quantity"] == quantity]
        rows = rows.assign(size=rows["effect_percent"].abs())
        for own, place, colour in _by_side(axes, rows, "size"):
            for end, strength in (("at_low", 0.4), ("at_high", 1.0)):
                change = 100.0 * (own[end] / own["nominal"] - 1.0)
                axes.barh(place, change, 0.36, color=colour, alpha=strength)
        axes.axvline(0.0, color=INK, lw=0.8)
        axes.set(title=quantity_name(quantity), xlabel="change (%)")
    _explain(figure, (("constant higher", 1.0), ("constant lower", 0.4)))
    return figure


@styled
def draw_indices(found: pd.DataFrame) -> Figure:
    """First and total index of the most important constants, with intervals."""
    figure, panels = new_figure(7.6, 2, 4, WIDTH + 1.5)
    for axes, quantity in zip(panels.flat, SHOWN, strict=True):
        for own, place, colour in _by_side(axes, found[found["quantity"] == quantity], "total"):
            for index, strength, offset in (("total", 0.4, 0.09), ("first", 1.0, -0.09)):
                axes.barh(
                    place + offset, own[index], 0.17, color=colour, alpha=strength,
                    xerr=own[f"{index}_error"], error_kw={"lw": 0.8, "ecolor": INK},
                )  # fmt: skip
        axes.set(title=quantity_name(quantity), xlim=(0.0, 1.05), xlabel="part of the variance")
    _explain(figure, (("first index", 1.0), ("total index", 0.4)))
    return figure


def _by_side(
    axes: Axes, rows: pd.DataFrame, size: str
) -> list[tuple[pd.DataFrame, np.ndarray[Any, Any], str]]:
    """Rows of the largest constants, heights and colour of their bars by side; names the bars."""
    sizes = rows.groupby("constant")[size].max()
    names = sizes.sort_values(ascending=False, kind="stable").index[:MOST]
    heights = np.arange(len(names))[::-1]
    axes.set_yticks(heights, [words(str(name)) for name in names])
    axes.tick_params(axis="y", labelsize=7)
    axes.grid(visible=False, axis="y")
    return [
        (rows[rows["side"] == side].set_index("constant").reindex(names), heights + shift, colour)
        for shift, (side, colour) in zip((0.2, -0.2), SIDE_COLOURS.items(), strict=True)
    ]


def _explain(figure: Figure, strengths: Sequence[tuple[str, float]]) -> None:
    """Legend of sides and of strong and faint bars."""
    axes = figure.axes[0]
    for side, colour in SIDE_COLOURS.items():
        for meaning, strength in strengths:
            axes.barh([np.nan], [np.nan], color=colour, alpha=strength, label=f"{side}, {meaning}")
    share_legend(figure, axes, 4, below=True)


@styled
def draw_spread(sums: ElementSums, grid: ElementGrid) -> Figure:
    """Mean damage of all samples and its standard deviation, element by element."""
    figure, panels = new_figure(3.3, columns=2)
    maps = {
        f"Mean of {int(sums.samples)} samples": sums.mean("damage"),
        "Standard deviation": sums.deviation("damage"),
    }
    for axes, (title, values) in zip(panels.flat, maps.items(), strict=True):
        mesh = draw_plateaus(axes, grid, values, float(values.max()), DEPTH_COLOURS)
        axes.set_title(title)
        figure.colorbar(mesh, ax=axes, label="damage depth (mm)", shrink=0.75, pad=0.02)
    return figure
