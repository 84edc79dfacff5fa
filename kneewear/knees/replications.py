"""Models of other groups, by the name that a multibody study gives: imported when they are needed.

Each folder of :mod:`kneewear.knees.papers` that computes such a model has the modules `settings`,
with the class of its settings as `SETTINGS`, `reader`, whose `read` turns data files into parts,
and `model`, whose `solve` turns parts and settings into results. A paper whose model is a study of
its own has a record instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType

# Folder of each model.
MULTIBODY_MODELS: Mapping[str, str] = MappingProxyType(
    {
        "bouncing_ball": "bouncing_ball",
        "knee_extension": "knee_extension",
        "muscle_string": "muscle_string",
        "planar": "planar_knee",
        "spatial": "spatial_knee",
    }
)


def is_replication(name: str) -> bool:
    """True if a model of a multibody study is one of another group."""
    return name in MULTIBODY_MODELS


def replication_room(name: str) -> str:
    """Package of a model of another group."""
    return f"kneewear.knees.papers.{MULTIBODY_MODELS[name]}"


def replication(name: str, module: str) -> ModuleType:
    """Module of a model of another group."""
    return import_module(f"{replication_room(name)}.{module}")
