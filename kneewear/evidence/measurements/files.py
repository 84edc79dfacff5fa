"""Measurements of a user: compression of a material, and pressures of a bearing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.evidence.measurements.pressure_maps import QUANTITIES, reduce_map
from kneewear.io.data_file import decode_text, read_data
from kneewear.io.text_tables import TextTable, number_rows

Array = NDArray[np.float64]
RESPONSES: dict[str, Literal["modulus", "strain"]] = {"modulus_mpa": "modulus", "strain": "strain"}
# Largest pressure of any knee, MPa.
LARGEST_PRESSURE = 500.0
# A map of whole numbers beyond this, MPa, has counts of a sensor: bearings yield below.
_MAX_WHOLE = 30.0
# A map carries its load within this factor: sensors miss some of it, wrong units more.
_FORCE_FACTOR = 2.0
# Numbers of a compression are below these, which no polymer or tissue reaches, and what larger ones
# are likely to be.
LARGEST = {
    "stress_mpa": (LARGEST_PRESSURE, "Divide by 1e6 if it is in Pa, by 1000 if in kPa."),
    "modulus_mpa": (20_000.0, "Divide by 1e6 if it is in Pa, by 1000 if in kPa."),
    "strain": (1.0, "Divide by 100 if it is in per cent."),
}


def read_compression(path: str | Path) -> tuple[Array, Array, Literal["modulus", "strain"]]:
    """Stress, MPa, and tangent moduli, MPa, or strains of a compression, and which they are.

    Columns `stress_mpa` and one of `modulus_mpa` and `strain`. InputDataError if they are not
    there, or a number is negative or not below `LARGEST`.
    """
    table = TextTable.read(path, "a table of compression")
    given = [name for name in RESPONSES if name in table.text]
    if len(given) != 1:
        expected = "one of the columns modulus_mpa and strain"
        found = f"columns {', '.join(table.text.columns)}"
        raise InputDataError(path, found, expected, "Name or remove a column.", "header")
    table.require(["stress_mpa", *given])
    stress, values = table.numbers("stress_mpa"), table.numbers(given[0])
    for column, numbers in (("stress_mpa", stress), (given[0], values)):
        if (wrong := np.flatnonzero(numbers < 0.0)).size:
            remedy = "Give compression as positive."
            table.refuse(wrong[0], column, f"{numbers[wrong[0]]:g}", "zero or more", remedy)
        limit, remedy = LARGEST[column]
        if (wrong := np.flatnonzero(numbers >= limit)).size:
            table.refuse(wrong[0], column, f"{numbers[wrong[0]]:g}", f"below {limit:g}", remedy)
    return stress, values, RESPONSES[given[0]]


def read_pressure_map(path: str | Path) -> Array:
    """Map of pressure, MPa, from rows of numbers without a header, zero or positive.

    Separated by commas, semicolons, tabs or blanks; commas that do not separate are decimal.
    InputDataError if it is none, or of pressures that no knee has.
    """
    text = decode_text(path, read_data(path, "a map of pressure"))
    rows: list[list[float]] = []
    for number, line, words in number_rows(text):
        try:
            rows.append([float(word) for word in words])
        except ValueError:
            found = f"'{line.strip()[:40]}'"
            remedy = "Export the map without a header, in MPa, with decimal points."
            raise InputDataError(path, found, "numbers", remedy, f"line {number}") from None
        if len(rows[-1]) != len(rows[0]):
            found, expected = f"{len(rows[-1])} cells", f"{len(rows[0])}, as in the first row"
            raise InputDataError(path, found, expected, "Fill in the row.", f"line {number}")
    cells = np.array(rows)
    if cells.size == 0 or not np.isfinite(cells).all() or (cells < 0.0).any():
        found = "no cells" if cells.size == 0 else "a cell that is negative or no number"
        raise InputDataError(path, found, "pressures of zero or more", "Correct the map.")
    if cells.max() > _MAX_WHOLE and (cells == np.round(cells)).all():
        found, expected = f"whole numbers up to {cells.max():g}", "pressures in MPa"
        remedy = "These look like counts of a sensor: export the calibrated pressures, in MPa."
        raise InputDataError(path, found, expected, remedy)
    if cells.max() > LARGEST_PRESSURE:
        found, expected = f"{cells.max():g}", f"at most {LARGEST_PRESSURE:g} MPa"
        raise InputDataError(path, found, expected, LARGEST["stress_mpa"][1])
    return cells


def read_measured_pressures(
    path: str | Path, cut_off: float, cell_area: float
) -> tuple[pd.DataFrame, tuple[str, ...], dict[str, Array]]:
    """Measured pressures by condition, names of the conditions, and the maps by file.

    Conditions are all columns but `map` and those of pressures. A column `map` names a file of each
    row, relative to the table, which is reduced with a cut-off, MPa, and the area of a cell, mm2;
    without it, one or more of the columns max_pressure_mpa, averaged_max_pressure_mpa and
    avg_pressure_mpa hold numbers. Rows of equal conditions are trials. InputDataError if there are
    neither.
    """
    table = TextTable.read(path, "a table of measured pressures")
    table.require([])
    numbers = [name for name in QUANTITIES if name in table.text]
    has_maps = "map" in table.text
    if has_maps == bool(numbers):
        found = f"columns {', '.join(table.text.columns)}"
        expected = f"either a column map or one of {', '.join(QUANTITIES)}"
        raise InputDataError(path, found, expected, "Correct the columns.", "header")
    conditions = [one for one in map(str, table.text) if one not in ("map", *QUANTITIES)]
    if not conditions:
        expected = "a column of a condition, such as load_n"
        raise InputDataError(path, "none", expected, "Add the conditions.", "header")
    measured = pd.DataFrame({name: _condition(table, name) for name in conditions})
    maps: dict[str, Array] = {}
    if numbers:
        for name in numbers:
            measured[name] = table.positive(name)
            if (wrong := np.flatnonzero(measured[name] > LARGEST_PRESSURE)).size:
                found, expected = f"{measured[name][wrong[0]]:g}", f"at most {LARGEST_PRESSURE:g}"
                table.refuse(wrong[0], name, found, expected, LARGEST["stress_mpa"][1])
        _refuse_larger_means(table, measured)
        return measured, tuple(conditions), maps
    reduced = []
    forces = []
    for row, name in enumerate(table.text["map"]):
        maps[name] = read_pressure_map(Path(path).parent / name)
        try:
            reduced.append(reduce_map(maps[name], cut_off, cell_area))
        except ValueError as error:
            table.refuse(row, "map", str(error), "a loaded map", "Check its unit, or the cut-off.")
        forces.append(float(maps[name].sum()) * cell_area)
    _check_forces(table, measured, np.array(forces))
    return measured.join(pd.DataFrame(reduced)), tuple(conditions), maps


def _check_forces(table: TextTable, measured: pd.DataFrame, forces: Array) -> None:
    """Refuse maps whose force is far from the load of their row, over both sides where given.

    The force of one side alone is at most the load.
    """
    if "load_n" not in measured:
        return
    others = [name for name in measured if name != "side"]
    sides = measured["side"] if "side" in measured else pd.Series("", measured.index)
    by_side = measured[others].assign(side=sides, force=forces).groupby([*others, "side"])
    mean = by_side["force"].mean().groupby(level=others).agg(["sum", "count"])
    whole = "side" not in measured
    for row, key in enumerate(measured[others].itertuples(index=False, name=None)):
        force, count = mean.loc[key if len(others) > 1 else key[0]]
        load = float(measured["load_n"][row])
        low = load / _FORCE_FACTOR if whole or count > 1 else 0.0
        if not low <= force <= load * _FORCE_FACTOR:
            found = f"pressures and cells of {force:.4g} N together"
            remedy = (
                "Check the unit of the map (MPa), the area of a cell (--cell-area) and the load."
            )
            table.refuse(row, "map", found, f"about {load:g} N, the load of the row", remedy)


def _refuse_larger_means(table: TextTable, measured: pd.DataFrame) -> None:
    """Refuse a mean pressure above the largest one of its row."""
    for name in ("max_pressure_mpa", "averaged_max_pressure_mpa"):
        if name in measured and "avg_pressure_mpa" in measured:
            above = np.flatnonzero(measured["avg_pressure_mpa"] > measured[name])
            if above.size:
                found = f"{measured['avg_pressure_mpa'][above[0]]:g}"
                expected = f"at most {measured[name][above[0]]:g}, the {name} of its row"
                table.refuse(above[0], "avg_pressure_mpa", found, expected, "Exchange the columns.")


def _condition(table: TextTable, name: str) -> Sequence[float | str]:
    """Values of a condition: numbers, or texts where one is none."""
    values = pd.to_numeric(table.text[name], errors="coerce")
    return list(values.astype(float)) if values.notna().all() else list(table.text[name])
