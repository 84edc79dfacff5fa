"""Recordings of poses of the files themselves: origin and axes of the files are the measurement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from kneewear.activity.conventions import femoral_pose
from kneewear.activity.settings import OpenSimMotion
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.curves import read_curves
from kneewear.mechanics.rotations import body_three_123
from kneewear.setup.columns import find_opensim, parse_columns, read_recording, require_clock
from kneewear.setup.shapes import RecognisedShapes

# Directions of the axes of OpenSim in a right and a left knee.
_OPENSIM_AXES = {
    knee: {"x": "anterior", "y": "superior", "z": side}
    for knee, side in (("right", "lateral"), ("left", "medial"))
}
# Largest distance of registered components in a cycle, mm: of curves, meshes and lift-off.
_NEAR = 5.0
# Frames of the cycle in which it is measured, and width of the vertices of an insert, mm.
_FRAMES = 12
_BESIDE = 2.0


def is_registered(shapes: RecognisedShapes, motion: str, columns: Sequence[str]) -> bool:
    """True if coordinates of OpenSim put the femoral file on the file of the insert.

    Models whose bodies have the implant's geometry have coordinates of these files. Others count
    from origins of their own, and would leave the components centimetres apart.

    Parameters
    ----------
    shapes : RecognisedShapes
        Implant with the origins of its files.
    motion : str
        File of the motion.
    columns : sequence of str
        What the user calls columns, `TITLE=MEANING`.
    """
    if any(axes != _OPENSIM_AXES[shapes.knee] for axes in shapes.file_axes.values()):
        return False
    renamed = parse_columns(tuple(columns), (motion,), ignored=True)
    recording = read_recording(motion, shapes.knee, renamed)
    coordinates = find_opensim(recording)
    if coordinates is None:
        return False
    clock, title = require_clock(recording)
    named = {clock: recording.key(title), **coordinates}
    settings = OpenSimMotion.model_validate(
        {"file": motion, "columns": named, "convention": "opensim"}
    )
    translation, rotation = femoral_pose(read_curves(motion, named), settings)
    frames = np.unique(np.linspace(0, len(translation) - 1, _FRAMES).astype(int))
    gaps = gaps_between(
        shapes.sheets["insert"],
        shapes.parts["femoral"],
        translation[frames],
        body_three_123(rotation[frames]),
    )
    return bool(np.abs(gaps).max() <= _NEAR)


def gaps_between(
    insert: TriangleMesh, femoral: TriangleMesh, translation: np.ndarray, rotation: np.ndarray
) -> np.ndarray:
    """Least height of the femoral vertices over the insert in each pose, mm, shape (n,).

    Negative where they overlap, infinite where the component is beside the insert.
    """
    tree = cKDTree(insert.vertices[:, [0, 2]])
    least = []
    for shift, turn in zip(translation, rotation, strict=True):
        points = femoral.vertices @ turn.T + shift
        distance, nearest = tree.query(points[:, [0, 2]], distance_upper_bound=_BESIDE)
        above = np.isfinite(distance)
        heights = points[above, 1] - insert.vertices[nearest[above], 1]
        least.append(heights.min(initial=np.inf))
    return np.array(least)
