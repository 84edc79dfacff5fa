"""Point contact of compliant bodies: Hertz stiffness, and eight laws that lose energy.

All laws of the family are F = K d^n (1 + c(cr) rate / initial rate): they differ in the factor c
that a coefficient of restitution cr asks for. `kneewear.reference.impact` tells which restitution
each then really gives.

References
----------
Machado thesis, Table 5.4; the table names who proposed each factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Factor c of a coefficient of restitution cr (Table 5.4).
FACTORS: MappingProxyType[str, Callable[[float], float]] = MappingProxyType(
    {
        "hertz": lambda cr: 0.0,
        "hunt_crossley": lambda cr: 3.0 * (1.0 - cr) / 2.0,
        "herbert_mcwhannell": lambda cr: 6.0 * (1.0 - cr) / ((2.0 * cr - 1.0) ** 2 + 3.0),
        "lee_wang": lambda cr: 3.0 * (1.0 - cr) / 4.0,
        "lankarani_nikravesh": lambda cr: 3.0 * (1.0 - cr**2) / 4.0,
        "gonthier": lambda cr: (1.0 - cr**2) / cr,
        "zhiying_qishao": lambda cr: 3.0 * (1.0 - cr**2) * math.exp(2.0 * (1.0 - cr)) / 4.0,
        "flores": lambda cr: 8.0 * (1.0 - cr) / (5.0 * cr),
    }
)


def damping_factor(law: str, restitution: float) -> float:
    """Factor c of one of the laws.

    Parameters
    ----------
    law : str
        Name of the law, one of `FACTORS`.
    restitution : float
        Coefficient of restitution cr that is asked for, above 0 and up to 1.

    Returns
    -------
    float
        c, from 0 up.

    Raises
    ------
    ValueError
        If there is no such law or no such restitution.

    Notes
    -----
    None gives exactly what is asked. At 0.616 the first laws, derived for little loss, give 0.66 to
    0.76, the last three 0.59; Lee and Wang's gives half the loss, however small that is.
    """
    if law not in FACTORS:
        raise ValueError(f"there is no contact law '{law}'; the laws are {', '.join(FACTORS)}")
    if not 0.0 < restitution <= 1.0:
        raise ValueError(f"a restitution of {restitution:g} was asked for; above 0 and up to 1 is")
    return FACTORS[law](restitution)


def impact_force(
    indentation: ArrayLike,
    rate: ArrayLike,
    initial_rate: float,
    stiffness: float,
    factor: float,
    exponent: float = 1.5,
) -> NDArray[np.float64]:
    """Normal force of a compliant point contact.

    Parameters
    ----------
    indentation : array
        d, mm; zero or negative where the bodies are apart.
    rate : array
        Its rate of change, mm/s, positive while they approach.
    initial_rate : float
        Rate at the start of the impact, mm/s, positive. Unused without a factor.
    stiffness : float
        K, N/mm^n.
    factor : float
        c of the law, see `damping_factor`.
    exponent : float
        n; 3/2 for the surfaces of Hertz.

    Returns
    -------
    array
        K d^n (1 + c rate / initial rate), N; never negative.

    Notes
    -----
    In a free impact the bracket stays positive by itself; bodies torn apart from outside faster
    than that would be held back without the limit. A contact that starts without speed has no
    defined damping: a known weakness of the family in lasting contact.
    """
    depth = np.maximum(np.asarray(indentation, dtype=float), 0.0)
    damped = 1.0 + factor * np.asarray(rate, dtype=float) / initial_rate if factor else 1.0
    return stiffness * depth**exponent * np.maximum(damped, 0.0)


def effective_radius(radius: float, other: float = math.inf) -> float:
    """Radius of the sphere that touches a plane as two spheres touch one another.

    Parameters
    ----------
    radius, other : float
        Radii, mm; negative for a hollow (cup), infinite for a plane.

    Returns
    -------
    float
        R = Ri Rj / (Ri + Rj), mm.

    Raises
    ------
    ValueError
        If a radius is zero or the two would not touch in a point (a ball larger than its cup).
    """
    if radius == 0.0 or other == 0.0 or 1.0 / radius + 1.0 / other <= 0.0:
        raise ValueError(f"spheres of {radius:g} and {other:g} mm do not touch in one point")
    return 1.0 / (1.0 / radius + 1.0 / other)


def surface_compliance(youngs_modulus: float, poisson_ratio: float) -> float:
    """Compliance (1 - nu^2) / E of a body, 1/MPa, with E in MPa."""
    return (1.0 - poisson_ratio**2) / youngs_modulus


def hertz_stiffness(radius: float, compliance: float) -> float:
    """Stiffness of Hertz's contact of two spheres.

    Parameters
    ----------
    radius : float
        Effective radius R, mm.
    compliance : float
        Sum of the bodies' `surface_compliance`, 1/MPa.

    Returns
    -------
    float
        K = 4 sqrt(R) / (3 (sigma_i + sigma_j)), N/mm^1.5 (31 623 times that in N/m^1.5).

    Notes
    -----
    For a contact small against the radii; in a close-fitting cup it is too soft.

    References
    ----------
    Johnson, K. L. (1985), Contact Mechanics, Eq. 4.23; Machado thesis, section 5.3, whose Table 5.3
    prints the radii of its first two rows exchanged.
    """
    return 4.0 * math.sqrt(radius) / (3.0 * compliance)
