"""Laxity of a design: forces against displacements under an axial load, after ASTM F1223."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.settings.laxity import LaxitySettings, LaxityTestSettings
from kneewear.simulation.static import StaticEquilibrium
from kneewear.studies.designs.bench import Axial, Bench
from kneewear.studies.static.cases import NAMED

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Coordinates that tests drive, by the names of the tests.
DRIVEN = {**NAMED, "distraction": NAMED["superior_inferior"]}
# Part of the amplitude within which the stiffness is measured.
NEUTRAL = 0.5
# A condyle that carries less than this part of the axial load has lost contact.
LOST = 0.01
# A load that falls by this part beyond its peak pushes the component off the bearing; elements that
# enter and leave contact change it by some hundredths.
FALL = 0.05


@dataclass(frozen=True)
class LaxityTest:
    """One loop: what is driven at which flexion (deg), friction, amplitude and end load."""

    name: str
    flexion: float
    friction: float
    settings: LaxityTestSettings

    @property
    def is_angular(self) -> bool:
        """Whether the displacement is an angle (deg, N m) rather than a length (mm, N)."""
        return DRIVEN[self.name].startswith("theta")

    @property
    def units(self) -> tuple[str, str]:
        """Units of displacement and load."""
        return ("deg", "N m") if self.is_angular else ("mm", "N")

    def __str__(self) -> str:
        """The test as messages name it."""
        return f"{self.name} at {self.flexion:g} deg with a friction of {self.friction:g}"


def drive_loops(
    bench: Bench, settings: LaxitySettings, friction: float, design: str
) -> pd.DataFrame:
    """All tests of one design at one coefficient of friction, which the bench's pairs have.

    Parameters
    ----------
    bench : Bench
        The design.
    settings : LaxitySettings
        Flexions, axial load, tests and free coordinates.
    friction : float
        Coefficient of friction, for the table.
    design : str
        Name of the design, for the table.

    Returns
    -------
    DataFrame
        Tidy table (`tables/loops.csv`), one row per step: displacement, mm or deg, the load that
        drives it, N or N m, positive along the displacement, and the forces of the condyles, N.

    Notes
    -----
    From the settled pose without friction the driven coordinate goes to its amplitude, to the
    opposite one and back, in equal steps at a constant speed; the free coordinates are in
    equilibrium after every step, with friction against the motion of the step (implicit Euler),
    the others are held. Distraction lifts the component straight up. The axial load acts midway
    between the plateaus, fixed to the insert. A loop ends where there is no equilibrium any more.
    """
    parts = []
    for flexion in settings.flexion_deg:
        for name, chosen in settings.tests.items():
            test = LaxityTest(name, flexion, friction, chosen)
            steps = _drive(bench, settings, test)
            steps.insert(0, "design", design)
            parts.append(steps)
    return pd.concat(parts, ignore_index=True)


def _drive(bench: Bench, settings: LaxitySettings, test: LaxityTest) -> pd.DataFrame:
    """Steps of one loop."""
    axis = COORDINATES.index(DRIVEN[test.name])
    free = [NAMED[name] for name in settings.free if NAMED[name] != DRIVEN[test.name]]
    if test.name == "distraction":
        free = []  # apart, nothing decides on them
    axial = Axial(settings.load_n, bench.line(0.5))
    found = _neutral(bench, settings, test, axial)
    pose = np.concatenate([found.translation, found.rotation])
    origin, rows = pose[axis], [_row(test, 0, 0.0, found, axis)]
    scale = np.radians(1.0) if test.is_angular else 1.0
    way = _way(settings.steps, test)
    # An angle turns the condyles as far as a lever of half their spacing.
    lever = 0.5 * (bench.middles[0] - bench.middles[1]) if test.is_angular else 1.0
    for number, (before, after) in enumerate(pairwise(way), start=1):
        duration = abs(after - before) * scale * lever / settings.speed_mm_per_s
        start = pose.copy()
        start[axis] = origin + after * scale
        try:
            found = bench.settle(start, free, axial, str(test), (pose, duration))
        except ConvergenceError as error:
            logger.warning("%s ends at %.3g %s: %s", test, after, test.units[0], error)
            break
        pose = np.concatenate([found.translation, found.rotation])
        rows.append(_row(test, number, after, found, axis))
    return pd.DataFrame(rows)


def _neutral(
    bench: Bench, settings: LaxitySettings, test: LaxityTest, axial: Axial
) -> StaticEquilibrium:
    """Pose that all settings' free coordinates settle in without motion."""
    free = [NAMED[name] for name in settings.free]
    return bench.settle(bench.start(test.flexion, 0.0), free, axial, f"{test}, neutral position")


def _way(steps: int, test: LaxityTest) -> Array:
    """Displacements of a loop; distraction only lifts."""
    if test.name == "distraction":
        return np.linspace(0.0, test.settings.amplitude, steps + 1)
    turns = np.array([0.0, 1.0, -1.0, 1.0])
    quarters = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(turns)))])
    at = np.linspace(0.0, quarters[-1], round(steps * quarters[-1]) + 1)
    return test.settings.amplitude * np.interp(at, quarters, turns)


def _row(
    test: LaxityTest, step: int, displacement: float, found: StaticEquilibrium, axis: int
) -> dict[str, object]:
    """One step as a row of the table."""
    length, force = test.units
    push = found.reaction[axis] * (1e-3 if test.is_angular else 1.0)
    condyles = [float(one.wrench[1]) for one in found.contacts[:2]]
    return {
        "test": test.name,
        "flexion_deg": test.flexion,
        "friction": test.friction,
        "step": step,
        "displacement": displacement,
        "displacement_unit": length,
        "load": push,
        "load_unit": force,
        "medial_force_n": condyles[0],
        "lateral_force_n": condyles[1],
        "superior_mm": float(found.translation[1]),
    }


def summarise_loops(loops: pd.DataFrame, settings: LaxitySettings) -> pd.DataFrame:
    """Stiffness, end points and subluxation of every loop (`tables/laxity.csv`).

    Parameters
    ----------
    loops : DataFrame
        As of `drive_loops`, of all designs.
    settings : LaxitySettings
        Amplitudes and end loads.

    Returns
    -------
    DataFrame
        One row per design, test, flexion and friction. `stiffness` is the slope of the load within
        half the amplitude around zero, N/mm or N m/deg; `positive_end` and `negative_end`
        are the displacements at which the end load is first reached, NaN if it never is;
        `peak_load` is the largest load and `peak_at` where it acts; `hysteresis` is half the width
        of the loop in load at zero displacement. `subluxation` says how the component leaves the
        bearing, empty where it does not: a condyle lifts off (carries less than a hundredth of the
        axial load), the load falls by more than a twentieth beyond its peak, or there is no
        equilibrium any more; `subluxation_at` is the displacement, NaN if there is none.
    """
    keys = ["design", "test", "flexion_deg", "friction"]
    rows = []
    for values, loop in loops.groupby(keys, sort=False):
        chosen = settings.tests[str(values[1])]
        rows.append({**dict(zip(keys, values, strict=True)), **_summary(loop, chosen)})
    return pd.DataFrame(rows)


def compare_designs(laxity: pd.DataFrame) -> pd.DataFrame:
    """Laxity of every design against that of the first one (`tables/laxity_comparison.csv`).

    Parameters
    ----------
    laxity : DataFrame
        As of `summarise_loops`.

    Returns
    -------
    DataFrame
        One row per further design, test, flexion and friction: `stiffness_ratio` and
        `stiffness_difference` (N/mm or N m/deg), `laxity_ratio` and `laxity_difference` of the
        displacement between both end points, mm or deg, the differences of the two, and the ratio
        of the peak loads. NaN where one of both has no value. Distraction, which only lifts, is
        left out; so is all for a single design.
    """
    keys = ["test", "flexion_deg", "friction"]
    own = laxity[laxity["test"] != "distraction"]
    own = own.assign(laxity=own["positive_end"] - own["negative_end"])
    first = laxity["design"].iloc[0]
    pairs = own[own["design"] != first].merge(
        own[own["design"] == first], on=keys, suffixes=("", "_first"), validate="many_to_one"
    )
    units = ["displacement_unit", "load_unit"]
    found = pairs[["design", *keys, *units]].rename(columns={"design": "second"})
    found.insert(0, "first", first)
    for name in ("stiffness", "laxity"):
        one, other = pairs[name], pairs[f"{name}_first"]
        found[f"{name}_ratio"] = one / other.where(other > 0.0)
        found[f"{name}_difference"] = one - other
    found["peak_load_ratio"] = pairs["peak_load"] / pairs["peak_load_first"]
    for name in ("positive_end", "negative_end"):
        found[f"{name}_difference"] = pairs[name] - pairs[f"{name}_first"]
    return found


def _summary(loop: pd.DataFrame, test: LaxityTestSettings) -> dict[str, object]:
    """Results of one loop."""
    at, load = loop["displacement"].to_numpy(), loop["load"].to_numpy()
    peak = int(np.argmax(np.abs(load)))
    how, where = _subluxation(loop, test)
    zero = load[1:][np.abs(at[1:]) < 1e-9 * test.amplitude]
    return {
        "displacement_unit": loop["displacement_unit"].iloc[0],
        "load_unit": loop["load_unit"].iloc[0],
        "stiffness": _stiffness(at, load, NEUTRAL * test.amplitude),
        "positive_end": _end(at, load, test.end_load, 1.0),
        "negative_end": _end(at, load, test.end_load, -1.0),
        "peak_load": abs(load[peak]),
        "peak_at": at[peak],
        "hysteresis": 0.5 * float(np.ptp(zero)) if zero.size > 1 else 0.0,
        "subluxation": how,
        "subluxation_at": where,
    }


def _stiffness(at: Array, load: Array, reach: float) -> float:
    """Mean slope of the branches of a loop within a distance of zero, whole passes only.

    The first quarter begins at rest and is left out where there is more: with friction its slope is
    that of the onset of sliding.
    """
    ends = [0, *(np.flatnonzero(np.diff(np.sign(np.diff(at)))) + 1), at.size - 1]
    branches = [slice(first, last + 1) for first, last in pairwise(ends)]
    slopes = []
    for branch in branches[1:] or branches:
        near = np.abs(at[branch]) <= reach * (1.0 + 1e-9)
        if near.sum() > 1:
            slopes.append(np.polyfit(at[branch][near], load[branch][near], 1)[0])
    return float(np.mean(slopes)) if slopes else np.nan


def _subluxation(loop: pd.DataFrame, test: LaxityTestSettings) -> tuple[str, float]:
    """How the component leaves the bearing, and at which displacement."""
    at, load = loop["displacement"].to_numpy(), loop["load"].to_numpy()
    condyles = loop[["medial_force_n", "lateral_force_n"]].to_numpy()
    lifted = np.flatnonzero(condyles.min(axis=1) < LOST * condyles[0].sum())
    if lifted.size:
        return "condyle lifts off", float(at[lifted[0]])
    for sign in (1.0, -1.0):
        # The way out: as far as the amplitude, not the way back, which friction lowers.
        end = int(np.argmax(sign * at))
        if end == 0:
            continue
        out = np.flatnonzero(sign * at[: end + 1] >= 0.0)
        push = sign * load[out]
        if push[-1] < (1.0 - FALL) * push.max():
            return "load falls beyond its peak", float(at[out[int(np.argmax(push))]])
    if abs(at).max() < test.amplitude * (1.0 - 1e-9):
        return "no equilibrium", float(at[-1])
    return "", np.nan


def _end(at: Array, load: Array, wanted: float, sign: float) -> float:
    """Displacement at which the load first reaches the wanted one in a direction."""
    reached = np.flatnonzero((sign * load >= wanted) & (sign * at > 0.0))
    if reached.size == 0 or reached[0] == 0:
        return np.nan
    k = reached[0]
    if sign * load[k - 1] >= wanted:
        return float(at[k - 1])  # by friction alone, before it is displaced
    part = (sign * wanted - load[k - 1]) / (load[k] - load[k - 1])
    return float(at[k - 1] + part * (at[k] - at[k - 1]))
