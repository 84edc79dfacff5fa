"""Wear, creep and damage of the insert over a life of mixed activities."""

from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.cycles import CycleRecord, join_cycles, record_cycles
from kneewear.wear.laws import (
    archard_depth,
    creep_from_pressure,
    creep_from_strain,
    creep_strain_per_pressure,
    cycles_of_life,
    minutes_of_life,
)
from kneewear.wear.maps import DamageMaps, join_damage
from kneewear.wear.summary import damage_area, damage_volume, summarize_cases

__all__ = [
    "CycleRecord",
    "DamageMaps",
    "accumulate_wear",
    "archard_depth",
    "creep_from_pressure",
    "creep_from_strain",
    "creep_strain_per_pressure",
    "cycles_of_life",
    "damage_area",
    "damage_volume",
    "join_cycles",
    "join_damage",
    "minutes_of_life",
    "record_cycles",
    "summarize_cases",
]
