"""Numbers printed in the literature beside computed ones: one judgement for all tables.

A printed number is a row of a table (CSV): `quantity`, `source`, `published` with its `tolerance`,
or limits `low` and `high` for what is printed as an inequality, `unit`, and `remark`: empty, or the
verdict `NOT_PRINTED`, `SOURCE_ERROR` or `UNDECIDED`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
# The computed number depends on inputs that the source does not print.
NOT_PRINTED = "input not printed"
# Inputs that the source does not print were chosen such that the number is near: no evidence.
AIM = "aim of the choice"
# The printed number contradicts other numbers or equations of its source.
SOURCE_ERROR = "error of the source"
# The test cannot fail, or small changes of input move the number by more than its tolerance.
UNDECIDED = "not decided"
# Sources of numbers that this software checks itself by; one that differs is a warning.
EQUILIBRIUM = "equilibrium"
ENERGY = "conservation of energy"
ENDS = "contact at ends of surfaces"
OWN_CHECKS = (EQUILIBRIUM, ENERGY, ENDS)
VERDICTS = (REPRODUCED, NOT_REPRODUCED, NOT_PRINTED, AIM, SOURCE_ERROR, UNDECIDED)
NUMBERS = ("published", "tolerance", "low", "high")
COLUMNS = ("quantity", "source", *NUMBERS, "computed", "unit", "verdict")


class ComparedNumber(NamedTuple):
    """A computed number beside a measured one or the limits of a target.

    Of an rms difference from a measurement, `constant_mean` is that of the measurement's own mean,
    which a model has to beat.
    """

    quantity: str
    case: str
    computed: float
    unit: str
    source: str
    published: float = np.nan
    low: float = np.nan
    high: float = np.nan
    constant_mean: float = np.nan


def rms_number(
    quantity: str,
    case: str,
    computed: NDArray[np.float64],
    measured: NDArray[np.float64],
    unit: str,
    source: str,
    high: float = np.nan,
) -> ComparedNumber:
    """Rms difference of two curves (n,), and that of the constant mean of the measured one."""
    error = float(np.sqrt(np.mean((computed - measured) ** 2)))
    mean = float(np.std(measured))
    return ComparedNumber(quantity, case, error, unit, source, high=high, constant_mean=mean)


def judge_numbers(numbers: Iterable[ComparedNumber]) -> pd.DataFrame:
    """Table of `judge_number` for numbers whose targets are settings or measurements.

    Where there are rms differences from measurements it has also the columns `constant_mean` and
    `skill`: 1 - (rms / constant mean)^2, which is 1 for no error, 0 for that of the constant mean
    of the measurement, and negative for a worse one.
    """
    table = pd.DataFrame(list(numbers), columns=list(ComparedNumber._fields))
    keys = ["quantity", "case"]
    given = table.drop(columns=["computed", "constant_mean"])
    judged = judge_number(given, table[[*keys, "computed"]])
    if table["constant_mean"].notna().any():
        judged = judged.merge(table[[*keys, "constant_mean"]], on=keys, how="left")
        ratio = judged["computed"] / judged["constant_mean"].replace(0.0, np.nan)
        judged["skill"] = 1.0 - ratio**2
    return judged


def published_rows(package: str, name: str = "literature") -> pd.DataFrame:
    """Printed numbers in a CSV file of a package; lines that begin with # are comments."""
    with files(package).joinpath(f"{name}.csv").open("r", encoding="utf-8") as file:
        empty = {key: [""] for key in NUMBERS}
        return pd.read_csv(file, comment="#", keep_default_na=False, na_values=empty).astype(
            {"quantity": str}
        )


def computed_rows(values: Mapping[str, float | Mapping[str, float]]) -> pd.DataFrame:
    """Computed numbers by quantity, or by quantity and case, as `judge` takes them."""
    rows = [
        (quantity, case, float(number))
        for quantity, value in values.items()
        for case, number in (value if isinstance(value, Mapping) else {"": value}).items()
    ]
    return pd.DataFrame(rows, columns=["quantity", "case", "computed"])


def judge_number(
    rows: pd.DataFrame,
    computed: pd.DataFrame,
    aims: Collection[str | tuple[str, str]] = (),
    undecided: Collection[tuple[str, str]] = (),
) -> pd.DataFrame:
    """Compare computed numbers with printed ones.

    Parameters
    ----------
    rows : DataFrame
        Printed numbers: `quantity`, `source`, `unit` and columns of `NUMBERS` and `remark`; absent
        columns count as empty. Further columns are keys.
    computed : DataFrame
        `computed` and keys, at least `quantity`. Keys of this table alone, such as `case`, give
        several rows for one printed number.
    aims : collection of str or (str, str)
        Quantities, or quantities and cases, for which inputs that are not printed were chosen.
    undecided : collection of (str, str)
        Quantities and cases whose test cannot fail in this run.

    Returns
    -------
    DataFrame
        `COLUMNS` and the keys, in the order of the printed numbers; quantities that were not
        computed are left out. The verdict is "holds" from `low` to `high`, by default `published`
        less and plus its tolerance, else (also for NaN) "does not hold"; the remark "input not
        printed" and "not decided" replace both, "error of the source" the latter, and `AIM` all of
        them for `aims`. It is empty without limits.
    """
    keys = [name for name in computed if name != "computed"]
    optional = {name: np.nan for name in NUMBERS if name not in rows}
    printed = rows.assign(**optional, remark=rows.get("remark", default="")).astype(
        dict.fromkeys(NUMBERS, float) | {"remark": object}
    )
    table = printed.merge(computed, on=[name for name in keys if name in rows])
    low, high = limits(table)
    within = (table["computed"] >= low) & (table["computed"] <= high)
    remark = table["remark"].fillna("")
    if undecided:
        cases = zip(table["quantity"], table["case"], strict=True)
        remark = remark.mask(np.array([case in undecided for case in cases]), UNDECIDED)
    unknown = set(remark) - {"", NOT_PRINTED, SOURCE_ERROR, UNDECIDED}
    if unknown:
        raise ValueError(f"remarks {sorted(unknown)} are not known")
    verdict = np.where(
        within, REPRODUCED, np.where(remark == SOURCE_ERROR, SOURCE_ERROR, NOT_REPRODUCED)
    )
    verdict = np.where(np.isinf(low) & np.isinf(high), "", verdict)
    verdict = np.where(remark.isin([NOT_PRINTED, UNDECIDED]), remark, verdict)
    cases = zip(table["quantity"], table.get("case", table["quantity"]), strict=True)
    aimed = [quantity in aims or (quantity, case) in aims for quantity, case in cases]
    table["verdict"] = np.where(aimed, AIM, verdict)
    others = [name for name in keys if name != "quantity"]
    return table[["quantity", *others, *COLUMNS[1:]]]


def limits(rows: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Lowest and highest value that agree with each printed number; infinite without one."""
    low = rows["low"].fillna(rows["published"] - rows["tolerance"]).fillna(-np.inf)
    high = rows["high"].fillna(rows["published"] + rows["tolerance"]).fillna(np.inf)
    return low, high
