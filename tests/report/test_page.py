"""The page: self-contained, complete, honest about what is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from kneewear.report import outcome, sections
from kneewear.report.captions import figure_text
from kneewear.report.page import render_page
from kneewear.simulation.signs import SignTrial, tabulate_trials

SVG = b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'></svg>"
NAMES = ("damage_maps", "published_errors", "implant", "activity_gait", "pressure_gait")


class Balance(HTMLParser):
    """Counts open elements and collects images."""

    VOID = frozenset({"meta", "img", "br", "link", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.images, self.addresses = [], [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.addresses += [values[key] for key in ("src", "href") if key in values]
        if tag == "img":
            self.images.append(values)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page_of(study, **changes):
    """Page and its parsed structure."""
    text = render_page(
        study.settings,
        study.tables | changes,
        {name: SVG for name in NAMES},
        {"gait": ("The gap of 0.3 mm was blended.",)},
        {"versions": {"numpy": "2.0"}, "inputs": {}},
    )
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    return text, parser


def test_page_needs_no_other_file(whole):
    text, parser = page_of(whole)
    assert all(address.startswith(("data:", "#")) for address in parser.addresses)
    assert not re.search(r"@import|url\(|<script[^>]* src", text)


def test_every_figure_is_shown_once_with_alternative_text(whole):
    _, parser = page_of(whole)
    assert len(parser.images) == len(NAMES)
    assert all(image["alt"] for image in parser.images)


def test_links_lead_somewhere(whole):
    text, parser = page_of(whole)
    for address in parser.addresses:
        if address.startswith("#"):
            assert f'id="{address[1:]}"' in text


def test_page_tells_what_was_run_and_noted(whole):
    text, _ = page_of(whole)
    for words in ("blended", "70 % of it is carried medially", "51 months", "numpy"):
        assert words in text


def test_comparison_counts_calibration_cells_apart(whole):
    text, _ = page_of(whole)
    assert "cells not fitted in the calibration: half are met within" in text
    assert "cells fitted in the calibration: half are met within" in text


def test_page_says_which_published_statements_do_not_hold(whole):
    text, _ = page_of(whole)
    holds = whole.tables["statements"]["holds"]
    assert not holds.all()
    assert f"Of {len(holds)} published statements" in text
    assert f"{holds.sum()} hold here; the table of statements names the others" in text


def test_first_table_tells_the_centre_and_the_range(whole):
    cases = whole.tables["cases"]
    table = outcome.key_table(cases)
    depth = next(row for row in table.rows if row[0] == "Wear depth (mm)")
    values = cases[(cases["quantity"] == "wear_depth") & (cases["side"] == "medial")]
    centre = values.loc[values["case"] == outcome.centre_name(cases), "value"].item()
    assert depth[1] == sections.shown(centre, 3)
    ends = [sections.shown(end, 3) for end in (values["value"].min(), values["value"].max())]
    assert depth[3] == " to ".join(ends)
    text, _ = page_of(whole)
    assert text.index(f"<caption>{table.caption}") < text.index("What was run")


def test_page_tells_what_fewer_constants_cost(whole):
    rows = [
        (count, cells, quantities, error, 3.0 * error)
        for count, error in ((8, 7.0), (20, 1.25))
        for cells in ("fitted", "not fitted")
        for quantities in ("all others", "average pressure")
    ]
    columns = ["constants", "cells", "quantities"]
    columns += [f"{name}_beyond_rounding_percent" for name in ("median", "largest")]
    text, _ = page_of(whole, calibration_trade_off=pd.DataFrame(rows, columns=columns))
    assert "with 8, 20 constants fitted, the cells not fitted err by 7.0, 1.2 %" in text
    assert "Aimed at were 4 % and 10 %" in text


def test_table_2_1_stands_beside_the_printed_one(whole):
    table = pd.DataFrame(
        {"geometry": ["12 patches"], "quantity": ["mean deviation"], "here": [1.7],
         "published": [1.48], "difference": [0.22]}
    )  # fmt: skip
    text, _ = page_of(whole, benchmark_table_2_1=table)
    assert "only ratios compare" in text
    assert "<td>1.48</td>" in text


def test_words_begin_at_the_left():
    table = sections.make_table(
        "", ["a", "b", "c", "d"], [("x", "y", 1.0, ""), ("x", "z", "–", "")]
    )
    assert table.text_columns == (0, 1, 3)


def test_page_of_a_single_case_says_why_there_is_no_regression(single):
    text, _ = page_of(single)
    assert "No regression: 1 thickness and 1 body mass" in text
    assert 'id="comparison"' not in text


def test_names_are_escaped(whole):
    whole_settings = {**whole.settings, "study": "<b>bold</b>"}
    text = render_page(whole_settings, whole.tables, {}, {})
    assert "<b>bold</b>" not in text


def test_spring_force_is_told(whole):
    cases = whole.tables["cases"].copy()
    cases.loc[cases["quantity"] == "max_relative_spring_force", "value"] = 0.004
    assert "up to 0.4 % of the load" in outcome.balance_sentence(cases)


def test_validity_counts_cases_not_sides(whole):
    validity = whole.tables["validity"].assign(max_pressure_above_limit=True)
    assert outcome.validity_sentence(validity).startswith("4 of 4 cases")


def test_warnings_that_differ_in_numbers_alone_are_told_once():
    warnings = [
        ["simulate/b000", "case 6mm_50kg: holding takes up to 2 N"],
        ["simulate/b000", "case 14mm_150kg: holding takes up to 1.5e+03 N"],
        ["simulate/b000", "case 6mm_50kg: contact is lost"],
        ["simulate/b001", "case 8mm_50kg: holding takes up to 3 N"],
    ]
    assert list(outcome.origin_sentences({"warnings": warnings})) == [
        "4 warnings in the logs.",
        "simulate/b000: case 6mm_50kg: holding takes up to 2 N "
        "(1 more like it, with other numbers)",
        "simulate/b000: case 6mm_50kg: contact is lost",
        "simulate/b001: case 8mm_50kg: holding takes up to 3 N",
    ]
    assert list(outcome.origin_sentences({"warnings": []})) == ["No warnings in the logs."]


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.nan, "–"), (True, "yes"), (np.bool_(False), "no"), (12345.678, "12346"), (-0.5, "−0.5"),
     (7, "7"), ("gait", "gait"), (1.5e-7, "1.5 × 10⁻⁷"), (-2e-7, "−2 × 10⁻⁷")],
)  # fmt: skip
def test_values_as_text(value, text):
    assert sections.shown(value) == text


def test_unknown_figures_still_get_words():
    assert figure_text("pressure_stairs").title == "Pressure at the largest load: stairs"
    assert figure_text("other_thing").alternative == "other thing"


def test_a_missed_target_is_told(whole):
    rows = [
        ("sphere", "force", 0.01, 0.05),
        ("sphere", "area", 1.3, 1.0),
        ("punch", "force", 2.5, np.nan),
    ]
    table = pd.DataFrame(
        [
            {
                "contact": contact, "quantity": quantity, "unit": "N", "exact": 100.0,
                "computed": 100.0 + error, "worst_error_percent": error,
                "rms_error_percent": 0.5 * error, "target_percent": target,
            }
            for contact, quantity, error, target in rows
        ]
    )  # fmt: skip
    text, _ = page_of(whole, verification=table)
    assert "1 of 2 quantities with a target meet it" in text
    assert "of any shape, is 2.5 %" in text
    assert 'id="verification"' in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Young's modulus 463 MPa, Poisson"),
        ({"strain": "large"}, "Young's modulus 463 MPa, large strain"),
        ({"material": "polyethylene_23c"}, "material polyethylene 23c (published)"),
        ({"cap_mpa": 42.0}, "perfectly plastic at 42 MPa"),
        ({"thickness_offset_mm": -0.5}, "local thickness changed by -0.5 mm"),
    ],
)
def test_page_names_the_pressure_law(whole, changes, words):
    simulation = whole.settings["simulation"]
    law = {**simulation["pressure_law"], **changes}
    study = {**whole.settings, "simulation": {**simulation, "pressure_law": law}}
    assert any(words in sentence for sentence in sections.what_was_run(study))


def test_page_tells_what_reversed_signs_would_make_of_a_motion(whole):
    names = ("nothing", "anterior-posterior", "rotation", "anterior-posterior and rotation")
    trials = [SignTrial(name, 0.2, 1.0, 0.2, -8.0, 4.0, 0.5, 0.1) for name in names]
    trials[1] = replace(trials[1], driver_force=0.05, effort=0.05)
    text, _ = page_of(whole, signs_gait=tabulate_trials(trials, "gait"))
    assert "with the sign of anterior-posterior reversed" in text
    assert "gait: what reversed signs would make of the contact" in text
    assert "reversed signs" not in page_of(whole)[0]
