"""Stress below the surface of an elastic layer bonded to a rigid base.

Notes
-----
A wave of pressure p cos(k x) on a layer of thickness h is a problem of plane strain with Airy's
function F = p G(s) / k^2 cos(k x), s = k y from the base: stresses are -p G cos(k x) downwards,
p G'' cos(k x) along the wave, nu times their sum across it, and p G' sin(k x) in shear. G is of
exp(+-s) and s exp(+-s), with G = 1 and G' = 0 at the surface and no displacement of the base. The
waves of a pressure map are those of its discrete Fourier transform, in every direction.

References
----------
Johnson, K. L. (1985), Contact Mechanics, section 3.4, doi:10.1017/CBO9781139171731: the stresses
below a sphere on a half-space, with which tests compare.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact.material import von_mises

Array = NDArray[np.float64]

# Thicknesses of unloaded surface around a map: its Fourier transform repeats it.
_MARGIN = 2.0


def layer_stress(
    pressure: ArrayLike,
    cell: tuple[float, float],
    depth: float,
    thickness: float,
    poisson_ratio: float,
) -> Array:
    """Stress tensor at one depth of a flat layer under a map of pressure.

    Parameters
    ----------
    pressure : array, shape (rows, columns)
        Pressure on equal cells, MPa, zero where there is none.
    cell : float, float
        Edges of a cell along x (rows) and z (columns), mm.
    depth, thickness : float
        Depth below the surface, up to the thickness of the layer, mm.
    poisson_ratio : float
        Poisson's ratio. Young's modulus has no influence.

    Returns
    -------
    array, shape (rows, columns, 6)
        Components xx, yy, zz, xy, yz, zx, MPa, tension positive, y upwards, below the middles of
        the cells.

    Raises
    ------
    ValueError
        If the depth is not within the layer.
    """
    if not 0.0 <= depth <= thickness < np.inf:
        raise ValueError(f"a depth of {depth:g} mm in a layer of {thickness:g} mm")
    found = np.asarray(pressure, dtype=float)
    shape = [
        count + int(np.ceil(_MARGIN * thickness / edge))
        for count, edge in zip(found.shape, cell, strict=True)
    ]
    waves = np.fft.rfft2(found, shape)
    k_x = 2.0 * np.pi * np.fft.fftfreq(shape[0], cell[0])[:, None]
    k_z = 2.0 * np.pi * np.fft.rfftfreq(shape[1], cell[1])
    k = np.hypot(k_x, k_z)
    level = k == 0.0
    wave = np.where(level, 1.0, k)
    x, z = k_x / wave, k_z / wave
    value, slope, second = _profile(wave * thickness, wave * depth, poisson_ratio)
    # A uniform pressure compresses the layer without strain along it.
    up = np.where(level, -1.0, -value)
    along = np.where(level, -poisson_ratio / (1.0 - poisson_ratio), second)
    across = np.where(level, along, poisson_ratio * (along + up))
    shear = -1j * np.where(level, 0.0, slope)
    parts = (
        x**2 * along + z**2 * across + level * along,
        up,
        z**2 * along + x**2 * across + level * along,
        x * shear,
        z * shear,
        x * z * (along - across),
    )
    rows, columns = found.shape
    return np.stack(
        [np.fft.irfft2(part * waves, shape)[:rows, :columns] for part in parts], axis=-1
    )


def largest_von_mises(
    pressure: ArrayLike,
    cell: tuple[float, float],
    depths: ArrayLike,
    thickness: float,
    poisson_ratio: float,
) -> tuple[Array, Array]:
    """Largest von Mises stress below each cell, MPa, and its depth, mm, of some depths.

    Both of shape (rows, columns); the other arguments are those of `layer_stress`.
    """
    shape = np.shape(pressure)
    largest, where = np.zeros(shape), np.zeros(shape)
    for depth in np.asarray(depths, dtype=float):
        stress = von_mises(layer_stress(pressure, cell, float(depth), thickness, poisson_ratio))
        where = np.where(stress > largest, depth, where)
        largest = np.maximum(largest, stress)
    return largest, where


def _profile(wave: Array, depth: Array, poisson_ratio: float) -> tuple[Array, Array, Array]:
    """G and its first two derivatives at depths, both times the wave number."""
    nu = poisson_ratio
    system = np.zeros((*wave.shape, 4, 4))
    base, top = _terms(np.zeros_like(wave), wave), _terms(wave, wave)
    system[..., 0, :] = (1.0 - nu) * base[2] + nu * base[0]
    system[..., 1, :] = (1.0 - nu) * base[3] - (2.0 - nu) * base[1]
    system[..., 2, :], system[..., 3, :] = top[1], top[0]
    right = np.zeros((*wave.shape, 4, 1))
    right[..., 3, 0] = 1.0
    share = np.linalg.solve(system, right)[..., 0]
    value, slope, second, _ = (
        np.einsum("...i,...i", part, share) for part in _terms(wave - depth, wave)
    )
    return value, slope, second


def _terms(height: Array, wave: Array) -> tuple[Array, ...]:
    """Four functions of which G consists, and three derivatives, shape (..., 4) each."""
    fall, rise = np.exp(-height), np.exp(height - wave)
    rest, one = wave - height, np.ones_like(wave)
    return tuple(
        np.stack([rise, (rest - n) * rise, sign * fall, sign * (height - n) * fall], axis=-1)
        * one[..., None]
        for n, sign in ((0, 1.0), (1, -1.0), (2, 1.0), (3, -1.0))
    )
