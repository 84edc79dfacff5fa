"""Prediction intervals from independent random samples."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

Array = NDArray[np.float64]

# Ends of an interval count as found when each is known to this part of the interval's width.
LARGEST_END_ERROR = 0.1
END_CONFIDENCE = 0.95


@dataclass(frozen=True)
class PredictionInterval:
    """Where the next sample would lie.

    Parameters
    ----------
    samples, failed : int
        Samples that count, and that have no value.
    mean, standard_deviation, median : float
        Of the samples.
    lower, upper : float
        Ends of the interval.
    end_error : float
        Half-width of the 95 % confidence interval of the less certain end.
    converged : bool
        Whether that is at most a tenth of the interval's width.
    """

    samples: int
    failed: int
    mean: float
    standard_deviation: float
    median: float
    lower: float
    upper: float
    end_error: float
    converged: bool

    def row(self) -> dict[str, object]:
        """Names and values."""
        return asdict(self)


def prediction_interval(values: Array, level_percent: float) -> PredictionInterval:
    """Interval that holds the next sample with a probability.

    Parameters
    ----------
    values : array, shape (n,)
        Independent samples; NaN stands for one that failed.
    level_percent : float
        Probability, percent.

    Returns
    -------
    PredictionInterval
        Infinite ends where there are too few samples for the level.

    Notes
    -----
    Free of any distribution: of n independent samples in order, the k-th and the one k from the
    end hold another one between them with a probability of (n + 1 - 2k) / (n + 1). Between whole k
    the ends are interpolated. An end is the p-th quantile, and ranks a and b of the binomial
    distribution of n and p hold it with 95 % (David and Nagaraja 2003, Order Statistics, section
    7.1; from memory). Holds for independent samples only, not for those of a balanced plan.
    """
    known = np.sort(values[np.isfinite(values)])
    tail = 0.5 - 0.005 * level_percent
    if known.size < 2 or (known.size + 1) * tail < 1.0:
        lower, upper = -np.inf, np.inf
        end_error = np.inf
    else:
        lower, upper = (
            float(end) for end in np.quantile(known, [tail, 1 - tail], method="weibull")
        )
        end_error = max(_end_error(known, tail), _end_error(-known[::-1], tail))
    return PredictionInterval(
        samples=known.size,
        failed=values.size - known.size,
        mean=float(known.mean()) if known.size else np.nan,
        standard_deviation=float(known.std(ddof=1)) if known.size > 1 else np.nan,
        median=float(np.median(known)) if known.size else np.nan,
        lower=lower,
        upper=upper,
        end_error=end_error,
        converged=bool(np.isfinite(upper) and end_error <= LARGEST_END_ERROR * (upper - lower)),
    )


def _end_error(ordered: Array, tail: float) -> float:
    """Half-width of the confidence interval of the lower end; infinite beyond the smallest."""
    outside = 0.5 * (1.0 - END_CONFIDENCE)
    first, last = (int(binom.ppf(p, ordered.size, tail)) for p in (outside, 1.0 - outside))
    if first < 1:
        return float("inf")
    return 0.5 * float(ordered[min(last, ordered.size - 1)] - ordered[first - 1])
