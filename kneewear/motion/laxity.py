"""Laxity of an implant: load against displacement along a path, after ASTM F1223."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.cases import WHOLE, Output
from kneewear.base.sides import SIDES
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.motion.press import NAMED, PressSolution, Rig
from kneewear.motion.press_results import AXES, ends_of_pair
from kneewear.motion.rig_settings import PathSettings

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
# How the component leaves the bearing.
LIFTED = "condyle lifts off"
FALLEN = "load falls beyond its peak"
NONE = "no equilibrium"
# Results that are words.
WORDS: tuple[str, ...] = ("displacement_unit", "load_unit", "subluxation")


def drive_path(rig: Rig, path: PathSettings) -> xr.Dataset:
    """Equilibria along the path of one laxity test.

    Parameters
    ----------
    rig : Rig
        Knee with its settings.
    path : PathSettings
        Driven coordinate, amplitude, steps and speed.

    Returns
    -------
    Dataset
        Dimension `step`: `displacement`, mm or deg; `load`, the force or moment that drives it,
        N or N m, positive along the displacement; `vertical_force` of each condyle, N, and
        position and rotation of the component, mm and rad.

    Raises
    ------
    ConvergenceError
        If there is no neutral position.

    Notes
    -----
    From the settled pose without motion the driven coordinate goes to its amplitude, to the
    opposite one and back, in equal steps at a constant speed; the free coordinates are in
    equilibrium after every step, with friction against the motion of the step (implicit Euler),
    the others are held. Distraction lifts the component straight up. A loop ends where there is no
    equilibrium any more.
    """
    axis = COORDINATES.index(DRIVEN[path.coordinate])
    # Apart, nothing decides on free coordinates.
    lifts = path.coordinate == "distraction"
    free = [] if lifts else [name for name in rig.free if name != DRIVEN[path.coordinate]]
    solution = rig.settle(rig.start(), rig.free, rig.axial)
    pose = solution.pose
    origin, solutions = pose[axis], [solution]
    scale = np.radians(1.0) if path.is_angular else 1.0
    # An angle turns condyles on a lever of half their spacing, a single one on one to the origin.
    spacing = 0.5 * (rig.middles[0] - rig.middles[-1]) or abs(rig.middles[0])
    lever = spacing if path.is_angular else 1.0
    displacements = path_displacements(path)
    for before, after in pairwise(displacements):
        duration = abs(after - before) * scale * lever / path.speed_mm_per_s
        start = pose.copy()
        start[axis] = origin + after * scale
        try:
            solution = rig.settle(start, free, rig.axial, previous=(pose, duration))
        except ConvergenceError as error:
            logger.warning("%s ends at %.3g %s: %s", path.coordinate, after, path.units[0], error)
            break
        pose = solution.pose
        solutions.append(solution)
    return _dataset(path, displacements[: len(solutions)], solutions, axis)


def path_displacements(path: PathSettings) -> Array:
    """Displacements of the steps of a loop, mm or deg; distraction only lifts."""
    if path.coordinate == "distraction":
        return np.linspace(0.0, path.amplitude, path.steps + 1)
    turns = np.array([0.0, 1.0, -1.0, 1.0])
    quarters = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(turns)))])
    at = np.linspace(0.0, quarters[-1], round(path.steps * quarters[-1]) + 1)
    return path.amplitude * np.interp(at, quarters, turns)


def _dataset(
    path: PathSettings, displacement: Array, solutions: list[PressSolution], axis: int
) -> xr.Dataset:
    length, force = path.units
    poses = np.stack([solution.pose for solution in solutions])
    equilibria = [solution.equilibrium for solution in solutions]
    scale = 1e-3 if path.is_angular else 1.0
    load = np.array([one.reaction[axis] * scale for one in equilibria])
    sides = [side for side in solutions[0].elements.cells if side in SIDES]
    numbers = range(len(sides))
    condyles = np.array([[one.contacts[side].wrench[1] for side in numbers] for one in equilibria])
    at_ends = np.array([[_end_share(one, side) for side in numbers] for one in solutions])
    variables = {
        "border_force_share": (
            ("step", "side"),
            at_ends,
            {"units": "1", "long_name": "part of the normal force where a surface ends"},
        ),
        "displacement": ("step", displacement, {"units": length, "long_name": "displacement"}),
        "load": ("step", load, {"units": force, "long_name": "driving force or moment"}),
        "vertical_force": (
            ("step", "side"),
            condyles,
            {"units": "N", "long_name": "vertical force"},
        ),
        "translation": (
            ("step", "axis"),
            poses[:, :3],
            {"units": "mm", "long_name": "position of the femoral origin"},
        ),
        "rotation": (
            ("step", "axis"),
            poses[:, 3:],
            {"units": "rad", "long_name": "body-three 1-2-3 angles of the femoral component"},
        ),
    }
    return xr.Dataset(variables, {"step": np.arange(len(poses)), "side": sides, "axis": list(AXES)})


def _end_share(solution: PressSolution, side: int) -> float:
    """Part of the normal force of a side where the insert or the femoral surface ends."""
    contact = solution.equilibrium.contacts[side]
    force = contact.pressure * contact.area
    at_end = ends_of_pair(solution, side)
    return float(force[at_end].sum() / force.sum()) if force.any() else 0.0


def path_outputs(units: tuple[str, str]) -> Iterator[Output]:
    """Numbers of a loop, with the units of displacement and load."""
    length, force = units
    yield Output(WHOLE, "stiffness", f"{force}/{length}")
    for name in ("positive_end", "negative_end", "peak_at", "subluxation_at"):
        yield Output(WHOLE, name, length)
    for name in ("peak_load", "hysteresis"):
        yield Output(WHOLE, name, force)
    yield Output(WHOLE, "border_force_share", "1")


def tabulate_path(loop: xr.Dataset, path: PathSettings) -> dict[str, float | str]:
    """Stiffness, end points and subluxation of a loop.

    Parameters
    ----------
    loop : Dataset
        As of `drive_path`.
    path : PathSettings
        Amplitude and end load.

    Returns
    -------
    dict of str to float or str
        `stiffness` is the slope of the load within half the amplitude around zero, N/mm or
        N m/deg; `positive_end` and `negative_end` are the displacements at which the end load is
        first reached, NaN if it never is; `peak_load` is the largest load and `peak_at` where it
        acts; `border_force_share` is the largest part of a condyle's force where the insert or the
        femoral surface ends; `hysteresis` is half the width of the loop in load at rest.
        `subluxation` says how the component leaves the bearing, empty where it does not: a condyle
        lifts off (carries less than a hundredth of the axial load), the load falls by more than a
        twentieth beyond its peak, or there is no equilibrium any more; `subluxation_at` is the
        displacement, NaN if there is none. Units are `displacement_unit` and `load_unit`.
    """
    at, load = loop["displacement"].values, loop["load"].values
    peak = int(np.argmax(np.abs(load)))
    how, where = _subluxation(at, load, loop["vertical_force"].values, path)
    zero = load[1:][np.abs(at[1:]) < 1e-9 * path.amplitude]
    length, force = path.units
    return {
        "displacement_unit": length,
        "load_unit": force,
        "stiffness": _stiffness(at, load, NEUTRAL * path.amplitude),
        "positive_end": _end(at, load, path.end_load, 1.0),
        "negative_end": _end(at, load, path.end_load, -1.0),
        "peak_load": float(abs(load[peak])),
        "peak_at": float(at[peak]),
        "hysteresis": 0.5 * float(np.ptp(zero)) if zero.size > 1 else 0.0,
        "border_force_share": float(loop["border_force_share"].values.max()),
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


def _subluxation(at: Array, load: Array, condyles: Array, path: PathSettings) -> tuple[str, float]:
    """Direction in which the component leaves the bearing, and the displacement there."""
    lifted = np.flatnonzero(condyles.min(axis=1) < LOST * condyles[0].sum())
    if lifted.size:
        return LIFTED, float(at[lifted[0]])
    for sign in (1.0, -1.0):
        # The way out: as far as the amplitude, not the way back, which friction lowers.
        end = int(np.argmax(sign * at))
        if end == 0:
            continue
        out = np.flatnonzero(sign * at[: end + 1] >= 0.0)
        push = sign * load[out]
        if push[-1] < (1.0 - FALL) * push.max():
            return FALLEN, float(at[out[int(np.argmax(push))]])
    if abs(at).max() < path.amplitude * (1.0 - 1e-9):
        return NONE, float(at[-1])
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
