"""Fit of the three-parameter material to measured compression.

References
----------
Bei, Y. (2003), section 3.2.2, Eqs 2-3 and 3-3, Fig. 3-1B.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.contact.foundation import ThreeParameterMaterial

Array = NDArray[np.float64]
Response = Literal["modulus", "strain"]


class MaterialFit(NamedTuple):
    """A material, and how well it meets the measurement.

    `rms` is the root mean square difference, MPa of a modulus or 1 of a strain, `constant_mean`
    that of the measurement's own mean, and `skill` 1 - (rms / constant mean)^2, which is the
    coefficient of determination.
    """

    material: ThreeParameterMaterial
    rms: float
    constant_mean: float

    @property
    def skill(self) -> float:
        """1 without error, 0 where the constant mean is as good."""
        return 1.0 - (self.rms / self.constant_mean) ** 2 if self.constant_mean else np.nan


def fit_material(
    stress: ArrayLike, values: ArrayLike, response: Response, exponent: float | None = None
) -> MaterialFit:
    """Least squares of tangent moduli or strains over the stress of a compression.

    Parameters
    ----------
    stress, values : array, shape (n,)
        Compressive stress, MPa, zero or positive, and tangent moduli, MPa, or strains there.
    response : {"modulus", "strain"}
        What `values` are.
    exponent : float, optional
        Exponent n, 1 or more; it is fitted too if it is not given. With 1, where only the ratio of
        the other constants matters, the reference strain is 1, as in the source.

    Raises
    ------
    ValueError
        If there are not more different stresses than constants, values that are not positive, or an
        exponent below 1.
    """
    at, wanted = np.asarray(stress, dtype=float), np.asarray(values, dtype=float)
    constants = 3 if exponent is None else 1 if exponent == 1.0 else 2
    different = np.unique(at).size
    if different <= constants:
        raise ValueError(f"{different} different stresses for {constants} constants")
    if (at < 0.0).any() or (wanted < 0.0).any() or not wanted.any():
        raise ValueError("stresses, moduli and strains of compression are zero or positive")
    if exponent is not None and exponent < 1.0:
        raise ValueError(f"the exponent is {exponent:g}; it must be at least 1")

    def material(logs: Array) -> ThreeParameterMaterial:
        numbers = np.exp(logs)
        if exponent == 1.0:
            return ThreeParameterMaterial(1.0, 1.0, float(numbers[0]))
        order = exponent if exponent is not None else 1.0 + float(numbers[2])
        # The modulus at no stress, 2 p0 / strain0, and p0 are nearly independent.
        return ThreeParameterMaterial(
            order, float(2.0 * numbers[1] / numbers[0]), float(numbers[1])
        )

    def misfit(logs: Array) -> Array:
        one = material(logs)
        found = one.tangent_modulus(at) if response == "modulus" else one.strain(at)
        return (found - wanted) / wanted.max()

    stiff = wanted.max() if response == "modulus" else (at / np.maximum(wanted, 1e-12)).max()
    best = min(
        (
            scipy.optimize.least_squares(
                misfit, np.log([stiff, at.max() * part, order - 1.0])[:constants]
            )
            for part in (0.3, 0.6, 1.0)
            for order in ((2.0, 4.0) if exponent is None else (2.0,))
        ),
        key=lambda one: one.cost,
    )
    rms = float(np.sqrt(np.mean((misfit(best.x) * wanted.max()) ** 2)))
    return MaterialFit(material(best.x), rms, float(np.std(wanted)))
