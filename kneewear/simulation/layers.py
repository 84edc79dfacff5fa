"""The insert as elastic layers under the contact pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kneewear.contact.foundation import (
    LargeStrain,
    Layer,
    PressureLaw,
    SmallStrain,
    ThreeParameter,
    confined_modulus,
)
from kneewear.contact.materials import MATERIALS, ThreeParameterMaterial
from kneewear.contact.pair import ContactPair
from kneewear.geometry.element_grid import ElementGrid
from kneewear.settings.simulation import SimulationSettings


def choose_pressure_law(settings: SimulationSettings) -> PressureLaw:
    """Pressure law of `settings.pressure_law`."""
    chosen, poisson_ratio = settings.pressure_law, settings.poisson_ratio
    cap = math.inf if chosen.cap_mpa is None else chosen.cap_mpa
    if chosen.material == "linear":
        modulus = confined_modulus(settings.youngs_modulus_mpa, poisson_ratio)
        law = LargeStrain if chosen.strain == "large" else SmallStrain
        return law(modulus, cap)
    own = chosen.own_material
    material = (
        MATERIALS[chosen.material]
        if own is None
        else ThreeParameterMaterial(own.exponent, own.reference_strain, own.reference_pressure_mpa)
    )
    return ThreeParameter(material, poisson_ratio, chosen.nonlinear_form, chosen.strain, cap)


def build_layers(
    grid: ElementGrid, pairs: Sequence[ContactPair], thickness: float, settings: SimulationSettings
) -> tuple[Layer, ...]:
    """Elastic layer under the elements of each pair, one per side of the grid.

    `thickness` is the minimum insert thickness of the case, mm, to which the settings add their
    offset. ValueError if the local thickness is not positive everywhere on the grid.
    """
    local = grid.case_thickness(thickness + settings.pressure_law.thickness_offset_mm)
    law = choose_pressure_law(settings)
    return tuple(Layer(law, local[side].ravel()[pair.index]) for side, pair in enumerate(pairs))
