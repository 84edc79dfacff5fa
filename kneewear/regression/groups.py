"""Slices of the tidy case table, one a life, side and quantity."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from kneewear.sides import SIDES

QUANTITIES = (
    "max_pressure",
    "avg_pressure",
    "wear_depth",
    "creep_depth",
    "damage_depth",
    "damage_area",
    "damage_volume",
)


def lives_of(cases: pd.DataFrame) -> list[str]:
    """Lives in the order of the table."""
    return list(dict.fromkeys(cases["life"]))


def side_tables(cases: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Life, side and a table with one row a case and one column a quantity.

    The index holds case, thickness_mm and body_mass_kg, in the order of the cases.
    """
    for life in lives_of(cases):
        for side in SIDES:
            chosen = cases[(cases["life"] == life) & (cases["side"] == side)]
            if chosen.empty:
                continue
            yield (
                life,
                side,
                chosen.pivot_table(
                    index=["case", "thickness_mm", "body_mass_kg"],
                    columns="quantity",
                    values="value",
                    sort=False,
                ),
            )


def units_of(cases: pd.DataFrame) -> dict[str, str]:
    """Map each quantity to its unit."""
    return dict(zip(cases["quantity"], cases["unit"], strict=True))


def drop_single_life(table: pd.DataFrame) -> pd.DataFrame:
    """Without its life column when the study has one life only."""
    return table.drop(columns="life") if table["life"].nunique() < 2 else table
