"""Specifications of pages: what they name exists."""

from __future__ import annotations

import string

import pytest

from kneewear.base.registry import declared
from kneewear.report.specification import (
    FactsPart,
    figure_texts,
    load_page,
    page_names,
)


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
    shown = {
        part.table
        for name in page_names()
        for page in [load_page(name)]
        for part in (
            *page.key_results,
            *page.findings,
            *(t for one in sections(page) for t in one.tables if not isinstance(t, FactsPart)),
            *(rows for one in page.bars for rows in one.rows),
        )
    }
    used = {
        name
        for function in declared("derived").values()
        for name in (*function.required, *function.optional)
    }
    intervals = {
        one.interval.table
        for name in page_names()
        for one in load_page(name).key_results
        if one.interval is not None
    }
    assert set(declared("derived")) <= shown | used | intervals
