"""What drives each coordinate of an activity, as in a knee simulator: motion, force or nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import USUALLY_PRESCRIBED
from kneewear.activity.conventions import senses
from kneewear.activity.cycles import close_cycle, resample_cycle
from kneewear.activity.motion import Motion
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Spring
from kneewear.settings.activity import ControlSettings, FileActivity, MotionSettings

Array = NDArray[np.float64]

# Coordinate of this project that each controlled quantity is.
_COORDINATE = {
    "anterior_posterior": "x",
    "medial_lateral": "z",
    "varus": "theta_1",
    "rotation": "theta_2",
}
# Place of each force curve in a wrench, and N mm in its unit.
_FORCES = {
    "anterior_posterior": ("anterior_posterior_force_n", 0, 1.0),
    "rotation": ("rotation_torque_n_m", 4, 1000.0),
}


@dataclass(frozen=True)
class Control:
    """What drives each coordinate over one cycle.

    Parameters
    ----------
    prescribed : tuple of str
        Coordinates that follow the motion or are held.
    load_line : float or None
        Medial-lateral place of the axial load, mm; None where the simulation places it.
    wrench : array, shape (frames, 6)
        Force and moment on the femoral component, N and N mm.
    springs : tuple of Spring
        Soft tissue.
    notes : tuple of str
        What drives what.
    """

    prescribed: tuple[str, ...]
    load_line: float | None
    wrench: Array
    springs: tuple[Spring, ...]
    notes: tuple[str, ...]


def hold_coordinates(motion: Motion, control: ControlSettings | None) -> Motion:
    """Motion whose held coordinates stay at their mean.

    Parameters
    ----------
    motion : Motion
        As read.
    control : ControlSettings or None
        Which coordinates are held.

    Returns
    -------
    Motion
    """
    if control is None:
        return motion
    pose = np.hstack([motion.translation, motion.rotation])
    for name, coordinate in _COORDINATE.items():
        if getattr(control, name) == "held":
            number = COORDINATES.index(coordinate)
            pose[:, number] = pose[:, number].mean()
    return Motion(pose[:, :3], pose[:, 3:], motion.notes)


def drive_coordinates(motion: pd.DataFrame, settings: FileActivity, frames: int) -> Control:
    """What drives each coordinate.

    Parameters
    ----------
    motion : DataFrame
        Column percent, and force curves in the sense of the convention (N and N m).
    settings : FileActivity
        Control and convention.
    frames : int
        Frames of the cycle.

    Returns
    -------
    Control

    Notes
    -----
    A force is positive where it drives the coordinate the way the motion file counts positive.
    Standards give the force on the tibia, which drives the tibia; the femur, which moves here,
    feels the opposite force and so moves the same way relative to the tibia.
    """
    control = settings.control
    if control is None:
        return Control(USUALLY_PRESCRIBED, None, np.zeros((frames, 6)), (), ())
    prescribed = {"theta_3"} | {
        coordinate
        for name, coordinate in _COORDINATE.items()
        if getattr(control, name) in ("prescribed", "held")
    }
    wrench = np.zeros((frames, 6))
    for name, (column, place, unit) in _FORCES.items():
        if column in motion:
            curve = _periodic(motion, column, frames, settings.closing_percent)
            wrench[:, place] = senses(settings.motion)[name] * unit * curve
    ways = ", ".join(f"{name.replace('_', ' ')} {getattr(control, name)}" for name in _COORDINATE)
    return Control(
        prescribed=tuple(name for name in COORDINATES if name in prescribed),
        load_line=control.load_line_mm,
        wrench=wrench,
        springs=_springs(control, settings.motion),
        notes=(f"flexion prescribed, {ways}",),
    )


def _periodic(motion: pd.DataFrame, column: str, frames: int, closing: float) -> Array:
    percent, values = (motion[name].to_numpy(dtype=float) for name in ("percent", column))
    return resample_cycle(percent, close_cycle(percent, values, closing)[0], frames)


def _springs(control: ControlSettings, motion: MotionSettings) -> tuple[Spring, ...]:
    """Springs along coordinates, in N/mm and N mm/rad."""
    ways, zero = senses(motion), motion.reference_posterior_mm or 0.0
    linear = {
        "anterior_posterior": (control.anterior_posterior_springs, zero),
        "medial_lateral": (control.medial_lateral_springs, 0.0),
    }
    found = [
        Spring(
            coordinate=_COORDINATE[name],
            stiffness=spring.stiffness_n_per_mm,
            rest=start + ways[name] * spring.rest_mm,
            gap=spring.gap_mm,
        )
        for name, (springs, start) in linear.items()
        for spring in springs
    ]
    found += [
        Spring(
            coordinate="theta_2",
            stiffness=1000.0 * float(np.degrees(spring.stiffness_n_m_per_deg)),
            rest=ways["rotation"] * float(np.radians(spring.rest_deg)),
            gap=float(np.radians(spring.gap_deg)),
        )
        for spring in control.rotation_springs
    ]
    return tuple(found)
