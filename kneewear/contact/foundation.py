"""The linear elastic foundation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
