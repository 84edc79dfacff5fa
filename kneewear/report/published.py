"""What Bei (2003) prints beside what is computed: Tables A-1, B-1 and C-1, and statements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from kneewear.report.names import quantity_name, unit_name
from kneewear.report.sections import Table, make_table, shown, signed


def published_tables(comparison: pd.DataFrame) -> Iterator[Table]:
    """One table for each printed one.

    Parameters
    ----------
    comparison : DataFrame
        Table of :func:`kneewear.regression.comparison.compare_published`.

    Yields
    ------
    Table
        A row a thickness, mass, side and quantity: computed, printed, and the difference in the
        quantity's unit and in per cent of the printed value.
    """
    for name, own in comparison.groupby("table", sort=False):
        life = ["life"] if "life" in own else []
        rows = [
            (
                *(row[key] for key in life),
                row["thickness_mm"],
                row["body_mass_kg"],
                row["side"],
                f"{quantity_name(row['quantity'])} ({unit_name(row['unit'])})",
                row["computed"],
                row["published"],
                row["computed"] - row["published"],
                signed(100.0 * row["relative_error"]),
                bool(row["calibration"]),
            )
            for row in own.to_dict("records")
        ]
        head = [
            *(key.capitalize() for key in life), "Thickness (mm)", "Body mass (kg)", "Side",
            "Quantity", "Here", "Printed", "Difference", "Difference (%)", "Fitted",
        ]  # fmt: skip
        yield make_table(f"Table {name} of Bei (2003): here, printed, difference", head, rows)


def statement_table(statements: pd.DataFrame) -> Table:
    """What the source states in words, and whether it holds here.

    Parameters
    ----------
    statements : DataFrame
        Table of :func:`kneewear.regression.check_statements`.
    """
    life = ["life"] if "life" in statements else []
    rows = [
        (
            *(row[key] for key in life),
            row["statement"],
            row["side"],
            _limits(row["low"], row["high"]),
            shown(row["printed_tables"], 3),
            shown(row["here"], 3),
            bool(row["holds"]),
        )
        for row in statements.to_dict("records")
    ]
    head = [
        *(key.capitalize() for key in life),
        "Statement", "Side", "As stated", "From the printed tables", "Here", "Holds here",
    ]  # fmt: skip
    return make_table(
        "What Bei (2003, sections 4.3 and 4.4) states, and whether it holds", head, rows
    )


def _limits(low: float, high: float) -> str:
    if np.isfinite(low) and np.isfinite(high):
        return f"{shown(low)} to {shown(high)}"
    return f"at least {shown(low, 3)}" if np.isfinite(low) else f"at most {shown(high, 3)}"


def statement_sentences(statements: pd.DataFrame) -> Iterator[str]:
    """How many statements of the source hold, and which do not."""
    if statements.empty:
        return
    broken = statements[~statements["holds"].astype(bool)]
    text = (
        f"Of {len(statements)} published statements on pressure, thickness and mass (by side) "
        f"{len(statements) - len(broken)} hold here"
    )
    yield f"{text}; the table of statements names the others." if len(broken) else f"{text}."
