"""Wear, creep and damage of the insert over a life of mixed activities."""

from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.creep import (
    creep_development,
    creep_from_pressure,
    creep_from_strain,
    creep_strain_per_pressure,
    minutes_of_life,
    recovered_part,
)
from kneewear.wear.cross_shear import cross_shear_ratio, frictional_work
from kneewear.wear.cycle_sums import CycleSums, sum_cycle
from kneewear.wear.cycles import CycleRecord, join_cycles, record_cycles
from kneewear.wear.laws import (
    Archard,
    ContactArea,
    CrossShearAndPressure,
    DirectionalWork,
    PressurePower,
    UnifiedTheory,
    WearLaw,
    choose_wear_law,
    cycles_of_life,
    worn_depth,
)
from kneewear.wear.maps import DamageMaps, join_damage
from kneewear.wear.stints import Stint, block_ends, divide_life
from kneewear.wear.summary import damage_area, damage_volume, summarize_cases
from kneewear.wear.worn_contact import WornContact
from kneewear.wear.worn_surface import lower_surface

__all__ = [
    "Archard",
    "ContactArea",
    "CrossShearAndPressure",
    "CycleRecord",
    "CycleSums",
    "DamageMaps",
    "DirectionalWork",
    "PressurePower",
    "Stint",
    "UnifiedTheory",
    "WearLaw",
    "WornContact",
    "accumulate_wear",
    "block_ends",
    "choose_wear_law",
    "creep_development",
    "creep_from_pressure",
    "creep_from_strain",
    "creep_strain_per_pressure",
    "cross_shear_ratio",
    "cycles_of_life",
    "damage_area",
    "damage_volume",
    "divide_life",
    "frictional_work",
    "join_cycles",
    "join_damage",
    "lower_surface",
    "minutes_of_life",
    "record_cycles",
    "recovered_part",
    "sum_cycle",
    "summarize_cases",
    "worn_depth",
]
