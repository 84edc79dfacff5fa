"""Trends over insert thickness and body mass, and their agreement with published values."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kneewear.regression.groups import QUANTITIES
from kneewear.report.style import ERROR_COLOURS, INK, SIDE_COLOURS, WIDTH, styled
from kneewear.report.tables import quantity_name, unit_name


def can_draw_surfaces(cases: pd.DataFrame) -> bool:
    """Tell whether the cases fill a rectangle of at least two thicknesses and two masses."""
    levels = cases[["thickness_mm", "body_mass_kg"]].drop_duplicates()
    counts = levels.nunique()
    return bool(counts.min() > 1 and len(levels) == counts.prod())


@styled
def draw_damage_surfaces(cases: pd.DataFrame, regression: pd.DataFrame, life: str) -> Figure:
    """Damage depth over thickness and mass with its regression plane (Bei 2003, Fig. 4-4).

    Parameters
    ----------
    cases : DataFrame
        Tidy case table of a full factorial design.
    regression : DataFrame
        Regression table; without rows no plane is drawn.
    life : str
        Life shown.
    """
    figure = Figure(figsize=(WIDTH, 3.8))
    chosen = cases.query("life == @life and quantity == 'damage_depth'")
    top = float(chosen["value"].max())
    for number, (side, colour) in enumerate(SIDE_COLOURS.items()):
        axes = figure.add_subplot(1, 2, number + 1, projection="3d")
        table = chosen[chosen["side"] == side].pivot(
            index="body_mass_kg", columns="thickness_mm", values="value"
        )
        thickness, mass = np.meshgrid(table.columns.to_numpy(), table.index.to_numpy())
        axes.plot_surface(
            thickness, mass, table.to_numpy(), cmap="viridis", vmin=0.0, vmax=top, alpha=0.85,
            edgecolor=INK, linewidth=0.4,
        )  # fmt: skip
        plane = _coefficients(regression, life, side)
        if plane is not None:
            values = plane[0] + plane[1] * thickness + plane[2] * mass
            axes.plot_wireframe(thickness, mass, values, color=colour, lw=1.0, ls="--")
        axes.set(xlabel="insert thickness (mm)", ylabel="body mass (kg)", zlim=(0.0, 1.05 * top))
        axes.set_zlabel("damage depth (mm)")
        axes.view_init(elev=22, azim=-128)
        axes.set_box_aspect(None, zoom=0.98)
        axes.set_title(f"{'AB'[number]}) {side}", loc="left")
    figure.subplots_adjust(left=0.02, right=0.96, bottom=0.06, top=0.94, wspace=0.08)
    return figure


def _coefficients(
    regression: pd.DataFrame, life: str, side: str
) -> tuple[float, float, float] | None:
    """Coefficients of the damage depth, or None when it was not regressed."""
    rows = regression[(regression["side"] == side) & (regression["quantity"] == "damage_depth")]
    if "life" in rows:
        rows = rows[rows["life"] == life]
    if rows.empty:
        return None
    row = rows.iloc[0]
    return float(row["a0"]), float(row["a1_per_mm"]), float(row["a2_per_kg"])


@styled
def draw_published_scatter(comparison: pd.DataFrame) -> Figure:
    """Computed against published values, one panel a quantity.

    Parameters
    ----------
    comparison : DataFrame
        Comparison table of one life.
    """
    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    panels = figure.subplots(2, 4).flat
    for quantity, axes in zip(QUANTITIES, panels, strict=False):
        rows = comparison[comparison["quantity"] == quantity]
        low, high = rows[["computed", "published"]].min().min(), rows["published"].max()
        ends = np.array([0.9 * low, 1.08 * max(high, rows["computed"].max())])
        axes.fill_between(ends, 0.95 * ends, 1.05 * ends, color="#e8e8e8", lw=0)
        axes.plot(ends, ends, color=INK, lw=0.8)
        for side, colour in SIDE_COLOURS.items():
            for used, marker in ((True, {"mfc": "none"}), (False, {"mfc": colour})):
                some = rows[(rows["side"] == side) & (rows["calibration"] == used)]
                axes.plot(some["published"], some["computed"], "o", ms=4, mec=colour, **marker)
        unit = unit_name(rows["unit"].iloc[0]) if len(rows) else ""
        axes.set_title(f"{quantity_name(quantity)} ({unit})")
        axes.set(xlabel="published", ylabel="computed", xlim=ends, ylim=ends)
        axes.set_aspect("equal")
    _explain(next(panels))
    return figure


def _explain(axes: Axes) -> None:
    """Legend in a panel of its own."""
    axes.set_axis_off()
    for side, colour in SIDE_COLOURS.items():
        axes.plot([], [], "o", color=colour, label=side)
    axes.plot([], [], "o", mec=INK, mfc="none", label="used for calibration")
    axes.plot([], [], "o", color=INK, label="not fitted")
    axes.fill_between([], [], color="#e8e8e8", label="within 5 %")
    axes.legend(loc="center left")


@styled
def draw_published_errors(comparison: pd.DataFrame) -> Figure:
    """Relative error of every cell of the published tables.

    Parameters
    ----------
    comparison : DataFrame
        Comparison table of one life.
    """
    figure = Figure(figsize=(WIDTH + 1.0, 3.9), layout="constrained")
    panels = figure.subplots(2, len(QUANTITIES), sharex=True, sharey=True)
    bound = max(1.0, 100.0 * float(comparison["relative_error"].abs().max()))
    image = None
    for row, side in enumerate(SIDE_COLOURS):
        for axes, quantity in zip(panels[row], QUANTITIES, strict=True):
            rows = comparison[(comparison["side"] == side) & (comparison["quantity"] == quantity)]
            table = 100.0 * rows.pivot(
                index="body_mass_kg", columns="thickness_mm", values="relative_error"
            )
            image = axes.imshow(
                table, cmap=ERROR_COLOURS, vmin=-bound, vmax=bound, origin="lower", aspect="auto"
            )
            _label_cells(axes, table, rows, bound)
            axes.set_xticks(range(table.shape[1]), [f"{value:g}" for value in table.columns])
            axes.set_yticks(range(table.shape[0]), [f"{value:g}" for value in table.index])
            axes.grid(False)
            if row == 0:
                axes.set_title(quantity_name(quantity), fontsize=7.5)
        panels[row, 0].set_ylabel(f"{side}\nbody mass (kg)")
    figure.supxlabel("insert thickness (mm)", fontsize=9)
    if image is not None:
        figure.colorbar(image, ax=panels, label="computed / published - 1 (%)", pad=0.01)
    return figure


def _label_cells(axes: Axes, table: pd.DataFrame, rows: pd.DataFrame, bound: float) -> None:
    """Write each error into its cell and frame the cells used for calibration."""
    used = rows.pivot(index="body_mass_kg", columns="thickness_mm", values="calibration")
    for (i, j), error in np.ndenumerate(table.to_numpy()):
        if np.isfinite(error):
            colour = "white" if abs(error) > 0.65 * bound else INK
            axes.text(j, i, f"{round(error)}", ha="center", va="center", fontsize=6.5, color=colour)
            if used.iloc[i, j]:
                axes.add_patch(
                    Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, fill=False, ec=INK, lw=0.6)
                )
