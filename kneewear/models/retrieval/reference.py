"""Unworn shape of plateaus reconstructed from what a scan shows of them.

A plateau is described by an arc of its coronal section that is revolved about a transverse axis,
with terms of third and fourth order. Its parameters are fitted to the highest blocks, and become
the drift of the prediction below the scar, together with polynomials of third to eighth order whose
coefficients are small, for designs that are no revolved arcs: what unworn surface does not
determine of them is in the standard deviation of the volume. How small they are is a property of
the design, and is estimated from the unworn surface.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.models.retrieval.kriging import Drift
from kneewear.models.retrieval.surfaces import Raster

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Derivatives of deviations with parameters, from points, normals and plateaus: alternatives.
DriftAt = Callable[[Array, Array, NDArray[np.int64]], list[Drift]]

# Points of a fit, at most; ratio of the weights of points below the surface and above it.
_SAMPLE = 1500
_BELOW = 0.05
_ENVELOPE_STEPS = 6
# Change of a parameter for its derivative, over its size.
_CHANGE = 1e-4
# Scale of distances of the polynomial terms, mm.
_REACH = 20.0
# Standard deviation, mm at the border of a plateau, of polynomials of each order by which designs
# differ from the fitted shape. Chosen on blanks of ellipsoids: up to the sixth order these leave 1
# to 3 um, which were taken for 1.4 mm3 of wear; up to the eighth 0.4 um.
_DEPARTURES = {3: 0.3, 4: 0.2, 5: 0.1, 6: 0.08, 7: 0.06, 8: 0.05}
# Factors of these, from designs of arcs to shapes that are nothing like them, averaged by their
# likelihoods. With the first and the last alone an ellipsoid was taken for a design of arcs.
_OTHERNESS = (0.03, 0.1, 0.3, 1.0)


def plateau_height(parameters: Array, x: Array, z: Array) -> Array:
    """Height of a plateau, mm.

    Parameters
    ----------
    parameters : array, shape (8,)
        Height and position x, z of the lowest point, mm; sagittal and coronal curvature, 1/mm; and
        terms of x^3, z^3 and x^2 z^2 at 20 mm, mm.
    x, z : array
        Plan positions, mm.
    """
    height, x0, z0, sagittal, coronal, third, across, fourth = parameters
    u, v = x - x0, z - z0
    rise = _arc(v, coronal)
    # The section is revolved: higher points are nearer to the axis.
    along = sagittal / np.maximum(1.0 - sagittal * rise, 0.2)
    p, q = u / _REACH, v / _REACH
    rest = third * p**3 + across * q**3 + fourth * p**2 * q**2
    return height + rise + _arc(u, along) + rest


def _arc(distance: Array, curvature: Array | float) -> Array:
    """Height of a circle above its lowest point."""
    inside = np.maximum(1.0 - (curvature * distance) ** 2, 0.04)
    return curvature * distance**2 / (1.0 + np.sqrt(inside))


def fit_unworn(x: Array, heights: Array, z: Array, low_weight: float = _BELOW) -> Array:
    """Parameters of a plateau through the upper border of points, shape (8,).

    Parameters
    ----------
    x, heights, z : array, shape (n,)
        Points, mm.
    low_weight : float
        Weight of points below the surface; 1 fits all alike.
    """
    chosen = np.random.default_rng(0).permutation(x.size)[:_SAMPLE]
    x, heights, z = x[chosen], heights[chosen], z[chosen]
    terms = np.column_stack([np.ones_like(x), x, z, x**2, z**2])
    _, a, b, c, d = np.linalg.lstsq(terms, heights, rcond=None)[0]
    start = [float(heights.min()), -a / (2 * c), -b / (2 * d), 2 * c, 2 * d, 0.0, 0.0, 0.0]
    if not (np.isfinite(start).all() and abs(start[1]) < 60.0):
        start[1:3] = [float(x.mean()), float(z.mean())]
    parameters = np.array(start)
    size = np.array([1.0, 5.0, 5.0, 0.01, 0.01, 1.0, 1.0, 1.0])
    weight = np.ones_like(x)
    for _ in range(_ENVELOPE_STEPS if low_weight < 1.0 else 1):
        root = np.sqrt(weight)

        def residual(scaled: Array, root: Array = root) -> Array:
            return root * (plateau_height(scaled * size, x, z) - heights)

        parameters = scipy.optimize.least_squares(residual, parameters / size).x * size
        below = heights < plateau_height(parameters, x, z)
        weight = np.where(below, low_weight, 1.0)
    return parameters


def reconstructed(
    raster: Raster, scan: Array, regions: NDArray[np.int64], unworn: Bools | None = None
) -> tuple[Array, DriftAt]:
    """Heights of the unworn shape, and the drift of its parameters.

    Parameters
    ----------
    raster : Raster
    scan : array, shape (n, m)
        Heights of the scan, mm.
    regions : array of int, shape (n, m)
        Number of the plateau at each point, -1 outside.
    unworn : array of bool, shape (n, m), optional
        Points that are fitted; without it the upper border of all.

    Returns
    -------
    heights : array, shape (n, m)
    drift : callable
        From points (k, 3), normals (k, 3) and plateaus (k,) the derivatives (k, p) of deviations,
        for each factor of the departures.
    """
    x, z = np.meshgrid(raster.x, raster.z, indexing="ij")
    heights = np.full(raster.shape, np.nan)
    fits: dict[int, Array] = {}
    for number in np.unique(regions[regions >= 0]):
        own = regions == number
        used = own & np.isfinite(scan)
        if unworn is not None:
            used &= unworn
        weight = _BELOW if unworn is None else 1.0
        fits[int(number)] = fit_unworn(x[used], scan[used], z[used], weight)
        heights[own] = plateau_height(fits[int(number)], x[own], z[own])

    def drift(points: Array, normals: Array, side: NDArray[np.int64]) -> list[Drift]:
        columns = []
        for number, parameters in fits.items():
            own = side == number
            for index, value in enumerate(parameters):
                step = np.zeros(parameters.size)
                step[index] = _CHANGE * max(abs(value), 0.1 if index > 4 else 1e-2)
                up, down = (
                    plateau_height(parameters + sign * step, points[:, 0], points[:, 2])
                    for sign in (1.0, -1.0)
                )
                column = np.where(own, (up - down) * normals[:, 1], 0.0)
                columns.append(column / max(np.abs(column).max(), 1e-12))
        departures = []
        for number in fits:
            own = side == number
            terms = _departures(points[own][:, [0, 2]], x[regions == number], z[regions == number])
            column = np.zeros((len(points), terms.shape[1]))
            column[own] = terms * normals[own, 1:2]
            departures.append(column)
        free = np.column_stack(columns)
        rest = np.concatenate(departures, axis=1)
        return [
            Drift(np.column_stack([free, factor * rest]), rest.shape[1]) for factor in _OTHERNESS
        ]

    return heights, drift


def _departures(plan: Array, x: Array, z: Array) -> Array:
    """Polynomials of plan positions (k, 2) on a plateau of points x, z; (k, p), mm."""
    low, high = np.array([x.min(), z.min()]), np.array([x.max(), z.max()])
    scaled = (2.0 * plan - low - high) / (high - low)
    most = max(_DEPARTURES)
    along, across = (np.polynomial.legendre.legvander(item, most) for item in scaled.T)
    return np.stack(
        [
            sd * along[:, power] * across[:, order - power]
            for order, sd in _DEPARTURES.items()
            for power in range(order + 1)
        ],
        axis=1,
    )
