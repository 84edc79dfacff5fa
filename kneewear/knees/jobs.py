"""The job of a multibody study: the motion of the bodies."""

from __future__ import annotations

from typing import Any

from kneewear.knees.composed import solve_composed
from kneewear.knees.inputs import load_parts
from kneewear.knees.replications import is_replication, replication
from kneewear.knees.result import MultibodyResult, scene_record
from kneewear.knees.settings.composed_knee import ComposedKneeSettings
from kneewear.knees.settings.study import MultibodyModel, MultibodyStudy
from kneewear.study.jobs import Job, JobInputs, JobResult

BODIES = "bodies"
SCENE = "scene"


def list_jobs(study: MultibodyStudy) -> dict[str, Job]:
    """All bodies.

    A composed knee may have a cycle of its components as a table, for activities, the motion of a
    button, for tests of buttons, and the results of laxity tests.
    """
    model, further = study.multibody, []
    if isinstance(model, ComposedKneeSettings):
        given = {
            "motion": model.course.is_cycle,
            "patella": model.button_contact,
            "laxity": model.laxity,
        }
        further = [name for name, has in given.items() if has]
    tables = "literature", "kinematics", "forces", *further
    return {BODIES: Job(tables, 1500, 30, knee=False)}


def compute_job(study: MultibodyStudy, name: str, inputs: JobInputs) -> JobResult:
    """Motion and forces of all bodies."""
    result = solve_model(load_parts(study.multibody, inputs.files), study.multibody)
    tables = {table: getattr(result, table) for table in list_jobs(study)[name].tables}
    return JobResult(tables, {SCENE: scene_record(result.scene)})


def solve_model(parts: Any, settings: MultibodyModel) -> MultibodyResult:
    """Solve a composed knee, or the replication that the settings name."""
    if is_replication(settings.model):
        solved: MultibodyResult = replication(settings.model, "model").solve(parts, settings)
        return solved
    return solve_composed(parts, settings)
