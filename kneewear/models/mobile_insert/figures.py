"""Figures of both faces of an insert, and of worn bearings of simple geometry."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from kneewear.report import style

# Cases that figures show.
MOST = 6
COLOURS = (style.BLUE, style.SKY, style.GREEN, style.AMBER, style.RED, style.PURPLE)

_GLIDES = ("insert_posterior", "insert_medial")


def draw_faces(kept: xr.Dataset) -> dict[str, Figure]:
    """Figures `insert_rotation` and `lower_face` of the first cases; none without one."""
    if "case" not in kept.dims:
        return {}
    shown = kept.isel(case=slice(MOST))
    return {"insert_rotation": draw_rotation(shown), "lower_face": draw_lower_face(shown)}


@style.styled
def draw_rotation(kept: xr.Dataset) -> Figure:
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
        style.draw_cycle(turned, percent, own["insert_rotation"].values, colour, f"insert, {name}")
        style.draw_cycle(moment, percent, own["axial_moment"].values, colour)
        for axes in gliding:
            style.draw_cycle(axes, percent, own["insert_posterior"].values, colour)
            axes.set_ylabel("posterior displacement of the insert (mm)")
    turned.set_ylabel("external rotation on the tray (deg)")
    moment.set_ylabel("moment on the insert (N m)")
    style.share_legend(figure, turned, 3, below=True)
    return figure


@style.styled
def draw_lower_face(kept: xr.Dataset) -> Figure:
    """Wear depth of the lower face of each case, as seen from above."""
    depths = 1e3 * kept["lower_wear_depth"].values
    top = max(float(depths.max()), 1e-9)
    figure, panels = style.panels_in_rows(len(depths), min(len(depths), 3), 2.6)
    for axes, depth, name in zip(panels, depths, kept["case"].values.tolist(), strict=True):
        own = kept.sel(case=name)
        corners, covered = own["lower_corners"].values, own["lower_covered"].values
        mesh = axes.pcolormesh(
            corners[..., 1], corners[..., 0], np.where(covered > 0.0, depth, np.nan),
            cmap=style.DEPTH_COLOURS, vmin=0.0, vmax=top, rasterized=True,
        )  # fmt: skip
        style.show_plan(axes)
        axes.set_title(f"{name}\n{depth.max():.3g} µm", fontsize=style.SMALL)
    style.share_plan_labels(figure, panels)
    figure.colorbar(mesh, ax=panels, label="wear depth (µm)", shrink=0.8, pad=0.01)
    return figure


def draw_worn_bearings(kept: xr.Dataset) -> dict[str, Figure]:
    """Figure `worn_bearings` of the first cases; none without one."""
    return {"worn_bearings": draw_worn(kept.isel(case=slice(3)))} if "case" in kept.dims else {}


@style.styled
def draw_worn(kept: xr.Dataset) -> Figure:
    """Wear depth and largest pressure of the elements of each case, in plan."""
    names = kept["case"].values.tolist()
    figure, panels = style.new_figure(5.6, 2, len(names))
    for row, (quantity, unit, colours) in zip(
        panels,
        (
            ("wear_depth", "mm", style.DEPTH_COLOURS),
            ("max_pressure", "MPa", style.PRESSURE_COLOURS),
        ),
        strict=True,
    ):
        top = max(float(kept[quantity].max()), 1e-12)
        for axes, name in zip(row, names, strict=True):
            own = kept.sel(case=name)
            corners, values = own["corners"].values, own[quantity].values
            mesh = axes.pcolormesh(
                corners[..., 1], corners[..., 0], np.where(values > 0.0, values, np.nan),
                cmap=colours, vmin=0.0, vmax=top, rasterized=True,
            )  # fmt: skip
            axes.set_aspect("equal")
            axes.set_title(f"{name}: {values.max():.3g} {unit}", fontsize=style.SMALL)
            axes.set_xlabel("z (mm)")
        row[0].set_ylabel("x (mm)")
        label = f"{quantity.replace('_', ' ')} ({unit})"
        figure.colorbar(mesh, ax=list(row), label=label, shrink=0.8, pad=0.01)
    return figure
