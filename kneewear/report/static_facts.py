"""Facts of a static study that its page and figures show, computed from its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from kneewear.sides import POST, SIDES

CASE = ["material", "flexion_deg", "posterior_mm", "load_n"]
PRESSURES = ("max_pressure_mpa", "avg_pressure_mpa")
# Loaded elements, and the largest error there by Bei (2003), section 3.2.3, per cent.
PUBLISHED_BOUNDS = {25: 10.0, 50: 5.0}
SCANNED = ("max_pressure", "avg_pressure", "centre_posterior")


def bearing_ranges(static: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Range of the pressures over all cases, by material and quantity."""
    bearing = static[static["side"].isin(SIDES) & static["quantity"].str.endswith("_pressure")]
    ranges = bearing.groupby(["quantity", "material"], sort=False)["value"]
    wide = ranges.agg(lambda values: f"{values.min():.1f} to {values.max():.1f}").unstack(0)
    return {str(name): wide.loc[name].to_dict() for name in dict.fromkeys(static["material"])}


def post_contact(static: pd.DataFrame) -> pd.DataFrame | None:
    """Forces of the cases in which cam and post touch; None without a post."""
    post = static[(static["side"] == POST) & (static["quantity"] == "force_posterior")]
    return None if post.empty else post[post["value"] != 0.0]


def scans_positions(static: pd.DataFrame) -> bool:
    """Whether several held positions were solved."""
    return bool(static["posterior_mm"].nunique() > 1)


def position_scan(static: pd.DataFrame) -> pd.DataFrame:
    """Held positions by quantity and side, for the first material and flexion and largest load."""
    chosen = static[
        (static["material"] == static["material"].iloc[0])
        & (static["flexion_deg"] == static["flexion_deg"].iloc[0])
        & (static["load_n"] == static["load_n"].max())
        & static["side"].isin(SIDES)
    ]
    wide = chosen.pivot_table(index="posterior_mm", columns=["quantity", "side"], values="value")
    # A side that never touches has no centre of pressure.
    return wide.reindex(columns=pd.MultiIndex.from_product([SCANNED, SIDES]))


def scan_results(static: pd.DataFrame) -> dict[str, Any]:
    """Largest pressures over the held position, and how far medial contact is ahead of lateral."""
    curves = position_scan(static)
    peaks = curves["max_pressure"].T.max()
    ahead = curves["centre_posterior", "lateral"] - curves["centre_posterior", "medial"]
    return {
        "worst": peaks.idxmax(), "worst_mpa": peaks.max(),
        "best": peaks.idxmin(), "best_mpa": peaks.min(),
        "ahead": int((ahead > 0.0).sum()), "positions": len(ahead),
        "least_mm": ahead.min(), "most_mm": ahead.max(),
    }  # fmt: skip


def worst_residual(static: pd.DataFrame) -> float:
    """Largest imbalance along the free coordinates, part of the load."""
    return float(static.loc[static["quantity"] == "residual", "value"].max())


def overall(comparison: pd.DataFrame) -> list[dict[Any, Any]]:
    """Differences of the materials over all loads."""
    rows = comparison[comparison["load_n"].isna()]
    return rows.dropna(axis="columns", how="all").to_dict("records")


def loads_below(comparison: pd.DataFrame, whole: Mapping[str, Any]) -> list[float]:
    """Loads at which a material's mean difference is below all measured ones."""
    own = comparison[
        (comparison["quantity"] == whole["quantity"])
        & (comparison["material"] == whole["material"])
        & comparison["load_n"].notna()
    ]
    return [float(x) for x in own.loc[own["mean_mpa"] < whole["measured_least_mpa"], "load_n"]]


def material_table(comparison: pd.DataFrame) -> pd.DataFrame:
    """Differences of the materials' pressures with the loads as text."""
    loads = ["all" if pd.isna(load) else f"{load:g}" for load in comparison["load_n"]]
    return comparison.assign(load_n=loads)


def case_table(static: pd.DataFrame) -> pd.DataFrame:
    """Pressures and forces, one row per case and side that touches."""
    wide = static.pivot_table(
        index=[*CASE, "side"], columns="quantity", values="value", sort=False
    ).reset_index()
    return wide[wide["active_elements"] > 0]


def convergence_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Errors against the median of the greatest number of elements, per cent.

    Parameters
    ----------
    table : DataFrame
        Result of `kneewear.studies.static.element_study.study_active_elements`.

    Returns
    -------
    DataFrame
        Columns quantity, wanted, active_elements (median), median_percent and greatest_percent of
        the absolute errors over positions and sides.
    """
    rows = []
    for quantity in PRESSURES:
        reference = table.loc[table["wanted"] == table["wanted"].max(), quantity].median()
        for wanted, part in table.groupby("wanted"):
            error = 100.0 * (part[quantity] / reference - 1.0).abs()
            rows.append(
                {
                    "quantity": quantity.removesuffix("_mpa"),
                    "wanted": wanted,
                    "active_elements": float(part["active_elements"].median()),
                    "median_percent": float(error.median()),
                    "greatest_percent": float(error.max()),
                }
            )
    return pd.DataFrame(rows)


def division_errors(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Deviation from the finest grid, per cent, rows by columns, the finest left out."""
    values = table.pivot(index="rows", columns="columns", values=quantity)
    finest = float(np.asarray(values)[-1, -1])
    return 100.0 * (values / finest - 1.0).iloc[:-1, :-1]
