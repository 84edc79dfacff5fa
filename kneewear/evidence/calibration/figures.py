"""Figures of a calibration."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from kneewear.analysis.groups import QUANTITIES
from kneewear.evidence.published.figures import draw_published_errors, draw_published_scatter
from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.tables import quantity_name, rows_with, words

CELL_COLOURS = {"fitted": "#999999", "not fitted": style.BLUE}
# Targets of a calibration: median and largest error of the cells that were not fitted, per cent
# beyond rounding.
TARGETS = {"all others": (1.6, 9.0), "average pressure": (4.0, 10.0)}
TITLES = {"all others": "All but average pressure", "average pressure": "Average pressure"}


@figure("calibration", of="cases")
def draw_calibration_figures(
    constants: pd.DataFrame,
    comparison: pd.DataFrame,
    correlations: pd.DataFrame,
    trade_off: pd.DataFrame,
) -> dict[str, Figure]:
    """Figures of a calibration by name, from the tables of its `Calibration`."""
    return {
        "trade_off": draw_trade_off(trade_off),
        "sensitivity": draw_sensitivity(constants),
        "correlations": draw_correlations(correlations),
        "published_scatter": draw_published_scatter(comparison),
        "published_errors": draw_published_errors(comparison),
    }


@figure("calibration_trade_off", of="method")
def draw_recorded_trade_off(calibration_trade_off: pd.DataFrame) -> Figure:
    """Error over the number of constants of the calibration of the built-in knee."""
    return draw_trade_off(calibration_trade_off)


@style.styled
def draw_trade_off(trade_off: pd.DataFrame) -> Figure:
    """Error over the number of constants, fitted and other cells apart."""
    figure, panels = style.new_figure(3.0, columns=2)
    for axes, (group, targets) in zip(panels.flat, TARGETS.items(), strict=True):
        rows = rows_with(trade_off, quantities=group)
        for cells, colour in CELL_COLOURS.items():
            own = rows_with(rows, cells=cells).sort_values("constants")
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
            axes.axhline(target, color=style.INK, lw=0.8, ls=":")
            axes.annotate(
                f"target, {statistic}",
                (1.0, target),
                ha="right",
                va="bottom",
                xycoords=("axes fraction", "data"),
                fontsize=style.SMALL,
            )
        axes.set(title=TITLES[group], xlabel="fitted constants", ylim=(0.0, None))
        axes.set_xticks(sorted(rows["constants"].unique()))
    panels[0, 0].set_ylabel("error beyond rounding (%)")
    panels[0, 0].legend()
    return figure


@style.styled
def draw_correlations(correlations: pd.DataFrame) -> Figure:
    """Correlations of the errors of the fitted constants."""
    figure, ((axes,),) = style.new_figure(0.24 * len(correlations) + 1.6)
    image = style.draw_cells(
        axes, correlations.drop(columns="constant"), "RdBu_r", (-1.0, 1.0), "{:.1f}"
    )
    axes.invert_yaxis()
    names = list(map(words, correlations["constant"]))
    axes.set_yticks(range(len(correlations)), names)
    axes.set_xticks(range(len(correlations)), names, rotation=90)
    figure.colorbar(image, ax=axes, label="correlation")
    return figure


@style.styled
def draw_sensitivity(constants: pd.DataFrame) -> Figure:
    """Change of every quantity when a constant changes by a hundredth of its bounds' width."""
    figure, ((axes,),) = style.new_figure(0.24 * len(constants) + 1.6)
    sizes = constants[[f"{quantity}_percent" for quantity in QUANTITIES]]
    image = style.draw_cells(axes, sizes, "Blues", (0.0, float(sizes.to_numpy().max())), "{:.2f}")
    axes.invert_yaxis()
    axes.set_yticks(range(len(constants)), list(map(words, constants["constant"])))
    names = [quantity_name(quantity).replace(" ", "\n") for quantity in QUANTITIES]
    axes.set_xticks(range(len(QUANTITIES)), names)
    figure.colorbar(image, ax=axes, label="change (%) per hundredth of the bounds' width")
    return figure
