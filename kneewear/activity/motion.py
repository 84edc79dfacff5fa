"""Pose of the femoral component over one cycle from a motion file, such as fluoroscopy gives."""

from __future__ import annotations

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


def cut_cycle(
    curves: pd.DataFrame, window: tuple[float, float] | None, file: str
) -> tuple[pd.DataFrame, float | None]:
    """Curves over percent of the cycle, and its length, s (None when the file has percent).

    `curves` have a column percent, or time_s; `window` is the first and last time of the cycle, s
    (None: the whole file); `file` is named in messages. InputDataError if the window holds too few
    rows or exceeds the file.
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
) -> tuple[Array, tuple[str, ...]]:
    """Pose of the femoral component over one cycle, and notes on its processing.

    The samples are closed over the last part of the cycle, `closing_percent`, converted to poses
    and interpolated by a periodic cubic spline, or by its first harmonics if smoothing is
    requested, so that velocities and accelerations are continuous across the end of the cycle too.

    Parameters
    ----------
    motion : DataFrame
        Column percent, and those of the pose (deg and mm) in the sense of the convention.

    Returns
    -------
    pose : array, shape (frames, 6)
        Posterior, superior and medial position, mm; body-three 1-2-3 angles, rad.
    notes : tuple of str
        Processing steps.
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
    return sampled, tuple(notes)


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
