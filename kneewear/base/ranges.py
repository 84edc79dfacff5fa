"""Plausible ranges of quantities: the usual values, and the possible ones."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite, isnan
from pathlib import Path
from typing import Any

from kneewear.errors import Finding, Severity

# Unit of the slips that numbers of any unit may have.
_ANY_UNIT = "*"


@dataclass(frozen=True)
class Slip:
    """Usual slip of a number: another unit, the other side, a decimal point.

    Parameters
    ----------
    unit, name : str
        Unit of the quantity, and what the number was given as.
    how : str
        The right value is the number "times" the factor, the factor "less" the number, or the
        factor "over" it.
    factor : float
        The factor.
    is_unit : bool
        True if the number is right in another unit.
    """

    unit: str
    name: str
    how: str
    factor: float
    is_unit: bool

    def corrected(self, value: float) -> float:
        """Value that is right if the given one has this slip."""
        if self.how == "times":
            return value * self.factor
        return self.factor - value if self.how == "less" else self.factor / value if value else inf


@cache
def slips(unit: str) -> tuple[Slip, ...]:
    """Usual slips of numbers of a unit, one for each correction."""
    with Path(__file__).with_name("slips.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            Slip(
                unit=row["unit"],
                name=row["slip"],
                how=row["how"],
                factor=float(row["factor"]),
                is_unit=row["is_unit"] == "yes",
            )
            for row in csv.DictReader(file)
        ]
    own = [slip for slip in rows if slip.unit == unit]
    known = {(slip.how, slip.factor) for slip in own}
    general = [slip for slip in rows if slip.unit == _ANY_UNIT]
    return (*own, *(slip for slip in general if (slip.how, slip.factor) not in known))


def unit_slips(unit: str) -> tuple[Slip, ...]:
    """Slips by which a number is in another unit."""
    return tuple(slip for slip in slips(unit) if slip.is_unit)


@dataclass(frozen=True)
class Range:
    """Unit and plausible range of a quantity.

    Values between `low` and `high` are usual. Others give a warning, and values below `lowest` or
    above `highest` are refused. An infinite limit does not limit.

    Parameters
    ----------
    unit : str
        Unit; "1" without one.
    lowest, low, high, highest : float
        Limits in ascending order.
    source : str
        Where the limits are from, or why there are none.
    of_width : bool
        Whether the range is of the difference of a pair [lower, upper], not of its ends.
    least : float
        Usual least size of a value that is not zero, of either sign. Smaller ones give a warning:
        they are probably in another unit.
    """

    unit: str
    lowest: float
    low: float
    high: float
    highest: float
    source: str
    of_width: bool = False
    least: float = 0.0

    @classmethod
    def unlimited(cls, unit: str, reason: str) -> Range:
        """Range without limits, and the reason for having none."""
        return cls(unit, -inf, -inf, inf, inf, reason)

    @property
    def limits(self) -> tuple[float, float, float, float]:
        """The four limits, in ascending order."""
        return self.lowest, self.low, self.high, self.highest

    @property
    def usual(self) -> str:
        """Usual values in words, with the unit; empty where all are."""
        return self._span(self.low, self.high)

    @property
    def possible(self) -> str:
        """Possible values in words, with the unit; empty where all are."""
        return self._span(self.lowest, self.highest)

    def _span(self, low: float, high: float) -> str:
        if low == -inf and high == inf:
            return ""
        words = f"at least {low:g}" if high == inf else f"{low:g} to {high:g}"
        return self.with_unit(f"at most {high:g}" if low == -inf else words)

    def with_unit(self, number: float | str) -> str:
        """A number, or text, and the unit."""
        whole = not isinstance(number, str) and float(number).is_integer()
        text = number if isinstance(number, str) else f"{number:{'g' if whole else '.4g'}}"
        return text if self.unit == "1" else f"{text} {self.unit}"

    def severity(self, value: float) -> Severity | None:
        """Severity of a value outside the range; a value that is not a number is refused."""
        if not self.lowest <= value <= self.highest:
            return "refuse"
        tiny = 0.0 < abs(value) < self.least
        return "warn" if tiny or not self.low <= value <= self.high else None

    def judge(
        self,
        check: str,
        value: float,
        where: str,
        remedy: str = "",
        quantity: str = "",
        *,
        is_given: bool = True,
    ) -> Finding | None:
        """Finding about an unusual or impossible value.

        Parameters
        ----------
        check, where, remedy : str
            As of the finding; the remedy is by default the unit.
        value : float
            The value, in the unit of the range.
        quantity : str
            Name of the quantity where `where` does not say it.
        is_given : bool
            Whether the value is given by a user, so that usual slips may explain it.
        """
        severity = self.severity(value)
        if severity is None:
            return None
        found = f"{quantity} of {self.with_unit(value)}" if quantity else self.with_unit(value)
        expected = self.possible or "a number"
        if severity == "warn":
            low, high = max(self.low, self.lowest), min(self.high, self.highest)
            expected = f"{self._span(low, high)} usually"
            if 0.0 < abs(value) < self.least:
                expected = f"0, or {self.with_unit(self.least)} and more in size, usually"
        unit = "" if self.unit == "1" else f"Give it in {self.unit}, or correct it."
        explained = self.slips_of(value) if is_given else ""
        advice = " ".join(filter(None, (remedy or unit or "Correct it.", explained)))
        return Finding(check, severity, where, found, expected, advice)

    def slips_of(self, value: float) -> str:
        """Sentence on the usual slips by which a value is unusual; empty if none explains it."""
        if isnan(value) or not (isfinite(self.low) or isfinite(self.high)):
            return ""
        is_part = self.low >= 0.0 and self.high <= 1.0
        meant = {
            slip.name: slip.corrected(value)
            for slip in slips(self.unit)
            if is_part or slip.how != "less"
        }
        fitting = [
            f"{self.with_unit(right)} if it is {name}"
            for name, right in meant.items()
            if self.severity(right) is None
        ]
        return f"It would be {', '.join(fitting)}." if fitting else ""

    def __call__(self, schema: dict[str, Any]) -> None:
        """Add unit and limits to the JSON schema of a field."""
        schema["unit"] = self.unit
        for key, limit in zip(("minimum", "maximum"), (self.lowest, self.highest), strict=True):
            if isfinite(limit) and not self.of_width:
                schema[key] = limit
