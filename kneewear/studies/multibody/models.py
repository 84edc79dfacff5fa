"""Models of multibody studies by name: what each is solved with.

A model is a function from what `kneewear.io.multibody_inputs` reads for it and its settings to a
`MultibodyResult`. Tables, figures and the page need nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kneewear.settings.multibody import MultibodyModel
from kneewear.studies.multibody.knee_extension import solve_knee_extension
from kneewear.studies.multibody.passive_flexion import solve_passive_flexion
from kneewear.studies.multibody.predicted_gait import solve_predicted_gait
from kneewear.studies.multibody.result import MultibodyResult
from kneewear.studies.point_contact.planar import solve_planar
from kneewear.studies.point_contact.spatial import solve_spatial

MODELS: Mapping[str, Callable[[Any, Any], MultibodyResult]] = MappingProxyType(
    {
        "passive_flexion": solve_passive_flexion,
        "predicted_gait": solve_predicted_gait,
        "knee_extension": solve_knee_extension,
        "planar": solve_planar,
        "spatial": solve_spatial,
    }
)


def solve_model(parts: Any, settings: MultibodyModel) -> MultibodyResult:
    """Solve the model that the settings name."""
    return MODELS[settings.model](parts, settings)
