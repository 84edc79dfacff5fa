"""How well formulas over insert thickness and body mass tell the results."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.regression.groups import QUANTITIES
from kneewear.regression.models import ENOUGH
from kneewear.report.style import INK, SIDE_COLOURS, WIDTH, styled
from kneewear.report.tables import quantity_name

MODEL_LOOKS = {"plane": ("#0072B2", "o"), "power law": ("#D55E00", "x")}
BAR_COLOURS = {
    "plane": "#0072B2",
    "interaction": "#56B4E9",
    "quadratic": "#009E73",
    "quadratic and interaction": "#CC79A7",
    "power law": "#D55E00",
}


def draw_regression(models: pd.DataFrame, points: pd.DataFrame) -> dict[str, Figure]:
    """Draw the quality of the regression, if there was one.

    Parameters
    ----------
    models : DataFrame
        Table of :func:`kneewear.regression.models.compare_models`.
    points : DataFrame
        Table of :func:`kneewear.regression.models.predict_cases`.

    Returns
    -------
    dict of str to Figure
        `regression_residuals` and `regression_models`, with the life's name behind where there are
        several; none without a regression.
    """
    if models.empty:
        return {}
    figures = {}
    several = "life" in models
    for life in dict.fromkeys(models["life"]) if several else [""]:
        ending = f"_{life}" if several else ""
        own_points = points[points["life"] == life] if several else points
        own_models = models[models["life"] == life] if several else models
        figures[f"regression_residuals{ending}"] = draw_residuals(own_points)
        figures[f"regression_models{ending}"] = draw_models(own_models)
    return figures


@styled
def draw_residuals(points: pd.DataFrame) -> Figure:
    """Residuals of plane and power law over the fitted value, in per cent of the mean.

    Parameters
    ----------
    points : DataFrame
        Table of :func:`kneewear.regression.models.predict_cases` of one life.
    """
    figure = Figure(figsize=(WIDTH + 1.0, 4.4), layout="constrained")
    panels = figure.subplots(2, len(QUANTITIES), sharey=True)
    for row, side in enumerate(SIDE_COLOURS):
        for axes, quantity in zip(panels[row], QUANTITIES, strict=True):
            own = points[(points["side"] == side) & (points["quantity"] == quantity)]
            _draw_residuals(axes, own)
            if row == 0:
                axes.set_title(quantity_name(quantity), fontsize=7.5)
            axes.tick_params(labelsize=7)
        panels[row, 0].set_ylabel(f"{side}\nresidual (% of the mean)")
    figure.supxlabel("fitted value (MPa, mm, mm² or mm³)", fontsize=9)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def _draw_residuals(axes: Axes, points: pd.DataFrame) -> None:
    """One quantity of one side."""
    axes.axhline(0.0, color=INK, lw=0.8)
    for model, (colour, marker) in MODEL_LOOKS.items():
        own = points[points["model"] == model]
        percent = 100.0 * own["residual"] / own["value"].mean()
        axes.plot(own["fitted"], percent, marker, color=colour, ms=3.2, mew=0.9, label=model)


@styled
def draw_models(models: pd.DataFrame) -> Figure:
    """Error of each model in cases it was not fitted to.

    Parameters
    ----------
    models : DataFrame
        Table of :func:`kneewear.regression.models.compare_models` of one life.
    """
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True, sharey=True)
    names = [name for name in BAR_COLOURS if name in set(models["model"])]
    place, width = np.arange(len(QUANTITIES)), 0.8 / max(len(names), 1)
    for axes, side in zip(panels, SIDE_COLOURS, strict=True):
        for number, name in enumerate(names):
            own = models[(models["side"] == side) & (models["model"] == name)]
            error = own.set_index("quantity")["leave_one_out_percent"].reindex(list(QUANTITIES))
            offset = (number - 0.5 * (len(names) - 1)) * width
            axes.bar(place + offset, error, width, color=BAR_COLOURS[name], label=name)
        axes.axhline(100.0 * ENOUGH, color=INK, lw=0.8, ls="--")
        axes.set(title=side.capitalize(), ylabel="error (% of the mean)")
        axes.grid(axis="x", visible=False)
    panels[1].set_xticks(place, [quantity_name(name) for name in QUANTITIES], fontsize=8)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(names))
    return figure
