"""Pages: sections, figures and tables by name, and no other file."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import matplotlib as mpl
import pytest

from kneewear.base.findings import Reported
from kneewear.errors import Finding
from kneewear.models.press.static_figures import draw_static_figures
from kneewear.report.pdf import write_pdf
from kneewear.report.source_tables import provenance_tables
from kneewear.report.specification import load_page
from kneewear.report.style import new_figure, styled
from tests.report.drawn import WEAR_FIGURES
from tests.report.pages import as_svg, written
from tests.report.static_results import STUDY

PROVENANCE = {"versions": {"numpy": "2.0"}, "inputs": {"a.csv": "0f"}, "wall_time_s": {"fit": 1.0}}


@pytest.fixture(scope="module")
def page(whole):
    figures = dict.fromkeys(WEAR_FIGURES, b"<svg/>")
    return written("wear", whole.settings, whole.tables, figures, provenance=PROVENANCE)


def tables_of(text):
    return set(re.findall(r'data-table="([a-z_]+)"', text))


def anchors(text):
    return re.findall(r'<section id="([a-z_]+)"', text)


def test_page_needs_no_other_file(page):
    for text in (page.page, page.appendix):
        html = re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)
        asked = re.findall(r'(?:src|href)="(?!data:|#|https://doi)([^"]*)"', html)
        assert {name.partition("#")[0] for name in asked} <= {
            "appendix.html",
            "index.html",
            "../wear/worn/",
            "../wear/vtk/",
            "../tables/",
        }


def test_sections_of_the_specification_have_links_in_their_order(page, whole):
    for text, parts in (
        (page.page, load_page("wear").sections),
        (page.appendix, load_page("wear").appendix),
    ):
        order = [part.id for part in parts]
        own = [name for name in anchors(text) if name in order]
        assert own == sorted(own, key=order.index)
        nav = text.partition("<nav")[2].partition("</nav>")[0]
        assert re.findall(r'href="#([a-z_]+)"', nav) == anchors(text)
    assert {"damage", "regression", "motion", "rates", "decide"} <= set(anchors(page.page))
    assert {"comparison", "wear_laws", "choices", "provenance"} <= set(anchors(page.appendix))
    assert "failures" not in anchors(page.page)


def test_every_figure_is_shown_once_with_alternative_text(page):
    both = page.page + page.appendix
    for name in WEAR_FIGURES:
        assert both.count(f'id="figure-{name}"') == 1
    assert all(re.findall(r'<img [^>]*alt="([^"]*)"', both))


def test_tables_are_shown_beside_published_ones(page):
    assert {"key_table", "all_cases", "regression_table", "thickness_choice"} <= tables_of(
        page.page
    )
    assert {
        "published_errors",
        "published_cells",
        "regression_refit",
        "published_statements",
        "settings_table",
        "check_ranges",
        "citations",
    } <= tables_of(page.appendix)


def test_provenance_and_all_findings_are_in_the_appendix(whole):
    findings = [Reported(Finding("", "note", "", f"n{n}", "", ""), "fit") for n in range(9)]
    page = written("wear", whole.settings, whole.tables, {}, findings, None, PROVENANCE)
    for text in ("0f", "numpy"):
        assert text in page.appendix.partition('id="provenance"')[2]
    for number in range(9):
        assert f"n{number}." in page.appendix
    shown = page.page.count("<li data-check")
    assert shown == page.appendix.count("<li data-check") >= 9
    assert page.page.count('class="cause"') == len({one.finding.check for one in page.findings})


def test_page_needs_no_tables_but_the_cases(whole, single):
    page = written("wear", whole.settings, {"cases": whole.tables["cases"]})
    assert "damage" in anchors(page.page)
    assert "comparison" not in anchors(page.appendix)
    page = written("wear", single.settings, single.tables)
    assert "regression_table" not in tables_of(page.page)
    assert "decide" not in anchors(page.page)


class Elements(HTMLParser):
    """Elements of a page with the names of their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, tuple(key for key, _ in attributes)))


def test_times_of_the_rules_end_with_their_sum():
    times = {"wall_time_s": {"a": 1.5, "b": 2.0}, "processor_s": {"b": 3.25, "a": 1.0}}
    table = provenance_tables(times)["wall_time_s"]
    assert table.to_numpy().tolist() == [["a", 1.5, 1.0], ["b", 2.0, 3.25], ["all", 3.5, 4.25]]
    earlier = provenance_tables({"wall_time_s": times["wall_time_s"]})["wall_time_s"]
    assert earlier.to_numpy().tolist() == [["a", 1.5], ["b", 2.0], ["all", 3.5]]


HOSTILE = "\"'></title></script><script>alert(1)</script><img src=x onerror=alert(1)>`{{ 7*7 }}"


def named(study, name):
    """Settings, tables, findings and provenance of a study with a name wherever text may be."""
    settings = study.settings | {"implant": study.settings["implant"] | {"name": name}}
    case = study.tables["cases"]["case"].iloc[0]
    cases = study.tables["cases"].replace({"case": {case: name}})
    finding = Finding("a", "warn", f"{name}, row 1", name, name, name)
    origin = {"versions": {name: name}, "inputs": {name: "0f"}, "wall_time_s": {name: 1.0}}
    return (settings, study.tables | {"cases": cases}), [Reported(finding, name)], origin


def test_no_text_adds_an_element_to_a_page(whole):
    pages = []
    for name in ("harmless", HOSTILE):
        inputs, findings, origin = named(whole, name)
        pages.append(written("wear", *inputs, findings=findings, provenance=origin))
    for part in ("page", "appendix"):
        harmless, hostile = (Elements(getattr(page, part)).found for page in pages)
        assert len(harmless) > 100
        assert harmless == hostile


def test_no_text_ends_a_text_of_the_summary_in_pdf(page):
    hostile = "x) /AA << /S /JavaScript /JS (app.alert(1)) >> (y"
    finding = Reported(Finding("a", "warn", hostile, hostile, hostile, hostile))
    summary = page.summary | {"study": hostile, "subject": hostile, "findings": [finding.record()]}
    content = write_pdf(summary, load_page("wear"), {})
    assert not re.search(rb"(?<!\\)\) /AA", content)
    assert content.count(b"/JavaScript") == content.count(rb"\) /AA << /S /JavaScript")


def test_names_in_figures_are_no_mathematics_and_no_elements():
    names = ["$\\broken{$", "<script>$1$</script>"]

    @styled
    def drawn():
        figure, ((axes,),) = new_figure(2.0)
        axes.plot([1.0, 1e4], [0.0, 1.0], label=names[0])
        axes.set(xscale="log", title=names[0], xlabel=names[1])
        axes.set_yticks([0.0, 1.0], labels=names)
        axes.legend()
        return figure

    with mpl.rc_context({"svg.fonttype": "none"}):
        text = as_svg(drawn()).decode()
    written_texts = [unescape(one) for one in re.findall(r">([^<>]+)</text>", text)]
    assert {name: written_texts.count(name) for name in names} == {names[0]: 3, names[1]: 2}
    assert "<script" not in text
    assert not any("mathdefault" in one for one in written_texts)  # ticks stay formulas


def test_sections_without_content_are_left_out(static_study):
    tables = static_study.tables
    drawn = draw_static_figures(*static_study)
    page = written("static", STUDY.model_dump(mode="json"), tables, drawn)
    assert {"pressure", "materials", "elements"} <= set(anchors(page.page))
    assert page.page.count("<img") == len(drawn)
    comparison = tables["material_comparison"]
    whole_range = comparison[comparison["load_n"].isna()].set_index("quantity")["mean_mpa"]
    result = page.results["material_difference", "max_pressure"]
    assert result.value == pytest.approx(whole_range["max_pressure"])
    page = written("static", STUDY.model_dump(mode="json"), {"contact": tables["contact"]})
    assert not {"materials", "elements"} & set(anchors(page.page))
