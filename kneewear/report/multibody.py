"""Figures of a multibody study: every panel of its curves."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from kneewear.report import style

COLOURS = (style.BLUE, style.RED, style.GREEN, style.PURPLE, style.AMBER, style.SKY)
LINES = ("-", "--", ":", "-.")
# A reference is grey, behind what is computed.
REFERENCE = "reference"


def draw_multibody_figures(kinematics: pd.DataFrame, forces: pd.DataFrame) -> dict[str, Figure]:
    """Draw motion and forces, one panel for each name in the column `panel`."""
    return {
        "multibody_kinematics": draw_curves(kinematics, 3),
        "multibody_forces": draw_curves(forces, 1),
    }


@style.styled
def draw_curves(table: pd.DataFrame, columns: int) -> Figure:
    """Panels of curves over flexion or time, all with their unit."""
    names = list(dict.fromkeys(table["panel"]))
    named: list[str] = []
    figure, panels = style.panels_in_rows(len(names), columns, 2.2 if columns > 1 else 2.8)
    for axes, name in zip(panels, names, strict=True):
        rows = table[table["panel"] == name]
        for number, (series, curve) in enumerate(rows.groupby("series", sort=False)):
            is_reference = series == REFERENCE
            axes.plot(
                curve["at"],
                curve["value"],
                color="#9a9d9f" if is_reference else COLOURS[number % len(COLOURS)],
                ls="-" if is_reference else LINES[number // len(COLOURS) % len(LINES)],
                lw=2.5 if is_reference else 1.5,
                zorder=1 if is_reference else 2,
                label=series,
            )
        axes.set(title=name, ylabel=rows["unit"].iloc[0], xlabel=rows["over"].iloc[0])
        if columns == 1 or named != list(rows["series"].unique()):
            named = list(rows["series"].unique())
            axes.legend(ncols=1 if columns > 1 else 4, fontsize="small")
    return figure
