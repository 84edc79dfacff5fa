"""Point contact of compliant bodies: Hertz stiffness, and eight force laws with energy loss.

All laws have the form F = K d^n (1 + c(cr) rate / initial rate). They differ in the factor c for a
coefficient of restitution cr; `restitution` gives the restitution each law delivers.

References
----------
Machado thesis, Table 5.4, which names the authors of each factor.
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


def hysteresis_factor(law: str, restitution: float) -> float:
    """Factor c of one of the laws in `FACTORS` for a coefficient of restitution, zero or positive.

    Raises ValueError if the law is unknown or the restitution is not above 0 and at most 1. No law
    delivers the desired restitution exactly. At 0.616 the first laws, derived for small loss,
    deliver 0.66 to 0.76 and the last three 0.59; the law of Lee and Wang delivers half the loss,
    however small it is.
    """
    if law not in FACTORS:
        raise ValueError(f"there is no contact law '{law}'; the laws are {', '.join(FACTORS)}")
    if not 0.0 < restitution <= 1.0:
        raise ValueError(f"the restitution must be above 0 and at most 1; found {restitution:g}")
    return FACTORS[law](restitution)


def impact_force(
    indentation: ArrayLike,
    rate: ArrayLike,
    initial_rate: float,
    stiffness: float,
    factor: float,
    exponent: float = 1.5,
) -> NDArray[np.float64]:
    """Normal force K d^n (1 + c rate / initial rate) of a point contact, N, never negative.

    Indentation d, mm, is zero or negative where the bodies are apart; its rate of change, mm/s, is
    positive while they approach; the initial rate is that at the start of the impact (not used with
    a factor of zero); stiffness K, N/mm^n; factor c of a law, see `hysteresis_factor`; exponent n,
    3/2 for the surfaces of Hertz.

    Notes
    -----
    In a free impact the bracket is always positive; the limit applies to bodies that external
    forces separate faster. The damping of a contact that starts at zero speed is undefined, a known
    weakness of these laws in lasting contact.
    """
    depth = np.maximum(np.asarray(indentation, dtype=float), 0.0)
    damped = 1.0 + factor * np.asarray(rate, dtype=float) / initial_rate if factor else 1.0
    return stiffness * depth**exponent * np.maximum(damped, 0.0)


def effective_radius(radius: float, other: float = math.inf) -> float:
    """Radius R = Ri Rj / (Ri + Rj) of the sphere on a plane whose contact is that of two spheres.

    Radii are negative for a cup and infinite for a plane, mm. Raises ValueError if a radius is zero
    or there is no point contact (a ball larger than its cup).
    """
    if radius == 0.0 or other == 0.0 or 1.0 / radius + 1.0 / other <= 0.0:
        raise ValueError(f"spheres of {radius:g} and {other:g} mm do not touch in one point")
    return 1.0 / (1.0 / radius + 1.0 / other)


def hertz_stiffness(radius: float, modulus: float) -> float:
    """Stiffness K = 4 E* sqrt(R) / 3 of Hertz's contact of two spheres, N/mm^1.5.

    With `effective_radius` R, mm, and `contact_modulus` E*, MPa (Johnson 1985, Eq. 4.23; Machado
    thesis, section 5.3, whose Table 5.3 prints the radii of its first two rows exchanged). Valid
    for a contact small against the radii; too low in a closely fitting cup.
    """
    return 4.0 * modulus * math.sqrt(radius) / 3.0
