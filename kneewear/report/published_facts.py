"""Facts of the comparison with published values and of the calibration on them."""

from __future__ import annotations

from itertools import product
from typing import Any

import pandas as pd

from kneewear.regression.groups import QUANTITIES

# Targets of a calibration: median and largest error of the cells that were not fitted, per cent
# beyond rounding, and the number of constants.
TARGETS = {"all others": (2.0, 6.0), "average pressure": (4.0, 10.0)}
MOST_CONSTANTS = 20
TITLES = {"all others": "All but average pressure", "average pressure": "Average pressure"}


def error_statistics(comparison: pd.DataFrame) -> pd.DataFrame:
    """Sizes of the errors in per cent by quantity and over all, fitted cells apart."""
    rows = []
    for quantity, used in product([*QUANTITIES, "all"], (False, True)):
        chosen = comparison[comparison["calibration"] == used]
        if quantity != "all":
            chosen = chosen[chosen["quantity"] == quantity]
        error, beyond = (
            100.0 * chosen[name] for name in ("relative_error", "error_beyond_rounding")
        )
        size = error.abs()
        rows.append(
            {
                "quantity": quantity,
                "cells": "fitted" if used else "not fitted",
                "design": len(chosen[["thickness_mm", "body_mass_kg"]].drop_duplicates()),
                "number": len(size),
                "mean": error.mean(),
                "median": size.median(),
                "most": size.quantile(0.95),
                "largest": size.max(),
                "median_beyond": beyond.median(),
                "largest_beyond": beyond.max(),
            }
        )
    return pd.DataFrame([row for row in rows if row["number"]])


def fitted_range(comparison: pd.DataFrame, extra_mm: float) -> dict[str, Any]:
    """Range of body mass x local thickness of the fitted cells, and errors in and beyond it."""
    product_ = comparison["body_mass_kg"] * (comparison["thickness_mm"] + extra_mm)
    fitted = product_[comparison["calibration"].astype(bool)]
    inside = product_.between(fitted.min(), fitted.max())
    error = 100.0 * comparison["relative_error"].abs()
    return {
        "low": fitted.min(),
        "high": fitted.max(),
        "inside": error[inside].max(),
        "outside": error[~inside].max(),
    }


def printed_tables(comparison: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Computed and printed values of each published table, with their difference."""
    rows = comparison.assign(
        difference=comparison["computed"] - comparison["published"],
        percent=100.0 * comparison["relative_error"],
    )
    return {str(name): own for name, own in rows.groupby("table", sort=False)}


def fewer_constants(trade_off: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Errors of the cells not fitted by number of constants, of each group of quantities."""
    unused = trade_off[trade_off["cells"] == "not fitted"].sort_values("constants")
    return {str(name): rows for name, rows in unused.groupby("quantities", sort=False)}
