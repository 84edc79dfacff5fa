"""Recordings of poses of the files themselves: origin and axes of the files are the measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.spatial import cKDTree

from kneewear.activity.conventions import POSE, femoral_pose
from kneewear.activity.settings import ClinicalMotion, MotionSettings, OpenSimMotion
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.curves import read_curves
from kneewear.mechanics.rotations import body_three_123
from kneewear.setup.columns import (
    Recording,
    find_flexion,
    find_opensim,
    find_start,
    parse_columns,
    read_recording,
    require_clock,
)
from kneewear.setup.shapes import RecognisedShapes

# Directions of the axes of OpenSim in a right and a left knee.
_OPENSIM_AXES = {
    knee: {"x": "anterior", "y": "superior", "z": side}
    for knee, side in (("right", "lateral"), ("left", "medial"))
}
# Largest distance of registered components in a cycle, mm: of curves, meshes and lift-off.
_NEAR = 5.0
# Height of the femoral origin below which positions may count from rest, mm: above it the
# components would be apart by as much at rest.
_FROM_REST = 10.0
# Frames of the cycle in which it is measured, and width of the vertices of an insert, mm.
_FRAMES = 12
_BESIDE = 2.0


def is_registered(
    shapes: RecognisedShapes, motion: str, columns: Sequence[str], block: str
) -> bool:
    """True if the poses of a motion put the femoral file on the file of the insert.

    Poses from fluoroscopy, and coordinates of OpenSim models whose bodies have the implant's
    geometry, are of these files. Others count from origins of their own, and would leave the
    components centimetres apart, which is added to the assumptions; positions that count from rest
    are near zero for any files.

    Parameters
    ----------
    shapes : RecognisedShapes
        Implant with the origins of its files.
    motion : str
        File of the motion.
    columns : sequence of str
        What the user calls columns, `TITLE=MEANING`.
    block : str
        Key of the activity in the settings.
    """
    renamed = parse_columns(tuple(columns), (motion,), ignored=True)
    recording = read_recording(motion, shapes.knee, renamed)
    recorded = _opensim_motion(shapes, recording) or _clinical_motion(recording)
    if recorded is None:
        return False
    settings, named = recorded
    translation, rotation = femoral_pose(read_curves(motion, named), settings)
    if isinstance(settings, ClinicalMotion) and np.ptp([0.0, *translation[:, 1]]) <= _FROM_REST:
        return False
    frames = np.unique(np.linspace(0, len(translation) - 1, _FRAMES).astype(int))
    gaps = gaps_between(
        shapes.sheets["insert"],
        shapes.parts["femoral"],
        translation[frames],
        body_three_123(rotation[frames]),
    )
    if np.abs(gaps).max() <= _NEAR:
        return True
    shapes.assume(
        "origins",
        f"{block}.zero.anterior_posterior",
        "dwell_pose",
        f"positions of {motion} do not put the femoral file on the file of the insert, as they "
        "count from other origins: on average the component is in its dwell pose",
        "Use the shapes that were registered, in their own frames, or an offset in mm.",
    )
    return False


def _opensim_motion(
    shapes: RecognisedShapes, recording: Recording
) -> tuple[MotionSettings, dict[str, str]] | None:
    """Settings and columns of coordinates of OpenSim, if the files have its axes."""
    coordinates = find_opensim(recording)
    if coordinates is None or any(
        axes != _OPENSIM_AXES[shapes.knee] for axes in shapes.file_axes.values()
    ):
        return None
    named = _with_clock(recording, coordinates)
    block = {"file": recording.file, "columns": named, "convention": "opensim"}
    return OpenSimMotion.model_validate(block), named


def _clinical_motion(recording: Recording) -> tuple[MotionSettings, dict[str, str]] | None:
    """Settings and columns of clinical angles with all three positions."""
    if find_opensim(recording) is not None:
        return None
    coordinates = {"flexion": find_flexion(recording)} | {
        name: find_start(recording, name) for name in POSE[1:]
    }
    given = {name: column for name, column in coordinates.items() if column is not None}
    if set(given) != set(POSE):
        return None
    named = _with_clock(recording, given)
    block = {"file": recording.file, "columns": named, "convention": "grood-suntay"}
    return ClinicalMotion.model_validate(block), named


def _with_clock(recording: Recording, coordinates: Mapping[str, str]) -> dict[str, str]:
    clock, title = require_clock(recording)
    return {clock: recording.key(title), **coordinates}


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
