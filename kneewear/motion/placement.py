"""Check that a motion suits the bearing it is prescribed on: numbers, verdict and remedy."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.activity.activity import Activity, thin_out
from kneewear.base.cases import Case
from kneewear.base.checks import checks
from kneewear.base.ranges import unit_slips
from kneewear.base.sides import SIDES
from kneewear.errors import ConvergenceError
from kneewear.geometry.dish import restoring_at
from kneewear.geometry.fit_quality import FitQuality
from kneewear.geometry.knee import KneeModel, find_first_contact, middle_of_condyles
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH, COORDINATES
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.motion.bearing_ends import (
    DWELL_POSE,
    FRAMES,
    Advice,
    BorderRemedy,
    BorderTrial,
    Sheets,
    Simulate,
    border_remedy,
    border_shares,
    sampled,
)
from kneewear.motion.cases import simulate_cases
from kneewear.motion.dwell_pose import DwellPose, find_dwell_pose, refer_to_dwell_pose
from kneewear.motion.history import Failure, failures_of, sides_of
from kneewear.motion.settings import SimulationSettings

Array = NDArray[np.float64]
logger = logging.getLogger(__name__)

# Femoral origins are farther above the insert, mm.
MIN_HEIGHT = 10.0
# Share of the force that one row of elements at a border may add by its width: 0.05 was found on
# subject DM. Above it finer elements do not change a verdict.
_ROW_SHARE = 0.2
VERDICTS = {"": "pass", "warn": "warning", "refuse": "fail"}
COLUMNS = ("activity", "quantity", "value", "unit", "expected", "verdict", "remedy")
# Distance from the dwell pose is judged along prescribed coordinates only; the others settle
# themselves.
_DISTANCES = {"x": "posterior", "z": "medial", "theta_2": "external_rotation", "theta_1": "varus"}


@dataclass(frozen=True)
class Placement:
    """Result of the check of a motion on a bearing.

    `table` has the columns `COLUMNS`, one row per quantity, `verdict` is the worst of them, and
    `poses` are the settled ones (n, 6), mm and rad, at `percent`; empty without equilibrium.
    `advice` are the changes of settings that remedies of the table name, by quantity. `at_border`
    is True if the contact force at a border does not pass, but may on finer elements. `of_shape`
    are quantities that did not pass and that no motion changes: contact from edge to edge.
    `settled` is the dwell pose over the flexions of the trial, None without equilibrium.
    """

    activity: str
    table: pd.DataFrame
    percent: Array
    poses: Array
    advice: Mapping[str, tuple[Advice, ...]] = field(default_factory=dict)
    at_border: bool = False
    of_shape: frozenset[str] = frozenset()
    settled: DwellPose | None = None

    @property
    def verdict(self) -> str:
        """The word `pass`, `warning` or `fail`."""
        found = set(self.table["verdict"])
        return next((word for word in ("fail", "warning") if word in found), "pass")

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict, and one sentence per quantity that did not pass."""
        worse = self.table[self.table["verdict"] != "pass"]
        return (
            f"Placement of {self.activity}: {self.verdict}.",
            *(
                f"{row['verdict'].capitalize()}: {_found(row)}. {row['remedy']}"
                for row in worse.to_dict("records")
            ),
        )


def check_placement(
    knee: KneeModel,
    activity: Activity,
    cases: Sequence[Case],
    settings: SimulationSettings,
    fit: Sequence[FitQuality] = (),
    sheets: Sheets | None = None,
    simulate: Simulate = simulate_cases,
    advises: bool = True,
    if_moving: str = "",
) -> Placement:
    """Try a motion on a bearing, by equilibria at about 25 frames, and judge what it takes.

    Reported are the distance of the femoral origin from the condyles' axis where positions count
    from the dwell pose; the distance of the motion's mean from the dwell pose along each
    coordinate, the force and torque that prescribe the motion, and the largest penetration, all of
    the first case;
    the largest force and area of a frame at borders of the insert's and of the femoral surface over
    the largest of the side, as studies report them, of all cases, and the part of the frames. The
    wave that the `fit` of the surfaces has where they touch is reported over
    the smallest peak penetration of all cases. Limits are those of the checks `placement.*`;
    remedies name the setting to change, and the side and edge of most of the force at a border.
    `sheets` are the vertices of the bearings of files, without those whose outline is known; they
    show whether the bearing goes on there. Where it ends, smaller travels are tried. Where the
    first case has no equilibrium, the others are tried too, and the remedy states which have none.
    `simulate` computes the contact of the cases, as `simulate_cases` does of a fixed insert. Unless
    it `advises`, smaller travels are not tried. `if_moving` is what helps a fixed insert that holds
    its condyle as one does that moves.
    """
    chosen = {"analysis": "quasi_static", "distance": "exact", "material_yield": None}
    exact = settings.model_copy(update=chosen)
    name = activity.name
    judged = _Judged(name)
    _judge_origin(judged, knee, activity)
    _judge_load_line(judged, knee, activity)
    try:
        short = thin_out(activity, max(1, activity.percent.size // FRAMES))
        short = refer_to_dwell_pose(short, knee, exact)
        history = simulate(knee, short, cases, exact, keep_going=True)
        failed = failures_of(history)
        if failed and len(failed) == len(cases):
            judged.add(
                "equilibrium", np.nan, _without_equilibrium(failed, cases, judged.dwell_pose)
            )
            return judged.placement()
        if failed:
            judged.add(
                "equilibrium", np.nan, _without_equilibrium(failed, cases, judged.dwell_pose)
            )
    except ConvergenceError as error:
        judged.add("equilibrium", np.nan, f"{judged.dwell_pose} {error}")
        return judged.placement()
    poses = np.hstack([history.translation.values[0], history.rotation.values[0]])
    settled = _judge_distances(judged, knee, short, poses, exact)
    load = float(history["load"].values[0].max())
    push = float(np.abs(history.reaction_force.values[0, :, 0]).max())
    turn = float(np.abs(history.reaction_moment.values[0, :, 1]).max())
    judged.add("force", push / load, judged.dwell_pose, advice=judged.dwell_pose_advice)

    judged.add(
        "torque", turn / (CHARACTERISTIC_LENGTH * load), "Check the sign and zero of the rotation."
    )
    trial = BorderTrial(knee, cases, exact, simulate, settled, if_moving=if_moving)
    for number, (body, parts) in enumerate(border_shares(history, knee.grid.area).items()):
        touched = history["border_area"].values[..., number].any(axis=(0, 2))
        judged.add(f"{body}_border_frames", float(touched.mean()))
        helps = BorderRemedy("")
        if parts["force"]:
            helps = border_remedy(trial, activity, history, body, sheets, advises)
        for part, share in parts.items():
            check = f"{body}_border_{part}"
            passed = judged.add(check, share, helps.text, advice=helps.advice, warns=helps.holds)
            if not passed and helps.spans:
                judged.of_shape.add(checks()[f"placement.{check}"].quantity)
            elif part == "force" and not passed:
                judged.at_border |= share < _ROW_SHARE
    judged.add(
        "penetration",
        float(history.max_penetration.values[0].max()),
        "Check load, modulus and thickness.",
    )
    _judge_wandering(judged, knee, activity, history, settings)
    _judge_waves(judged, knee, history, fit)
    return replace(judged.placement(history.percent.values, poses), settled=settled)


def _without_equilibrium(failed: Sequence[Failure], cases: Sequence[Case], dwell_pose: str) -> str:
    """Which cases have none, and what helps."""
    named = ", ".join(one.case.name for one in failed)
    return (
        f"{dwell_pose} Without equilibrium: {len(failed)} of {len(cases)} cases tried ({named}). "
        f"{failed[0].reason} Starts beside it and springs that vanish were tried as well. Where "
        "the dish decides position and rotation, set boundary_conditions to settled_ap_rotation."
    )


def _found(row: Mapping[Hashable, Any]) -> str:
    """Text of a quantity's value and its limits; a value that is not a number is missing."""
    if np.isnan(row["value"]):
        return f"no {row['quantity']}"
    unit = "" if row["unit"] == "1" else f" {row['unit']}"
    return f"{row['quantity']} of {row['value']:.3g}{unit}; expected {row['expected']}"


class _Judged:
    """Rows of the table of a placement."""

    def __init__(self, activity: str) -> None:
        self.activity = activity
        self.dwell_pose = (
            f"Set activities.{activity}.zero.anterior_posterior to dwell_pose or an offset; if "
            f"it is dwell_pose, check the signs and size, or let activities.{activity}.control "
            "drive the position by force."
        )
        self.dwell_pose_advice = (
            Advice(f"activities.{activity}.zero.anterior_posterior", DWELL_POSE),
        )
        self.rows: list[tuple[object, ...]] = []
        self.at_border = False
        self.of_shape: set[str] = set()
        self.advice: dict[str, tuple[Advice, ...]] = {}

    def add(
        self,
        name: str,
        value: float,
        remedy: str = "",
        solved: bool = False,
        advice: tuple[Advice, ...] = (),
        warns: bool = False,
    ) -> bool:
        """Judge one quantity by the check of its name, unless it is solved; True if it passes.

        Where it `warns`, a value that would fail is a warning.
        """
        check = checks()[f"placement.{name}"]
        finding = None if solved else check.judge(value, "")
        expected = finding.expected if finding else ""
        verdict = VERDICTS["warn" if finding and warns else finding.severity if finding else ""]
        if finding and advice:
            self.advice[check.quantity] = advice
        self.rows.append(
            (
                self.activity,
                check.quantity,
                value,
                check.range.unit,
                expected,
                verdict,
                remedy if finding else "",
            )
        )
        return finding is None

    def placement(self, percent: Array | None = None, poses: Array | None = None) -> Placement:
        """All rows, with the settled poses at a percent of the cycle if there are any."""
        table = pd.DataFrame(self.rows, columns=list(COLUMNS))
        if percent is None or poses is None:
            percent, poses = np.empty(0), np.empty((0, 6))
        shape = frozenset(self.of_shape)
        return Placement(self.activity, table, percent, poses, self.advice, self.at_border, shape)


def _judge_distances(
    judged: _Judged, knee: KneeModel, activity: Activity, poses: Array, settings: SimulationSettings
) -> DwellPose:
    """Mean distance of the motion from the dwell pose, and of its height from first contact.

    Returns the dwell pose over the flexions of the motion.
    """
    flexion = clinical_angles(body_three_123(activity.rotation))[:, 0]
    settled = find_dwell_pose(knee, flexion, settings)
    dwell_pose = settled.at(flexion)
    for coordinate, name in _DISTANCES.items():
        number = COORDINATES.index(coordinate)
        away = float(np.mean(poses[:, number] - dwell_pose[:, number]))
        away = away if number < 3 else float(np.degrees(away))
        judged.add(
            name,
            away,
            judged.dwell_pose,
            solved=coordinate not in activity.prescribed,
            advice=judged.dwell_pose_advice if coordinate == "x" else (),
        )
    given = np.ptp(activity.translation[:, 1]) > 0.0 or bool(activity.translation[0, 1])
    if given:
        first = find_first_contact(
            knee.grid, knee.implant.femoral, body_three_123(poses[0, 3:]), poses[0, :3]
        )
        height, contact = float(activity.translation[0, 1]), float(first.translation[1])
        overlap = contact - height
        usual = checks()["placement.overlap"].range
        units = [
            slip
            for slip in unit_slips("mm")
            if usual.low <= contact - slip.corrected(height) <= usual.high
        ]
        # A height that counts from rest says nothing of the origin, unless another unit makes it
        # the height of contact.
        counts_from_rest = abs(height) < MIN_HEIGHT and not units
        remedy = (
            "Check the origins of both components and their unit: the motion turns the femur about "
            "its origin. Or set zero.superior_inferior to dwell pose."
        )
        for slip in units:
            remedy = f"Positions {slip.name} would be in contact: state the unit. {remedy}"
        judged.add("overlap", overlap, remedy, solved=counts_from_rest)
    return settled


def _judge_origin(judged: _Judged, knee: KneeModel, activity: Activity) -> None:
    """Distance of the femoral origin from the middle of the condyles' axis.

    Only where a prescribed position counts from the dwell pose: there the motion says how far the
    condyles move, not the origin of a file, which rotations move by its distance from them.
    """
    if not set(activity.refers_to_dwell_pose) & set(activity.prescribed):
        return
    x, y, z = middle_of_condyles(knee.implant.femoral)
    remedy = (
        f"The motion turns the femoral component about the origin of its file; move the origin to "
        f"{x:+.1f} mm posterior, {y:+.1f} mm superior and {z:+.1f} mm medial of where it is, as "
        f"`kneewear new` does, or, if the motion is of this origin, set all of activities."
        f"{judged.activity}.zero to file."
    )
    judged.add("origin", float(np.linalg.norm([x, y, z])), remedy)


def _judge_load_line(judged: _Judged, knee: KneeModel, activity: Activity) -> None:
    """Distance of a given load line from the middle of the plateaus over half their spacing."""
    grid = knee.grid
    middles = [
        float(np.average(grid.centre[side, valid, 2], weights=grid.area[side, valid]))
        for side, valid in enumerate(grid.valid)
    ]
    if activity.load_line is None or len(middles) < len(SIDES):
        return
    middle, half = 0.5 * sum(middles), 0.5 * abs(middles[0] - middles[1])
    remedy = (
        f"Set activities.{activity.name}.control.load_line_mm; the middle between the plateaus is "
        f"at {middle:.3g} mm."
    )
    advice = (Advice(f"activities.{activity.name}.control.load_line_mm", float(f"{middle:.3g}")),)
    judged.add("load_line", (activity.load_line - middle) / half, remedy, advice=advice)


def _judge_wandering(
    judged: _Judged,
    knee: KneeModel,
    activity: Activity,
    history: xr.Dataset,
    settings: SimulationSettings,
) -> None:
    """Medial-lateral force of both dishes under the largest load, where it is too small to decide.

    Only where the position is solved by contact alone: a row of the table is a warning.
    """
    springs = settings.medial_lateral_spring_per_mm or any(
        spring.coordinate == "z" for spring in activity.springs
    )
    solved = settings.medial_lateral == "solved" and activity.load_line is None
    sides = sides_of(history)
    free = solved and not springs and "z" not in activity.prescribed
    if not free or knee.implant.natural or set(sides) != set(SIDES):
        return
    frame = int(history["load"].values[0].argmax())
    turn = body_three_123(history.rotation.values[0, frame])
    shift = history.translation.values[0, frame]
    forces = []
    for number, side in enumerate(sides):
        centres = knee.grid.centre[number][knee.grid.valid[number]]
        pressure = history.pressure.values[0, frame, number][knee.grid.valid[number]]
        condyle = sampled(knee.implant.femoral[side]) @ turn.T + shift
        forces.append(restoring_at(centres, condyle, centres[int(pressure.argmax())]))
    least = checks()["placement.restoring"].range.low
    force = float(np.mean(forces))
    if force < least:
        judged.add(
            "restoring",
            force,
            "Set simulation.medial_lateral to held, or simulation.medial_lateral_spring_per_mm to "
            f"{least:g} and more: the position that is solved wanders with the elements.",
            advice=(Advice("simulation.medial_lateral", "held"),),
        )


def _judge_waves(
    judged: _Judged, knee: KneeModel, history: xr.Dataset, fit: Sequence[FitQuality]
) -> None:
    """Wave of both surfaces of a side where they touch, over the least peak penetration."""
    for number, side in enumerate(sides_of(history)):
        least = float(history.max_penetration.values[:, :, number].max(axis=1).min())
        pressure = history.pressure.values[0][:, number]
        touched = [knee.grid.centre[number][one > 0.0] for one in pressure]
        share = pressure[pressure > 0.0] / max(float(pressure.max()), 1e-300)
        poses = zip(touched, history.translation.values[0], history.rotation.values[0], strict=True)
        turned = [(one - shift) @ body_three_123(turn) for one, shift, turn in poses]
        places = {"insert": np.concatenate(touched), "femoral": np.concatenate(turned)}
        reach = float(np.sqrt(0.5 * knee.grid.area[number].max()))  # half a diagonal
        waves = [
            one.wave_near(places[one.component], reach, share)
            for one in fit
            if one.side == side and one.component in places
        ]
        if not waves or not least > 0.0:
            continue
        limit = checks()[f"placement.wave_{side}"].range.high
        each = float(f"{limit * least / len(waves):.1g}")
        judged.add(
            f"wave_{side}",
            sum(waves) / least,
            f"Set implant.meshes.wave_tolerance_mm to {each:g}; if it is as small (auto is 0.05 um "
            "per mm of thickness), lower smoothing_length_mm and knot_spacing_mm, or export finer "
            "meshes.",
            advice=(Advice("implant.meshes.wave_tolerance_mm", each),),
        )
