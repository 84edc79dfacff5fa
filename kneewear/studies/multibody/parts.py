"""A multibody study as a model in parts: one, the motion of the bodies."""

from __future__ import annotations

from kneewear.settings.multibody import MultibodyStudy
from kneewear.studies.multibody.models import solve_model
from kneewear.studies.multibody.result import scene_record
from kneewear.studies.parts import Part, PartInputs, PartResult

BODIES, SCENE = "bodies", "scene"


def list_parts(study: MultibodyStudy) -> dict[str, Part]:
    """All bodies.

    A predicted gait has its motion as a table, for activities. Passive flexion has the motion of a
    placed button, for tests of buttons, and the results of its laxity tests.
    """
    model = study.multibody
    further: tuple[str, ...] = {"predicted_gait": ("motion",)}.get(model.model, ())
    if model.model == "passive_flexion":
        given = {"patella": model.places_button, "laxity": model.laxity is not None}
        further = tuple(name for name, has in given.items() if has)
    tables = "literature", "kinematics", "forces", *further
    return {BODIES: Part(tables, 1500, 30, knee=False)}


def compute_part(study: MultibodyStudy, name: str, inputs: PartInputs) -> PartResult:
    """Motion and forces of all bodies."""
    result = solve_model(inputs.bodies(study), study.multibody)
    tables = {table: getattr(result, table) for table in list_parts(study)[name].tables}
    return PartResult(tables, {SCENE: scene_record(result.scene)})
