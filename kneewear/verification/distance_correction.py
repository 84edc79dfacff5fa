"""Penetrations of a simulated case by the distance methods of the dissertation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.surface import Surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.simulation.history import ContactHistory

Array = NDArray[np.float64]


def correct_distances(
    grid: ElementGrid, femoral: Mapping[str, Surface], history: ContactHistory
) -> pd.DataFrame:
    """Penetration of every loaded element at the largest load, by four methods.

    Returns
    -------
    DataFrame
        One row per side and loaded element of the history's first case: position of its centre
        (frame of the insert); angle between its normal and the indenter's at the nearest point
        (`angle_deg`) and on the element's normal (`ray_angle_deg`); penetration as minimum distance
        and along the ray, without and with correction. NaN for a ray without hit.

    Notes
    -----
    With A the element's centre, n its normal, B the nearest point of the indenter, C that on the
    line along n, and theta the angle between the normals: |AB|, |AB| / cos(theta / 2), |AC| and
    |AC| cos(theta) / cos(theta / 2), with theta of the ray at C. The corrected ones are measured
    along the normal of the mid-surface. For flat surfaces |AC| = |AB| / cos(theta), so that the
    corrected ones are equal, and all but the third agree to second order in theta.

    References
    ----------
    Bei (2003), section 2.2.2 and Fig. 2-2, which describe the corrections in words.
    """
    frame = int(np.argmax(history.load[0]))
    rotation = body_three_123(history.rotation[0, frame])
    translation = history.translation[0, frame]
    parts = []
    for number, side in enumerate(grid.sides):
        loaded = history.pressure[0, frame, number] > 0.0
        centre, normal = grid.centre[number][loaded], grid.normal[number][loaded]
        penetrations = _penetrations(
            femoral[side], (centre - translation) @ rotation, normal @ rotation
        )
        columns = {"x_mm": centre[:, 0], "z_mm": centre[:, 2], **penetrations}
        parts.append(pd.DataFrame({"activity": history.activity, "side": side, **columns}))
    return pd.concat(parts, ignore_index=True)


def _penetrations(condyle: Surface, centre: Array, normal: Array) -> dict[str, Array]:
    """Angles and penetrations of elements given in the femoral frame."""
    _, _, distance, nearest_normal, _ = condyle.closest_points(centre)
    u, v, along, hit = condyle.ray_hits(centre, -normal)
    (u_low, _), (v_low, _) = condyle.domain
    hit_normal = condyle.normal(np.where(hit, u, u_low), np.where(hit, v, v_low))
    hit_normal = np.where(hit[:, None], hit_normal, np.nan)
    ray = np.where(hit, along, np.nan)
    angle, ray_angle = _angle(normal, nearest_normal), _angle(normal, hit_normal)
    return {
        "angle_deg": np.degrees(angle),
        "ray_angle_deg": np.degrees(ray_angle),
        "minimum_distance_mm": -distance,
        "minimum_distance_corrected_mm": -distance / np.cos(angle / 2.0),
        "ray_mm": ray,
        "ray_corrected_mm": ray * np.cos(ray_angle) / np.cos(ray_angle / 2.0),
    }


def _angle(element: Array, indenter: Array) -> Array:
    """Angle between an element's normal and the opposite of the indenter's, rad."""
    cosine = -(element * indenter).sum(axis=-1)
    sine = np.linalg.norm(np.cross(element, indenter), axis=-1)
    return np.asarray(np.arctan2(sine, cosine))
