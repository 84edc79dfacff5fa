"""Units in the titles of columns."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

# A unit at the end of a title in brackets or after a comma, or its last words joined by "_".
_BRACKETS = re.compile(r"[\[(]([^\[\]()]+)[\])]\s*$|,\s*([^,]+)$")
_WORDS = 2


@cache
def _units() -> dict[tuple[str, str], tuple[float, bool]]:
    """Factors from a unit of titles to the one of a quantity; True if readers apply it."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["title"], row["unit"]): (float(row["factor"]), bool(row["is_converted"]))
            for row in csv.DictReader(file)
        }


def unit_factor(title: str, unit: str) -> float | None:
    """Size of the unit that a title of a column ends with, in another unit.

    Parameters
    ----------
    title : str
        Title, such as "Mx [N m]" or "ap_force_n".
    unit : str
        Unit that its values are read in: N, body weights, N m, deg or mm.

    Returns
    -------
    float or None
        None where the title has no unit of that quantity. Body weights are of 75 kg.
    """
    place = _find(title, unit)
    return None if place is None else place[0]


def is_converted(title: str, unit: str) -> bool:
    """True if readers of curves convert the unit that a title ends with to another one."""
    place = _find(title, unit)
    return place is not None and place[1]


def _find(title: str, unit: str) -> tuple[float, bool] | None:
    match = _BRACKETS.search(title.strip())
    if match:
        written = (match[1] or match[2]).strip().lower()
        return _units().get((" ".join(written.split()), unit))
    words = title.strip().lower().split("_")
    for count in range(min(_WORDS, len(words) - 1), 0, -1):
        found = _units().get(("_".join(words[-count:]), unit))
        if found is not None:
            return found
    return None
