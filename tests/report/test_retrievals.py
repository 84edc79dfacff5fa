"""Rates beside retrieved inserts, and the nominal patient beside the published regression."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.regression.comparison import compare_correlation, predict_published
from kneewear.report.page import render_page
from kneewear.report.prediction import life_sentences, prediction_sentences, prediction_table
from kneewear.report.retrievals import insert_rates, rates_table, retrieval_table
from kneewear.report.sections import correlation_table


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
    (row,) = retrieval_table(whole.tables["cases"], {"some": group}).rows
    assert row[7] == f"{(rate <= middle).sum()} of {len(rate)}"


def test_a_life_of_no_length_has_no_rates(whole):
    cases = whole.tables["cases"].copy()
    cases.loc[cases["quantity"].str.contains("_rate|mass_loss"), "value"] = np.nan
    assert retrieval_table(cases, whole.settings["report"]["retrievals"]).rows == ()
    assert not [row for row in rates_table(cases).rows if "a year" in row[0]]


def test_page_says_what_wear_can_tell_and_cites_retrievals(whole):
    text = render_page(whole.settings, whole.tables, {}, {})
    for words in ("product of wear factor and sliding", "Lavernia", "Benjamin", "Engh",
                  "mg/million cycles"):  # fmt: skip
        assert words in text


def test_correlation_stands_beside_that_of_the_printed_values(whole):
    compared = compare_correlation(whole.tables["correlation"])
    table = correlation_table(compared)
    assert table.header[2:] == (
        "R² on maximum pressure", "R² on maximum pressure, printed values",
        "R² on average pressure", "R² on average pressure, printed values",
    )  # fmt: skip
    assert correlation_table(whole.tables["correlation"]).header[2:] == (
        "R² on maximum pressure",
        "R² on average pressure",
    )
    volume = next(row for row in table.rows if row[:2] == ("Damage volume", "lateral"))
    assert float(volume[3]) == pytest.approx(0.73, abs=0.01)


def test_nominal_patient_is_told_what_cannot_be_compared(single):
    cases = single.tables["cases"]
    prediction = predict_published(cases)
    assert len(prediction_table(prediction).rows) == 2 * 10
    text = " ".join(prediction_sentences(cases, prediction))
    assert "not given as numbers" in text
    assert "Fig. 4-2" in text
    page = render_page(single.settings, single.tables | {"prediction": prediction}, {}, {})
    assert 'id="prediction"' in page


def test_other_patients_are_not_taken_for_the_nominal_one(whole):
    cases = whole.tables["cases"].assign(thickness_mm=whole.tables["cases"]["thickness_mm"] + 0.5)
    text = " ".join(prediction_sentences(cases, predict_published(cases)))
    assert "Table 4-1" in text
    assert "Fig. 4-2" not in text


def test_lives_differ_by_depth_and_place(single):
    cases = single.tables["cases"].copy()
    here = (cases["life"] == "rest") & (cases["side"] == "medial")
    cases.loc[here & (cases["quantity"] == "damage_depth"), "value"] *= 1.1
    cases.loc[here & (cases["quantity"] == "damage_location_x"), "value"] += 3.0
    cases.loc[here & (cases["quantity"] == "damage_location_z"), "value"] += 4.0
    (sentence,) = life_sentences(cases)
    assert "medial by +10.0 % and 5.0 mm away and lateral by +0.0 % and 0.0 mm" in sentence


def test_one_life_is_compared_with_none(whole):
    assert life_sentences(pd.DataFrame(whole.tables["cases"])) == []
