"""Cases whose pressures leave the range the linear elastic model was validated in."""

from __future__ import annotations

import pandas as pd

from kneewear.regression.groups import covariates_of, drop_single_life, side_tables

PRESSURES = ("max_pressure", "avg_pressure")


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
        Yield stress of the polyethylene, MPa, as a limit of the average pressure.

    Returns
    -------
    DataFrame
        One row per case and side, with both pressures, MPa, and two flags.

    References
    ----------
    Bei, Y. (2003), sections 3.4.3 and 4.4: measured peaks of 25-35 MPa; yield at 14-23 MPa.
    """
    limits = dict(zip(PRESSURES, (pressure_limit, avg_pressure_limit), strict=True))
    columns = ["life", "case", *covariates_of(cases), "side"]
    columns += [f"{name}_mpa" for name in PRESSURES] + [f"{name}_above_limit" for name in PRESSURES]
    parts = [
        table[list(PRESSURES)]
        .reset_index()
        .assign(
            life=life,
            side=side,
            **{f"{name}_above_limit": table[name].to_numpy() > limits[name] for name in PRESSURES},
        )
        .rename(columns={name: f"{name}_mpa" for name in PRESSURES})
        for life, side, table in side_tables(cases)
    ]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return drop_single_life(table[columns])
