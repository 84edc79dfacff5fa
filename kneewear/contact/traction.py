"""Tractions due to motion: damping along the normal of an element, friction across it.

Bei (2003) passes coefficients of static and dynamic friction and a nonlinear damping to the contact
(Table 2-2) but prints no formula. The two laws are therefore chosen here: each is the simplest one
that is smooth enough for a stiff solver, dissipates in every motion and obeys its bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kneewear.contact import _force_kernels as kernels


@dataclass(frozen=True)
class Friction:
    """Coulomb friction with a static and a dynamic coefficient, smooth in the slip velocity.

    The coefficients are the largest friction over pressure and that of fast sliding (static >=
    dynamic >= 0), the transition velocity v_t the slip velocity at which friction is largest, mm/s,
    positive; ValueError otherwise. Nothing sticks: a contact held by friction creeps at less than
    v_t, and at about v_t T / (4 mu_d + 16 (mu_s - mu_d) / 9) / p under a small traction T. v_t
    should be small against the sliding of interest (tens of mm/s in a knee, so 1 mm/s); the
    solver's stiffness grows as 1 / v_t. At a slip speed v the friction over pressure is

    mu(v) = mu_d tanh(4 v / v_t) + (mu_s - mu_d) (v / v_t) / ((v / v_t)^2 / 4 + 3 / 4)^2: an odd
    smooth function, never above mu_s, within 0.07 % of it at v_t, near mu_d from about 10 v_t on
    (Brown and McPhee 2016, doi:10.1115/1.4033658, without its viscous term).
    """

    static_coefficient: float
    dynamic_coefficient: float
    transition_velocity: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.dynamic_coefficient <= self.static_coefficient < np.inf:
            raise ValueError(
                f"static and dynamic friction are {self.static_coefficient:g} and "
                f"{self.dynamic_coefficient:g}; the static one must be the larger, both from 0 up"
            )
        if not 0.0 < self.transition_velocity < np.inf:
            raise ValueError(
                f"the transition velocity is {self.transition_velocity:g} mm/s; it must be positive"
            )


@dataclass(frozen=True)
class Damping:
    """Damping in proportion to the elastic pressure and to the penetration rate.

    `coefficient` c, s/mm, is not negative; ValueError otherwise. The damped pressure is
    p max(1 + c rate, 0), MPa: continuous where contact begins and ends, and never tensile, however
    fast the bodies part, because above 1 / c of parting the layer is left behind (Hunt and Crossley
    1975, doi:10.1115/1.3423596: the law of a point contact, used here element by element). An
    impact at a speed v small against 1 / c loses about 2 c v / 3 of it.
    """

    coefficient: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.coefficient < np.inf:
            raise ValueError(f"the damping is {self.coefficient:g} s/mm; it must not be negative")


def traction_law(friction: Friction | None, damping: Damping | None) -> kernels.TractionLaw:
    """Constants of the two laws for the compiled `tractions`; None has no effect."""
    friction = friction or Friction(0.0, 0.0, 1.0)
    return kernels.TractionLaw(
        float(friction.static_coefficient),
        float(friction.dynamic_coefficient),
        float(friction.transition_velocity),
        float(damping.coefficient) if damping else 0.0,
    )
