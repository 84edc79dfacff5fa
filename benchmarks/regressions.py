"""Stages against those of the previous release, as ratios to a reference kernel of the same run.

Times of two machines cannot be compared; a stage's time over that of a fixed NumPy and SciPy
computation nearly can. `previous_release.csv` holds those ratios of the previous release.
`python -m benchmarks.regressions` writes them again from `results/benchmarks/benchmarks.json`,
which `make benchmark` wrote, and is run for each release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import lu_factor, lu_solve

from benchmarks.timing import seconds
from kneewear import __version__
from kneewear.io.documents import save_table

PREVIOUS = Path(__file__).with_name("previous_release.csv")
MEASURED = Path("results/benchmarks/benchmarks.json")
# Two quiet runs of the same code differ by up to a fifth.
NOTICEABLE = 1.25


def reference_ms() -> float:
    """Median time of the reference kernel: dense solution, sorting, and Python's own loop."""
    random = np.random.default_rng(1)
    matrix = random.random((250, 250)) + 250.0 * np.eye(250)
    numbers = random.random(100_000)

    def kernel() -> None:
        lu_solve(lu_factor(matrix), numbers[:250])
        np.sort(numbers)
        sum(value * value for value in range(50_000))

    return 1e3 * seconds(kernel, 31)


def stage_times(measured: Mapping[str, Any]) -> dict[str, float]:
    """Times, ms, of the stages that are this package's own."""
    evaluations = {
        f"evaluation of 2 x 900 elements, {row['distance']}, {row['search']}": row["evaluation_us"]
        for row in _rows(measured["evaluations"])
    }
    stages = {
        row["stage"]: 1e3 * row["median_s"]
        for name in ("dynamics", "multibody")
        for row in _rows(measured[name])
    }
    own = {name: time for name, time in measured["stages_ms"].items() if "scipy" not in name}
    own |= measured["design_studies_ms"]
    own["150 muscle strings, a time step"] = measured["muscle_strings"]["last_step_start_ms"]
    return own | {name: 1e-3 * time for name, time in evaluations.items()} | stages


def compare_releases(measured: Mapping[str, Any], previous: pd.DataFrame) -> pd.DataFrame:
    """Each stage's ratio to the reference kernel now and before, its change, and if it is slower.

    `measured` is what `benchmarks.run` measured, with the time of the kernel as `reference_ms`;
    `previous` has the columns `stage`, `ratio` and `version`. Stages of one of both only are open.
    """
    now = pd.Series(stage_times(measured), name="ratio", dtype=float) / measured["reference_ms"]
    before = previous.set_index("stage")["ratio"]
    table = pd.DataFrame({"ratio": now, "previous": before})
    table["change"] = table["ratio"] / table["previous"]
    slower = np.where(table["change"] > NOTICEABLE, "yes", "no")
    table["slower"] = np.where(table["change"].isna(), "not measured", slower)
    table["previous_version"] = ", ".join(sorted(set(previous["version"].astype(str))))
    return table.rename_axis("stage").reset_index()


def _rows(table: pd.DataFrame | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a table as it was measured, or as it was read from JSON."""
    return table if isinstance(table, list) else table.to_dict("records")


def main() -> None:
    """Write the ratios that were measured last as those of this release."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    ratios = pd.Series(stage_times(measured), name="ratio") / measured["reference_ms"]
    table = ratios.rename_axis("stage").reset_index().assign(version=__version__)
    save_table(table, PREVIOUS)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
