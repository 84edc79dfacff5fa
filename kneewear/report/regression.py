"""Trends over insert thickness and body mass, and formulas fitted to them."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from kneewear.analysis.groups import QUANTITIES
from kneewear.analysis.models import ENOUGH, PLANE, fitted_values
from kneewear.report import style
from kneewear.report.tables import panel_name, rows_with
from kneewear.wear.leading import DAMAGE, LeadingDepth

MODEL_LOOKS = {"plane": (style.BLUE, "o"), "power law": (style.RED, "x")}
BAR_COLOURS = {
    "plane": style.BLUE,
    "interaction": style.SKY,
    "quadratic": style.GREEN,
    "quadratic and interaction": style.PURPLE,
    "power law": style.RED,
}
# Width of the residuals of a quantity, whose fitted values span 0.9.
BLOCK = 1.08


@style.styled
def draw_trends(
    cases: pd.DataFrame, models: pd.DataFrame, leading: LeadingDepth = DAMAGE
) -> Figure:
    """Largest depth over body mass for each thickness, with the model that predicts cases best.

    This is the one with the smallest error of cases left out; the plane is dashed.
    """
    chosen = rows_with(cases, quantity=leading.quantity)
    sides = list(style.side_colours(chosen))
    figure, panels = style.new_figure(3.9, columns=len(sides), sharey=True)
    for letter, axes, side in zip("AB", panels.flat, sides, strict=False):
        own = rows_with(chosen, side=side)
        compared = rows_with(models, side=side, quantity=leading.quantity)
        errors = compared.set_index("model")["leave_one_out_percent"]
        best = str(errors.idxmin())
        points = own[["thickness_mm", "body_mass_kg"]].to_numpy(float)
        thicknesses = np.unique(points[:, 0])
        masses = np.linspace(points[:, 1].min(), points[:, 1].max(), 41)
        colours = mpl.colormaps[style.THICKNESS_COLOURS](np.linspace(0.0, 0.85, len(thicknesses)))
        for thickness, colour in zip(thicknesses, colours, strict=True):
            at = np.column_stack([np.full(len(masses), thickness), masses])
            values = own["value"].to_numpy(float)
            curve, plane = (fitted_values(name, points, values, at) for name in (best, PLANE))
            axes.plot(masses, curve, color=colour)
            axes.plot(masses, plane, "--", color=colour, lw=0.8)
            rows = own[own["thickness_mm"] == thickness]
            axes.plot(rows["body_mass_kg"], rows["value"], "o", color=colour, ms=4)
            axes.annotate(
                f"{thickness:g}\u00a0mm",
                (masses[-1], curve[-1]),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=style.SMALL,
            )
        title = f"{letter}  {side}\n{best}: error {errors[best]:.1f}\u00a0%"
        axes.set_title(title if best == PLANE else f"{title} (plane: {errors[PLANE]:.1f}\u00a0%)")
        axes.set(xlabel="body mass (kg)", xticks=np.unique(points[:, 1]))
    panels[0, 0].set(ylabel=f"{leading.name} depth (mm)")
    panels[0, 0].set_ylim(bottom=0.0)
    return figure


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
    name_quantities(panels[0, 0], BLOCK)
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
    return {f"{value:g}": place(value) for value in values if low <= value <= high}


def name_quantities(axes: Axes, width: float) -> None:
    """Names of the quantities above blocks side by side, of some width on the x axis."""
    for number, name in enumerate(QUANTITIES):
        axes.text(
            axes.get_xlim()[0] + number * width,
            1.02,
            panel_name(name),
            transform=axes.get_xaxis_transform(),
            fontsize=style.SMALL,
            fontweight="bold",
        )


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
        style.draw_bars(axes, [panel_name(name) for name in QUANTITIES], bars)
        axes.axhline(100.0 * ENOUGH, color=style.INK, lw=0.8, ls="--")
        axes.set(title=side.capitalize(), ylabel="error (% of the mean)")
    panels[-1, 0].tick_params(axis="x", labelsize=8)
    style.share_legend(figure, panels[0, 0], len(names))
    return figure


def can_draw_surfaces(cases: pd.DataFrame) -> bool:
    """True if the cases fill a rectangle of thicknesses and masses, and differ in nothing else."""
    levels = cases[["thickness_mm", "body_mass_kg"]].drop_duplicates()
    counts = levels.nunique()
    return bool(counts.min() > 1 and len(levels) == counts.prod() == cases["case"].nunique())


def can_draw_curves(cases: pd.DataFrame, min_levels: int = 3) -> bool:
    """True if a curve over one variable or a surface over both has points between its ends.

    Between two levels each of thickness and mass, every model is as good as a straight line.
    """
    levels = cases[["thickness_mm", "body_mass_kg"]].nunique()
    return can_draw_surfaces(cases) and bool((levels >= min_levels).any())


@style.styled
def draw_design(design: pd.DataFrame, leading: LeadingDepth = DAMAGE) -> Figure:
    """Largest depth over thickness and mass (`deepest_places`), with the limit of validity.

    Cases outside validity are hatched, and a line follows the limit between cases.
    """
    grid = design.pivot(index="body_mass_kg", columns="thickness_mm")
    depth, beyond = grid["depth"], grid["outside"].to_numpy(dtype=bool)
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
    figure.colorbar(image, ax=axes, label=f"deepest {leading.name} (mm)")
    return figure


@style.styled
def draw_depth_surfaces(
    cases: pd.DataFrame, regression: pd.DataFrame, leading: LeadingDepth = DAMAGE
) -> Figure:
    """Largest depth over thickness and mass with its regression plane (Bei 2003, Fig. 4-4)."""
    figure = Figure(figsize=(style.WIDTH, 3.8))
    chosen = rows_with(cases, quantity=leading.quantity)
    top = float(chosen["value"].max())
    planes = rows_with(regression, quantity=leading.quantity)
    sides = style.side_colours(chosen)
    for number, (side, colour) in enumerate(sides.items()):
        axes = figure.add_subplot(1, len(sides), number + 1, projection="3d")
        table = rows_with(chosen, side=side).pivot(
            index="body_mass_kg", columns="thickness_mm", values="value"
        )
        thickness, mass = np.meshgrid(table.columns.to_numpy(), table.index.to_numpy())
        axes.plot_surface(
            thickness,
            mass,
            table.to_numpy(),
            cmap="viridis",
            vmin=0.0,
            vmax=top,
            alpha=0.85,
            edgecolor=style.INK,
            linewidth=0.4,
        )
        for _, row in rows_with(planes, side=side).iterrows():
            values = row["a0"] + row["a1_per_mm"] * thickness + row["a2_per_kg"] * mass
            axes.plot_wireframe(thickness, mass, values, color=colour, lw=1.0, ls="--")
        axes.set(
            xlabel="nominal insert thickness (mm)", ylabel="body mass (kg)", zlim=(0.0, 1.05 * top)
        )
        axes.set_zlabel(f"{leading.name} depth (mm)")
        axes.view_init(elev=22, azim=-128)
        axes.set_box_aspect(None, zoom=0.98)
        axes.set_title(f"{'AB'[number]}  {side}", loc="left")
    figure.subplots_adjust(left=0.02, right=0.96, bottom=0.06, top=0.94, wspace=0.08)
    return figure
