"""Control of each coordinate of an activity, as in a knee simulator: motion, force or none."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import CLINICAL_PLACES, Activity
from kneewear.activity.conventions import column_signs
from kneewear.activity.cycles import close_cycle, resample_cycle
from kneewear.activity.load import GRAVITY
from kneewear.activity.plausibility import first_gap, judge_spike
from kneewear.activity.settings import ControlSettings, FileActivity, IsoMotion, MotionSettings
from kneewear.base.checks import judge
from kneewear.errors import Finding
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.rotations import angles_123, grood_suntay
from kneewear.mechanics.springs import Spring

# Parts of stance, percent of the cycle.
_EARLY = (5.0, 20.0)
_LATE = (35.0, 55.0)
# Frames with less than this part of the largest load are those of swing.
_UNLOADED = 0.4
# Coordinate of this project that each controlled quantity is.
_COORDINATE = {
    "anterior_posterior": "x",
    "medial_lateral": "z",
    "varus": "theta_1",
    "rotation": "theta_2",
}
# Column of each force curve, its index in a wrench, and N or N mm in its unit.
_FORCES = {
    "anterior_posterior": ("anterior_posterior_force_n", 0, 1.0),
    "rotation": ("rotation_torque_n_m", 4, 1000.0),
}


def apply_control(activity: Activity, motion: pd.DataFrame, settings: FileActivity) -> Activity:
    """Activity with coordinates prescribed, held at their mean, under force control or free.

    `motion` has a column percent, and force curves in the sense of the convention (N and N m).

    Notes
    -----
    A force is positive where it moves the coordinate in the positive direction of the motion file.
    Standards give the force on the tibia; the femur, which moves here, feels the opposite force and
    so moves the same way relative to the tibia.
    """
    control = settings.control
    if control is None:
        return activity
    prescribed, held = {"theta_3"}, set()
    for name, coordinate in _COORDINATE.items():
        if getattr(control, name) in ("prescribed", "held"):
            prescribed.add(coordinate)
        if getattr(control, name) == "held":
            held.add(coordinate)
    pose = _at_mean(activity, held)
    wrench = np.zeros((len(activity.percent), 6))
    for name, (column, index, unit) in _FORCES.items():
        if column in motion:
            percent, values = (motion[one].to_numpy(dtype=float) for one in ("percent", column))
            closed, _ = close_cycle(percent, values, settings.closing_percent)
            curve = resample_cycle(percent, closed, len(activity.percent))
            wrench[:, index] = column_signs(settings.motion)[name] * unit * curve
    ways = ", ".join(f"{name.replace('_', ' ')} {getattr(control, name)}" for name in _COORDINATE)
    return replace(
        activity,
        translation=pose[:, :3],
        rotation=pose[:, 3:],
        prescribed=tuple(name for name in COORDINATES if name in prescribed),
        load_line=control.load_line_mm,
        wrench=wrench / ((settings.load.body_mass_kg or 1.0) * GRAVITY),
        springs=_springs(control, settings.motion),
        friction=control.friction,
        notes=(*activity.notes, f"flexion prescribed, {ways}"),
    )


def judge_control(
    motion: pd.DataFrame, load: pd.DataFrame, settings: FileActivity
) -> tuple[Finding, ...]:
    """Findings about force curves of the motion file, in N and N m; none without them.

    `load` has the columns percent and load, in any unit.
    """
    found: list[Finding | None] = []
    file, given = settings.motion.file, settings.motion.columns.given()
    for name, check in (("anterior_posterior", "force"), ("rotation", "torque")):
        column = _FORCES[name][0]
        if column not in motion:
            continue
        where = f"column '{given[column]}'"
        count = len(getattr(settings.control, f"{name}_springs"))
        remedy = f"Give control.{name}_springs, unless nothing but the bearing resists."
        found.append(judge("control.springs", count, file, remedy, where))
        percent, values = (motion[one].to_numpy(dtype=float) for one in ("percent", column))
        largest = float(np.abs(values).max())
        remedy = "Check the column; leave it out where nothing drives, and subtract an offset."
        span = float(np.ptp(values)) / (largest or 1.0)
        found.append(judge("control.range", span, file, remedy, where))
        if span == 0.0:
            continue
        found.append(judge_spike("control.spike", percent, values, file, where))
        row = first_gap(values)
        if row is not None:
            place, remedy = f"{where}, data row {row + 1}", "Remove rows with missing values."
            found.append(judge("control.zeros", 1, file, remedy, place))
        axial = np.interp(percent, load["percent"], load["load"])
        without_effect = axial < _UNLOADED * axial.max()
        if without_effect.any():
            share = float(np.abs(values[without_effect]).mean() / np.abs(values).mean())
            remedy = "Check that it starts at the same event as the load."
            found.append(judge("control.unloaded", share, file, remedy, where))
        remedy = f"Give it in {'N' if check == 'force' else 'N m'}."
        found.append(judge(f"control.{check}", largest, file, remedy, where))
        # On the tibia: forward, which moves the femur to posterior, and inward.
        sign = column_signs(settings.motion)[name] * (1 if check == "force" else -1)
        early, late = (
            sign * float(values[(percent >= low) & (percent <= high)].mean())
            for low, high in (_EARLY, _LATE)
        )
        change = (early - late if check == "force" else late - early) / largest
        remedy = f"Check the sign of the {check} against motion.convention."
        place = "polarity" if check == "force" else "torque_polarity"
        found.append(judge(f"control.{place}", change, file, remedy, where))
    return tuple(one for one in found if one is not None)


def _at_mean(activity: Activity, held: Collection[str]) -> NDArray[np.float64]:
    """Coordinates of an activity, mm and rad, some of them, as prescribed, at their mean."""
    clinical = activity.angles == "clinical" and not {"theta_1", "theta_2"}.isdisjoint(held)
    pose = activity.prescribable if clinical else activity.coordinates
    for name in held:
        number = COORDINATES.index(name)
        pose[:, number] = pose[:, number].mean()
    if clinical:
        pose[:, 3:] = np.unwrap(angles_123(grood_suntay(*pose[:, CLINICAL_PLACES].T)), axis=0)
    return pose


def _springs(control: ControlSettings, motion: MotionSettings) -> tuple[Spring, ...]:
    """Springs along coordinates, in N/mm and N mm/rad."""
    ways, zero = (
        column_signs(motion),
        (motion.reference_posterior_mm if isinstance(motion, IsoMotion) else 0.0),
    )
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
            damping=spring.damping_n_s_per_mm,
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
            damping=1000.0 * float(np.degrees(spring.damping_n_m_s_per_deg)),
        )
        for spring in control.rotation_springs
    ]
    return tuple(found)
