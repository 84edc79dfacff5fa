"""A small table of the default study's results, against which later versions are held.

    python -m tests.workflow.pinned_results results/default

renews it from a finished default study. It changes only together with a line in
`CHANGELOG.md` under Results. On one type of processor and one lock results are equal to the last
bit; other machines and library versions agree within the tolerance of the table.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

TABLE = Path(__file__).with_name("pinned_results.csv")
KEY = ["case", "life", "side", "quantity", "unit"]

# Corners and centre of the design.
CASES = ("6mm_50kg", "6mm_150kg", "10mm_100kg", "14mm_50kg", "14mm_150kg")

QUANTITIES = (
    "max_pressure",
    "avg_pressure",
    "wear_depth_at_deepest_damage",
    "creep_depth_at_deepest_damage",
    "damage_depth",
    "damage_area",
    "damage_volume",
)

# Forward dynamics errs in a step by at most 1e-4 of 0.1 mm, and where the bearing hardly holds the
# medial-lateral position a last digit grows to that: 0.02 MPa of 47 MPa between two roundings. An
# area changes by whole elements, one in some hundreds.
TOLERANCE = 1e-3
AREA_TOLERANCE = 5e-3


def chosen_results(results: Path) -> pd.DataFrame:
    """Rows of the pinned table as a results folder has them, indexed by all but the value."""
    cases = pd.read_csv(results / "tables" / "cases.csv")
    chosen = cases[cases["case"].isin(CASES) & cases["quantity"].isin(QUANTITIES)]
    return chosen.set_index(KEY)[["value"]].sort_index()


def pinned_results() -> pd.DataFrame:
    """The pinned table: value and relative tolerance."""
    return pd.read_csv(TABLE).set_index(KEY).sort_index()


def write_pinned_results(results: Path) -> None:
    """Renew the table."""
    table = chosen_results(results)
    is_area = table.index.get_level_values("quantity") == "damage_area"
    table["relative_tolerance"] = [AREA_TOLERANCE if area else TOLERANCE for area in is_area]
    table.reset_index().to_csv(TABLE, index=False, float_format="%.9g", lineterminator="\n")


if __name__ == "__main__":
    write_pinned_results(Path(sys.argv[1]))
