"""Pages: self-contained, complete, explicit about what is missing."""

from __future__ import annotations

import html
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from kneewear.report.captions import figure_text
from kneewear.report.decision import choice, headline
from kneewear.report.facts import beyond_limits, centre_rows, describe_cases, key_table
from kneewear.report.page import grouped_warnings, render_page
from kneewear.report.pdf import write_pdf
from kneewear.report.tables import make_table, shown
from kneewear.simulation.signs import SignTrial, tabulate_trials
from tests.report.pages import both_pages

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


def page_of(study, settings=None, activities=None, **changes):
    """Page and appendix as text without entities, and their parsed structure."""
    text = both_pages(
        "wear",
        settings or study.settings,
        study.tables | changes,
        dict.fromkeys(NAMES, SVG),
        {"versions": {"numpy": "2.0"}, "inputs": {}},
        activities=activities or study.activities,
        notes={"gait": ("The gap of 0.3 mm was blended.",)},
    )
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    return html.unescape(text), parser


def test_page_states_the_errors_that_a_finite_element_twin_found(whole):
    settings = whole.settings | {
        "report": whole.settings["report"] | {"fe_twin": "results/twin/tables/fe_twin.csv"}
    }
    keys = {
        "case": "10mm_100kg", "thickness_mm": 10.0, "body_mass_kg": 100.0, "percent": 15.0,
        "side": "medial", "unit": "", "foundation": 8.0, "finite_elements": 10.0,
        "foundation_error_percent": -20.0, "mesh_error_percent": 1.0,
    }  # fmt: skip
    quantities = ("max_pressure", "middle_pressure", "avg_pressure", "contact_area")
    twin = pd.DataFrame([keys | {"quantity": name} for name in quantities])
    text, _ = page_of(whole, settings, fe_twin=twin)
    assert "the foundation's peak is -20 % and its mean -20 % off" in text
    assert "The frame at 15 % of the cycle, in 1 case of this implant" in text
    assert "with the pressures of the finite elements" in text
    assert "finite elements" not in page_of(whole)[0]
    shown_case = facts_of(whole, "10mm_100kg", "medial")
    for quantity in ("creep_depth", "wear_depth"):
        assert f"{1.25 * shown_case[quantity]:.3f}" in text
    other = twin.assign(thickness_mm=7.0)
    text, _ = page_of(whole, settings, fe_twin=other)
    assert "(in 1 case of other thickness or mass)" in text
    assert "with the pressures of the finite elements" not in text


def facts_of(study, case, side):
    own = study.tables["cases"]
    return own[(own["case"] == case) & (own["side"] == side)].set_index("quantity")["value"]


def test_page_needs_no_other_file(whole):
    text, parser = page_of(whole)
    folders = {"../wear/worn/", "../wear/vtk/", "../tables/"}  # links only
    assert folders <= set(parser.addresses)
    assert all(
        address.startswith(("data:", "#", "index.html", "appendix.html", "https://doi.org/"))
        for address in set(parser.addresses) - folders
    )
    assert not re.search(r"@import|url\((?!data:|\))|<script[^>]* src", text)


def test_every_figure_is_shown_once_with_alternative_text(whole):
    _, parser = page_of(whole)
    assert len(parser.images) == len(NAMES)
    assert all(image["alt"] for image in parser.images)


def test_links_lead_to_sections_in_their_order(whole):
    text, parser = page_of(whole)
    anchors = [address[1:] for address in parser.addresses if address.startswith("#")]
    offsets = [text.index(f'id="{anchor}"') for anchor in dict.fromkeys(anchors)]
    assert offsets == sorted(offsets)
    assert len(offsets) == text.count("<section") > 10


def test_page_shows_settings_and_notes(whole):
    text, _ = page_of(whole)
    for words in ("blended", "70 % of it is carried medially", "51 months", "numpy"):
        assert words in text


def test_comparison_counts_calibration_cells_apart(whole):
    comparison = whole.tables["comparison"]
    text, _ = page_of(whole)
    for used, words in ((True, "fitted"), (False, "not fitted")):
        rows = comparison[comparison["calibration"] == used]
        median = 100.0 * rows["relative_error"].abs().median()
        cells = len(rows[["thickness_mm", "body_mass_kg"]].drop_duplicates())
        assert f"{len(rows)} values of {cells} cells {words} in the calibration" in text
        assert f"half agree within {median:.1f} %" in text
    null = 100.0 * rows["null_error"].abs()
    assert f"reproduces half of them within {null.median():.2f} %, 95 % within" in text
    assert "does not validate the mechanics" in text


def test_fitted_constants_are_counted_from_the_record_of_the_calibration(whole):
    rows = [
        (count, cells, quantities, error, 3.0 * error)
        for count, error in ((8, 7.0), (17, 1.25))
        for cells in ("fitted", "not fitted")
        for quantities in ("all others", "average pressure")
    ]
    columns = ["constants", "cells", "quantities"]
    columns += [f"{name}_beyond_rounding_percent" for name in ("median", "largest")]
    text, _ = page_of(whole, calibration_trade_off=pd.DataFrame(rows, columns=columns))
    assert "17 constants of the built-in ones were fitted to" in text
    assert "with 8, 17 constants fitted, the cells not fitted differ by 7.0, 1.2 %" in text
    assert "constants of the built-in ones" not in page_of(whole)[0]


def test_first_table_shows_the_centre_and_the_range(whole):
    cases = whole.tables["cases"]
    row = key_table(cases).set_index("quantity").loc["wear_depth"]
    values = cases[(cases["quantity"] == "wear_depth") & (cases["side"] == "medial")]
    assert row["medial"] == centre_rows(values)["value"].item()
    ends = [shown(end, "3") for end in (values["value"].min(), values["value"].max())]
    assert row["medial_range"] == " to ".join(ends)
    text, _ = page_of(whole)
    assert text.index(row["medial_range"]) < text.index("What was run")


def test_first_screen_states_loss_and_validity_of_the_centre(whole):
    cases = centre_rows(whole.tables["cases"])
    volume = cases[cases["quantity"] == "wear_volume"]["value"].sum()
    mass = cases[cases["quantity"] == "mass_loss"]["value"].sum()
    found = headline(whole.tables["cases"], whole.settings["wear"], "gait")
    assert found["volume"] == pytest.approx(volume)
    assert found["mass_rate"] == pytest.approx(mass)
    assert found["mass"] == pytest.approx(mass * 51 / 12)
    text, _ = page_of(whole)
    first = text[: text.index('id="damage"')]
    assert f"{shown(volume, '3')} mm³" in first
    assert "within validity" in text[: text.index("Per million cycles")]
    beyond = whole.tables["validity"].assign(max_pressure_above_limit=True)
    text, _ = page_of(whole, validity=beyond)
    assert "outside validity" in text[: text.index("Per million cycles")]
    assert "none of them is within the model's validity" in text


def test_choice_is_the_least_damage_and_those_within_validity():
    design = pd.DataFrame(
        {"case": list("abcd"), "thickness_mm": [6.0, 8.0, 10.0, 6.0],
         "body_mass_kg": [75.0] * 3 + [50.0], "damage_depth": [1.2, 1.0, 0.8, 0.1],
         "outside": [True, False, False, False]}
    )  # fmt: skip
    found = choice(design, "b")
    assert found["least"]["thickness_mm"] == 10.0
    assert found["within_mm"] == [8.0, 10.0]
    assert found["thickness_mm"] == [6.0, 8.0, 10.0]


def test_choice_is_among_inserts_that_differ_in_thickness_alone():
    blocks = [np.nan, 4.0, np.nan]
    design = pd.DataFrame(
        {"case": list("abc"), "thickness_mm": [6.0, 8.0, 10.0], "body_mass_kg": 75.0,
         "wear.blocks": blocks, "damage_depth": [1.2, 0.1, 0.8], "outside": False}
    )  # fmt: skip
    found = choice(design, "a")
    assert found["thickness_mm"] == [6.0, 10.0]
    assert found["least"]["damage_depth"] == 0.8


def test_identifiers_are_links_and_figures_link_their_files(whole):
    _, parser = page_of(whole)
    assert "https://doi.org/10.1115/1.3138397" in parser.addresses
    assert not [one for one in parser.addresses if "figures" in one]
    page = render_page("wear", whole.settings, whole.tables, {"damage_maps": SVG},
                       files={"damage_maps": "../figures/results/damage_maps.svg"})  # fmt: skip
    for suffix in ("svg", "pdf", "png"):
        assert f'href="../figures/results/damage_maps.{suffix}"' in page


def test_tables_of_cases_state_validity_and_nominal_and_modelled_thickness(whole):
    validity = whole.tables["validity"].assign(avg_pressure_above_limit=False)
    heavy = validity["body_mass_kg"] == 100.0
    validity = validity.assign(max_pressure_above_limit=heavy)
    extra = whole.settings["implant"]["parametric"]["extra_thickness_mm"]
    rows = describe_cases(whole.tables["comparison"], extra, validity)
    assert (rows["modelled_mm"] == rows["thickness_mm"] + extra).all()
    assert (rows["validity"] == np.where(rows["body_mass_kg"] == 100.0, "outside", "within")).all()
    # Of cases that differ in a further setting those of equal settings are marked.
    two = pd.concat([validity.assign(modulus=400.0), validity.assign(modulus=500.0)])
    two["max_pressure_above_limit"] = two["modulus"] == 500.0
    found = describe_cases(two.drop(columns="max_pressure_above_limit"), 0.0, two)
    assert (found["validity"] == np.where(two["modulus"] == 500.0, "outside", "within")).all()
    page = both_pages("wear", whole.settings, whole.tables | {"validity": validity}, {})
    assert "Ranges over all cases include 2 of 4" in page
    captions = [
        one
        for one in re.findall(r"<caption><span>(.*?)</span></caption>", page)
        if "mm insert" in one
    ]
    assert captions
    assert all("mm of polyethylene in the model" in one for one in captions)
    for table in re.findall(r"<table class=\"data.*?</table>", page, re.DOTALL):
        if "Nominal thickness (mm)" in table:
            assert "Modelled (mm)" in table
        assert ">Thickness (mm)<" not in table


def test_tables_hold_unrounded_numbers():
    frame = pd.DataFrame({"quantity": ["wear_volume"], "value": [1.23456789]})
    table = make_table("", frame, {"quantity": "Quantity", "value": ("V", "3")})
    assert table.rows == (("Wear volume", "1.23"),)
    assert table.values == (("Wear volume", 1.23456789),)


def test_text_columns_are_aligned_at_the_left():
    frame = pd.DataFrame({"a": ["x", "x"], "b": ["y", "z"], "c": [1.0, np.nan], "d": ["", ""]})
    table = make_table("", frame)
    assert table.text_columns == (0, 1, 3)


def test_columns_that_a_table_does_not_have_are_left_out():
    frame = pd.DataFrame({"quantity": ["wear_volume"], "unit": ["mm3"], "value": [-1.26]})
    table = make_table("", frame, {"life": "Life", "label": "Quantity", "value": ("V", "+.1f")})
    assert table.header == ("Quantity", "V")
    assert table.rows == (("Wear volume (mm³)", "−1.3"),)


def test_page_of_a_single_case_states_why_there_is_no_regression(single):
    text, _ = page_of(single)
    assert "No regression: 1 thickness and 1 body mass" in text
    assert 'id="comparison"' not in text


def test_page_needs_no_tables_but_the_cases(whole):
    cases = {"cases": whole.tables["cases"]}
    text = render_page("wear", whole.settings, cases, {})
    for anchor in ("comparison", "validity", "failures", "dynamics"):
        assert f'id="{anchor}"' not in text
    assert 'id="damage"' in text


def test_summary_is_a_few_pages_with_what_differs_from_the_default(whole):
    settings, own = whole.settings, {**whole.settings, "wear": whole.settings["wear"]}
    own["wear"] = {**settings["wear"], "months": 17.0}
    versions = {"versions": {"kneewear": "0"}}
    file = io.BytesIO()
    Image.new("RGB", (30, 20)).save(file, "PNG")
    drawn = {"wear_maps": file.getvalue()}
    text = render_page(
        "wear", own, whole.tables, drawn, provenance=versions, defaults=settings, part="summary"
    )
    (row,) = re.findall(r"<tr>.*?wear.months.*?</tr>", text)
    assert "17.0" in row
    assert "Credibility" in text
    assert b"/Image" in write_pdf(text, "Study")
    assert 1 <= write_pdf(text, "Study").count(b"/Type /Page\n") <= 4


@pytest.mark.parametrize("kind", ["wear", "preflight"])
def test_names_are_escaped(whole, kind):
    settings = {**whole.settings, "study": "<b>bold</b>"}
    tables = whole.tables | {"first_contacts": pd.DataFrame({"pose": ["<b>bold</b>"]})}
    assert "<b>bold</b>" not in render_page(kind, settings, tables, {})


def test_failed_cases_are_named(whole):
    failures = pd.DataFrame(
        {
            "activity": ["gait", "stairs"],
            "case": ["heavy", "heavy"],
            "frame": [3, 4],
            "residual": [0.1, np.nan],
            "reason": ["no <balance>", "no balance"],
        }
    )
    text, _ = page_of(whole, failures=failures)
    assert "1 case could not be simulated and is left out of every table" in text
    assert 'id="failures"' in text
    assert 'id="failures"' not in page_of(whole, failures=failures[:0])[0]


def test_spring_force_is_shown(whole):
    cases = whole.tables["cases"].copy()
    cases.loc[cases["quantity"] == "max_relative_spring_force", "value"] = 0.004
    assert "up to 0.4 % of the load" in page_of(whole, cases=cases)[0]


def test_validity_counts_cases_not_sides(whole):
    validity = whole.tables["validity"].assign(max_pressure_above_limit=True)
    assert beyond_limits(validity)["case"].nunique() == 4
    assert "4 of 4 cases go beyond" in page_of(whole, validity=validity)[0]


def test_validity_is_that_of_each_life(whole):
    tables = {
        name: pd.concat([table, table.assign(life="heavy")], ignore_index=True)
        for name, table in whole.tables.items()
        if name in ("cases", "validity")
    }
    heavy = tables["validity"]["life"] == "heavy"
    tables["validity"] = tables["validity"].assign(max_pressure_above_limit=heavy)
    text = page_of(whole, **tables)[0]
    badges = re.findall(r"<h2>\d+ mm.*?<span class=\"badge( within)?\"", text, re.DOTALL)
    assert badges == [" within", ""]
    assert "4 of 4 cases of heavy go beyond" in text


def test_warnings_that_differ_in_numbers_alone_are_shown_once():
    warnings = [
        ["simulate/b000", "case 6mm_50kg: holding takes up to 2 N"],
        ["simulate/b000", "case 14mm_150kg: holding takes up to 1.5e+03 N"],
        ["simulate/b000", "case 6mm_50kg: contact is lost"],
        ["simulate/b001", "case 8mm_50kg: holding takes up to 3 N"],
    ]
    assert grouped_warnings(warnings) == [
        ("simulate/b000", "case 6mm_50kg: holding takes up to 2 N", 1),
        ("simulate/b000", "case 6mm_50kg: contact is lost", 0),
        ("simulate/b001", "case 8mm_50kg: holding takes up to 3 N", 0),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.nan, "–"), (True, "yes"), (np.bool_(False), "no"), (12345.678, "12346"), (-0.5, "−0.5"),
     (7, "7"), ("gait", "gait"), (1.5e-7, "1.5 × 10⁻⁷"), (-2e-7, "−2 × 10⁻⁷")],
)  # fmt: skip
def test_values_as_text(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(-0.04, "0.0"), (0.0, "0.0"), (-16.37, "−16.4"), (5.2, "+5.2")]
)
def test_changes_carry_a_sign_unless_they_round_to_zero(value, text):
    assert shown(value, "+.1f") == text


def test_unknown_figures_still_get_words():
    assert figure_text("pressure_stairs").title == "Pressure at the largest load: stairs"
    assert figure_text("other_thing").alternative == "other thing"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Young's modulus 463 MPa, Poisson"),
        ({"strain": "large"}, "Young's modulus 463 MPa, large strain"),
        ({"material": "polyethylene_23c"}, "material polyethylene at 23 °C (published)"),
        ({"cap_mpa": 42.0}, "perfectly plastic at 42 MPa"),
        ({"thickness_offset_mm": -0.5}, "local thickness changed by -0.5 mm"),
    ],
)
def test_page_names_the_pressure_law(whole, changes, words):
    simulation = whole.settings["simulation"]
    law = {**simulation["pressure_law"], **changes}
    study = {**whole.settings, "simulation": {**simulation, "pressure_law": law}}
    assert words in page_of(whole, study)[0]


def test_page_shows_the_contact_of_a_motion_with_reversed_signs(whole):
    names = ("nothing", "anterior-posterior", "rotation", "anterior-posterior and rotation")
    trials = [SignTrial(name, 0.2, 1.0, 0.2, -8.0, 4.0, 0.5, 0.1) for name in names]
    trials[1] = replace(trials[1], driver_force=0.05, effort=0.05)
    text, _ = page_of(whole, signs_gait=tabulate_trials(trials, "gait"))
    assert "with the sign of anterior-posterior reversed" in text
    assert "contact with reversed signs" in text
    assert "reversed signs" not in page_of(whole)[0]


@pytest.mark.parametrize("mixing", ["linear", "sequence"])
def test_page_of_a_surface_that_follows_states_no_linear_effects(whole, mixing):
    wear = {**whole.settings["wear"], "blocks": 4, "mixing": mixing}
    text, _ = page_of(whole, {**whole.settings, "wear": wear})
    assert "lowered in 4 blocks" in text
    assert "% (linear)" not in text


def test_alignment_is_stated_where_components_are_placed_otherwise(whole):
    assert "Components placed otherwise" not in page_of(whole)[0]
    simulation = whole.settings["simulation"]
    alignment = {
        "tibial": simulation["alignment"]["tibial"] | {"slope_deg": 3.0, "medial_mm": -1.5},
        "femoral": simulation["alignment"]["femoral"] | {"external_rotation_deg": 2.0},
    }
    settings = whole.settings | {"simulation": simulation | {"alignment": alignment}}
    text = " ".join(page_of(whole, settings)[0].split())
    assert (
        "Components placed otherwise than motion and load have them: insert on the tibia: "
        "medial -1.5 mm; insert on the tibia: slope +3 deg; femoral component on the femur: "
        "external rotation +2 deg."
    ) in text


def test_boundary_conditions_are_those_the_activity_records(whole):
    usual = page_of(whole)[0]
    assert "rotation and flexion were prescribed; superior-inferior translation, medial" in usual
    gait = replace(
        whole.activities["gait"],
        prescribed=("z", "theta_3"),
        load_line=5.0,
        wrench=np.tile([0.1, 0.0, 0.0, 0.0, 2.0, 0.0], (6, 1)),
    )
    text = page_of(whole, activities={"gait": gait})[0]
    assert "Flexion was prescribed; medial-lateral translation was held; " in text
    assert "anterior-posterior translation and internal-external rotation were driven by" in text
    assert "superior-inferior translation and varus followed without friction" in text
    assert "on a line 5 mm medial of the insert's origin" in text
    for words in ("it is carried medially", "70 %, load line", "translation were prescribed"):
        assert words not in text
    assert "compliance" not in text
    block = whole.settings["activities"]["gait"] | {"source": "iso14243-1"}
    settings = whole.settings | {"activities": {"gait": block}}
    text = page_of(whole, settings, activities={"gait": gait})[0]
    assert "Curves are the user's for ISO14243-1; compliance with the standard is not" in text
