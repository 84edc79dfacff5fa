"""Whether a measured motion would suit the bearing better with a sign reversed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.errors import ConvergenceError
from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable
from kneewear.settings.cases import Case
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.history import ContactHistory

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Lever that turns a twisting moment into a force, mm: half a usual condyle spacing.
LEVER = 23.0
# Drivers that push with less than this part of the load tell nothing.
LEAST_EFFORT = 0.05
# Reversed signs are suspected when they leave less than the first part of the effort; or less than
# the second part, and make the contact follow flexion as in most knees, which the third value
# measures (a rise of the two correlations together).
MUCH_LESS, LESS, COUPLED = 0.67, 0.9, 0.5
# Frames that are enough to see where the contact goes.
FRAMES = 25

# What is reversed: factors of anterior-posterior position and internal-external rotation.
_TRIALS = {
    "nothing": (1.0, 1.0),
    "anterior-posterior": (-1.0, 1.0),
    "rotation": (1.0, -1.0),
    "anterior-posterior and rotation": (-1.0, -1.0),
}


@dataclass(frozen=True)
class SignTrial:
    """Contact of a motion, as given or with signs reversed.

    Parameters
    ----------
    reversed : str
        What was reversed.
    driver_force : float
        Root mean square over the cycle of the anterior-posterior force of the drivers, part of the
        load; NaN where the motion has no equilibrium.
    driver_moment : float
        The same of their moment about the superior axis, load times mm.
    effort : float
        Both together, the moment over a lever of 23 mm; infinite without equilibrium.
    anterior, posterior : float
        Ends of the contact's path on the insert, mm posterior of its origin.
    rollback : float
        Correlation with flexion of how far back the contact is; positive in most knees.
    screw_home : float
        Correlation with flexion of how much farther back the lateral contact is than the medial
        one, which a tibia turning inwards makes; positive in most knees.
    """

    reversed: str
    driver_force: float
    driver_moment: float
    effort: float
    anterior: float
    posterior: float
    rollback: float
    screw_home: float


def check_signs(
    grid: ElementGrid,
    surfaces: Mapping[str, Surface],
    tables: Mapping[str, SurfaceTable],
    activity: Activity,
    case: Case,
    settings: SimulationSettings,
    distance_tables: Mapping[str, DistanceTable] | None = None,
    reference: float | None = None,
) -> tuple[SignTrial, ...]:
    """Try a motion with its doubtful signs reversed, and warn when that suits the bearing better.

    Parameters
    ----------
    grid, surfaces, tables, activity, settings, distance_tables
        As `simulate_cases` takes them.
    case : Case
        The case to try on.
    reference : float, optional
        Position from which anterior-posterior positions are counted, mm posterior; zero when not
        given.

    Returns
    -------
    tuple of SignTrial
        As given first.
    """
    still = settings.model_copy(update={"analysis": "quasi_static"})

    def simulate(motion: Activity) -> ContactHistory:
        return simulate_cases(grid, surfaces, tables, motion, [case], still, distance_tables)

    trials = try_signs(activity, simulate, reference or 0.0)
    doubt = doubtful_signs(trials, activity.name)
    if doubt:
        logger.warning(doubt)
    return trials


def try_signs(
    activity: Activity, simulate: Callable[[Activity], ContactHistory], reference: float = 0.0
) -> tuple[SignTrial, ...]:
    """Contact of a motion as given and with its doubtful signs reversed.

    Parameters
    ----------
    activity : Activity
        Motion with prescribed anterior-posterior position and rotation.
    simulate : callable
        Activity -> ContactHistory of one case.
    reference : float
        Position from which anterior-posterior positions are counted, mm posterior.

    Returns
    -------
    tuple of SignTrial
        As given first.

    Notes
    -----
    A dished bearing carries the femur back to its lowest place. Muscles and ligaments keep the
    contact near it, so the path of a true motion runs low and its drivers push little; one with a
    sign reversed runs up the dish. A flat bearing cannot tell. How the contact follows flexion is
    weaker evidence: replaced knees often move the other way.
    """
    thin = _thinned(activity)
    return tuple(
        _try(_reversed(thin, factors, reference), simulate, name)
        for name, factors in _TRIALS.items()
    )


def doubtful_signs(trials: Sequence[SignTrial], name: str) -> str:
    """Sentence on signs that seem reversed, or nothing.

    Parameters
    ----------
    trials : sequence of SignTrial
        As given first.
    name : str
        Name of the activity.

    Returns
    -------
    str
        Empty unless another choice of signs leaves less than two thirds of the effort, or less
        than nine tenths and a contact that follows flexion better.
    """
    given, best = trials[0], min(trials, key=lambda trial: trial.effort)
    if given.effort < LEAST_EFFORT or not _suspicious(given, best):
        return ""
    found = (
        "has no equilibrium on this bearing"
        if np.isinf(given.effort)
        else f"runs the contact from {given.anterior:.1f} to {given.posterior:.1f} mm up the "
        f"bearing, against {given.effort:.2f} of the load"
    )
    return (
        f"The motion of {name} {found}; with the sign of {best.reversed} reversed the contact runs "
        f"from {best.anterior:.1f} to {best.posterior:.1f} mm against {best.effort:.2f}. Check "
        "motion.convention and the frame of the insert."
    )


def tabulate_trials(trials: Sequence[SignTrial], name: str) -> pd.DataFrame:
    """Table of trials (`simulation/{activity}/signs.csv`).

    Parameters
    ----------
    trials : sequence of SignTrial
        As given first.
    name : str
        Name of the activity.

    Returns
    -------
    DataFrame
        One row a trial; `verdict` of the first says whether its signs seem reversed.
    """
    units = {
        "driver_force": "driver_force_of_load",
        "driver_moment": "driver_moment_of_load_mm",
        "effort": "effort_of_load",
        "anterior": "anterior_mm",
        "posterior": "posterior_mm",
    }
    table = pd.DataFrame([asdict(trial) for trial in trials]).rename(columns=units)
    sentence = doubtful_signs(trials, name) or (
        f"The bearing gives no reason to doubt the signs of {name}."
        if trials[0].effort >= LEAST_EFFORT
        else f"The bearing is too flat to tell a reversed sign of {name}: drivers push with "
        f"{100.0 * trials[0].effort:.1f} % of the load only."
    )
    return table.assign(activity=name, verdict=[sentence, *[""] * (len(trials) - 1)])


def _suspicious(given: SignTrial, best: SignTrial) -> bool:
    coupling = best.rollback + best.screw_home - given.rollback - given.screw_home
    limit = LESS if coupling > COUPLED else MUCH_LESS
    return best.effort < limit * given.effort


def _thinned(activity: Activity) -> Activity:
    """Every n-th frame."""
    chosen = slice(None, None, max(1, activity.percent.size // FRAMES))
    names = ("percent", "translation", "rotation", "load", "wrench")
    return replace(activity, **{name: getattr(activity, name)[chosen] for name in names})


def _reversed(activity: Activity, factors: tuple[float, float], reference: float) -> Activity:
    translation, rotation = activity.translation.copy(), activity.rotation.copy()
    translation[:, 0] = reference + factors[0] * (translation[:, 0] - reference)
    rotation[:, 1] *= factors[1]
    return replace(activity, translation=translation, rotation=rotation)


def _try(
    activity: Activity, simulate: Callable[[Activity], ContactHistory], name: str
) -> SignTrial:
    try:
        history = simulate(activity)
    except ConvergenceError:
        history = None
    if history is None or not history.cases:
        return SignTrial(name, np.nan, np.nan, np.inf, *(np.nan,) * 4)
    force = history.reaction_force[0, :, 0] / history.load[0]
    moment = history.reaction_moment[0, :, 1] / history.load[0]
    medial, lateral = history.centre_of_pressure[0, :, :, 0].T
    flexion = -activity.rotation[:, 2]
    return SignTrial(
        reversed=name,
        driver_force=float(np.sqrt(np.mean(force**2))),
        driver_moment=float(np.sqrt(np.mean(moment**2))),
        effort=float(np.sqrt(np.mean(force**2 + (moment / LEVER) ** 2))),
        anterior=float(np.nanmin([medial, lateral])),
        posterior=float(np.nanmax([medial, lateral])),
        rollback=_correlation(flexion, medial + lateral),
        screw_home=_correlation(flexion, lateral - medial),
    )


def _correlation(flexion: Array, place: Array) -> float:
    """Pearson correlation over the frames with both sides loaded; zero where nothing varies."""
    both = np.isfinite(place)
    if both.sum() < 3 or np.ptp(flexion[both]) == 0.0 or np.ptp(place[both]) == 0.0:
        return 0.0
    return float(np.corrcoef(flexion[both], place[both])[0, 1])
