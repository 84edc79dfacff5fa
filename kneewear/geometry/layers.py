"""Thickness of cartilage, on the body that carries the elements and on the one that moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.surface import Surface
from kneewear.geometry.table import locate

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ThicknessTable:
    """Thickness of a layer over the parameters of the surface that covers it.

    Parameters
    ----------
    u, v : array, shape (n_u,) and (n_v,)
        Parameter values, ascending and equally spaced, from border to border.
    thickness : array, shape (n_u, n_v)
        Local thickness, mm.
    """

    u: Array
    v: Array
    thickness: Array

    def at(self, u: ArrayLike, v: ArrayLike) -> Array:
        """Thickness, mm, at parameters (broadcast together), bilinear between the samples.

        Beyond the borders the value of the border holds.
        """
        row, across = locate(self.u, np.asarray(u, dtype=float))
        column, along = locate(self.v, np.asarray(v, dtype=float))
        corner = self.thickness
        return (1 - across) * (
            (1 - along) * corner[row, column] + along * corner[row, column + 1]
        ) + across * ((1 - along) * corner[row + 1, column] + along * corner[row + 1, column + 1])


def layer_thickness(points: Array, bone: Surface, limits: tuple[float, float]) -> Array:
    """Thickness of cartilage, mm, under points (n, 3) of its surface, in the frame of the bone.

    The shortest distance to the subchondral surface, within the limits (minimum, maximum); the
    minimum where a point lies inside the bone. A vertical distance, as for an insert, would grow
    without bound towards the sides of a condyle.
    """
    return np.clip(bone.closest_points(points)[2], *limits)


def tabulate_thickness(
    surface: Surface, bone: Surface, limits: tuple[float, float], u_points: int, v_points: int
) -> ThicknessTable:
    """Sample `layer_thickness` on a regular u-v grid of the surface of the cartilage.

    Raises
    ------
    ValueError
        If fewer than two samples are requested.
    """
    if u_points < 2 or v_points < 2:
        raise ValueError("a table needs at least 2 samples in each direction")
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, u_points), np.linspace(v0, v1, v_points)
    points = surface.evaluate(u[:, None], v[None, :]).reshape(-1, 3)
    thickness = layer_thickness(points, bone, limits)
    return ThicknessTable(u, v, thickness.reshape(u_points, v_points))


def joint_thickness(
    fixed: ArrayLike, moving: ThicknessTable | None, u: ArrayLike, v: ArrayLike
) -> Array:
    """Thickness of the layers of both bodies, h_fixed + h_moving(u, v), mm (Bei 2003, 2.2.2).

    `fixed` is the layer of the fixed body at its elements (n,), u and v the parameters of the
    moving surface that face them; `moving` is None for a rigid body, such as a femoral component.
    """
    fixed = np.asarray(fixed, dtype=float)
    return fixed.copy() if moving is None else fixed + moving.at(u, v)
