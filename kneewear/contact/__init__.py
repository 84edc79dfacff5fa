"""Contact between the condyles and the elements of the insert."""

from kneewear.contact.foundation import confined_modulus, pressure
from kneewear.contact.plateau import PlateauContact, Resultant

__all__ = ["PlateauContact", "Resultant", "confined_modulus", "pressure"]
