"""Units, keys and plans as pages show them."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

from kneewear.models.retrieval.kriging import SMOOTHNESS
from kneewear.report.html import marked, typeset
from kneewear.report.regression import can_draw_curves
from kneewear.report.study_tables import case_labels
from kneewear.report.tables import file_names, make_table, unit_name, with_unit


@pytest.mark.parametrize(
    ("unit", "shown"),
    [
        ("mm3", "mm³"),
        ("mm3/(N m)", "mm³/(N m)"),
        ("mm3/10^6", "mm³/10⁶"),
        ("1e-6 mm3/(N m)", "1e-6 mm³/(N m)"),
        ("N/mm2", "N/mm²"),
        ("1", ""),
        # As a column of pure numbers, or of none, is read.
        (1, ""),
        (float("nan"), ""),
        ("MPa", "MPa"),
    ],
)
def test_powers_of_units_are_raised(unit, shown):
    assert unit_name(unit) == shown


def test_a_rate_per_year_says_what_it_counts():
    assert with_unit("cycles_per_year", "1/year") == "cycles (cycles/year)"


def test_cases_are_named_by_what_differs_between_them():
    results = pd.DataFrame({"case": ["c0", "c1"], "lower_friction": [0.04, 0.1], "mass": 75.0})
    units = {"lower_friction": "1", "mass": "kg"}
    labels = case_labels(results, units)
    assert labels == {"c0": "lower friction 0.04", "c1": "lower friction 0.1"}
    assert case_labels(results[:1], units) == {"c0": ""}


def test_forms_of_a_random_field_have_readable_names():
    kernels = pd.DataFrame({"form": SMOOTHNESS})
    cells = [row[0] for row in make_table("Fields", kernels, {"form": "Correlation"}).rows]
    assert len(set(cells)) == len(SMOOTHNESS)
    assert not [cell for cell in cells if "_" in cell]


def test_long_keys_can_be_broken_and_addresses_are_left_whole():
    address = "https://doi.org/10.1016/j.jbi.a.b_c"
    html = marked(f"activities.a_gait.load of 3.5 mm: {address}")
    assert html.count("<wbr>") == 3
    assert f'href="{address}"' in html


@pytest.mark.parametrize(("levels", "drawn"), [((2, 2), False), ((2, 3), True), ((3, 3), True)])
def test_curves_have_points_between_their_ends(levels, drawn):
    plan = itertools.product(*(range(count) for count in levels))
    cases = pd.DataFrame(plan, columns=["thickness_mm", "body_mass_kg"])
    assert can_draw_curves(cases.assign(case=range(len(cases)))) == drawn


@pytest.mark.parametrize(
    ("text", "set_text"),
    [
        ("1.63e-06 mm3/(N m)", "1.63 × 10⁻⁶ mm³/(N m)"),
        ("err by 25.8 um, -1.5 to 2 mm2", "err by 25.8 µm, −1.5 to 2 mm²"),
        ("iso14243-3, 2026-11-30, mm3.csv, a_mm3, --thickness", None),
        ("activities.gait.mm3 in /data/1e-5.stl", None),
    ],
)
def test_signs_of_print_leave_names_and_dates_whole(text, set_text):
    assert typeset(text) == (set_text or text)


def test_files_are_named_by_the_parts_that_differ():
    same = ["/a/one/insert.stl", "/a/two/insert.stl", "/a/two/load.csv", "shapes/insert.ply"]
    names = file_names(same)
    assert list(names.values()) == ["one/insert.stl", "two/insert.stl", "load.csv", same[-1]]


def test_columns_of_numbers_may_lack_some() -> None:
    frame = pd.DataFrame(
        {"name": ["a", "b"], "value": [1.5, None], "text": ["2 of 3 cases", "4"], "count": [1, 2]}
    )
    assert make_table("Mixed", frame, prose=True).number_columns == (1, 3)
