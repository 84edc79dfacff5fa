"""Figures of measurements: compression of a material, and pressures of a bearing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.contact.foundation import ThreeParameterMaterial
from kneewear.report import style
from kneewear.report.tables import words

Array = NDArray[np.float64]

LABELS = {"modulus": "tangent modulus (MPa)", "strain": "strain (1)"}
COLOURS = (style.BLUE, style.RED, style.GREEN, style.PURPLE, style.AMBER, style.SKY)


@style.styled
def draw_material_fit(
    stress: Array, values: Array, response: str, material: ThreeParameterMaterial
) -> Figure:
    """Measured moduli or strains over stress, and those of the fitted material (Fig. 3-1B)."""
    figure, panels = style.new_figure(3.2, width=5.0)
    axes = panels[0, 0]
    at = np.linspace(0.0, stress.max(), 200)
    found = material.tangent_modulus(at) if response == "modulus" else material.strain(at)
    axes.plot(stress, values, "o", color=style.INK, ms=4, label="measured")
    label = f"n = {material.exponent:.3g}, strain0 = {material.reference_strain:.4g}"
    label += f", p0 = {material.reference_pressure:.4g} MPa"
    axes.plot(at, found, color=style.BLUE, label=label)
    axes.set(xlabel="stress (MPa)", ylabel=LABELS[response], ylim=(0.0, None))
    axes.legend()
    return figure


@style.styled
def draw_cut_off(table: pd.DataFrame, cut_off: float) -> Figure:
    """Loaded area and mean pressure of maps over the cut-off (Fig. 3-3B)."""
    figure, panels = style.new_figure(3.0, columns=2)
    for axes, name, label in zip(
        panels.flat,
        ("area_mm2", "avg_pressure_mpa"),
        ("loaded area (mm²)", "average pressure (MPa)"),
        strict=True,
    ):
        for number, (file, own) in enumerate(table.groupby("map", sort=False)):
            colour = COLOURS[number % len(COLOURS)]
            axes.plot(own["cut_off_mpa"], own[name], color=colour, label=str(file))
        axes.axvline(cut_off, color="#9a9d9f", ls="--")
        axes.set(xlabel="cut-off (MPa)", ylabel=label, ylim=(0.0, None))
    if table["map"].nunique() <= len(COLOURS):
        panels[0, 0].legend()
    return figure


@style.styled
def draw_pressures(paired: pd.DataFrame, groups: Sequence[str]) -> Figure:
    """Computed over measured pressures with the line of equality, one panel per quantity."""
    names = list(dict.fromkeys(paired["quantity"]))
    figure, panels = style.new_figure(3.2, columns=len(names))
    further = [name for name in groups if name != "quantity"]
    for axes, name in zip(panels.flat, names, strict=True):
        own = paired[paired["quantity"] == name]
        parts = own.groupby(further, sort=False) if further else [((), own)]
        for number, (key, part) in enumerate(parts):
            axes.plot(
                part["measured_mpa"],
                part["computed_mpa"],
                "o",
                ms=4,
                color=COLOURS[number % len(COLOURS)],
                label=", ".join(words(str(one)) for one in key) or None,
            )
        top = 1.05 * float(own[["measured_mpa", "computed_mpa"]].to_numpy().max())
        axes.plot([0.0, top], [0.0, top], color="#9a9d9f", lw=1.0)
        axes.set(
            title=name,
            xlabel="measured (MPa)",
            ylabel="computed (MPa)",
            xlim=(0.0, top),
            ylim=(0.0, top),
            aspect="equal",
        )
    if further:
        panels[0, 0].legend()
    return figure
