"""Jobs in addition to the cases of a study: nothing else of the study waits for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kneewear.study.files import FileReader, model_files
from kneewear.study.jobs import Job, JobInputs, JobResult
from kneewear.study.models import Lazy, model_of
from kneewear.study.settings import study_of
from kneewear.study.study import Study

# Rule files need the names of side jobs, none of what these compute with.
if TYPE_CHECKING:
    import pandas as pd

    from kneewear.study.job_files import JobFiles

Tables = dict[str, "pd.DataFrame"]


@dataclass(frozen=True)
class SideJob:
    """A job in addition to the cases of a study.

    Parameters
    ----------
    job : Job
        Its tables, and what it needs.
    compute : callable
        Tables from a study and the inputs of the job.
    is_asked : bool
        Whether the analysis of its name asks for it; otherwise it is part of every study.
    """

    job: Job
    compute: Callable[[Any, JobInputs], Tables]
    is_asked: bool = True


def common_side_jobs() -> Mapping[str, SideJob]:
    """Side jobs of any model of cases, by the analyses that ask for them."""
    job = Job(("discretisation",), 2500, 15, optional=True)
    return {"discretisation": SideJob(job, Lazy("study.side_jobs:tabulate_discretisation"))}


def wear_side_jobs() -> Mapping[str, SideJob]:
    """Side jobs of models whose cases wear: the interval of the wear, and the common ones."""
    job = Job(("wear_intervals",), 1500, 15, optional=True, category="Results")
    interval = SideJob(job, Lazy("study.side_jobs:tabulate_interval"), is_asked=False)
    return {**common_side_jobs(), "interval": interval}


def list_chosen_jobs(study: Study) -> dict[str, Job]:
    """Jobs of a model without cases, or the side jobs of a study."""
    if not model_of(study).has_cases:
        return dict(model_of(study).list_jobs(study))
    return {
        name: side.job
        for name, side in _of_model(study).items()
        if not side.is_asked or getattr(study.analyses, name)
    }


def job_settings(study: Study, name: str) -> dict[str, Any]:
    """Settings that decide the result of a side job, as `computed`."""
    own = study.analyses.model_dump(mode="json").get(name)
    without: dict[str, Any] = {} if study.side_jobs_vary else {"variables": {}}
    return study.computed() | without | {"analyses": {} if own is None else {name: own}}


def compute_chosen_job(study: Study, name: str, inputs: JobInputs) -> JobResult:
    """Result of one of the jobs that `list_chosen_jobs` names."""
    if not model_of(study).has_cases:
        result: JobResult = model_of(study).compute_job(study, name, inputs)
        return result
    return JobResult(_of_model(study)[name].compute(study, inputs))


def _of_model(study: Study) -> Mapping[str, SideJob]:
    known: Mapping[str, SideJob] = model_of(study).side_jobs()
    return known


def tabulate_discretisation(study: Any, inputs: JobInputs) -> Tables:
    """Error of the elements and frames of a study."""
    from kneewear.study.discretisation import check_discretisation  # noqa: PLC0415 - as above

    table = check_discretisation(study, inputs.the_knee, inputs.activities)
    return {"discretisation": table}


def tabulate_interval(study: Any, inputs: JobInputs) -> Tables:
    """Interval of the wear of the case without changes, from measured wear."""
    from kneewear.study.inputs import CaseInputs  # noqa: PLC0415 - as above
    from kneewear.wear.posterior import intervals_of_laws  # noqa: PLC0415 - as above

    exact = not study.reads_distance_tables
    own = CaseInputs(study, inputs.knee, inputs.activities, exact=exact, reader=inputs.reader)
    surfaces, wear = model_of(study).surfaces(study.at({}), own)
    return {"wear_intervals": intervals_of_laws(surfaces, wear)}


def evaluate_job(settings: Mapping[str, Any], given: JobFiles) -> JobResult:
    """Compute one of the jobs of a study that write tables; settings are `study` and `job`."""
    study, reader = study_of(settings["study"]), FileReader(given.root)
    inputs = JobInputs(
        knee=given.knee,
        activities=given.activities,
        activity=reader.activity,
        reader=reader,
        files=model_files(study, given.root),
        folder=given.folder,
        source=given.source,
    )
    result = compute_chosen_job(study, settings["job"], inputs)
    return replace(result, left=study.implant.knee == "left")
