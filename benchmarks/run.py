"""All benchmarks in one process, and the targets with the measured values.

`make benchmark` runs this. It writes `results/benchmarks/benchmarks.json`, everything measured and
the machine it was measured on, and two tables that it also prints: `targets.csv`, and
`releases.csv`, the stages against those of the previous release, which is measured before and after
(see `benchmarks.releases`). Times are medians on one thread; every ratio to another program is from
the same run.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import (
    coupled,
    design_studies,
    distance,
    dry_run,
    dynamics,
    evaluation,
    ligament_law,
    multibody,
    outside,
    peers,
    stages,
    tables,
    tissue,
)
from benchmarks.releases import NOTICEABLE, PREVIOUS, PreviousRelease, compare_releases, stage_times
from benchmarks.targets import compare
from kneewear.io.documents import save_table
from kneewear.io.result_files import atomic_path

FOLDER = Path("results/benchmarks")


def machine() -> dict[str, Any]:
    """Machine of the run, and its load."""
    cpu = Path("/proc/cpuinfo")
    names = [
        line.split(":")[1].strip()
        for line in (cpu.read_text(encoding="utf-8").splitlines() if cpu.exists() else [])
        if line.startswith("model name")
    ]
    return {
        "processor": names[0] if names else platform.processor(),
        "processors": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_average": os.getloadavg(),
    }


def plain(value: Any) -> Any:
    """Numbers, text, lists and dicts that JSON can hold; a table becomes a list of rows."""
    if isinstance(value, pd.DataFrame):
        return json.loads(value.to_json(orient="records", double_precision=15))
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    return value


def main() -> None:
    """Measure, compare, print and write."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        previous = PreviousRelease(Path(folder))
        before = previous.measure()
        measured = measure()
        after = previous.measure()
    targets = compare(measured)
    save_table(targets, FOLDER / "targets.csv")
    releases = compare_releases(stage_times(measured), before, after)
    save_table(releases, FOLDER / "releases.csv")
    with atomic_path(FOLDER / "benchmarks.json") as path:
        path.write_text(json.dumps(plain(measured | {"targets": targets}), indent=1) + "\n")
    print(f"\nTargets and measured values, written to {FOLDER}\n{targets.to_string(index=False)}")
    print(
        f"\nStages now, and in release {PREVIOUS} before and after (slower: more than "
        f"{NOTICEABLE} times)\n{releases.to_string(index=False)}"
    )
    if previous.reason:
        print(f"The previous release could not be measured: {previous.reason}")


def measure() -> dict[str, Any]:
    """Measure everything."""
    measured: dict[str, Any] = {
        "machine": machine(),
        **evaluation.main(),
        "dynamics": dynamics.main(),
        "coupled_layer": coupled.main(),
        "peers": peers.main(),
        "outside": outside.main(),
        "stages_ms": stages.main(),
        "dry_run": dry_run.main(),
        "design_studies_ms": design_studies.main(),
        "distance_methods": distance.main(),
        "tables": tables.main(),
        "multibody": multibody.main(),
        "muscle_strings": tissue.main(),
        "ligament_law": ligament_law.main() if peers.installed("opensim") else [],
    }
    measured["machine"] |= measured.pop("machine_limits")
    return measured


if __name__ == "__main__":
    main()
