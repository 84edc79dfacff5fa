"""Models outside the core, by the name that a study gives: imported when they are needed.

Nothing of the core imports `kneewear.knees.papers`. Each folder there has the modules `settings`,
with the class of its settings as `SETTINGS`, and `model`, whose `read` turns data files into parts
and `solve` parts and settings into results.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType

# Folder of each model of a multibody study, and of each other model.
MULTIBODY_MODELS: Mapping[str, str] = MappingProxyType(
    {
        "bouncing_ball": "bouncing_ball",
        "knee_extension": "knee_extension",
        "muscle_string": "muscle_string",
        "planar": "planar_knee",
        "spatial": "spatial_knee",
    }
)
STUDY_MODELS: Mapping[str, str] = MappingProxyType({"fe_knee": "fe_knee"})


def replication_room(name: str) -> list[str]:
    """Package of a model, as a list; empty if it is no replication."""
    folder = {**MULTIBODY_MODELS, **STUDY_MODELS}.get(name)
    return [] if folder is None else [f"kneewear.knees.papers.{folder}"]


def replication(name: str, module: str) -> ModuleType:
    """Module of a model that is a replication."""
    return import_module(f"{replication_room(name)[0]}.{module}")
