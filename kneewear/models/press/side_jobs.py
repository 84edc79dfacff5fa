"""Jobs of a press study in addition to its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kneewear.study.jobs import Job, JobInputs
from kneewear.study.models import Lazy
from kneewear.study.side_jobs import SideJob, Tables, common_side_jobs


def list_side_jobs() -> Mapping[str, SideJob]:
    """Side jobs by the analyses that ask for them."""
    elements = Job(("element_convergence", "grid_sensitivity"), 1500, 30, optional=True)
    settling = Job(("settling", "settled_pose"), 1500, 15, optional=True)
    return {
        **common_side_jobs(),
        "elements": SideJob(elements, Lazy("models.press.side_jobs:tabulate_elements")),
        "settling": SideJob(settling, Lazy("models.press.side_jobs:tabulate_settling")),
    }


def tabulate_elements(study: Any, inputs: JobInputs) -> Tables:
    """Dependence of pressures, forces and torques on the elements."""
    from kneewear.models.press.element_study import (  # noqa: PLC0415 - rule files list the jobs
        study_active_elements,
        study_divisions,
    )

    implant = inputs.the_knee.implant
    return {
        "element_convergence": study_active_elements(implant, study),
        "grid_sensitivity": study_divisions(implant, study),
    }


def tabulate_settling(study: Any, inputs: JobInputs) -> Tables:
    """Sequence of poses in which the component settles on the insert."""
    from kneewear.motion.settling import settle_component  # noqa: PLC0415 - as above

    sequence, settled = settle_component(inputs.the_knee.implant, study)
    return {"settling": sequence, "settled_pose": settled}
