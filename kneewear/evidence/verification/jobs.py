"""A verification study as a model in parts: engine, wear, methods and accuracy."""

from __future__ import annotations

from kneewear.activity.activity import Activity
from kneewear.evidence.verification.accuracy import verify_accuracy
from kneewear.evidence.verification.engine import verify_engine
from kneewear.evidence.verification.methods import verify_methods
from kneewear.evidence.verification.settings import VerificationStudy
from kneewear.evidence.verification.wear import verify_wear
from kneewear.study.jobs import Part, PartInputs, PartResult


def list_parts(study: VerificationStudy) -> dict[str, Part]:
    """Engine and wear against theory, methods against each other, and errors of each accuracy."""
    engine = "verification", "refinement", "active_elements", "sphere_models"
    methods = "distance_correction", "variants", "analyses"
    return {
        "engine": Part(engine, 1500, 10, knee=False, optional=True),
        "wear": Part(("wear_solutions",), 1500, 10, knee=False, optional=True),
        "methods": Part(methods, 2500, 30, optional=True),
        "accuracy": Part(("accuracy",), 13_000, 30, optional=True),
    }


def compute_part(study: VerificationStudy, name: str, inputs: PartInputs) -> PartResult:
    """One part of the verification."""
    if name == "engine":
        return PartResult(verify_engine(study.seed))
    if name == "wear":
        return PartResult({"wear_solutions": verify_wear(study.simulation, study.wear)})
    if name == "methods":
        activities = list(inputs.activities.values())
        settings = study.only_case, study.simulation, study.wear
        return PartResult(dict(verify_methods(inputs.the_knee, activities, *settings)))
    blocks = study.simulated_activities()

    def with_frames(frames: int) -> list[Activity]:
        simulation = study.simulation.model_copy(update={"frames": frames})
        changed = study.model_copy(update={"simulation": simulation})
        return [inputs.activity(changed, activity) for activity in blocks]

    return PartResult({"accuracy": verify_accuracy(inputs.the_knee, study, with_frames)})
