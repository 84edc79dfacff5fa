"""Kill Snakemake at random moments of a study, resume, and compare with an undisturbed run.

    python -m tests.faults.kill_study --kills 10

The study is the default one; with `--coarse` it has the same cases on a coarse grid, and ends with
its tables. At every other moment only Snakemake is killed, so that its jobs go on writing as
orphans, at the others all its jobs with it, as when the machine stops. A moment is a number of
finished jobs and a time after the last of them, so that a busy machine does not shift it past the
end. The study is resumed by the documented commands: `snakemake --unlock`, then the same command
with `--rerun-incomplete`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.workflow.conftest import Checkout, contents

FINISHED = "Finished jobid"
COARSE_TARGETS = "--until", "tabulate_results"
COARSE = {
    "study": "killed",
    "grid": {"rows": 20, "columns": 15},
    "coarse_grid": {"rows": 20, "columns": 15},
    "table": {"distance_error_um": 10.0},
    "simulation": {"frames": 25},
    "cases": {"thickness_mm": [6, 8, 10, 12, 14], "body_mass_kg": [50, 75, 100, 125, 150]},
    "cases_per_job": 9,
}


def kill(
    folder: Path,
    settings: Mapping[str, Any],
    targets: Sequence[str],
    jobs: int,
    seconds: float,
    with_jobs: bool,
) -> int:
    """Start a study and kill it some seconds after so many jobs; jobs finished until then."""
    checkout = Checkout(folder, "config/config.yaml")
    command, environment = checkout.command(*targets, overrides=settings)
    log = folder / "killed.log"
    with log.open("w") as file:
        run = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=file, stderr=file, start_new_session=True
        )
        while log.read_text().count(FINISHED) < jobs and run.poll() is None:
            time.sleep(0.1)
        time.sleep(seconds)
        os.killpg(run.pid, signal.SIGKILL) if with_jobs else run.kill()
        run.wait()
    return log.read_text().count(FINISHED)


def resume(folder: Path, settings: Mapping[str, Any], targets: Sequence[str]) -> int:
    """Resume a killed study; jobs run."""
    checkout = Checkout.__new__(Checkout)
    checkout.folder, checkout.study = folder, "config/config.yaml"
    checkout.snakemake("--unlock", overrides=settings)
    said = checkout.snakemake("--rerun-incomplete", *targets, overrides=settings)
    return said.count(FINISHED)


def strays(results: Path) -> list[str]:
    """Hidden files that no run should leave."""
    kept = {".digests", ".snakemake_timestamp"}
    return [path.name for path in results.rglob(".*") if path.name not in kept]


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kill_study")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coarse", action="store_true", help="tables of a coarse study only")
    asked = parser.parse_args()
    Checkout.patience = 3600.0
    settings, targets = (COARSE, COARSE_TARGETS) if asked.coarse else ({"study": "killed"}, ())
    folder, random = Path(tempfile.mkdtemp(prefix="kills-")), Random(asked.seed)
    results = Path("results/killed")
    start = time.perf_counter()
    undisturbed = Checkout(folder / "undisturbed", "config/config.yaml")
    total = undisturbed.snakemake(*targets, overrides=settings).count(FINISHED)
    seconds, wanted = time.perf_counter() - start, contents(folder / "undisturbed" / results)
    print(json.dumps({"jobs": total, "files": len(wanted), "seconds": round(seconds)}), flush=True)
    for number in range(asked.kills):
        here, jobs = folder / f"kill-{number}", random.randrange(total - 1)
        moment = random.uniform(0.0, seconds / total)
        before = kill(here, settings, targets, jobs, moment, with_jobs=bool(number % 2))
        after = resume(here, settings, targets)
        found = contents(here / results)
        counts_so_far = {
            "kill": number + 1,
            "after_jobs": jobs,
            "and_s": round(moment, 1),
            "with_jobs": bool(number % 2),
            "finished_before": before,
            "run_after": after,
            # Jobs that had finished and were run once more; those that ran are not counted.
            "lost": max(0, before + after - total),
            "differing": [name for name in wanted | found if wanted.get(name) != found.get(name)],
            "strays": strays(here / results),
        }
        print(json.dumps(counts_so_far), flush=True)


if __name__ == "__main__":
    main()
