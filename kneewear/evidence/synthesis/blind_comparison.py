"""Stored predictions of the blind conditions beside the results that were looked for afterwards."""

from __future__ import annotations

from typing import Any

import pandas as pd

from kneewear.evidence.synthesis import blind, blind_hierarchy

# Names of the predictions, and their files.
MODELS = {"one factor": blind.PREDICTIONS, "laws": blind_hierarchy.PREDICTIONS}


def compare_blind() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Results beside both predictions, and how many are within the intervals.

    Returns
    -------
    results : DataFrame
        Columns id, quantity, unit, measured, seen, and of each model low, median, high, inside.
    counts : DataFrame
        Columns model, seen, quantity (rates or ratios), inside, asked. Conditions whose result was
        quoted in the project before are counted apart: they are no blind test.
    """
    published = blind.table("blind_results").set_index("id")["published"].astype(float)
    stored = {
        name: blind.table(file.removesuffix(".csv")).set_index(["id", "quantity"])
        for name, file in MODELS.items()
    }
    over = blind.conditions().set_index("id")["ratio_to"]
    rows, kinds = [], []
    for number, (name, quantity) in enumerate(stored["laws"].index):
        own = stored["laws"].iloc[number]
        measured, other = published[name], over[name]
        is_ratio = bool(other) and quantity == blind.ratio_over(other)
        kinds.append("ratios" if is_ratio else "rates")
        if is_ratio:
            measured = measured / published[other]
        row: dict[str, Any] = {"id": name, "quantity": quantity, "unit": own["unit"]}
        row["seen"] = own["seen"]
        row["measured"] = measured
        for model, table in stored.items():
            if (name, quantity) not in table.index:  # a class without an interval
                continue
            low, median, high = (float(str(table.at[(name, quantity), end])) for end in _ENDS)
            row |= {f"{model} low": low, f"{model} median": median, f"{model} high": high}
            row[f"{model} inside"] = low <= measured <= high
        rows.append(row)
    results = pd.DataFrame(rows)
    counts = []
    for model in MODELS:
        known = results.assign(kind=kinds)[results[f"{model} inside"].notna()]
        for (seen, what), group in known.groupby(["seen", "kind"], sort=False):
            inside = int(group[f"{model} inside"].astype(bool).sum())
            counts.append(
                {
                    "model": model,
                    "seen": seen,
                    "quantity": what,
                    "inside": inside,
                    "asked": len(group),
                }
            )
    return results, pd.DataFrame(counts)


_ENDS = ("low", "median", "high")
