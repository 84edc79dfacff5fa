"""Time `snakemake -n` on the default study, as a ratio against importing Snakemake.

`python -m benchmarks.dry_run` (part of `make benchmark`) prints the medians of both, s, taken in
turn.
Users wait for it before every run, and every job of a cluster reads the rules again.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.timing import durations

ROOT = Path(__file__).parents[1]
REPEATS = 5


def main(root: Path = ROOT) -> dict[str, float]:
    """Print and return the medians, s, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        planned = ["-m", "snakemake", "--snakefile", str(root / "Snakefile"), "-n", "--quiet"]
        commands = {"dry_run_s": planned, "import_s": ["-c", "import snakemake.cli"]}
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(REPEATS):
            for name, command in commands.items():
                times[name] += durations(lambda own=command: _run(own, root, folder), 1)
    measured = {name: statistics.median(values) for name, values in times.items()}
    measured["dry_run_over_import"] = measured["dry_run_s"] / measured["import_s"]
    for name, value in measured.items():
        print(f"{name:20s} {value:6.2f}")
    return measured


def _run(command: list[str], root: Path, folder: str) -> None:
    """Run Python in a folder, with the package of a checkout."""
    subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": folder, "PYTHONPATH": str(root)},
        capture_output=True,
        check=True,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT)
