"""Meshes of the bodies that strings slide over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kneewear.geometry.meshes import MM_PER_UNIT, TriangleMesh, joined
from kneewear.io.shapes import load_shape
from kneewear.knees.papers.muscle_string.settings import MuscleStringSettings


def read(
    settings: MuscleStringSettings, files: Mapping[str, str | Path]
) -> dict[str, TriangleMesh]:
    """Mesh of each body that has files, mm, by body."""
    scale = MM_PER_UNIT[settings.unit]
    found = {}
    for name, body in settings.bodies.items():
        parts = [load_shape(files[f"{name}_{number}"]) for number in range(len(body.meshes))]
        if parts:
            found[name] = joined(
                [TriangleMesh(scale * part.vertices, part.faces) for part in parts]
            )
    return found
