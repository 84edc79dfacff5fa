"""Depth by which results are headed, drawn and ranked: of damage, or of wear alone.

Damage is wear and creep together. Where the creep law is an upper estimate, their sum is no result:
nine tenths of it may be creep that is several times too deep, and a thicker insert would rank as
more damaged.
"""

from __future__ import annotations

from typing import NamedTuple

# Creep laws that are upper estimates, and of what.
UPPER_ESTIMATES = {
    "strain": "Lee and Pienkowski (1998) under the largest pressure of a cycle, over the whole "
    "thickness",
}


class LeadingDepth(NamedTuple):
    """A depth: its map, the quantity that is its largest value, and its name in texts."""

    map: str
    quantity: str
    name: str


WEAR = LeadingDepth("wear_depth", "max_wear_depth", "wear")
DAMAGE = LeadingDepth("damage_depth", "damage_depth", "damage")
# Quantities that are sums of wear and creep.
SUMS = ("damage_depth", "damage_volume")


def leading_depth(creep_law: str) -> LeadingDepth:
    """Depth by which results with a creep law are headed, drawn and ranked."""
    return WEAR if creep_law in UPPER_ESTIMATES else DAMAGE
