"""The top of a page: a sentence of the model, at most four numbers, intervals, causes, a number."""

from __future__ import annotations

import re
import string

import pandas as pd
import pytest

from kneewear.base.checks import checks
from kneewear.base.findings import Reported, causes
from kneewear.errors import Finding
from kneewear.report.bars import interval_bars
from kneewear.report.derived import Tables
from kneewear.report.page import titled_causes
from kneewear.report.specification import BarRows, BarsPart, load_page, page_names
from kneewear.report.summary import report_number
from kneewear.report.tables import same_decimals
from kneewear.report.values import Values
from kneewear.wear.posterior import ALL_LAWS
from tests.report.pages import written

# Of inputs before a study is run: there is no result yet.
WITHOUT = {"preflight"}


@pytest.mark.parametrize("name", sorted(set(page_names()) - WITHOUT))
def test_sentences_name_key_results_of_their_page(name):
    page = load_page(name)
    known = [part.name for part in page.key_results]
    assert page.sentence
    for template in (*page.sentence, *page.case):
        fields = [field for _, field, _, _ in string.Formatter().parse(template) if field]
        assert fields
        for field in fields:
            assert field.startswith(("settings.", *known)), field
    assert set(page.key_numbers) <= set(known)


@pytest.mark.slow
def test_headline_has_an_interval_where_there_is_one(whole):
    row = {"law": ALL_LAWS, "side": "both", "quantity": "wear_volume", "unit": "mm3"}
    ends = {"low": 1.5, "median": 3.0, "high": 7.5, "percent": 90.0}
    counts = {"laboratories": 5, "measurements": 8}
    lives = whole.tables["cases"]["life"].unique()
    intervals = pd.DataFrame([row | ends | counts | {"life": life} for life in lives])
    sentences = {
        written("wear", whole.settings, whole.tables | tables).summary["sentence"]
        for tables in ({}, {"wear_intervals": intervals})
    }
    assert len(sentences) == 2 and all(sentences)
    assert sum("1.5" in one and "7.5" in one for one in sentences) == 1


def test_at_most_four_numbers_are_beside_the_picture(whole):
    page = written("wear", whole.settings, whole.tables)
    assert 1 <= page.page.count("<dt>") <= 4
    assert page.page.count("<li data-name") == len(page.results)


def test_bars_have_one_axis_and_only_rows_with_data():
    tables = Tables(
        {
            "here": pd.DataFrame({"value": [20.0], "low": [10.0], "high": [40.0]}),
            "found": pd.DataFrame({"name": ["a"], "value": [50.0], "low": [None], "high": [None]}),
        },
        {},
    )
    rows = [
        BarRows(table="here", label="This"),
        BarRows(table="absent", label="None", kind="part"),
        BarRows(table="found", label="{name}", kind="measured"),
    ]
    bars = interval_bars(BarsPart(title="t", unit="mm", rows=rows), tables)
    here, found = bars.rows
    assert (here.kind, found.kind, found.label) == ("study", "measured", "a")
    assert here.left / here.dot == pytest.approx(10.0 / 20.0, rel=1e-3)
    assert here.width / here.dot == pytest.approx(30.0 / 20.0, rel=1e-3)
    assert found.dot / here.dot == pytest.approx(50.0 / 20.0, rel=1e-3)
    assert found.width is None and 0.0 < found.dot < 100.0
    assert interval_bars(BarsPart(title="t", unit="mm", rows=rows[1:2]), tables) is None


def test_causes_count_what_findings_stand_for():
    def one(check, severity, more=0):
        return Reported(Finding(check, severity, "", "x", "", ""), more=more)

    found = causes([one("a", "warn", 3), one("b", "note"), one("a", "refuse")])
    assert [(cause.name, cause.severity, cause.number) for cause in found] == [
        ("a", "refuse", 5),
        ("b", "note", 1),
    ]
    assert re.findall(r"\d+", found[0].count) == ["1", "4"]


def test_checks_of_one_title_are_one_cause():
    found = titled_causes(
        [
            Reported(Finding(check, "warn", "", "x", "", ""))
            for check in ("new.unit", "assumed.gait", "new.fit", "assumed.side")
        ]
    )
    assert [cause.number for cause in found] == [2, 2]


def test_checks_without_a_title_have_their_quantity():
    own = checks()["pin.pressure"].quantity
    (cause,) = titled_causes([Reported(Finding("pin.pressure", "warn", "", "x", "", ""))])
    assert cause.name.lower() == own.lower()


def test_fractions_are_printed_without_a_unit():
    values = Values({"own": {"value": 0.0193, "fraction": "1", "length": "mm"}})
    template = "{own.value:3}{own.fraction:unit}, {own.value:3}{own.length:unit}"
    assert values.text(template) == "0.0193, 0.0193 mm"


def test_number_of_a_report_follows_from_what_decides_it():
    base = report_number({"a": 1}, "1", {"f": "0"})
    assert base == report_number({"a": 1}, "1", {"f": "0"})
    others = [({"a": 2}, "1", {"f": "0"}), ({"a": 1}, "2", {"f": "0"}), ({"a": 1}, "1", {"f": "1"})]
    assert base not in [report_number(*other) for other in others]
    assert report_number({"report": {"number": "L-7"}}, "1", {}) == "L-7"


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (88.1, "3", ".1f"),
        (1.054, "3", ".2f"),
        (341.0, "2", ".0f"),
        (2e-7, "3", "3"),
        (5.0, ".1f", ".1f"),
    ],
)
def test_interval_has_the_decimals_of_its_value(value, form, expected):
    assert same_decimals(value, form) == expected
