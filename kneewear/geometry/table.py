"""The surface lookup table (Machado thesis, chapter 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.surface import Surface
from kneewear.mechanics.arrays import make_read_only

Array = NDArray[np.float64]

# The 14 columns, in the order of Table 6.2; extra columns follow.
COLUMNS = ("u", "v", "x", "y", "z", "nx", "ny", "nz", "tx", "ty", "tz", "bx", "by", "bz")


@dataclass(frozen=True)
class SurfaceTable:
    """Regular u-v sampling of one surface: the 14 columns of Machado's table, and extra ones.

    `rows` (n_u, n_v, n_columns) hold all columns of all samples: u and v (ascending and equally
    spaced, from border to border), position, mm, outward unit normal, unit tangent along u and
    binormal = normal x tangent (with Householder tangents, those of `householder_tangents`); then
    any further ones, whose names in `columns` carry their unit (`thickness_mm`).
    """

    columns: tuple[str, ...]
    rows: Array

    def __post_init__(self) -> None:
        make_read_only(self, ("rows",))

    @property
    def u(self) -> Array:
        """Parameters u of the samples, shape (n_u,)."""
        return self.rows[:, 0, 0]

    @property
    def v(self) -> Array:
        """Parameters v of the samples, shape (n_v,)."""
        return self.rows[0, :, 1]

    @property
    def point(self) -> Array:
        """Positions, mm, shape (n_u, n_v, 3)."""
        return self.rows[..., 2:5]

    @property
    def normal(self) -> Array:
        """Outward unit normals, shape (n_u, n_v, 3)."""
        return self.rows[..., 5:8]

    @property
    def tangent(self) -> Array:
        """Unit tangents, shape (n_u, n_v, 3)."""
        return self.rows[..., 8:11]

    @property
    def binormal(self) -> Array:
        """Unit binormals, shape (n_u, n_v, 3)."""
        return self.rows[..., 11:14]

    def column(self, name: str) -> Array:
        """Values of one column, shape (n_u, n_v)."""
        return self.rows[..., self.columns.index(name)]

    def interpolate(self, u: ArrayLike, v: ArrayLike) -> Array:
        """All columns between the samples, shape (..., n_columns); see `bilinear`."""
        return bilinear(self.rows, u, v)

    def with_columns(self, **extra: Array) -> SurfaceTable:
        """The table with further columns, each of shape (n_u, n_v)."""
        shape = self.rows.shape[:2]
        for name, values in extra.items():
            if np.shape(values) != shape:
                raise ValueError(f"column {name} has shape {np.shape(values)}, not {shape}")
        return SurfaceTable((*self.columns, *extra), np.dstack([self.rows, *extra.values()]))


def tabulate_surface(
    surface: Surface, u_points: int, v_points: int, tangents: str = "derivatives"
) -> SurfaceTable:
    """Sample a surface on a regular u-v grid (Machado thesis, section 6.2 and Table 6.2).

    At least 2 samples along u and along v; for `tangents` see `frame_samples`.
    """
    if u_points < 2 or v_points < 2:
        raise ValueError("a table needs at least 2 samples in each direction")
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, u_points), np.linspace(v0, v1, v_points)
    point, along_u, along_v, *_ = surface.derivatives(*surface.off_poles(u[:, None], v[None, :]))
    return frame_samples(u, v, point, along_u, along_v, tangents)


def frame_samples(
    u: Array, v: Array, point: Array, along_u: Array, along_v: Array, tangents: str = "derivatives"
) -> SurfaceTable:
    """Table of samples (u, v), with positions and derivatives (n_u, n_v, 3), of any surface.

    Unit tangents run along u ("derivatives"), or are those of the Householder reflection that turns
    the first axis into the normal ("householder"), as printed in Table 6.2 of Machado's thesis.
    """
    normal = np.cross(along_u, along_v)
    normal = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    if tangents == "derivatives":
        tangent = along_u / np.linalg.norm(along_u, axis=-1, keepdims=True)
        binormal = np.cross(normal, tangent)
    elif tangents == "householder":
        tangent, binormal = householder_tangents(normal)
    else:
        raise ValueError(f"tangents are 'derivatives' or 'householder', not '{tangents}'")
    parameters = np.meshgrid(u, v, indexing="ij")
    return SurfaceTable(COLUMNS, np.dstack([*parameters, point, normal, tangent, binormal]))


def householder_tangents(normal: Array) -> tuple[Array, Array]:
    """Tangent and binormal from the reflection that turns the first axis into a normal.

    They are the second and third column of I - 2 h h' / (h' h), h = n - (1, 0, 0), for unit normals
    n of shape (..., 3). The three form a left-handed set: binormal = tangent x normal. Where n is
    the first axis itself h vanishes; h along the third axis is taken, as along the meridian of
    Table 6.2, which prints round-off there (row P_1_1).
    """
    h = normal - np.array([1.0, 0.0, 0.0])
    h = np.where((h**2).sum(axis=-1, keepdims=True) > 1e-14, h, np.array([0.0, 0.0, 1.0]))
    scaled = 2.0 * h / (h**2).sum(axis=-1, keepdims=True)
    axes = np.eye(3)
    tangent, binormal = (axes[a] - scaled * h[..., a : a + 1] for a in (1, 2))
    return tangent, binormal


def bilinear(rows: Array, u: ArrayLike, v: ArrayLike) -> Array:
    """Values between the samples of a regular table (Machado thesis, Eq. 6.22).

    See `bilinear_with_slopes`; unit vectors lose length in the order of the spacing squared.
    """
    return bilinear_with_slopes(rows, u, v)[0]


def bilinear_with_slopes(rows: Array, u: ArrayLike, v: ArrayLike) -> tuple[Array, Array, Array]:
    """Values between the samples of a regular table, and their derivatives along u and v.

    `rows` has shape (n_u, n_v, n_columns); its first two columns are u and v, equally spaced. Each
    result has shape (..., n_columns); where two cells meet, the derivatives are those of the one
    with the larger parameter. A parameter outside the samples raises a ValueError.
    """
    i, s = _locate(rows[:, 0, 0], np.asarray(u, dtype=float), "u")
    j, t = _locate(rows[0, :, 1], np.asarray(v, dtype=float), "v")
    i, s, j, t = np.broadcast_arrays(i, s, j, t)
    f00, f01, f10, f11 = rows[i, j], rows[i, j + 1], rows[i + 1, j], rows[i + 1, j + 1]
    s, t = s[..., None], t[..., None]
    low, high = (1 - t) * f00 + t * f01, (1 - t) * f10 + t * f11
    across = (1 - s) * (f01 - f00) + s * (f11 - f10)
    width_u, width_v = rows[1, 0, 0] - rows[0, 0, 0], rows[0, 1, 1] - rows[0, 0, 1]
    return (1 - s) * low + s * high, (high - low) / width_u, across / width_v


def _locate(samples: Array, value: Array, name: str) -> tuple[NDArray[np.int64], Array]:
    """Cell of equally spaced samples that holds a value, and the position in it, 0 to 1."""
    steps = (value - samples[0]) * ((samples.size - 1) / (samples[-1] - samples[0]))
    slack = 1e-9 * samples.size
    if not ((steps >= -slack) & (steps <= samples.size - 1 + slack)).all():
        raise ValueError(f"{name} outside the table's {samples[0]:g} to {samples[-1]:g}")
    cell = np.clip(np.floor(steps).astype(np.int64), 0, samples.size - 2)
    return cell, steps - cell
