"""Specifications of pages: what they name exists."""

from __future__ import annotations

import string

import pytest
from pydantic import ValidationError

from kneewear.report import derived
from kneewear.report.specification import (
    FactsPart,
    Page,
    figure_text,
    figure_texts,
    load_page,
    page_names,
    starting_with,
)
from kneewear.report.values import Values


def sections(page):
    return [page.first, *page.sections, *page.appendix]


@pytest.mark.parametrize("name", page_names())
def test_every_figure_has_its_texts_and_every_anchor_is_unique(name):
    page = load_page(name)
    named = [start for one in sections(page) for start in one.figures] + page.summary_figures
    assert set(named) <= set(figure_texts())
    for part in (page.sections, page.appendix):
        anchors = [one.id for one in part]
        assert len(set(anchors)) == len(anchors)


@pytest.mark.parametrize("name", page_names())
def test_every_text_can_be_read_as_a_template(name):
    page = load_page(name)
    texts = [text for one in sections(page) for text in one.text]
    for one in sections(page):
        for table in one.tables:
            texts.append(table.caption)
            texts += [cell for row in getattr(table, "facts", []) for cell in row]
    texts += [text for one in page.findings for text in (one.place, one.found, one.expected)]
    for text in texts:
        list(string.Formatter().parse(text))


def test_every_derived_table_is_shown_or_used():
    derived.Tables({}, {})
    shown = {
        part.table
        for name in page_names()
        for page in [load_page(name)]
        for part in (
            *page.key_results,
            *page.findings,
            *(t for one in sections(page) for t in one.tables if not isinstance(t, FactsPart)),
        )
    }
    used = {name for function in derived._FUNCTIONS.values() for name in function.__annotations__}
    intervals = {
        one.interval.table
        for name in page_names()
        for one in load_page(name).key_results
        if one.interval is not None
    }
    assert set(derived._FUNCTIONS) <= shown | used | intervals


def test_unknown_keys_are_refused():
    with pytest.raises(ValidationError):
        Page.model_validate({"heading": "A page", "first": {"id": "a", "heading": ""}, "title": 1})


def test_figures_are_listed_in_the_order_of_their_kinds():
    names = ["b_2", "a", "b", "b_10", "bc"]
    assert starting_with(names, "b", "a") == ["b_2", "b", "b_10", "a"]
    assert figure_text("damage_maps_gait_stairs").title.endswith(": gait stairs")
    assert figure_text("of_no_kind").title == "Of no kind"


def test_values_are_formatted_and_absent_ones_leave_a_text_out():
    values = Values(
        {"depth": 1.23456, "nothing": None, "nan": float("nan"),
         "settings": {"lives": {"gait": {"walk": 0.5}}, "levels": [6.0, 8.0], "law": "a_law"}}
    )  # fmt: skip
    assert values.text("{depth:3} {depth:+.1f} {settings.levels}") == "1.23 +1.2 6 and 8"
    assert values.text("{settings.law:words}, {settings.lives}") == "a law, gait walk 0.5"
    for missing in ("{no}", "{nothing:3}", "{nan}", "{settings.no.key}", "{depth.part}"):
        assert values.text(missing) is None
