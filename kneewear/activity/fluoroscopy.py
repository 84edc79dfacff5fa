"""Pose of the femoral component from measured motion, such as fluoroscopy gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.cycles import close_cycle, resample_cycle
from kneewear.config import MotionSettings
from kneewear.errors import InputDataError
from kneewear.mechanics.rotations import angles_123, grood_suntay

Array = NDArray[np.float64]

ANGLES = ("flexion", "varus", "tibial_external_rotation")
POSITIONS = ("anterior", "superior", "lateral")
CONVENTIONS = ("grood-suntay", "body-123")

# Wider than any knee moves (deg and mm): beyond lies another column, sign, unit or frame.
_LIMITS = {
    "flexion": (-45.0, 180.0),
    "varus": (-45.0, 45.0),
    "tibial_external_rotation": (-60.0, 60.0),
    "anterior": (-200.0, 200.0),
    "superior": (-200.0, 200.0),
    "lateral": (-200.0, 200.0),
}


def check_motion(motion: pd.DataFrame, settings: MotionSettings) -> None:
    """Refuse a motion no knee makes.

    Parameters
    ----------
    motion : DataFrame
        As `motion_pose` takes it.
    settings : MotionSettings
        Where it was read from.

    Raises
    ------
    InputDataError
        If an angle or a position is out of all proportion.
    """
    for name, (low, high) in _LIMITS.items():
        values = motion[name].to_numpy(dtype=float)
        outside = np.flatnonzero(~((values >= low) & (values <= high)))
        if outside.size:
            row, unit = int(outside[0]), "deg" if name in ANGLES else "mm"
            raise InputDataError(
                settings.file,
                f"{name.replace('_', ' ')} of {values[row]:g}",
                f"{low:g} to {high:g} {unit}",
                "Check the column, its unit, its sign and the frame it is measured in.",
                f"column '{getattr(settings.columns, name)}', data row {row + 1}",
            )


def motion_pose(
    motion: pd.DataFrame, convention: str, frames: int, closing_percent: float
) -> tuple[Array, Array, tuple[str, ...]]:
    """Pose of the femoral component over one cycle.

    Parameters
    ----------
    motion : DataFrame
        Columns percent; flexion, varus and tibial_external_rotation, deg; anterior, superior and
        lateral position of the femoral origin in the insert's frame, mm. All are anatomical, so
        that left and right knees share them.
    convention : str
        "grood-suntay": clinical angles (body-fixed external rotation, varus, flexion); or
        "body-123": body-three 1-2-3 angles (varus, external rotation, flexion).
    frames : int
        Frames of the cycle.
    closing_percent : float
        Part of the cycle over which the end is led back to the start, percent.

    Returns
    -------
    translation : array, shape (frames, 3)
        mm, x posterior, y superior, z medial.
    rotation : array, shape (frames, 3)
        Body-three 1-2-3 angles, rad.
    notes : tuple of str
        What was done.

    Raises
    ------
    ValueError
        For an unknown convention.

    Notes
    -----
    Clinical angles go through the full rotation matrix: taken over as they stand they would be
    wrong by some 0.2 deg.
    """
    percent = motion["percent"].to_numpy(dtype=float)
    names = [*ANGLES, *POSITIONS]
    closed, gap = close_cycle(percent, motion[names].to_numpy(dtype=float), closing_percent)
    rotation = _body_three(np.radians(closed[:, :3]), convention)
    anterior, superior, lateral = closed[:, 3:].T
    translation = np.column_stack([-anterior, superior, -lateral])
    notes = [_closing_note(gap, closing_percent)] if np.any(gap) else []
    notes.append(
        f"motion of {len(percent)} samples ({convention} angles) resampled to {frames} frames by a "
        "periodic cubic spline"
    )
    return (
        resample_cycle(percent, translation, frames),
        resample_cycle(percent, rotation, frames),
        tuple(notes),
    )


def _body_three(angles: Array, convention: str) -> Array:
    """Body-three 1-2-3 angles from flexion, varus and external rotation, rad."""
    flexion, varus, external = angles.T
    if convention == "grood-suntay":
        return np.unwrap(angles_123(grood_suntay(flexion, varus, external)), axis=0)
    if convention == "body-123":
        return np.column_stack([varus, external, -flexion])
    raise ValueError(f"unknown convention '{convention}'; known are {', '.join(CONVENTIONS)}")


def _closing_note(gap: Array, closing_percent: float) -> str:
    """Sentence on the gap between the last and the first sample."""
    units = ["deg"] * len(ANGLES) + ["mm"] * len(POSITIONS)
    sizes = ", ".join(
        f"{name.replace('_', ' ')} {size:+.3g} {unit}"
        for name, size, unit in zip((*ANGLES, *POSITIONS), gap, units, strict=True)
    )
    return (
        f"gap between the samples at 100 and 0 percent blended out over the last "
        f"{closing_percent:g} percent of the cycle: {sizes}"
    )
