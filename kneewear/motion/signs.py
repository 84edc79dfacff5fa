"""Trials of a measured motion with a sign reversed: which fits the bearing better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.activity.activity import Activity, thin_out
from kneewear.base.sides import SIDES
from kneewear.errors import ConvergenceError, Finding
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH
from kneewear.motion.history import sides_of

Array = NDArray[np.float64]

# Name of the check.
SIGNS = "motion.signs"

# Motions that need less than this fraction of the load give no indication.
MIN_EFFORT = 0.05
# Reversed signs are suspected when they reduce the effort to less than MUCH_LESS of it; or to less
# than LESS of it, if the contact then follows flexion as in most knees, that is if the sum of both
# correlations rises by more than COUPLED.
MUCH_LESS = 0.67
LESS = 0.9
COUPLED = 0.5
# A motion may be that of the other knee where the contact turns against flexion by a correlation of
# SCREWED, and the other way with the rotation reversed, at an effort of at most AS_WELL of it.
SCREWED = 0.4
AS_WELL = 1.2
# Largest number of frames of a trial, about.
FRAMES = 25

# Reversed quantities: factors of anterior-posterior position and internal-external rotation.
_TRIALS = {
    "nothing": (1.0, 1.0),
    "anterior-posterior": (-1.0, 1.0),
    "rotation": (1.0, -1.0),
    "anterior-posterior and rotation": (-1.0, -1.0),
}


@dataclass(frozen=True)
class SignTrial:
    """Contact of a motion, as given or with the quantities in `reversed` reversed.

    `driver_force` and `driver_moment` are root mean squares over the cycle of the
    anterior-posterior force and the moment about the superior axis that prescribe the motion,
    relative to the load (times mm), and `effort` both together, the moment over a lever of 23 mm;
    NaN, and infinite, without equilibrium. `anterior` and `posterior` are the ends of the contact's
    path on the insert, mm posterior of its origin. `rollback` is the correlation with flexion of
    the posterior position of contact, `screw_home` that of the lateral contact relative to the
    medial one, which internal tibial rotation increases; both are positive in most knees.

    `standard` states that the curves are of a standard machine, `stated` that the titles of the
    file state the directions.
    `curves` has a row for each frame: percent, femoral position (mm posterior), external tibial
    rotation (deg), and the medial and lateral contact (mm posterior, NaN where unloaded).
    """

    reversed: str
    driver_force: float
    driver_moment: float
    effort: float
    anterior: float
    posterior: float
    rollback: float
    screw_home: float
    standard: bool = False
    stated: bool = False
    curves: Array = field(default_factory=lambda: np.empty((0, 5)), repr=False, compare=False)


def try_signs(
    activity: Activity, simulate: Callable[[Activity], xr.Dataset], reference: float = 0.0
) -> tuple[SignTrial, ...]:
    """Simulate a motion as given and with signs reversed; `reference` as in `check_signs`.

    A dished bearing restores the femur to its lowest point. Muscles and ligaments keep the contact
    near it, so the path of a true motion stays low and takes little force to prescribe; one with a
    reversed sign climbs the dish. A flat bearing gives no indication. The correlation of contact
    with flexion is weaker evidence because replaced knees often move the other way.
    """
    short = thin_out(activity, max(1, activity.percent.size // FRAMES))
    trials = []
    for name, (posterior, external) in _TRIALS.items():
        translation, rotation = short.translation.copy(), short.rotation.copy()
        translation[:, 0] = reference + posterior * (translation[:, 0] - reference)
        rotation[:, 1] *= external
        motion = replace(short, translation=translation, rotation=rotation)
        trials.append(_try(motion, simulate, name))
    return tuple(trials)


def least_effort(trials: Sequence[SignTrial]) -> SignTrial:
    """The trial that fits the bearing best."""
    return min(trials, key=lambda trial: trial.effort)


def doubtful_signs(trials: Sequence[SignTrial], name: str) -> Finding | None:
    """Finding about signs of an activity that seem reversed; None if there are none.

    Curves of a standard machine are not judged by the side of the knee: the two editions of ISO
    14243-3 turn opposite ways, and the sign of each is checked by itself. Nor are those whose
    titles state the directions: many replaced knees turn and slide against flexion.
    """
    given, best = trials[0], least_effort(trials)
    other_knee = None if given.standard or given.stated else _mirrored(trials)
    coupling = best.rollback + best.screw_home - given.rollback - given.screw_home
    limit = LESS if coupling > COUPLED and not given.stated else MUCH_LESS
    if given.effort < MIN_EFFORT or not best.effort < limit * given.effort:
        if other_knee is None:
            return None
        found = (
            f"the motion turns with flexion as a knee of the other side does (correlation "
            f"{given.screw_home:.2f}; {other_knee.screw_home:.2f} with the rotation reversed, "
            "which fits the bearing as well)"
        )
        remedy = "Check motion.knee and the sign of the rotation."
        return Finding(SIGNS, "warn", name, found, "", remedy)
    found = (
        "the motion has no equilibrium on this bearing"
        if np.isinf(given.effort)
        else f"the motion moves the contact from {given.anterior:.1f} to {given.posterior:.1f} mm "
        f"on the bearing, with a force of {given.effort:.2f} of the load"
    )
    other = (
        f"with the sign of {best.reversed} reversed it moves from {best.anterior:.1f} to "
        f"{best.posterior:.1f} mm with {best.effort:.2f}"
    )
    remedy = "Check motion.convention and the frame of the insert."
    return Finding(SIGNS, "warn", name, f"{found}; {other}", "", remedy)


def _mirrored(trials: Sequence[SignTrial]) -> SignTrial | None:
    """Trial with the rotation reversed where only it turns with flexion as most knees do."""
    given = trials[0]
    other = next(trial for trial in trials if trial.reversed == "rotation")
    fits = other.effort <= AS_WELL * given.effort
    opposite = given.screw_home < -SCREWED and other.screw_home > SCREWED
    return other if fits and opposite else None


def tabulate_trials(trials: Sequence[SignTrial], name: str) -> pd.DataFrame:
    """Table of trials (`simulation/{activity}/signs.csv`), the verdict in the first row."""
    units = {
        "driver_force": "driver_force_of_load",
        "driver_moment": "driver_moment_of_load_mm",
        "effort": "effort_of_load",
        "anterior": "anterior_mm",
        "posterior": "posterior_mm",
    }
    table = pd.DataFrame([asdict(trial) for trial in trials])
    table = table.drop(columns=["standard", "stated", "curves"])
    table = table.rename(columns=units)
    doubt = doubtful_signs(trials, name)
    sentence = (
        doubt.text()
        if doubt
        else (
            f"The bearing gives no reason to doubt the signs of {name}."
            if trials[0].effort >= MIN_EFFORT
            else f"The bearing is too flat to indicate a reversed sign of {name}: its motion takes "
            f"only {100.0 * trials[0].effort:.1f} % of the load."
        )
    )
    return table.assign(activity=name, verdict=[sentence, *[""] * (len(trials) - 1)])


def _try(activity: Activity, simulate: Callable[[Activity], xr.Dataset], name: str) -> SignTrial:
    try:
        history = simulate(activity)
    except ConvergenceError:
        history = None
    given = [
        activity.percent,
        activity.translation[:, 0],
        np.degrees(activity.rotation[:, 1]),
    ]
    if history is None or not history.sizes["case"]:
        curves = np.column_stack([*given, *np.full((2, activity.percent.size), np.nan)])
        return SignTrial(name, np.nan, np.nan, np.inf, *(np.nan,) * 4, curves=curves)
    force = history.reaction_force.values[0, :, 0] / history["load"].values[0]
    moment = history.reaction_moment.values[0, :, 1] / history["load"].values[0]
    contact = dict(
        zip(sides_of(history), history.centre_of_pressure.values[0, :, :, 0].T, strict=True)
    )
    # A bearing that is absent is never loaded.
    medial, lateral = (contact.get(side, np.full_like(activity.percent, np.nan)) for side in SIDES)
    flexion = -activity.rotation[:, 2]
    return SignTrial(
        reversed=name,
        driver_force=float(np.sqrt(np.mean(force**2))),
        driver_moment=float(np.sqrt(np.mean(moment**2))),
        effort=float(np.sqrt(np.mean(force**2 + (moment / CHARACTERISTIC_LENGTH) ** 2))),
        anterior=float(np.nanmin([medial, lateral])),
        posterior=float(np.nanmax([medial, lateral])),
        rollback=_correlation(flexion, sum(contact.values())),
        screw_home=_correlation(flexion, lateral - medial),
        curves=np.column_stack([*given, medial, lateral]),
    )


def _correlation(flexion: Array, position: Array) -> float:
    """Pearson correlation over the frames with both sides loaded; zero if one is constant."""
    both = np.isfinite(position)
    if both.sum() < 3 or np.ptp(flexion[both]) == 0.0 or np.ptp(position[both]) == 0.0:
        return 0.0
    return float(np.corrcoef(flexion[both], position[both])[0, 1])
