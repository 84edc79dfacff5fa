"""Side studies of a study of cases, each a part: nothing else of the study waits for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kneewear.study.jobs import Part, PartInputs, PartResult
from kneewear.study.study import Study

# The rule file of cases needs the names of side studies, none of what they compute with.
if TYPE_CHECKING:
    import pandas as pd

Tables = dict[str, "pd.DataFrame"]

_PARTS = {
    "discretisation": Part(("discretisation",), 2500, 15, optional=True),
    "elements": Part(("element_convergence", "grid_sensitivity"), 1500, 30, optional=True),
    "settling": Part(("settling", "settled_pose"), 1500, 15, optional=True),
}


def list_parts(study: Study) -> dict[str, Part]:
    """Side studies that the analyses ask for, by the names of their settings."""
    return {name: part for name, part in _PARTS.items() if getattr(study.analyses, name)}


def part_settings(study: Study, name: str) -> dict[str, Any]:
    """Settings that decide the result of a side study, as `computed`."""
    own = study.analyses.model_dump(mode="json")[name]
    # One position of model press; of model wear, whether geometry varies decides on distances.
    without: dict[str, Any] = {"variables": {}} if study.model == "press" else {}
    return study.computed() | without | {"analyses": {name: own}}


def compute_part(study: Any, name: str, inputs: PartInputs) -> PartResult:
    """Tables of a side study."""
    return PartResult(_COMPUTE[name](study, inputs))


def _discretisation(study: Any, inputs: PartInputs) -> Tables:
    from kneewear.study.discretisation import check_discretisation  # noqa: PLC0415 - as above

    table = check_discretisation(study, inputs.the_knee, inputs.activities)
    return {"discretisation": table}


def _elements(study: Any, inputs: PartInputs) -> Tables:
    from kneewear.models.press.element_study import study_active_elements, study_divisions  # noqa: PLC0415 - as above

    implant = inputs.the_knee.implant
    return {
        "element_convergence": study_active_elements(implant, study),
        "grid_sensitivity": study_divisions(implant, study),
    }


def _settling(study: Any, inputs: PartInputs) -> Tables:
    from kneewear.motion.settling import settle_component  # noqa: PLC0415 - as above

    sequence, settled = settle_component(inputs.the_knee.implant, study)
    return {"settling": sequence, "settled_pose": settled}


_COMPUTE: Mapping[str, Callable[[Any, PartInputs], Tables]] = {
    "discretisation": _discretisation,
    "elements": _elements,
    "settling": _settling,
}
