"""Contact between surfaces of the moving body and the elements of the fixed one."""

from kneewear.contact.evaluation import ContactModel
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
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import ContactResult, Resultant
from kneewear.contact.traction import Damping, Friction

__all__ = [
    "MATERIALS",
    "ContactModel",
    "ContactPair",
    "ContactResult",
    "Damping",
    "Friction",
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
