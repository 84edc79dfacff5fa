"""Rates beside retrieved inserts, and the nominal patient beside the published regression."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.regression.comparison import compare_correlation, predict_published
from kneewear.report.facts import (
    RATES,
    beside_retrievals,
    border_contact,
    correlations,
    insert_rates,
    is_nominal_patient,
    life_differences,
    life_ratios,
    over_cases,
    surface_errors,
)
from tests.report.pages import both_pages


def value(cases, case, side, quantity):
    chosen = cases.query("case == @case and side == @side and quantity == @quantity")
    return float(chosen["value"].iloc[0])


def test_an_insert_loses_both_sides_volume_and_the_deeper_sides_thickness(whole):
    cases = whole.tables["cases"]
    case = cases["case"].iloc[0]
    for creep, kind in ((True, "penetration_rate"), (False, "wear_rate")):
        rates = insert_rates(cases, creep).loc[("gait", case)]
        sides = [
            [value(cases, case, side, f"{form}_{kind}") for side in ("medial", "lateral")]
            for form in ("linear", "volumetric")
        ]
        assert rates["linear"] == max(sides[0])
        assert rates["volume"] == pytest.approx(sum(sides[1]), rel=1e-12)


def test_cases_within_the_published_range_are_counted(whole):
    rate = insert_rates(whole.tables["cases"], True)["linear"]
    middle = float(rate.median())
    group = {
        "linear_mm_per_year": {"mean": middle, "low": 0.0, "high": middle},
        "volume_mm3_per_year": None,
        "includes_creep": True,
        "spread": "range",
        "source": "made up",
    }
    table = beside_retrievals(whole.tables["cases"], {"some": group})
    assert table["within"].item() == f"{(rate <= middle).sum()} of {len(rate)}"


def test_a_life_of_no_length_has_no_rates(whole):
    cases = whole.tables["cases"].copy()
    cases.loc[cases["quantity"].str.contains("_rate|mass_loss"), "value"] = np.nan
    assert beside_retrievals(cases, whole.settings["report"]["retrievals"]).empty
    assert not over_cases(cases, RATES)["quantity"].str.contains("_rate").any()


def test_page_cites_retrievals(whole):
    text = both_pages("wear", whole.settings, whole.tables, {})
    for words in ("Lavernia", "Benjamin", "Engh", "mg/million cycles"):
        assert words in text


def test_correlation_is_shown_beside_that_of_the_printed_values(whole):
    table = correlations(compare_correlation(whole.tables["correlation"]))
    names = [f"{value}_{pressure}" for value in ("r2", "r2_published")
             for pressure in ("max_pressure", "avg_pressure")]  # fmt: skip
    assert set(table.columns) == {"quantity", "side", *names}
    assert set(correlations(whole.tables["correlation"])) == {"quantity", "side", *names[:2]}
    volume = table.query("quantity == 'damage_volume' and side == 'lateral'")
    assert volume["r2_published_max_pressure"].item() == pytest.approx(0.73, abs=0.01)


def test_nominal_patient_is_recognised(single):
    cases = single.tables["cases"]
    prediction = predict_published(cases)
    assert is_nominal_patient(prediction)
    page = both_pages("wear", single.settings, single.tables | {"prediction": prediction}, {})
    assert 'id="prediction"' in page
    assert "Fig. 4-2" in page
    assert not is_nominal_patient(prediction.assign(thickness_mm=7.3))


def test_lives_differ_by_depth_and_position(single):
    cases = single.tables["cases"].copy()
    here = (cases["life"] == "rest") & (cases["side"] == "medial")
    cases.loc[here & (cases["quantity"] == "damage_depth"), "value"] *= 1.1
    cases.loc[here & (cases["quantity"] == "damage_location_x"), "value"] += 3.0
    cases.loc[here & (cases["quantity"] == "damage_location_z"), "value"] += 4.0
    (found,) = life_differences(cases)
    assert found["medial"] == {"depth": "+10.0", "distance": "5.0"}
    assert found["lateral"] == {"depth": "0.0", "distance": "0.0"}


def test_one_life_is_compared_with_none(whole):
    assert life_differences(pd.DataFrame(whole.tables["cases"])) == []
    assert life_ratios(pd.DataFrame(whole.tables["cases"])).empty


def test_lives_are_compared_by_their_ratio(single):
    cases = single.tables["cases"].copy()
    here = (cases["life"] == "rest") & (cases["quantity"] == "wear_volume")
    cases.loc[here & (cases["side"] == "lateral"), "value"] *= 1.44
    found = life_ratios(cases).set_index(["quantity", "side"])["rest"]
    assert found["wear_volume", "lateral"] == "1.44"
    assert found["wear_volume", "medial"] == "1.00"
    page = both_pages("wear", single.settings, single.tables | {"cases": cases}, {})
    assert "Lives compared" in page


def test_surface_errors_are_parts_of_the_peak_penetration():
    cases = pd.DataFrame(
        {
            "side": ["medial", "medial", "lateral"],
            "quantity": "max_penetration",
            "value": [0.050, 0.100, 0.100],
        }
    )
    quality = pd.DataFrame(
        {
            "component": ["insert", "femoral"] * 2,
            "side": ["medial"] * 2 + ["lateral"] * 2,
            "mean_mm": [0.0005, 0.0005, 0.0005, 0.0005],
        }
    )
    found = {one["side"]: one for one in surface_errors(cases, quality)}
    assert found["medial"]["mean_percent"] == "1 to 2"
    assert found["lateral"]["mean_percent"] == "1"


def test_border_contact_is_weighed_by_its_share():
    names = ("border_pressure", "border_force_share", "border_wear_share")
    rows = [
        ("a", "medial", names, (0.0, 0.0, 0.0)),
        ("a", "lateral", names, (8.9, 0.003, 0.0002)),
        ("b", "lateral", names, (1.0, 0.001, 0.0001)),
    ]
    cases = pd.DataFrame(
        [
            {"case": case, "life": "x", "side": side, "quantity": name, "value": value}
            for case, side, quantities, values in rows
            for name, value in zip(quantities, values, strict=True)
        ]
    )
    (found,) = border_contact(cases)
    assert (found["side"], found["cases"], found["pressure"]) == ("lateral", 2, 8.9)
    assert found["force_percent"] == pytest.approx(0.3)
    assert not found["matters"]
    cases.loc[cases["value"] == 0.003, "value"] = 0.02
    assert border_contact(cases)[0]["matters"]
