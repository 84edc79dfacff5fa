"""How results depend on the number and size of the elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.report.static_facts import PUBLISHED_BOUNDS, convergence_errors, division_errors
from kneewear.report.style import ERROR_COLOURS, WIDTH, styled
from kneewear.report.tables import quantity_name

PRESSURES = {"max_pressure_mpa": "#D55E00", "avg_pressure_mpa": "#0072B2"}
NAMES = {
    "force_n": "contact force",
    "torque_n_mm": "contact torque",
    "max_pressure_mpa": "maximum pressure",
    "avg_pressure_mpa": "average pressure",
}
# Part of the random places inside the bands.
BAND = (0.05, 0.95)


def draw_element_study(
    convergence: pd.DataFrame | None, sensitivity: pd.DataFrame | None
) -> dict[str, Figure]:
    """Draw the figures of a study of elements, if there was one.

    Parameters
    ----------
    convergence, sensitivity : DataFrame, optional
        Results of `study_active_elements` and `study_divisions`.

    Returns
    -------
    dict of str to Figure
        `element_convergence` and `grid_sensitivity`, or none.
    """
    figures = {}
    if convergence is not None:
        figures["element_convergence"] = draw_element_convergence(convergence)
    if sensitivity is not None:
        figures["grid_sensitivity"] = draw_grid_sensitivity(sensitivity)
    return figures


@styled
def draw_element_convergence(table: pd.DataFrame) -> Figure:
    """Largest and mean pressure over the number of loaded elements (Bei 2003, Fig. 3-1D).

    Parameters
    ----------
    table : DataFrame
        Result of `kneewear.studies.static.element_study.study_active_elements`.
    """
    errors = convergence_errors(table)
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    values, relative = figure.subplots(1, 2)
    for quantity, colour in PRESSURES.items():
        groups = table.groupby("wanted")[quantity]
        active = table.groupby("wanted")["active_elements"].median()
        name = quantity_name(quantity.removesuffix("_mpa"))
        values.axhline(groups.median().iloc[-1], color="#9a9d9f", lw=1.0)
        values.fill_between(
            active,
            groups.quantile(BAND[0]),
            groups.quantile(BAND[1]),
            color=colour,
            alpha=0.2,
            lw=0,
        )
        values.plot(active, groups.median(), "o-", color=colour, ms=4, label=name)
        mine = errors[errors["quantity"] == quantity.removesuffix("_mpa")]
        relative.plot(
            mine["active_elements"], mine["median_percent"], "o-", color=colour, ms=4, label=name
        )
        relative.plot(mine["active_elements"], mine["greatest_percent"], ":", color=colour, lw=1.2)
    for number, (count, bound) in enumerate(PUBLISHED_BOUNDS.items()):
        label = "published bounds" if number == 0 else None
        relative.plot(count, bound, "kv", ms=7, label=label)
    values.set(ylim=(0.0, None), ylabel="pressure (MPa)", title="Pressure")
    relative.set(ylim=(0.0, None), ylabel="error (%)", title="Error: median, and greatest (dotted)")
    ticks = sorted(set(table["wanted"]))
    for axes in (values, relative):
        axes.set_xscale("log")
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("loaded elements a side")
        axes.legend()
    return figure


@styled
def draw_grid_sensitivity(table: pd.DataFrame) -> Figure:
    """Force, torque and pressures of one pose over rows and columns (Bei 2003, Fig. 2-3).

    Parameters
    ----------
    table : DataFrame
        Result of `kneewear.studies.static.element_study.study_divisions`.
    """
    deviations = {quantity: division_errors(table, quantity) for quantity in NAMES}
    limit = max(float(np.abs(part.to_numpy()).max()) for part in deviations.values())
    figure = Figure(figsize=(WIDTH * 0.85, 6.4), layout="constrained")
    panels: Any = figure.subplots(2, 2, sharex=True, sharey=True)
    for letter, axes, (quantity, part) in zip("ABCD", panels.flat, deviations.items(), strict=True):
        image = _draw_deviation(axes, part, limit)
        worst = float(np.abs(part.to_numpy()).max())
        axes.set_title(f"{letter}) {NAMES[quantity].capitalize()}: within {worst:.1f} %")
    for axes in panels[1]:
        axes.set_xlabel("columns (side to side)")
    for axes in panels[:, 0]:
        axes.set_ylabel("rows (front to back)")
    figure.colorbar(image, ax=panels, label="deviation from the finest grid (%)", shrink=0.8)
    return figure


def _draw_deviation(axes: Axes, part: pd.DataFrame, limit: float) -> Any:
    """Cells of one quantity with their values."""
    image = axes.imshow(
        part, cmap=ERROR_COLOURS, vmin=-limit, vmax=limit, origin="lower", aspect="auto"
    )
    axes.set_xticks(range(part.shape[1]), [str(n) for n in part.columns])
    axes.set_yticks(range(part.shape[0]), [str(n) for n in part.index])
    axes.grid(False)
    for (row, column), value in np.ndenumerate(part.to_numpy()):
        colour = "white" if abs(value) > 0.6 * limit else "black"
        axes.text(
            column,
            row,
            f"{round(value, 1) + 0.0:.1f}",
            ha="center",
            va="center",
            fontsize=7,
            color=colour,
        )
    return image
