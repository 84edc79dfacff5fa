"""Figures of a calibration: what more constants buy, and what each of them moves."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.regression.groups import QUANTITIES
from kneewear.report.published_facts import TARGETS, TITLES
from kneewear.report.style import INK, WIDTH, styled
from kneewear.report.tables import quantity_name
from kneewear.report.trends import draw_published_errors, draw_published_scatter

CELL_COLOURS = {"fitted": "#999999", "not fitted": "#0072B2"}


def draw_calibration_figures(
    constants: pd.DataFrame, comparison: pd.DataFrame, trade_off: pd.DataFrame
) -> dict[str, Figure]:
    """All figures of a calibration.

    Parameters
    ----------
    constants, comparison, trade_off : DataFrame
        Tables of `kneewear.studies.calibration.trade_off.Calibration`.

    Returns
    -------
    dict of name to Figure
    """
    return {
        "trade_off": draw_trade_off(trade_off),
        "sensitivity": draw_sensitivity(constants),
        "published_scatter": draw_published_scatter(comparison),
        "published_errors": draw_published_errors(comparison),
    }


@styled
def draw_trade_off(trade_off: pd.DataFrame) -> Figure:
    """Error over the number of constants, fitted and other cells apart.

    Parameters
    ----------
    trade_off : DataFrame
        Table of that name.

    Returns
    -------
    Figure
    """
    figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
    for axes, (group, targets) in zip(figure.subplots(1, 2), TARGETS.items(), strict=True):
        rows = trade_off[trade_off["quantities"] == group]
        for cells, colour in CELL_COLOURS.items():
            own = rows[rows["cells"] == cells].sort_values("constants")
            for statistic, line in (("median", "-"), ("largest", "--")):
                axes.plot(
                    own["constants"],
                    own[f"{statistic}_beyond_rounding_percent"],
                    line,
                    marker="o",
                    ms=4,
                    color=colour,
                    label=f"{statistic}, {cells}",
                )
        for target, statistic in zip(targets, ("median", "largest"), strict=True):
            axes.axhline(target, color=INK, lw=0.8, ls=":")
            axes.annotate(f"target, {statistic}", (1.0, target), ha="right", va="bottom",
                          xycoords=("axes fraction", "data"), fontsize=7)  # fmt: skip
        axes.set(title=TITLES[group], xlabel="fitted constants", ylim=(0.0, None))
        axes.set_xticks(sorted(rows["constants"].unique()))
    figure.axes[0].set_ylabel("error beyond rounding (%)")
    figure.axes[0].legend()
    return figure


@styled
def draw_sensitivity(constants: pd.DataFrame) -> Figure:
    """Change of every quantity when a constant moves by a hundredth of its bounds' width.

    Parameters
    ----------
    constants : DataFrame
        Table of that name.

    Returns
    -------
    Figure
    """
    figure = Figure(figsize=(WIDTH, 0.24 * len(constants) + 1.6), layout="constrained")
    axes: Axes = figure.subplots()
    sizes = constants[[f"{quantity}_percent" for quantity in QUANTITIES]].to_numpy()
    image = axes.imshow(sizes, cmap="Blues", aspect="auto")
    for (i, j), size in np.ndenumerate(sizes):
        colour = "white" if size > 0.6 * sizes.max() else INK
        axes.text(j, i, f"{size:.2f}", ha="center", va="center", fontsize=7, color=colour)
    axes.set_yticks(range(len(constants)), constants["constant"])
    names = [quantity_name(quantity).replace(" ", "\n") for quantity in QUANTITIES]
    axes.set_xticks(range(len(QUANTITIES)), names)
    axes.grid(False)
    figure.colorbar(image, ax=axes, label="change (%) a hundredth of the bounds' width")
    return figure
