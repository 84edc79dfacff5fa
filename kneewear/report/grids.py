"""What an adaptive grid gains over fixed ones."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from kneewear.report.style import WIDTH, styled

_ERRORS = (
    ("force_error", "Force"),
    ("peak_error", "Maximum pressure"),
    ("mean_error", "Average pressure"),
    ("area_error", "Contact area"),
)
_LOOKS = {
    "fixed": (["#E69F00", "#D55E00", "#CC79A7"], "s--", "fixed, {} elements"),
    "adaptive": (["#0072B2", "#56B4E9"], "o-", "adaptive, {} elements a region"),
}


@styled
def draw_grid_comparison(table: pd.DataFrame) -> Figure:
    """Errors of fixed and adaptive grids over the depth of the contact.

    Parameters
    ----------
    table : DataFrame
        Table of `compare_grids`.

    Returns
    -------
    Figure
        A panel each for force, maximum and average pressure and contact area; both axes
        logarithmic. An error of 100 % is that of elements too far apart to notice the contact.
    """
    figure = Figure(figsize=(WIDTH, 6.4), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    for axes, (column, title) in zip(panels.flat, _ERRORS, strict=True):
        for kind, (colours, look, label) in _LOOKS.items():
            own = table[table["kind"] == kind].groupby("elements", sort=True)
            for colour, (elements, rows) in zip(colours, own, strict=False):
                axes.plot(
                    1e3 * rows["depth_mm"], 1e2 * rows[column], look, color=colour, ms=4,
                    label=label.format(f"{elements:,}".replace(",", " ")),
                )  # fmt: skip
        axes.axhline(100.0, color="#999999", lw=0.8, zorder=0)
        axes.set(xscale="log", yscale="log", title=title)
    for axes in panels[:, 0]:
        axes.set_ylabel("error (%)")
    for axes in panels[1]:
        axes.set_xlabel("greatest penetration (µm)")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure
