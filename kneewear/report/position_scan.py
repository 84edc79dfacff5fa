"""What a static study owes to the held anterior-posterior position."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneewear.report.names import quantity_name
from kneewear.report.style import SIDE_COLOURS, WIDTH, styled
from kneewear.sides import SIDES

QUANTITIES = ("max_pressure", "avg_pressure", "centre_posterior")


def scans_positions(static: pd.DataFrame) -> bool:
    """Tell whether several held positions were solved.

    Parameters
    ----------
    static : DataFrame
        Tidy table of the study.

    Returns
    -------
    bool
    """
    return bool(static["posterior_mm"].nunique() > 1)


@styled
def draw_position_scan(static: pd.DataFrame) -> Figure:
    """Pressures, and where the sides touch, over the position of the femur.

    Parameters
    ----------
    static : DataFrame
        Tidy table of the study; its first material, first flexion and largest load are drawn.
    """
    curves = _scan(static)
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


def scan_sentences(static: pd.DataFrame) -> Iterable[str]:
    """What the scan shows.

    Parameters
    ----------
    static : DataFrame
        Tidy table of the study.

    Yields
    ------
    str
        Where the largest pressure is least, and which side touches farther in front.
    """
    curves = _scan(static)
    peaks = curves["max_pressure"].T.max()
    best = peaks.idxmin()
    yield (
        f"The largest pressure depends on the held position: {peaks.max():.1f} MPa at "
        f"{peaks.idxmax():+g} mm, least with {peaks[best]:.1f} MPa at {best:+g} mm."
    )
    ahead = curves["centre_posterior", "lateral"] - curves["centre_posterior", "medial"]
    if ahead.min() > 0.0:
        yield (
            f"Medial contact lies more anterior than lateral at every held position, by "
            f"{ahead.min():.1f} to {ahead.max():.1f} mm."
        )
    else:
        yield (
            f"Medial contact lies {ahead.min():+.1f} to {ahead.max():+.1f} mm more anterior than "
            f"lateral; it does so at {(ahead > 0.0).sum()} of {len(ahead)} held positions."
        )


def _scan(static: pd.DataFrame) -> pd.DataFrame:
    """Position by quantity and side, for the first material and flexion and the largest load."""
    chosen = static[
        (static["material"] == static["material"].iloc[0])
        & (static["flexion_deg"] == static["flexion_deg"].iloc[0])
        & (static["load_n"] == static["load_n"].max())
        & static["side"].isin(SIDES)
    ]
    wide = chosen.pivot_table(index="posterior_mm", columns=["quantity", "side"], values="value")
    # A side that never touches has no centre of pressure.
    return wide.reindex(columns=pd.MultiIndex.from_product([QUANTITIES, SIDES]))


def _draw_sides(axes: Axes, curves: pd.DataFrame, quantity: str) -> None:
    for side in SIDES:
        curve = curves[quantity, side]
        axes.plot(curve.index, curve, "o-", ms=4, color=SIDE_COLOURS[side], label=side)
    axes.set_xlabel("femur held at (mm posterior)")
