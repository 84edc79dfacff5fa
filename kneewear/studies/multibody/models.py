"""Models of multibody studies by name: what each is solved with.

A model is a function from what `kneewear.io.multibody_inputs` reads for it and its settings to a
`MultibodyResult`. Tables, figures and the page need nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kneewear.settings.multibody import MultibodyModel
from kneewear.settings.replications import replication
from kneewear.studies.multibody.composed import solve_composed
from kneewear.studies.multibody.passive_flexion import solve_passive_flexion
from kneewear.studies.multibody.predicted_gait import solve_predicted_gait
from kneewear.studies.multibody.result import MultibodyResult

MODELS: Mapping[str, Callable[[Any, Any], MultibodyResult]] = MappingProxyType(
    {
        "composed": solve_composed,
        "passive_flexion": solve_passive_flexion,
        "predicted_gait": solve_predicted_gait,
    }
)


def solve_model(parts: Any, settings: MultibodyModel) -> MultibodyResult:
    """Solve the model that the settings name, one of `MODELS` or a replication."""
    if settings.model in MODELS:
        return MODELS[settings.model](parts, settings)
    solved: MultibodyResult = replication(settings.model, "model").solve(parts, settings)
    return solved
