"""Statements of a source beside what was found."""

from __future__ import annotations

from typing import NamedTuple

from kneewear.studies.multibody.result import OWN_CHECK


class Statement(NamedTuple):
    """A statement of the source, what was found here, and whether it holds."""

    statement: str
    found: str
    unit: str
    expected: str
    holds: bool | str
    source: str


def stated(
    statement: str, source: str, expected: str, found: str, holds: bool, *, chosen: bool = False
) -> Statement:
    """A statement whose number found has its unit in the text; `chosen` inputs make it hold."""
    return Statement(
        statement, found, "", expected, "by choice" if chosen and holds else holds, source
    )


def energy_balance(error: float) -> Statement:
    """Whether what forces do is what bodies gain, relative to the largest kinetic energy."""
    found = f"{100.0 * error:.2g} %"
    return Statement("Balance of energy", found, "", "within 0.1 %", error < 1e-3, OWN_CHECK)
