"""Planar plateaus in place of a natural tibia."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.meshes import TriangleMesh, joined

Array = NDArray[np.float64]

# Edges of the triangles, mm, and how far the planes reach beyond the natural surface.
_EDGE_MM = 1.0
_BEYOND_MM = 8.0
# Triangles of the natural surface that face upwards, by the vertical component of the normal.
_UPWARDS = 0.8


def planar_plateaus(tibia: TriangleMesh, slope_deg: float) -> TriangleMesh:
    """Two planes, medial and lateral (z above 0), that slope downwards to posterior.

    Parameters
    ----------
    tibia : TriangleMesh
        Natural surface: x anterior, y superior, z lateral, mm.
    slope_deg : float
        Slope in the sagittal plane, deg; positive where the posterior edge is low.

    Returns
    -------
    TriangleMesh
        Triangles that face upwards. Each plane is at the mean height of the upper side of its
        plateau, weighted by area.
    """
    grids = plateau_grids(tibia, slope_deg, _EDGE_MM)
    return joined([_triangulated(grid) for grid in grids])


def plateau_grids(tibia: TriangleMesh, slope_deg: float, step: float) -> list[Array]:
    """Points (n_x, n_z, 3) of both planes, mm, `step` apart; arguments as of `planar_plateaus`."""
    slope = float(np.tan(np.radians(slope_deg)))
    corners = tibia.vertices[tibia.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area, centre = np.linalg.norm(normal, axis=1), corners.mean(axis=1)
    upper = normal[:, 1] > _UPWARDS * area
    grids = []
    for side in (-1.0, 1.0):
        own = upper & (side * centre[:, 2] > 0.0)
        x, y, z = centre[own].T
        height = float(np.average(y - slope * x, weights=area[own]))
        inner, outer = np.abs(z).min(), np.abs(z).max() + _BEYOND_MM
        across = np.sort(side * np.arange(inner, outer + step, step))
        along = np.arange(x.min() - _BEYOND_MM, x.max() + _BEYOND_MM + step, step)
        flat = np.meshgrid(along, across, indexing="ij")
        grids.append(np.stack([flat[0], height + slope * flat[0], flat[1]], axis=-1))
    return grids


def _triangulated(grid: Array) -> TriangleMesh:
    """Triangles on the grid of a plane, which face upwards."""
    number = np.arange(grid[..., 0].size).reshape(grid.shape[:2])
    first, right, up, far = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    lower = np.stack([first, right, up], axis=-1).reshape(-1, 3)
    upper = np.stack([far, up, right], axis=-1).reshape(-1, 3)
    return TriangleMesh(grid.reshape(-1, 3), np.concatenate([lower, upper]))
