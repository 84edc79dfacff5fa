"""Figure of predicted over measured wear of tests of bearings."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kneewear.evidence.measured_wear.tables import CALIBRATED, LIMIT, WEAR
from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.tables import words

# Ratios beyond these are drawn at the end.
_ENDS = 0.003, 30.0
COLOURS = (
    style.BLUE,
    style.SKY,
    style.GREEN,
    style.RED,
    style.AMBER,
    style.PURPLE,
    style.INK,
)
MARKERS = "os^Dv<>P"


@figure("wear_over_measured", of="cases")
def draw_tests(measured_wear: pd.DataFrame) -> Figure:
    """Predicted over measured wear of the tests of a study."""
    return draw_measured_wear(measured_wear)


@style.styled
def draw_measured_wear(table: pd.DataFrame) -> Figure:
    """Ratio of predicted and measured wear of each test by each law, with the limit of a verdict.

    Hollow symbols are of rows that calibrated a constant of the law.
    """
    shown = table[table["quantity"].isin(WEAR)]
    names = list(dict.fromkeys(shown["measurement"]))
    figure, ((axes,),) = style.new_figure(0.42 * len(names) + 1.6)
    heights = {name: float(len(names) - number) for number, name in enumerate(names)}
    for name, rows in shown.groupby("measurement", sort=False):
        first = rows.iloc[0]
        spread = np.hypot(
            np.log1p(0.01 * first["measured_percent"]), np.log1p(0.01 * first["inputs_percent"])
        )
        ends = np.exp(LIMIT * spread * np.array([-1.0, 1.0]))
        axes.fill_betweenx(
            heights[str(name)] + np.array([-0.4, 0.4]), *np.clip(ends, *_ENDS), color="0.9", lw=0
        )
    laws = list(dict.fromkeys(shown["law"]))
    for number, law in enumerate(laws):
        rows = shown[shown["law"] == law]
        at = np.array([heights[name] for name in rows["measurement"]])
        at = at + 0.6 * (0.5 - (number + 0.5) / len(laws))
        ratio = np.clip(rows["predicted_over_measured"].to_numpy(), *_ENDS)
        hollow = (rows["verdict"] == CALIBRATED).to_numpy()
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        axes.plot(ratio[~hollow], at[~hollow], marker, color=colour, ms=5, label=words(law))
        axes.plot(ratio[hollow], at[hollow], marker, color=colour, ms=5, mfc="white")
    axes.axvline(1.0, color=style.INK, lw=0.8)
    axes.set(xscale="log", xlim=(0.8 * _ENDS[0], 1.25 * _ENDS[1]), ylim=(0.4, len(names) + 0.6))
    axes.set_yticks(list(heights.values()), list(heights))
    axes.set_xlabel("predicted over measured wear")
    style.share_legend(figure, axes, 4, below=True)
    return figure
