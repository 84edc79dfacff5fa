"""Materials whose stiffness falls with pressure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class ThreeParameterMaterial:
    """Material that softens as strain = strain0 / 2 (p / p0) + strain0 / 2 (p / p0)^n.

    With exponent n >= 1 (one is a linear material of modulus p0 / strain0), strain0 > 0 and p0 > 0,
    MPa (Bei 2003, Eq. 2-3 and 2-4); ValueError otherwise. Loading and unloading follow one curve:
    there is no yield and no history. The two polyethylene fits rest on moduli measured up to about
    30 MPa.
    """

    exponent: float
    reference_strain: float
    reference_pressure: float

    def __post_init__(self) -> None:
        if not (
            self.exponent >= 1.0 and self.reference_strain > 0.0 and self.reference_pressure > 0.0
        ):
            raise ValueError(
                f"a three-parameter material needs an exponent of at least 1 and a positive strain "
                f"and pressure, not {self.exponent:g}, {self.reference_strain:g} and "
                f"{self.reference_pressure:g}"
            )

    def strain(self, pressure: ArrayLike) -> NDArray[np.float64]:
        """Strain at a uniaxial pressure, MPa (Bei 2003, Eq. 2-3)."""
        ratio = np.asarray(pressure, dtype=float) / self.reference_pressure
        return 0.5 * self.reference_strain * (ratio + ratio**self.exponent)

    def tangent_modulus(self, pressure: ArrayLike) -> NDArray[np.float64]:
        """E = dp / dstrain at a uniaxial pressure, MPa (Bei 2003, Eq. 2-4)."""
        ratio = np.asarray(pressure, dtype=float) / self.reference_pressure
        softening = 1.0 + self.exponent * ratio ** (self.exponent - 1.0)
        return 2.0 * self.reference_pressure / (self.reference_strain * softening)


# Ultra-high molecular weight polyethylene (Bei 2003, section 3.2.2): fitted to moduli of Cripton
# (1993) at two temperatures, and tuned to the mean pressure measured at 0 deg under 3000 N.
MATERIALS = {
    "polyethylene_23c": ThreeParameterMaterial(3.0, 0.0257, 15.8),
    "polyethylene_37c": ThreeParameterMaterial(3.0, 0.0597, 18.4),
    "polyethylene_tuned": ThreeParameterMaterial(3.0, 0.0257, 15.9),
    "polyethylene_tuned_linear": ThreeParameterMaterial(1.0, 1.0, 400.0),
}
