"""Plans of sweeps: the value of every factor in every case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.geometry.knee import KneeModel
from kneewear.settings.cases import Case
from kneewear.settings.factors import changed_case, changed_settings
from kneewear.settings.sweep import SweepStudy
from kneewear.studies.cases import CaseRunner

Array = NDArray[np.float64]

CASE = "case"
# Settings by what a change of them computes again: surfaces, then cycles, then wear alone.
_COSTS = ("implant.", "table.", "grid.", "activities.", "cases.", "simulation.")


def plan_cases(study: SweepStudy) -> pd.DataFrame:
    """Value of every factor in every case of a plan that no file gives.

    Returns
    -------
    DataFrame
        One row per case: its name `case`, and a column for each factor.

    Notes
    -----
    full_factorial: all combinations of equally spaced levels, bounds included; factors that cost
    most to change vary slowest, so that cases share what they can. latin_hypercube: every factor
    has one case in each of n equal parts of its range (McKay, Beckman and Conover 1979,
    Technometrics 21, 239-245; from memory). sobol: a scrambled Sobol sequence (Sobol 1967, Owen
    1998; from memory). Both by scipy.stats.qmc, from the seed of the study.
    """
    factors = study.sweep.factors
    bounds = np.array([factor.bounds for factor in factors.values()])
    if study.sweep.plan == "full_factorial":
        slowest_first = sorted(factors, key=lambda name: _cost(factors[name].settings))
        levels = [
            np.linspace(*factors[name].bounds, factors[name].levels) for name in slowest_first
        ]
        plan = pd.DataFrame(list(product(*levels)), columns=slowest_first)[list(factors)]
    else:
        points = _unit_points(study.sweep.plan, len(factors), study.sweep.samples or 0, study.seed)
        low, high = bounds.T
        plan = pd.DataFrame(low + points * (high - low), columns=list(factors))
    plan.insert(0, CASE, [f"c{number:05d}" for number in range(len(plan))])
    return plan


def _cost(settings: tuple[str, ...]) -> int:
    """Rank of the most expensive of some settings to change."""
    ranks = [rank for path in settings for rank, at in enumerate(_COSTS) if path.startswith(at)]
    return min(ranks, default=len(_COSTS))


def _unit_points(plan: str, sides: int, count: int, seed: int) -> Array:
    """Points of a plan in the unit cube, shape (count, sides)."""
    from scipy.stats import qmc  # noqa: PLC0415 - slow to load

    if plan == "sobol":
        return np.asarray(qmc.Sobol(sides, scramble=True, rng=seed).random(count))
    return np.asarray(qmc.LatinHypercube(sides, rng=seed).random(count))


def planned_cases(study: SweepStudy, plan: pd.DataFrame) -> Iterator[Case]:
    """Cases of the rows of a plan: values of the settings that the factors change."""
    settings = study.model_dump(mode="json")
    for row in plan.to_dict("records"):
        changes = (one.at(float(row[name])) for name, one in study.sweep.factors.items())
        yield changed_case(study, str(row[CASE]), changed_settings(settings, changes))


def plan_of(cases: Sequence[tuple[str, Mapping[str, float]]]) -> pd.DataFrame:
    """Plan, as of `plan_cases`, of cases that a file names and gives."""
    return pd.DataFrame([{CASE: name, **values} for name, values in cases])


def sweep_runner(
    study: SweepStudy, knee: KneeModel, activities: Mapping[str, Activity]
) -> CaseRunner:
    """Runner of the cases, with exact distances where geometry varies."""
    return CaseRunner(study, knee, activities, exact=not study.reads_distance_tables)
