"""Page of a comparison: depth maps of two designs and their difference, and the paired view."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kneewear.report import style
from kneewear.report.insert_view import (
    DEPTHS,
    MOST_VALUES,
    MOST_VERTICES,
    STEPS,
    block_values,
    colour_steps,
    insert_mesh,
    packed,
    packed_mesh,
    scale_colours,
)
from kneewear.report.page import render_page
from kneewear.studies.comparison import CELL, FinishedStudy, middle_cell

MAP_COLUMNS = ("x_mm", "z_mm")
KEY_QUANTITIES = (
    "max_pressure", "avg_pressure", "max_wear_depth", "max_creep_depth", "damage_depth",
    "damage_area", "wear_volume", "damage_volume", "volumetric_wear_rate",
)  # fmt: skip


def render_comparison(
    studies: Sequence[FinishedStudy],
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, bytes],
    cells: Sequence[tuple[float, float]],
    files: Mapping[str, str] | None = None,
) -> str:
    """Page of a comparison: the tables of `compare_studies`, the cases that all designs share.

    `files` are addresses of the figures beside the page.
    """
    differences = tables["differences"]
    thickness, mass = middle_cell(cells)
    middle = differences[
        (differences["thickness_mm"] == thickness)
        & (differences["body_mass_kg"] == mass)
        & differences["quantity"].isin(KEY_QUANTITIES)
    ]
    ratios = [name for name in map(str, differences) if name.startswith("ratio")]
    beyond = _outside(studies[0], differences, cells)
    by_design = differences.groupby(["design", "side", "quantity"], sort=False)
    return render_page(
        kind="comparison",
        study={
            "study": " and ".join(study.name for study in studies),
            "implant": {"name": ", ".join(dict.fromkeys(s.settings.implant.name for s in studies))},
        },
        frames=tables,
        figures=figures,
        files=files or {},
        endings={
            figure_name(design): f"{design} against {reference}"
            for reference, design in differences[["reference", "design"]].drop_duplicates().values
        },
        view=build_comparison_view(studies, cells) | {"outside": beyond},
        beyond=beyond,
        shared=len(cells),
        study_warnings={study.name: study.warnings for study in studies if study.warnings},
        middle=middle.dropna(axis="columns", how="all"),
        ratios=by_design[ratios].mean().reset_index().dropna(axis="columns", how="all"),
    )


def _outside(
    reference: FinishedStudy, differences: pd.DataFrame, cells: Sequence[tuple[float, float]]
) -> dict[str, list[str]]:
    """Those of the `cells` with a pressure above a limit of the reference's report, by design."""
    report = reference.settings.report
    limits = {
        "max_pressure": report.pressure_limit_mpa,
        "avg_pressure": report.avg_pressure_limit_mpa,
    }
    shared = pd.MultiIndex.from_frame(differences[CELL]).isin(cells)
    rows = differences[shared & differences["quantity"].isin(limits)]
    limit = rows["quantity"].map(limits)
    return {
        str(name): list(map(cell_label, own[CELL].drop_duplicates().itertuples(index=False)))
        for design, value in (("reference", "reference_value"), ("design", "value"))
        for name, own in rows[rows[value] > limit].groupby(design, sort=False)
    }


def draw_depth_differences(
    maps: pd.DataFrame, cells: Sequence[tuple[float, float]]
) -> dict[str, Figure]:
    """Figures of the damage depth of the first design, each other one and their difference.

    `maps` are those of `depth_maps` for the middle one of the `cells`.
    """
    case = cell_label(middle_cell(cells))
    reference, *others = [name for name in map(str, maps) if name not in MAP_COLUMNS]
    return {figure_name(other): _draw_difference(maps, reference, other, case) for other in others}


def figure_name(design: str) -> str:
    """Name of the figure of a design: of its signs only those that every file system takes."""
    return "difference_maps_" + re.sub(r"[^\w.]+", "_", design)


@style.styled
def _draw_difference(maps: pd.DataFrame, reference: str, other: str, case: str) -> Figure:
    table = maps.pivot(index="x_mm", columns="z_mm")
    first, second = table[reference], table[other]
    figure, panels = style.new_figure(2.6, columns=3)
    top = float(np.nanmax([first, second]))
    # Equal designs show no colours of rounding: the scale is at least 1 % of the depth.
    span = float(np.nanmax(np.abs(second - first), initial=max(0.01 * top, 1e-9)))
    for axes, values, title, limits, colours in zip(
        panels.flat,
        (first.where(first > 0.0), second.where(second > 0.0), second - first),
        (reference, other, f"second minus first, {case}"),
        ((0.0, top), (0.0, top), (-span, span)),
        (style.DEPTH_COLOURS, style.DEPTH_COLOURS, style.ERROR_COLOURS),
        strict=True,
    ):
        x, z = values.index.to_numpy(), values.columns.to_numpy()
        shape = np.where(np.isfinite(first if values is not second else second), 1.0, np.nan)
        axes.pcolormesh(z, x, shape, cmap="Greys", vmin=0.0, vmax=12.0, rasterized=True)
        mesh = axes.pcolormesh(z, x, values, cmap=colours, vmin=limits[0], vmax=limits[1],
                               rasterized=True)  # fmt: skip
        style.show_plan(axes)
        axes.set_title(title.replace(", ", ",\n", 1), fontsize=style.SMALL)
        label = "damage depth (mm)" if limits[0] == 0.0 else "difference (mm)"
        figure.colorbar(mesh, ax=axes, label=label, orientation="horizontal", pad=0.02)
    return figure


def build_comparison_view(
    studies: Sequence[FinishedStudy], cells: Sequence[tuple[float, float]]
) -> dict[str, Any]:
    """Data of the paired view: insert and depth maps of every design, on common colour scales.

    `cells` are thicknesses and masses that all designs share; of many only the middle one is
    shown.
    """
    factors = [int(np.ceil(np.sqrt(study.grid.valid.sum() / MOST_VERTICES))) for study in studies]
    designs = {name for study in studies for name, _, _ in study.depths(DEPTHS[0])}
    middle = middle_cell(cells)
    if len(designs) * len(cells) * len(DEPTHS) * MOST_VERTICES > MOST_VALUES:
        cells = [middle]
    tops = {
        quantity: max(
            float(np.nanmax(depth))
            for study in studies
            for _, cell, depth in study.depths(quantity)
            if cell in cells
        )
        for quantity in DEPTHS
    }
    shown: dict[str, dict[str, Any]] = {}
    for study, factor in zip(studies, factors, strict=True):
        mesh, valid = insert_mesh(study.grid, factor)
        insert = packed_mesh(mesh)
        for quantity in DEPTHS:
            for name, cell, depth in study.depths(quantity):
                if cell in cells:
                    steps = colour_steps(block_values(np.maximum, depth, factor), tops[quantity])
                    own = shown.setdefault(name, {"name": name, "insert": insert, "cells": {}})
                    own["cells"].setdefault(cell_label(cell), {})[quantity] = {
                        "steps": packed(steps[valid]),
                        "largest": [float(f"{side.max():.6g}") for side in depth],
                    }
    return {
        "designs": list(shown.values()),
        "sides": list(studies[0].grid.sides),
        "cells": [cell_label(cell) for cell in cells],
        "first": cell_label(middle),
        "scales": {
            name: {"top": top, "steps": STEPS} | scale_colours(name) for name, top in tops.items()
        },
    }


def cell_label(cell: tuple[float, float]) -> str:
    """Thickness and mass in words."""
    return f"{cell[0]:g} mm, {cell[1]:g} kg"
