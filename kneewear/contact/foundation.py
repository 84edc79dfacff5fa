"""Elastic layers: materials, pressure laws, the foundation that obeys one, the coupled layer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact import _force_kernels as kernels
from kneewear.contact.influence import Influence

Array = NDArray[np.float64]


def _check_positive(what: str, value: ArrayLike) -> None:
    numbers = np.asarray(value, dtype=float)
    if not np.all(good := (numbers > 0.0) & (numbers < np.inf)):
        raise ValueError(f"{what} is {numbers[~good].flat[0]:g}; it must be positive and finite")


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
        if not 1.0 <= self.exponent < math.inf:
            raise ValueError(f"the exponent is {self.exponent:g}; it must be at least 1")
        _check_positive("the reference strain", self.reference_strain)
        _check_positive("the reference pressure", self.reference_pressure)

    def strain(self, pressure: ArrayLike) -> Array:
        """Strain at a uniaxial pressure, MPa (Bei 2003, Eq. 2-3)."""
        ratio = np.asarray(pressure, dtype=float) / self.reference_pressure
        return 0.5 * self.reference_strain * (ratio + ratio**self.exponent)

    def tangent_modulus(self, pressure: ArrayLike) -> Array:
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


def confined_modulus(youngs_modulus: float, poisson_ratio: float) -> float:
    """Modulus of a layer bonded to a rigid base and kept from spreading sideways, MPa.

    K = (1 - nu) E / ((1 + nu) (1 - 2 nu)) (Bei 2003, Eq. 2-1) grows without bound as Poisson's
    ratio nu nears 0.5: the elastic foundation no longer applies there. ValueError if the modulus is
    not positive, or Poisson's ratio not from 0 to below 0.5.
    """
    _check_positive("Young's modulus", youngs_modulus)
    if not 0.0 <= poisson_ratio < 0.5:
        raise ValueError(f"Poisson's ratio is {poisson_ratio:g}; it must be from 0 to below 0.5")
    return (1 - poisson_ratio) * youngs_modulus / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio))


@dataclass(frozen=True)
class PressureLaw(ABC):
    """Pressure of an element as a function of its penetration and layer thickness.

    Every law gives one pressure for one penetration, independent of the past and of the neighbours.
    It passes its numbers to the compiled `pressure_law` as `arrays`.

    A `cap`, MPa, makes a layer elastic and then perfectly plastic: pressure does not rise beyond
    it, as it does not rise beyond the hardness of a material, about three times its yield stress
    when the plastic zone is surrounded by elastic material (Johnson 1985, section 6.3). It holds
    while a first load grows. Unloading returns along the same curve, so there is no dent left, no
    work lost and no shakedown, and a load beyond cap times area has no equilibrium.

    Moduli and caps that are not positive raise a ValueError, as they do in the settings.
    """

    def __post_init__(self) -> None:
        law = self.arrays
        _check_positive("the modulus", law.modulus)
        if not law.cap > 0.0:
            raise ValueError(f"the cap is {law.cap:g} MPa; it must be positive, or inf for none")

    @property
    @abstractmethod
    def arrays(self) -> kernels.PressureLawArrays:
        """Numbers of the law as kernels take them."""

    def pressure(self, penetration: ArrayLike, thickness: ArrayLike) -> Array:
        """Pressure, MPa, zero where the penetration is not positive; lengths in mm."""
        return self._press(penetration, thickness)[0]

    def rate(self, penetration: ArrayLike, thickness: ArrayLike) -> Array:
        """Derivative of the pressure over the penetration, MPa/mm; zero apart and at the cap."""
        return self._press(penetration, thickness)[1]

    def energy(self, penetration: ArrayLike, thickness: ArrayLike) -> Array:
        """Integral of the pressure over the penetration, N/mm, zero where that is not positive.

        By Gauss's formula of ten points: to 1e-9 of it where the pressure has no kink, as at a cap.
        """
        depth = np.maximum(np.asarray(penetration, dtype=float), 0.0)[..., None]
        at, weight = np.polynomial.legendre.leggauss(10)
        inside = 0.5 * depth * (1.0 + at)
        pressure = self.pressure(inside, np.asarray(thickness, dtype=float)[..., None])
        return 0.5 * depth[..., 0] * (pressure @ weight)

    def _press(self, penetration: ArrayLike, thickness: ArrayLike) -> tuple[Array, Array]:
        depth, thick = np.broadcast_arrays(
            np.asarray(penetration, dtype=float), np.asarray(thickness, dtype=float)
        )
        found = np.empty((2, depth.size))
        kernels.element_pressures(self.arrays, depth.ravel(), thick.ravel(), *found)
        return found[0].reshape(depth.shape), found[1].reshape(depth.shape)


@dataclass(frozen=True)
class SmallStrain(PressureLaw):
    """Linear foundation p = K d / h with confined modulus K, MPa (Bei 2003, Eq. 2-1).

    Holds while the penetration d is a few per cent of the layer thickness h.
    """

    modulus: float
    cap: float = math.inf
    code: ClassVar[int] = kernels.SMALL_STRAIN

    @property
    def arrays(self) -> kernels.PressureLawArrays:
        """Numbers of the law as kernels take them."""
        return kernels.PressureLawArrays(
            self.code, float(self.modulus), float(self.cap), 1.0, 1.0, 0.0
        )


@dataclass(frozen=True)
class LargeStrain(SmallStrain):
    """Foundation at large strain, p = -K ln(1 - d / h), with confined modulus K, MPa.

    Stiffens without bound as the penetration nears the thickness, and exceeds the linear law by the
    part d / (2 h) when small. Beyond a strain of nine tenths, where it describes no material, the
    curve continues along its tangent, so that a solver which steps too deep gets a finite pressure
    (Bei 2003, Eq. 2-2, with the minus sign missing in print; Blankevoort et al. 1991).
    """

    code: ClassVar[int] = kernels.LARGE_STRAIN


@dataclass(frozen=True)
class ThreeParameter(PressureLaw):
    """Foundation of a material that softens under pressure.

    With c = `confined_modulus(1, poisson_ratio)` and the strain e of the layer, d / h or, where
    `strain` is large, -ln(1 - d / h), the `form` is `published`: c E(p) e = p with the tangent
    modulus E(p) of the material instead of a secant modulus, as in the source; or `integrated`: c e
    equals the material's strain at p, so that E(p) is the tangent of the law. With q = p / p0 both
    are q + w q^n = (2 c / strain0) e, where w is n as published and one when integrated: at n = 3
    the published form makes the power three times too soft (Bei 2003, Eq. 2-3 and 2-4 in Eq. 2-1 or
    2-2).
    """

    material: ThreeParameterMaterial
    poisson_ratio: float
    form: Literal["published", "integrated"] = "published"
    strain: Literal["small", "large"] = "small"
    cap: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, choice, choices in (
            ("form", self.form, ("published", "integrated")),
            ("strain", self.strain, ("small", "large")),
        ):
            if choice not in choices:
                raise ValueError(f"{name} is '{choice}'; it must be {' or '.join(choices)}")

    @property
    def arrays(self) -> kernels.PressureLawArrays:
        """Numbers of the law as kernels take them."""
        material = self.material
        modulus = confined_modulus(
            2.0 * material.reference_pressure / material.reference_strain, self.poisson_ratio
        )
        strain = kernels.LARGE_STRAIN if self.strain == "large" else kernels.SMALL_STRAIN
        return kernels.PressureLawArrays(
            code=kernels.THREE_PARAMETER + strain,
            modulus=modulus,
            cap=float(self.cap),
            scale=float(material.reference_pressure),
            exponent=float(material.exponent),
            weight=float(material.exponent) if self.form == "published" else 1.0,
        )


@dataclass(frozen=True)
class ElasticLayer:
    """Elastic layer under the elements of one contact pair.

    `thickness` (n_valid,) is that under every valid element, in the order of `ContactPair.index`,
    mm; ValueError if one is not positive and finite.
    """

    law: PressureLaw
    thickness: Array

    def __post_init__(self) -> None:
        thickness = np.asarray(self.thickness)
        if not np.all((thickness > 0.0) & (thickness < np.inf)):
            raise ValueError("a layer must have a positive thickness under every element")


@dataclass(frozen=True)
class CoupledLayer(ElasticLayer):
    """Elastic layer whose elements deflect under the pressure on each other.

    `influence` is that of the cells of the elements' grid; the `law`, a linear one, is that of a
    layer which is kept from spreading sideways, and only reported. Elements are pressed where they
    overlap and the layer, deflected by all pressures, would still be in the way; there is no
    adhesion. Forces have a potential: half the product of forces and overlaps.
    """

    influence: Influence
