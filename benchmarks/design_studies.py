"""Time what studies of designs repeat: a case, a sample, a loop, and the start of a job.

`python -m benchmarks.design_studies` (part of `make benchmark`) prints medians in milliseconds.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from benchmarks.timing import seconds
from kneewear.models.press.settings import PressStudy
from kneewear.study.inputs import CaseInputs, built_in_activities, exact_knee
from kneewear.study.plans import plan_cases
from kneewear.study.run import run_cases
from kneewear.study.settings import Study, read_study
from kneewear.study.shipped import find_study
from kneewear.study.study import WearStudy

ROOT = Path(__file__).parent.parent
RUNS = 3
CASES = 4
FRICTION = 0.04
FLEXION = 30.0
# What a job that computes cases imports.
JOB = "import kneewear.study.netcdf, kneewear.io.documents, kneewear.study.run"

AnyStudy = TypeVar("AnyStudy", bound=Study)


def study_of(name: str, kind: type[AnyStudy], **changes: object) -> AnyStudy:
    """A shipped study with changes of its settings; ValueError if it is of another model."""
    study = read_study(find_study(name), changes, defaults=ROOT / "config/defaults.yaml")
    if not isinstance(study, kind):
        raise ValueError(f"{name}: found model {study.model}")
    return study


def main() -> dict[str, float]:
    """Print and return the timings, ms."""
    sweep, monte_carlo = study_of("sweep", WearStudy), study_of("monte_carlo", WearStudy)

    def run(study: WearStudy) -> Callable[[], None]:
        """Return a run of some cases; the first sample changes nothing."""
        table = plan_cases(study)[1 : CASES + 1]
        knee, activities = exact_knee(study), built_in_activities(study)

        def cases() -> None:
            run_cases(study, table, CaseInputs(study, knee, activities, exact=True))

        return cases

    loops = study_of("laxity", PressStudy)
    tests = plan_cases(loops)
    tests = tests[(tests["friction"] == FRICTION) & (tests["flexion_deg"] == FLEXION)][:5]
    inputs = CaseInputs(loops, exact_knee(loops), {}, exact=True)

    def loop() -> None:
        run_cases(loops, tests, inputs)

    def start() -> None:
        subprocess.run([sys.executable, "-c", JOB], check=True)

    timings = {
        "a case of the shipped sweep, with geometry of its own": seconds(run(sweep), RUNS) / CASES,
        "a sample of the shipped Monte Carlo study": seconds(run(monte_carlo), RUNS) / CASES,
        "five laxity loops at one flexion, with friction": seconds(loop, 1),
        "start of a job, with its imports": seconds(start, RUNS),
    }
    for name, duration in timings.items():
        print(f"{name:60s} {1e3 * duration:10.1f} ms")
    return {name: 1e3 * duration for name, duration in timings.items()}


if __name__ == "__main__":
    main()
