"""Cases: values of variables, with the thickness and the body mass that follow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from kneewear.base.variables import Value, label_of

# Names of the quantities, and of their variables, that every case has.
THICKNESS = "thickness_mm"
BODY_MASS = "body_mass_kg"

# Results of every case and side, with their units.
OUTPUTS = {
    "max_pressure": "MPa",
    "avg_pressure": "MPa",
    "wear_depth_at_deepest_damage": "mm",
    "creep_depth_at_deepest_damage": "mm",
    "damage_depth": "mm",
    "max_wear_depth": "mm",
    "damage_area": "mm2",
    "damage_volume": "mm3",
    "wear_volume": "mm3",
    "creep_volume": "mm3",
    "linear_wear_rate": "mm/year",
    "linear_penetration_rate": "mm/year",
    "volumetric_wear_rate": "mm3/year",
    "volumetric_penetration_rate": "mm3/year",
}
# Further ones of an insert that yields, and the maps of its cycles that they are of.
PLASTIC_MAPS = ("dent", "plastic_strain", "residual_stress", "yielded_stress")
# Plastic strain that the next activity on the same insert continues from.
COMMITTED = ("committed_strain", "committed_equivalent", "committed_first_row")
PLASTIC_OUTPUTS = {
    "dent_depth": "mm",
    "dent_volume": "mm3",
    "plastic_strain": "1",
    "residual_stress": "MPa",
    "yielded_stress": "MPa",
    "least_creep_depth": "mm",
    "most_creep_depth": "mm",
}


# Side of results that are not of one.
WHOLE = "all"


class Output(NamedTuple):
    """A result of a case: its side (`both` and `all` too), quantity and unit."""

    side: str
    quantity: str
    unit: str

    @property
    def column(self) -> str:
        """Column in tables of cases."""
        return self.quantity if self.side == WHOLE else f"{self.side}_{self.quantity}"


@dataclass(frozen=True)
class Case:
    """One case of a study: values of named settings.

    Parameters
    ----------
    name : str
        Unique name, used along the case axis and in `tables/cases.csv`.
    thickness : float
        Minimum insert thickness, mm.
    body_mass : float
        Body mass, kg.
    overrides : mapping of str to float or str
        Value of each variable but `thickness_mm` and `body_mass_kg`, by its name.
    """

    name: str
    thickness: float
    body_mass: float
    overrides: Mapping[str, Value] = field(default_factory=dict, hash=False)

    @property
    def label(self) -> str:
        """The case as figures name it."""
        further = "".join(f", {name} {label_of(value)}" for name, value in self.overrides.items())
        return f"{self.thickness:g} mm, {self.body_mass:g} kg{further}"

    @property
    def settings(self) -> dict[str, Value]:
        """Thickness, body mass and the values of all further variables by name."""
        return {THICKNESS: self.thickness, BODY_MASS: self.body_mass, **self.overrides}


def case_name(thickness: float, body_mass: float, further: Mapping[str, Value]) -> str:
    """Name of a case by its thickness (mm), body mass (kg) and the values of other variables."""
    others = [f"{name}_{label_of(value)}" for name, value in further.items()]
    return "_".join([f"{thickness:g}mm_{body_mass:g}kg", *others])


def shallowest_case(cases: Sequence[Case]) -> Case:
    """The case that penetrates least: of the lightest body on the thinnest insert."""
    return min(cases, key=lambda case: case.body_mass * case.thickness)


def centre_case(cases: Sequence[Case]) -> int:
    """Position of the case nearest to the middle of the design, the first of several."""
    return nearest_to_middle([(case.thickness, case.body_mass) for case in cases])


def nearest_to_middle(points: Sequence[tuple[float, float]]) -> int:
    """Position of the thickness and mass nearest to the medians, in parts of their ranges.

    The first of several: distances that differ by rounding are equal.
    """
    offsets = []
    for values in zip(*points, strict=True):
        scale = max(values) - min(values) or 1.0
        offsets.append([(value - median(values)) / scale for value in values])
    away = [round(math.hypot(*pair), 9) for pair in zip(*offsets, strict=True)]
    return away.index(min(away))
