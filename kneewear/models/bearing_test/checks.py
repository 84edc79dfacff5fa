"""Checks of the curves of a patella against their columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from kneewear.activity.plausibility import farthest_from_neighbours
from kneewear.base.agreement import Agreement, Statement, disagreements
from kneewear.base.checks import checks, judge
from kneewear.errors import Finding, InputDataError
from kneewear.models.bearing_test.settings import (
    BearingTest,
    FittedButton,
    PatellarMotion,
    WearTestStudy,
)
from kneewear.models.bearing_test.simulation import BearingContact
from kneewear.study.inputs import Reader

# Check of each quantity, and of its range.
_QUANTITIES = {
    "flexion": ("patella.flexion", "patella.flexion_range"),
    "varus": ("patella.angle", "patella.angle_range"),
    "rotation": ("patella.angle", "patella.angle_range"),
    "proximal_mm": ("patella.position", "patella.position_range"),
    "lateral_mm": ("patella.position", "patella.position_range"),
}


def _flexions(
    subject: tuple[PatellarMotion, pd.DataFrame],
) -> Iterator[tuple[Statement, Statement]]:
    """Yield the largest flexion of ratios that differ, and of the curve of the file."""
    motion, curves = subject
    if len({ratio for _, ratio in motion.force_ratio}) > 1:
        column = f"{motion.file}, column '{motion.columns.flexion}'"
        yield (
            Statement(motion.force_ratio[-1][0], "key motion.force_ratio"),
            Statement(float(curves["flexion"].max()), column),
        )


# What settings and curves of a patella state twice.
PAIRS = (Agreement("button.force_ratio", "deg", _flexions, "Give pairs [flexion in deg, ratio]."),)
# Part of its range by which a curve may end away from its beginning.
_GAP_OF_RANGE = 0.2


def check_files(study: WearTestStudy, reader: Reader) -> tuple[Finding, ...]:
    """Read the curves and surfaces of patellar buttons, and judge them."""
    found: tuple[Finding, ...] = ()
    for test in study.wear_test.tests.values():
        if isinstance(test.motion, PatellarMotion):
            curves = reader.curves(study, test.motion.file, test.motion.columns.given())
            found += judge_patella(curves, test.motion)
            found += tuple(disagreements(PAIRS, (test.motion, curves)))
            refuse_uncovered(curves, test)
            if test.shapes:
                meshes = {name: reader.shape(study, file) for name, file in test.shapes.items()}
                _ = BearingContact(test, study.simulation, curves, meshes).bearing
    return found


def judge_patella(curves: pd.DataFrame, motion: PatellarMotion) -> tuple[Finding, ...]:
    """Findings about the size, range, smoothness and closing of motion and force of a patella.

    Parameters
    ----------
    curves : DataFrame
        Columns by their quantities, deg, mm and N, and `percent` of the cycle.
    motion : PatellarMotion
        File and columns they are from.

    Raises
    ------
    InputDataError
        If a value is outside what a patella can do, or the quadriceps pushes.
    """
    given = motion.columns.given()
    unit = "Check its unit, sign and column."
    found: list[Finding | None] = []
    for name, (value, extent) in _QUANTITIES.items():
        if name in curves:
            values, where = curves[name].to_numpy(dtype=float), f"column '{given[name]}'"
            farthest = float(values[np.abs(values).argmax()])
            found.append(judge(value, farthest, motion.file, unit, where))
            if name == "flexion" and values.min() != farthest:
                found.append(judge(value, float(values.min()), motion.file, unit, where))
            if np.any(values != 0.0):
                found.append(judge(extent, float(np.ptp(values)), motion.file, unit, where))
    force, where = curves["quadriceps_n"].to_numpy(dtype=float), f"column '{given['quadriceps_n']}'"
    found += [
        judge("patella.least_force", float(force.min()), motion.file, unit, where),
        judge("patella.peak_force", float(force.max()), motion.file, unit, where),
    ]
    for column in map(str, curves):
        found += _shape(curves, column, motion) if column != "percent" else []
    return tuple(one for one in found if one is not None)


def refuse_uncovered(curves: pd.DataFrame, test: BearingTest) -> None:
    """Refuse a flexion at which a button from files is beyond the fitted trochlea.

    The button is in front of the axis of flexion at 0 deg, at the angle -90 deg about it.
    """
    motion, bearing = test.motion, test.bearing
    if not (isinstance(motion, PatellarMotion) and isinstance(bearing, FittedButton)):
        return
    low, high = bearing.trochlea_angle_deg
    at = curves["flexion"].to_numpy(dtype=float) - 90.0
    if at.min() < low or at.max() > high:
        raise InputDataError(
            motion.file,
            f"contact at {at.min():.3g} to {at.max():.3g} deg about the axis of flexion",
            f"angles within bearing.trochlea_angle_deg, {low:g} to {high:g}",
            "Widen trochlea_angle_deg; 0 is distal and -90 anterior.",
            f"column '{motion.columns.flexion}'",
        )


def _shape(curves: pd.DataFrame, name: str, motion: PatellarMotion) -> list[Finding]:
    """Findings about a sample far from its neighbours; refuses a cycle that does not close."""
    percent, values = (curves[column].to_numpy(dtype=float) for column in ("percent", name))
    where = f"column '{motion.columns.given()[name]}'"
    steps = np.abs(np.diff(values)) / np.diff(percent)
    gap = abs(float(values[0] - values[-1]))
    # The step over the end may be somewhat larger than any other of its length.
    left = max(0.0, 100.0 - float(percent[-1]))
    allowed = 1.5 * float(steps.max()) * left if left else _GAP_OF_RANGE * float(np.ptp(values))
    if gap > allowed:
        raise InputDataError(
            motion.file,
            f"{values[0]:g} in the first row and {values[-1]:g} in the last",
            "a cycle that ends where it starts",
            "Cut the file to one cycle.",
            where,
        )
    worst = farthest_from_neighbours(percent, values)
    if worst is None or name == "quadriceps_n":
        return []
    row, size, _ = worst
    if size < checks()["motion.spike"].range.high:
        return []
    place = f"{motion.file}, {where}, data row {row + 1}"
    found = f"{values[row]:g}, {size:.3g} off the line through its neighbours"
    return [Finding("motion.spike", "warn", place, found, "a smooth motion", "Check this sample.")]
