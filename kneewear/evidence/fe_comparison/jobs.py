"""Jobs of a finite-element comparison: one for each case."""

from __future__ import annotations

from kneewear.evidence.fe_comparison.comparison import compute_comparison
from kneewear.evidence.fe_comparison.settings import FeComparisonStudy
from kneewear.study.jobs import Job, JobInputs, JobResult

TABLES = "fe_twin", "fe_profiles", "fe_solids", "fe_maps"


def list_jobs(study: FeComparisonStudy) -> dict[str, Job]:
    """Cases by name."""
    return {
        case.name: Job(TABLES, 10_000, 60, only_drawn=TABLES[-1:])
        for case in study.compared_cases()
    }


def compute_job(study: FeComparisonStudy, name: str, inputs: JobInputs) -> JobResult:
    """Finite elements beside the foundation for the frames of one case."""
    (case,) = (case for case in study.compared_cases() if case.name == name)
    comparison = compute_comparison(
        inputs.the_knee,
        inputs.activities[study.fe_comparison.activity],
        case,
        study.compared_frames(),
        study.fe_comparison,
        study.simulation,
    )
    tables = dict(
        zip(
            TABLES,
            (comparison.results, comparison.profiles, comparison.solids, comparison.maps),
            strict=True,
        )
    )
    return JobResult(tables, solids=comparison.fields)
