"""Figures of wear by choice of the model and by the number of blocks."""

from __future__ import annotations

from itertools import cycle

import pandas as pd
from matplotlib.figure import Figure

from kneewear.base.sides import BOTH
from kneewear.report import style
from kneewear.report.tables import rows_with, words
from kneewear.report.wear_tables import (
    BLOCK_QUANTITIES,
    blocks,
    centre,
    choices,
    variant_name,
)
from kneewear.wear.leading import DAMAGE, LeadingDepth
from kneewear.wear.spread import CONFIGURED, CONTACT, FACTOR, LAW, SURFACE

DAMAGE_COLOURS = {"wear": style.BLUE, "creep": style.AMBER, "damage": style.INK}
CHOICE_COLOURS = {
    CONFIGURED: style.INK,
    SURFACE: style.BLUE,
    LAW: style.AMBER,
    FACTOR: style.GREEN,
    CONTACT: style.RED,
}
INTERVAL = "uncertain constants"
MEASURES = ("Depth (mm)", "Area (mm\u00b2)", "Volume (mm\u00b3)")


@style.styled
def draw_spread(
    table: pd.DataFrame,
    intervals: pd.DataFrame | None = None,
    leading: LeadingDepth = DAMAGE,
) -> Figure:
    """Total wear and largest depth of the centre case by choice of the model, of one life.

    `intervals` are those of its uncertain constants, if they were sampled.
    """
    rows = choices(table)
    figure, panels = style.new_figure(0.28 * (len(rows) + 1) + 1.0, columns=2, sharey=True)
    names = list(map(variant_name, rows["choice"], rows["variant"]))
    colours = [CHOICE_COLOURS[choice] for choice in rows["choice"]]
    for axes, column, label in zip(
        panels.flat,
        ("wear_volume", leading.quantity),
        ("wear of both sides (mm\u00b3)", f"deepest {leading.name} (mm)"),
        strict=True,
    ):
        bars = axes.barh(names, rows[column], color=colours)
        axes.bar_label(bars, fmt="%.3g", fontsize=style.SMALL, padding=2)
        axes.axvline(rows[column].iloc[0], color=style.INK, lw=0.8, ls="--")
        top = rows[column].max()
        if intervals is not None:
            whole = rows_with(intervals, side=BOTH, quantity=column).iloc[0]
            low, top = whole["lower"], max(top, whole["upper"])
            bar = axes.barh(INTERVAL, whole["upper"] - low, left=low, color=style.PURPLE)
            axes.bar_label(
                bar, [f"{low:.3g} to {whole['upper']:.3g}"], fontsize=style.SMALL, padding=2
            )
        axes.set(xlabel=label, xlim=(0.0, 1.3 * top))
        axes.grid(axis="y", visible=False)
    panels[0, 0].invert_yaxis()
    return figure


@style.styled
def draw_blocks(cases: pd.DataFrame) -> Figure:
    """Depth, area and volume of wear, creep and damage over the number of blocks."""
    table = blocks(cases)
    chosen = rows_with(table, case=table["case"].iloc[0], life=table["life"].iloc[0])
    levels = [name for name in map(str, table) if name.isdigit()]
    figure, panels = style.new_figure(3.0, columns=3)
    for number, (axes, label) in enumerate(zip(panels.flat, MEASURES, strict=True)):
        names = BLOCK_QUANTITIES[3 * number : 3 * number + 3]
        for quantity, (part, colour) in zip(names, DAMAGE_COLOURS.items(), strict=True):
            for side, line in zip(style.side_colours(chosen), ("-", "--"), strict=False):
                row = rows_with(chosen, side=side, quantity=quantity)[levels]
                axes.plot(
                    list(map(int, levels)),
                    row.to_numpy()[0],
                    line,
                    marker="o",
                    ms=3,
                    color=colour,
                    label=f"{part}, {side}",
                )
        axes.set(xscale="log", xlabel="blocks", ylabel=label, ylim=(0.0, None))
        axes.set_xticks(list(map(int, levels)), levels)
        axes.minorticks_off()
    style.share_legend(figure, panels[0, 0], 3)
    return figure


@style.styled
def draw_wear_over_cycles(curves: pd.DataFrame, tests: pd.DataFrame | None) -> Figure:
    """Material lost over the cycles: range of all cases and the centre one, and measured points."""
    figure, ((axes,),) = style.new_figure(3.6, width=6.0)
    colours = (style.BLUE, style.AMBER, style.GREEN, style.PURPLE)
    for colour, (life, own) in zip(cycle(colours), curves.groupby("life", sort=False)):
        whole = own.groupby("million_cycles")["wear_mm3"].agg(["min", "max"])
        if own["case"].nunique() > 1:
            axes.fill_between(
                whole.index,
                whole["min"],
                whole["max"],
                color=colour,
                alpha=0.2,
                lw=0.0,
                label=f"{words(str(life))}: all cases",
            )
        middle = centre(own)
        case = "{thickness_mm:g} mm, {body_mass_kg:g} kg".format(**middle.iloc[0])
        axes.plot(
            middle["million_cycles"],
            middle["wear_mm3"],
            color=colour,
            label=f"{words(str(life))}: {case}",
        )
    if tests is not None:
        points = tests.drop_duplicates(["test", "million_cycles"]).groupby("test", sort=False)
        for marker, (name, test) in zip(cycle("osD^v"), points):
            error = test["error_mm3"] if test["error_mm3"].notna().any() else None
            axes.errorbar(
                test["million_cycles"],
                test["wear_mm3"],
                error,
                fmt=marker,
                ms=4,
                capsize=2,
                color=style.INK,
                label=f"measured: {name}",
            )
    last = curves.iloc[-1]
    mg_per_mm3 = float(last["wear_mg"] / last["wear_mm3"]) if last["wear_mm3"] else 1.0
    mass = axes.secondary_yaxis(
        "right", functions=(lambda v: v * mg_per_mm3, lambda m: m / mg_per_mm3)
    )
    mass.set_ylabel("Mass lost (mg)")
    axes.set(xlabel="Million cycles", ylabel="Volume lost (mm\u00b3)", xlim=(0.0, None))
    axes.legend()
    return figure
