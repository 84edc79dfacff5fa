"""Figures of worn bearings of simple geometry."""

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


def draw_cases(
    study: Study,
    tables: Mapping[str, pd.DataFrame],
    kept: xr.Dataset,
    grid: ElementGrid | None,
    implants: Mapping[str, Implant],
) -> dict[str, Figure]:
    """Figures of worn bearings and of the analyses.

    Tests that are compared with measurements are too many to be drawn.
    """
    units = {name: one.unit for name, one in study.variables.items()}
    labels = case_labels(tables["results"], units)
    own = draw_worn_bearings(kept, labels) if study.analyses.measured is None else {}
    return own | draw_analyses(study, tables, None, None)


def draw_worn_bearings(kept: xr.Dataset, labels: Mapping[str, str]) -> dict[str, Figure]:
    """Figure `worn_bearings` of the first cases, with their names in words; none without one."""
    if "case" not in kept.dims:
        return {}
    return {"worn_bearings": draw_worn(kept.isel(case=slice(3)), labels)}


@style.styled
def draw_worn(kept: xr.Dataset, labels: Mapping[str, str]) -> Figure:
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
                corners[..., 1],
                corners[..., 0],
                np.where(values > 0.0, values, np.nan),
                cmap=colours,
                vmin=0.0,
                vmax=top,
                rasterized=True,
            )
            axes.set_aspect("equal")
            title = style.case_title(labels[name], f"{values.max():.3g} {unit}")
            axes.set_title(title, fontsize=style.SMALL)
            axes.set_xlabel("z (mm)")
        row[0].set_ylabel("x (mm)")
        label = f"{quantity.replace('_', ' ')} ({unit})"
        figure.colorbar(mesh, ax=list(row), label=label, shrink=0.8, pad=0.01)
    return figure
