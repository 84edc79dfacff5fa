"""Figures of a measured insert: maps of depth, standard deviations, profiles, and a prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.base.sides import SIDES
from kneewear.models.retrieval.evaluate import Evaluation
from kneewear.models.retrieval.prediction import Prediction
from kneewear.models.retrieval.surfaces import Raster
from kneewear.models.retrieval.underside import Face
from kneewear.report import style
from kneewear.report.declared import figure
from kneewear.report.tables import rows_with

Array = NDArray[np.float64]


def _draw_map(
    axes: Axes, face: Face, raster: Raster, values: Array, colours: str, limits: Array
) -> QuadMesh:
    """Values of blocks in the plan, mm, with the border of the scar."""
    blocks = face.blocks
    x = raster.x[0] + blocks.size * (np.arange(blocks.row.max() + 2))
    z = raster.z[0] + blocks.size * (np.arange(blocks.column.max() + 2))
    image = axes.pcolormesh(
        z, x, blocks.image(values), cmap=colours, vmin=limits[0], vmax=limits[1], rasterized=True
    )
    worn = blocks.masked(face.scar.worn).astype(float)
    if worn.any():
        middles = 0.5 * (z[1:] + z[:-1]), 0.5 * (x[1:] + x[:-1])
        axes.contour(*middles, worn, levels=[0.5], colors=[style.INK], linewidths=0.8)
    style.show_plan(axes)
    return image


@figure(
    "retrieval_depth",
    of="retrieval",
    title="Depth removed",
    caption="Depth below the unworn surface along the normal, wear and creep together, and its "
    "standard deviation. The line encloses what was taken as worn, with its margin.",
    alternative="Plan of both plateaus, coloured by depth and by its standard deviation.",
)
@style.styled
def draw_depth(evaluation: Evaluation) -> Figure:
    """Depth of each block and its standard deviation."""
    return _depth_and_sd(evaluation.face, evaluation.raster)


@figure(
    "retrieval_underside",
    of="retrieval",
    title="Depth removed from the underside",
    caption="Depth removed from the underside against the reference, without a change of thickness "
    "that is the same everywhere, and its standard deviation, seen from above.",
    alternative="Plan of the underside, coloured by depth and by its standard deviation.",
)
@style.styled
def draw_underside(evaluation: Evaluation, face_below: Face) -> Figure:
    """Depth of each block of the underside and its standard deviation."""
    return _depth_and_sd(face_below, evaluation.raster)


def _depth_and_sd(face: Face, raster: Raster) -> Figure:
    """Depth of each block of a face and its standard deviation."""
    drawing, panels = style.new_figure(3.4, columns=2)
    depth, sd = 1e3 * face.scar.depth, 1e3 * face.scar.depth_sd
    for axes, values, label in zip(
        panels.flat, (depth, sd), ("depth (µm)", "standard deviation (µm)"), strict=True
    ):
        # The same everywhere is in the middle of the scale.
        top = max(float(np.nanquantile(values, 0.999)), 2.0 * float(np.nanmedian(values)), 1.0)
        image = _draw_map(axes, face, raster, values, style.DEPTH_COLOURS, np.array([0.0, top]))
        drawing.colorbar(image, ax=axes, label=label, orientation="horizontal", shrink=0.8)
    return drawing


@figure(
    "retrieval_sources",
    of="retrieval",
    title="Sources of the standard deviation",
    caption="Standard deviation of the volume of each plateau and of both, by source.",
    alternative="Bars of standard deviations by source.",
)
@style.styled
def draw_sources(sources: pd.DataFrame) -> Figure:
    """Bars of the standard deviation of the volume by source."""
    drawing, ((axes,),) = style.new_figure(2.6)
    names = list(dict.fromkeys(sources["source"]))
    colours = [*style.SIDE_COLOURS.values(), style.INK]
    groups = {}
    for side, colour in zip(dict.fromkeys(sources["side"]), colours, strict=True):
        own = rows_with(sources, side=side)
        groups[side] = (own["sd_mm3"].to_numpy(), colour)
    style.draw_bars(axes, names, groups)
    axes.set(ylabel="standard deviation (mm³)")
    axes.legend()
    return drawing


@figure(
    "retrieval_profiles",
    of="retrieval",
    title="Profiles through the deepest place",
    caption="Depth along anterior-posterior and medial-lateral lines through the deepest place of "
    "each plateau, with intervals of 90 %; dashed is the prediction.",
    alternative="Curves of depth over position.",
)
@style.styled
def draw_profiles(profiles: pd.DataFrame) -> Figure:
    """Depth along lines through the deepest block of each side."""
    directions: Sequence[str] = ("anterior-posterior", "medial-lateral")
    drawing, panels = style.new_figure(2.8, columns=2)
    for axes, direction in zip(panels.flat, directions, strict=True):
        for side in SIDES:
            own = rows_with(profiles, side=side, direction=direction)
            if own.empty:
                continue
            colour, x = style.SIDE_COLOURS[side], own["position_mm"]
            depth, sd = 1e3 * own["depth_mm"], 1e3 * own["sd_mm"]
            axes.plot(x, depth, color=colour, label=side)
            axes.fill_between(
                x, depth - 1.645 * sd, depth + 1.645 * sd, color=colour, alpha=0.2, lw=0
            )
            if "predicted_mm" in own:
                axes.plot(x, 1e3 * own["predicted_mm"], color=colour, ls="--")
        letter = "x, posterior" if direction == directions[0] else "z, medial"
        axes.set(xlabel=f"{letter} (mm)", ylabel="depth (µm)", title=direction)
    panels.flat[0].legend()
    return drawing


@figure(
    "retrieval_prediction",
    of="retrieval",
    title="Measured and predicted depth",
    caption="Measured depth, predicted sum of wear and creep on the same scale, and prediction "
    "minus measurement.",
    alternative="Three plans of both plateaus: measured, predicted, difference.",
)
@style.styled
def draw_prediction(evaluation: Evaluation, prediction: Prediction) -> Figure:
    """Maps of measurement, prediction and their difference."""
    drawing, panels = style.new_figure(3.2, columns=3)
    measured, predicted = 1e3 * evaluation.scar.depth, 1e3 * prediction.depths["sum"]
    top = max(float(np.nanquantile(measured, 0.999)), float(predicted.max()), 1.0)
    difference = predicted - measured
    most = max(float(np.nanquantile(np.abs(difference), 0.999)), 1.0)
    for axes, values, colours, limits, title in (
        (panels[0, 0], measured, style.DEPTH_COLOURS, (0.0, top), "measured"),
        (panels[0, 1], predicted, style.DEPTH_COLOURS, (0.0, top), "predicted"),
        (panels[0, 2], difference, style.ERROR_COLOURS, (-most, most), "predicted - measured"),
    ):
        image = _draw_map(
            axes, evaluation.face, evaluation.raster, values, colours, np.array(limits)
        )
        axes.set_title(title)
        drawing.colorbar(image, ax=axes, label="µm", orientation="horizontal", shrink=0.9)
    return drawing
