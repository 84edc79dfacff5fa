"""Intervals of a study on one axis: its result, what the interval is made of, and measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kneewear.report.derived import Tables, select
from kneewear.report.specification import BarsPart
from kneewear.report.tables import shown, span
from kneewear.report.values import Values

_TICKS = 4


@dataclass(frozen=True)
class Tick:
    """A value of the axis and its position in per cent of the width."""

    text: str
    at: float


@dataclass(frozen=True)
class Row:
    """A row: what it is, its numbers as text, and band and dot in per cent of the width."""

    kind: str
    label: str
    text: str
    left: float | None
    width: float | None
    dot: float | None


@dataclass(frozen=True)
class Bars:
    """Rows on one axis from zero."""

    title: str
    unit: str
    note: str
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]


def interval_bars(part: BarsPart, tables: Tables) -> Bars | None:
    """Rows of all selections of a chart whose tables the study has; None without any."""
    charted = []
    for rows in part.rows:
        for record in select(tables, rows).to_dict("records"):
            named = {str(name): value for name, value in record.items()}
            label = Values({"settings": tables.settings} | named).text(rows.label)
            ends = [_number(named.get(column)) for column in (rows.value, rows.low, rows.high)]
            if label is not None and any(end is not None for end in ends):
                charted.append((rows.kind, label, ends))
    values = [end for _, _, ends in charted for end in ends if end is not None]
    if not values or max(values) <= 0.0:
        return None
    step, top = _axis(max(values))
    ticks = tuple(
        Tick(f"{value:g}", 100.0 * value / top) for value in np.arange(0.0, top - 0.2 * step, step)
    )
    rows_of = tuple(_row(kind, label, ends, top) for kind, label, ends in charted)
    return Bars(part.title, part.unit, part.note, rows_of, ticks)


def _row(kind: str, label: str, ends: list[float | None], top: float) -> Row:
    value, low, high = ends
    between = "" if low is None or high is None else span((low, high), "2")
    text = between if value is None else shown(value, "2") + (f" ({between})" if between else "")
    left = width = None
    if low is not None and high is not None:
        left, width = _percent(low, top), _percent(high - low, top)
    return Row(kind, label, text, left, width, None if value is None else _percent(value, top))


def _percent(value: float, top: float) -> float:
    return round(100.0 * value / top, 2)


def _axis(largest: float) -> tuple[float, float]:
    """Step of round values, and the end of the axis."""
    power = 10.0 ** math.floor(math.log10(largest / _TICKS))
    step = power * next(one for one in (1, 2, 5, 10) if one * power * _TICKS >= largest)
    return step, 1.02 * largest


def _number(value: object) -> float | None:
    """Number of a cell; None for what is none."""
    if not isinstance(value, int | float | np.number):
        return None
    number = float(value)
    return number if math.isfinite(number) else None
