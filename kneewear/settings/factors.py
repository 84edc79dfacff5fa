"""Factors: numbers that change settings, named by their paths, and the cases that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from pydantic import Field, ValidationError, model_validator

from kneewear.settings.base import CaseStudy, WearStudy
from kneewear.settings.cases import (
    BODY_MASS,
    THICKNESS,
    Case,
    check_varied,
    is_built_in,
    override,
    scales_a_motion,
    setting_locations,
)
from kneewear.settings.faults import fault, fault_at
from kneewear.settings.files import Location, value_at
from kneewear.settings.types import Finite, Settings


class Change(NamedTuple):
    """A number that changes settings.

    Parameters
    ----------
    settings : tuple of str
        Paths of the settings; * means all entries.
    how : str
        "set": the number is the new value; "add": it is added to the value; "multiply": the value
        is multiplied by it.
    number : float
        The number.
    of : str or None
        Path of the setting that is multiplied instead of the value itself.
    """

    settings: tuple[str, ...]
    how: str
    number: float
    of: str | None = None


def changed_settings(settings: Mapping[str, Any], changes: Iterable[Change]) -> dict[str, float]:
    """New values by their paths, after some changes of settings as plain builtins.

    Each change acts on the values that those before it left. KeyError, with a message, if there is
    no number at a path.
    """
    values: dict[Location, float] = {}

    def value(location: Location) -> float:
        return values[location] if location in values else value_at(settings, location)

    for change in changes:
        other = None if change.of is None else value(next(setting_locations(settings, change.of)))
        for path in change.settings:
            for location in setting_locations(settings, path):
                base = value(location) if other is None else other
                new = {
                    "set": change.number,
                    "add": base + change.number,
                    "multiply": base * change.number,
                }
                values[location] = new[change.how]
    return {".".join(map(str, location)): value for location, value in values.items()}


def changed_case(study: CaseStudy, name: str, values: Mapping[str, Any]) -> Case:
    """Case of a study of one thickness and one body mass, with new values of settings by path."""
    further = dict(values)
    thickness, body_mass = (
        float(further.pop(f"cases.{key}.0", levels[0]))
        for key, levels in (
            (THICKNESS, study.cases.thickness_mm),
            (BODY_MASS, study.cases.body_mass_kg),
        )
    )
    return Case(name, thickness, body_mass, further)


class Factor(Settings):
    """A number, mostly between two bounds, that changes one setting or several alike."""

    settings: tuple[str, ...] = Field(min_length=1)
    change: Literal["set", "add", "multiply"] = "set"
    of: str | None = None
    low: Finite | None = None
    high: Finite | None = None
    levels: int = Field(default=3, ge=2, le=1000)
    unit: str = ""

    @model_validator(mode="after")
    def _bounds_agree(self) -> Factor:
        if (self.low is None) != (self.high is None):
            found = f"low: {self.low}, high: {self.high}"
            raise fault(found, "both bounds or none", "Give the other one.")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise fault(
                f"low: {self.low:g}, high: {self.high:g}",
                "low below high",
                "Exchange or correct the bounds; set what does not vary in the study itself.",
            )
        if self.of is not None and self.change != "multiply":
            raise fault(
                f"of: {self.of} with change: {self.change}",
                "of with change: multiply, whose product it becomes",
                "Remove of, or set change to multiply.",
            )
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound; ValueError where it has none."""
        if self.low is None or self.high is None:
            raise ValueError(f"the factor of {', '.join(self.settings)} has no bounds")
        return self.low, self.high

    @property
    def replaces(self) -> bool:
        """Whether its settings lose the values they had."""
        return self.change == "set" or self.of is not None

    def at(self, number: float) -> Change:
        """The change by one value of the factor."""
        return Change(self.settings, self.change, number, self.of)


def check_factors(study: CaseStudy, factors: Mapping[str, Factor], where: Location) -> None:
    """Refuse factors, given at the key `where`, that no case can have.

    Their paths must be of numbers that a case is built from, no factor may replace what another
    one changed, and the settings must be possible with each factor alone at each of its bounds.
    Combinations of factors are not checked.
    """
    settings = study.model_dump(mode="json", include=set(WearStudy.model_fields))
    settings |= {"kind": "wear"}
    changed_by: dict[Location, str] = {}
    for name, factor in factors.items():
        at = (*where, name)
        for path in (*factor.settings, *([] if factor.of is None else [factor.of])):
            check_varied(
                settings,
                path,
                (*at, "settings"),
                "cases",
                decides_a_case,
                "a setting of the built-in implant, of an activity, of grid, table, cases, "
                "simulation or wear",
                "Leave it out: surfaces and motions of files are as they were measured, "
                "except motion.scale where zero names no seat.",
            )
        for location in (
            one for path in factor.settings for one in setting_locations(settings, path)
        ):
            check_not_updated(location, (*at, "settings"))
            other = changed_by.setdefault(location, name)
            if other != name and factor.replaces:
                raise fault_at(
                    at,
                    f"{'.'.join(map(str, location))}, which {other} changes too",
                    "each setting in one factor, or change: add or multiply in further ones",
                    "Remove it from one of them.",
                )
        for bound in ("low", "high"):
            number = getattr(factor, bound)
            if number is None:
                continue
            try:
                changed = override(settings, changed_settings(settings, [factor.at(number)]))
                WearStudy.model_validate(changed)
            except ValidationError as error:
                first = error.errors()[0]
                key = ".".join(map(str, first["loc"]))
                found = f"{number:g}, for which {key} is refused"
                raise fault_at((*at, bound), found, first["msg"], "Correct the bound.") from None


def check_not_updated(location: Location, where: Location) -> None:
    """Refuse to vary, by a factor at the key `where`, updates of the surface."""
    if location[:2] in (("wear", "blocks"), ("wear", "surface_update")):
        raise fault_at(
            where,
            f"{'.'.join(map(str, location))}, which updates the surface",
            "settings of a surface that stays fresh",
            "Leave it out; a study of kind wear varies it, as config/evolution.yaml does.",
        )


def decides_a_case(settings: Mapping[str, Any], location: Location) -> bool:
    """Whether a case of its own is built from a setting."""
    if location[0] == "implant":
        return settings["implant"]["source"] == "parametric" and "parametric" in location
    blocks = ("cases", "grid", "coarse_grid", "table", "simulation", "wear")
    built_in = is_built_in(settings, location)
    return location[0] in blocks or built_in or scales_a_motion(settings, location)
