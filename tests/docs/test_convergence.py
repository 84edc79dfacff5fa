"""Observed orders and grid convergence indices of the documentation, of known sequences."""

from __future__ import annotations

import pandas as pd
import pytest

from docs.generators.results import SAFETY_FACTOR, convergence_indices, observed_orders


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
def test_index_of_a_sequence_of_known_order_is_its_error(order):
    counts = [10, 20, 40]
    values = [f"{3.0 + 5.0 * n**-order:.12f}, {7.0 - 2.0 * n**-order:.12f}" for n in counts]
    found = convergence_indices(pd.DataFrame({"n": counts, "value": values}), "n")
    assert found["observed order"].astype(float).tolist() == [order, order]
    assert found["extrapolated"].astype(float).tolist() == [3.0, 7.0]
    errors = [5.0 * 40**-order / 3.0, 2.0 * 40**-order / 7.0]
    indices = found["index (%)"].astype(float).tolist()
    assert indices == pytest.approx([100.0 * SAFETY_FACTOR * e for e in errors], rel=0.06)


def test_values_that_do_not_converge_have_no_order():
    table = pd.DataFrame({"n": [1, 2, 4], "value": ["1.0", "1.1", "1.3"]})
    (row,) = convergence_indices(table, "n").to_dict("records")
    assert row["observed order"] == "-"
    assert float(row["index (%)"]) == pytest.approx(100.0 * SAFETY_FACTOR * 0.2 / 1.3, rel=0.05)


def test_order_of_errors_is_that_between_the_last_two_counts():
    rows = [("c", "q", n, 4.0 * n**-2.0 + (n == 5)) for n in (5, 10, 20)]
    table = pd.DataFrame(rows, columns=["contact", "quantity", "rows", "error"])
    (row,) = observed_orders(table, "error", "rows").to_dict("records")
    assert (row["rows"], row["observed order"]) == ("10 to 20", "2.0")
