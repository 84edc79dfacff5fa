"""Trends over insert thickness and body mass, formulas fitted to them, and published values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from kneewear.analysis.groups import BODY_MASS, QUANTITIES, THICKNESS
from kneewear.analysis.models import ENOUGH
from kneewear.evidence.published.tables import TARGETS, TITLES
from kneewear.report import style
from kneewear.report.tables import quantity_name, rows_with, unit_name, words

MODEL_LOOKS = {"plane": (style.BLUE, "o"), "power law": (style.RED, "x")}
BAR_COLOURS = {
    "plane": style.BLUE,
    "interaction": style.SKY,
    "quadratic": style.GREEN,
    "quadratic and interaction": style.PURPLE,
    "power law": style.RED,
}
CELL_COLOURS = {"fitted": "#999999", "not fitted": style.BLUE}
BAND = "#e8e8e8"
# Width of the residuals of a quantity, whose fitted values span 0.9.
BLOCK = 1.08
# Corners of the frame of a cell, from its middle.
FRAME = 0.46 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])


@style.styled
def draw_residuals(points: pd.DataFrame) -> Figure:
    """Residuals of plane and power law over the fitted value, in per cent of the mean."""
    sides = style.side_colours(points)
    size = 0.5 + 1.75 * len(sides), len(sides)
    figure, panels = style.new_figure(*size, width=style.WIDTH + 1.0, sharey=True)
    for axes, side in zip(panels.flat, sides, strict=True):
        axes.axhline(0.0, color=style.INK, lw=0.8)
        places: list[float] = []
        labels: list[str] = []
        for number, quantity in enumerate(QUANTITIES):
            rows = rows_with(points, side=side, quantity=quantity)
            if len(rows):
                ticks = _draw_residuals_of(axes, rows, number * BLOCK)
                places += ticks.values()
                labels += ticks
        axes.set_xticks(places, labels)
        axes.set(xlim=(0.0, len(QUANTITIES) * BLOCK), ylabel=f"{side}\nresidual (% of the mean)")
    _name_quantities(panels[0, 0], BLOCK)
    panels[-1, 0].set_xlabel("fitted value (MPa, mm, mm² or mm³)")
    style.share_legends(figure, panels.flat, 2)
    return figure


def _draw_residuals_of(axes: Axes, rows: pd.DataFrame, start: float) -> dict[str, float]:
    """Residuals of one quantity in a block of unit width from `start`; places of ticks by name."""
    axes.axvline(start, color=style.INK, lw=0.8)
    low, high = rows["fitted"].min(), rows["fitted"].max()

    def place(fitted: Any) -> Any:
        return start + 0.05 + 0.9 * (fitted - low) / ((high - low) or 1.0)

    for model, (colour, marker) in MODEL_LOOKS.items():
        own = rows_with(rows, model=model)
        percent = 100.0 * own["residual"] / own["value"].mean()
        fitted = place(own["fitted"])
        axes.plot(fitted, percent, marker, color=colour, ms=3.2, mew=0.9, label=model)
    values = MaxNLocator(3).tick_values(low, high)
    return {f"{one:g}": place(one) for one in values if low <= one <= high}


def _name_quantities(axes: Axes, width: float) -> None:
    """Names of the quantities above blocks side by side, of some width on the x axis."""
    for number, name in enumerate(QUANTITIES):
        axes.text(
            axes.get_xlim()[0] + number * width, 1.02, quantity_name(name),
            transform=axes.get_xaxis_transform(), fontsize=style.SMALL, fontweight="bold",
        )  # fmt: skip


@style.styled
def draw_models(models: pd.DataFrame) -> Figure:
    """Error of each model in cases it was not fitted to."""
    sides = style.side_colours(models)
    rows = len(sides)
    figure, panels = style.new_figure(2.3 * rows, rows, sharex=True, sharey=True)
    names = [name for name in BAR_COLOURS if name in set(models["model"])]
    for axes, side in zip(panels.flat, sides, strict=True):
        own = rows_with(models, side=side)
        errors = own.pivot(index="quantity", columns="model", values="leave_one_out_percent")
        errors = errors.reindex(list(QUANTITIES))
        bars = {name: (errors[name], BAR_COLOURS[name]) for name in names}
        style.draw_bars(axes, [quantity_name(name) for name in QUANTITIES], bars)
        axes.axhline(100.0 * ENOUGH, color=style.INK, lw=0.8, ls="--")
        axes.set(title=side.capitalize(), ylabel="error (% of the mean)")
    panels[-1, 0].tick_params(axis="x", labelsize=8)
    style.share_legend(figure, panels[0, 0], len(names))
    return figure


def can_draw_surfaces(cases: pd.DataFrame) -> bool:
    """Whether the cases fill a rectangle of thicknesses and masses, and differ in nothing else."""
    levels = cases[["thickness_mm", "body_mass_kg"]].drop_duplicates()
    counts = levels.nunique()
    return bool(counts.min() > 1 and len(levels) == counts.prod() == cases["case"].nunique())


@style.styled
def draw_design(design: pd.DataFrame) -> Figure:
    """Deepest damage over thickness and mass (`design_table`), with the limit of validity.

    Cases outside validity are hatched, and a line follows the limit between cases.
    """
    grid = design.pivot(index="body_mass_kg", columns="thickness_mm")
    depth, beyond = grid["damage_depth"], grid["outside"].to_numpy(dtype=bool)
    figure, ((axes,),) = style.new_figure(3.6, width=5.6)
    top = float(depth.to_numpy().max())
    image = style.draw_cells(axes, depth, style.DEPTH_COLOURS, (0.0, top), "{:.2f}")
    for row, column in np.argwhere(beyond):
        corner = (column - 0.5, row - 0.5)
        axes.add_patch(
            Rectangle(corner, 1, 1, fill=False, ec="white", lw=0, hatch="//", alpha=0.45)
        )
    for row, column in np.argwhere(beyond[1:] != beyond[:-1]):
        axes.plot([column - 0.5, column + 0.5], [row + 0.5] * 2, color=style.SKY, lw=3)
    for row, column in np.argwhere(beyond[:, 1:] != beyond[:, :-1]):
        axes.plot([column + 0.5] * 2, [row - 0.5, row + 0.5], color=style.SKY, lw=3)
    axes.set_xticks(range(depth.shape[1]), [f"{one:g}" for one in depth.columns])
    axes.set_yticks(range(depth.shape[0]), [f"{one:g}" for one in depth.index])
    axes.set(xlabel="nominal insert thickness (mm)", ylabel="body mass (kg)")
    figure.colorbar(image, ax=axes, label="deepest damage (mm)")
    return figure


@style.styled
def draw_damage_surfaces(cases: pd.DataFrame, regression: pd.DataFrame) -> Figure:
    """Damage depth over thickness and mass with its regression plane (Bei 2003, Fig. 4-4)."""
    figure = Figure(figsize=(style.WIDTH, 3.8))
    chosen = rows_with(cases, quantity="damage_depth")
    top = float(chosen["value"].max())
    planes = rows_with(regression, quantity="damage_depth")
    sides = style.side_colours(chosen)
    for number, (side, colour) in enumerate(sides.items()):
        axes = figure.add_subplot(1, len(sides), number + 1, projection="3d")
        table = rows_with(chosen, side=side).pivot(
            index="body_mass_kg", columns="thickness_mm", values="value"
        )
        thickness, mass = np.meshgrid(table.columns.to_numpy(), table.index.to_numpy())
        axes.plot_surface(
            thickness, mass, table.to_numpy(), cmap="viridis", vmin=0.0, vmax=top, alpha=0.85,
            edgecolor=style.INK, linewidth=0.4,
        )  # fmt: skip
        for _, row in rows_with(planes, side=side).iterrows():
            values = row["a0"] + row["a1_per_mm"] * thickness + row["a2_per_kg"] * mass
            axes.plot_wireframe(thickness, mass, values, color=colour, lw=1.0, ls="--")
        axes.set(
            xlabel="nominal insert thickness (mm)", ylabel="body mass (kg)", zlim=(0.0, 1.05 * top)
        )
        axes.set_zlabel("damage depth (mm)")
        axes.view_init(elev=22, azim=-128)
        axes.set_box_aspect(None, zoom=0.98)
        axes.set_title(f"{'AB'[number]}) {side}", loc="left")
    figure.subplots_adjust(left=0.02, right=0.96, bottom=0.06, top=0.94, wspace=0.08)
    return figure


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
        unit = unit_name(rows["unit"].iloc[0]) if len(rows) else ""
        axes.set_title(f"{quantity_name(quantity)} ({unit})")
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
    _name_quantities(axes, len(thicknesses))
    for number, side in enumerate(sides):
        axes.annotate(
            f"{side}\nbody mass (kg)", (0.0, (number + 0.5) * len(masses) - 1.0),
            (-28.0, 0.0), ("axes fraction", "data"), "offset points",
            rotation=90, ha="right", va="center", multialignment="center",
        )  # fmt: skip
    axes.set_xlabel("nominal insert thickness (mm)")
    figure.colorbar(image, ax=axes, label="computed / published - 1 (%)", pad=0.01)
    return figure


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
                    own["constants"], own[f"{statistic}_beyond_rounding_percent"], line,
                    marker="o", ms=4, color=colour, label=f"{statistic}, {cells}",
                )  # fmt: skip
        for target, statistic in zip(targets, ("median", "largest"), strict=True):
            axes.axhline(target, color=style.INK, lw=0.8, ls=":")
            axes.annotate(f"target, {statistic}", (1.0, target), ha="right", va="bottom",
                          xycoords=("axes fraction", "data"), fontsize=style.SMALL)  # fmt: skip
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
