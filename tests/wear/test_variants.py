"""What a choice of method moves is told for every result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kneewear.verification.variants import compare_variants


def test_a_variant_with_twice_the_slip_wears_twice_as_much(history, grid, settings):
    doubled = replace(history, slip=2.0 * history.slip)
    table = compare_variants(
        {"gait": history},
        {"same": {"gait": history}, "slip: doubled": {"gait": doubled}},
        grid,
        settings(),
    )
    by = table.set_index(["variant", "quantity"])["relative_difference"]
    assert not by["same"].dropna().any()
    assert by["slip: doubled"]["wear_volume"].to_numpy() == pytest.approx(1.0)
    assert by["slip: doubled"]["creep_volume"].to_numpy() == pytest.approx(0.0)


def test_without_variants_or_cases_nothing_is_compared(history, grid, settings):
    none = {"gait": history.select([])}
    assert compare_variants({"gait": history}, {}, grid, settings()).empty
    assert compare_variants(none, {"same": none}, grid, settings()).empty
