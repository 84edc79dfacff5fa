"""Page of a comparison: its tables, depth maps of two designs, and the paired view."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kneewear.analysis.comparison import FinishedStudy, leading_of, middle_cell
from kneewear.analysis.matching import CELL, SIMULATED
from kneewear.base.findings import Reported
from kneewear.report import style
from kneewear.report.insert_view import (
    COLOURS,
    MAX_VALUES,
    MAX_VERTICES,
    NAMES,
    block_values,
    insert_mesh,
    shown_depths,
)
from kneewear.report.tables import words
from kneewear.report.viewer import (
    ENDS,
    body,
    build_view,
    choice,
    colour_steps,
    packed,
    scale,
)

MAP_COLUMNS = ("x_mm", "z_mm")
KEY_QUANTITIES = (
    "max_pressure",
    "avg_pressure",
    "max_wear_depth",
    "max_creep_depth",
    "damage_depth",
    "damage_area",
    "wear_volume",
    "damage_volume",
    "volumetric_wear_rate",
)


def comparison_tables(
    studies: Sequence[FinishedStudy],
    tables: Mapping[str, pd.DataFrame],
    cells: Sequence[tuple[float, float]],
) -> dict[str, pd.DataFrame]:
    """Tables of the page of a comparison from those of `compare_studies`.

    `cells` are the thicknesses and masses that are compared; the middle one is shown in full.
    """
    differences = tables["differences"]
    thickness, mass = middle_cell(cells)
    middle = differences[
        (differences["thickness_mm"] == thickness)
        & (differences["body_mass_kg"] == mass)
        & differences["quantity"].isin(KEY_QUANTITIES)
    ]
    ratios = [name for name in map(str, differences) if name.startswith("ratio")]
    by_design = differences.groupby(["design", "side", "quantity"], sort=False)
    constants = tables.get("constants", pd.DataFrame())
    missing = constants[:0]
    if "reason" in constants:
        has_none = constants["reason"].fillna("") != ""
        missing = constants[has_none].drop_duplicates(["design", "reference"])
        constants = constants[~has_none]
    return {name: table for name, table in tables.items() if name != "depth_maps"} | {
        "middle_differences": middle.dropna(axis="columns", how="all"),
        "mean_ratios": by_design[ratios].mean().reset_index().dropna(axis="columns", how="all"),
        "ranking": tables["ranking"].dropna(axis="columns", how="all"),
        "constants": constants.dropna(axis="columns", how="all"),
        "varied_constants": _varied_constants(constants),
        "constants_without_ratio": missing,
        "outside_cells": _outside(studies[0], differences, cells),
        "other_cases": tables["matches"][tables["matches"]["method"] != SIMULATED],
    }


def comparison_settings(studies: Sequence[FinishedStudy]) -> dict[str, Any]:
    """Return the names of studies and implants that texts of the page refer to."""
    implants = dict.fromkeys(study.settings.implant.name for study in studies)
    return {
        "study": " and ".join(study.name for study in studies),
        "implant": {"name": ", ".join(implants)},
    }


def comparison_findings(studies: Sequence[FinishedStudy]) -> list[Reported]:
    """Findings of all studies, with the name of the study before the job.

    Those of its choices of the model are about other runs than the ones compared.
    """
    return [
        replace(one, job=", ".join(filter(None, (study.name, one.job))))
        for study in studies
        for one in study.findings
        if one.job not in ("evaluate_cases", "vary_models")
    ]


def _varied_constants(constants: pd.DataFrame) -> pd.DataFrame:
    """Names in words of the constants that two designs share, and of those of one alone."""
    if constants.empty:
        return constants
    named = constants.drop_duplicates(["reference", "design"]).fillna({"shared": "", "own": ""})
    in_words = {
        column: [", ".join(map(words, names.split(", "))) for names in named[column]]
        for column in ("shared", "own")
    }
    return named[["reference", "design"]].assign(**in_words)


def _outside(
    reference: FinishedStudy, differences: pd.DataFrame, cells: Sequence[tuple[float, float]]
) -> pd.DataFrame:
    """Number and names of the `cells` with a pressure above a limit of the reference's report."""
    report = reference.settings.report
    limits = {
        "max_pressure": report.pressure_limit_mpa,
        "avg_pressure": report.avg_pressure_limit_mpa,
    }
    shared = pd.MultiIndex.from_frame(differences[CELL]).isin(cells)
    rows = differences[shared & differences["quantity"].isin(limits)]
    limit = rows["quantity"].map(limits)
    outside: dict[str, list[str]] = {}
    for design, value in (("reference", "reference_value"), ("design", "value")):
        for name, own in rows[rows[value] > limit].groupby(design, sort=False):
            labels = map(cell_label, own[CELL].drop_duplicates().itertuples(index=False))
            outside.setdefault(str(name), list(labels))
    table = [(name, len(labels), "; ".join(labels)) for name, labels in outside.items()]
    return pd.DataFrame(table, columns=["design", "cases", "cells"])


def draw_depth_differences(
    maps: pd.DataFrame, cells: Sequence[tuple[float, float]], name: str = "damage"
) -> dict[str, Figure]:
    """Figures of the depth of the first design, each other one and their difference.

    `maps` are those of `depth_maps` for the middle one of the `cells`; `name` says of what.
    """
    case = cell_label(middle_cell(cells))
    reference, *others = [name for name in map(str, maps) if name not in MAP_COLUMNS]
    return {
        figure_name(other): _draw_difference(maps, reference, other, case, name) for other in others
    }


def figure_name(design: str) -> str:
    """Name of the figure of a design: of its signs only those that every file system takes."""
    return "difference_maps_" + re.sub(r"[^\w.]+", "_", design)


@style.styled
def _draw_difference(
    maps: pd.DataFrame, reference: str, other: str, case: str, name: str
) -> Figure:
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
        mesh = axes.pcolormesh(
            z, x, values, cmap=colours, vmin=limits[0], vmax=limits[1], rasterized=True
        )
        style.show_plan(axes)
        axes.set_title(title.replace(", ", ",\n", 1), fontsize=style.SMALL)
        label = f"{name} depth (mm)" if limits[0] == 0.0 else "difference (mm)"
        figure.colorbar(mesh, ax=axes, label=label, orientation="horizontal", pad=0.02)
    return figure


def build_comparison_view(
    studies: Sequence[FinishedStudy], cells: Sequence[tuple[float, float]]
) -> dict[str, Any]:
    """The paired view (:mod:`kneewear.report.viewer`): insert and depth maps of every design.

    `cells` are thicknesses and masses that are compared, of each design the case that is nearest;
    of many only the middle one is shown.
    """
    depths = shown_depths(leading_of(studies))
    factors = [int(np.ceil(np.sqrt(study.grid.valid.sum() / MAX_VERTICES))) for study in studies]
    designs = {name for study in studies for name, _, _ in study.depths(depths[0])}
    middle = middle_cell(cells)
    if len(designs) * len(cells) * len(depths) * MAX_VERTICES > MAX_VALUES:
        cells = [middle]
    tops = {
        quantity: max(
            float(np.nanmax(depth))
            for study in studies
            for cell in cells
            for _, _, depth in study.depths_near(quantity, cell)
        )
        for quantity in depths
    }
    bodies: dict[str, Any] = {}
    scenes = []
    for study, factor in zip(studies, factors, strict=True):
        mesh, valid = insert_mesh(study.grid, factor)
        shape = body(mesh.points, mesh.triangles)
        for quantity in depths:
            for cell in cells:
                for name, own, depth in study.depths_near(quantity, cell):
                    steps = colour_steps(block_values(np.maximum, depth, factor), tops[quantity])
                    bodies[name] = shape
                    largest = ", ".join(
                        f"{side} {values.max():.3g} mm"
                        for side, values in zip(study.grid.sides, depth, strict=True)
                    )
                    scenes.append(
                        {
                            "of": {"quantity": quantity, "case": cell_label(cell), "design": name},
                            "title": f"{name}, {cell_label(own)}",
                            "texts": [f"largest {largest}"],
                            "bodies": [name],
                            "coloured": name,
                            "colours": packed(steps[valid]),
                            "scale": quantity,
                        }
                    )
    labels = [cell_label(cell) for cell in cells]
    return build_view(
        bodies,
        scenes,
        [
            choice("quantity", "Show", {name: NAMES[name] for name in depths}),
            choice("case", "Case", dict(zip(labels, labels, strict=True)), cell_label(middle)),
            choice("design", "Design", {name: name for name in bodies}),
        ],
        scales={name: scale(NAMES[name], "mm", tops[name], COLOURS[name]) for name in depths},
        ends=ENDS,
        panes="design",
        hint="Both views turn together and have one colour scale; grey was never touched.",
    )


def cell_label(cell: tuple[float, float]) -> str:
    """Thickness and mass in words."""
    return f"{cell[0]:g} mm, {cell[1]:g} kg"
