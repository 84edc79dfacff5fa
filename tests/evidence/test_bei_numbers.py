"""Axes and statements of Bei (2003) beside the tables of studies."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear.evidence.published.bei_numbers import OWN, compare_numbers
from kneewear.io.documents import save_json, save_table


def finished(results, study, **tables):
    """A finished study with some tables."""
    folder = results / study
    save_json({}, folder / "report" / "summary.json")
    for name, rows in tables.items():
        save_table(pd.DataFrame(rows), folder / "tables" / f"{name}.csv")
    return folder


def test_numbers_of_studies_that_are_not_finished_are_left_out(tmp_path):
    assert compare_numbers(tmp_path).empty


def test_a_range_is_judged_by_both_ends_and_a_slope_by_its_side(tmp_path):
    """Pressures that fall by 4 MPa/mm below 4 mm and by 1 above 8 mm, on each side."""
    pressure = {2.0: 30.0, 3.0: 26.0, 4.0: 22.0, 8.0: 20.0, 9.0: 19.0, 10.0: 18.0}
    rows = [
        {"thickness_mm": at, "side": side, "quantity": "max_pressure", "value": value}
        for side in ("medial", "lateral")
        for at, value in pressure.items()
    ]
    finished(tmp_path, "thin_inserts", contact=rows)
    contact = [
        {"case": "c0", "side": side, "quantity": name, "value": value}
        for side, values in {"medial": (2.5, -9.0), "lateral": (4.0, -5.0)}.items()
        for name, value in zip(("max_pressure", "centre_posterior"), values, strict=True)
    ]
    finished(tmp_path, "natural_knee", contact=contact)
    table = compare_numbers(tmp_path).set_index(["quantity", "case"])["computed"]
    assert (
        table["loss of pressure for each mm below 4 mm over that from 8 mm"].tolist()
        == [pytest.approx(4.0)] * 2
    )
    assert table["maximum pressure of the natural knee"].to_dict() == {
        "smallest": 2.5,
        "largest": 4.0,
    }
    # x is posterior: the medial centre is 4 mm further anterior.
    offset = table["medial contact of the natural knee anterior of the lateral one by"]
    assert offset["smallest"] == pytest.approx(4.0)


def test_errors_over_active_elements_are_of_the_mean_with_the_most(tmp_path):
    columns = {
        "wanted": [25, 25, 50, 50, 400, 400],
        "max_pressure_mpa": [18.0, 21.0, 19.5, 20.0, 19.0, 21.0],
        "avg_pressure_mpa": [10.0, 10.2, 10.1, 10.0, 10.0, 10.0],
    }
    folder = finished(tmp_path, "chapter3", element_convergence=columns)
    found = OWN["error of pressures with 25 active elements"](folder)
    assert found == pytest.approx({"maximum": 10.0, "average": 2.0})


def test_spread_over_grids_is_relative_to_the_mean(tmp_path):
    folder = finished(
        tmp_path,
        "chapter3",
        grid_sensitivity={"force_n": [99.0, 101.0], "avg_pressure_mpa": [9.0, 11.0]},
    )
    compare = OWN["spread of average pressure over spread of force, by grid"]
    assert compare(folder) == pytest.approx(10.0)
