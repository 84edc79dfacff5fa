"""Facts of an uncertainty study that its page shows, computed from its settings and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kneewear.report.tables import shown
from kneewear.report.wear_facts import MEASURED, retrieval_rows
from kneewear.sides import SIDES
from kneewear.studies.uncertainty.analysis import LARGEST_WIDTH, prediction_interval
from kneewear.studies.uncertainty.samples import column_name

# Outputs in figures and in the tables of the page; tables on disk hold all.
SHOWN = (
    "wear_depth", "creep_depth", "damage_depth", "wear_volume", "damage_volume", "damage_area",
    "max_pressure", "avg_pressure",
)  # fmt: skip
# Outputs and constants that sentences name.
KEY_OUTPUTS = ("damage_depth", "wear_volume", "max_pressure")
NAMED = 3


def most_important(found: pd.DataFrame, column: str) -> list[tuple[str, str, list[dict[Any, Any]]]]:
    """Quantity, side and the constants with the largest absolute values of a column."""
    rows = []
    for quantity in KEY_OUTPUTS:
        for side in SIDES:
            own = found[(found["quantity"] == quantity) & (found["side"] == side)]
            order = (-own[column].abs()).argsort(kind="stable")[:NAMED]
            rows.append((quantity, side, own.iloc[order].to_dict("records")))
    return rows


def convergence(found: pd.DataFrame) -> dict[str, Any]:
    """Whether variance-based indices have converged, and what convergence would take.

    Parameters
    ----------
    found : DataFrame
        Table of the variance-based indices.

    Returns
    -------
    dict
        `converged`; `limit` and `widest`, widths of intervals; `open`, number of outputs that have
        not converged; `blocks` of samples taken and `blocks_needed`.
    """
    known = found.dropna(subset=["first_error", "total_error"])
    done = known["converged"].astype(bool)
    needed = known["blocks_needed"].max()
    return {
        "converged": bool(len(known) and done.all()),
        "limit": LARGEST_WIDTH,
        "open": len(known.loc[~done, ["side", "quantity"]].drop_duplicates()),
        "widest": 2.0 * float(known[["first_error", "total_error"]].to_numpy().max(initial=0.0)),
        "blocks": int(known["blocks"].min()) if len(known) else 0,
        "blocks_needed": float(f"{needed:.2g}"),
    }


def with_errors(found: pd.DataFrame) -> pd.DataFrame:
    """Indices with half the width of their intervals as text."""
    return found.assign(
        **{
            name: [
                f"{shown(value, '.2f')} ± {error:.2f}"
                for value, error in zip(found[name], found[f"{name}_error"], strict=True)
            ]
            for name in ("first", "total")
        }
    )


def by_constant(found: pd.DataFrame, column: str, side: str) -> pd.DataFrame:
    """Constants down, outputs across, for one side."""
    own = found[(found["side"] == side) & found["quantity"].isin(SHOWN)]
    wide = own.pivot(index="constant", columns="quantity", values=column)
    return wide.reindex(index=list(dict.fromkeys(own["constant"]))).reset_index()


def beside_retrievals(
    samples: pd.DataFrame, retrievals: Mapping[str, Mapping[str, Any]], level: float
) -> pd.DataFrame:
    """Rates of whole inserts with their prediction interval beside those of retrieved ones."""
    drawn = samples[samples["role"] == "draw"]
    rates = {}
    for creep, (depth, volume) in MEASURED.items():
        linear, volumes = (
            drawn[[column_name(side, name) for side in SIDES]] for name in (depth, volume)
        )
        rates[creep] = pd.DataFrame(
            {
                "linear": linear.max(axis=1, skipna=False),
                "volume": volumes.sum(axis=1, skipna=False),
            }
        )
    rows = retrieval_rows(retrievals, rates)
    for row in rows:
        here = prediction_interval(row["values"].to_numpy(float), level)
        row["median"] = here.median
        row["interval"] = f"{shown(here.lower, '3')} to {shown(here.upper, '3')}"
        row["within"] = f"{100 * row['inside'].mean():.0f} %"
    return pd.DataFrame(rows)


def constant_rows(constants: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """What is uncertain, by how much, and its source."""
    return pd.DataFrame(
        {
            "constant": name,
            "settings": ", ".join(one["settings"]),
            "change": {"add": "plus", "multiply": "times 1 +"}[one["change"]],
            "distribution": f"{one['distribution']}, "
            f"{'±' if one['distribution'] == 'uniform' else 'σ'} {one['spread']:g}",
            "dimension": one["unit"],
            "source": one["source"],
        }
        for name, one in constants.items()
    )


def failures(samples: pd.DataFrame) -> list[str]:
    """Reasons of the samples that have no result."""
    reasons = samples["failure"].dropna()
    return [str(reason) for reason in reasons[reasons != ""]]
