"""Response surfaces over any covariates, and the effects of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.analysis.models import PLANE, POLYNOMIALS, polynomial_matrix
from kneewear.analysis.regression import CONFIDENCE

Array = NDArray[np.float64]

# Parts of the values' size below which they do not vary.
_MIN_SPREAD = 1e-12
# Points of a surface over one covariate.
_ON_A_LINE = 41


@dataclass(frozen=True)
class ResponseSurface:
    """Polynomial of at most second order over the ranges of some covariates.

    Parameters
    ----------
    model : str
        Name of the polynomial, of `kneewear.analysis.models.POLYNOMIALS`.
    low, high : array, shape (n_covariates,)
        Range of each covariate; inside the surface it is from -1 to 1.
    coefficients : array, shape (n_terms,)
        Of the terms 1, each covariate, its square, and products of two, as far as it has them.
    values, left_out : array, shape (n_cases,)
        Values it is fitted to, and the prediction of each by the surface fitted to all others.
    fitted : array, shape (n_cases,)
        Values of the surface at the cases.
    errors : array, shape (n_terms,)
        Standard errors of the coefficients; NaN without a residual degree of freedom.
    """

    model: str
    low: Array
    high: Array
    coefficients: Array
    values: Array
    fitted: Array
    left_out: Array
    errors: Array

    def predict(self, points: ArrayLike) -> Array:
        """Values of the surface at points (n, n_covariates), in the units of the covariates."""
        matrix = polynomial_matrix(
            _coded(np.atleast_2d(np.asarray(points, float)), self.low, self.high),
            *POLYNOMIALS[self.model],
        )
        return matrix @ self.coefficients

    @property
    def left_out_rmse(self) -> float:
        """Root mean square error of each case predicted from all others."""
        return _root_mean_square(self.left_out - self.values)

    @property
    def predicted_share(self) -> float:
        """Part of the variance that is predicted of cases left out: 1 - PRESS / variance."""
        return 1.0 - float(np.mean((self.left_out - self.values) ** 2) / np.var(self.values))

    @property
    def r2(self) -> float:
        """Part of the variance that the surface has at the cases it was fitted to."""
        return 1.0 - float(np.mean((self.fitted - self.values) ** 2) / np.var(self.values))


def fit_response(points: ArrayLike, values: ArrayLike) -> ResponseSurface | None:
    """Polynomial over some covariates that predicts cases it was not fitted to best.

    Parameters
    ----------
    points : array, shape (n_cases, n_covariates)
        Covariates of the cases.
    values : array, shape (n_cases,)
        Result of each case.

    Returns
    -------
    ResponseSurface or None
        Of the plane and the polynomials with squares, products, or both, the one with the smallest
        leave-one-out error of those with fewer terms than cases; None where not even the plane has
        fewer, or where covariates vary together.

    Notes
    -----
    Ordinary least squares. The error of a case left out is e / (1 - h) of its residual e and
    leverage h (Allen 1974, Technometrics 16:125-127). The surface holds within the ranges of the
    covariates; sharp changes of a response, as where contact reaches an edge, are smoothed, which
    the leave-one-out error shows.
    """
    points, values = np.asarray(points, float), np.asarray(values, float)
    if not len(values):
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    if (high <= low).any():
        return None
    coded = _coded(points, low, high)
    surfaces = []
    for model, terms in POLYNOMIALS.items():
        found = _least_squares(polynomial_matrix(coded, *terms), values)
        if found is None:
            continue
        coefficients, fitted, left_out, errors = found
        surfaces.append(
            ResponseSurface(model, low, high, coefficients, values, fitted, left_out, errors)
        )
    # A simpler surface is preferred where both are exact.
    size = float(np.abs(values).max())
    return min(surfaces, key=lambda one: max(one.left_out_rmse, _MIN_SPREAD * size), default=None)


def _coded(points: Array, low: Array, high: Array) -> Array:
    """Covariates from -1 to 1 over their ranges."""
    return (2.0 * points - low - high) / (high - low)


def _least_squares(matrix: Array, values: Array) -> tuple[Array, Array, Array, Array] | None:
    """Coefficients, fitted and left-out values, and standard errors; None if not determined."""
    cases, terms = matrix.shape
    if cases <= terms or np.linalg.matrix_rank(matrix) < terms:
        return None
    q, r = np.linalg.qr(matrix)
    coefficients = np.linalg.solve(r, q.T @ values)
    fitted = matrix @ coefficients
    residual = values - fitted
    free = 1.0 - (q**2).sum(axis=1)
    # A case that alone decides a coefficient has no prediction from the others.
    error = np.full(cases, np.inf)
    np.divide(residual, free, out=error, where=free > _MIN_SPREAD)
    variance = float(residual @ residual) / (cases - terms)
    inverse = np.linalg.inv(r)
    return coefficients, fitted, values - error, np.sqrt(variance * (inverse**2).sum(axis=1))


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def response_quality(surface: ResponseSurface) -> dict[str, float | int | str]:
    """Row of a table: model, terms, cases, r2 and leave-one-out error of a response surface."""
    mean = abs(float(surface.values.mean()))
    return {
        "model": surface.model,
        "terms": surface.coefficients.size,
        "cases": surface.values.size,
        "r2": surface.r2,
        "leave_one_out_rmse": surface.left_out_rmse,
        "leave_one_out_percent": 100.0 * surface.left_out_rmse / mean if mean else float("nan"),
        "predicted_share": surface.predicted_share,
    }


def response_terms(surface: ResponseSurface, names: Sequence[str]) -> pd.DataFrame:
    """Terms of a response surface with coefficients, of covariates from -1 to 1 over their range.

    Columns term (as `a`, `a^2`, `a*b`; 1 is the constant), coefficient and standard error.
    """
    squares, products = POLYNOMIALS[surface.model]
    terms = ["1", *names, *(f"{name}^2" for name in names if squares)]
    terms += [f"{a}*{b}" for a, b in combinations(names, 2) if products]
    return pd.DataFrame(
        {"term": terms, "coefficient": surface.coefficients, "standard_error": surface.errors}
    )


def factor_effects(
    surface: ResponseSurface, points: Array, names: Sequence[str]
) -> Iterator[dict[str, float | str]]:
    """Effect of each covariate over its range, from a response surface and from a plane.

    For each: `factor`; `low` and `high`, its range; `at_low`, `at_centre` and `at_high`, values of
    the surface with all others at the centre of their ranges; `effect`, the last minus the first,
    and `effect_percent` of `at_centre`; `span`, the largest minus the smallest value on the way, by
    which factors are ordered; `slope` of the plane fitted to all cases, with 95 % limits
    (NaN where no plane is determined); and `rank_correlation` with the result (Spearman).

    Notes
    -----
    Limits are those of ordinary least squares for independent, normal residuals: misfit of a
    formula to a computation, not noise.
    """
    values, count = surface.values, surface.low.size
    plane = _least_squares(
        polynomial_matrix(_coded(points, surface.low, surface.high), *POLYNOMIALS[PLANE]), values
    )
    ranks = np.apply_along_axis(scipy.stats.rankdata, 0, np.column_stack([points, values]))
    centre = 0.5 * (surface.low + surface.high)
    middle = float(surface.predict(centre)[0])
    for number, name in enumerate(names):
        line = np.tile(centre, (_ON_A_LINE, 1))
        line[:, number] = np.linspace(surface.low[number], surface.high[number], _ON_A_LINE)
        along = surface.predict(line)
        at_low, at_high = float(along[0]), float(along[-1])
        half = 0.5 * float(surface.high[number] - surface.low[number])
        slope = error = float("nan")
        if plane is not None:
            slope, error = (float(one[number + 1]) / half for one in (plane[0], plane[3]))
            error *= float(scipy.stats.t.ppf(0.5 + 0.5 * CONFIDENCE, values.size - count - 1))
        yield {
            "variable": name,
            "low": float(surface.low[number]),
            "high": float(surface.high[number]),
            "at_low": at_low,
            "at_centre": middle,
            "at_high": at_high,
            "effect": at_high - at_low,
            "effect_percent": 100.0 * (at_high - at_low) / middle if middle else float("nan"),
            "span": float(np.ptp(along)),
            "slope": slope,
            "slope_low95": slope - error,
            "slope_high95": slope + error,
            "rank_correlation": float(np.corrcoef(ranks[:, number], ranks[:, -1])[0, 1]),
        }
