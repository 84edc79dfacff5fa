"""Cases whose pressures leave the range the linear elastic model was validated in."""

from __future__ import annotations

import pandas as pd

from kneewear.regression.groups import drop_single_life, side_tables

COLUMNS = [
    "life",
    "case",
    "thickness_mm",
    "body_mass_kg",
    "side",
    "max_pressure_mpa",
    "avg_pressure_mpa",
    "max_pressure_above_limit",
    "avg_pressure_above_limit",
]


def flag_validity(
    cases: pd.DataFrame, pressure_limit: float, avg_pressure_limit: float
) -> pd.DataFrame:
    """Mark the cases beyond the model's validity.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.
    pressure_limit : float
        Highest peak pressure of the experiments that validated the model, MPa.
    avg_pressure_limit : float
        Yield stress of the polyethylene, MPa, taken as a limit of the average pressure.

    Returns
    -------
    DataFrame
        One row a case and side, with both pressures, MPa, and two flags.

    References
    ----------
    Bei, Y. (2003), sections 3.4.3 and 4.4: measured peaks of 25-35 MPa; yield at 14-23 MPa.
    """
    rows = []
    for life, side, table in side_tables(cases):
        pressures = table[["max_pressure", "avg_pressure"]].reset_index()
        for case, thickness, mass, peak, mean in pressures.itertuples(index=False):
            flags = (bool(peak > pressure_limit), bool(mean > avg_pressure_limit))
            rows.append((life, case, thickness, mass, side, peak, mean, *flags))
    return drop_single_life(pd.DataFrame(rows, columns=COLUMNS))
