"""Cases: sets of overrides of named settings, and the design that lists them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from pydantic import Field, field_validator

from kneewear.settings.faults import fault
from kneewear.settings.files import Location
from kneewear.settings.types import BodyMass, Settings, Thickness

# Names of the two settings that every case gives.
THICKNESS, BODY_MASS = "thickness_mm", "body_mass_kg"


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
    overrides : mapping of str to float
        Value of each further setting of the case, by its path with dots (see `override`).
    """

    name: str
    thickness: float
    body_mass: float
    overrides: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def settings(self) -> dict[str, float]:
        """All settings of the case by name, thickness and body mass first."""
        return {THICKNESS: self.thickness, BODY_MASS: self.body_mass, **self.overrides}


def location(path: str) -> Location:
    """Keys and positions in lists that a path with dots consists of."""
    return tuple(int(step) if step.isdigit() else step for step in path.split("."))


def override(settings: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, Any]:
    """Settings with some values replaced.

    Parameters
    ----------
    settings : mapping
        Settings, or some of their blocks, as plain builtins.
    values : mapping of str to float
        Value by path: keys joined by dots; numbers count the entries of a list from 0, as in
        `activities.gait.flexion_deg.bumps.0.height`.

    Returns
    -------
    dict
        A copy.

    Raises
    ------
    ValueError
        If there is nothing at a path.
    """
    changed = copy.deepcopy(dict(settings))
    for path, value in values.items():
        *way, last = location(path)
        block: Any = changed
        try:
            for step in way:
                block = block[step]
            block[last]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"the study has no setting {path}") from None
        block[last] = value
    return changed


class CaseSettings(Settings):
    """Full factorial design of the cases."""

    thickness_mm: tuple[Thickness, ...] = Field(min_length=1)
    body_mass_kg: tuple[BodyMass, ...] = Field(min_length=1)

    @field_validator("thickness_mm", "body_mass_kg")
    @classmethod
    def _names_differ(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        """Refuse levels that would give two cases one name."""
        names = [f"{value:g}" for value in values]
        for name, first in zip(names, values, strict=True):
            alike = [value for value, other in zip(values, names, strict=True) if other == name]
            if len(set(alike)) > 1:
                raise fault(
                    f"{' and '.join(repr(value) for value in alike)}, all shown as {name}",
                    "levels that differ in their first six digits",
                    "Drop all but one of them or set them further apart.",
                )
            if len(alike) > 1:
                raise fault(f"{first:g} more than once", "distinct values", "Name each level once.")
        return values

    def listed(self) -> tuple[Case, ...]:
        """All combinations of the levels; the mass varies fastest."""
        return tuple(
            Case(f"{thickness:g}mm_{mass:g}kg", thickness, mass)
            for thickness, mass in product(self.thickness_mm, self.body_mass_kg)
        )
