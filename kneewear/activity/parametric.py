"""Built-in activities drawn from smooth periodic bumps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.activity.activity import Activity
from kneewear.config import BumpCurve, ParametricActivity
from kneewear.mechanics import angles_123, grood_suntay


def build_parametric_activity(name: str, settings: ParametricActivity, frames: int) -> Activity:
    """Sample a built-in activity.

    Parameters
    ----------
    name : str
        Name of the activity.
    settings : ParametricActivity
        Curves over one cycle.
    frames : int
        Number of frames of the cycle.

    Returns
    -------
    Activity
        With zero varus, height and medial-lateral position as start of the equilibrium search.
    """
    percent = 100.0 * np.arange(frames) / frames
    translation = np.zeros((frames, 3))
    translation[:, 0] = curve(settings.femur_posterior_mm, percent)
    rotation = grood_suntay(
        np.radians(curve(settings.flexion_deg, percent)),
        0.0,
        np.radians(curve(settings.tibial_external_rotation_deg, percent)),
    )
    return Activity(
        name=name,
        percent=percent,
        duration=settings.duration_s,
        translation=translation,
        rotation=angles_123(rotation),
        load=curve(settings.load_body_weights, percent),
        notes=("Representative built-in curves, not a measurement.",),
    )


def curve(settings: BumpCurve, percent: ArrayLike) -> NDArray[np.float64]:
    """Value of a periodic curve: a base plus raised cosines.

    Parameters
    ----------
    settings : BumpCurve
        Base and bumps; a bump of width w is h cos^2(pi d / (2 w)) at a distance d < w from its
        centre and zero beyond, so w is its full width at half height and bumps one width apart
        join by half cosines, as the curves of ISO 14243 do.
    percent : array
        Percent of the cycle.

    Returns
    -------
    array
        In the unit of the curve.
    """
    percent = np.asarray(percent, dtype=float)
    value = np.full(percent.shape, settings.base)
    for bump in settings.bumps:
        away = (percent - bump.centre_percent + 50.0) % 100.0 - 50.0
        inside = np.abs(away) < bump.width_percent
        shape = np.cos(0.5 * np.pi * away / bump.width_percent) ** 2
        value = value + np.where(inside, bump.height * shape, 0.0)
    return value
