"""One activity, whatever it comes from: built-in curves or measured ones."""

from __future__ import annotations

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.activity.cycles import frame_percent
from kneewear.activity.fluoroscopy import check_motion, motion_pose
from kneewear.activity.load import axial_load
from kneewear.activity.parametric import build_parametric_activity
from kneewear.config import CsvActivity, ParametricActivity


def build_activity(
    name: str,
    settings: ParametricActivity | CsvActivity,
    frames: int,
    motion: pd.DataFrame | None = None,
    load: pd.DataFrame | None = None,
) -> Activity:
    """Activity of a study.

    Parameters
    ----------
    name : str
        Name of the activity.
    settings : ParametricActivity or CsvActivity
        Its block of the settings.
    frames : int
        Frames of the cycle.
    motion, load : DataFrame, optional
        Measured curves, columns named as in the settings' `columns`; needed by a CsvActivity.

    Returns
    -------
    Activity

    Raises
    ------
    ValueError
        If measured curves are needed and not given.
    InputDataError
        If a load or a motion cannot be one.
    """
    if isinstance(settings, ParametricActivity):
        return build_parametric_activity(name, settings, frames)
    if motion is None or load is None:
        raise ValueError(f"activity {name} is read from CSV: motion and load are needed")
    check_motion(motion, settings.motion)
    translation, rotation, motion_notes = motion_pose(
        motion, settings.motion.convention, frames, settings.closing_percent
    )
    forces, load_notes = axial_load(load, settings.load, frames, settings.closing_percent)
    return Activity(
        name=name,
        percent=frame_percent(frames),
        duration=settings.duration_s,
        translation=translation,
        rotation=rotation,
        load=forces,
        notes=(*motion_notes, *load_notes),
    )
