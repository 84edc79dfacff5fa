"""Planar plateaus in place of a natural tibia."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.meshes import TriangleMesh, joined

Array = NDArray[np.float64]

# Edges of the triangles, mm, and how far the planes reach beyond the natural surface.
_EDGE_MM, _BEYOND_MM = 1.0, 8.0
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
    slope = float(np.tan(np.radians(slope_deg)))
    corners = tibia.vertices[tibia.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area, centre = np.linalg.norm(normal, axis=1), corners.mean(axis=1)
    upper = normal[:, 1] > _UPWARDS * area
    planes = []
    for side in (-1.0, 1.0):
        own = upper & (side * centre[:, 2] > 0.0)
        x, y, z = centre[own].T
        height = float(np.average(y - slope * x, weights=area[own]))
        inner, outer = np.abs(z).min(), np.abs(z).max() + _BEYOND_MM
        across = np.sort(side * np.arange(inner, outer + _EDGE_MM, _EDGE_MM))
        along = np.arange(x.min() - _BEYOND_MM, x.max() + _BEYOND_MM + _EDGE_MM, _EDGE_MM)
        planes.append(_plane(along, across, slope, height))
    return joined(planes)


def _plane(x: Array, z: Array, slope: float, height: float) -> TriangleMesh:
    """Triangles on a grid of a plane, which face upwards."""
    along, across = np.meshgrid(x, z, indexing="ij")
    vertices = np.stack([along, height + slope * along, across], axis=-1).reshape(-1, 3)
    number = np.arange(along.size).reshape(along.shape)
    first, right, up, far = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    lower = np.stack([first, right, up], axis=-1).reshape(-1, 3)
    upper = np.stack([far, up, right], axis=-1).reshape(-1, 3)
    return TriangleMesh(vertices, np.concatenate([lower, upper]))
