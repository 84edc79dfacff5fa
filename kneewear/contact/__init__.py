"""Contact between surfaces of the moving body and the elements of the fixed one."""

from kneewear.contact.evaluation import ContactModel
from kneewear.contact.foundation import (
    Layer,
    PressureLaw,
    SmallStrain,
    confined_modulus,
    pressure,
)
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import ContactResult, Resultant
from kneewear.contact.traction import Damping, Friction

__all__ = [
    "ContactModel",
    "ContactPair",
    "ContactResult",
    "Damping",
    "Friction",
    "Layer",
    "PressureLaw",
    "Resultant",
    "SmallStrain",
    "confined_modulus",
    "pressure",
]
