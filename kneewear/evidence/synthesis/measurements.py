"""Measured wear as rows of the hierarchical model: what they share, and their ratios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.literature import published_rows
from kneewear.evidence.synthesis.law_space import CONSTANTS, LawSpace

Array = NDArray[np.float64]
WEAR = ("wear_rate", "mass_rate", "test_wear_factor")
# The wear of these specimens on an elliptic path is a row of its own, of another test.
SAME_SPECIMENS = {("Grupp", "disc_elliptic"): "disc_iso"}


class Measurements(NamedTuple):
    """Rows of the model, and their design over tests, conditions and laboratories."""

    names: NDArray[np.str_]
    laboratory: NDArray[np.str_]
    log_wear: Array  # (row,), of the measured wear or ratio
    error: Array  # (row,), standard deviation of the logarithm as stated
    over_tests: Array  # (row, test): 1, and -1 of the test that a ratio is over
    over_conditions: Array  # (row, condition), likewise
    is_absolute: Array  # (row,), 1 of wear and 0 of ratios
    is_straight: NDArray[np.bool_]

    def among(self, chosen: NDArray[np.bool_]) -> Measurements:
        """Chosen rows."""
        return Measurements._make(values[chosen] for values in self)


def read_measurements(tests: list[tuple[str, str]]) -> Measurements:
    """Rows of `measured_wear.csv` for terms (test, quantity), the columns of `over_tests`.

    A ratio whose parts are rows is left out: it says nothing more. A ratio replaces the part that
    is no row. Ratios are of one laboratory, whose deviation cancels.
    """
    table = published_rows("kneewear.evidence.measured_wear", "measured_wear")
    table = table[table["quantity"].isin(WEAR)].reset_index(drop=True)
    absolute = {
        (row["laboratory"], row["test"]) for row in table[table["over"] == ""].to_dict("records")
    }
    parts = [((row["laboratory"], row["test"]), _over(row)) for row in table.to_dict("records")]
    kept = np.array([not (over and over in absolute and of in absolute) for of, over in parts])
    table = table[kept].reset_index(drop=True)
    parts = [part for part, is_kept in zip(parts, kept, strict=True) if is_kept]
    # Wear of one test in two lubricants is of two conditions.
    own = [(*of, name) for (of, _), name in zip(parts, table["measurement"].tolist(), strict=True)]
    conditions = list(own)
    over_tests = np.zeros((len(table), len(tests)))
    rows_over: list[int | None] = []
    for number, (of, over) in enumerate(parts):
        quantity = table["quantity"][number]
        over_tests[number, tests.index((of[1], quantity))] = 1.0
        if not over:
            rows_over.append(None)
            continue
        over_tests[number, tests.index((over[1], quantity))] -= 1.0
        known = [at for at, name in enumerate(own) if name[:2] == over]
        if not known:
            conditions.append((*over, ""))
        rows_over.append(known[0] if known else len(conditions) - 1)
    over_conditions = np.zeros((len(table), len(conditions)))
    for number, other in enumerate(rows_over):
        over_conditions[number, number] = 1.0
        if other is not None:
            over_conditions[number, other] -= 1.0
    published = table["published"].to_numpy(dtype=float)
    return Measurements(
        table["measurement"].to_numpy(dtype=str),
        table["laboratory"].to_numpy(dtype=str),
        np.log(published),
        np.log1p(table["sd"].to_numpy(dtype=float) / published),
        over_tests,
        over_conditions,
        (table["over"] == "").to_numpy().astype(np.float64),
        (table["motion"] == "straight").to_numpy(),
    )


def _over(row: Mapping[Any, Any]) -> tuple[str, str] | None:
    """Laboratory and test that a row is a ratio to."""
    if not row["over"]:
        return None
    key = (row["laboratory"], row["over"])
    return key[0], SAME_SPECIMENS.get(key, key[1])


def read_nodes(
    results: pd.DataFrame, test: str, law: str, blocks: Mapping[str, Mapping[str, Any]]
) -> tuple[LawSpace, list[tuple[str, str]]]:
    """Nodes of the laws from the results of a study, and the terms of their columns.

    Parameters
    ----------
    results : DataFrame
        One row a case.
    test, law : str
        Columns of the test and of the node.
    blocks : mapping
        Settings of each node.
    """
    names = list(dict.fromkeys(results[test]))
    terms = [(name, quantity) for quantity in WEAR for name in names]
    values = results.set_index([test, law])
    nodes: dict[str, list[tuple[Mapping[str, float], Array]]] = {name: [] for name in CONSTANTS}
    for node, block in blocks.items():
        wear = block["wear"]
        own = wear.get("laws", {}).get(wear["wear_law"], {})
        column = [cast("float", values.at[(name, node), quantity]) for name, quantity in terms]
        nodes[wear["wear_law"]].append((own, np.array(column)))
    return LawSpace({name: tuple(own) for name, own in nodes.items()}), terms
