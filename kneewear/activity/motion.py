"""Pose of the femoral component over one cycle from a motion file, such as fluoroscopy gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.conventions import ANGLES, POSE, femoral_pose
from kneewear.activity.cycles import close_cycle, resample_cycle
from kneewear.errors import InputDataError
from kneewear.settings.activity import MotionSettings

Array = NDArray[np.float64]

# Smallest number of rows of a cycle for a spline.
_FEWEST_ROWS = 4


@dataclass(frozen=True)
class Motion:
    """Pose of the femoral component over one cycle.

    Parameters
    ----------
    translation : array, shape (frames, 3)
        mm, x posterior, y superior, z medial.
    rotation : array, shape (frames, 3)
        Body-three 1-2-3 angles, rad.
    notes : tuple of str
        Processing steps.
    """

    translation: Array
    rotation: Array
    notes: tuple[str, ...]


def cut_cycle(
    curves: pd.DataFrame, window: tuple[float, float] | None, file: str
) -> tuple[pd.DataFrame, float | None]:
    """Curves over percent of the cycle.

    Parameters
    ----------
    curves : DataFrame
        With a column percent, or time_s.
    window : pair of float, optional
        First and last time of the cycle, s; None for the whole file.
    file : str
        File name for messages.

    Returns
    -------
    curves : DataFrame
        The rows of the cycle, with a column percent.
    duration : float or None
        Length of the cycle, s; None when the file has percent.

    Raises
    ------
    InputDataError
        If the window holds too few rows or exceeds the file.
    """
    if "time_s" not in curves:
        return curves, None
    time = curves["time_s"].to_numpy(dtype=float)
    low, high = (time[0], time[-1]) if window is None else window
    step = float(np.median(np.diff(time)))
    inside = (time >= low - 1e-9) & (time <= high + 1e-9)
    if inside.sum() < _FEWEST_ROWS or low < time[0] - step or high > time[-1] + step:
        raise InputDataError(
            file,
            f"{inside.sum()} rows from {low:g} to {high:g} s in a file from {time[0]:g} to "
            f"{time[-1]:g} s",
            f"a cycle of at least {_FEWEST_ROWS} rows inside the file",
            "Correct motion.window_s.",
        )
    part = curves.loc[inside].drop(columns="time_s").reset_index(drop=True)
    start, duration = time[inside][0], float(np.ptp(time[inside]))
    part.insert(0, "percent", 100.0 * (time[inside] - start) / duration)
    return part, duration


def motion_pose(
    motion: pd.DataFrame, settings: MotionSettings, frames: int, closing_percent: float
) -> Motion:
    """Pose of the femoral component over one cycle.

    Parameters
    ----------
    motion : DataFrame
        Column percent, and those of the pose (deg and mm) in the sense of the convention.
    settings : MotionSettings
        Convention, and whether the curves are smoothed.
    frames : int
        Number of frames of the cycle.
    closing_percent : float
        Part of the cycle over which the end is led back to the start, percent.

    Returns
    -------
    Motion

    Notes
    -----
    The samples are closed, converted to poses and interpolated by a periodic cubic spline, or by
    its first harmonics if smoothing is requested, so that velocities and accelerations are
    continuous across the end of the cycle too.
    """
    percent = motion["percent"].to_numpy(dtype=float)
    names = [name for name in POSE if name in motion]
    closed, gap = close_cycle(percent, motion[names].to_numpy(dtype=float), closing_percent)
    pose = np.hstack(femoral_pose(pd.DataFrame(closed, columns=names), settings))
    sampled = resample_cycle(percent, pose, frames)
    notes = [_closing_note(names, gap, closing_percent)] if np.any(gap) else []
    absent = [name.replace("_", " ") for name in POSE if name not in motion]
    if absent:
        notes.append(f"no {', '.join(absent)} in the motion: zero where not solved")
    notes.append(
        f"motion of {len(percent)} samples ({settings.convention}) resampled to {frames} frames by "
        "a periodic cubic spline"
    )
    if settings.smoothing_harmonics is not None:
        smooth = resample_cycle(percent, pose, frames, settings.smoothing_harmonics)
        notes.append(_smoothing_note(smooth - sampled, settings.smoothing_harmonics))
        sampled = smooth
    return Motion(sampled[:, :3], sampled[:, 3:], tuple(notes))


def _closing_note(names: list[str], gap: Array, closing_percent: float) -> str:
    """Sentence on the gap between the last and the first sample."""
    sizes = ", ".join(
        f"{name.replace('_', ' ')} {size:+.3g} {'deg' if name in ANGLES else 'mm'}"
        for name, size in zip(names, gap, strict=True)
    )
    return (
        f"gap between the samples at 100 and 0 percent blended out over the last "
        f"{closing_percent:g} percent of the cycle: {sizes}"
    )


def _smoothing_note(change: Array, harmonics: int) -> str:
    """Sentence on the effect of smoothing."""
    return (
        f"motion smoothed to its first {harmonics} harmonics, which moves frames by up to "
        f"{np.abs(change[:, :3]).max():.3g} mm and "
        f"{np.degrees(np.abs(change[:, 3:]).max()):.3g} deg"
    )
