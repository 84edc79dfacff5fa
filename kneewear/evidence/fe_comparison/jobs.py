"""Jobs of a finite-element comparison: one for each case."""

from __future__ import annotations

from kneewear.evidence.fe_comparison.comparison import compute_twin
from kneewear.evidence.fe_comparison.settings import FeTwinStudy
from kneewear.study.jobs import Job, JobInputs, JobResult

TABLES = "fe_twin", "fe_profiles", "fe_solids", "fe_maps"


def list_jobs(study: FeTwinStudy) -> dict[str, Job]:
    """Cases by name."""
    return {
        case.name: Job(TABLES, 10_000, 60, only_drawn=TABLES[-1:]) for case in study.twin_cases()
    }


def compute_job(study: FeTwinStudy, name: str, inputs: JobInputs) -> JobResult:
    """Finite elements beside the foundation for the frames of one case."""
    (case,) = (case for case in study.twin_cases() if case.name == name)
    twin = compute_twin(
        inputs.the_knee,
        inputs.activities[study.fe_twin.activity],
        case,
        study.twin_frames(),
        study.fe_twin,
        study.simulation,
    )
    tables = dict(zip(TABLES, (twin.results, twin.profiles, twin.solids, twin.maps), strict=True))
    return JobResult(tables, solids=twin.fields)
