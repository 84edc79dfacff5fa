"""Motion of an activity in words: what moves, which way, how far, and under which load.

Words follow from the pose inside, after signs, side and convention of a file were applied: whoever
reads them sees a wrong sign, side, phase or unit. They compare with nothing and judge nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.mechanics.rotations import body_three_123, clinical_angles

Array = NDArray[np.float64]

# A frame is unloaded below this part of the range of the load, in which the load of a swing is
# also below this part of the largest.
_UNLOADED = 0.2
_SWING_LOAD = 0.6
# Parts of the cycle between which the longest unloaded run is a swing, and the part of it that
# another run may have.
_SWING = (0.15, 0.7)
_OTHER_RUN = 0.5
_ROUNDING = 1e-9  # percent
# Peaks of the load rise above their surroundings by this part of its range.
_PROMINENCE = 0.1
# Movements below this part of a curve's range, or below this size (deg or mm), are left out.
_MIN_PART = 0.15
_MIN_SIZE = 0.2


@dataclass(frozen=True)
class Curve:
    """One coordinate of a motion, and the words of its growth and of its decrease."""

    name: str
    coordinate: str
    unit: str
    subject: str
    growing: str
    falling: str

    def words(self, changes: Iterable[float]) -> str:
        """Return successive changes in words; they are in the unit of the curve."""
        parts = []
        for change in changes:
            size = f"{abs(change):.1f}" if abs(change) < 10.0 else f"{abs(change):.0f}"
            verb = self.growing if change > 0.0 else self.falling
            parts.append(verb.format(f"{size} {self.unit}"))
        return f"{self.subject} {', then '.join(parts)}" if parts else ""


CURVES = (
    Curve("flexion", "theta_3", "deg", "the knee", "bends {}", "straightens {}"),
    Curve("rotation", "theta_2", "deg", "the tibia", "turns {} outwards", "turns {} inwards"),
    Curve("anterior_posterior", "x", "mm", "the femur", "moves {} back", "moves {} forward"),
    Curve("varus", "theta_1", "deg", "the knee", "tilts {} into varus", "tilts {} into valgus"),
    Curve("medial_lateral", "z", "mm", "the femur", "moves {} medially", "moves {} laterally"),
    Curve("superior_inferior", "y", "mm", "the femur", "moves {} up", "moves {} down"),
)
# Forces that drive coordinates: on the femur, and on the tibia, whose torque acts as its rotation.
FORCE_CURVES = (
    Curve(
        "anterior_posterior_force",
        "x",
        "% of body weight",
        "a force",
        "pushes the femur back by up to {}",
        "pushes the femur forward by up to {}",
    ),
    Curve(
        "rotation_torque",
        "theta_2",
        "body weights times mm",
        "a torque",
        "turns the tibia outwards by up to {}",
        "turns the tibia inwards by up to {}",
    ),
)


@dataclass(frozen=True)
class Phase:
    """Part of a cycle, percent; `end` is above 100 where it goes on in the next cycle."""

    name: str
    start: float
    end: float
    load: tuple[float, float]  # smallest and largest, body weights

    def contains(self, percent: Array) -> NDArray[np.bool_]:
        """Return True at percents (n,) within the phase, its end excluded."""
        return (percent - self.start + _ROUNDING) % 100.0 < self.end - self.start


@dataclass(frozen=True)
class Movement:
    """Rises and falls of a curve within a phase, in their order; none where it hardly moves."""

    curve: Curve
    phase: str
    changes: tuple[float, ...]

    @property
    def words(self) -> str:
        """The movement in words."""
        return self.curve.words(self.changes)


@dataclass(frozen=True)
class Directions:
    """Motion and load of an activity in words.

    `values` (n, 6) are the curves in the order of `CURVES`, deg and mm, at `percent` (n,), and
    `load` (n,) is in body weights; `use` states for each curve what becomes of it. `peaks` are the
    percents of the largest loads. `forces` are the force curves that drive, over the frames.
    """

    name: str
    percent: Array
    values: Array
    load: Array
    use: tuple[str, ...]
    phases: tuple[Phase, ...]
    peaks: tuple[float, ...]
    movements: tuple[Movement, ...]
    forces: tuple[tuple[Curve, Array], ...] = ()


def describe_activity(activity: Activity) -> Directions:
    """Return motion and load of an activity in words.

    Parameters
    ----------
    activity : Activity
        Of a file or built in. The samples of a file are described as they were read, without the
        dwell pose and scaling.

    Returns
    -------
    Directions
        Movements are the largest within each phase: early and late stance and swing where the load
        has one loaded and one unloaded part, else thirds of the cycle.
    """
    percent, pose = activity.percent, activity.coordinates
    if activity.measured_percent is not None and activity.measured_pose is not None:
        percent, pose = activity.measured_percent, activity.measured_pose
    flexion, varus, external = np.degrees(clinical_angles(body_three_123(pose[:, 3:]))).T
    x, y, z = pose[:, :3].T
    by_name = {"theta_3": flexion, "theta_2": external, "x": x, "theta_1": varus, "z": z, "y": y}
    values = np.column_stack([by_name[curve.coordinate] for curve in CURVES])
    load = np.interp(percent, activity.percent, activity.load, period=100.0)
    phases = _phases(activity)
    movements = [
        _movement(curve, phase, percent, column)
        for phase in phases
        for curve, column in zip(CURVES, values.T, strict=True)
    ]
    forces = _forces(activity)
    for phase in phases:
        movements += [_push(curve, phase, activity.percent, force) for curve, force in forces]
    return Directions(
        activity.name,
        percent,
        values,
        load,
        tuple(
            _use(activity, curve, column) for curve, column in zip(CURVES, values.T, strict=True)
        ),
        phases,
        _peaks(activity),
        tuple(movements),
        forces,
    )


def _forces(activity: Activity) -> tuple[tuple[Curve, Array], ...]:
    """Return the force curves that drive coordinates, in % and mm of body weight."""
    columns = (100.0 * activity.wrench[:, 0], activity.wrench[:, 4])
    return tuple(
        (curve, column)
        for curve, column in zip(FORCE_CURVES, columns, strict=True)
        if np.any(column)
    )


def _push(curve: Curve, phase: Phase, percent: Array, values: Array) -> Movement:
    """Return the largest forces in both directions within a phase, in their order."""
    inside = np.flatnonzero(phase.contains(percent))
    order = (percent[inside] - phase.start + _ROUNDING) % 100.0
    inside = inside[np.argsort(order, kind="stable")]
    force = values[inside]
    limit = _MIN_PART * float(np.abs(values).max())
    low, high = int(force.argmin()), int(force.argmax())
    frames = [frame for frame, sign in ((low, -1.0), (high, 1.0)) if sign * force[frame] >= limit]
    return Movement(curve, phase.name, tuple(float(force[frame]) for frame in sorted(frames)))


def _use(activity: Activity, curve: Curve, values: Array) -> str:
    """Return what becomes of a curve: prescribed, held, solved, or driven by a force."""
    conditions = activity.boundary_conditions
    way = next(
        way
        for way in ("prescribed", "held", "force", "solved")
        if curve.coordinate in conditions[way]
    )
    words = "driven by force" if way == "force" else way
    given = way == "prescribed" or np.ptp(values) > 0.0
    return words if given else f"{words}, not in the file"


def _phases(activity: Activity) -> tuple[Phase, ...]:
    """Return early stance, late stance and swing, or thirds of the cycle without a stance."""
    percent, load = activity.percent, activity.load
    limit = load.min() + _UNLOADED * np.ptp(load)
    runs = sorted(_runs(load < limit), key=len)
    low, high = _SWING
    ends = [(0.0, 100.0 / 3.0), (100.0 / 3.0, 200.0 / 3.0), (200.0 / 3.0, 100.0)]
    names = ("first third", "second third", "last third")
    swing = len(runs[-1]) / load.size if runs else 0.0
    alone = len(runs) < 2 or len(runs[-2]) < _OTHER_RUN * len(runs[-1])
    if alone and low < swing < high and limit < _SWING_LOAD * load.max():
        start = float(percent[(runs[-1][-1] + 1) % load.size])
        middle, end = start + 50.0 * (1.0 - swing), start + 100.0 * (1.0 - swing)
        ends = [(start, middle), (middle, end), (end, start + 100.0)]
        names = ("early stance", "late stance", "swing")
    phases = []
    for name, (first, last) in zip(names, ends, strict=True):
        inside = load[Phase(name, first, last, (0.0, 0.0)).contains(percent)]
        phases.append(Phase(name, first, last, (float(inside.min()), float(inside.max()))))
    return tuple(phases)


def _runs(chosen: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return the frames of each run of True in a cycle, which may go on at its beginning."""
    if chosen.all() or not chosen.any():
        return []
    # From a frame that is not chosen on, no run is cut.
    first = int(np.flatnonzero(~chosen)[0])
    frames = (np.arange(chosen.size) + first) % chosen.size
    number = np.cumsum(np.diff(chosen[frames].astype(int), prepend=0) > 0)
    return [frames[chosen[frames] & (number == run)] for run in range(1, int(number[-1]) + 1)]


def _peaks(activity: Activity) -> tuple[float, ...]:
    """Return the percents of the peaks of the load, the largest first."""
    load, count = activity.load, activity.load.size
    # Three cycles: peaks at the ends of one are within.
    peaks = prominent_peaks(np.tile(load, 3), _PROMINENCE * float(np.ptp(load)))
    frames = sorted({int(frame) % count for frame in peaks}, key=lambda frame: -load[frame])
    return tuple(float(activity.percent[frame]) for frame in frames)


def prominent_peaks(values: Array, prominence: float) -> list[int]:
    """Return the samples at peaks that rise above their surroundings, as `scipy.signal.find_peaks`.

    Importing SciPy's signals takes a tenth of the time of a check.

    Parameters
    ----------
    values : array, shape (n,)
        Samples in their order.
    prominence : float
        Least height of a peak above the higher one of the lowest samples on both sides, each up to
        the next higher sample.

    Returns
    -------
    list of int
        Numbers of the samples, the middle ones of flat peaks; ends are no peaks.
    """
    ends = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)
    begins = np.append(0, ends[:-1] + 1)
    level = values[begins]
    peaks = 1 + np.flatnonzero((level[1:-1] > level[:-2]) & (level[1:-1] > level[2:]))
    prominent = []
    for peak in peaks:
        higher = np.flatnonzero(level > level[peak])
        left = max((int(at) + 1 for at in higher if at < peak), default=0)
        right = min((int(at) for at in higher if at > peak), default=len(level))
        base = max(level[left : peak + 1].min(), level[peak:right].min())
        if level[peak] - base >= prominence:
            prominent.append(int(begins[peak] + ends[peak]) // 2)
    return prominent


def _movement(curve: Curve, phase: Phase, percent: Array, values: Array) -> Movement:
    """Return the rises and falls of a curve within a phase."""
    inside = np.flatnonzero(phase.contains(percent))
    order = (percent[inside] - phase.start + _ROUNDING) % 100.0
    inside = inside[np.argsort(order, kind="stable")]
    threshold = max(_MIN_SIZE, _MIN_PART * float(np.ptp(values)))
    ends = turning_values(values[inside], threshold)
    return Movement(curve, phase.name, tuple(np.diff(ends).tolist()))


def turning_values(values: Array, threshold: float) -> list[float]:
    """Return the values between which a curve rises and falls in turn.

    Parameters
    ----------
    values : array, shape (n,)
        Samples in their order.
    threshold : float
        Smallest rise or fall; smaller ones are within larger ones.

    Returns
    -------
    list of float
        Begin of the first movement and end of each; one value or none where none is large enough.
    """
    ends: list[float] = []
    lowest = highest = float(values[0]) if len(values) else 0.0
    direction = 0
    for value in map(float, values):
        if direction == 0:
            lowest, highest = min(lowest, value), max(highest, value)
            if value - lowest >= threshold:
                ends, direction, highest = [lowest], 1, value
            elif highest - value >= threshold:
                ends, direction, lowest = [highest], -1, value
        elif direction > 0:
            if highest - value >= threshold:
                ends, direction, lowest = [*ends, highest], -1, value
            highest = max(highest, value)
        else:
            if value - lowest >= threshold:
                ends, direction, highest = [*ends, lowest], 1, value
            lowest = min(lowest, value)
    return [*ends, highest if direction > 0 else lowest] if direction else ends


def direction_lines(directions: Directions, used_only: bool = True) -> tuple[str, ...]:
    """Return the motion in short: a line on the load, and one for each phase.

    With `used_only` curves that are solved are left out.
    """
    low, high = directions.load.min(), directions.load.max()
    peaks = _listed([f"{percent:.0f} %" for percent in directions.peaks[:3]])
    lines = [f"load {low:.2g} to {high:.3g} body weights, largest at {peaks or 'no peak'}"]
    used = {
        curve.name
        for curve, use in zip(CURVES, directions.use, strict=True)
        if use == "prescribed" or not used_only
    } | {curve.name for curve, _ in directions.forces}
    for phase in directions.phases:
        words = [
            movement.words
            for movement in directions.movements
            if movement.phase == phase.name and movement.changes and movement.curve.name in used
        ]
        lines.append(
            f"{phase.name}, {phase.start:.0f} to {phase.end % 100.0 or 100.0:.0f} %, up to "
            f"{phase.load[1]:.3g} body weights: {'; '.join(words) or 'hardly moves'}"
        )
    return tuple(lines)


def _listed(texts: Sequence[str]) -> str:
    """Return texts with commas, and `and` before the last."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
