"""Figures of uncertainty studies: prediction intervals, effects, indices and maps of spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.geometry.element_grid import ElementGrid
from kneewear.report.maps import draw_plateaus
from kneewear.report.style import DEPTH_COLOURS, INK, SIDE_COLOURS, WIDTH, styled
from kneewear.report.tables import quantity_name, unit_name, words
from kneewear.report.uncertainty_facts import SHOWN
from kneewear.studies.uncertainty.element_sums import ElementSums
from kneewear.studies.uncertainty.samples import column_name

# Constants a panel can name.
MOST = 10
BINS = 40


@styled
def draw_predictions(found: pd.DataFrame, samples: pd.DataFrame) -> Figure:
    """Distribution of each output with its prediction interval.

    Parameters
    ----------
    found : DataFrame
        Prediction intervals.
    samples : DataFrame
        All samples.
    """
    figure, panels = _panels(5.6)
    drawn = samples[samples["role"] == "draw"]
    for axes, quantity in zip(panels, SHOWN, strict=True):
        rows = found[found["quantity"] == quantity]
        for level, (side, colour) in enumerate(SIDE_COLOURS.items()):
            values = drawn[column_name(side, quantity)].dropna()
            axes.hist(values, bins=BINS, color=colour, alpha=0.45, label=side)
            _draw_interval(axes, rows[rows["side"] == side].iloc[0], colour, 0.93 - 0.07 * level)
        # Room for both bars over the histograms.
        axes.set(
            yticks=[], xlabel=unit_name(rows["unit"].iloc[0]), ylim=(0, 1.3 * axes.get_ylim()[1])
        )
        axes.set_title(quantity_name(quantity))
        axes.set_xlim(left=0.0)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _draw_interval(axes: Axes, row: pd.Series, colour: str, height: float) -> None:
    """Bar over a histogram from end to end, median and nominal value marked."""
    bar: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "color": colour}
    axes.plot([row["lower"], row["upper"]], [height, height], lw=2.5, **bar)
    axes.plot(row["median"], height, "|", ms=9, mew=2, **bar)
    axes.plot(row["nominal"], height, "o", ms=4, mfc="white", **bar)


@styled
def draw_effects(found: pd.DataFrame) -> Figure:
    """Tornado: what each constant alone does to an output, largest on top.

    Parameters
    ----------
    found : DataFrame
        Effects of all constants.
    """
    figure, panels = _panels(7.6)
    for axes, quantity in zip(panels, SHOWN, strict=True):
        rows = found[found["quantity"] == quantity]
        sizes = rows.assign(size=rows["effect_percent"].abs()).groupby("constant")["size"].max()
        names = _largest(sizes)
        for shift, (side, colour) in zip((0.2, -0.2), SIDE_COLOURS.items(), strict=True):
            own = rows[rows["side"] == side].set_index("constant").reindex(names)
            place = np.arange(len(names))[::-1] + shift
            nominal = own["nominal"]
            for end, strength in (("at_low", 0.4), ("at_high", 1.0)):
                change = 100.0 * (own[end] / nominal - 1.0)
                axes.barh(place, change, 0.36, color=colour, alpha=strength)
        axes.axvline(0.0, color=INK, lw=0.8)
        _name_rows(axes, names, quantity_name(quantity))
        axes.set_xlabel("change (%)")
    _explain(figure, (("constant higher", 1.0), ("constant lower", 0.4)))
    return figure


@styled
def draw_indices(found: pd.DataFrame) -> Figure:
    """First and total index of the constants that matter most, with intervals.

    Parameters
    ----------
    found : DataFrame
        Indices of all constants.
    """
    figure, panels = _panels(7.6)
    for axes, quantity in zip(panels, SHOWN, strict=True):
        rows = found[found["quantity"] == quantity]
        names = _largest(rows.groupby("constant")["total"].max())
        for shift, (side, colour) in zip((0.2, -0.2), SIDE_COLOURS.items(), strict=True):
            own = rows[rows["side"] == side].set_index("constant").reindex(names)
            place = np.arange(len(names))[::-1] + shift
            for index, strength, offset in (("total", 0.4, 0.09), ("first", 1.0, -0.09)):
                axes.barh(
                    place + offset,
                    own[index],
                    0.17,
                    color=colour,
                    alpha=strength,
                    xerr=own[f"{index}_error"],
                    error_kw={"lw": 0.8, "ecolor": INK},
                )
        _name_rows(axes, names, quantity_name(quantity))
        axes.set(xlim=(0.0, 1.05), xlabel="part of the variance")
    _explain(figure, (("first index", 1.0), ("total index", 0.4)))
    return figure


@styled
def draw_spread(sums: ElementSums, grid: ElementGrid) -> Figure:
    """Mean damage of all samples and its standard deviation, element by element.

    Parameters
    ----------
    sums : ElementSums
        Depths summed over samples.
    grid : ElementGrid
        Elements of the settings.
    """
    figure = Figure(figsize=(WIDTH, 3.3), layout="constrained")
    panels: Any = figure.subplots(1, 2)
    for axes, map_, title in zip(
        panels,
        (sums.mean("damage"), sums.deviation("damage")),
        (f"Mean of {int(sums.samples)} samples", "Standard deviation"),
        strict=True,
    ):
        mesh = draw_plateaus(axes, grid, map_, float(map_.max()), DEPTH_COLOURS)
        axes.set_title(title)
        figure.colorbar(mesh, ax=axes, label="damage depth (mm)", shrink=0.75, pad=0.02)
    return figure


def draw_uncertainty(
    method: str,
    found: pd.DataFrame,
    samples: pd.DataFrame,
    sums: ElementSums,
    grid: ElementGrid,
) -> dict[str, Figure]:
    """Draw every figure of an uncertainty study.

    Parameters
    ----------
    method : str
        As in the settings.
    found : DataFrame
        Table of the method.
    samples : DataFrame
        All samples.
    sums : ElementSums
        Depths summed over samples.
    grid : ElementGrid
        Elements of the settings.

    Returns
    -------
    dict of str to Figure
        `predictions`, `effects` or `indices`, and `damage_spread` where samples are random.
    """
    if method == "one_at_a_time":
        return {"effects": draw_effects(found)}
    spread = {"damage_spread": draw_spread(sums, grid)}
    if method == "variance_based":
        return {"indices": draw_indices(found)} | spread
    return {"predictions": draw_predictions(found, samples)} | spread


def _panels(height: float) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for every output shown."""
    figure = Figure(figsize=(WIDTH + 1.5, height), layout="constrained")
    return figure, list(figure.subplots(2, 4).flat)


def _largest(sizes: pd.Series) -> list[str]:
    """Names of the largest values, largest first."""
    return [str(name) for name in sizes.sort_values(ascending=False, kind="stable").index[:MOST]]


def _name_rows(axes: Axes, names: Sequence[str], title: str) -> None:
    axes.set_yticks(np.arange(len(names))[::-1], [words(name) for name in names])
    axes.tick_params(axis="y", labelsize=7)
    axes.grid(visible=False, axis="y")
    axes.set_title(title)


def _explain(figure: Figure, strengths: Sequence[tuple[str, float]]) -> None:
    """Legend of sides and of strong and faint bars."""
    axes = figure.axes[0]
    for side, colour in SIDE_COLOURS.items():
        for meaning, strength in strengths:
            axes.barh([np.nan], [np.nan], color=colour, alpha=strength, label=f"{side}, {meaning}")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
