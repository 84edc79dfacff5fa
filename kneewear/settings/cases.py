"""Cases: sets of overrides of named settings, and the factorial design that lists them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import median
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from kneewear.settings.faults import fault, fault_at
from kneewear.settings.files import Location
from kneewear.settings.types import BodyMass, Finite, Removable, Settings, Thickness

# In a path, all entries of a list or all names of a mapping.
EVERY = "*"

# Names of the two settings that every case gives.
THICKNESS, BODY_MASS = "thickness_mm", "body_mass_kg"

# Results of every case and side, with their units.
OUTPUTS = {
    "max_pressure": "MPa",
    "avg_pressure": "MPa",
    "wear_depth": "mm",
    "creep_depth": "mm",
    "damage_depth": "mm",
    "damage_area": "mm2",
    "damage_volume": "mm3",
    "wear_volume": "mm3",
    "creep_volume": "mm3",
    "linear_wear_rate": "mm/year",
    "linear_penetration_rate": "mm/year",
    "volumetric_wear_rate": "mm3/year",
    "volumetric_penetration_rate": "mm3/year",
}


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
    def label(self) -> str:
        """The case as figures name it."""
        further = "".join(f", {path} {value:g}" for path, value in self.overrides.items())
        return f"{self.thickness:g} mm, {self.body_mass:g} kg{further}"

    @property
    def settings(self) -> dict[str, float]:
        """All settings of the case by name, thickness and body mass first."""
        return {THICKNESS: self.thickness, BODY_MASS: self.body_mass, **self.overrides}


def shallowest_case(cases: Sequence[Case]) -> Case:
    """The case that penetrates least: of the lightest body on the thinnest insert."""
    return min(cases, key=lambda case: case.body_mass * case.thickness)


def centre_case(cases: Sequence[Case]) -> int:
    """Position of the case nearest to the middle of the design, the first of several."""

    def offset(values: Sequence[float]) -> list[float]:
        scale = max(values) - min(values) or 1.0
        return [(value - median(values)) / scale for value in values]

    away = list(
        map(
            math.hypot,
            offset([case.thickness for case in cases]),
            offset([case.body_mass for case in cases]),
        )
    )
    return away.index(min(away))


def location(path: str) -> Location:
    """Keys and positions in lists that a path with dots consists of."""
    return tuple(int(step) if step.isdigit() else step for step in path.split("."))


def override(settings: Mapping[str, Any], values: Mapping[str, float]) -> dict[str, Any]:
    """Copy of settings, as plain builtins, with the values at some paths replaced.

    Paths are keys joined by dots; numbers count the entries of a list from 0, as in
    `activities.gait.flexion_deg.bumps.0.height`. ValueError if there is nothing at a path.
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


def merged(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings merged key by key; everything else, lists too, is replaced."""
    both = dict(base)
    for key, value in overrides.items():
        inherited = both.get(key)
        blocks = isinstance(value, Mapping) and isinstance(inherited, Mapping)
        both[key] = merged(inherited, value) if blocks else value  # type: ignore[arg-type]
    return both


def setting_locations(settings: Mapping[str, Any], path: str) -> Iterator[Location]:
    """Locations of the numbers of a path with dots, in which * means all entries.

    KeyError, with a message, if there is nothing at the path, or no number.
    """
    found: list[tuple[Location, Any]] = [((), settings)]
    for key in path.split("."):
        found = [
            ((*location, name), block[name])
            for location, block in found
            for name in _chosen(block, key, path)
        ]
    for location, value in found:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise KeyError(f"{path}, which is no number")
        yield location


def _chosen(block: Any, key: str, path: str) -> Sequence[str | int]:
    """Keys of a mapping or indices of a list that one part of a path names."""
    names: list[str | int] = []
    if isinstance(block, Mapping):
        names = list(block)
    elif isinstance(block, list | tuple):
        names = list(range(len(block)))
    found = names if key == EVERY else [name for name in names if str(name) == key]
    if not found:
        raise KeyError(f"{path}, of which there is no '{key}'")
    return found


def check_varied(
    settings: Mapping[str, Any],
    path: str,
    where: Location,
    of: str,
    counts: Callable[[Mapping[str, Any], Location], bool],
    expected: str,
    remedy: str,
) -> None:
    """Refuse a path, given at the key `where`, that names no number or one without effect."""
    try:
        counted = all(counts(settings, one) for one in setting_locations(settings, path))
    except KeyError as error:
        raise fault_at(
            where,
            str(error.args[0]),
            "the path of a number in the settings, as wear.wear_factor_mm3_per_n_m",
            "Correct the path; config/README.md lists all keys.",
        ) from None
    if not counted:
        raise fault_at(where, f"{path}, which {of} are not built from", expected, remedy)


def is_built_in(settings: Mapping[str, Any], location: Location) -> bool:
    """Whether a setting belongs to a built-in activity."""
    block, name, *_ = (*location, "")
    return block == "activities" and settings[block][name]["source"] == "parametric"


def scales_a_motion(settings: Mapping[str, Any], location: Location) -> bool:
    """Whether a setting is the amplitude of a measured motion, where no seat depends on it."""
    if location[0] != "activities" or location[2:4] != ("motion", "scale"):
        return False
    return "seat" not in settings["activities"][location[1]]["zero"].values()


def _differ(values: tuple[float, ...]) -> tuple[float, ...]:
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


Levels = Field(min_length=1), AfterValidator(_differ)


class CaseSettings(Settings):
    """Full factorial design of the cases."""

    thickness_mm: Annotated[tuple[Thickness, ...], *Levels]
    body_mass_kg: Annotated[tuple[BodyMass, ...], *Levels]
    overrides: Annotated[dict[str, Annotated[tuple[Finite, ...], *Levels]], Removable] = Field(
        default_factory=dict
    )

    def listed(self) -> tuple[Case, ...]:
        """All combinations of the levels: mass varies fastest, then thickness, then overrides."""
        cases = []
        for *values, thickness, mass in product(
            *self.overrides.values(), self.thickness_mm, self.body_mass_kg
        ):
            varied = dict(zip(self.overrides, values, strict=True))
            further = [f"{path.rpartition('.')[2]}_{value:g}" for path, value in varied.items()]
            name = "_".join([f"{thickness:g}mm_{mass:g}kg", *further])
            cases.append(Case(name, thickness, mass, varied))
        return tuple(cases)
