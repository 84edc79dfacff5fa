"""Compiled common normal of two plane profiles in polar form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled

MAX_ITERATIONS = 50
# The iteration ends with a step this short, rad; no step is longer than LONGEST.
FINAL_STEP = 1e-12
MAX_STEP = 0.1


class PolarProfile(NamedTuple):
    """Radius over the polar angle as cubics of the angle since a break, s = sum c[k] x^(3 - k)."""

    breaks: NDArray[np.float64]
    coefficients: NDArray[np.float64]  # (4, n)


@compiled
def profile_point(profile: PolarProfile, angle: float, out: NDArray) -> None:
    """Point, its first and its second derivative over the angle, (3, 2)."""
    n = int(np.searchsorted(profile.breaks, angle, side="right")) - 1
    n = min(max(n, 0), profile.coefficients.shape[1] - 1)
    x = angle - profile.breaks[n]
    a, b = profile.coefficients[0, n], profile.coefficients[1, n]
    c, d = profile.coefficients[2, n], profile.coefficients[3, n]
    s, s1, s2 = (
        ((a * x + b) * x + c) * x + d,
        (3.0 * a * x + 2.0 * b) * x + c,
        6.0 * a * x + 2.0 * b,
    )
    cos, sin = np.cos(angle), np.sin(angle)
    out[0, 0], out[0, 1] = s * cos, s * sin
    out[1, 0], out[1, 1] = s1 * cos - s * sin, s1 * sin + s * cos
    out[2, 0] = (s2 - s) * cos - 2.0 * s1 * sin
    out[2, 1] = (s2 - s) * sin + 2.0 * s1 * cos


@compiled
def common_normal(
    fixed: PolarProfile,
    moving: PolarProfile,
    rotation: NDArray,
    translation: NDArray,
    angles: NDArray,
    points: NDArray,
    normal: NDArray,
) -> tuple[bool, float]:
    """True if a common normal was found, and the overlap of the profiles along it.

    `angles` (2,) of the fixed and the moving profile are the start and become the solution;
    `points` (2, 2) are theirs in the fixed frame, `normal` the outward one of the moving profile.
    """
    one, two, turned = np.empty((3, 2)), np.empty((3, 2)), np.empty((3, 2))
    done = False
    for _ in range(MAX_ITERATIONS):
        profile_point(fixed, angles[0], one)
        profile_point(moving, angles[1], two)
        for k in range(3):
            for i in range(2):
                turned[k, i] = rotation[i, 0] * two[k, 0] + rotation[i, 1] * two[k, 1]
        dx = one[0, 0] - turned[0, 0] - translation[0]
        dy = one[0, 1] - turned[0, 1] - translation[1]
        # n_j . t_i and d . t_i (Eqs 5.19, 5.20), with n = (t_y, -t_x).
        tx, ty = one[1, 0], one[1, 1]
        ux, uy = turned[1, 0], turned[1, 1]
        first, second = uy * tx - ux * ty, dx * tx + dy * ty
        a11 = uy * one[2, 0] - ux * one[2, 1]
        a12 = turned[2, 1] * tx - turned[2, 0] * ty
        a21 = tx * tx + ty * ty + dx * one[2, 0] + dy * one[2, 1]
        a22 = -(ux * tx + uy * ty)
        det = a11 * a22 - a12 * a21
        if det == 0.0:
            break
        step1 = -(a22 * first - a12 * second) / det
        step2 = -(a11 * second - a21 * first) / det
        largest = max(abs(step1), abs(step2))
        scale = min(1.0, MAX_STEP / largest) if largest > 0.0 else 1.0
        angles[0] += scale * step1
        angles[1] += scale * step2
        if largest < FINAL_STEP:
            done = True
            break
    length = np.sqrt(ux * ux + uy * uy)
    normal[0], normal[1] = uy / length, -ux / length
    points[0, 0], points[0, 1] = one[0, 0], one[0, 1]
    points[1, 0], points[1, 1] = turned[0, 0] + translation[0], turned[0, 1] + translation[1]
    return done, -(dx * normal[0] + dy * normal[1])
