"""Figures of both faces of an insert."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.report import style
from kneewear.report.analyses import draw_analyses
from kneewear.report.study_tables import case_labels
from kneewear.study.study import Study

# Cases that figures show.
MAX_CASES_SHOWN = 6
COLOURS = (style.BLUE, style.SKY, style.GREEN, style.AMBER, style.RED, style.PURPLE)

_GLIDES = ("insert_posterior", "insert_medial")


def draw_cases(
    study: Study,
    tables: Mapping[str, pd.DataFrame],
    kept: xr.Dataset,
    grid: ElementGrid | None,
    implants: Mapping[str, Implant],
) -> dict[str, Figure]:
    """Figures of both faces of the first cases, and of the analyses."""
    units = {name: one.unit for name, one in study.variables.items()}
    labels = case_labels(tables["results"], units)
    return draw_faces(kept, labels) | draw_analyses(study, tables, None, None)


def draw_faces(kept: xr.Dataset, labels: Mapping[str, str]) -> dict[str, Figure]:
    """Figures `insert_rotation` and `lower_face` of the first cases; none without one.

    `labels` are the names of cases in words.
    """
    if "case" not in kept.dims:
        return {}
    shown = kept.isel(case=slice(MAX_CASES_SHOWN))
    return {
        "insert_rotation": draw_rotation(shown, labels),
        "lower_face": draw_backside(shown, labels),
    }


@style.styled
def draw_rotation(kept: xr.Dataset, labels: Mapping[str, str]) -> Figure:
    """Motion of femoral component and insert on the tray, and the moment between them."""
    glides = any(np.ptp(kept[name].values) > 0.0 for name in _GLIDES)
    figure, panels = style.new_figure(3.4, columns=3 if glides else 2)
    turned, moment, *gliding = panels.flat
    first = kept.isel(case=0)
    percent = first["percent"].values
    style.draw_cycle(
        turned, percent, first["femoral_rotation"].values, style.INK, "femoral component"
    )
    for colour, name in zip(COLOURS, kept["case"].values.tolist(), strict=False):
        own = kept.sel(case=name)
        label = ", ".join(filter(None, ("insert", labels[name])))
        style.draw_cycle(turned, percent, own["insert_rotation"].values, colour, label)
        style.draw_cycle(moment, percent, own["axial_moment"].values, colour)
        for axes in gliding:
            style.draw_cycle(axes, percent, own["insert_posterior"].values, colour)
            axes.set_ylabel("posterior displacement of the insert (mm)")
    turned.set_ylabel("external rotation on the tray (deg)")
    moment.set_ylabel("moment on the insert (N m)")
    style.share_legend(figure, turned, 3, below=True)
    return figure


@style.styled
def draw_backside(kept: xr.Dataset, labels: Mapping[str, str]) -> Figure:
    """Wear depth of the backside of each case, as seen from above."""
    depths = 1e3 * kept["lower_wear_depth"].values
    top = max(float(depths.max()), 1e-9)
    figure, panels = style.panels_in_rows(len(depths), min(len(depths), 3), 2.6)
    for axes, depth, name in zip(panels, depths, kept["case"].values.tolist(), strict=True):
        own = kept.sel(case=name)
        corners, covered = own["lower_corners"].values, own["lower_covered"].values
        mesh = axes.pcolormesh(
            corners[..., 1],
            corners[..., 0],
            np.where(covered > 0.0, depth, np.nan),
            cmap=style.DEPTH_COLOURS,
            vmin=0.0,
            vmax=top,
            rasterized=True,
        )
        style.show_plan(axes)
        title = style.case_title(labels[name], f"{depth.max():.3g} µm")
        axes.set_title(title, fontsize=style.SMALL)
    style.share_plan_labels(figure, panels)
    figure.colorbar(mesh, ax=panels, label="wear depth (µm)", shrink=0.8, pad=0.01)
    return figure
