"""Quantities and units as people read them."""

from __future__ import annotations

UNIT_NAMES = {"mm2": "mm²", "mm3": "mm³", "mm3/year": "mm³/year", "1": ""}
QUANTITY_NAMES = {
    "max_pressure": "Maximum pressure",
    "avg_pressure": "Average pressure",
    "wear_depth": "Wear depth",
    "creep_depth": "Creep depth",
    "damage_depth": "Damage depth",
    "damage_area": "Damage area",
    "damage_volume": "Damage volume",
}


def quantity_name(quantity: str) -> str:
    """Name of a quantity as shown to people."""
    return QUANTITY_NAMES.get(quantity, quantity.replace("_", " ").capitalize())


def unit_name(unit: str) -> str:
    """Unit as shown to people; empty for pure numbers."""
    return UNIT_NAMES.get(unit, unit)
