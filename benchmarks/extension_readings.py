"""Readings of unprinted or doubtful input of the knee extension: all printed numbers in one table.

    python -m benchmarks.extension_readings FILE

writes each printed number that the readings do not meet alike: its range over the forcing
functions and in how many of them it is within the printed limits, whatever its verdict is.
`KNEEWEAR_DATA` names the folder with natural_knee/. Takes five minutes.
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import Any

import pandas as pd

from kneewear.analysis.literature import limits
from kneewear.api import load_study
from kneewear.knees.inputs import load_parts
from kneewear.knees.jobs import solve_model
from kneewear.study.shipped import find_study

STUDY = "config/papers/knee_extension.yaml"
SQUARE = {"further_ligaments": "config/papers/knee_extension/ligaments_n_per_mm2.csv"}
# Start of the search at the angles that the source prints.
PRINTED_START = {
    "tibia": {"start": [1.5, -7.9, -1.9, 89.80, 4.61, 22.96]},
    "patella": {"start": [9.5, -30.2, 5.1, 71.26, 0.25, 0.46]},
}
HIGHER = {"patellar_ligament": {"force_ratio": 0.52}}
READINGS: dict[str, dict[str, Any]] = {
    "N/mm, slope 8": {},
    "N/mm, slope 8, ratio 0.52": {"extension": HIGHER},
    "N/mm2, slope 4": {"extension": {**SQUARE, "plateaus": {"slope_deg": 4}}},
    "N/mm2, slope 8": {"extension": SQUARE, "bodies": PRINTED_START},
    "N/mm2, slope 8, ratio 0.52": {"extension": SQUARE | HIGHER, "bodies": PRINTED_START},
}
KEYS = ["quantity", "case", "source", "published", "tolerance", "low", "high", "unit"]

logger = logging.getLogger(__name__)


def compare_readings() -> pd.DataFrame:
    """Computed numbers by reading, quantity and case, and whether they are within the limits."""
    tables = []
    for name, changes in READINGS.items():
        study = load_study(find_study(STUDY), {"multibody": changes})
        model = study.multibody
        numbers = solve_model(load_parts(model, data_files(study)), model).literature
        low, high = limits(numbers)
        met = (numbers["computed"] >= low) & (numbers["computed"] <= high)
        logger.info("%s: %d of %d", name, met.sum(), len(numbers))
        tables.append(numbers.assign(reading=name, met=met))
    return pd.concat(tables, ignore_index=True)


def gained_and_lost(numbers: pd.DataFrame) -> pd.DataFrame:
    """Quantities that the readings do not meet in the same cases: range, and cases that meet them.

    The last row counts numbers that are met of all.
    """
    rows = []
    for quantity, own in numbers.groupby("quantity", sort=False):
        by_reading = {reading: one for reading, one in own.groupby("reading", sort=False)}
        if len({tuple(one["met"]) for one in by_reading.values()}) > 1:
            cells = {reading: _cell(one) for reading, one in by_reading.items()}
            rows.append({"quantity": quantity, "printed": _printed(own.iloc[0])} | cells)
    counts = {
        reading: f"{one['met'].sum()} of {len(one)}"
        for reading, one in numbers.groupby("reading", sort=False)
    }
    return pd.DataFrame([*rows, {"quantity": "all numbers", "printed": ""} | counts])


def _printed(row: pd.Series) -> str:
    if pd.notna(row["published"]):
        return f"{row['published']:g} ± {row['tolerance']:.3g}"
    return f"{row['low']:g} to {row['high']:g}".replace("nan to", "up to").replace(
        " to nan", " or more"
    )


def _cell(rows: pd.DataFrame) -> str:
    low, high = rows["computed"].min(), rows["computed"].max()
    span = f"{low:.3g}" if f"{low:.3g}" == f"{high:.3g}" else f"{low:.3g} to {high:.3g}"
    return f"{span} ({rows['met'].sum()} of {len(rows)})"


def data_files(study: Any) -> dict[str, str]:
    """Paths of the data files of a study by name."""
    return {name: str(study.data_path(path)) for name, path in study.multibody.files.items()}


def main() -> None:
    """Compute all readings and write their table."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="CSV to write")
    file = parser.parse_args().file
    head = "# python -m benchmarks.extension_readings: range over the forces (how many meet it)\n"
    file.write_text(
        head + gained_and_lost(compare_readings()).to_csv(index=False), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
