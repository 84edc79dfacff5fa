"""Whether a motion belongs to the bearing it is prescribed on: numbers, verdict, remedy."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kneewear.activity.activity import Activity, thin_out
from kneewear.errors import ConvergenceError
from kneewear.geometry.element_grid import border_elements
from kneewear.geometry.fit_quality import FitQuality
from kneewear.geometry.knee import KneeModel, find_first_contact
from kneewear.mechanics.coordinates import COORDINATES, LEVER
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.settings.cases import Case
from kneewear.settings.checks import checks
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.history import ContactHistory
from kneewear.simulation.seat import find_seat, refer_to_seat

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

logger = logging.getLogger(__name__)

# Frames of the trial, about.
FRAMES = 25
VERDICTS = {"": "pass", "warn": "warning", "refuse": "fail"}
COLUMNS = ("activity", "quantity", "value", "unit", "expected", "verdict", "remedy")
# Distance from the seat is judged along prescribed coordinates only; the others settle themselves.
_DISTANCES = {"x": "posterior", "z": "medial", "theta_2": "external_rotation", "theta_1": "varus"}


@dataclass(frozen=True)
class Placement:
    """What was found of a motion on a bearing.

    `table` has the columns `COLUMNS`, one row per quantity, `verdict` is the worst of them, and
    `poses` are the settled ones (n, 6), mm and rad, at `percent`; empty without equilibrium.
    """

    activity: str
    table: pd.DataFrame
    percent: Array
    poses: Array

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
) -> Placement:
    """Try a motion on a bearing, by equilibria at about 25 frames, and judge what it takes.

    Reported are the distance of the motion's mean from the seat along each coordinate, the force
    and torque that prescribe the motion, the share of the contact force and area, and of the
    frames, at borders of the insert's and of the femoral surface, and the largest penetration, all
    of the first case. The wave that the `fit` of the surfaces has where they touch is reported over
    the smallest peak penetration of all cases. Limits are those of the checks `placement.*`;
    remedies name the setting to change.
    """
    exact = settings.model_copy(update={"analysis": "quasi_static", "distance": "exact"})
    name = activity.name
    judged = _Judged(name)
    try:
        short = thin_out(activity, max(1, activity.percent.size // FRAMES))
        short = refer_to_seat(short, knee, exact)
        history = simulate_cases(knee, short, cases, exact)
    except ConvergenceError as error:
        judged.add("equilibrium", np.nan, f"{judged.seat} {error}")
        return Placement(name, judged.table(), np.empty(0), np.empty((0, 6)))
    poses = np.hstack([history.translation[0], history.rotation[0]])
    _judge_distances(judged, knee, short, poses, exact)
    load = float(history.load[0].max())
    push = float(np.abs(history.reaction_force[0, :, 0]).max())
    turn = float(np.abs(history.reaction_moment[0, :, 1]).max())
    judged.add("force", push / load, judged.seat)

    judged.add("torque", turn / (LEVER * load), "Check the sign and zero of the rotation.")
    remedies = {
        "insert": "Widen implant.meshes.insert_region_mm if the insert goes on there. "
        + judged.seat,
        "femoral": "Widen implant.meshes.femoral_region_mm (its angles, for much flexion).",
    }
    for body, touched in _at_borders(knee, history).items():
        area = np.broadcast_to(knee.grid.area, touched.shape)
        force = history.pressure[0] * area
        loaded = history.pressure[0] > 0.0
        judged.add(f"{body}_border_frames", float(touched.any(axis=(1, 2, 3)).mean()))
        judged.add(f"{body}_border_area", _part(area, touched, loaded), remedies[body])
        judged.add(f"{body}_border_force", _part(force, touched, loaded), remedies[body])
    judged.add(
        "penetration", float(history.max_penetration[0].max()), "Check load, modulus and thickness."
    )
    _judge_waves(judged, knee, history, fit)
    return Placement(name, judged.table(), history.percent, poses)


def _found(row: Mapping[Hashable, Any]) -> str:
    """What was found of a quantity, and its limits; a value that is not a number is missing."""
    if np.isnan(row["value"]):
        return f"no {row['quantity']}"
    unit = "" if row["unit"] == "1" else f" {row['unit']}"
    return f"{row['quantity']} of {row['value']:.3g}{unit}; {row['expected']}"


class _Judged:
    """Rows of the table of a placement."""

    def __init__(self, activity: str) -> None:
        self.activity = activity
        self.seat = (
            f"Set activities.{activity}.zero.anterior_posterior to seat, or to an offset; if it is "
            f"seat, check the motion's signs and size, or let activities.{activity}.control "
            "drive the position by force."
        )
        self.rows: list[tuple[object, ...]] = []

    def add(self, name: str, value: float, remedy: str = "", solved: bool = False) -> None:
        """Judge one quantity by the check of its name, unless it is solved."""
        check = checks()[f"placement.{name}"]
        verdict = "" if solved else check.verdict(value)
        expected = f"expected {check.fault(value, '').expected}" if verdict else ""
        self.rows.append(
            (self.activity, check.quantity, value, check.unit, expected, VERDICTS[verdict],
             remedy if verdict else "")
        )  # fmt: skip

    def table(self) -> pd.DataFrame:
        """All rows."""
        return pd.DataFrame(self.rows, columns=list(COLUMNS))


def _judge_distances(
    judged: _Judged, knee: KneeModel, activity: Activity, poses: Array, settings: SimulationSettings
) -> None:
    """Distance of the motion's mean from that of the seat, and of its height from first contact."""
    flexion = clinical_angles(body_three_123(activity.rotation))[:, 0]
    seat = find_seat(knee, flexion, settings).at(flexion)
    for coordinate, name in _DISTANCES.items():
        number = COORDINATES.index(coordinate)
        away = float(np.mean(poses[:, number] - seat[:, number]))
        away = away if number < 3 else float(np.degrees(away))
        judged.add(name, away, judged.seat, solved=coordinate not in activity.prescribed)
    given = np.ptp(activity.translation[:, 1]) > 0.0 or bool(activity.translation[0, 1])
    if given:
        first = find_first_contact(
            knee.grid, knee.implant.femoral, body_three_123(poses[0, 3:]), poses[0, :3]
        )
        overlap = float(first.translation[1] - activity.translation[0, 1])
        judged.add("overlap", overlap, solved="y" not in activity.prescribed)


def _judge_waves(
    judged: _Judged, knee: KneeModel, history: ContactHistory, fit: Sequence[FitQuality]
) -> None:
    """Wave of both surfaces of a side where they touch, over the least peak penetration."""
    for number, side in enumerate(history.sides):
        least = float(history.max_penetration[:, :, number].max(axis=1).min())
        touched = [knee.grid.centre[number][one[number] > 0.0] for one in history.pressure[0]]
        poses = zip(touched, history.translation[0], history.rotation[0], strict=True)
        turned = [(one - shift) @ body_three_123(turn) for one, shift, turn in poses]
        places = {"insert": np.concatenate(touched), "femoral": np.concatenate(turned)}
        reach = float(np.sqrt(0.5 * knee.grid.area[number].max()))  # half a diagonal
        waves = [one.wave_near(places[one.component], reach) for one in fit
                 if one.side == side and one.component in places]  # fmt: skip
        if not waves or not least > 0.0:
            continue
        limit = checks()[f"placement.wave_{side}"].warn_above
        each = float(f"{limit * least / len(waves):.1g}")
        judged.add(
            f"wave_{side}",
            sum(waves) / least,
            f"Set implant.meshes.wave_tolerance_mm to auto or to {each:g}; if it is as small, "
            "lower mean_tolerance_mm and smoothing_length_mm, or export finer meshes.",
        )


def _part(values: Array, touched: Bools, loaded: Bools) -> float:
    """Part of the sum over loaded elements that is at a border."""
    return float(values[touched].sum() / max(values[loaded].sum(), 1e-300))


def _at_borders(knee: KneeModel, history: ContactHistory) -> Mapping[str, Bools]:
    """Loaded elements (frame, side, row, column) at a border of the insert, and of the femur.

    At a border of a condyle is an element nearer to it, from its nearest point, than its own width:
    beyond that border the condyle's surface is not known, and no contact found.
    """
    loaded = history.pressure[0] > 0.0
    outermost = np.stack([border_elements(valid) for valid in knee.grid.valid])
    femoral = np.zeros_like(loaded)
    for number, side in enumerate(knee.grid.sides):
        surface = knee.implant.femoral[side]
        border = surface.border_points()
        if not border.size:
            continue
        tree = cKDTree(border)
        for frame, pose in enumerate(history.translation[0]):
            here = loaded[frame, number]
            turn = body_three_123(history.rotation[0, frame])
            centres = (knee.grid.centre[number][here] - pose) @ turn
            if len(centres):
                u, v, *_ = surface.closest_points(centres)
                width = np.sqrt(knee.grid.area[number][here])
                femoral[frame, number][here] = tree.query(surface.evaluate(u, v))[0] < width
    return {"insert": loaded & outermost, "femoral": femoral}
