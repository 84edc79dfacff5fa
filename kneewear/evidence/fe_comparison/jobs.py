"""A finite-element twin as a model in parts: one for each case."""

from __future__ import annotations

from kneewear.evidence.fe_comparison.comparison import compute_twin
from kneewear.evidence.fe_comparison.settings import FeTwinStudy
from kneewear.study.jobs import Part, PartInputs, PartResult

TABLES = "fe_twin", "fe_profiles", "fe_solids", "fe_maps"


def list_parts(study: FeTwinStudy) -> dict[str, Part]:
    """Cases by name."""
    return {case.name: Part(TABLES, 10_000, 60) for case in study.twin_cases()}


def compute_part(study: FeTwinStudy, name: str, inputs: PartInputs) -> PartResult:
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
    return PartResult(tables, solids=twin.fields)
