"""Signed distance to a condyle from a table, with smooth interpolation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry import _distance_kernels

Array = NDArray[np.float64]

# Edges rounded more sharply than this, mm, may err by so many times the wanted error: contact
# rests on the rest.
EDGE_RADIUS = 4.0
EDGE_RELAXATION = 4.0
# An edge is felt this far, mm, along the surface.
EDGE_REACH = 1.0
# Largest error of the normal where curvature is smooth.
NORMAL_ERROR_DEG = 0.02


@dataclass(frozen=True)
class TableQuality:
    """What a distance table costs and how far it misses: a row of a report.

    Parameters
    ----------
    wanted_error_um : float
        Error asked for.
    max_error_um, max_edge_error_um, rms_error_um : float
        Distance errors found: largest away from sharp edges, largest within `EDGE_REACH` of them,
        root of the mean square.
    max_normal_error_deg, smooth_normal_error_deg : float
        Largest error of the normal: anywhere, and away from jumps of curvature and sharp edges.
    covered_percent : float
        Part of the band that is tabulated; the rest lies along the patch's borders.
    spacing_turn_mm, spacing_across_mm, spacing_out_mm : float
        Spacing of the nodes along the turn (at the mean radius), along z and along the radius.
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
        """Largest error as a multiple of what is allowed."""
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
    few nodes do, and where its profile changes curvature at once, which limits every smooth table
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
        """Distance and its derivatives.

        Parameters
        ----------
        points : array, shape (n, 3)
            Points in the femoral frame, mm.

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
        feet, inside = look_up_projections(self.arrays, points)
        feet[~inside] = np.nan
        hessian = feet[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
        return feet[:, 0], feet[:, 1:4], hessian, inside


def look_up_projections(
    arrays: _distance_kernels.DistanceArrays, points: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Numbers of the feet of points, one row a point, and which of them the table has.

    Parameters
    ----------
    arrays : DistanceArrays
        A table.
    points : array, shape (n, 3)
        Places in the femoral frame, mm.

    Returns
    -------
    feet : array, shape (n, 10)
        Signed distance, mm, its gradient and second derivatives xx, yy, zz, xy, xz and yz, 1/mm.
    inside : bool array, shape (n,)
    """
    count = len(points)
    feet, place = np.empty((10, count)), np.empty((4, count))
    state = np.empty(count, dtype=np.int64)
    rows = np.ascontiguousarray(np.asarray(points, dtype=float).T)
    _distance_kernels.look_up_projections(arrays, rows, 0, count, place, state, feet)
    return feet.T.copy(), state == _distance_kernels.TABLED
