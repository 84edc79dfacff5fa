"""Compiled pressure laws of the layer: one function that kernels call for every active element."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.compilation import compiled

# Codes of laws are sums of these.
SMALL_STRAIN = 0
LARGE_STRAIN = 1
THREE_PARAMETER = 2

# Places of the constants: modulus K at no strain, MPa; cap, MPa; and of the three-parameter
# material p0, MPa, exponent n and the weight of the power.
MODULUS, CAP, SCALE, EXPONENT, WEIGHT = range(5)

# Part of its thickness a layer can lose before the logarithm is continued by its tangent.
LARGEST_STRAIN = 0.9
# Newton's method needs at most nine.
MAX_STEPS = 60


@compiled
def log_strain(strain: float) -> tuple[float, float]:
    """Logarithmic strain -ln(1 - d / h) and its derivative, finite however deep."""
    if strain <= LARGEST_STRAIN:
        return -np.log1p(-strain), 1.0 / (1.0 - strain)
    slope = 1.0 / (1.0 - LARGEST_STRAIN)
    return np.log(slope) + slope * (strain - LARGEST_STRAIN), slope


@compiled
def raised(base: float, exponent: float) -> float:
    """Power of a base; a square, the usual case, at a tenth of the cost."""
    return base * base if exponent == 2.0 else base**exponent


@compiled
def ramberg_osgood_root(right: float, exponent: float, weight: float) -> float:
    """The one root q of q + weight q^exponent = right >= 0, for an exponent of at least one.

    Both terms alone bound the root from above. The left side is convex and rises, so that Newton's
    steps from there descend until rounding stops them.
    """
    root = min(right, (right / weight) ** (1.0 / exponent))
    for _ in range(MAX_STEPS):
        power = weight * raised(root, exponent - 1.0)
        lower = root - (root + power * root - right) / (1.0 + exponent * power)
        if lower >= root:
            break
        root = lower
    return root


@compiled
def press_law(
    code: int, parameters: NDArray, penetration: float, thickness: float
) -> tuple[float, float]:
    """Pressure and its derivative over the penetration (MPa, MPa/mm) of a positive penetration.

    `code` and `parameters` are those of a `PressureLaw`.
    """
    rate = parameters[MODULUS] / thickness
    pressure = rate * penetration
    if code & LARGE_STRAIN:
        strain, slope = log_strain(penetration / thickness)
        pressure, rate = parameters[MODULUS] * strain, rate * slope
    if code & THREE_PARAMETER:
        scale, exponent, weight = parameters[SCALE], parameters[EXPONENT], parameters[WEIGHT]
        root = ramberg_osgood_root(pressure / scale, exponent, weight)
        rate /= 1.0 + weight * exponent * raised(root, exponent - 1.0)
        pressure = scale * root
    if pressure > parameters[CAP]:
        return parameters[CAP], 0.0
    return pressure, rate


@compiled
def press_many(
    code: int,
    parameters: NDArray,
    penetration: NDArray,
    thickness: NDArray,
    pressure: NDArray,
    rate: NDArray,
) -> None:
    """Pressures and their derivatives, zero where the penetration is not positive."""
    for n in range(penetration.size):
        pressure[n] = rate[n] = 0.0
        if penetration[n] > 0.0:
            pressure[n], rate[n] = press_law(code, parameters, penetration[n], thickness[n])
