"""Plausibility of motion and load of a knee: ranges, units, columns, signs and cycles.

Ranges are in the tables `checks.csv`; a value beyond them gives a warning or is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.activity.conventions import POSE, POSITIONS, column_signs
from kneewear.activity.settings import (
    FileActivity,
    LoadSettings,
    MotionSettings,
    ParametricActivity,
    ZeroSettings,
)
from kneewear.base.checks import judge
from kneewear.base.sides import SIDES
from kneewear.errors import Finding, InputDataError

Array = NDArray[np.float64]

_NO_ZERO = ZeroSettings()
_UNIT_REMEDY = "Check the column, its unit (deg and mm) and its sign."
# A run of zeros is a gap if both its neighbours are farther from zero than this part of the range,
# and it is no longer than this part of the rows.
_JUMP = 0.15
_MAX_RUN = 0.2
# What changes by less is constant but for the digits of a file, deg or mm.
_STILL = 1e-3
# A load between two forces does not vanish; an angle may pass zero.
_JUMP_OF_LOAD = 0.1
# A sample is only compared with the usual distance from neighbours where there are this many.
_MIN_NEIGHBOURS = 20
_USUAL = 10.0
# Positions of these conventions are those of a joint, or of frames at any distance.
_FREE_FRAMES = ("opensim", "jointtrack", "matrices")
# Level gait: part of the range of the load above which it is stance, flexion at its start as part
# of the range, largest flexion (deg), and the limits of stance as part of the cycle.
_STANCE = 0.3
_EXTENDED = 0.35
_SWING_FLEXION = (35.0, 85.0)
_STANCE_PART = (0.35, 0.75)
_FINE = 400
# Samples on which parts of a cycle are compared; divisible by 2 and 3.
_SAMPLES = 120


def judge_motion(
    motion: pd.DataFrame, settings: MotionSettings, zero: ZeroSettings = _NO_ZERO
) -> tuple[Finding, ...]:
    """Warnings about a motion, columns percent and those of the pose as in `check_motion`.

    Positions that `zero` refers to the dwell pose or moves are judged by their range alone, because
    origins are arbitrary and the trial of the motion on the bearing judges their place.
    InputDataError if no knee moves like this, or columns are exchanged, equal, or in another unit.
    """
    names = [name for name in POSE if name in motion]
    signs = column_signs(settings)
    columns = {name: signs[name] * motion[name].to_numpy(dtype=float) for name in names}
    percent = motion["percent"].to_numpy(dtype=float)
    places = {name: f"column '{getattr(settings.columns, name)}'" for name in names}
    others = [name for name in settings.columns.given() if name in motion and name not in columns]
    curves = {name: motion[name].to_numpy(dtype=float) for name in others}
    _refuse_equal({"percent": percent, **curves, **columns}, settings)
    found = list(_judge_ranges(columns, settings, places, zero))
    where = places["flexion"]
    found.append(judge("motion.rows", len(motion), settings.file, "Give more samples."))
    found.append(
        judge(
            "motion.repeats",
            repetition(percent, columns["flexion"]),
            settings.file,
            "This looks like several cycles: cut out one.",
            where,
        )
    )
    for name in names:
        row = first_gap(columns[name])
        if row is not None:
            place = f"{places[name]}, data row {row + 1}"
            remedy = "Remove rows with missing values."
            found.append(judge("motion.zeros", 1, settings.file, remedy, place))
    return tuple(filter(None, found))


def _refuse_equal(columns: dict[str, Array], settings: MotionSettings) -> None:
    """Refuse two columns with the same values."""
    for (first, one), (second, other) in combinations(columns.items(), 2):
        if np.ptp(one) > 0.0 and (np.array_equal(one, other) or np.array_equal(one, -other)):
            given = settings.columns.given()
            clock = given.get("percent", given.get("time_s", "time"))
            raise InputDataError(
                settings.file,
                f"the same values as {first.replace('_', ' ')} ('{given.get(first, clock)}')",
                "values of their own",
                "Name the right column, or export the file again.",
                f"column '{given[second]}' ({second.replace('_', ' ')})",
            )


def _judge_ranges(
    columns: dict[str, Array],
    settings: MotionSettings,
    places: dict[str, str],
    zero: ZeroSettings,
) -> Iterator[Finding | None]:
    """Yield warnings about the size, the range and the proportions of coordinates."""
    span = {name: float(np.ptp(values)) for name, values in columns.items()}
    for name, values in columns.items():
        free = settings.convention in _FREE_FRAMES and name in POSITIONS
        check = "motion.joint_position" if free else f"motion.{name}"
        if getattr(zero, name, "file") == "file":
            yield _judge_extremes(check, values, settings.file, places[name])
    for name in columns:
        # A constant coordinate is held; if flexion is constant nothing moves.
        if span[name] > _STILL or name == "flexion":
            args = (settings.file, _UNIT_REMEDY, places[name])
            yield judge(f"motion.{name}_range", span[name], *args)
    # Without single faulty samples, which are reported by their own checks.
    most = {
        name: float(np.subtract(*np.quantile(values, [0.95, 0.05])))
        for name, values in columns.items()
    }
    shares = {
        "flexion_share": ("flexion", max(most.get("varus", 0.0), most.get("rotation", 0.0))),
        "varus_share": ("varus", most.get("rotation", 0.0)),
        "superior_share": ("superior_inferior", most.get("anterior_posterior", 0.0)),
    }
    # Joints have other axes, so that their positions are mixed.
    for check, (name, other) in shares.items():
        mixed = settings.convention in _FREE_FRAMES and name in POSITIONS
        if not mixed and most.get(name, 0.0) > 0.0 and (other > 0.0 or name != "flexion"):
            share = most[name] / other if other > 0.0 else np.inf
            if name != "varus" or most[name] > 1.0:
                remedy = "Columns may be exchanged: check their names."
                yield judge(f"motion.{check}", share, settings.file, remedy, places[name])


def _judge_extremes(check: str, values: Array, file: str, place: str) -> Finding | None:
    """Warning about the value farthest outside the usual range, if there is one."""
    found = None
    for row in (int(values.argmin()), int(values.argmax())):
        where = f"{place}, data row {row + 1}"
        found = judge(check, float(values[row]), file, _UNIT_REMEDY, where) or found
    return found


def judge_duration(check: str, seconds: float, expected: float, file: str) -> tuple[Finding, ...]:
    """Warning when the duration of a file, s, differs from the expected one."""
    remedy = (
        f"The file has {seconds:.4g} s and {expected:.4g} s are expected: correct duration_s or "
        "window_s; it is scaled to another speed."
    )
    found = judge(check, seconds / expected, file, remedy)
    return (found,) if found else ()


def judge_load(load: pd.DataFrame, settings: LoadSettings) -> tuple[Finding, ...]:
    """Warnings about a load as read from its file, columns percent and load in any unit.

    InputDataError if it has the sign of a force plate, several cycles or the wrong column.
    """
    percent, values = (load[name].to_numpy(dtype=float) for name in ("percent", "load"))
    place = _load_columns(settings)
    span = float(np.ptp(values))
    if np.array_equal(percent, values):
        raise InputDataError(
            settings.file, "the percent of the cycle", "a load", "Name its column.", place
        )
    if span == 0.0:
        return ()
    found = [judge("load.rows", len(load), settings.file, "Give more samples.", place)]
    if settings.kind == "ground_reaction":
        lowest = float(values.min() / max(abs(values.max()), 1e-9 * span))
        remedy = "Reverse the sign of the force plate, and clip its noise at zero."
        found.append(judge("load.ground_reaction", lowest, settings.file, remedy, place))
    if percent[-1] >= 100.0 - 1e-9:
        gap = float(abs(values[-1] - values[0]) / span)
        remedy = "Cut the load from one heel strike to the next of the same foot."
        found.append(judge("load.gap", gap, settings.file, remedy, place))
    remedy = "This looks like several cycles: cut out one."
    again = repetition(percent, values)
    found.append(judge("load.repeats", again, settings.file, remedy, place))
    if settings.kind != "ground_reaction" or values.min() > 0.0:
        # In swing a ground reaction is exactly zero for a while.
        sides = [load[name].to_numpy(dtype=float) for name in SIDES if name in load]
        rows = filter(None, (first_gap(one, _JUMP_OF_LOAD) for one in (values, *sides)))
        for row in list(rows)[:1]:
            where = f"{place}, data row {row + 1}"
            remedy = "Remove rows with missing values."
            found.append(judge("load.zeros", 1, settings.file, remedy, where))
    found.append(judge_spike("load.spike", percent, values, settings.file, place))
    return tuple(filter(None, found))


def _load_columns(settings: LoadSettings) -> str:
    """Column of the load, or those of both sides."""
    names = settings.columns.load, settings.columns.medial, settings.columns.lateral
    return "column " + " and ".join(f"'{name}'" for name in names if name is not None)


def judge_activity(
    activity: Activity, settings: FileActivity | ParametricActivity
) -> tuple[Finding, ...]:
    """Warnings about the load of an activity, in body weights, over its motion."""
    name, load = activity.name, activity.load
    flexion = np.degrees(-activity.rotation[:, 2])
    source, place = f"key activities.{name}", "load_body_weights"
    if isinstance(settings, FileActivity):
        source, place = settings.load.file, _load_columns(settings.load)
    found = []
    peak = f"{place}, at {activity.percent[load.argmax()]:g} percent"
    remedy = "Check its unit: body weights, or N with kind: axial_force_n and body_mass_kg."
    found.append(judge("load.peak", float(load.max()), source, remedy, peak))
    if np.ptp(load) > 0.0:
        unloaded = float(np.mean(load < 0.4 * load.max()))
        remedy = "Check that the load is that of a whole cycle, not of stance alone."
        found.append(judge("load.unloaded", unloaded, source, remedy, place))
        if np.ptp(flexion) > 0.0:
            bent = flexion >= np.quantile(flexion, 0.8)
            remedy = "Check that motion and load start at the same event."
            flexed = float(load[bent].mean() / load.mean())
            found.append(judge("load.flexed", flexed, source, remedy, place))
            found.append(judge_phase(activity.percent, flexion, load, source, place))
    return tuple(filter(None, found))


def judge_phase(
    percent: Array, flexion: Array, load: Array, source: str, place: str
) -> Finding | None:
    """Note on a load that does not belong to the phase of its flexion; None but of level gait.

    Parameters
    ----------
    percent, flexion, load : array
        Percent of the cycle, ascending, flexion in deg, and load in any unit.
    source, place : str
        File or key of the load, and the position in it.

    Notes
    -----
    Level gait has one phase of stance, which begins near extension, and its largest flexion in
    swing. Of it, flexion at the end of stance is judged as part of its range.
    """
    at = np.linspace(0.0, 100.0, _FINE, endpoint=False)
    knee, force = (np.interp(at, percent, values, period=100.0) for values in (flexion, load))
    if np.ptp(knee) == 0.0 or np.ptp(force) == 0.0:
        return None
    part = (knee - knee.min()) / np.ptp(knee)
    loaded = force > force.min() + _STANCE * np.ptp(force)
    starts = np.flatnonzero(loaded & ~np.roll(loaded, 1))
    lengths = [int(np.argmin(np.roll(loaded, -start))) for start in starts]
    longest = int(np.argmax(lengths))
    start, end = int(starts[longest]), int(starts[longest] + lengths[longest]) % _FINE
    low, high = _SWING_FLEXION
    short, long = _STANCE_PART
    is_gait = (
        part[start] < _EXTENDED
        and low < knee.max() < high
        and short < lengths[longest] / _FINE < long
    )
    if not is_gait:
        return None
    remedy = "Check that load and motion begin at the same event."
    return judge("load.phase", float(part[end]), source, remedy, place)


def judge_built_in(
    curves: Mapping[str, Array], percent: Array, source: str, zero: ZeroSettings = _NO_ZERO
) -> tuple[Finding, ...]:
    """Warnings about built-in curves, by their keys: flexion, rotation (deg), position (mm)."""
    moved = zero.anterior_posterior != "file"
    judged = {
        "flexion_deg": "motion.flexion",
        "tibial_external_rotation_deg": "motion.rotation",
        "femur_posterior_mm": "motion.anterior_posterior",
    }
    found = []
    for key, values in curves.items():
        ends = dict.fromkeys((int(values.argmin()), int(values.argmax())))
        for frame in () if moved and key == "femur_posterior_mm" else ends:
            where = f"{key}, at {percent[frame]:g} percent"
            value = float(values[frame])
            found.append(judge(judged[key], value, source, "Correct base or bumps.", where))
        span, remedy = float(np.ptp(values)), "Correct its bumps (deg and mm)."
        if span > 0.0 or key == "flexion_deg":
            found.append(judge(f"{judged[key]}_range", span, source, remedy, key))
    return tuple(filter(None, found))


def repetition(percent: Array, values: Array) -> float:
    """Least change over a half or a third of the cycle, rms over the standard deviation.

    Zero for a curve that repeats itself within the cycle; sqrt(2) for an unrelated one; infinite
    for a constant one.
    """
    if np.ptp(values) == 0.0:
        return float(np.inf)
    at = np.linspace(0.0, 100.0, _SAMPLES, endpoint=False)
    curve = np.interp(at, percent, values)
    changes = [curve - np.roll(curve, _SAMPLES // parts) for parts in (2, 3)]
    return min(float(np.sqrt(np.mean(change**2)) / curve.std()) for change in changes)


def farthest_from_neighbours(percent: Array, values: Array) -> tuple[int, float, float] | None:
    """Row of the sample farthest from the line through its neighbours, distance, median distance.

    None where there are too few samples.
    """
    if values.size < _MIN_NEIGHBOURS:
        return None
    share = (percent[1:-1] - percent[:-2]) / (percent[2:] - percent[:-2])
    off = np.abs(values[1:-1] - (1.0 - share) * values[:-2] - share * values[2:])
    worst = int(off.argmax())
    return worst + 1, float(off[worst]), float(np.median(off))


def judge_spike(check: str, percent: Array, values: Array, file: str, place: str) -> Finding | None:
    """Warning about the sample farthest off its neighbours, over the range of the curve."""
    worst = farthest_from_neighbours(percent, values)
    if worst is None or worst[1] <= _USUAL * worst[2]:
        return None
    where = f"{place}, data row {worst[0] + 1}"
    return judge(check, worst[1] / float(np.ptp(values)), file, "Check this sample.", where)


def first_gap(values: Array, jump: float = _JUMP) -> int | None:
    """First row of a short run of exact zeros between values far from zero; None without one."""
    far = jump * float(np.ptp(values))
    zero = values == 0.0
    starts = np.flatnonzero(zero[1:] & ~zero[:-1]) + 1
    for start in starts:
        end = int(start)
        while end < values.size and zero[end]:
            end += 1
        inside = end < values.size and end - start <= max(1, _MAX_RUN * values.size)
        if inside and min(abs(values[start - 1]), abs(values[end])) > far:
            return int(start)
    return None
