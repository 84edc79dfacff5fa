"""Whether a component belongs to the knee it is said to belong to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh

Array = NDArray[np.float64]

# An anterior flange leans 4-8 mm to the lateral side where it leans at all.
_FLANGE_LEAN_MM = 2.0
# Asymmetric tibial components are longer on the medial side, by 2-8 mm.
_LONGER_PLATEAU_MM = 2.0
# The notch for the posterior cruciate ligament is 8-15 mm deep.
_NOTCH_MM = 4.0
# Part of the width about the middle that belongs to neither condyle.
_MIDDLE = 0.06
_REMEDY = (
    "Either the component is of the other knee (correct `knee` and `axes`), or the medial/lateral "
    "or anterior/posterior words of `axes` are turned round."
)


def check_femoral_side(mesh: TriangleMesh, knee: str, source: str = "femoral mesh") -> None:
    """Refuse a femoral component whose shape is that of the other knee, or runs backwards.

    Parameters
    ----------
    mesh : TriangleMesh
        Component after `to_knee_axes`, so as a right knee if all that was said of it is true.
    knee : str
        "right" or "left", as said.
    source : str
        Name of the file for messages.

    Raises
    ------
    InputDataError
        If the condyles are joined behind and not in front, or the anterior flange leans medially.

    Notes
    -----
    Symmetric components, and sheets without a flange, fit both knees and pass.
    """
    middle, area = _patches(mesh)
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    length, height, width = high - low
    below = middle[:, 1] < low[1] + 0.5 * height
    mid_plane = 0.5 * (middle[below, 2].min() + middle[below, 2].max())
    between = np.abs(middle[:, 2] - mid_plane) < _MIDDLE * width
    if between.any():
        bridge = np.average(middle[between, 0], weights=area[between])
        if bridge > low[0] + 0.65 * length:
            raise InputDataError(
                source,
                "condyles joined behind and open in front",
                f"condyles joined in front, on the {knee} knee stated",
                _REMEDY,
                "knee",
            )
    flange = (middle[:, 0] < low[0] + 0.3 * length) & (middle[:, 1] > low[1] + 0.65 * height)
    if flange.any():
        lean = float(np.average(middle[flange, 2], weights=area[flange]) - mid_plane)
        if lean > _FLANGE_LEAN_MM and between.any():
            raise InputDataError(
                source,
                f"an anterior flange that leans {lean:.1f} mm to the medial side",
                f"one that leans to the lateral side, on the {knee} knee stated",
                _REMEDY,
                "knee",
            )


def check_insert_side(mesh: TriangleMesh, knee: str, source: str = "insert mesh") -> None:
    """Refuse an insert whose outline is that of the other knee, or runs backwards.

    Parameters
    ----------
    mesh : TriangleMesh
        Insert after `to_knee_axes`, so as a right knee if all that was said of it is true.
    knee : str
        "right" or "left", as said.
    source : str
        Name of the file for messages.

    Raises
    ------
    InputDataError
        If the notch is in front, or the lateral plateau is the longer one.

    Notes
    -----
    Symmetric inserts without a notch fit both knees and pass.
    """
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    width = high[2] - low[2]
    across = mesh.vertices[:, 2] - 0.5 * (low[2] + high[2])
    x = mesh.vertices[:, 0]
    between = np.abs(across) < _MIDDLE * width
    if between.any():
        front, behind = float(x[between].min() - low[0]), float(high[0] - x[between].max())
        if front > behind + _NOTCH_MM:
            raise InputDataError(
                source,
                f"a notch {front:.1f} mm deep in front and {behind:.1f} mm behind",
                f"the notch behind, on the {knee} knee stated",
                _REMEDY,
                "knee",
            )
    medial, lateral = (
        float(np.ptp(x[side])) if side.any() else 0.0
        for side in (across > 0.15 * width, across < -0.15 * width)
    )
    if lateral > medial + _LONGER_PLATEAU_MM and medial > 0.0:
        raise InputDataError(
            source,
            f"a lateral plateau {lateral - medial:.1f} mm longer than the medial one",
            f"the medial one as long or longer, on the {knee} knee stated",
            _REMEDY,
            "knee",
        )


def _patches(mesh: TriangleMesh) -> tuple[Array, Array]:
    """Middles and areas of the triangles."""
    return mesh.vertices[mesh.faces].mean(axis=1), np.linalg.norm(mesh.face_normals, axis=1)
