"""Figure of the value of further wear tests."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.tables import words

COLOURS = {"interval_factor": style.BLUE, "laws_factor": style.AMBER}
TICKS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
LABELS = {
    "interval_factor": "wear in another laboratory",
    "laws_factor": "mean of all laboratories",
}


@figure("test_values", of="cases")
def draw_values(test_values: pd.DataFrame) -> Figure | None:
    """Expected intervals after further tests; None without any."""
    return draw_test_values(test_values) if len(test_values) else None


@style.styled
def draw_test_values(table: pd.DataFrame) -> Figure:
    """Upper over lower end of the interval after every test; lines are those before."""
    figure, ((axes,),) = style.new_figure(0.4 * len(table) + 1.4)
    at = np.arange(len(table))[::-1]
    for number, (name, colour) in enumerate(COLOURS.items()):
        axes.barh(at + 0.2 - 0.4 * number, table[name], 0.38, color=colour, label=LABELS[name])
        axes.axvline(table[f"{name}_before"].iloc[0], color=colour, lw=1.0, ls="--")
    axes.set_yticks(at, list(map(words, table["test"])))
    axes.set(
        xscale="log",
        xlim=(1.0, None),
        xlabel="upper over lower end of the 90 % interval (dashed: today)",
    )
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.minorticks_off()
    style.share_legend(figure, axes, 2, below=True)
    return figure
