"""Plausible ranges of quantities: the usual values, and the possible ones."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from kneewear.errors import Finding, Severity


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
        self, check: str, value: float, where: str, remedy: str = "", quantity: str = ""
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
        return Finding(check, severity, where, found, expected, remedy or unit or "Correct it.")

    def __call__(self, schema: dict[str, Any]) -> None:
        """Add unit and limits to the JSON schema of a field."""
        schema["unit"] = self.unit
        for key, limit in zip(("minimum", "maximum"), (self.lowest, self.highest), strict=True):
            if isfinite(limit) and not self.of_width:
                schema[key] = limit
