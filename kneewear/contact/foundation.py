"""The elastic foundation: pressure laws, and the layer that obeys one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact import _law_kernels

Array = NDArray[np.float64]


def confined_modulus(youngs_modulus: float, poisson_ratio: float) -> float:
    """Modulus of a layer bonded to a rigid base and kept from spreading sideways.

    Parameters
    ----------
    youngs_modulus : float
        Young's modulus E, MPa.
    poisson_ratio : float
        Poisson's ratio nu, below 0.5.

    Returns
    -------
    float
        K = (1 - nu) E / ((1 + nu) (1 - 2 nu)), MPa.

    Notes
    -----
    Grows without bound as nu nears 0.5: the elastic foundation then stops making sense.

    References
    ----------
    Bei (2003), Eq. 2-1.
    """
    return (1 - poisson_ratio) * youngs_modulus / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio))


def pressure(penetration: ArrayLike, thickness: ArrayLike, modulus: float) -> NDArray[np.float64]:
    """Pressure of the elastic foundation.

    Parameters
    ----------
    penetration : array
        Overlap of the undeformed surfaces, mm; zero or negative where they are apart.
    thickness : array
        Local layer thickness, mm.
    modulus : float
        Confined modulus K, MPa.

    Returns
    -------
    array
        p = K d / h, MPa, never negative.

    Notes
    -----
    Small strain: holds while the penetration is a few per cent of the thickness. Neighbouring
    elements do not feel each other.

    References
    ----------
    Bei (2003), Eq. 2-1.
    """
    depth = np.maximum(np.asarray(penetration, dtype=float), 0.0)
    return modulus * depth / np.asarray(thickness, dtype=float)


@dataclass(frozen=True)
class PressureLaw:
    """How the pressure of an element follows from its penetration and layer thickness.

    A law names its branch of the compiled `press_law` by its `code` and hands it `parameters`.
    """

    code: ClassVar[int]

    @property
    def parameters(self) -> Array:
        """Constants of the law, in the order its kernel reads them."""
        raise NotImplementedError


@dataclass(frozen=True)
class SmallStrain(PressureLaw):
    """Linear foundation p = K d / h, see `pressure`.

    Parameters
    ----------
    modulus : float
        Confined modulus K, MPa.
    """

    modulus: float
    code: ClassVar[int] = _law_kernels.SMALL_STRAIN

    @property
    def parameters(self) -> Array:
        """K."""
        return np.array([self.modulus])


@dataclass(frozen=True)
class Layer:
    """Elastic layer under the elements of one contact pair.

    Parameters
    ----------
    law : PressureLaw
        Its pressure law.
    thickness : array, shape (n_valid,)
        Thickness under every valid element of the pair, in the order of `ContactPair.index`, mm.
    """

    law: PressureLaw
    thickness: Array
