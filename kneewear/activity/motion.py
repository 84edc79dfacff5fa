"""Pose of the femoral component over one cycle from a motion file, such as fluoroscopy gives."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.activity.conventions import (
    ANGLES,
    BEAM,
    POSE,
    POSITIONS,
    column_signs,
    femoral_pose,
)
from kneewear.activity.cycles import (
    close_cycle,
    frame_percent,
    periodic_spline,
    resample_cycle,
)
from kneewear.activity.settings import FileActivity, MotionSettings, RegisteredDeviation
from kneewear.base.checks import judge
from kneewear.errors import Finding, InputDataError

Array = NDArray[np.float64]

# Part of a step within which two times are one.
_SAME_TIME = 1e-3
# Smallest number of rows of a cycle for a spline, and rows of the mean of several.
_MIN_ROWS = 4
_STRIDE_SAMPLES = 101
# Longest part of the cycle without a registered frame.
MAX_GAP_PERCENT = 5.0


def cut_cycle(
    curves: pd.DataFrame, window: tuple[float, float] | None, file: str
) -> tuple[pd.DataFrame, float | None]:
    """Curves over percent of the cycle, and its length, s (None when the file has percent).

    `curves` have a column percent, or time_s; `window` is the first and last time of the cycle, s,
    whose length is that of the cycle whether or not there is a sample at its end (None: the whole
    file); `file` is named in messages. InputDataError if the window holds too few
    rows or exceeds the file.
    """
    if "time_s" not in curves:
        return curves, None
    time = curves["time_s"].to_numpy(dtype=float)
    low, high = (time[0], time[-1]) if window is None else window
    step = float(np.median(np.diff(time)))
    inside = (time >= low - 1e-9) & (time <= high + 1e-9)
    if inside.sum() < _MIN_ROWS or low < time[0] - step or high > time[-1] + step:
        raise InputDataError(
            file,
            f"{inside.sum()} rows from {low:g} to {high:g} s in a file from {time[0]:g} to "
            f"{time[-1]:g} s",
            f"a cycle of at least {_MIN_ROWS} rows inside the file",
            "Correct motion.window_s or motion.strides_s.",
        )
    part = curves.loc[inside].reset_index(drop=True)
    if window is not None:
        part = _with_ends(part, curves, (low, high))
    at, duration = part.pop("time_s").to_numpy(dtype=float), float(high - low)
    # A sample less than a step after the beginning of the window is that of the beginning.
    part.insert(0, "percent", np.clip(100.0 * (at - at[0]) / duration, 0.0, 100.0))
    return part, duration


def mean_stride(
    curves: pd.DataFrame, strides: tuple[float, ...], file: str
) -> tuple[pd.DataFrame, float | None, tuple[str, ...]]:
    """Mean of several strides over percent of the cycle, its length, s, and a note on their spread.

    `strides` are the times, s, at which the strides begin and the last one ends. Each is cut as by
    `cut_cycle` and interpolated to whole percents by a cubic spline; frames that were not
    registered are bridged up to a twentieth of the stride. Curves over percent are returned as they
    are. Raises as `cut_cycle` and `leave_out_missing`.
    """
    if "time_s" not in curves:
        return curves, None, ()
    percent = np.linspace(0.0, 100.0, _STRIDE_SAMPLES)
    sampled, lengths = [], np.diff(strides)
    for window in pairwise(strides):
        part, _ = cut_cycle(curves, window, file)
        part, _ = leave_out_missing(part, file)
        # Without a sample at the end of the file the stride's last step is extrapolated.
        sampled.append(
            scipy.interpolate.CubicSpline(part.pop("percent"), part.to_numpy(dtype=float))(percent)
        )
    names = [name for name in curves if name != "time_s"]
    mean = pd.DataFrame(np.mean(sampled, axis=0), columns=names)
    mean.insert(0, "percent", percent)
    spread = np.sqrt(np.mean(np.var(sampled, axis=0, ddof=1), axis=0))
    each = ", ".join(f"{name} {size:.2g}" for name, size in zip(names, spread, strict=True))
    note = (
        f"{file}: mean of {len(sampled)} strides of {lengths.min():.3g} to {lengths.max():.3g} s; "
        f"standard deviation between strides (root mean square over the cycle): {each}"
    )
    return mean, float(np.mean(lengths)), (note,)


def _with_ends(
    part: pd.DataFrame, curves: pd.DataFrame, window: tuple[float, float]
) -> pd.DataFrame:
    """Samples of a window with those at its ends, interpolated where the file goes on there."""
    known = curves.dropna()
    time, at = (table["time_s"].to_numpy(dtype=float) for table in (known, part))
    step = float(np.median(np.diff(time)))
    ends = [
        end
        for end in window
        if time[0] <= end <= time[-1] and np.abs(at - end).min() > _SAME_TIME * step
    ]
    if not ends:
        return part
    values = scipy.interpolate.CubicSpline(time, known.to_numpy(dtype=float))(ends)
    added = pd.DataFrame(values, columns=known.columns).assign(time_s=ends)
    return pd.concat([part, added]).sort_values("time_s", ignore_index=True)


def leave_out_missing(motion: pd.DataFrame, file: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Motion without the frames that were not registered, and a note that counts them.

    `motion` has a column percent; a missing frame is a row of not-a-numbers, which the spline over
    the others bridges. InputDataError if the first or last frame is missing, or all frames of more
    than a twentieth of the cycle.
    """
    missing = motion.isna().any(axis=1).to_numpy()
    if not missing.any():
        return motion, ()
    percent = motion["percent"].to_numpy(dtype=float)[~missing]
    found = ""
    if missing[0] or missing[-1]:
        found = "a cycle whose first or last frame was not registered"
    elif np.diff(percent).max() > MAX_GAP_PERCENT:
        widest = int(np.argmax(np.diff(percent)))
        found = (
            f"no registered frame from {percent[widest]:.3g} to {percent[widest + 1]:.3g} percent "
            "of the cycle"
        )
    if found:
        raise InputDataError(
            file,
            found,
            f"registered frames at both ends, and gaps of at most {MAX_GAP_PERCENT:g} percent",
            "Register these frames, or choose another cycle with motion.window_s.",
        )
    note = f"{missing.sum()} of {missing.size} frames were not registered; a spline bridges them"
    return motion.loc[~missing].reset_index(drop=True), (note,)


def apply_deviation(activity: Activity, motion: pd.DataFrame, settings: MotionSettings) -> Activity:
    """Activity with the standard deviation of its measured pose.

    The error along the x-ray beam adds to that of each position by the root mean square over the
    cycle of the beam's direction along its axis; it is stated in a note, and in a warning where the
    medial-lateral position that it spoils is followed.
    """
    given = settings.standard_deviation
    if given is None:
        note = "no standard deviation of the motion is given"
        return replace(activity, notes=(*activity.notes, note))
    positions = np.array(
        [given.anterior_posterior_mm, given.superior_inferior_mm, given.medial_lateral_mm]
    )
    notes, warnings = activity.notes, activity.warnings
    if isinstance(given, RegisteredDeviation) and given.out_of_plane_mm:
        beam = np.sqrt(np.mean(motion[list(BEAM)].to_numpy(dtype=float) ** 2, axis=0))
        along = given.out_of_plane_mm * beam
        positions = np.hypot(positions, along)
        text = (
            f"an error of {given.out_of_plane_mm:g} mm along the x-ray beam (standard deviation) "
            f"is {along[0]:.2g} mm anterior-posterior, {along[1]:.2g} mm superior-inferior and "
            f"{along[2]:.2g} mm medial-lateral"
        )
        notes = (*notes, text)
        if "z" in activity.prescribed and np.ptp(activity.translation[:, 2]):
            finding = Finding(
                "motion.beam",
                "warn",
                settings.file,
                f"{text}, and that position is prescribed",
                "",
                "Solve medial-lateral positions, or register with two views.",
            )
            warnings = (*warnings, finding)
    angles = np.array([given.varus_deg, given.rotation_deg, given.flexion_deg])
    sizes = [*(f"{size:.3g} deg" for size in angles), *(f"{size:.3g} mm" for size in positions)]
    names = ("varus", "rotation", "flexion", *(name.replace("_", " ") for name in POSITIONS))
    pairs = (f"{name} {size}" for name, size in zip(names, sizes, strict=True))
    course = (
        f"varying by its first {given.harmonics} harmonics"
        if given.harmonics
        else "one shift for the whole cycle"
    )
    notes = (
        *notes,
        f"standard deviation of the measured pose: {', '.join(pairs)}; {course} (for intervals)",
    )
    return replace(
        activity,
        deviation=np.array([*positions, *np.radians(angles)]),
        deviation_harmonics=given.harmonics,
        notes=notes,
        warnings=warnings,
    )


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


def judge_processing(
    motion: pd.DataFrame, settings: MotionSettings, pose: Array, closing_percent: float
) -> tuple[Finding, ...]:
    """Findings where smoothing and resampling moved the pose away from the file's samples.

    `pose` is that of `motion_pose`; samples of the closing part are left out.
    """
    percent = motion["percent"].to_numpy(dtype=float)
    kept = percent <= 100.0 - max(closing_percent, 1e-9)
    given = np.hstack(femoral_pose(motion, settings))
    drawn = periodic_spline(frame_percent(len(pose)), pose, 100.0)(percent)
    away = np.abs(drawn - given)[kept]
    found = []
    for check, part, size in (
        ("position", slice(0, 3), 1.0),
        ("angle", slice(3, 6), float(np.degrees(1.0))),
    ):
        row = int(away[:, part].max(axis=1).argmax())
        remedy = "Keep more motion.smoothing_harmonics, or raise simulation.frames."
        where = f"data row {int(np.flatnonzero(kept)[row]) + 1}"
        most = size * float(away[row, part].max())
        found.append(judge(f"motion.processing_{check}", most, settings.file, remedy, where))
    return tuple(one for one in found if one is not None)


def compare_flexion(
    motion: pd.DataFrame, load: pd.DataFrame, settings: FileActivity
) -> tuple[str, ...]:
    """Note on flexion recorded with the load beside that of the motion, if the load file has it.

    Both cycles begin at the same event, such as foot strike; other trials at another speed show in
    the percent at which the knee is most flexed.
    """
    if "flexion" not in load:
        return ()
    way = column_signs(settings.motion)["flexion"]
    one = motion[["percent", "flexion"]].to_numpy(dtype=float).T * np.array([[1.0], [way]])
    other = load[["percent", "flexion"]].to_numpy(dtype=float).T
    (at, most), (load_at, load_most) = (curve[:, curve[1].argmax()] for curve in (one, other))
    off = other[1] - np.interp(other[0], *one)
    return (
        f"flexion recorded with the load is largest at {load_at:.3g} percent ({load_most:.3g} "
        f"deg), that of the motion at {at:.3g} percent ({most:.3g} deg); they differ by "
        f"{np.sqrt(np.mean(off**2)):.2g} deg (rms): load and motion are of other trials",
    )


def judge_flexion(
    motion: pd.DataFrame, load: pd.DataFrame, settings: FileActivity
) -> tuple[Finding, ...]:
    """Finding where the flexion recorded with the load is another one than that of the motion."""
    if "flexion" not in load:
        return ()
    way = column_signs(settings.motion)["flexion"]
    at, other = load[["percent", "flexion"]].to_numpy(dtype=float).T
    one = np.interp(at, motion["percent"], way * motion["flexion"])
    column = f"column '{settings.load.columns.flexion}'"
    remedy = "Check that motion and load start at the same event, and the unit (deg)."
    off = float(np.sqrt(np.mean((other - one) ** 2)))
    found = judge("load.flexion", off, settings.load.file, remedy, column)
    return () if found is None else (found,)


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
