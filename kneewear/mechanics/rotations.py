"""Rotation matrices of the femoral component in the insert's frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Largest difference of products of rows of a rotation matrix from those of an exact one.
ROTATION_ERROR = 1e-6


def _about(axis: int, angle: ArrayLike) -> NDArray[np.float64]:
    """Rotation matrices about one coordinate axis."""
    angle = np.asarray(angle, dtype=float)
    matrix = np.zeros((*angle.shape, 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[..., axis, axis] = 1.0
    matrix[..., i, i] = matrix[..., j, j] = np.cos(angle)
    matrix[..., j, i] = np.sin(angle)
    matrix[..., i, j] = -np.sin(angle)
    return matrix


def body_three_123(angles: ArrayLike) -> NDArray[np.float64]:
    """Rotation R = R1 R2 R3, from femoral components of a vector to those of the insert.

    `angles` (..., 3) are body-three 1-2-3 (Kane, Likins and Levinson 1983, Spacecraft Dynamics):
    rotations about x, then the rotated y, then the rotated z, rad. For a right knee the first is
    varus, the second external tibial rotation, the third minus flexion.
    """
    angles = np.asarray(angles, dtype=float)
    first, second, third = (_about(axis, angles[..., axis]) for axis in range(3))
    return first @ second @ third


def require_rotation(matrix: ArrayLike) -> NDArray[np.float64]:
    """The matrix (3, 3), when it is a rotation; ValueError otherwise.

    A rotation has orthogonal rows of length one within `ROTATION_ERROR`, in a right-handed order.
    Matrices with values that are not finite pass: they are refused where poses are read.
    """
    rotation = np.asarray(matrix, dtype=float)
    if rotation.shape != (3, 3):
        raise ValueError(f"a rotation of shape {rotation.shape}; expected (3, 3)")
    off = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    mirrored = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0.0
    if off > ROTATION_ERROR or mirrored:
        found = "a mirror" if off <= ROTATION_ERROR else f"rows that are off by {off:.2g}"
        raise ValueError(
            f"found {found} in rotation {rotation.tolist()}; expected a rotation matrix, such as "
            "those of kneewear.mechanics.rotations"
        )
    return rotation


def angles_123(rotation: ArrayLike) -> NDArray[np.float64]:
    """Body-three 1-2-3 angles, rad, of rotation matrices, shape (..., 3, 3).

    The second is within a quarter turn; at a quarter turn, which a knee never reaches, the angles
    are not unique.
    """
    rotation = np.asarray(rotation, dtype=float)
    return np.stack(
        [
            np.arctan2(-rotation[..., 1, 2], rotation[..., 2, 2]),
            np.arcsin(np.clip(rotation[..., 0, 2], -1.0, 1.0)),
            np.arctan2(-rotation[..., 0, 1], rotation[..., 0, 0]),
        ],
        axis=-1,
    )


def grood_suntay(
    flexion: ArrayLike, varus: ArrayLike, external_rotation: ArrayLike
) -> NDArray[np.float64]:
    """Rotation R = Ry(external rotation) Rx(varus) Rz(-flexion) from clinical angles.

    Flexion, varus and external tibial rotation of a right knee, rad, after Grood, E. S. and Suntay,
    W. J. (1983), J Biomech Eng 105:136-144, doi:10.1115/1.3138397.
    """
    flexion, varus, external_rotation = np.broadcast_arrays(flexion, varus, external_rotation)
    return _about(1, external_rotation) @ _about(0, varus) @ _about(2, -np.asarray(flexion))


def clinical_angles(rotation: ArrayLike) -> NDArray[np.float64]:
    """Flexion, varus and external tibial rotation, rad: the inverse of `grood_suntay`."""
    rotation = np.asarray(rotation, dtype=float)
    return np.stack(
        [
            -np.arctan2(rotation[..., 1, 0], rotation[..., 1, 1]),
            np.arcsin(np.clip(-rotation[..., 1, 2], -1.0, 1.0)),
            np.arctan2(rotation[..., 0, 2], rotation[..., 2, 2]),
        ],
        axis=-1,
    )


def turns_312(angles: ArrayLike) -> NDArray[np.float64]:
    """Rotation R = Rz Rx Ry of body-fixed turns z, x, y (..., 3), rad, as JointTrack counts."""
    angles = np.asarray(angles, dtype=float)
    return _about(2, angles[..., 0]) @ _about(0, angles[..., 1]) @ _about(1, angles[..., 2])


def angles_312(rotation: ArrayLike) -> NDArray[np.float64]:
    """Body-fixed turns z, x, y (..., 3), rad, of rotation matrices R = Rz Rx Ry (..., 3, 3).

    x is within a quarter turn; where it is one, y is zero, as only the sum of z and y counts.
    """
    matrix = np.asarray(rotation, dtype=float)
    x = np.arcsin(np.clip(matrix[..., 2, 1], -1.0, 1.0))
    free = np.abs(matrix[..., 2, 1]) < 1.0 - 1e-12
    z = np.where(
        free,
        np.arctan2(-matrix[..., 0, 1], matrix[..., 1, 1]),
        np.arctan2(matrix[..., 1, 0], matrix[..., 0, 0]),
    )
    y = np.where(free, np.arctan2(-matrix[..., 2, 0], matrix[..., 2, 2]), 0.0)
    return np.stack([z, x, y], axis=-1)


def turn_axes(angles: ArrayLike) -> NDArray[np.float64]:
    """Axes about which each of the body-three 1-2-3 angles, rad, rotates.

    Unit axes in the fixed frame, one per column (..., 3, 3): the angular velocity is this matrix
    times the rates of the angles. Singular when the second angle is a quarter turn.
    """
    angles = np.asarray(angles, dtype=float)
    (s1, c1), (s2, c2) = ((np.sin(angles[..., n]), np.cos(angles[..., n])) for n in (0, 1))
    axes = np.zeros((*angles.shape, 3))
    axes[..., 0, 0] = 1.0
    axes[..., 1, 1], axes[..., 2, 1] = c1, s1
    axes[..., 0, 2], axes[..., 1, 2], axes[..., 2, 2] = s2, -s1 * c2, c1 * c2
    return axes
