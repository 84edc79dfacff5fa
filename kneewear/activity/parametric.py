"""Built-in activities of smooth periodic bumps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.activity.activity import Activity
from kneewear.activity.load import MOST_BODY_WEIGHTS
from kneewear.errors import InputDataError
from kneewear.mechanics.rotations import angles_123, grood_suntay
from kneewear.settings.activity import BumpCurve, ParametricActivity


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

    Raises
    ------
    InputDataError
        If the load is not positive at every frame, or too large to be in body weights.
    """
    percent = 100.0 * np.arange(frames) / frames
    load = curve(settings.load_body_weights, percent)
    _check_load(load, percent, f"key activities.{name}.load_body_weights")
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
        load=load,
        notes=("Representative built-in curves, not a measurement.",),
    )


def _check_load(load: NDArray[np.float64], percent: NDArray[np.float64], key: str) -> None:
    """Refuse loads that vanish, are tensile or are in newtons."""
    least, most = int(load.argmin()), int(load.argmax())
    if load[least] <= 0:
        raise InputDataError(
            key,
            f"a load of {load[least]:.3g} body weights at {percent[least]:g} percent",
            "a load above 0 at every frame",
            "Raise its base, or make the bumps of negative height smaller.",
        )
    if load[most] > MOST_BODY_WEIGHTS:
        raise InputDataError(
            key,
            f"a load of {load[most]:.3g} at {percent[most]:g} percent",
            f"body weights, below {MOST_BODY_WEIGHTS:g}",
            "This looks like newtons: divide base and heights by body mass x 9.81.",
        )


def curve(settings: BumpCurve, percent: ArrayLike) -> NDArray[np.float64]:
    """Value of a periodic curve at percents of the cycle: a base plus raised cosines.

    A bump of width w is h cos^2(pi d / (2 w)) at a distance d < w from its centre and zero beyond,
    so w is its full width at half height and bumps one width apart join by half cosines, as the
    curves of ISO 14243 do.
    """
    percent = np.asarray(percent, dtype=float)
    value = np.full(percent.shape, settings.base)
    for bump in settings.bumps:
        away = (percent - bump.centre_percent + 50.0) % 100.0 - 50.0
        inside = np.abs(away) < bump.width_percent
        shape = np.cos(0.5 * np.pi * away / bump.width_percent) ** 2
        value = value + np.where(inside, bump.height * shape, 0.0)
    return value
