"""Checks of plausibility: ranges of settings and of computed quantities, findings outside them.

Ranges of settings are in their fields; the name of such a check is the path of the key. All other
checks are rows of the tables `checks.csv`, which stand in the room or slice that knows the
quantity: ranges of computed quantities, and narrower ranges of settings in one use, such as the
modulus of polyethylene. A value outside its usual range gives a warning, one that no knee, implant
or study has is refused. `checks.ignore` of the settings names checks whose warnings are not shown.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from kneewear.base.assumptions import Assumption, unconfirmed
from kneewear.base.faults import fault_at, suggestion
from kneewear.base.files import Location
from kneewear.base.keys import ANY, ranges_by_path
from kneewear.base.ranges import Range
from kneewear.base.types import Settings, entries_of, numbers_in, ranges_of, values_at
from kneewear.errors import Finding, InputDataError

_PACKAGE = Path(__file__).parents[1]
_TABLE = "checks.csv"


@dataclass(frozen=True)
class Condition:
    """Condition of a row on a setting: one of some words, or a number below a limit."""

    path: str
    words: tuple[str, ...]
    below: float = inf

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Condition of a text "key=word|word" or "key<number"."""
        path, equal, words = text.strip().partition("=")
        if equal:
            return cls(path, tuple(words.split("|")))
        path, _, limit = text.strip().partition("<")
        return cls(path, (), float(limit))

    def holds(self, value: Any) -> bool:
        """True if a value of the setting fulfils the condition."""
        if self.words:
            return str(value) in self.words
        return isinstance(value, int | float) and value < self.below


@dataclass(frozen=True)
class Check:
    """One row of a table: a computed quantity, or settings in one use.

    Parameters
    ----------
    name, quantity, range : str, str, Range
        Name of the check, what is judged, and its unit and ranges.
    keys : tuple of str
        Paths of the settings that the row judges by itself, where `*` stands for any name; empty
        for a quantity that is computed.
    over : str
        Path of the setting that these are divided by, with as many `*` at most; empty for none.
    when : tuple of Condition
        Conditions of the use, whose `*` are the names that the path of the key has there.
    is_note : bool
        Whether an unusual value is worth a note only.
    has_slips : bool
        Whether a usual slip, such as another unit, explains an unusual value: it is not so where
        the value was computed from shapes or poses.
    """

    name: str
    quantity: str
    range: Range
    keys: tuple[str, ...] = ()
    over: str = ""
    when: tuple[Condition, ...] = ()
    is_note: bool = False
    has_slips: bool = True

    @classmethod
    def of_row(cls, row: Mapping[str, str | None]) -> Check:
        """Check of a row of a table."""
        lowest, low = (float(row[key] or -inf) for key in ("lowest", "low"))
        high, highest = (float(row[key] or inf) for key in ("high", "highest"))
        span = Range(str(row["unit"]), lowest, low, high, highest, str(row["source"]))
        return cls(
            name=str(row["name"]),
            quantity=str(row["quantity"]),
            range=span,
            keys=tuple((row.get("keys") or "").split()),
            over=row.get("over") or "",
            when=tuple(map(Condition.parse, filter(None, (row.get("when") or "").split(";")))),
            is_note=row.get("severity") == "note",
            has_slips=row.get("slips") != "none",
        )

    def judge(self, value: float, where: str, remedy: str = "") -> Finding | None:
        """Finding about a value; None within the usual range."""
        # A computed number without a unit is not given by anybody.
        is_given = self.has_slips and (bool(self.keys) or self.range.unit != "1")
        finding = self.range.judge(
            self.name, value, where, remedy, self.quantity, is_given=is_given
        )
        if finding is not None and finding.severity == "warn" and self.is_note:
            return replace(finding, severity="note")
        return finding

    def settings(self, study: BaseModel) -> Iterator[tuple[Location, float]]:
        """Yield location and value of the settings of a study that the row judges."""
        for key in self.keys:
            for at, value in values_at(study, key):
                names = [name for step, name in zip(key.split("."), at, strict=True) if step == ANY]
                if all(use.holds(_at(study, use.path, names)) for use in self.when):
                    divisor = _at(study, self.over, names) if self.over else 1.0
                    for further, number in numbers_in(value):
                        by = divisor
                        for step in further if isinstance(divisor, BaseModel) else ():
                            by = getattr(by, str(step))
                        if by:
                            yield (*at, *further), number / by


def _at(study: BaseModel, path: str, names: Sequence[str | int]) -> Any:
    """Value at a path whose `*` are some names in their order; None where there is nothing."""
    left = iter(names)
    steps = [str(next(left)) if step == ANY else step for step in path.split(".")]
    return next((value for _, value in values_at(study, ".".join(steps))), None)


@cache
def checks() -> dict[str, Check]:
    """All checks by their names, of the tables of all rooms and slices.

    Raises
    ------
    ValueError
        If two rows have the same name.
    """
    table: dict[str, Check] = {}
    for path in sorted(_PACKAGE.rglob(_TABLE)):
        with path.open(encoding="utf-8", newline="") as file:
            for check in map(Check.of_row, csv.DictReader(file)):
                if check.name in table:
                    raise ValueError(f"{path}: found check {check.name} in another table, too")
                table[check.name] = check
    return table


def judge(
    name: str, value: float, position: str, remedy: str = "", where: str = ""
) -> Finding | None:
    """Finding about a value outside the usual range of a check; None within it.

    Parameters
    ----------
    name : str
        Name of the check.
    value : float
        The value, in the unit of the check.
    position, remedy, where : str
        File or key, what to do, and the position in the file, as in `InputDataError`.

    Raises
    ------
    InputDataError
        When the value is outside the range in which it is possible.
    """
    finding = checks()[name].judge(value, f"{position}, {where}" if where else position, remedy)
    if finding is not None and finding.severity == "refuse":
        raise InputDataError.of(finding)
    return finding


def drop_ignored(findings: Iterable[Finding], ignore: Sequence[str]) -> tuple[Finding, ...]:
    """Findings without those that the settings ignore, and a note with the number of these."""
    findings = tuple(findings)
    shown = [finding for finding in findings if finding.check not in ignore]
    counts = {name: sum(one.check == name for one in findings) for name in dict.fromkeys(ignore)}
    notes = [
        Finding(name, "note", "checks.ignore", f"{count} of {name} ignored", "", "")
        for name, count in counts.items()
        if count
    ]
    return (*shown, *notes)


class ChecksSettings(Settings):
    """Checks of plausibility."""

    ignore: tuple[str, ...] = Field(
        (),
        description="Names of checks whose warnings are not shown: paths of keys, or names of the "
        "table of checks. The page lists them.",
    )


def refuse_unknown_checks(study: type[BaseModel], ignore: Sequence[str]) -> None:
    """Refuse names that are neither a check nor the path of a quantity of a study."""
    known = {*checks(), *ranges_by_path(study)}
    for number, name in enumerate(ignore):
        if name not in known:
            remedy = suggestion(name, known) or "config/README.md lists all checks."
            at = ("checks", "ignore", number)
            raise fault_at(at, f"no check '{name}'", "the name of a check", remedy)


def setting_findings(study: Any) -> tuple[Finding, ...]:
    """Findings about the values of a study that were accepted, and its assumptions.

    A value that is unusual in its use has one finding, not another one of the wider range of its
    quantity, unless `checks.ignore` names the use. One that an assumption states has the finding of
    that assumption.
    """
    assumed = unconfirmed(study.model_dump(mode="json")) if study.assumed else ()
    uses = [
        (check, at, finding)
        for check, at, value in _uses(study)
        if not _is_stated(at, assumed)
        if (finding := check.judge(value, f"key {_path(at)}")) is not None
    ]
    said = {
        at
        for check, at, finding in uses
        if check.keys and not check.over and finding.severity != "note"
        if check.name not in study.checks.ignore
    }
    findings = [
        span.judge(check, value, f"key {_path(at)}")
        for check, span, at, value in _quantities(study)
        if at not in said and not _is_stated(at, assumed)
    ]
    findings += [finding for _, _, finding in uses]
    findings += [assumption.finding() for assumption in assumed]
    return tuple(finding for finding in findings if finding is not None)


def _path(at: Location) -> str:
    return ".".join(map(str, at))


def _is_stated(at: Location, assumed: Sequence[Assumption]) -> bool:
    """True if an assumption states the setting at a location."""
    return any(assumption.states(_path(at)) for assumption in assumed)


def refuse_impossible(study: BaseModel) -> None:
    """Refuse values of a study that cannot be combined."""
    for check, at, value in _uses(study):
        finding = check.judge(value, "")
        if finding is not None and finding.severity == "refuse":
            raise fault_at(at, finding.found, finding.expected, finding.remedy)


def _uses(study: Any) -> Iterator[tuple[Check, Location, float]]:
    """Yield check, location and value of settings in a use, and of what follows from several."""
    for check in checks().values():
        for at, value in check.settings(study):
            yield check, at, value
    for name, at, value in study.combined_values():
        yield checks()[name], at, value


def _quantities(
    block: Any, path: str = "", location: Location = ()
) -> Iterator[tuple[str, Range, Location, float]]:
    """Yield path, range, location and value of every number of a block that has a range."""
    spans = ranges_of(type(block)) if isinstance(block, BaseModel) else {}
    for key, value in entries_of(block):
        added = ".*" if isinstance(block, Mapping) else ""
        inner = path + (f".{key}" if isinstance(block, BaseModel) else added)
        inner, at = inner.lstrip("."), (*location, key)
        span = spans.get(str(key))
        if span is None:
            yield from _quantities(value, inner, at)
        else:
            for further, number in numbers_in(value, span.of_width):
                yield inner, span, (*at, *further), number
