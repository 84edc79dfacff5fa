"""Stages of this checkout and of the previous release, measured on this machine in one run.

Times of two machines cannot be compared, nor of two hours on a machine that others use.
`make benchmark` therefore measures the stages of the previous release before and after its own, in
a copy of that release from the history of the repository. Where the two measurements differ by as
much as what is looked for, or where the history is missing, no statement is made.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.compare_checkouts import Checkout

# Commit of the previous release, 1.0.0.
PREVIOUS = "db697618"
# Two quiet runs of the same code differ by up to a fifth.
NOTICEABLE = 1.25
UNKNOWN = "cannot tell"
# Run in a checkout with its own modules, which have these names since release 1.0.0.
_MEASURE = """
import json, sys
from benchmarks import design_studies, dynamics, evaluation, multibody, stages, tissue
from benchmarks.run import plain
measured = {
    **evaluation.main(),
    "dynamics": dynamics.main(),
    "stages_ms": stages.main(),
    "design_studies_ms": design_studies.main(),
    "multibody": multibody.main(),
    "muscle_strings": tissue.main(),
}
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(plain(measured), file)
"""


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


class PreviousRelease:
    """Copy of the previous release, or of another commit, in a folder.

    `reason` says why it cannot be measured, if it cannot.
    """

    def __init__(self, folder: Path, commit: str = PREVIOUS) -> None:
        self.reason = ""
        self._folder = folder
        self._checkout: Checkout | None = None
        try:
            self._checkout = Checkout(commit, folder, None)
        except (SystemExit, OSError) as error:  # no git, no repository or no such commit
            self.reason = str(error)

    def measure(self, script: str = _MEASURE) -> dict[str, float]:
        """Times of its stages now, ms; none where they cannot be measured."""
        if self._checkout is None:
            return {}
        file = self._folder / "measured.json"
        done = subprocess.run(
            [sys.executable, "-P", "-c", script, str(file)],
            cwd=self._checkout.copy,
            env=self._checkout.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            self.reason = (done.stderr.strip().splitlines() or ["no reason"])[-1]
            return {}
        return stage_times(json.loads(file.read_text(encoding="utf-8")))


def compare_releases(
    now: Mapping[str, float], before: Mapping[str, float], after: Mapping[str, float]
) -> pd.DataFrame:
    """Each stage's time now and in the previous release, ms, its change, and if it is slower.

    `before` and `after` are times of the previous release, measured before and after `now`. No
    statement is made about a stage that was not measured in both, or whose times before and after
    differ by `NOTICEABLE` or more.
    """
    times = {"now_ms": now, "before_ms": before, "after_ms": after}
    table = pd.DataFrame({name: pd.Series(one, dtype=float) for name, one in times.items()})
    previous = table[["before_ms", "after_ms"]]
    table["change"] = table["now_ms"] / previous.mean(axis=1, skipna=False)
    spread = previous.max(axis=1) / previous.min(axis=1)
    slower = np.where(table["change"] > NOTICEABLE, "yes", "no")
    unknown = table["change"].isna() | (spread >= NOTICEABLE)
    table["slower"] = np.where(unknown, UNKNOWN, slower)
    return table.rename_axis("stage").reset_index()


def _rows(table: pd.DataFrame | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a table as it was measured, or as it was read from JSON."""
    return table if isinstance(table, list) else table.to_dict("records")
