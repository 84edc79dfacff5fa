"""Quantities that two inputs state, which must agree.

A room or slice lists the pairs that it knows as declarations, and `disagreements` evaluates them.
The limits of a pair are a row of a table `checks.csv`: the range of the ratio of both values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from kneewear.base.checks import checks
from kneewear.base.ranges import Range, slips
from kneewear.errors import Finding


class Statement(NamedTuple):
    """A number or a word, and the key or the file and column that states it."""

    value: float | str
    where: str


@dataclass(frozen=True)
class Agreement:
    """One quantity that is stated twice.

    Parameters
    ----------
    check : str
        Name of the check whose range is the range of the first number over the second one; words
        agree if they are the same.
    unit : str
        Unit of both values; "1" without one.
    statements : callable
        Yields pairs of statements of a subject: both values of one quantity each.
    remedy : str
        What to do, as a sentence.
    """

    check: str
    unit: str
    statements: Callable[[Any], Iterable[tuple[Statement, Statement]]]
    remedy: str


def disagreements(pairs: Iterable[Agreement], subject: Any) -> Iterator[Finding]:
    """Yield a finding for each pair of statements that do not agree.

    Parameters
    ----------
    pairs : iterable of Agreement
        Declarations of one room or slice.
    subject : object
        What its pairs are stated by: a study, or an activity with its curves.

    Notes
    -----
    A finding is about the first statement, names the second one, and lists the usual slips of the
    unit that explain their difference.
    """
    for pair in pairs:
        for first, second in pair.statements(subject):
            finding = _compare(pair, first, second)
            if finding is not None:
                yield finding


def _compare(pair: Agreement, first: Statement, second: Statement) -> Finding | None:
    """Finding about two statements of one quantity; None if they agree."""
    check, span = checks()[pair.check], Range.unlimited(pair.unit, "")

    def agree(one: float | str, other: float | str) -> bool:
        if isinstance(one, str) or isinstance(other, str):
            return one == other
        return check.range.severity(_ratio(one, other)) is None

    if agree(first.value, second.value):
        return None
    explained = [
        slip.name
        for slip in slips(pair.unit)
        if not isinstance(first.value, str) and agree(slip.corrected(first.value), second.value)
    ]
    slip = f"They would agree if the first is {', or '.join(explained)}." if explained else ""
    return Finding(
        pair.check,
        "note" if check.is_note else "warn",
        first.where,
        f"{check.quantity} of {span.with_unit(first.value)}",
        f"{span.with_unit(second.value)}, as {second.where} states",
        " ".join(filter(None, (pair.remedy, slip))),
    )


def _ratio(first: float, second: float) -> float:
    """First value over the second one: 1 for two zeros, infinite over zero."""
    if second == 0.0:
        return 1.0 if first == 0.0 else inf
    return first / second
