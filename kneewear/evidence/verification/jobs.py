"""Jobs of a verification study: engine, wear, methods and accuracy."""

from __future__ import annotations

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.evidence.verification.accuracy import verify_accuracy
from kneewear.evidence.verification.engine import verify_engine
from kneewear.evidence.verification.methods import verify_methods
from kneewear.evidence.verification.settings import VerificationStudy
from kneewear.study.jobs import Job, JobInputs, JobResult
from kneewear.study.models import MODELS


def list_jobs(study: VerificationStudy) -> dict[str, Job]:
    """Engine and wear against theory, methods against each other, and errors of each accuracy."""
    engine = "verification", "refinement", "active_elements", "sphere_models"
    methods = "distance_correction", "variants", "analyses"
    return {
        "engine": Job(engine, 1500, 10, knee=False, optional=True),
        "wear": Job(("wear_solutions",), 1500, 10, knee=False, optional=True),
        "methods": Job(methods, 2500, 30, optional=True),
        "accuracy": Job(("accuracy",), 13_000, 30, optional=True),
    }


def compute_job(study: VerificationStudy, name: str, inputs: JobInputs) -> JobResult:
    """One part of the verification."""
    if name == "engine":
        return JobResult(verify_engine(study.seed))
    if name == "wear":
        tables: dict[str, pd.DataFrame] = {}
        for model in MODELS.values():
            tables |= model.verify(study.simulation, study.wear)
        return JobResult(tables)
    if name == "methods":
        activities = list(inputs.activities.values())
        settings = study.only_case, study.simulation, study.wear
        return JobResult(dict(verify_methods(inputs.the_knee, activities, *settings)))
    blocks = study.simulated_activities()

    def with_frames(frames: int) -> list[Activity]:
        simulation = study.simulation.model_copy(update={"frames": frames})
        changed = study.model_copy(update={"simulation": simulation})
        return [inputs.activity(changed, activity) for activity in blocks]

    return JobResult({"accuracy": verify_accuracy(inputs.the_knee, study, with_frames)})
