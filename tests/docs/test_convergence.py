"""Orders, grid convergence indices, changes and ranks of the documentation, of known tables."""

from __future__ import annotations

import pandas as pd
import pytest

from docs.generators.results import (
    CASE_RESULTS,
    CURVE_RESULTS,
    SAFETY_FACTOR,
    convergence_indices,
    curve_intervals,
    curve_results,
    grid_convergence,
    material_changes,
    observed_orders,
    rank_changes,
)


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


def test_order_does_not_need_counts_that_grow_by_one_factor():
    counts = [3, 5, 6]
    order, limit, index = grid_convergence(counts, [2.0 + n**-1.5 for n in counts])
    assert (order, limit) == pytest.approx((1.5, 2.0), abs=1e-9)
    assert index == pytest.approx(SAFETY_FACTOR * 6**-1.5 / (2.0 + 6**-1.5))


def test_errors_in_percent_are_read_with_heads_as_counts_and_gaps():
    cells = [f"{100.0 * n**-2.0:+.9f}" for n in (4, 8, 16)]
    table = pd.DataFrame([["a", cells[0], None, *cells[1:]]], columns=["x", "4", "5", "8", "16"])
    (row,) = convergence_indices(table, "elements", errors=True).to_dict("records")
    assert (row["elements"], row["observed order"]) == ("4 to 8 to 16", "2.0")
    assert float(row["index (%)"]) == pytest.approx(SAFETY_FACTOR * 100.0 / 16**2, rel=0.02)


def test_a_value_that_no_longer_changes_has_the_index_of_its_rounding():
    table = pd.DataFrame({"n": [1, 2, 4], "value": ["12.1", "12.5", "12.5"]})
    (row,) = convergence_indices(table, "n").to_dict("records")
    assert float(row["index (%)"]) >= 100.0 * 0.05 / 12.5


def test_order_of_errors_is_that_between_the_last_two_counts():
    rows = [("c", "q", n, 4.0 * n**-2.0 + (n == 5)) for n in (5, 10, 20)]
    table = pd.DataFrame(rows, columns=["contact", "quantity", "rows", "error"])
    (row,) = observed_orders(table, "error", "rows").to_dict("records")
    assert (row["rows"], row["observed order"]) == ("10 to 20", "2.0")


def test_index_of_errors_stands_beside_them():
    rows = [("c", "q", n, 4.0 * n**-2.0) for n in (5, 10, 20)]
    table = pd.DataFrame(rows, columns=["contact", "quantity", "rows", "error"])
    (row,) = observed_orders(table, "error", "rows").to_dict("records")
    assert row["order of three grids"] == "2.0"
    assert abs(float(row["extrapolated error (%)"])) < 1e-6
    assert float(row["index (%)"]) == pytest.approx(
        SAFETY_FACTOR * float(row["error (%)"]), rel=0.06
    )


def results_of_materials():
    """Three cases; the second material turns their order, the third adds a tenth to the second."""
    values = {"first": (10.0, 20.0, 40.0), "second": (20.0, 10.0, 8.0), "third": (22.0, 11.0, 8.8)}
    rows = [
        (name, 6.0, mass, *([value] * len(CASE_RESULTS)))
        for name, own in values.items()
        for mass, value in zip((50.0, 75.0, 100.0), own, strict=True)
    ]
    quantities = [f"both_{name}" for name in CASE_RESULTS]
    return pd.DataFrame(rows, columns=["layer", "thickness_mm", "body_mass_kg", *quantities])


def test_second_material_changes_from_the_first_and_the_third_from_the_second():
    table = material_changes(results_of_materials(), "layer")
    assert table["body_mass_kg"].tolist() == [50.0, 75.0, 100.0]
    for first, changes in zip(table.columns[2::2], table.columns[3::2], strict=True):
        assert table[first].tolist() == [10.0, 20.0, 40.0]
        assert table[changes].tolist() == ["+100, +10", "-50, +10", "-80, +10"]


def test_ranks_of_cases_that_change_places():
    turned, kept = rank_changes(results_of_materials(), "layer").to_dict("records")
    assert (turned.pop("from"), turned.pop("to")) == ("first", "second")
    assert set(turned.values()) == {"-1.000, 2"}
    assert (kept.pop("from"), kept.pop("to")) == ("second", "third")
    assert set(kept.values()) == {"1.000, 0"}


def results_of_curves():
    """Two masses; the second curve adds a tenth, what stays of the strain takes a fifth off."""
    rows = [
        (name, share, mass, *([mass * factor * (1.25 if share else 1.0)] * len(CURVE_RESULTS)))
        for name, factor in (("softest", 0.1), ("middle", 1.0), ("stiff", 1.1))
        for share in (1.0, 0.0)
        for mass in (80.0, 160.0)
    ]
    quantities = [f"both_{name}" for name in CURVE_RESULTS]
    return pd.DataFrame(rows, columns=["curve", "share", "body_mass_kg", *quantities])


def test_results_of_a_curve_are_at_all_values_of_what_stays():
    table = curve_results(results_of_curves(), "curve", "share").set_index(
        ["curve", "body_mass_kg"]
    )
    assert set(table.loc[("middle", 80.0)]) == {"100, 80"}
    assert set(table.loc[("stiff", 160.0)]) == {"220, 176"}


def test_interval_is_over_curves_and_what_stays_without_the_curve_that_is_left_out():
    table = curve_intervals(results_of_curves(), "curve", "share", "middle", "softest")
    assert table["quantity"].tolist() == 2 * list(CURVE_RESULTS.values())
    light = table[table["body_mass_kg"] == 80.0]
    assert set(light["middle"]) == {"100, 80"}
    assert set(light["share (%)"]) == {"-20"}
    assert set(light["stiff (%)"]) == {"+10"}
    assert set(light["interval"]) == {"80 to 110"}
    assert "softest (%)" not in table
