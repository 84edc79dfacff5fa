"""Rates of wear by side, and beside those of retrieved inserts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kneewear.report.names import unit_name
from kneewear.report.sections import Table, make_table, shown

RATES = (
    ("max_wear_depth", "Largest wear depth"),
    ("max_creep_depth", "Largest creep depth"),
    ("wear_volume", "Wear volume"),
    ("creep_volume", "Creep volume"),
    ("linear_wear_rate", "Largest wear depth a year"),
    ("linear_penetration_rate", "Largest damage depth a year"),
    ("volumetric_wear_rate", "Wear volume a year"),
    ("volumetric_penetration_rate", "Damage volume a year"),
    ("mass_loss", "Mass lost by wear"),
    ("cross_shear", "Cross-shear ratio, mean of the wear volume"),
)
# Of all that is missing, and of material worn off: loss of thickness and of volume a year.
MEASURED = {
    True: ("linear_penetration_rate", "volumetric_penetration_rate"),
    False: ("linear_wear_rate", "volumetric_wear_rate"),
}


def rates_table(cases: pd.DataFrame) -> Table:
    """Depths, volumes, rates and mass loss by side, as ranges over the cases."""
    rows = []
    for quantity, text in RATES:
        for side in ("medial", "lateral"):
            chosen = cases[(cases["quantity"] == quantity) & (cases["side"] == side)]
            values = chosen["value"].dropna()
            if len(values):
                unit = unit_name(chosen["unit"].iloc[0])
                rows.append((text, side, unit, values.min(), values.median(), values.max()))
    head = ["Quantity", "Side", "Unit", "Smallest", "Median", "Largest"]
    return make_table("Wear, creep and their rates, over all cases", head, rows)


def insert_rates(cases: pd.DataFrame, includes_creep: bool) -> pd.DataFrame:
    """Loss of thickness and of volume of whole inserts.

    Parameters
    ----------
    cases : DataFrame
        Tidy case table.
    includes_creep : bool
        Whether all that is missing counts, or material worn off.

    Returns
    -------
    DataFrame
        One row a life and case; columns linear (the larger of both sides, mm/year) and volume
        (both sides together, mm3/year).
    """
    linear, volume = MEASURED[includes_creep]
    by_case = cases.groupby(["life", "case", "quantity"])["value"]
    # NaN stands for a life of no length and must not turn into zero.
    wide_max, wide_sum = by_case.max().unstack(), by_case.sum(min_count=2).unstack()
    return pd.DataFrame({"linear": wide_max[linear], "volume": wide_sum[volume]})


def retrieval_table(cases: pd.DataFrame, retrievals: Mapping[str, Mapping[str, Any]]) -> Table:
    """Computed rates of whole inserts beside published ones."""
    rows = []
    for name, group in retrievals.items():
        computed = insert_rates(cases, group["includes_creep"])
        for key, column, text, unit in (
            ("linear_mm_per_year", "linear", "thickness", "mm/year"),
            ("volume_mm3_per_year", "volume", "volume", "mm³/year"),
        ):
            rate, values = group[key], computed[column].dropna()
            if rate is not None and len(values):
                inside = values.between(rate["low"], rate["high"]).sum()
                rows.append(
                    (
                        name,
                        f"{text}, {'with' if group['includes_creep'] else 'without'} creep",
                        unit,
                        rate["mean"],
                        f"{shown(rate['low'])} to {shown(rate['high'])}",
                        group["spread"],
                        f"{shown(values.min(), 3)} to {shown(values.max(), 3)}",
                        f"{inside} of {len(values)}",
                        group["source"].partition(",")[0],
                    )
                )
    head = [
        "Inserts", "Loss of", "Unit", "Mean", "From, to", "which is the",
        "Here", "Cases within", "Source",
    ]  # fmt: skip
    return make_table("Beside retrieved inserts", head, rows)
