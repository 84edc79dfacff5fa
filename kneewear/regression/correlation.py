"""Regression of the damage on contact pressure alone (Bei 2003, section 4.4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.regression.groups import QUANTITIES, drop_single_life, side_tables, units_of

PREDICTORS = ("max_pressure", "avg_pressure")
COLUMNS = [
    "life", "side", "quantity", "unit", "predictor", "intercept", "slope_per_mpa", "r2", "cases",
]  # fmt: skip
MIN_CASES = 3


def correlate_pressure(cases: pd.DataFrame) -> pd.DataFrame:
    """Regress each damage quantity on the maximum and on the maximum average pressure.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.

    Returns
    -------
    DataFrame
        One row per side, quantity and predictor (max_pressure, avg_pressure) with intercept, slope
        and r2 of a straight line. A life column comes first when the study has several lives.
        Empty, with its header, for fewer than three cases.
    """
    units = units_of(cases)
    rows = [
        (life, side, quantity, units[quantity], predictor,
         *_fit_line(table[predictor].to_numpy(), table[quantity].to_numpy()), len(table))
        for life, side, table in side_tables(cases)
        if len(table) >= MIN_CASES
        for quantity in QUANTITIES
        for predictor in PREDICTORS
        if quantity != predictor
    ]  # fmt: skip
    return drop_single_life(pd.DataFrame(rows, columns=COLUMNS))


def _fit_line(
    predictor: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Intercept, slope and r2 of the least-squares line; NaN when either does not vary."""
    x, y = predictor - predictor.mean(), values - values.mean()
    spread = float(x @ x), float(y @ y)
    if not min(spread) > 0.0:
        return float("nan"), float("nan"), float("nan")
    slope = float(x @ y) / spread[0]
    return float(values.mean() - slope * predictor.mean()), slope, slope**2 * spread[0] / spread[1]
