"""What the distance methods of the source make of the penetrations of a simulated case."""

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

COLUMNS = [
    "activity", "side", "x_mm", "z_mm", "angle_deg", "ray_angle_deg", "minimum_distance_mm",
    "minimum_distance_corrected_mm", "ray_mm", "ray_corrected_mm",
]  # fmt: skip


def correct_distances(
    grid: ElementGrid, femoral: Mapping[str, Surface], histories: Mapping[str, ContactHistory]
) -> pd.DataFrame:
    """Penetration of every loaded element at the largest load, by four methods.

    Parameters
    ----------
    grid : ElementGrid
        Elements of the insert.
    femoral : mapping of side to Surface
        Condyles, in the femoral frame.
    histories : mapping of activity to ContactHistory
        Of one case, the first one; of none where it failed.

    Returns
    -------
    DataFrame
        A row an activity, side and loaded element: place of its centre (insert's frame, mm), angle
        between the indenter's normal and its own at the nearest point and where its normal meets
        the indenter (deg), and the penetration (mm) as minimum distance and along the ray, without
        and with correction. The ray is missing where it meets nothing.

    Notes
    -----
    With A the element's centre, n its normal, B the nearest point of the indenter, C that on the
    line along n, and theta the angle of the normals: |AB|, |AB| / cos(theta / 2), |AC| and
    |AC| cos(theta) / cos(theta / 2), theta of the ray at C. The corrected ones lie along the normal
    of the surface midway between both. Where both surfaces are flat, all but the third agree to
    second order in theta, and both corrected ones exactly, for |AC| = |AB| / cos(theta).

    References
    ----------
    Bei (2003), section 2.2.2 and Fig. 2-2, which give the corrections in words.
    """
    parts = [
        _on_a_side(grid, number, femoral[side], history).assign(activity=activity, side=side)
        for activity, history in histories.items()
        if history.cases
        for number, side in enumerate(grid.sides)
    ]
    return pd.concat(parts, ignore_index=True)[COLUMNS] if parts else pd.DataFrame(columns=COLUMNS)


def _on_a_side(
    grid: ElementGrid, side: int, condyle: Surface, history: ContactHistory
) -> pd.DataFrame:
    """Loaded elements of one side at the largest load."""
    frame = int(np.argmax(history.load[0]))
    rotation = body_three_123(history.rotation[0, frame])
    loaded = history.pressure[0, frame, side] > 0.0
    # In the femoral frame, where the condyle stands still.
    centre = (grid.centre[side][loaded] - history.translation[0, frame]) @ rotation
    normal = grid.normal[side][loaded] @ rotation
    _, _, distance, facing, _ = condyle.closest_points(centre)
    u, v, along, hit = condyle.ray_hits(centre, -normal)
    met = np.where(hit[:, None], 0.0, np.nan) + condyle.normal(
        np.where(hit, u, condyle.domain[0][0]), np.where(hit, v, condyle.domain[1][0])
    )
    ray = np.where(hit, along, np.nan)
    angle, ray_angle = _angle(normal, facing), _angle(normal, met)
    return pd.DataFrame(
        {
            "x_mm": grid.centre[side][loaded][:, 0],
            "z_mm": grid.centre[side][loaded][:, 2],
            "angle_deg": np.degrees(angle),
            "ray_angle_deg": np.degrees(ray_angle),
            "minimum_distance_mm": -distance,
            "minimum_distance_corrected_mm": -distance / np.cos(angle / 2.0),
            "ray_mm": ray,
            "ray_corrected_mm": ray * np.cos(ray_angle) / np.cos(ray_angle / 2.0),
        }
    )


def _angle(element: Array, indenter: Array) -> Array:
    """Angle between an element's normal and the opposite of the indenter's, rad."""
    cosine = -(element * indenter).sum(axis=-1)
    sine = np.linalg.norm(np.cross(element, indenter), axis=-1)
    angle: Array = np.arctan2(sine, cosine)
    return angle
