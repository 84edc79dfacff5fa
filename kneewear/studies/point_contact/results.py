"""Tables that multibody studies of every model leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd


class Statement(NamedTuple):
    """A statement of the source, what was found here, and whether it holds."""

    number: str
    statement: str
    source: str
    expected: str
    found: str
    holds: bool


def statement_table(rows: Sequence[Statement]) -> pd.DataFrame:
    """Table of statements; a row does not hold where the number found contradicts it."""
    return pd.DataFrame(rows, columns=Statement._fields)
