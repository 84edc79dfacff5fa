"""Figures of uncertainty studies: prediction intervals, effects, indices and maps of spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kneewear.geometry.element_grid import ElementGrid
from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.maps import draw_plateaus
from kneewear.report.study_tables import SHOWN
from kneewear.report.tables import quantity_name, rows_with, unit_name, words
from kneewear.study.element_sums import ElementSums
from kneewear.study.plans import ROLE, VARIED
from kneewear.study.study import Study
from kneewear.study.wear import column_name

# Constants a panel can name.
MAX_CONSTANTS_SHOWN = 10
BINS = 40


@figure("effects", of="cases")
def draw_steps(steps: pd.DataFrame) -> Figure:
    """Change of each output with each constant alone."""
    return draw_effects(steps)


@figure("indices", of="cases")
def draw_variance_indices(indices: pd.DataFrame) -> Figure:
    """Shares of the variance of each output by constant."""
    return draw_indices(indices)


@figure("predictions", of="cases")
def draw_intervals(intervals: pd.DataFrame, results: pd.DataFrame) -> Figure:
    """Distributions and prediction intervals of the outputs."""
    return draw_predictions(intervals, results)


@figure("damage_spread", of="cases")
def draw_spread_of_samples(study: Study, sums: ElementSums, grid: ElementGrid) -> Figure | None:
    """Mean and spread of damage over the samples, where there are several."""
    is_sampled = study.analyses.intervals or study.analyses.indices
    return draw_sample_spread(sums, grid) if is_sampled and int(sums.samples) > 1 else None


@style.styled
def draw_predictions(found: pd.DataFrame, samples: pd.DataFrame) -> Figure:
    """Distribution of each output, and a bar over its prediction interval."""
    figure, panels = style.new_figure(5.6, 2, 4, style.WIDTH + 1.5)
    drawn = samples[samples[ROLE] == "draw"]
    for axes, quantity in zip(panels.flat, SHOWN, strict=True):
        rows = found[found["quantity"] == quantity].set_index("side")
        colours = style.side_colours(found).items()
        for (side, colour), height in zip(colours, (0.93, 0.86), strict=False):
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
    style.share_legend(figure, panels[0, 0], 2, below=True)
    return figure


@style.styled
def draw_effects(found: pd.DataFrame, what: str = "variable") -> Figure:
    """Tornado: change of each output with each constant alone, largest on top."""
    changes = {end: 100.0 * (found[end] / found["nominal"] - 1.0) for end in ("at_low", "at_high")}
    rows = found.assign(size=found["effect_percent"].abs(), **changes)
    bars = {"at_low": (f"{what} lower", 0.0, 0.36), "at_high": (f"{what} higher", 0.0, 0.36)}
    figure = _draw_constants(rows, "size", bars)
    for axes in figure.axes:
        axes.axvline(0.0, color=style.INK, lw=0.8)
        axes.set_xlabel("change (%)")
    return figure


@style.styled
def draw_indices(found: pd.DataFrame) -> Figure:
    """First and total index of the most important constants, with intervals."""
    bars = {"total": ("total index", 0.09, 0.17), "first": ("first index", -0.09, 0.17)}
    figure = _draw_constants(found, "total", bars)
    for axes in figure.axes:
        axes.set(xlim=(0.0, 1.05), xlabel="part of the variance")
    return figure


def _draw_constants(
    found: pd.DataFrame, size: str, bars: Mapping[str, tuple[str, float, float]]
) -> Figure:
    """Bars of the constants with the largest `size` by side, a panel for each output.

    `bars` are a faint and a strong column, by name: meaning, offset and width of the bar.
    """
    figure, panels = style.new_figure(7.6, 2, 4, style.WIDTH + 1.5)
    sides = style.side_colours(found)
    looks = list(zip(bars.items(), (0.4, 1.0), strict=True))
    for axes, quantity in zip(panels.flat, SHOWN, strict=True):
        rows = rows_with(found, quantity=quantity)
        sizes = rows.groupby(VARIED)[size].max()
        names = sizes.sort_values(ascending=False, kind="stable").index[:MAX_CONSTANTS_SHOWN]
        heights = np.arange(len(names))[::-1]
        for shift, (side, colour) in zip((0.2, -0.2), sides.items(), strict=False):
            own = rows_with(rows, side=side).set_index(VARIED).reindex(names)
            for (column, (_, offset, width)), strength in looks:
                axes.barh(
                    heights + shift + offset,
                    own[column],
                    width,
                    color=colour,
                    alpha=strength,
                    xerr=own.get(f"{column}_error"),
                    error_kw={"lw": 0.8, "ecolor": style.INK},
                )
        axes.set_title(quantity_name(quantity))
        axes.set_yticks(heights, [words(str(name)) for name in names])
        axes.tick_params(axis="y", labelsize=7)
        axes.grid(visible=False, axis="y")
    for side, colour in sides.items():
        for (_, (meaning, *_)), strength in reversed(looks):
            label = f"{side}, {meaning}"
            panels[0, 0].barh([np.nan], [np.nan], color=colour, alpha=strength, label=label)
    style.share_legend(figure, panels[0, 0], 4, below=True)
    return figure


@style.styled
def draw_sample_spread(sums: ElementSums, grid: ElementGrid) -> Figure:
    """Mean damage of all samples and its standard deviation, element by element."""
    figure, panels = style.new_figure(3.3, columns=2)
    maps = {
        f"Mean of {int(sums.samples)} samples": sums.mean("damage"),
        "Standard deviation": sums.deviation("damage"),
    }
    for axes, (title, values) in zip(panels.flat, maps.items(), strict=True):
        mesh = draw_plateaus(axes, grid, values, float(values.max()), style.DEPTH_COLOURS)
        axes.set_title(title)
        figure.colorbar(mesh, ax=axes, label="damage depth (mm)", shrink=0.75, pad=0.02)
    return figure
