"""Deviations of unworn surface, predicted below a scar (universal kriging).

A deviation along the normal is a drift, whose coefficients are unknown (offset and rigid motion of
a scan, or parameters of a shape), plus a random field (manufacturing tolerance), plus noise. Shape,
length and standard deviation of the field's correlation are estimated from unworn surface by
restricted maximum likelihood. Not the best ones alone are used: predictions are averaged over a
grid of them with their likelihoods as weights, because what an unworn border shows of a field is
little, and a standard deviation that treats them as known is too small.

References
----------
Stein 1999, Interpolation of Spatial Data; Handcock and Stein 1993 (both from memory).

Columns of the drift may have coefficients with a prior distribution instead of free ones: forms
that designs have a little of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Smoothness, and numbers of the length and of the nugget.
_Node = tuple[str, int, int]

SMOOTHNESS = ("exponential", "matern_3_2", "gaussian")
# Nodes at which the likelihood is evaluated: smallest value, ratio and number of the distances at
# which correlation falls, and of the variance of noise of a block over the field's (nugget).
_FIRST_LENGTH = 2.5  # mm
_LENGTH_RATIO = 1.5
_LENGTHS = 9
_FIRST_NUGGET = 1e-4
_NUGGET_RATIO = 100.0
_NUGGETS = 4
# A hundred well-placed points know a length to a few per cent: steps are halved at most this often,
# until no node has more than a fraction of the likelihood.
_MAX_HALVINGS = 4
_RESOLVED = 0.5
# Points of the likelihood, at most: its cost grows with the third power.
_MAX_POINTS = 300
# Likeliest fields that standard deviations of points are computed with; sums use all.
_POINT_FIELDS = 2
# Weight below which a combination of parameters adds nothing.
_MIN_WEIGHT = 0.01
# First guess of the standard deviation of a field, mm, and its corrections, where coefficients have
# a prior distribution.
_FIRST_SD = 0.02
_CORRECTIONS = 2
# Exact interpolation of a smooth field is singular in double precision.
_JITTER = 1e-8


def correlation(distance: Array, length: float, smoothness: str) -> Array:
    """Correlation of a field at a distance, mm, which falls over the `length`, mm."""
    if smoothness == "exponential":
        return np.asarray(np.exp(-distance / length))
    if smoothness == "matern_3_2":
        scaled = np.sqrt(3.0) * distance / length
        return np.asarray((1.0 + scaled) * np.exp(-scaled))
    return np.asarray(np.exp(-0.5 * (distance / length) ** 2))


@dataclass(frozen=True)
class Drift:
    """Functions of the drift at points.

    Parameters
    ----------
    columns : array, shape (n, p)
        Values of the functions.
    expected : int
        Number of last columns whose coefficients have a normal distribution about zero with a
        standard deviation of 1 mm; the others are free.
    """

    columns: Array
    expected: int = 0

    def at(self, chosen: NDArray[np.generic]) -> Drift:
        """Drift functions at some of the points."""
        return Drift(self.columns[chosen], self.expected)

    @property
    def count(self) -> int:
        """Number of free coefficients."""
        return self.columns.shape[1] - self.expected

    @property
    def prior(self) -> Array:
        """Precision of each coefficient, (p,): 0 for free ones."""
        return np.r_[np.zeros(self.count), np.ones(self.expected)]

    def orthogonal(self) -> Drift:
        """Drift that spans the same, with orthonormal columns of free coefficients."""
        free, rest = np.split(self.columns, [self.count], axis=1)
        left, sizes, _ = np.linalg.svd(free, full_matrices=False)
        kept = left[:, sizes > 1e-9 * sizes[0]]
        return Drift(np.column_stack([kept, rest]), self.expected)


@dataclass(frozen=True)
class Field:
    """A random field: weight, SD and length, mm, smoothness, and nugget over variance."""

    weight: float
    sd: float
    length: float
    smoothness: str
    nugget: float


@dataclass(frozen=True)
class Prediction:
    """Deviations predicted at worn blocks, and sums over them.

    Parameters
    ----------
    mean, sd : array, shape (n,)
        Predicted deviation and its standard deviation, mm.
    total, total_sd : array, shape (k,)
        Weighted sums of the predicted deviations over the blocks, and standard deviations.
    drift_sd, field_sd, noise_sd, choice_sd : array, shape (k,)
        What of these is due to the coefficients of the drift, to the field, to noise of the blocks
        themselves, and to the choice of the field.
    """

    mean: Array
    sd: Array
    total: Array
    total_sd: Array
    drift_sd: Array
    field_sd: Array
    noise_sd: Array
    choice_sd: Array


@dataclass(frozen=True)
class _Distances:
    """Distances of unworn points, of points to them, and between those that are summed, mm."""

    among: Array
    to_unworn: Array
    worn: Array
    summed: NDArray[np.bool_]


@dataclass(frozen=True)
class UnwornSurface:
    """Deviations of unworn blocks.

    Parameters
    ----------
    points : array, shape (n, 2)
        Plan positions, mm.
    values : array, shape (n,)
        Deviations along the normal, mm.
    drift : Drift
        Functions of the drift at the points.
    """

    points: Array
    values: Array
    drift: Drift
    fields: tuple[Field, ...] = field(default=())

    def fitted(
        self, most: int = 12, coarse: bool = False, smoothness: Sequence[str] = SMOOTHNESS
    ) -> UnwornSurface:
        """Surface with its likeliest fields, at most `most` of them; `coarse` tries fewer."""
        chosen = np.arange(len(self.points))
        if len(chosen) > _MAX_POINTS:
            chosen = np.random.default_rng(0).permutation(chosen)[:_MAX_POINTS]
        distances = scipy.spatial.distance.pdist(self.points[chosen])
        distances = scipy.spatial.distance.squareform(distances)
        fields = likely_fields(
            distances, self.values[chosen], self.drift.at(chosen), coarse, smoothness
        )[:most]
        total = sum(item.weight for item in fields)
        fields = tuple(replace(item, weight=item.weight / total) for item in fields)
        return UnwornSurface(self.points, self.values, self.drift, fields)

    def predict(self, points: Array, drift: Drift, sums: Array) -> Prediction:
        """Predict deviations at worn blocks.

        Parameters
        ----------
        points : array, shape (m, 2)
            Plan positions of worn blocks, mm.
        drift : Drift
            Functions of the drift there.
        sums : array, shape (k, m)
            Weights of sums over the blocks, mm2.

        Returns
        -------
        Prediction
        """
        summed = np.asarray(sums.any(axis=0))
        distances = _Distances(
            scipy.spatial.distance.cdist(self.points, self.points),
            scipy.spatial.distance.cdist(points, self.points),
            scipy.spatial.distance.cdist(points[summed], points[summed]),
            summed,
        )
        weights = np.array([item.weight for item in self.fields])
        parts = [self._one(item, distances, drift, sums) for item in self.fields]
        means, totals, from_drift, from_field, noise = (
            np.stack(column) for column in zip(*[item[:-1] for item in parts], strict=True)
        )
        mean, total = weights @ means, weights @ totals
        spread = weights @ (totals - total) ** 2
        pieces = [weights @ item for item in (from_drift, from_field, noise)]
        few = weights[:_POINT_FIELDS] / weights[:_POINT_FIELDS].sum()
        variance = few @ np.stack([item[-1]() for item in parts[:_POINT_FIELDS]])
        sd = np.sqrt(variance + weights @ (means - mean) ** 2)
        pieces.append(spread)
        return Prediction(mean, sd, total, np.sqrt(sum(pieces)), *map(np.sqrt, pieces))

    def _one(
        self, chosen: Field, distances: _Distances, drift: Drift, sums: Array
    ) -> tuple[Array, Array, Array, Array, Array, Callable[[], Array]]:
        """Prediction with one field.

        Means, sums and variances of sums by source, and a function for the variances of points,
        which cost most.
        """
        variance, length, smoothness = chosen.sd**2, chosen.length, chosen.smoothness
        covariance = correlation(distances.among, length, smoothness)
        covariance[np.diag_indices_from(covariance)] += chosen.nugget + _JITTER
        lower = scipy.linalg.cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
        towards = correlation(distances.to_unworn, length, smoothness)

        def whitened(columns: Array) -> Array:
            return np.asarray(
                scipy.linalg.solve_triangular(lower, columns, lower=True, check_finite=False)
            )

        own = whitened(np.column_stack([self.values, self.drift.columns]))
        values, columns = own[:, 0], own[:, 1:]
        normal = columns.T @ columns + np.diag(variance * self.drift.prior)
        inverse = np.linalg.pinv(normal, rcond=1e-13, hermitian=True)
        coefficients = inverse @ (columns.T @ values)
        back = scipy.linalg.solve_triangular(
            lower, np.column_stack([values - columns @ coefficients, columns]), trans=1, lower=True
        )
        mean = drift.columns @ coefficients + towards @ back[:, 0]
        # What of the drift at the blocks the unworn points do not determine.
        extra = drift.columns - towards @ back[:, 1:]
        inner = sums[:, distances.summed]
        between = inner @ correlation(distances.worn, length, smoothness)
        explained = whitened((inner @ towards[distances.summed]).T)
        from_field = (between * inner).sum(axis=1) - (explained**2).sum(axis=0)
        sums_extra = sums @ extra
        from_drift = np.einsum("ij,jk,ik->i", sums_extra, inverse, sums_extra)

        def at_points() -> Array:
            left = np.maximum(1.0 - (whitened(towards.T) ** 2).sum(axis=0), 0.0)
            left += np.maximum(np.einsum("ij,jk,ik->i", extra, inverse, extra), 0.0)
            return np.asarray(variance * (left + chosen.nugget))

        return (
            mean,
            sums @ mean,
            variance * np.maximum(from_drift, 0.0),
            variance * np.maximum(from_field, 0.0),
            variance * chosen.nugget * (sums**2).sum(axis=1),
            at_points,
        )


def likely_fields(
    distances: Array,
    values: Array,
    drift: Drift,
    coarse: bool = False,
    smoothness: Sequence[str] = SMOOTHNESS,
) -> tuple[Field, ...]:
    """Fields whose restricted likelihood is not small, the likeliest first; weights add to 1.

    The standard deviation of each combination of length, smoothness and nugget is the best one.

    Parameters
    ----------
    distances : array, shape (n, n)
        Distances between points, mm.
    values : array, shape (n,)
        Deviations, mm.
    drift : Drift
        Functions of the drift.
    coarse : bool
        Try fewer combinations.
    smoothness : sequence
        Forms of the correlation that are tried.
    """
    drift = drift.orthogonal()
    known: dict[tuple[str, int], Array] = {}

    def judged(item: _Node, level: int) -> tuple[float, float]:
        form, row, column = item
        if (form, row) not in known:
            known[form, row] = correlation(distances, _length(row, level), form)
        return _profiled(known[form, row], _nugget(column, level), values, drift)

    nodes: Iterable[_Node] = product(smoothness, range(_LENGTHS), range(_NUGGETS))
    if coarse:
        nodes = product(smoothness[1:], range(0, _LENGTHS, 2), (1,))
    level = 0
    tried = {item: judged(item, level) for item in nodes}
    weights = _weights(tried)
    # A likelihood that is narrower than the steps is refined about its best nodes.
    while not coarse and level < _MAX_HALVINGS and max(weights.values()) > _RESOLVED:
        level += 1
        known.clear()
        finer = {
            (form, 2 * row + i, 2 * column + j)
            for form, row, column in weights
            for i, j in product((-1, 0, 1), repeat=2)
        }
        tried = {item: judged(item, level) for item in sorted(finer)}
        weights = _weights(tried)
    return tuple(
        Field(weight, tried[item][1], _length(item[1], level), item[0], _nugget(item[2], level))
        for item, weight in weights.items()
    )


def _length(row: int, level: int) -> float:
    """Length of a row of nodes, mm, after so many halvings of the steps."""
    return float(_FIRST_LENGTH * _LENGTH_RATIO ** (row / 2.0**level))


def _nugget(column: int, level: int) -> float:
    """Nugget of a column of nodes after so many halvings of the steps."""
    return float(_FIRST_NUGGET * _NUGGET_RATIO ** (column / 2.0**level))


def _weights(tried: Mapping[_Node, tuple[float, float]]) -> dict[_Node, float]:
    """Likelihoods of nodes that are not small, the largest first; they add to 1."""
    ranked = sorted(tried, key=lambda item: -tried[item][0])
    weights = np.exp([tried[item][0] - tried[ranked[0]][0] for item in ranked])
    weights = weights[weights > _MIN_WEIGHT]
    return dict(zip(ranked, (weights / weights.sum()).tolist(), strict=False))


def likelihood(covariance: Array, values: Array, drift: Drift) -> float:
    """Restricted log likelihood of values with a covariance, up to a constant.

    Parameters
    ----------
    covariance : array, shape (n, n)
        Covariance of the values, mm2.
    values : array, shape (n,)
        Deviations, mm.
    drift : Drift
        Functions of the drift.
    """
    square, size = _Whitened.of(covariance, values, drift.orthogonal()).terms(1.0)
    return -0.5 * (square + size)


@dataclass(frozen=True)
class _Whitened:
    """Values and drift over the square root of a covariance, and the logarithm of its determinant.

    There are none of either, and the determinant is infinite, of a covariance that is singular.
    """

    values: Array
    drift: Drift
    size: float

    @classmethod
    def of(cls, covariance: Array, values: Array, drift: Drift) -> _Whitened:
        own = covariance.copy()
        own[np.diag_indices_from(own)] += _JITTER * covariance[0, 0]
        try:
            lower = scipy.linalg.cholesky(own, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return cls(values, drift, np.inf)
        solved = scipy.linalg.solve_triangular(
            lower, np.column_stack([values, drift.columns]), lower=True, check_finite=False
        )
        size = 2.0 * float(np.log(np.diag(lower)).sum())
        return cls(solved[:, 0], Drift(solved[:, 1:], drift.expected), size)

    def terms(self, sd: float) -> tuple[float, float]:
        """Square of the residual, and logarithm of the determinants.

        `sd` is the square root, mm, by which values were not divided.
        """
        if not np.isfinite(self.size):
            return np.inf, 0.0
        columns, values = self.drift.columns, self.values
        if self.drift.expected:
            # Coefficients with a prior distribution are values about zero.
            rows = sd * np.eye(columns.shape[1])[self.drift.count :]
            columns, values = np.vstack([columns, rows]), np.r_[values, np.zeros(len(rows))]
        q, r = np.linalg.qr(columns)
        residual = values - q @ (q.T @ values)
        size = self.size + 2.0 * float(np.log(np.abs(np.diag(r))).sum())
        return float(residual @ residual), size - 2.0 * self.drift.expected * float(np.log(sd))


def _profiled(covariance: Array, nugget: float, values: Array, drift: Drift) -> tuple[float, float]:
    """Restricted log likelihood, and the standard deviation at which it is largest."""
    own = covariance.copy()
    own[np.diag_indices_from(own)] += nugget
    whitened = _Whitened.of(own, values, drift)
    freedom = len(values) - drift.count
    variance = _FIRST_SD**2
    for _ in range(_CORRECTIONS if drift.expected else 1):
        square, size = whitened.terms(float(np.sqrt(variance)))
        variance = max(square / freedom, 1e-18)
    return -0.5 * (freedom * np.log(variance) + size), float(np.sqrt(variance))
