"""Simulated tables of measured wear: coverage of intervals, and the value of further tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.evidence.synthesis.input_ranges import InputRanges
from kneewear.evidence.synthesis.law_space import LawSpace, log_factor
from kneewear.evidence.synthesis.measurements import Measurements
from kneewear.evidence.synthesis.mixture import Mixture, UniformContact, evidences_of, fit_mixture
from kneewear.evidence.synthesis.posterior import PRIORS, SEED, Evidence, LawModel

Array = NDArray[np.float64]
# Draws of priors for simulated tables, of which there are many.
SIMULATED_DRAWS = 1024
NOMINAL = (0.5, 0.8, 0.9)
# What simulated laboratories follow: one law of the set, a law that is not in the set, whose factor
# is one of cross-shear times one of pressure, or each laboratory a law of its own.
IN_SET = "a law of the set"
NOT_IN_SET = "cross-shear times pressure, not in the set"
EACH_ITS_OWN = "another law in each laboratory"
TRUTHS = (IN_SET, NOT_IN_SET, EACH_ITS_OWN)


def calibrate(
    space: LawSpace,
    rows: Measurements,
    contact: UniformContact,
    count: int,
    truths: Sequence[str] = TRUTHS,
    inputs: InputRanges | None = None,
) -> pd.DataFrame:
    """Coverage of intervals of the wear factor of a contact in another laboratory.

    Spreads, constants and level of each simulated table are drawn from their priors, the level with
    a standard deviation of 1; inputs that are ranges have one of their draws. Weights of the laws
    are found anew from every table. Columns truth,
    nominal, covered (%), standard_error, draws, interval_factor (median of upper over lower end of
    the 90 % interval).
    """
    evidences = evidences_of(space, rows, draws=SIMULATED_DRAWS, inputs=inputs)
    table = []
    for truth in truths:
        random = np.random.default_rng(SEED)
        inside, widths = np.zeros((count, len(NOMINAL))), np.zeros(count)
        for number in range(count):
            log_wear, target = _simulate(evidences, truth, contact, random)
            mixture = fit_mixture(evidences, log_wear)
            for column, level in enumerate(NOMINAL):
                low, high = mixture.points(contact, (0.5 - 0.5 * level, 0.5 + 0.5 * level))
                inside[number, column] = low <= target <= high
            widths[number] = high - low
        covered = inside.mean(axis=0)
        columns = {
            "truth": truth,
            "nominal": 100.0 * np.array(NOMINAL),
            "covered": 100.0 * covered,
            "standard_error": 100.0 * np.sqrt(covered * (1.0 - covered) / count),
            "draws": count,
            "interval_factor": float(np.exp(np.median(widths))),
        }
        table.append(pd.DataFrame(columns))
    return pd.concat(table, ignore_index=True)


def _simulate(
    evidences: Sequence[Evidence], truth: str, contact: UniformContact, random: np.random.Generator
) -> tuple[Array, float]:
    """Logarithm of measured wear of every row, and of the contact in another laboratory."""
    model = evidences[0].model
    rows = model.rows
    unit = random.uniform(size=(1, model.size))
    ((tau, sigma, reporting),) = model.from_unit(unit)[0]
    level = random.normal()
    names = list(dict.fromkeys(rows.laboratory))
    inputs = model.inputs
    draw = 0 if inputs is None else int(random.integers(len(inputs.log_work)))
    laws = _true_laws(evidences, truth, contact, len(names) + 1, draw, random)
    of_row = [names.index(name) for name in rows.laboratory]
    log_wear = np.array([laws[at][0][row] for row, at in enumerate(of_row)])
    shared = tau * random.normal(size=len(names))[of_row]
    conditions = sigma * random.normal(size=rows.over_conditions.shape[1])
    log_wear = log_wear + rows.is_absolute * (level + shared) + rows.over_conditions @ conditions
    log_wear += reporting * rows.error * random.normal(size=len(log_wear))
    target = level + laws[-1][1] + np.hypot(tau, sigma) * random.normal()
    return log_wear, float(target)


def _true_laws(
    evidences: Sequence[Evidence],
    truth: str,
    contact: UniformContact,
    count: int,
    draw: int,
    random: np.random.Generator,
) -> list[tuple[Array, float]]:
    """Rows and factor of a contact by the law of each of `count` laboratories."""
    if truth == EACH_ITS_OWN:
        chosen = [evidences[int(random.integers(len(evidences)))] for _ in range(count)]
        return [_law(evidence, contact, draw, random) for evidence in chosen]
    if truth == IN_SET:
        shared = evidences[int(random.integers(len(evidences)))]
        return [_law(shared, contact, draw, random)] * count
    by_name = {evidence.model.law: evidence for evidence in evidences}
    names = ("cross_shear_saturation", "pressure_power", "archard")
    across, pressed, one = (_law(by_name[name], contact, draw, random) for name in names)
    return [(across[0] + pressed[0] - one[0], across[1] + pressed[1])] * count


def _law(
    evidence: Evidence, contact: UniformContact, draw: int, random: np.random.Generator
) -> tuple[Array, float]:
    """Rows and factor of a contact by a law with constants drawn from its priors, at level one."""
    model, at = evidence.model, random.integers(evidence.draws)
    constants = evidence.prior[1][at : at + 1]
    ratio, pressure = (np.array([value]) for value in contact)
    factor = log_factor(model.law, constants, ratio, pressure)
    rows = evidence.predicted[at].copy()
    if model.inputs is not None:
        rows[model.inputs.rows_of(len(rows))] = model.inputs.at(model.law, constants, draw)[0]
    return rows, float(factor[0])


@dataclass(frozen=True)
class WithTest(Evidence):
    """Posterior with further rows: contacts that were measured in laboratories of their own."""

    contacts: tuple[UniformContact, ...] = ()

    @cached_property
    def predicted(self) -> Array:
        """Rows of the table, then the contacts."""
        spreads, constants = self.prior
        del spreads
        known = len(self.model.rows.log_wear) - len(self.contacts)
        rows = self.model.rows.among(np.arange(len(self.model.rows.log_wear)) < known)
        own = rows.log_wear - replace(self.model, rows=rows).residual(constants)
        further = [
            log_factor(
                self.model.law,
                constants,
                np.full(self.draws, contact.cross_shear),
                np.full(self.draws, contact.pressure_mpa),
            )
            for contact in self.contacts
        ]
        return np.column_stack([own, *further])


def with_contacts(
    rows: Measurements, contacts: int, laboratories: int, error: float
) -> Measurements:
    """Measurements with further rows: every contact once in each of some new laboratories."""
    count = contacts * laboratories
    old, conditions = rows.over_conditions.shape
    over = np.zeros((old + count, conditions + count))
    over[:old, :conditions] = rows.over_conditions
    over[old:, conditions:] = np.eye(count)
    names = [f"new laboratory {number}" for number in range(laboratories) for _ in range(contacts)]
    return Measurements(
        np.append(rows.names, [f"new {number}" for number in range(count)]),
        np.append(rows.laboratory, names),
        np.append(rows.log_wear, np.zeros(count)),
        np.append(rows.error, np.full(count, error)),
        np.vstack([rows.over_tests, np.zeros((count, rows.over_tests.shape[1]))]),
        over,
        np.append(rows.is_absolute, np.ones(count)),
        np.append(rows.is_straight, np.zeros(count, bool)),
    )


def value_of_test(
    space: LawSpace,
    rows: Measurements,
    contact: UniformContact,
    contacts: Sequence[UniformContact],
    laboratories: int,
    error: float,
    outcomes: int,
) -> dict[str, float]:
    """Expected interval of the wear factor of a contact after a further test.

    Parameters
    ----------
    space, rows : LawSpace, Measurements
        What is known.
    contact : UniformContact
        Whose interval is to become narrower.
    contacts : sequence of UniformContact
        What the test measures in each laboratory.
    laboratories : int
        Laboratories that make the test.
    error : float
        Standard deviation of the logarithm of a measurement.
    outcomes : int
        Simulated results, drawn from what is known.

    Returns
    -------
    dict
        interval_factor (median over the outcomes of upper over lower end of the 90 % interval of
        another laboratory), laws_factor (the same without deviations of laboratory and condition:
        level, law and constants), and both before the test.

    Notes
    -----
    Weights of the laws with a test follow its likelihood beside the stacking weights of what is
    known: laws that predict the outcome badly lose.
    """
    before = fit_mixture(evidences_of(space, rows, draws=SIMULATED_DRAWS))
    random = np.random.default_rng(SEED)
    further = with_contacts(rows, len(contacts), laboratories, error)
    evidences = [
        WithTest(
            LawModel(evidence.model.law, space, further, PRIORS["used"]),
            SIMULATED_DRAWS,
            tuple(contacts) * laboratories,
        )
        for evidence in before.evidences
    ]
    known = np.arange(len(further.log_wear)) < len(rows.log_wear)
    every = np.ones(len(known), bool)
    factors, laws = [], []
    for _ in range(outcomes):
        log_wear = _outcome(before, evidences, known, random)
        gain = np.array(
            [
                evidence.log_evidence(log_wear, every) - evidence.log_evidence(log_wear, known)
                for evidence in evidences
            ]
        )
        weights = before.weights * np.exp(gain - gain.max())
        after = Mixture(evidences, weights / weights.sum(), log_wear, every)
        own, whole = _widths(after, contact, random)
        laws.append(own)
        factors.append(whole)
    own, whole = _widths(before, contact, random)
    return {
        "interval_factor": float(np.exp(np.median(factors))),
        "laws_factor": float(np.exp(np.median(laws))),
        "interval_factor_before": float(np.exp(whole)),
        "laws_factor_before": float(np.exp(own)),
    }


def _outcome(
    before: Mixture,
    evidences: Sequence[Evidence],
    known: NDArray[np.bool_],
    random: np.random.Generator,
) -> Array:
    """Draw the result of the further rows from what is known."""
    evidence = evidences[random.choice(len(evidences), p=before.weights)]
    padded = np.append(before.log_wear, np.zeros(int(np.sum(~known))))
    logarithm = evidence.log_weights(padded, known)
    part = np.exp(logarithm - logarithm.max())
    at = int(random.choice(len(part), p=part / part.sum()))
    rows, (tau, sigma, reporting) = evidence.model.rows, evidence.prior[0][at]
    middle, spread = (values[at] for values in evidence.level(padded, known))
    level = middle + spread * random.normal()
    names, where = np.unique(rows.laboratory[~known], return_inverse=True)
    further = evidence.predicted[at, ~known] + level + (tau * random.normal(size=len(names)))[where]
    own = np.hypot(sigma, reporting * rows.error[~known])
    padded[~known] = further + own * random.normal(size=len(further))
    return padded


def _widths(
    mixture: Mixture, contact: UniformContact, random: np.random.Generator
) -> tuple[float, float]:
    """Logarithm of upper over lower end of the 90 % intervals: of the laws, and of a laboratory."""
    draws = mixture.draw(contact, 4000, random)
    own, whole = (np.quantile(values, 0.95) - np.quantile(values, 0.05) for values in draws)
    return float(own), float(whole)
