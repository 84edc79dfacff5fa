"""How well contact pressure alone tells the damage (Bei 2003, section 4.4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.regression.groups import QUANTITIES, drop_single_life, side_tables, units_of

PREDICTORS = ("max_pressure", "avg_pressure")
COLUMNS = [
    "life",
    "side",
    "quantity",
    "unit",
    "predictor",
    "intercept",
    "slope_per_mpa",
    "r2",
    "cases",
]
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
        One row a side, quantity and predictor (max_pressure, avg_pressure) with intercept, slope
        and r2 of a straight line. A life column comes first when the study has several lives.
        Empty, with its header, for fewer than three cases.
    """
    rows: list[tuple[object, ...]] = []
    units = units_of(cases)
    for life, side, table in side_tables(cases):
        for quantity in QUANTITIES:
            for predictor in PREDICTORS:
                if quantity == predictor or len(table) < MIN_CASES:
                    continue
                line = _fit_line(table[predictor].to_numpy(), table[quantity].to_numpy())
                rows.append((life, side, quantity, units[quantity], predictor, *line, len(table)))
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
