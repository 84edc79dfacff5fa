"""Slices of the tidy case table by life and side, and the settings that vary over its cases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.base.sides import SIDES

QUANTITIES = (
    "max_pressure",
    "avg_pressure",
    "wear_depth_at_deepest_damage",
    "creep_depth_at_deepest_damage",
    "damage_depth",
    "damage_area",
    "damage_volume",
)
# What is fitted: the published quantities, and the largest wear, for limits on wear.
FITTED = (*QUANTITIES, "max_wear_depth")
THICKNESS = "thickness_mm"
BODY_MASS = "body_mass_kg"
# Columns that name one result.
HEAD = ["life", "side", "quantity", "unit"]
_LABELS = ("case", *HEAD, "value")


def covariates_of(cases: pd.DataFrame) -> list[str]:
    """Columns of the settings that vary over the cases; thickness and body mass come first."""
    further = [name for name in map(str, cases) if name not in (*_LABELS, THICKNESS, BODY_MASS)]
    return [THICKNESS, BODY_MASS, *further]


def word_columns(cases: pd.DataFrame) -> list[str]:
    """Covariates whose values are words."""
    return [name for name in covariates_of(cases) if not pd.api.types.is_numeric_dtype(cases[name])]


def lives_of(cases: pd.DataFrame) -> list[str]:
    """Lives in the order of the table."""
    return list(dict.fromkeys(cases["life"]))


def units_of(cases: pd.DataFrame) -> dict[str, str]:
    """Unit of each quantity."""
    return dict(zip(cases["quantity"], cases["unit"], strict=True))


def side_tables(cases: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Life, side and a table with one row per case and one column per quantity.

    The index holds the case and its covariates, in the order of the cases.
    """
    index = ["case", *covariates_of(cases)]
    for life in lives_of(cases):
        for side in SIDES:
            chosen = cases[(cases["life"] == life) & (cases["side"] == side)]
            if not chosen.empty:
                table = chosen.pivot_table(
                    index=index, columns="quantity", values="value", sort=False
                )
                yield life, side, table


def results_of(
    cases: pd.DataFrame,
) -> Iterator[tuple[dict[str, str], pd.DataFrame, NDArray[np.float64]]]:
    """Each of the `FITTED` results that the cases have, of each life and side.

    Labels (`HEAD`), cases with covariates, and values.
    """
    units = units_of(cases)
    for life, side, table in side_tables(cases):
        design = table.index.to_frame(index=False)
        for quantity in filter(table.__contains__, FITTED):
            labels = dict(zip(HEAD, (life, side, quantity, units[quantity]), strict=True))
            yield labels, design, table[quantity].to_numpy(dtype=np.float64)


def drop_single_life(table: pd.DataFrame) -> pd.DataFrame:
    """The table without its life column if the study has one life only."""
    return table.drop(columns="life") if table["life"].nunique() < 2 else table
