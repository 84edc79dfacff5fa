"""Tables A-1, B-1 and C-1 of Bei (2003) with computed values and differences beside the printed."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from kneewear.report.sections import Table, make_table, signed
from kneewear.report.style import quantity_name, unit_name


def published_tables(comparison: pd.DataFrame) -> Iterator[Table]:
    """One table for each printed one.

    Parameters
    ----------
    comparison : DataFrame
        Table of :func:`kneewear.regression.compare_published`.

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
