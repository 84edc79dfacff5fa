"""Result of every model of a multibody study: curves, comparisons and a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.meshes import TriangleMesh, simplified

Array = NDArray[np.float64]

# Points of each mesh that are drawn, at most about.
POINTS = 2000
BONE_POINTS = 3000
CURVE_COLUMNS = ("panel", "series", "over", "at", "unit", "value")


@dataclass(frozen=True)
class Scene:
    """Bodies and lines over the motion, for animation.

    `meshes` are in the bodies' frames, by body; `rotation` (n, n_bodies, 3, 3) and `translation`
    (n, n_bodies, 3) place them in the ground frame, mm; `lines` are, for each time, polylines.
    `bones` move with the bodies, too; `shapes` says what the meshes are.
    """

    bodies: tuple[str, ...]
    meshes: Mapping[str, TriangleMesh]
    rotation: Array
    translation: Array
    labels: tuple[str, ...]
    lines: tuple[tuple[Array, ...], ...]
    shapes: str
    bones: Mapping[str, TriangleMesh] = field(default_factory=dict)


@dataclass(frozen=True)
class MultibodyResult:
    """Results of a model.

    `kinematics` and `forces` are curves, one value per row: `panel` and `series` name a diagram and
    a curve in it, `over` what it is drawn over, `at` the place there, `value` in `unit`.
    `literature` compares computed numbers with those of a source, a measurement or a target (see
    `kneewear.analysis.literature.judge_number`). `motion` holds
    the clinical coordinates of the components over a cycle (Grood and Suntay, right knee), in the
    columns of a file that an activity can name. `patella` holds motion and force of a femoral
    component on the button of a patella, in the columns of a file that a test of a button can name.
    `laxity` holds how far each load of a laxity test moves the tibia.
    """

    kinematics: pd.DataFrame
    forces: pd.DataFrame
    literature: pd.DataFrame
    scene: Scene | None = None
    motion: pd.DataFrame | None = None
    patella: pd.DataFrame | None = None
    laxity: pd.DataFrame | None = None


def curves(
    panel: str, over: str, at: ArrayLike, unit: str, series: Mapping[str, ArrayLike]
) -> pd.DataFrame:
    """Curves of one diagram as rows."""
    at = np.asarray(at, dtype=float)
    parts = [
        pd.DataFrame(
            {"panel": panel, "series": name, "over": over, "at": at, "unit": unit, "value": values}
        )
        for name, values in series.items()
    ]
    return pd.concat(parts, ignore_index=True)[list(CURVE_COLUMNS)]


def scene_record(scene: Scene | None) -> dict[str, Any]:
    """A scene as plain builtins, rounded to a micrometre: poses, lines, simplified meshes."""
    if scene is None:
        return {}
    return {
        "bodies": list(scene.bodies),
        "labels": list(scene.labels),
        "rotation": np.round(scene.rotation, 7).tolist(),
        "translation": np.round(scene.translation, 3).tolist(),
        "shapes": scene.shapes,
        "most_points": POINTS,
        "meshes": _mesh_records(scene.meshes, POINTS, 3),
        "bones": _mesh_records(scene.bones, BONE_POINTS, 2),
        "lines": [[np.round(line, 3).tolist() for line in frame] for frame in scene.lines],
    }


def _mesh_records(
    meshes: Mapping[str, TriangleMesh], most: int, decimals: int
) -> dict[str, dict[str, Any]]:
    """Simplified meshes as plain builtins, with their points rounded, mm."""
    return {
        name: {
            "points": np.round(mesh.vertices, decimals).tolist(),
            "triangles": mesh.faces.tolist(),
        }
        for name, mesh in ((name, simplified(one, most)) for name, one in meshes.items())
    }
