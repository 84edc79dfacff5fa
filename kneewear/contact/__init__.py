"""Contact between surfaces of the moving body and the elements of the fixed one."""

from kneewear.contact.foundation import (
    LargeStrain,
    Layer,
    PressureLaw,
    SmallStrain,
    ThreeParameter,
    confined_modulus,
    pressure,
)
from kneewear.contact.half_space import contact_modulus, press_half_space, press_pair
from kneewear.contact.materials import MATERIALS, ThreeParameterMaterial
from kneewear.contact.pair import ContactPair, Resultant

__all__ = [
    "MATERIALS",
    "ContactPair",
    "LargeStrain",
    "Layer",
    "PressureLaw",
    "Resultant",
    "SmallStrain",
    "ThreeParameter",
    "ThreeParameterMaterial",
    "confined_modulus",
    "contact_modulus",
    "press_half_space",
    "press_pair",
    "pressure",
]
