"""Where the distance tables err."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.distance_table_errors import map_errors
from kneewear.geometry.implant import Implant
from kneewear.report.style import DEPTH_COLOURS, INK, WIDTH, styled
from kneewear.sides import SIDES

# Errors below these are shown as if they were these: um, deg.
LEAST = (1e-5, 1e-5)


@styled
def draw_distance_errors(implant: Implant, tables: Mapping[str, DistanceTable]) -> Figure:
    """Map the errors of the distance tables over the unrolled condyles.

    Parameters
    ----------
    implant : Implant
        Its condyles are what the tables stand for.
    tables : mapping of side to DistanceTable
        The tables.

    Returns
    -------
    Figure
        A row a side: distance error and normal error, largest over the band at each place; an X
        at the worst place. Grey is not tabulated.
    """
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    panels = figure.subplots(2, 2, squeeze=False)
    maps = {side: map_errors(implant.femoral[side], tables[side]) for side in SIDES}
    kinds = (("distance_error", 1e3, "µm"), ("normal_error", np.degrees(1.0), "deg"))
    for column, (name, scale, unit) in enumerate(kinds):
        values = {side: scale * getattr(maps[side], name) for side in SIDES}
        top = max(float(np.nanmax(value)) for value in values.values())
        least = max(LEAST[column], 1e-4 * top)
        norm = LogNorm(least, top)
        for row, side in enumerate(SIDES):
            axes, drawn = panels[row][column], maps[side]
            shown = np.maximum(values[side], least)
            mesh = axes.pcolormesh(
                drawn.across, np.degrees(drawn.angle), shown, norm=norm, cmap=DEPTH_COLOURS,
                shading="gouraud" if np.isfinite(shown).all() else "nearest", rasterized=True,
            )  # fmt: skip
            worst = np.unravel_index(np.nanargmax(values[side]), shown.shape)
            axes.plot(drawn.across[worst], np.degrees(drawn.angle[worst]), "x", color=INK)
            axes.set_facecolor("#d9d9d9")
            axes.grid(False)
            axes.set_xlabel("z, medial (mm)")
            axes.set_ylabel("angle about the axis (deg)")
            axes.set_title(f"{side.capitalize()}: worst {np.nanmax(values[side]):.2g} {unit}")
            if row == 0:
                label = f"{name.replace('_', ' ')} ({unit})"
                figure.colorbar(mesh, ax=panels[:, column], label=label)
    return figure
