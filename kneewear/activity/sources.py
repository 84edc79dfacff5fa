"""Activity from built-in curves or from files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.activity.checks import check_duration, check_motion, check_side
from kneewear.activity.control import control_coordinates, hold_coordinates
from kneewear.activity.cycles import frame_percent
from kneewear.activity.load import GRAVITY, axial_load
from kneewear.activity.motion import cut_cycle, motion_pose
from kneewear.activity.parametric import build_parametric_activity
from kneewear.settings.activity import FileActivity, ParametricActivity


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
    motion, seconds = cut_cycle(motion, settings.motion.window_s, settings.motion.file)
    load, _ = cut_cycle(load, settings.motion.window_s, settings.load.file)
    warnings = check_motion(motion, settings.motion)
    if seconds is not None:
        warnings += check_duration(seconds, settings)
    pose = motion_pose(motion, settings.motion, frames, settings.closing_percent)
    pose = hold_coordinates(pose, settings.control)
    control = control_coordinates(motion, settings, frames)
    forces, load_notes = axial_load(load, settings.load, frames, settings.closing_percent)
    activity = Activity(
        name=name,
        percent=frame_percent(frames),
        duration=settings.duration_s,
        translation=pose.translation,
        rotation=pose.rotation,
        load=forces,
        prescribed=control.prescribed,
        load_line=control.load_line,
        wrench=control.wrench / ((settings.load.body_mass_kg or 1.0) * GRAVITY),
        springs=control.springs,
        notes=(*pose.notes, *control.notes, *load_notes),
        warnings=warnings,
    )
    deviation = settings.motion.standard_deviation
    if deviation is None:
        return activity
    positions = (
        deviation.anterior_posterior_mm,
        deviation.superior_inferior_mm,
        deviation.medial_lateral_mm,
    )
    angles = (deviation.varus_deg, deviation.rotation_deg, deviation.flexion_deg)
    return replace(
        activity,
        deviation=np.array([*positions, *np.radians(angles)]),
        deviation_harmonics=deviation.harmonics,
    )
