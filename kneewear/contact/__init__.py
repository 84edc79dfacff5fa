"""Contact between surfaces of the moving body and the elements of the fixed one."""

from kneewear.contact.foundation import (
    Layer,
    PressureLaw,
    SmallStrain,
    confined_modulus,
    pressure,
)
from kneewear.contact.pair import ContactPair, Resultant

__all__ = [
    "ContactPair",
    "Layer",
    "PressureLaw",
    "Resultant",
    "SmallStrain",
    "confined_modulus",
    "pressure",
]
