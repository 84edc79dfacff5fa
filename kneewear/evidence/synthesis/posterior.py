"""Posterior of wear laws, constants and laboratories from measured wear.

The logarithm of measured wear is log(level times wear of a law), plus a deviation of the
laboratory (standard deviation tau), one of the condition within it (sigma) and the error of the
measurement, whose stated standard deviation is too small by a common factor: the reporting error. A
ratio of two tests of a laboratory has neither level nor deviation of the laboratory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.evidence.synthesis.input_ranges import InputRanges
from kneewear.evidence.synthesis.law_space import CONSTANTS, LAWS, LawSpace
from kneewear.evidence.synthesis.measurements import Measurements

Array = NDArray[np.float64]
# Standard deviation of the prior of the level's logarithm, about 1e-6 mm3/(N m), or of
# contact_area about its published constants.
LEVEL = 2.0
SPREADS = ("tau", "sigma", "reporting")
PRIOR_DRAWS = 8192
WALKERS = 32
STEPS = 6000
BURNT = 500  # steps that are left out
SEED = 20261129


class Priors(NamedTuple):
    """Scales of the half-normal priors of tau and sigma, and the log-normal one of reporting."""

    tau: float = 1.0
    sigma: float = 0.5
    reporting: float = 0.5


# Sensitivity to priors: the one that is used, half and twice as wide.
PRIORS = {
    "used": Priors(),
    "half as wide": Priors(0.5, 0.25, 0.25),
    "twice as wide": Priors(2.0, 1.0, 1.0),
}


class Sample(NamedTuple):
    """Draws of a law: spreads (n, 3) in the order of `SPREADS`, constants and level's logarithm."""

    spreads: Array
    constants: Array
    log_level: Array


@dataclass(frozen=True)
class LawModel:
    """Likelihood of the measurements by a law.

    The last rows may be tests whose inputs are ranges: `inputs`.
    """

    law: str
    space: LawSpace
    rows: Measurements
    priors: Priors = PRIORS["used"]
    inputs: InputRanges | None = None

    @property
    def size(self) -> int:
        """Number of sampled parameters: spreads and constants; the level is integrated."""
        return len(SPREADS) + len(CONSTANTS[self.law])

    def from_unit(self, unit: Array) -> tuple[Array, Array]:
        """Spreads and constants at parts of their priors' probabilities, (n, size)."""
        half = scipy.special.ndtri(0.5 + 0.5 * unit[:, :2])
        reporting = np.exp(self.priors.reporting * scipy.special.ndtri(unit[:, 2]))
        spreads = np.column_stack([half * self.priors[:2], reporting])
        own = [
            constant.from_unit(unit[:, 3 + number])
            for number, constant in enumerate(CONSTANTS[self.law])
        ]
        return spreads, np.column_stack([np.empty((len(unit), 0)), *own])

    def residual(self, constants: Array) -> Array:
        """Logarithm of measured over predicted wear at a level of one, shape (n, row)."""
        predicted = self.space.log_wear(self.law, constants) @ self.rows.over_tests.T
        if self.inputs is not None:
            predicted[:, self.inputs.rows_of(len(self.rows.log_wear))] = self.inputs.mean(
                self.law, constants
            )
        return np.asarray(self.rows.log_wear - predicted)

    def covariance_of_inputs(self, constants: Array) -> Array:
        """Covariance of the prediction by inputs that are ranges, shape (n, row, row)."""
        count = len(self.rows.log_wear)
        covariance = np.zeros((len(constants), count, count))
        if self.inputs is not None:
            own = self.inputs.rows_of(count)
            covariance[:, own, own] = self.inputs.covariance(self.law, constants)
        return covariance

    def covariance(self, spreads: Array) -> Array:
        """Covariance of the residual, shape (n, row, row), with the level's prior."""
        rows = self.rows
        tau, sigma, reporting = spreads.T[:, :, None, None]
        absolute = np.outer(rows.is_absolute, rows.is_absolute)
        shared = absolute * (rows.laboratory[:, None] == rows.laboratory[None, :])
        conditions = rows.over_conditions @ rows.over_conditions.T
        stated = np.diag(rows.error**2)
        return np.asarray(
            LEVEL**2 * absolute + tau**2 * shared + sigma**2 * conditions + reporting**2 * stated
        )

    def log_likelihood(self, spreads: Array, constants: Array) -> Array:
        """Logarithm of the likelihood without the level, shape (n,)."""
        covariance = self.covariance(spreads) + self.covariance_of_inputs(constants)
        return log_normal(self.residual(constants), covariance)

    def log_posterior(self, scores: Array) -> Array:
        """Logarithm of the posterior of normal scores of the priors, (n, size), for the sampler.

        In these scores priors are standard normal, and no bound is in the way of the walkers.
        """
        unit = np.clip(scipy.special.ndtr(scores), 1e-12, 1.0 - 1e-12)
        own = self.log_likelihood(*self.from_unit(unit))
        return np.asarray(own - 0.5 * (scores**2).sum(axis=1))

    def draw_level(self, spreads: Array, constants: Array, random: np.random.Generator) -> Array:
        """Draw the logarithm of the level given everything else."""
        absolute = self.rows.is_absolute
        covariance = self.covariance(spreads) + self.covariance_of_inputs(constants)
        covariance = covariance - LEVEL**2 * np.outer(absolute, absolute)
        solved = np.linalg.solve(
            covariance, np.broadcast_to(absolute[:, None], (len(spreads), len(absolute), 1))
        )
        precision = 1.0 / LEVEL**2 + solved[:, :, 0] @ absolute
        mean = np.einsum("ni,ni->n", solved[:, :, 0], self.residual(constants)) / precision
        return np.asarray(mean + random.normal(size=len(mean)) / np.sqrt(precision))


def log_normal(rest: Array, covariance: Array) -> Array:
    """Logarithm of the density of normal vectors of mean zero, (n, row) and (n, row, row)."""
    lower = np.linalg.cholesky(covariance)
    scaled = np.linalg.solve(lower, rest[..., None])[..., 0]
    logarithm = np.log(np.diagonal(lower, axis1=-2, axis2=-1)).sum(axis=-1)
    return np.asarray(
        -0.5 * (scaled**2).sum(axis=-1) - logarithm - 0.5 * rest.shape[-1] * np.log(2.0 * np.pi)
    )


class Chains(NamedTuple):
    """Sample of a law with the convergence of its chains."""

    sample: Sample
    split_r_hat: float  # the largest of the parameters
    effective: float  # the smallest number of effective samples
    likelihoods: int


def sample_law(model: LawModel, seed: int = SEED, steps: int = STEPS) -> Chains:
    """Sample the posterior of a law by the affine-invariant ensemble of emcee."""
    import emcee  # noqa: PLC0415 - of the optional extra `synthesis`

    random = np.random.default_rng(seed)
    start = random.normal(size=(WALKERS, model.size))
    sampler = emcee.EnsembleSampler(
        WALKERS,
        model.size,
        model.log_posterior,
        vectorize=True,
        moves=[(emcee.moves.DEMove(), 0.8), (emcee.moves.DESnookerMove(), 0.2)],
    )
    sampler.random_state = np.random.RandomState(seed).get_state()
    sampler.run_mcmc(start, steps + BURNT)
    chain = sampler.get_chain(discard=BURNT)  # (step, walker, parameter)
    lengths = emcee.autocorr.integrated_time(chain, quiet=True)
    scores = chain.reshape(-1, model.size)
    spreads, constants = model.from_unit(scipy.special.ndtr(scores))
    level = model.draw_level(spreads, constants, random)
    return Chains(
        Sample(spreads, constants, level),
        split_r_hat(chain),
        float(chain.shape[0] * WALKERS / np.max(lengths)),
        (steps + BURNT) * WALKERS,
    )


def split_r_hat(chain: Array) -> float:
    """Largest split-R-hat of the parameters of chains (step, walker, parameter).

    References
    ----------
    Gelman, A. et al. (2013) Bayesian Data Analysis, 3rd edition, section 11.4 (from memory).
    """
    half = len(chain) // 2
    halves = np.concatenate([chain[:half], chain[half : 2 * half]], axis=1)
    within = halves.var(axis=0, ddof=1).mean(axis=0)
    between = half * halves.mean(axis=0).var(axis=0, ddof=1)
    return float(np.sqrt(np.max(((half - 1) / half * within + between / half) / within)))


@dataclass(frozen=True)
class Evidence:
    """Posterior of a law by draws of its priors, weighted by the likelihood.

    The draws and their covariances are one for all tables of the same rows, so that simulated
    tables cost milliseconds. It does not depend on the sampler.
    """

    model: LawModel
    draws: int = PRIOR_DRAWS

    @cached_property
    def prior(self) -> tuple[Array, Array]:
        """Spreads and constants drawn from the priors by a Sobol sequence."""
        points = scipy.stats.qmc.Sobol(self.model.size, rng=SEED).random(self.draws)
        return self.model.from_unit(np.clip(points, 1e-9, 1.0 - 1e-9))

    @cached_property
    def predicted(self) -> Array:
        """Logarithm of the wear of every row at a level of one, (draw, row)."""
        return np.asarray(self.model.rows.log_wear - self.model.residual(self.prior[1]))

    @cached_property
    def _whole(self) -> tuple[Array, Array, Array]:
        """Inverse covariance of all rows at every draw, log of its root determinant, and variances.

        Covariances of chosen rows follow from these and the small blocks of the rows that are left
        out: a leave-out costs no factor of its own.
        """
        covariance = self.model.covariance(self.prior[0])
        if self.model.inputs is not None:
            covariance += self.model.covariance_of_inputs(self.prior[1])
        lower = np.linalg.cholesky(covariance)
        logarithm = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        inverse = np.linalg.inv(lower)
        variance = np.diagonal(covariance, axis1=1, axis2=2).copy()
        return inverse.swapaxes(1, 2) @ inverse, -logarithm, variance

    @property
    def variance(self) -> Array:
        """Variance of every row at every draw, with the level's prior, shape (draw, row)."""
        return self._whole[2]

    @cached_property
    def _of_level(self) -> Array:
        """Inverse covariance times the design of the level, (draw, row)."""
        return np.asarray(self._whole[0] @ self.model.rows.is_absolute)

    @cached_property
    def _blocks(self) -> dict[bytes, tuple[Array, Array]]:
        return {}

    @cached_property
    def _tables(self) -> dict[bytes, tuple[Array, Array]]:
        return {}

    def _table(self, log_wear: Array) -> tuple[Array, Array]:
        """Residual of all rows, and inverse covariance times it, (draw, row), of the last table."""
        key = log_wear.tobytes()
        if key not in self._tables:
            self._tables.clear()
            rest = log_wear - self.predicted
            self._tables[key] = rest, (self._whole[0] @ rest[:, :, None])[:, :, 0]
        return self._tables[key]

    def _block(self, chosen: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Covariance of the rows left out given the others, and log of its root determinant."""
        key = chosen.tobytes()
        if key not in self._blocks:
            block = self._whole[0][:, ~chosen][:, :, ~chosen]
            logarithm = -0.5 * np.linalg.slogdet(block)[1]
            inverse = np.asarray(np.linalg.inv(block), dtype=np.float64)
            self._blocks[key] = inverse, np.asarray(logarithm)
        return self._blocks[key]

    def _product(self, one: Array, other: Array, whole: Array, chosen: NDArray[np.bool_]) -> Array:
        """Product of two vectors over the covariance of chosen rows, from their product over all.

        The vectors are inverse covariance times vector.
        """
        covariance, _ = self._block(chosen)
        return np.asarray(
            whole - np.einsum("ni,nij,nj->n", one[:, ~chosen], covariance, other[:, ~chosen])
        )

    def log_weights(self, log_wear: Array, chosen: NDArray[np.bool_]) -> Array:
        """Logarithm of the likelihood of chosen rows of a table at every draw."""
        rest, solved = self._table(log_wear)
        square = self._product(solved, solved, np.einsum("ni,ni->n", rest, solved), chosen)
        logarithm = self._whole[1] + self._block(chosen)[1]
        return np.asarray(-0.5 * square + logarithm - 0.5 * chosen.sum() * np.log(2.0 * np.pi))

    def level(self, log_wear: Array, chosen: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Mean and standard deviation of the level's logarithm at every draw."""
        solved, own = self._table(log_wear)[1], self._of_level
        absolute = self.model.rows.is_absolute
        mean = LEVEL**2 * self._product(own, solved, solved @ absolute, chosen)
        variance = LEVEL**2 - LEVEL**4 * self._product(own, own, own @ absolute, chosen)
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def log_evidence(self, log_wear: Array, chosen: NDArray[np.bool_]) -> float:
        """Logarithm of the marginal likelihood of chosen rows."""
        if not chosen.any():
            return 0.0
        weights = self.log_weights(log_wear, chosen)
        return float(scipy.special.logsumexp(weights) - np.log(self.draws))


def left_out_scores(
    evidence: Evidence,
    log_wear: Array,
    kept: NDArray[np.bool_],
    targets: NDArray[np.bool_],
) -> dict[str, float]:
    """Log score of the targets of every laboratory from the kept rows of the others."""
    laboratory = evidence.model.rows.laboratory
    scores = {}
    for name in dict.fromkeys(laboratory[kept & targets]):
        others = kept & (laboratory != name)
        own = kept & targets & (laboratory == name)
        both = evidence.log_evidence(log_wear, others | own)
        scores[str(name)] = both - evidence.log_evidence(log_wear, others)
    return scores


def stacking_weights(scores: Sequence[dict[str, float]], iterations: int = 2000) -> Array:
    """Weights of models whose mixture has the largest log score of the left-out laboratories.

    References
    ----------
    Yao, Y., Vehtari, A., Simpson, D. and Gelman, A. (2018) Using stacking to average Bayesian
    predictive distributions. Bayesian Analysis 13, 917-1007 (from memory).
    """
    names = list(scores[0])
    density = np.array([[score[name] for name in names] for score in scores])
    density = np.exp(density - density.max(axis=0))
    weights = np.full(len(scores), 1.0 / len(scores))
    for _ in range(iterations):
        part = weights[:, None] * density
        weights = (part / part.sum(axis=0)).mean(axis=1)
    return np.asarray(weights)


def mixed_scores(scores: Sequence[dict[str, float]], weights: Array) -> dict[str, float]:
    """Log score of a mixture of models for every laboratory."""
    with np.errstate(divide="ignore"):  # models without a weight
        logarithm = np.log(weights)
    return {
        name: float(scipy.special.logsumexp(logarithm + [score[name] for score in scores]))
        for name in scores[0]
    }


def draw_posterior(
    models: Sequence[LawModel], weights: Array, count: int, seed: int = SEED
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draws of the mixture of laws, and the convergence of the chains of its laws.

    Columns of the draws: law, log_level (of 1e-6 mm3/(N m), or of published constants), tau,
    sigma, and the constants of the laws.
    """
    random = np.random.default_rng(seed)
    parts, convergence = [], []
    shares = np.floor(weights * count + 0.5).astype(int)
    for model, weight, share in zip(models, weights, shares, strict=True):
        if share == 0:
            continue
        chains = sample_law(model)
        convergence.append(
            {
                "law": model.law,
                "weight": float(weight),
                "parameters": model.size + 1,
                "split_r_hat": chains.split_r_hat,
                "effective_samples": chains.effective,
                "likelihoods": chains.likelihoods,
            }
        )
        chosen = random.choice(len(chains.sample.log_level), share, replace=False)
        parts.append(_draws_of(model.law, Sample(*(values[chosen] for values in chains.sample))))
    return pd.concat(parts, ignore_index=True), pd.DataFrame(convergence)


def _draws_of(law: str, sample: Sample) -> pd.DataFrame:
    """Draws of a law as a table."""
    own = {
        constant.name: sample.constants[:, number] for number, constant in enumerate(CONSTANTS[law])
    }
    tau, sigma, _ = sample.spreads.T
    common = {"law": law, "log_level": sample.log_level, "tau": tau, "sigma": sigma}
    return pd.DataFrame(common | own)


def models_of(
    space: LawSpace,
    rows: Measurements,
    priors: Priors = PRIORS["used"],
    inputs: InputRanges | None = None,
) -> list[LawModel]:
    """Models of all laws."""
    return [LawModel(law, space, rows, priors, inputs) for law in LAWS]
