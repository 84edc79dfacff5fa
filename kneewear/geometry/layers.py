"""Thickness of cartilage, on the body that carries the elements and on the one that moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.surface import Surface

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
        """Thickness at parameters, bilinear between the samples.

        Parameters
        ----------
        u, v : array
            Parameters, broadcast together; beyond the borders the border's value holds.

        Returns
        -------
        array
            Local thickness, mm.
        """
        row, across = _place(self.u, u)
        column, along = _place(self.v, v)
        corner = self.thickness
        return (1 - across) * (
            (1 - along) * corner[row, column] + along * corner[row, column + 1]
        ) + across * ((1 - along) * corner[row + 1, column] + along * corner[row + 1, column + 1])


def layer_thickness(points: Array, bone: Surface, limits: tuple[float, float]) -> Array:
    """Thickness of cartilage under points of its surface.

    Parameters
    ----------
    points : array, shape (n, 3)
        Points of the cartilage surface, mm, in the bone's frame.
    bone : Surface
        Subchondral surface, normals out of the bone.
    limits : pair of float
        Least and greatest thickness, mm.

    Returns
    -------
    array, shape (n,)
        Distance to the nearest point of the bone, mm, within the limits; the least thickness where
        the point lies inside the bone.

    Notes
    -----
    The shortest way, not the superior-inferior one that an insert is measured by: on a condyle the
    latter would grow without bound towards the sides.
    """
    return np.clip(bone.closest_points(points)[2], *limits)


def tabulate_thickness(
    surface: Surface,
    bone: Surface,
    limits: tuple[float, float],
    u_points: int,
    v_points: int,
) -> ThicknessTable:
    """Sample the thickness of a layer on a regular u-v grid of its surface.

    Parameters
    ----------
    surface, bone : Surface
        Cartilage and the bone under it, in one frame, mm.
    limits : pair of float
        Least and greatest thickness, mm.
    u_points, v_points : int
        Number of samples along u and v, at least 2.

    Returns
    -------
    ThicknessTable

    Raises
    ------
    ValueError
        If fewer than two samples are asked for.

    References
    ----------
    Bei (2003), section 2.2.2.
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
    """Thickness that contact presses together: both layers, or the fixed body's alone.

    Parameters
    ----------
    fixed : array, shape (n,)
        Layer of the fixed body at its elements, mm.
    moving : ThicknessTable or None
        Layer of the moving body; None for a rigid one, such as a femoral component.
    u, v : array, shape (n,)
        Parameters of the moving surface where it faces each element.

    Returns
    -------
    array, shape (n,)
        h = h_fixed + h_moving(u, v), mm: layers of one material act as one (Bei 2003, 2.2.2).
    """
    fixed = np.asarray(fixed, dtype=float)
    return fixed.copy() if moving is None else fixed + moving.at(u, v)


def _place(samples: Array, value: ArrayLike) -> tuple[NDArray[np.int64], Array]:
    """Interval of equally spaced samples that holds a value, and the place in it, 0 to 1."""
    step = (samples[-1] - samples[0]) / (samples.size - 1)
    place = np.clip((np.asarray(value, dtype=float) - samples[0]) / step, 0.0, samples.size - 1)
    index = np.minimum(place.astype(np.int64), samples.size - 2)
    return index, place - index
