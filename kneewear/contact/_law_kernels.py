"""Compiled pressure laws of the layer: one function that kernels call for every active element."""

from __future__ import annotations

from numpy.typing import NDArray

from kneewear.compilation import compiled

SMALL_STRAIN = 0


@compiled
def press_law(
    code: int, parameters: NDArray, penetration: float, thickness: float
) -> tuple[float, float]:  # pragma: no cover
    """Pressure and its derivative over the penetration (MPa, MPa/mm) of a positive penetration.

    `code` and `parameters` are those of a `PressureLaw`.
    """
    # Small strain, the one law so far: the modulus.
    rate = parameters[0] / thickness
    return rate * penetration, rate
