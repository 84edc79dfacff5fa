"""Checks of plausibility: ranges of quantities in `checks.csv`, and what is said outside them.

A value outside its usual range gives a warning, one that no knee, implant or study has is refused.
The table is the only place of these ranges. Every warning names its check, and `checks.silence` of
the settings silences it by this name.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, field_validator

from kneewear.errors import InputDataError
from kneewear.settings.faults import fault_at, suggestion
from kneewear.settings.files import Location
from kneewear.settings.types import Settings
from kneewear.sides import SIDES

_TABLE = Path(__file__).with_suffix(".csv")
_EVERY = "*"
# End of every warning, by which it can be silenced.
_NAMED = re.compile(r" \(check ([a-z_.]+)\)$")

Verdict = Literal["", "warn", "refuse"]


@dataclass(frozen=True)
class Check:
    """One row of the table.

    `setting` is the path of the settings it judges, with dots, * for all entries (the width of a
    pair of limits), and empty for a computed quantity; `sources` the sources of the implant it
    holds for, all if empty. Beyond the first pair of limits a value is warned of, beyond the second
    it is refused.
    """

    name: str
    quantity: str
    unit: str
    setting: str
    sources: str
    warn_below: float
    warn_above: float
    refuse_below: float
    refuse_above: float
    source: str

    @property
    def ranges(self) -> tuple[str, str]:
        """Range without a warning, and accepted range, in words with the unit; "-" if unlimited."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        usual, accepted = (
            span_text(low, high) + unit if low > -inf or high < inf else "-"
            for low, high in (
                (self.warn_below, self.warn_above),
                (self.refuse_below, self.refuse_above),
            )
        )
        return usual, accepted

    def verdict(self, value: float) -> Verdict:
        """Judge a value; one that is not a number is refused."""
        if not self.refuse_below <= value <= self.refuse_above:
            return "refuse"
        return "" if self.warn_below <= value <= self.warn_above else "warn"

    def fault(
        self, value: float, position: str, remedy: str = "", where: str = ""
    ) -> InputDataError:
        """What is said of a value that is warned of or refused."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        low, high = (
            (self.refuse_below, self.refuse_above)
            if self.verdict(value) == "refuse"
            else (max(self.warn_below, self.refuse_below), min(self.warn_above, self.refuse_above))
        )
        return InputDataError(
            position,
            f"{self.quantity} of {value:.4g}{unit}",
            f"{span_text(low, high)}{unit}{'' if self.verdict(value) == 'refuse' else ' usually'}",
            remedy or (f"Give it in{unit}, or correct it." if unit else "Correct the value."),
            where,
        )


def span_text(low: float, high: float) -> str:
    """Range in words; either limit may be infinite."""
    if low == -inf:
        return f"at most {high:g}"
    return f"at least {low:g}" if high == inf else f"{low:g} to {high:g}"


@cache
def checks() -> dict[str, Check]:
    """All checks by their names."""
    found = {}
    with _TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            limits = {
                key: float(row.pop(key) or (-inf if key.endswith("below") else inf))
                for key in ("warn_below", "warn_above", "refuse_below", "refuse_above")
            }
            found[row["name"]] = Check(**row, **limits)  # type: ignore[arg-type]
    return found


def judge(name: str, value: float, position: str, remedy: str = "", where: str = "") -> str:
    """Warning about a value outside the usual range of a check; empty within it.

    Parameters
    ----------
    name : str
        Name of the check, as in `checks.csv`.
    value : float
        The value, in the unit of the check.
    position, remedy, where : str
        File or key, what to do, and the position in the file, as in `InputDataError`.

    Raises
    ------
    InputDataError
        When the value is beyond the range in which it is accepted at all.
    """
    check = checks()[name]
    verdict = check.verdict(value)
    if not verdict:
        return ""
    fault = check.fault(value, position, remedy, where)
    if verdict == "refuse":
        raise fault
    return named(name, fault)


def named(name: str, warning: InputDataError | str) -> str:
    """Warning that ends with the name of its check."""
    return f"{warning} (check {name})"


def heard(warnings: Iterable[str], silence: Sequence[str]) -> tuple[str, ...]:
    """Warnings without those that the settings silence, and a sentence on these."""
    left, silenced = [], dict.fromkeys(silence, 0)
    for warning in warnings:
        found = _NAMED.search(warning)
        if found and found[1] in silenced:
            silenced[found[1]] += 1
        else:
            left.append(warning)
    left += [
        f"Silenced by checks.silence: {count} warning{'s' if count > 1 else ''} of {name} "
        f"({checks()[name].quantity})."
        for name, count in silenced.items()
        if count
    ]
    return tuple(left)


class ChecksSettings(Settings):
    """Checks of plausibility."""

    silence: tuple[str, ...] = ()

    @field_validator("silence")
    @classmethod
    def _are_checks(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for number, name in enumerate(names):
            if name not in checks():
                remedy = suggestion(name, checks()) or "config/README.md lists all checks."
                raise fault_at((number,), f"no check '{name}'", "the name of a check", remedy)
        return names


def judged_settings(settings: Any) -> Iterator[tuple[Check, Location, float]]:
    """Yield every value of a study that a check judges: check, location and value.

    `settings` is a study, or one as plain builtins.
    """
    tree = _children(settings)
    implant = _children(tree["implant"])
    levels = _children(_children(tree.get("cases", {})).get("overrides", {}))
    for check in checks().values():
        if check.sources and implant["source"] not in check.sources.split():
            continue
        steps = tuple(check.setting.split(".")) if check.setting else ()
        for at, value in _values(settings, steps) if steps else ():
            yield check, at, value
        for path, values in levels.items():
            keys = str(path).split(".")
            if len(keys) == len(steps) and all(
                step in (_EVERY, key) for step, key in zip(steps, keys, strict=True)
            ):
                for number, value in enumerate(values):
                    yield check, ("cases", "overrides", path, number), value
    yield from _computed(tree, implant)


def _computed(
    tree: Mapping[Any, Any], implant: Mapping[Any, Any]
) -> Iterator[tuple[Check, Location, float]]:
    """Yield what checks judge that follows from several settings."""
    law = ("simulation", "pressure_law", "thickness_offset_mm")
    offset = next(value for _, value in _values(tree, law))
    thin = [value for _, value in _values(tree, ("cases", "thickness_mm", _EVERY))]
    if offset != 0.0:
        least = min(thin, default=implant["nominal_thickness_mm"])
        yield checks()["settings.effective_thickness"], law, least + offset
    if implant["source"] != "parametric":
        block = _children(implant[implant["source"]])
        for name in ("insert_region_mm", "tibial_region_mm", "femoral_region_mm"):
            sides = _children(block.get(name))
            if sides:
                medial, lateral = (sum(_children(sides[side])["z"]) for side in SIDES)
                where = ("implant", implant["source"], name)
                apart = 0.5 * (medial - lateral)
                yield checks()["settings.window_sides"], where, apart
    if implant["source"] == "parametric":
        shape = _children(implant["parametric"])
        condyle, plateau = (shape[f"{body}_sagittal_radius_mm"] for body in ("femoral", "plateau"))
        where = ("implant", "parametric", "plateau_sagittal_radius_mm")
        yield checks()["settings.conformity"], where, plateau / condyle


def setting_warnings(settings: Any) -> tuple[str, ...]:
    """Warnings about the values of a study whose settings were accepted."""
    return tuple(
        named(check.name, check.fault(value, f"key {'.'.join(map(str, at))}"))
        for check, at, value in judged_settings(settings)
        if check.verdict(value) == "warn"
    )


def _values(settings: Any, steps: Sequence[str]) -> Iterator[tuple[Location, float]]:
    """Yield locations and numbers at a path; the width of a pair of limits."""
    found: list[tuple[Location, Any]] = [((), settings)]
    for step in steps:
        found = [
            ((*at, name), child)
            for at, value in found
            for name, child in _children(value).items()
            if step in (_EVERY, str(name))
        ]
    for at, value in found:
        if isinstance(value, list | tuple) and len(value) == 2:
            yield at, float(value[1] - value[0])
        elif isinstance(value, int | float):
            yield at, float(value)


def _children(value: Any) -> Mapping[Any, Any]:
    """Entries of a block, a mapping or a list by their keys; none of anything else."""
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return value if isinstance(value, Mapping) else {}
