"""Signed distance to a condyle from a table, with smooth interpolation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry import _distance_kernels

Array = NDArray[np.float64]

# At edges rounded more sharply than this radius, mm, the accepted error is so many times the wanted
# one, because contact is away from them.
EDGE_RADIUS = 4.0
EDGE_RELAXATION = 4.0
# An edge has an influence within this distance, mm, along the surface.
EDGE_REACH = 1.0
# Largest error of the normal where curvature is smooth.
NORMAL_ERROR_DEG = 0.02


@dataclass(frozen=True)
class TableQuality:
    """Error and size of a distance table.

    Parameters
    ----------
    wanted_error_um : float
        Requested error.
    max_error_um, max_edge_error_um, rms_error_um : float
        Distance errors found: largest away from sharp edges, largest within `EDGE_REACH` of them,
        root of the mean square.
    max_normal_error_deg, smooth_normal_error_deg : float
        Largest error of the normal: anywhere, and away from jumps of curvature and sharp edges.
    covered_percent : float
        Part of the band that is tabulated; the rest lies along the patch's borders.
    spacing_turn_mm, spacing_across_mm, spacing_out_mm : float
        Spacing of the nodes along the angle (at the mean radius), along z and along the radius.
    memory_mb : float
        Size.
    """

    wanted_error_um: float
    max_error_um: float
    max_edge_error_um: float
    rms_error_um: float
    max_normal_error_deg: float
    smooth_normal_error_deg: float
    covered_percent: float
    spacing_turn_mm: float
    spacing_across_mm: float
    spacing_out_mm: float
    memory_mb: float

    def excess(self) -> float:
        """Largest error as a multiple of the accepted one."""
        return max(
            self.max_error_um / self.wanted_error_um,
            self.max_edge_error_um / (EDGE_RELAXATION * self.wanted_error_um),
            self.smooth_normal_error_deg / NORMAL_ERROR_DEG,
        )


@dataclass(frozen=True)
class DistanceTable:
    """Signed distance in a band along one condyle, as a tricubic B-spline.

    Parameters
    ----------
    arrays : DistanceArrays
        Grid and coefficients, as kernels read them.
    depth, outside : float
        How far the band reaches into the metal and out of it, mm.
    quality : TableQuality
        Error and memory.

    Notes
    -----
    The grid runs along angle, radius and z about the axis of the circle that fits the condyle
    best. A condyle is nearly a body of revolution: along the angle its distance hardly changes and
    few nodes suffice, and where the curvature of its profile jumps, which limits every smooth table
    (the error of a cubic spline there is 0.032 times the jump times the spacing squared), only the
    spacing along z has to be fine. Each column crosses the band once, so a table is a list of
    runs. The interpolant is twice continuously differentiable, also where the distance itself is
    only once.
    """

    arrays: _distance_kernels.DistanceArrays
    depth: float
    outside: float
    quality: TableQuality

    def look_up(self, points: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
        """Distance and its derivatives at points (n, 3) in the femoral frame, mm.

        Returns
        -------
        distance : array, shape (n,)
            Signed distance, mm, positive outside the metal; NaN where nothing is tabulated.
        gradient : array, shape (n, 3)
            Its gradient: the normal, of unit length within the error of the table.
        hessian : array, shape (n, 3, 3)
            Its second derivatives, 1/mm.
        inside : bool array, shape (n,)
            Where the table has values.
        """
        count = len(points)
        found, coordinates = np.empty((10, count)), np.empty((4, count))
        state = np.empty(count, dtype=np.int64)
        columns = np.ascontiguousarray(np.asarray(points, dtype=float).T)
        _distance_kernels.look_up_projections(
            self.arrays, columns, 0, count, coordinates, state, found
        )
        inside = state == _distance_kernels.TABLED
        found[:, ~inside] = np.nan
        hessian = found.T[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
        return found[0].copy(), np.ascontiguousarray(found[1:4].T), hessian, inside
