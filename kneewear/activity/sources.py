"""Activity from built-in curves or from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kneewear.activity.activity import Activity
from kneewear.activity.checks import check_motion, check_side
from kneewear.activity.control import apply_control, judge_control
from kneewear.activity.conventions import femoral_pose
from kneewear.activity.cycles import frame_percent
from kneewear.activity.load import (
    GRAVITY,
    axial_load,
    clip_noise,
    judge_peak,
    judge_sharing,
    load_sharing,
)
from kneewear.activity.motion import (
    apply_deviation,
    compare_flexion,
    cut_cycle,
    judge_flexion,
    judge_processing,
    leave_out_missing,
    mean_stride,
    motion_pose,
)
from kneewear.activity.plausibility import (
    judge_activity,
    judge_built_in,
    judge_duration,
    judge_load,
    judge_motion,
)
from kneewear.activity.settings import (
    BumpCurve,
    FileActivity,
    MotionSettings,
    ParametricActivity,
    ZeroSettings,
    parse_activity,
)
from kneewear.activity.statements import judge_statements
from kneewear.base.checks import checks
from kneewear.errors import InputDataError
from kneewear.mechanics.rotations import angles_123, grood_suntay

Array = NDArray[np.float64]


def rebuild_activity(activity: Activity, settings: Mapping[str, Any] | None) -> Activity:
    """Built-in activity with the settings of a case (plain builtins); the same one without any."""
    if not settings:
        return activity
    return build_activity(activity.name, parse_activity(settings), activity.percent.size)


def rebuild_activities(
    activities: Iterable[Activity], settings: Mapping[str, Mapping[str, Any]]
) -> dict[str, Activity]:
    """Activities by name, those named in `settings` with the settings of a case."""
    return {
        activity.name: rebuild_activity(activity, settings.get(activity.name))
        for activity in activities
    }


def build_activity(
    name: str,
    settings: ParametricActivity | FileActivity,
    frames: int,
    motion: pd.DataFrame | None = None,
    load: pd.DataFrame | None = None,
    *,
    knee: str = "right",
) -> Activity:
    """Activity of a study.

    Parameters
    ----------
    name : str
        Name of the activity.
    settings : ParametricActivity or FileActivity
        Its block of the settings.
    frames : int
        Number of frames of the cycle.
    motion, load : DataFrame, optional
        Curves as `read_curves` returns them (deg, mm, N, N m), columns named as in the settings'
        `columns`; needed by a FileActivity.
    knee : str
        "right" or "left", the knee the implant is made for; only names and conventions of files
        depend on it because all motion is stored as that of a right knee.

    Returns
    -------
    Activity

    Raises
    ------
    ValueError
        If curves are needed and not given.
    InputDataError
        If a load or a motion is impossible, or belongs to the other knee.
    """
    if isinstance(settings, ParametricActivity):
        return build_parametric_activity(name, settings, frames)
    if motion is None or load is None:
        raise ValueError(f"activity {name} is read from files: motion and load are needed")
    check_side(settings, knee)
    motion, seconds, stride_notes = _cycle(motion, settings.motion, settings.motion.file)
    load, load_seconds, load_strides = _cycle(load, settings.motion, settings.load.file)
    motion, missing_notes = leave_out_missing(motion, settings.motion.file)
    warnings = check_motion(motion, settings.motion)
    warnings += judge_motion(motion, settings.motion, settings.zero)
    if seconds is not None:
        expected = settings.duration_s
        warnings += judge_duration("motion.duration", seconds, expected, settings.motion.file)
    if load_seconds is not None:
        expected = seconds or settings.duration_s
        warnings += judge_duration("load.duration", load_seconds, expected, settings.load.file)
    pose, notes = motion_pose(motion, settings.motion, frames, settings.closing_percent)
    warnings += judge_processing(motion, settings.motion, pose, settings.closing_percent)
    warnings += judge_statements(settings, motion, load)
    load, noise_notes = clip_noise(load, settings.load)
    warnings += judge_load(load, settings.load) + judge_sharing(load, settings.load)
    forces, load_notes = axial_load(load, settings.load, frames, settings.closing_percent)
    warnings += judge_peak(load, settings.load, forces)
    warnings += judge_control(motion, load, settings) + judge_flexion(motion, load, settings)
    sharing, sharing_notes = load_sharing(load, settings.load, frames, settings.closing_percent)
    activity = Activity(
        name=name,
        percent=frame_percent(frames),
        duration=settings.duration_s,
        translation=pose[:, :3],
        rotation=pose[:, 3:],
        load=forces,
        angles="body-three" if settings.motion.convention == "body-123" else "clinical",
        measured_percent=motion["percent"].to_numpy(dtype=float),
        measured_pose=np.hstack(femoral_pose(motion, settings.motion)),
        medial_share=sharing.get("medial_share"),
        varus_moment=sharing.get("varus_moment"),
        notes=(
            *(*stride_notes, *load_strides, *missing_notes, *notes),
            *(*noise_notes, *load_notes, *sharing_notes, *compare_flexion(motion, load, settings)),
            _peak_note(forces),
        ),
    )
    activity = replace(activity, warnings=(*warnings, *judge_activity(activity, settings)))
    activity = apply_zero(apply_control(activity, motion, settings), settings.zero)
    activity = activity.scaled(settings.motion.scale.factors)
    return apply_deviation(activity, motion, settings.motion)


def _cycle(
    curves: pd.DataFrame, settings: MotionSettings, file: str
) -> tuple[pd.DataFrame, float | None, tuple[str, ...]]:
    """One cycle over percent, its length, s, and notes: of a window, or the mean of strides."""
    if settings.strides_s is not None:
        return mean_stride(curves, settings.strides_s, file)
    return *cut_cycle(curves, settings.window_s, file), ()


def build_parametric_activity(name: str, settings: ParametricActivity, frames: int) -> Activity:
    """Sample the curves of a built-in activity over one cycle of `frames` frames.

    Varus, height and medial-lateral position are zero: there the search of the equilibrium starts.
    InputDataError if the load is not positive at every frame, or too large to be in body weights.
    """
    percent = frame_percent(frames)
    load = curve(settings.load_body_weights, percent)
    _check_load(load, percent, f"key activities.{name}.load_body_weights")
    curves = {
        key: curve(getattr(settings, key), percent)
        for key in ("flexion_deg", "tibial_external_rotation_deg", "femur_posterior_mm")
    }
    warnings = judge_built_in(curves, percent, f"key activities.{name}", settings.zero)
    translation = np.zeros((frames, 3))
    translation[:, 0] = curves["femur_posterior_mm"]
    rotation = grood_suntay(
        np.radians(curves["flexion_deg"]),
        0.0,
        np.radians(curves["tibial_external_rotation_deg"]),
    )
    activity = Activity(
        name=name,
        percent=percent,
        duration=settings.duration_s,
        translation=translation,
        rotation=angles_123(rotation),
        load=load,
        notes=(
            "Representative built-in curves, not a measurement. The axial load is "
            f"{load.min():.2f} to {load.max():.2f} body weights; Bei (2003, section 4.2.1) scaled "
            "a double-hump ground reaction to 0.25 to 3 body weights, and took the motion of one "
            "patient from fluoroscopy.",
        ),
    )
    activity = replace(activity, warnings=(*warnings, *judge_activity(activity, settings)))
    return apply_zero(activity, settings.zero)


def apply_zero(activity: Activity, settings: ZeroSettings) -> Activity:
    """The activity with its translations moved where an offset is given.

    Where their zero is the dwell pose, `Activity.zero` is NaN until the dwell pose of the implant
    is found. Offsets count as posterior, superior and medial, independent of the signs of the file.
    """
    given = (settings.anterior_posterior, settings.superior_inferior, settings.medial_lateral)
    shift = np.array([0.0 if isinstance(one, str) else one for one in given])
    if shift.any():
        words = ", ".join(f"{value:+g}" for value in shift)
        note = f"position moved by {words} mm (posterior, superior, medial)"
        activity = replace(activity.moved(shift), notes=(*activity.notes, note))
    at_dwell_pose = np.array([one == "dwell_pose" for one in given])
    return (
        replace(activity, zero=np.where(at_dwell_pose, np.nan, activity.zero))
        if any(at_dwell_pose)
        else activity
    )


def _peak_note(load: Array) -> str:
    """Sentence on the peak of a load in body weights."""
    peak = float(load.max())
    return (
        f"load with a peak of {peak:.3g} body weights, {peak * GRAVITY:.3g} N per kg of body mass"
    )


def _check_load(load: Array, percent: Array, key: str) -> None:
    """Refuse loads that vanish, are tensile or are in newtons."""
    least, most = int(load.argmin()), int(load.argmax())
    limit = checks()["load.peak"].range.highest
    if load[least] <= 0:
        raise InputDataError(
            key,
            f"a load of {load[least]:.3g} body weights at {percent[least]:g} percent",
            "a load above 0 at every frame",
            "Raise its base, or make the bumps of negative height smaller.",
        )
    if load[most] > limit:
        raise InputDataError(
            key,
            f"a load of {load[most]:.3g} at {percent[most]:g} percent",
            f"body weights, below {limit:g}",
            "This looks like newtons: divide base and heights by body mass x 9.81.",
        )


def curve(settings: BumpCurve, percent: ArrayLike) -> Array:
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
