"""Figures of computed results beside published ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from kneewear.analysis.groups import BODY_MASS, QUANTITIES, THICKNESS
from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.regression import name_quantities
from kneewear.report.tables import panel_name, rows_with

BAND = "#e8e8e8"
# Corners of the frame of a cell, from its middle.
FRAME = 0.46 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])


@figure("published_scatter", of="life")
def draw_scatter(comparison: pd.DataFrame) -> Figure:
    """Computed against published values of a life."""
    return draw_published_scatter(comparison)


@figure("published_errors", of="life")
def draw_errors(comparison: pd.DataFrame) -> Figure:
    """Relative error of every cell of the published tables."""
    return draw_published_errors(comparison)


@style.styled
def draw_published_scatter(comparison: pd.DataFrame) -> Figure:
    """Computed against published values of one life, one panel per quantity."""
    figure, panels = style.new_figure(5.0, 2, 4)
    for quantity, axes in zip(QUANTITIES, panels.flat, strict=False):
        rows = rows_with(comparison, quantity=quantity)
        values = rows[["computed", "published"]].to_numpy()
        ends = np.array([0.9 * values.min(), 1.08 * values.max()])
        axes.fill_between(ends, 0.95 * ends, 1.05 * ends, color=BAND, lw=0)
        axes.plot(ends, ends, color=style.INK, lw=0.8)
        for side, colour in style.SIDE_COLOURS.items():
            for used, face in ((True, "none"), (False, colour)):
                some = rows_with(rows, side=side, calibration=used)
                axes.plot(some["published"], some["computed"], "o", ms=4, mec=colour, mfc=face)
        axes.set_title(panel_name(quantity, rows["unit"].iloc[0] if len(rows) else ""))
        axes.set(xlabel="published", ylabel="computed", xlim=ends, ylim=ends, aspect="equal")
    key = panels.flat[len(QUANTITIES)]
    key.set_axis_off()
    for side, colour in style.SIDE_COLOURS.items():
        key.plot([], [], "o", color=colour, label=side)
    key.plot([], [], "o", mec=style.INK, mfc="none", label="used for calibration")
    key.plot([], [], "o", color=style.INK, label="not fitted")
    key.fill_between([], [], color=BAND, label="within 5 %")
    key.legend(loc="center left")
    return figure


@style.styled
def draw_published_errors(comparison: pd.DataFrame) -> Figure:
    """Relative error of every cell of the published tables, fitted cells framed."""
    sides = list(style.side_colours(comparison))[::-1]
    # One matrix of all tables; a row or column of infinity keeps two of them apart.
    design = (BODY_MASS, THICKNESS)
    masses, thicknesses = ([*sorted(set(comparison[name])), np.inf] for name in design)
    rows = pd.MultiIndex.from_product([sides, masses])[:-1]
    columns = pd.MultiIndex.from_product([QUANTITIES, thicknesses])[:-1]
    cells = comparison.set_index(["side", BODY_MASS, "quantity", THICKNESS])
    errors, fitted = (
        cells[name].unstack(["quantity", THICKNESS]).reindex(index=rows, columns=columns)
        for name in ("relative_error", "calibration")
    )
    bound = max(1.0, 100.0 * float(comparison["relative_error"].abs().max()))
    figure, ((axes,),) = style.new_figure(2.1 + 0.8 * len(sides), width=style.WIDTH + 1.0)
    image = style.draw_cells(axes, 100.0 * errors, style.ERROR_COLOURS, (-bound, bound))
    used = np.argwhere(fitted.to_numpy() == True)  # noqa: E712 - absent cells are NaN
    frames = used[:, None, ::-1] + FRAME
    axes.add_collection(PolyCollection(list(frames), fc="none", ec=style.INK, lw=0.6))
    for put, names in ((axes.set_xticks, columns), (axes.set_yticks, rows)):
        levels = names.get_level_values(1)
        shown = np.flatnonzero(np.isfinite(levels))
        put(shown, [f"{level:g}" for level in levels[shown]])
    name_quantities(axes, len(thicknesses))
    for number, side in enumerate(sides):
        axes.annotate(
            f"{side}\nbody mass (kg)",
            (0.0, (number + 0.5) * len(masses) - 1.0),
            (-28.0, 0.0),
            ("axes fraction", "data"),
            "offset points",
            rotation=90,
            ha="right",
            va="center",
            multialignment="center",
        )
    axes.set_xlabel("nominal insert thickness (mm)")
    figure.colorbar(image, ax=axes, label="computed / published - 1 (%)", pad=0.01)
    return figure
