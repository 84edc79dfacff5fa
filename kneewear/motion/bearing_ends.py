"""Remedies where contact reaches the end of a bearing: its edge, its shape or the travel."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import scipy
import xarray as xr
from numpy.typing import NDArray

from kneewear.activity.activity import Activity, thin_out
from kneewear.base.cases import Case
from kneewear.base.checks import checks
from kneewear.errors import ConvergenceError
from kneewear.geometry.dish import conforms_along, needed_radius
from kneewear.geometry.element_grid import border_elements
from kneewear.geometry.knee import KneeModel, middle_of_condyles
from kneewear.geometry.surface import Surface
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.dwell_pose import DwellPose, refer_to_dwell_pose
from kneewear.motion.history import failures_of, sides_of
from kneewear.motion.settings import SimulationSettings

Array = NDArray[np.float64]
# Vertices (n, 3) of a bearing that was cut out of files, mm, by component and side.
Sheets = Mapping[tuple[str, str], Array]
# Contact over a cycle of cases, as `simulate_cases` returns it.
Simulate = Callable[..., xr.Dataset]

# Frames of the trial, about.
FRAMES = 25
# Vertices of a mesh within this of a line, mm, show that it goes on along it, up to this far; a
# mesh that goes on by less ends there. Part of a direction above which it is across the bearing.
_BESIDE = 2.0
_NEAR = 15.0
_ENDS = 0.5
_ACROSS = 0.7
# Settings of the scale of a motion that reach an edge of a bearing, with their coordinates and
# their numbers among the factors; parts of a travel that are tried.
_SCALED = {
    "anterior_posterior": ("x", 0),
    "rotation": ("theta_2", 4),
    "flexion": ("theta_3", 5),
}
_PARTS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
# Points along each parameter of a condyle whose section is measured, and the coronal radius above
# which it is called straight, mm.
_SECTION = 80
_STRAIGHT = 1000.0
# Pressure at an edge over the mean of its contact up to which the edge is no contact of its own:
# the largest one of a Hertzian contact.
_EDGE_PRESSURE = 1.5
# Edges of a bearing to the sides.
_SIDEWAYS = ("outer", "inner")
_ENDWAYS = "posterior", "anterior"
# Value of a setting of a zero.
DWELL_POSE = "dwell_pose"


class Advice(NamedTuple):
    """Change of a setting that a remedy names: a value, or a factor of what it is."""

    key: str
    value: float | str
    multiplies: bool = False


class BorderRemedy(NamedTuple):
    """Remedy of contact force at a border in words, and the changes of settings that it names.

    `spans` is True where contact reaches from edge to edge, which no motion changes, and `holds`
    where it does so because the bearing holds its condyle.
    """

    text: str
    advice: tuple[Advice, ...] = ()
    spans: bool = False
    holds: bool = False


def border_shares(history: xr.Dataset, area: Array) -> dict[str, dict[str, float]]:
    """Largest force and area at the borders of each window over the largest of the side."""
    whole = {
        "force": (history.pressure.values * area).sum(axis=(-2, -1)),
        "area": (area * (history.pressure.values > 0.0)).sum(axis=(-2, -1)),
    }
    shares: dict[str, dict[str, float]] = {}
    for number, body in enumerate(history["window"].values.tolist()):
        shares[body] = {}
        for part, every in whole.items():
            most = history[f"border_{part}"].values[..., number].max(axis=1)
            shares[body][part] = float((most / np.maximum(every.max(axis=1), 1e-300)).max())
    return shares


def border_remedy(
    trial: BorderTrial,
    activity: Activity,
    history: xr.Dataset,
    body: str,
    sheets: Sheets | None = None,
    advises: bool = True,
) -> BorderRemedy:
    """Remedy of contact force at the border of the window of a body, `insert` or `femoral`.

    `sheets` show if the bearing ends there; if so, and if it `advises`, a shape or a smaller travel
    is searched for by the `trial`.
    """
    window = history["window"].values.tolist().index(body)
    remedy, advice, ends = _edge_remedy(trial.knee, history, window, sheets)
    if not ends:
        return BorderRemedy(remedy, advice)
    wide = _wide_contact(trial.knee, history, window)
    if wide is not None:
        text = wide.held or wide.text
        return BorderRemedy(remedy + text, spans=True, holds=bool(wide.held))
    if not advises:
        return BorderRemedy(remedy)
    usual, possible = _accepted_force(border_shares(history, trial.knee.grid.area), body)
    limited = trial._replace(usual=usual, possible=possible)
    helps, advice = _ending_remedy(activity, limited)
    return BorderRemedy(remedy + helps, advice)


def _accepted_force(
    shares: Mapping[str, Mapping[str, float]], body: str
) -> tuple[dict[str, float], dict[str, float]]:
    """Largest part of the force at the borders of each window without a warning, and a failure.

    At borders of windows other than the `body`'s a motion may leave what it leaves now.
    """
    ranges = {window: checks()[f"placement.{window}_border_force"].range for window in shares}
    usual, possible = (
        {
            one: limit if one == body else max(limit, shares[one]["force"])
            for one, limit in limits.items()
        }
        for limits in (
            {one: limits.high for one, limits in ranges.items()},
            {one: limits.highest for one, limits in ranges.items()},
        )
    )
    return usual, possible


class _AtBorder(NamedTuple):
    """Where the largest force at the borders of a window is."""

    case: int
    frame: int
    side: str
    body: str
    place: Array  # (3,) in the frame of the body, mm


def _place_at_border(knee: KneeModel, history: xr.Dataset, window: int) -> _AtBorder:
    """Case, frame, side and position of the largest force at the borders of a window."""
    body = str(history["window"].values[window])
    at_border = history["border_force"].values[..., window]
    case, frame, number = (int(n) for n in np.unravel_index(np.argmax(at_border), at_border.shape))
    side = sides_of(history)[number]
    pressure = history.pressure.values[case, frame, number]
    loaded = pressure > 0.0
    if body == "insert":
        loaded &= border_elements(knee.grid.valid[number])
    centres = knee.grid.centre[number][loaded]
    place = centres[int(pressure[loaded].argmax())]
    surface = knee.implant.femoral.get(side)
    if body == "femoral" and surface is not None:
        turn = body_three_123(history.rotation.values[case, frame])
        points = (centres - history.translation.values[case, frame]) @ turn
        border = scipy.spatial.cKDTree(surface.border_points())
        place = points[int(border.query(points)[0].argmin())]
    return _AtBorder(case, frame, side, body, place)


def _edge_remedy(
    knee: KneeModel, history: xr.Dataset, window: int, sheets: Sheets | None
) -> tuple[str, tuple[Advice, ...], bool]:
    """Side, edge and position of the largest force at a border; True if the bearing ends there."""
    *_, side, body, place = _place_at_border(knee, history, window)
    surfaces = knee.implant.insert if body == "insert" else knee.implant.femoral
    key, surface = f"{body}_region_mm.{side}", surfaces.get(side)
    if surface is None:  # the post
        return "", (), True
    edge, direction = nearest_edge(surface, place)
    where = (
        f"Largest on the {side} side at the {edge} edge, x {place[0]:.1f}, y {place[1]:.1f}, "
        f"z {place[2]:.1f} mm of the {body} frame. "
    )
    if sheets is None:
        return f"{where}Widen implant.meshes.{key}.", (), False
    away = sheets.get((body, side), np.empty((0, 3))) - place
    along = away @ direction
    across = np.linalg.norm(away - along[:, None] * direction, axis=1)
    beyond = float(along[(across < _BESIDE) & (along < _NEAR)].max(initial=0.0))
    if beyond < _ENDS:
        return f"{where}The bearing ends there. ", (), True
    key, more, unit = f"implant.meshes.{key}", round(beyond, 1), "mm"
    if body == "femoral" and edge in _ENDWAYS:
        # The window is one of angles there.
        arm = place[:2] - middle_of_condyles(surfaces)[:2]
        more = round(float(np.degrees(beyond / np.hypot(*arm))), 1)
        key, unit = f"{key}.angle_deg", "deg"
    reach = f" by {more:g} {unit}, as far as the mesh goes on there"
    return f"{where}Widen {key}{reach}.", (Advice(key, more),), False


class _Border(IntEnum):
    """Force that a motion leaves at the borders: more than a failure, than a warning, or less."""

    FAILS = 0
    WARNS = 1
    PASSES = 2


class BorderTrial(NamedTuple):
    """Trials of a motion with a smaller travel, and the part of the force that borders may bear."""

    knee: KneeModel
    cases: Sequence[Case]
    settings: SimulationSettings
    simulate: Simulate
    settled: DwellPose | None  # over the flexion of the motion, which trials do not exceed
    usual: Mapping[str, float] = {}  # by window, without a warning
    possible: Mapping[str, float] = {}  # without a failure
    if_moving: str = ""  # remedy of a fixed insert that holds its condyle as one that moves does

    def judge(self, activity: Activity) -> _Border:
        """Judge the force that a motion leaves at every border."""
        try:
            short = thin_out(activity, max(1, activity.percent.size // FRAMES))
            short = refer_to_dwell_pose(short, self.knee, self.settings, self.settled)
            history = self.simulate(
                self.knee,
                short,
                self.cases,
                self.settings,
                keep_going=True,
                holding_level=logging.INFO,
            )
        except ConvergenceError:
            return _Border.FAILS
        if failures_of(history):
            return _Border.FAILS
        shares = border_shares(history, self.knee.grid.area)
        for limits, verdict in ((self.usual, _Border.PASSES), (self.possible, _Border.WARNS)):
            if all(part["force"] <= limits[body] for body, part in shares.items()):
                return verdict
        return _Border.FAILS


def _ending_remedy(activity: Activity, trial: BorderTrial) -> tuple[str, tuple[Advice, ...]]:
    """First change of the motion with which contact stays on the bearing, as a remedy.

    Where the smallest travel leaves force at a border that is worth a warning, the first change
    that leaves no more is named.
    """
    block = f"activities.{activity.name}"

    def scaled(names: Sequence[str], part: float) -> Activity:
        by = np.ones(len(COORDINATES))
        by[[_SCALED[name][1] for name in names]] = part
        return activity.scaled(by)

    def helpful(names: Sequence[str], least: float) -> tuple[list[str], _Border]:
        """Those of the names that are prescribed, if the least part of them helps."""
        own = [name for name in names if _SCALED[name][0] in activity.prescribed]
        reached = trial.judge(scaled(own, least)) if own else _Border.FAILS
        return (own if reached else []), reached

    travels, reached = helpful(("anterior_posterior", "rotation"), _PARTS[-1])
    flexions: list[str] = []
    if not travels:
        flexions, reached = helpful(("flexion",), _PARTS[2])
    wanted = max(reached, _Border.WARNS)
    at_dwell_pose = np.where(np.arange(len(activity.zero)) == 0, np.nan, activity.zero)
    moves = "x" in activity.prescribed and not np.isnan(activity.zero[0])
    changes = (
        *((travels, part) for part in _PARTS[:3] if travels),
        *([([], np.nan)] * moves),
        *((travels, part) for part in _PARTS[3:] if travels),
        *((flexions, part) for part in _PARTS[:3] if flexions),
    )
    stays = "contact stays on it" if wanted == _Border.PASSES else "little of it is left there"
    for names, part in changes:
        if not names:
            if trial.judge(replace(activity, zero=at_dwell_pose)) >= wanted:
                key = f"{block}.zero.anterior_posterior"
                return f"Set {key} to {DWELL_POSE}: then {stays}.", (Advice(key, DWELL_POSE),)
            continue
        if trial.judge(scaled(names, part)) >= wanted:
            keys = [f"{block}.motion.scale.{name}" for name in names]
            text = f"Multiply {' and '.join(keys)} by {part:g}: then {stays}."
            return text, tuple(Advice(key, part, multiplies=True) for key in keys)
    return (
        "No smaller travel keeps contact on it: use a larger component or another motion"
        f"{f', or, {trial.if_moving}' if _holds_condyle(trial) else ''}.",
        (),
    )


def _holds_condyle(trial: BorderTrial) -> bool:
    """True if a fixed insert of one plateau holds its condyle as one does that moves on a tray."""
    side, *others = trial.knee.grid.sides
    surface = trial.knee.implant.femoral.get(side)
    if others or surface is None or not trial.if_moving:
        return False
    centres = trial.knee.grid.centre[0][trial.knee.grid.valid[0]]
    condyle = sampled(surface)
    lowest = condyle[condyle[:, 1].argmin()]
    # The condyle as it rests in the middle of the dish.
    middle = centres[centres[:, 1].argmin()]
    return conforms_along(centres, condyle + middle - lowest, float(middle[2]))


def sampled(surface: Surface) -> Array:
    """Points (n, 3) all over a patch, mm."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, _SECTION)[:, None], np.linspace(v0, v1, _SECTION)[None, :]
    return surface.evaluate(*np.broadcast_arrays(u, v)).reshape(-1, 3)


class _Wide(NamedTuple):
    """Contact from edge to edge: what helps, and what is said where the dish holds its condyle."""

    text: str
    held: str = ""


def _wide_contact(knee: KneeModel, history: xr.Dataset, window: int) -> _Wide | None:
    """Contact of a condyle that touches its dish from edge to edge; None of others.

    These edges bear under every motion. A condyle that fits its dish bears on all of it, as on a
    meniscal bearing, with a pressure that hardly depends on the place: contact ends because the
    bearing does. A flatter one bears on its edges, with pressures that no layer resolves.
    """
    at = _place_at_border(knee, history, window)
    surface, dish = knee.implant.femoral.get(at.side), knee.implant.insert.get(at.side)
    if surface is None or dish is None:
        return None
    own = surface if at.body == "femoral" else dish
    across = nearest_edge(own, at.place)[0] in _SIDEWAYS
    number = sides_of(history).index(at.side)
    turn = body_three_123(history.rotation.values[at.case, at.frame])
    shift = history.translation.values[at.case, at.frame]
    touching = shift + turn @ at.place if at.body == "femoral" else at.place
    # A section is normal to the first axis.
    order = [0, 1, 2] if across else [2, 1, 0]
    needed = needed_radius(
        knee.grid.centre[number][knee.grid.valid[number]][:, order],
        (sampled(surface) @ turn.T + shift)[:, order],
        float(touching[order[0]]),
        float(history.max_penetration.values[at.case, at.frame, number]),
    )
    if needed is None:
        return None
    pressure = history.pressure.values[at.case, at.frame, number]
    mean = float(np.average(pressure, weights=knee.grid.area[number] * (pressure > 0.0)))
    edge = float(history["border_pressure"].values[at.case, at.frame, number, window])
    held = (
        f"The dish holds its condyle and contact ends with it: {edge:.2g} MPa there, "
        f"{edge / mean:.2g} times the mean of the contact. More pressure at a sharp edge, and what "
        "its rounding takes off, are not resolved."
    )
    hollow, radius, most = needed
    shape = "straight" if radius > _STRAIGHT else f"of a radius of {radius:.1f} mm"
    way, name, other = (
        ("across", "coronal", "flat across") if across else ("along", "sagittal", "flatter along")
    )
    text = (
        f"The condyle is {shape} {way} on a dish of a radius of {hollow:.1f} mm, so that its "
        f"edges bear under every motion. A {name} radius of the condyle of {most:.1f} mm or less "
        f"keeps contact off them, or an insert that is {other}."
    )
    return _Wide(text, held if edge <= _EDGE_PRESSURE * mean else "")


def nearest_edge(surface: Surface, place: Array) -> tuple[str, Array]:
    """Name of the edge of a patch that is nearest to a place, and the direction out of it there."""
    (u0, u1), (v0, v1) = surface.domain
    u, v, *_ = surface.closest_points(place[None])
    point, s_u, s_v, *_ = surface.derivatives(u, v)
    # An edge has the name of the line across the patch that ends at it: its own tangent may lead
    # down the flank of a notch.
    lines = (
        (s_u[0], u[0], (u0, u1), surface.evaluate(np.array([u0, u1]), np.repeat(v, 2))),
        (s_v[0], v[0], (v0, v1), surface.evaluate(np.repeat(u, 2), np.array([v0, v1]))),
    )
    found = []
    for along, at, (low, high), (start, end) in lines:
        speed = float(np.linalg.norm(along))
        chord = (end - start) / max(float(np.linalg.norm(end - start)), 1e-12)
        found += [
            ((at - low) * speed, -along / speed, -chord),
            ((high - at) * speed, along / speed, chord),
        ]
    _, direction, towards = min(found, key=lambda one: one[0])
    outside = np.sign(point[0, 2]) or 1.0
    if abs(towards[2]) > _ACROSS:
        return _SIDEWAYS[0 if outside * towards[2] > 0 else 1], direction
    return _ENDWAYS[0 if towards[0] > 0 else 1], direction
