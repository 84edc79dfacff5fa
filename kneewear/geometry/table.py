"""The surface lookup table (Machado thesis, chapter 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.surface import Surface


@dataclass(frozen=True)
class SurfaceTable:
    """Regular u-v sampling of one surface: the 14 columns of Machado's table.

    Parameters
    ----------
    u, v : array, shape (n_u,) and (n_v,)
        Parameter values, ascending, from border to border.
    point, normal, tangent, binormal : array, shape (n_u, n_v, 3)
        Position, mm, outward unit normal, unit tangent along u and binormal = normal x tangent.
    """

    u: NDArray[np.float64]
    v: NDArray[np.float64]
    point: NDArray[np.float64]
    normal: NDArray[np.float64]
    tangent: NDArray[np.float64]
    binormal: NDArray[np.float64]


def tabulate_surface(surface: Surface, u_points: int, v_points: int) -> SurfaceTable:
    """Sample a surface on a regular u-v grid.

    Parameters
    ----------
    surface : Surface
        Surface, usually a femoral condyle.
    u_points, v_points : int
        Number of samples along u and v, at least 2.

    Returns
    -------
    SurfaceTable
        Points and local frames; the tangent is the surface's own derivative along u.

    Raises
    ------
    ValueError
        If fewer than two samples are asked for.

    References
    ----------
    Machado thesis, section 6.2 and Table 6.2 (which prints Householder tangents instead).
    """
    if u_points < 2 or v_points < 2:
        raise ValueError("a table needs at least 2 samples in each direction")
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, u_points), np.linspace(v0, v1, v_points)
    point, along_u, along_v, *_ = surface.derivatives(u[:, None], v[None, :])
    normal = np.cross(along_u, along_v)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    tangent = along_u / np.linalg.norm(along_u, axis=-1, keepdims=True)
    return SurfaceTable(u, v, point, normal, tangent, np.cross(normal, tangent))
