"""Time what studies of designs repeat: a case, a sample, a loop, and the start of a job.

`python -m benchmarks.design_studies` (part of `make benchmark`) prints medians in milliseconds.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TypeVar

from benchmarks.timing import seconds
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import build_knee
from kneewear.settings.laxity import LaxityStudy
from kneewear.settings.study import Study, read_study
from kneewear.settings.sweep import SweepStudy
from kneewear.settings.uncertainty import UncertaintyStudy
from kneewear.studies.cases import evaluate_cases
from kneewear.studies.designs.bench import Bench, coulomb
from kneewear.studies.designs.laxity import drive_loops
from kneewear.studies.life import built_in_activities
from kneewear.studies.sweep.plan import plan_cases, planned_cases, sweep_runner
from kneewear.studies.uncertainty.plan import plan_samples
from kneewear.studies.uncertainty.samples import evaluate_samples

ROOT = Path(__file__).parent.parent
RUNS, CASES, FRICTION = 3, 4, 0.04
# What a job that computes cases imports.
JOB = "import kneewear.io.netcdf, kneewear.io.documents, kneewear.studies.sweep.plan"

AnyStudy = TypeVar("AnyStudy", bound=Study)


def study_of(name: str, kind: type[AnyStudy], **changes: object) -> AnyStudy:
    """A shipped study with changes of its settings; ValueError if it is of another kind."""
    study = read_study(ROOT / f"config/{name}.yaml", changes, defaults=ROOT / "config/config.yaml")
    if not isinstance(study, kind):
        raise ValueError(f"{name}: found kind {study.kind}")
    return study


def main() -> dict[str, float]:
    """Print and return the timings, ms."""
    sweep = study_of("sweep", SweepStudy)
    plan = plan_cases(sweep)[:CASES]
    knee, _ = build_knee(sweep.implant, sweep.grid, sweep.table, tabulate_distances=False)
    activities = built_in_activities(sweep)

    def cases() -> None:
        evaluate_cases(sweep_runner(sweep, knee, activities), planned_cases(sweep, plan))

    monte_carlo = study_of("monte_carlo", UncertaintyStudy)
    drawn = plan_samples(monte_carlo)[1 : CASES + 1]
    other, _ = build_knee(
        monte_carlo.implant, monte_carlo.grid, monte_carlo.table, tabulate_distances=False
    )
    motions = built_in_activities(monte_carlo)

    def samples() -> None:
        evaluate_samples(monte_carlo, drawn, other, motions)

    loops = study_of("laxity", LaxityStudy, laxity={"flexion_deg": [30]})
    bench = Bench(
        build_implant(loops.implant)[0], loops.grid, loops.table, loops.simulation,
        friction=coulomb(FRICTION),
    )  # fmt: skip

    def loop() -> None:
        drive_loops(bench, loops.laxity, FRICTION, "flat")

    def start() -> None:
        subprocess.run([sys.executable, "-c", JOB], check=True)

    timings = {
        "a case of the shipped sweep, with geometry of its own": seconds(cases, RUNS) / CASES,
        "a sample of the shipped Monte Carlo study": seconds(samples, RUNS) / CASES,
        "five laxity loops at one flexion, with friction": seconds(loop, 1),
        "start of a job, with its imports": seconds(start, RUNS),
    }
    for name, duration in timings.items():
        print(f"{name:60s} {1e3 * duration:10.1f} ms")
    return {name: 1e3 * duration for name, duration in timings.items()}


if __name__ == "__main__":
    main()
