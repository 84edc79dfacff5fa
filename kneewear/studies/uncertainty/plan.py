"""Plans of samples: what every sample changes, decided before any is simulated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from kneewear.settings.cases import Case
from kneewear.settings.factors import changed_case, changed_settings
from kneewear.settings.study import apply_case
from kneewear.settings.uncertainty import (
    UncertainConstant,
    UncertaintySettings,
    UncertaintyStudy,
)

Array = NDArray[np.float64]

# Normal distributions are cut off at this number of standard deviations: no absurd settings.
CUT = 3.0
# Column of the number that names an error of measured poses; empty where poses are as measured.
POSE_ERROR = "pose_error"
LABELS = ("sample", "block", "role", "constant")
NOMINAL = "nominal"


def quantile(constant: UncertainConstant, probability: ArrayLike) -> Array:
    """Random number of a constant, in the unit of its spread, not exceeded with a probability."""
    probability = np.asarray(probability, dtype=float)
    if constant.distribution == "normal":
        tail = ndtr(-CUT)
        return np.asarray(constant.spread * ndtri(tail + probability * (1.0 - 2.0 * tail)))
    return constant.spread * (2.0 * probability - 1.0)


def standard_deviation(constant: UncertainConstant) -> float:
    """Standard deviation of a constant's random number, in the unit of its spread."""
    if constant.distribution == "normal":
        density = np.exp(-0.5 * CUT**2) / np.sqrt(2.0 * np.pi)
        variance = 1.0 - 2.0 * CUT * density / (1.0 - 2.0 * ndtr(-CUT))
        return float(constant.spread * np.sqrt(variance))
    return constant.spread / float(np.sqrt(3.0))


def uncertain_names(uncertainty: UncertaintySettings) -> list[str]:
    """Columns of the uncertain numbers in a plan."""
    return [*uncertainty.constants, *([POSE_ERROR] if uncertainty.pose_errors else [])]


def plan_samples(study: UncertaintyStudy) -> pd.DataFrame:
    """Plan of `draw_samples`, once the settings of every sample are known to be possible.

    InputDataError if a sample's settings are out of their range.
    """
    plan = draw_samples(study)
    for _, row in plan.iterrows():
        apply_case(study, sample_case(study, row))
    return plan


def draw_samples(study: UncertaintyStudy) -> pd.DataFrame:
    """Random numbers of every sample of an uncertainty study.

    Returns
    -------
    DataFrame
        One row per sample: its number `sample`; `role` is nominal (the first: nothing changed),
        draw, low, high, A, B or mixed; `constant` names the one that is low, high or mixed; `block`
        is the number of the balanced group of variance_based; then the random number of each
        constant, in the unit of its spread, and `pose_error`, which names an error of measured
        poses, where they count.

    Notes
    -----
    monte_carlo: independent random samples; each draws from a generator of its own, seeded by the
    study's seed and the sample's number, so it depends on no other. one_at_a_time: each constant
    one standard deviation lower and higher than in the settings. variance_based: blocks of A, A
    with one constant after the other taken from B, and B, where A and B are rows of a scrambled
    Sobol sequence (Saltelli et al. 2010, Computer Physics Communications 181, 259-270). An error of
    a whole motion enters as a single number from which the error is generated: a trigger (Iooss and
    Ribatet 2009, Reliability Engineering and System Safety 94, 1194-1204; from memory).
    """
    uncertainty = study.uncertainty
    make = {"monte_carlo": _draws, "one_at_a_time": _steps, "variance_based": _blocks}
    return _plan(uncertainty, make[uncertainty.method](uncertainty, study.seed))


def stratify_samples(study: UncertaintyStudy) -> pd.DataFrame:
    """Plan as of `draw_samples` in which few samples cover the range of every constant evenly.

    Notes
    -----
    Latin hypercube (McKay, Beckman and Conover 1979, Technometrics 21, 239-245; from memory): each
    constant has one sample in each of n equally probable parts of its range, where n is the number
    of samples. Parts of a constant depend on its name, the seed and n only (those of a constant of
    the implant on the implant's name too), so studies that share a constant share its samples, also
    where other constants are uncertain in them.
    """
    uncertainty, count = study.uncertainty, study.uncertainty.samples
    columns = []
    for name in uncertain_names(uncertainty):
        settings = uncertainty.constants[name].settings if name in uncertainty.constants else ()
        built = any(path.startswith("implant.") for path in settings)
        text = name + study.implant.name if built else name
        draw = np.random.default_rng([study.seed, count, *text.encode()])
        columns.append((draw.permutation(count) + draw.random(count)) / count)
    return _plan(uncertainty, (_draw(uncertainty, point) for point in np.stack(columns, axis=-1)))


def sample_case(study: UncertaintyStudy, row: Mapping[str, float] | pd.Series) -> Case:
    """Case of one sample: the settings its constants change by the random numbers of a row."""
    settings = study.model_dump(mode="json")
    values = changed_settings(
        settings,
        (one.changed(float(row[name])) for name, one in study.uncertainty.constants.items()),
    )
    name = f"sample {row.get('sample', '')} of the uncertainty study"
    return changed_case(study, name, values)


def _plan(uncertainty: UncertaintySettings, rows: Iterable[dict[str, object]]) -> pd.DataFrame:
    """Plan of numbered rows after the nominal one."""
    unchanged = dict.fromkeys(uncertainty.constants, 0.0)
    nominal = {"block": 0, "role": NOMINAL, "constant": "", **unchanged}
    plan = pd.DataFrame([{"sample": n, **row} for n, row in enumerate([nominal, *rows])])
    return plan.reindex(columns=[*LABELS, *uncertain_names(uncertainty)])


def _draw(uncertainty: UncertaintySettings, point: Array) -> dict[str, object]:
    """Row of a sample at a point of the unit cube."""
    return {"block": 0, "role": "draw", "constant": "", **_numbers(uncertainty, point)}


def _numbers(uncertainty: UncertaintySettings, probabilities: Array) -> dict[str, float]:
    """Random numbers at a point of the unit cube, whose last side may be the pose error."""
    constants = uncertainty.constants
    numbers = {
        name: float(quantile(constant, probabilities[number]))
        for number, (name, constant) in enumerate(constants.items())
    }
    if uncertainty.pose_errors:
        numbers[POSE_ERROR] = float(probabilities[len(constants)])
    return numbers


def _draws(uncertainty: UncertaintySettings, seed: int) -> Iterator[dict[str, object]]:
    sides = len(uncertainty.constants) + 1
    for sample in range(1, uncertainty.samples + 1):
        yield _draw(uncertainty, np.random.default_rng([seed, sample]).random(sides))


def _steps(uncertainty: UncertaintySettings, seed: int) -> Iterator[dict[str, object]]:
    nothing = dict.fromkeys(uncertainty.constants, 0.0)
    for name, constant in uncertainty.constants.items():
        step = standard_deviation(constant)
        for role, sign in (("low", -1.0), ("high", 1.0)):
            yield {"block": 0, "role": role, "constant": name, **nothing, name: sign * step}


def _blocks(uncertainty: UncertaintySettings, seed: int) -> Iterator[dict[str, object]]:
    from SALib.sample import sobol  # noqa: PLC0415 - slow to load, and only needed here

    names = uncertain_names(uncertainty)
    problem = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
    points = sobol.sample(problem, uncertainty.samples, calc_second_order=False, seed=seed)
    roles = [("A", ""), *(("mixed", name) for name in names), ("B", "")]
    for number, point in enumerate(points):
        block, member = divmod(number, len(roles))
        role, name = roles[member]
        numbers = _numbers(uncertainty, point)
        yield {"block": block, "role": role, "constant": name, **numbers}
