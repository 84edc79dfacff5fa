"""Slices of the tidy case table by life and side, and the settings that vary over its cases."""

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
THICKNESS, BODY_MASS = "thickness_mm", "body_mass_kg"
_LABELS = ("case", "life", "side", "quantity", "value", "unit")


def covariates_of(cases: pd.DataFrame) -> list[str]:
    """Columns of the settings that vary over the cases; thickness and body mass come first."""
    further = [name for name in map(str, cases) if name not in (*_LABELS, THICKNESS, BODY_MASS)]
    return [THICKNESS, BODY_MASS, *further]


def lives_of(cases: pd.DataFrame) -> list[str]:
    """Lives in the order of the table."""
    return list(dict.fromkeys(cases["life"]))


def side_tables(cases: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Life, side and a table with one row per case and one column per quantity.

    The index holds the case and its covariates, in the order of the cases.
    """
    index = ["case", *covariates_of(cases)]
    for life in lives_of(cases):
        for side in SIDES:
            chosen = cases[(cases["life"] == life) & (cases["side"] == side)]
            if not chosen.empty:
                yield (
                    life,
                    side,
                    chosen.pivot_table(index=index, columns="quantity", values="value", sort=False),
                )


def units_of(cases: pd.DataFrame) -> dict[str, str]:
    """Unit of each quantity."""
    return dict(zip(cases["quantity"], cases["unit"], strict=True))


def drop_single_life(table: pd.DataFrame) -> pd.DataFrame:
    """The table without its life column if the study has one life only."""
    return table.drop(columns="life") if table["life"].nunique() < 2 else table
