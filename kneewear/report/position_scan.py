"""What a static study owes to the held anterior-posterior position."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.report.static_facts import position_scan
from kneewear.report.style import SIDE_COLOURS, WIDTH, styled
from kneewear.report.tables import quantity_name
from kneewear.sides import SIDES


@styled
def draw_position_scan(static: pd.DataFrame) -> Figure:
    """Pressures, and where the sides touch, over the position of the femur.

    Parameters
    ----------
    static : DataFrame
        Tidy table of the study; its first material, first flexion and largest load are drawn.
    """
    curves = position_scan(static)
    figure = Figure(figsize=(WIDTH, 2.8), layout="constrained")
    panels = figure.subplots(1, 3)
    for axes, quantity in zip(panels, ("max_pressure", "avg_pressure"), strict=False):
        _draw_sides(axes, curves, quantity)
        axes.set_ylim(bottom=0.0)
        axes.set_ylabel(f"{quantity_name(quantity)} (MPa)")
    _draw_sides(panels[2], curves, "centre_posterior")
    # Anterior on top, as in the maps.
    panels[2].invert_yaxis()
    panels[2].set_ylabel("Centre of pressure (mm posterior)")
    panels[0].legend()
    return figure


def _draw_sides(axes: Axes, curves: pd.DataFrame, quantity: str) -> None:
    for side in SIDES:
        curve = curves[quantity, side]
        axes.plot(curve.index, curve, "o-", ms=4, color=SIDE_COLOURS[side], label=side)
    axes.set_xlabel("femur held at (mm posterior)")
