"""Check whether a measured motion fits the bearing better with a sign reversed."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case
from kneewear.geometry.knee import KneeModel
from kneewear.motion.cases import simulate_cases
from kneewear.motion.settings import SimulationSettings
from kneewear.motion.signs import SignTrial, doubtful_signs, try_signs

logger = logging.getLogger(__name__)


def check_signs(
    knee: KneeModel,
    activity: Activity,
    case: Case,
    settings: SimulationSettings,
    reference: float | None = None,
    stated: bool = False,
) -> tuple[SignTrial, ...]:
    """Try a motion with its uncertain signs reversed, and warn when that fits the bearing better.

    `reference` is the origin of anterior-posterior positions, mm posterior, which curves of a
    standard machine state; by default the one of the activity. `stated` says that the titles of the
    file state the directions.
    Returns the trials, the motion as given first.
    """
    # Yield does not show signs, and takes several times as long.
    chosen = {"analysis": "quasi_static", "material_yield": None}
    quasi_static = settings.model_copy(update=chosen)
    standard = reference is not None
    if reference is None:
        reference = float(np.nan_to_num(activity.zero[0]))
    trials = try_signs(
        activity, lambda motion: simulate_cases(knee, motion, [case], quasi_static), reference
    )
    trials = tuple(replace(trial, standard=standard, stated=stated) for trial in trials)
    doubt = doubtful_signs(trials, activity.name)
    if doubt:
        logger.warning("%s", doubt)
    return trials
