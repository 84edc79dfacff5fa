"""Designs are compared at equal cases, by a regression of their cases, or by the nearest one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.matching import (
    NEAREST,
    REGRESSION,
    SIMULATED,
    estimates_at,
    match_cells,
    tabulate_matches,
)


def cases(**designs):
    """A power law of thickness and mass, and a position that is a plane in their logarithms."""
    rows = []
    for factor, (design, (thicknesses, masses)) in enumerate(designs.items(), 1):
        for h, m in product(thicknesses, masses):
            key = {"design": design, "thickness_mm": h, "body_mass_kg": m}
            volume = factor * h**-0.7 * m**1.2
            place = -3.0 + 0.5 * np.log(h) - 0.1 * np.log(m)
            rows += [
                key | {"side": "medial", "quantity": "wear_volume", "unit": "mm3", "value": volume},
                key | {"side": "medial", "quantity": "place", "unit": "mm", "value": place},
            ]
    return pd.DataFrame(rows)


METHODS = {
    "shared": (([6.0, 8.0], [60.0]), ([8.0, 9.0], [60.0]), {(8.0, 60.0): SIMULATED}),
    "enclosed": (
        ([7.0], [70.0]),
        ([6.0, 9.0], [60.0, 90.0]),
        {(7.0, 70.0): REGRESSION},
    ),
    "one mass": (([7.0], [60.0]), ([6.0, 9.0], [60.0]), {(7.0, 60.0): REGRESSION}),
    "apart": (
        ([6.11, 8.11], [60.0, 90.0]),
        ([9.01, 11.01], [60.0, 90.0]),
        {(8.11, 60.0): NEAREST, (8.11, 90.0): NEAREST},
    ),
    "other masses": (([8.0], [70.0]), ([8.0], [60.0, 75.0]), {(8.0, 70.0): REGRESSION}),
    "along a line": (
        ([7.0], [80.0]),
        ([6.0], [60.0, 75.0]),
        {(7.0, 80.0): NEAREST},
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_designs_are_compared_at_cells_by(name):
    first, second, expected = METHODS[name]
    table = cases(a=first, b=second)
    matches = match_cells(table)
    own = {match.cell: match.method for match in matches if match.design == "b"}
    assert own == expected
    assert {match.method for match in matches if match.design == "a"} == {SIMULATED}
    values = estimates_at(table, matches).set_index(["design", "thickness_mm", "body_mass_kg"])
    for cell, method in expected.items():
        rows = values.loc[("b", *cell)].set_index("quantity")["value"]
        h, m = cell
        if method == NEAREST:
            near = [(h_, m_) for h_, m_ in product(*second)]
            h, m = min(near, key=lambda one: abs(np.log(one[0] / h)) + abs(np.log(one[1] / m)))
        assert rows["wear_volume"] == pytest.approx(2.0 * h**-0.7 * m**1.2, rel=1e-9)
        assert rows["place"] == pytest.approx(-3.0 + 0.5 * np.log(h) - 0.1 * np.log(m), rel=1e-9)


def test_every_design_has_one_case_at_each_cell():
    table = cases(a=([6.0, 8.0], [60.0]), b=([8.0, 9.0], [60.0]), c=([11.0], [90.0]))
    matches = match_cells(table)
    listed = tabulate_matches(matches)
    assert list(listed["design"]) == ["a", "b", "c"]
    assert set(listed["thickness_mm"]) == {8.0}
    assert list(listed["method"]) == [SIMULATED, SIMULATED, NEAREST]
    assert listed["own_thickness_mm"].iloc[2] == 11.0
    assert len(estimates_at(table, matches)) == 6
