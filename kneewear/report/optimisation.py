"""Figures of optimisations: the front, what its designs are, and the progress of the search."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.base.variables import Variable
from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.tables import quantity_name, unit_name, words
from kneewear.study.plan_settings import BASELINE, BEST, KNEE_POINT, Search, quantity_unit
from kneewear.study.study import Study

# Markers and colours of the chosen designs; extremes take the first two in turn.
EXTREMES = (("<", style.AMBER), ("v", style.PURPLE), ("s", style.SKY), ("D", style.INK))
OTHERS = {BASELINE: ("X", style.INK), KNEE_POINT: ("o", style.RED), BEST: ("o", style.RED)}
# Of a front, as distances beyond its ends that are shown in parts of its extent.
BEYOND = 0.6


@figure("optimisation", of="cases")
def draw_search(
    study: Study,
    search_progress: pd.DataFrame,
    designs: pd.DataFrame | None = None,
    front: pd.DataFrame | None = None,
    chosen_designs: pd.DataFrame | None = None,
) -> dict[str, Figure]:
    """Figures of a search, of its front and of the designs chosen from it."""
    if study.analyses.front is None or not isinstance(study.cases, Search):
        return {}
    tables = {
        "search_progress": search_progress,
        "designs": designs,
        "front": front,
        "chosen_designs": chosen_designs,
    }
    given = {name: table for name, table in tables.items() if table is not None}
    return draw_optimisation(study.cases, study.variables, given)


def draw_optimisation(
    plan: Search, variables: Mapping[str, Variable], tables: Mapping[str, pd.DataFrame]
) -> dict[str, Figure]:
    """Figures of an optimisation from its tables by name."""
    figures = {"search_progress": draw_progress(plan, tables["search_progress"])}
    if len(plan.objectives) > 1:
        designs, front, chosen = (tables[name] for name in ("designs", "front", "chosen_designs"))
        figures["pareto_front"] = draw_front(plan, designs, front, chosen)
        figures["front_designs"] = draw_variables(plan, variables, front, chosen)
    return figures


def label(quantity: str) -> str:
    """Name and unit of a result."""
    return f"{quantity_name(quantity)} ({unit_name(quantity_unit(quantity))})"


@style.styled
def draw_front(
    plan: Search,
    designs: pd.DataFrame,
    front: pd.DataFrame,
    chosen: pd.DataFrame,
) -> Figure:
    """All designs of the search and the front in full, for each pair of objectives."""
    pairs = list(combinations(plan.objectives, 2))
    figure, panels = style.panels_in_rows(len(pairs), 2, 4.6)
    best = front[~front["dominated"]]
    known = designs[designs["failure"].isna() | (designs["failure"] == "")]
    for axes, (across, up) in zip(panels, pairs, strict=True):
        for feasible, colour, text in (
            (True, "#b9c3cc", "search"),
            (False, "#e8c9b5", "search, against a constraint"),
        ):
            part = known[known["feasible"] == feasible]
            if len(part):
                axes.plot(part[across], part[up], ".", ms=3, color=colour, label=text, zorder=1)
        ordered = best.sort_values(across)
        axes.plot(
            ordered[across],
            ordered[up],
            "o" if len(pairs) > 1 else "o-",
            ms=3.5,
            lw=1.0,
            color=style.BLUE,
            label="front, in full",
            zorder=2,
        )
        _draw_chosen(axes, chosen, across, up)
        axes.set(xlabel=label(across), ylabel=label(up))
        _frame(axes, pd.concat([best, chosen]), across, up)
    style.share_legend(figure, panels[0], 4, below=True)
    return figure


def _frame(axes: Axes, shown: pd.DataFrame, across: str, up: str) -> None:
    """Limits around the front and the chosen designs: much worse designs are cut off."""
    for name, set_limits in ((across, axes.set_xlim), (up, axes.set_ylim)):
        low, high = float(shown[name].min()), float(shown[name].max())
        extent = (high - low) or abs(high) or 1.0
        set_limits(low - 0.15 * extent, high + BEYOND * extent)


def _draw_chosen(axes: Axes, chosen: pd.DataFrame, across: str, up: str) -> None:
    """Markers of the chosen designs."""
    extremes = iter(EXTREMES * len(chosen))
    for row in chosen.to_dict("records"):
        name = str(row["chosen"])
        marker, colour = OTHERS[name] if name in OTHERS else next(extremes)
        axes.plot(
            row[across],
            row[up],
            marker,
            ms=8,
            mfc=colour,
            mec="white",
            mew=0.8,
            ls="none",
            label=words(name),
            zorder=3,
        )


@style.styled
def draw_variables(
    plan: Search,
    variables: Mapping[str, Variable],
    front: pd.DataFrame,
    chosen: pd.DataFrame,
) -> Figure:
    """Each variable of the front's designs over the first objective, between its bounds."""
    figure, panels = style.panels_in_rows(len(variables), 3, 2.9)
    best = front[~front["dominated"]]
    first = next(iter(plan.objectives))
    for axes, (name, variable) in zip(panels, variables.items(), strict=True):
        axes.plot(best[first], best[name], "o", ms=3.5, color=style.BLUE, label="front")
        _draw_chosen(axes, chosen, first, name)
        for bound in variable.bounds:
            axes.axhline(bound, color=style.INK, lw=0.8, ls=":")
        unit = f" ({variable.unit})" if variable.unit else ""
        axes.set(title=quantity_name(name), xlabel=label(first), ylabel=f"{words(name)}{unit}")
    style.share_legend(figure, panels[0], 5, below=True)
    return figure


@style.styled
def draw_progress(plan: Search, progress: pd.DataFrame) -> Figure:
    """Best value of each objective so far, and the hypervolume, over the generations."""
    figure, panels = style.panels_in_rows(len(plan.objectives) + 1, 3, 2.7)
    for axes, name in zip(panels, plan.objectives, strict=False):
        axes.plot(progress["generation"], progress[f"best_{name}"], color=style.BLUE)
        axes.set(title=f"Best {quantity_name(name).lower()}", ylabel=label(name))
    axes = panels[-1]
    axes.plot(progress["generation"], progress["hypervolume"], color=style.BLUE)
    axes.set(title="Hypervolume", ylabel="part of the last one")
    for axes in panels:
        axes.set_xlabel("generation")
    return figure
