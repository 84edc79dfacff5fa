"""Panels of curves over flexion or time, from a tidy table."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kneewear.report import style
from kneewear.report.tables import words

LINES = ("-", "--", ":", "-.")
# Characters of tick labels, with a gap of two each, that have room over the whole width.
TICK_CHARACTERS = 100
DIMENSIONLESS = "1"
# A reference is grey, behind what is computed.
REFERENCE = "reference"


@style.styled
def draw_curves(table: pd.DataFrame, columns: int) -> Figure:
    """Panels of curves over flexion or time, all with their unit."""
    names = list(dict.fromkeys(table["panel"]))
    named: list[str] = []
    of_panels = {tuple(rows["series"].unique()) for _, rows in table.groupby("panel")}
    # Over the curves of small panels there is no room for a legend; one that all share is below.
    shared = columns > 1 and len(of_panels) == 1 and len(*of_panels) > 1
    figure, panels = style.panels_in_rows(len(names), columns, 2.2 if columns > 1 else 2.8)
    for axes, name in zip(panels, names, strict=True):
        rows = table[table["panel"] == name]
        number = -1  # of the computed curves, which have the same colours beside a reference
        for series, curve in rows.groupby("series", sort=False):
            is_reference = series == REFERENCE
            number += not is_reference
            axes.plot(
                curve["at"],
                curve["value"],
                color="#9a9d9f" if is_reference else style.SERIES[number % len(style.SERIES)],
                ls="-" if is_reference else LINES[number // len(style.SERIES) % len(LINES)],
                lw=2.5 if is_reference else 1.5,
                zorder=1 if is_reference else 2,
                label=words(str(series)),
            )
        unit = rows["unit"].iloc[0]
        label = "ratio" if unit == DIMENSIONLESS else unit
        axes.set(title=name, ylabel=label, xlabel=rows["over"].iloc[0])
        _fit_ticks(axes, TICK_CHARACTERS // columns)
        if columns == 1 or named != list(rows["series"].unique()):
            named = list(rows["series"].unique())
            if columns == 1:  # the legend is above the curves
                low, high = axes.get_ylim()
                axes.set_ylim(low, high + 0.13 * -(-len(named) // 4) * (high - low))
            if not shared:
                axes.legend(ncols=1 if columns > 1 else 4, fontsize=style.SMALL)
    if shared:
        style.share_legend(figure, panels[0], 6, below=True)
    return figure


def _fit_ticks(axes: Axes, characters: int) -> None:
    """Fewer ticks where the labels of a narrow panel would run into each other."""
    low, high = axes.get_xlim()
    for count in (5, 4, 3, 2):
        places = axes.xaxis.get_major_locator().tick_values(low, high)
        shown = [place for place in places if low <= place <= high]
        labels = axes.xaxis.get_major_formatter().format_ticks(shown)
        if sum(len(label) + 2 for label in labels) <= characters:
            return
        axes.xaxis.set_major_locator(MaxNLocator(count))
