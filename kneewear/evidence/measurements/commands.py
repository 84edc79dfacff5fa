"""Commands on measurements of a user: fit a material, and compare pressures with a study."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.base.agreement import Agreement, Statement, disagreements
from kneewear.base.checks import judge
from kneewear.errors import Finding, InputDataError
from kneewear.evidence.measurements.figures import draw_cut_off, draw_material_fit, draw_pressures
from kneewear.evidence.measurements.files import read_compression, read_measured_pressures
from kneewear.evidence.measurements.material_fit import fit_material
from kneewear.evidence.measurements.pressure_maps import (
    average_trials,
    pair_pressures,
    pressure_errors,
    rank_choices,
    vary_cut_off,
)
from kneewear.io.documents import load_table, save_figures, save_table

Array = NDArray[np.float64]

CUT_OFFS = np.arange(0.0, 2.001, 0.05).tolist()


def write_material_fit(file: Path, folder: Path, exponent: float | None) -> list[str]:
    """Fit a material to a table of compression and draw it; returns lines for the user.

    Raises InputDataError if the table cannot be read or fitted.
    """
    stress, values, response = read_compression(file)
    try:
        found = fit_material(stress, values, response, exponent)
    except ValueError as error:
        raise InputDataError(file, str(error), "a compression", "Correct the table.") from None
    figure = draw_material_fit(stress, values, response, found.material)
    save_figures({"material_fit": figure}, folder)
    one, unit = found.material, "MPa" if response == "modulus" else "1"
    return [
        *(finding.text() for finding in judge_compression(stress, values, response, file)),
        f"rms difference {found.rms:.4g} {unit}, of the constant mean {found.constant_mean:.4g}; "
        f"skill {found.skill:.3f} ({len(stress)} points up to {stress.max():g} MPa)",
        "simulation:",
        "  pressure_law:",
        "    material: own",
        f"    own_material: {{exponent: {one.exponent:.5g}, "
        f"reference_strain: {one.reference_strain:.5g}, "
        f"reference_pressure_mpa: {one.reference_pressure:.5g}}}",
        f"Look at {folder / 'material_fit.svg'}",
    ]


def write_pressure_comparison(
    study: Path, file: Path, cut_off: float, cell_area: float
) -> list[str]:
    """Compare measured pressures with a finished press study; returns lines for the user.

    Tables and figures are written to `measured_pressure/` in the folder of the study. Raises
    InputDataError if a file cannot be read, or no condition is of both.
    """
    folder = study / "measured_pressure"
    contact = load_table(study / "tables" / "contact.csv", ["side", "quantity", "value"])
    trials, conditions, maps = read_measured_pressures(file, cut_off, cell_area)
    measured = average_trials(trials, conditions)
    try:
        paired = pair_pressures(contact, measured)
    except ValueError as error:
        expected, remedy = f"conditions of {study}", "Correct the columns or their values."
        raise InputDataError(file, str(error), expected, remedy) from None
    errors = pressure_errors(paired, conditions)
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"measured": measured, "pressures": paired, "pressure_errors": errors}
    ranked = rank_choices(errors)
    if len(ranked) > 1:
        tables["position_search"] = ranked
    groups = [name for name in map(str, errors) if name in paired]
    figures = {"measured_pressures": draw_pressures(paired, groups)}
    if maps:
        curves = [vary_cut_off(one, CUT_OFFS, cell_area).assign(map=n) for n, one in maps.items()]
        tables["cut_off"] = pd.concat(curves, ignore_index=True)
        figures["cut_off"] = draw_cut_off(tables["cut_off"], cut_off)
    for name, table in tables.items():
        save_table(table, folder / f"{name}.csv")
    save_figures(figures, folder)
    lines = [
        f"{', '.join(str(row[name]) for name in groups)}: mean {row['mean_mpa']:.3g}, "
        f"SD {row['sd_mpa']:.3g}, rms {row['rms_mpa']:.3g} MPa over {row['cases']} conditions; "
        f"constant mean {row['constant_mean_mpa']:.3g} MPa, skill {row['skill']:.2f}"
        for row in errors.to_dict("records")
    ]
    if len(ranked) > 1:
        best = ranked.iloc[0]
        choice = ", ".join(f"{name} {best[name]}" for name in map(str, ranked) if name != "rms_mpa")
        lines.append(
            f"least difference of {len(ranked)} choices: {choice}, rms {best['rms_mpa']:.3g} MPa "
            f"(the largest {ranked['rms_mpa'].iloc[-1]:.3g} MPa)"
        )
    findings = disagreements(PAIRS, (paired, file))
    return [*(finding.text() for finding in findings), *lines, f"Look at {folder}"]


def judge_compression(
    stress: Array, values: Array, response: str, file: Path
) -> tuple[Finding, ...]:
    """Findings about the units of a compression: its median tangent modulus, or secant one.

    Parameters
    ----------
    stress, values : array, shape (n,)
        Stress, MPa, and tangent moduli, MPa, or strains.
    response : {"modulus", "strain"}
        Kind of the values.
    file : Path
        File of the compression.
    """
    strained = values > 0.0
    moduli = values if response == "modulus" else stress[strained] / values[strained]
    finding = judge("measured.modulus", float(np.median(moduli)), str(file), "Check both units.")
    return () if finding is None else (finding,)


def _pressures(subject: tuple[pd.DataFrame, Path]) -> Iterator[tuple[Statement, Statement]]:
    """Yield the pair of measured and computed pressures of each quantity that differs most."""
    paired, file = subject
    for quantity, rows in paired.groupby("quantity", sort=False):
        measured, computed = rows[["measured_mpa", "computed_mpa"]].to_numpy(dtype=float).T
        worst = int(np.abs(np.log(np.maximum(measured, 1e-9) / computed)).argmax())
        yield (
            Statement(float(measured[worst]), f"{file}, {quantity}"),
            Statement(float(computed[worst]), "the study"),
        )


# What a file of measured pressures and a study state twice.
PAIRS = (
    Agreement(
        "measured.pressure",
        "MPa",
        _pressures,
        "Check the unit of the file and that conditions and maps belong together.",
    ),
)
