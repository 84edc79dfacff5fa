"""Statements of the source on pressure, thickness and body mass, and whether they hold here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import pandas as pd

from kneewear.sides import SIDES

DEPTHS = ("wear_depth", "creep_depth", "damage_depth")
OTHERS = (*DEPTHS, "damage_volume")
COLUMNS = ["statement", "side", "low", "high", "printed_tables", "here", "holds"]


@dataclass(frozen=True)
class Statement:
    """A sentence of section 4.3 or 4.4 of Bei (2003) as limits of a number.

    Parameters
    ----------
    text : str
        What is stated.
    column : str
        The number: r2, mm_per_10kg, a1 or a2.
    quantities : tuple of str
        Quantities it is about; the one nearest to or farthest beyond a limit decides.
    low, high : float
        Limits, as printed.
    predictor : str
        Pressure that r2 is of; empty for the others.
    """

    text: str
    column: str
    quantities: tuple[str, ...]
    low: float = -inf
    high: float = inf
    predictor: str = ""

    def margin(self, values: pd.Series) -> pd.Series:
        """How far values lie within the limits; negative outside."""
        below, above = values - self.low, self.high - values
        return below.where(below < above, above)


def _correlations(predictor: str, name: str) -> Iterator[Statement]:
    """Section 4.4 prints the smallest R2 for the largest pressure, `similar` for the other."""
    for what, quantities, low in (
        ("wear, creep and damage depth, the smallest", DEPTHS, 0.976),
        ("damage volume", ("damage_volume",), 0.732),
        ("damage area", ("damage_area",), 0.084),
    ):
        yield Statement(f"R² of {what}, on {name}", "r2", quantities, low, inf, predictor)


STATEMENTS = (
    *_correlations("max_pressure", "maximum pressure"),
    *_correlations("avg_pressure", "maximum average pressure"),
    Statement("Insert thickness worth 10 kg for wear depth (mm)", "mm_per_10kg",
              ("wear_depth",), 1.0, 2.0),
    Statement("Insert thickness worth 10 kg for damage volume (mm)", "mm_per_10kg",
              ("damage_volume",), 6.0, 7.0),
    Statement("a₁ of depths and volume, the largest (mm or mm³ per mm)", "a1", OTHERS, high=0.0),
    Statement("a₁ of damage area (mm² per mm)", "a1", ("damage_area",), low=0.0),
    Statement("a₂ of all, the smallest (mm, mm² or mm³ per kg)", "a2", (*OTHERS, "damage_area"),
              low=0.0),
)  # fmt: skip


def check_statements(correlation: pd.DataFrame, regression: pd.DataFrame) -> pd.DataFrame:
    """Check the statements of the source on trends.

    Parameters
    ----------
    correlation, regression : DataFrame
        Results of :func:`kneewear.regression.comparison.compare_correlation` and
        :func:`kneewear.regression.comparison.compare_regression`.

    Returns
    -------
    DataFrame
        One row per statement and side: its limits, the number from the printed tables (re-fitted,
        rounded as they are they do not keep every limit themselves), the number here, and whether
        the latter keeps the limits. A life column comes first when there are several. Empty, with
        its header, where nothing was fitted.

    References
    ----------
    Bei, Y. (2003), sections 4.3 and 4.4.
    """
    numbers = pd.concat(
        [correlation.rename(columns={"r2_published": "refit_r2"}), regression.assign(predictor="")]
    )
    lives = numbers["life"] if "life" in numbers else pd.Series("", index=numbers.index)
    rows = [
        {"life": life, "statement": one.text, "side": side, **found}
        for life in dict.fromkeys(lives)
        for one in STATEMENTS
        for side in SIDES
        for found in _found(one, numbers[(lives == life) & (numbers["side"] == side)])
    ]
    life = [name for name in ("life",) if name in numbers]
    return pd.DataFrame(rows, columns=[*life, *COLUMNS])


def _found(one: Statement, numbers: pd.DataFrame) -> Iterator[dict[str, object]]:
    """The deciding number of a side, if there is any."""
    own = numbers[
        numbers["quantity"].isin(one.quantities) & (numbers["predictor"] == one.predictor)
    ]
    margin, printed = one.margin(own[one.column]), own[f"refit_{one.column}"]
    if len(own) and margin.notna().all():
        yield {
            "low": one.low,
            "high": one.high,
            "printed_tables": printed.iloc[int(one.margin(printed).to_numpy().argmin())],
            "here": own[one.column].iloc[int(margin.to_numpy().argmin())],
            "holds": bool(margin.min() >= 0.0),
        }
