"""Files of a study for a paper: figures at the widths of journals, texts, references."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO

import pytest
from docx import Document
from matplotlib.figure import Figure

from kneewear.report import style
from kneewear.report.journal import build_manuscript, latex_text, manuscript_files
from kneewear.report.print_layout import fit_texts, is_legible
from kneewear.report.regression import draw_models, draw_trends
from tests.report.conftest import make_study

VERSIONS = {"python": "3.11", "numpy": "2", "scipy": "1", "numba": "0"}
SUMMARY = {
    "study": "small",
    "heading": "Wear",
    "version": "1.0",
    "number": "a1",
    "key_results": [],
    "tables": [{"caption": "Depth & width", "header": ["Case", "mm³"], "rows": [["a_b", "10⁻⁷"]]}],
}


@pytest.fixture(scope="module")
def drawn():
    return make_study((6.0, 8.0, 10.0), (50.0, 75.0, 100.0))


@pytest.mark.parametrize("width", [90.0, 190.0])
@pytest.mark.parametrize(
    "draw",
    [
        lambda study: draw_trends(study.tables["cases"], study.tables["regression_models"]),
        lambda study: draw_models(study.tables["regression_models"]),
    ],
)
def test_figures_have_the_width_of_the_column(drawn, width, draw):
    with style.printed_at(width):
        figure = draw(drawn)
        assert figure.get_figwidth() * 25.4 == pytest.approx(width)
        assert {
            text.get_fontsize() for text in figure.findobj(lambda one: hasattr(one, "get_fontsize"))
        } <= {7.0, 8.0}


def test_panels_stand_below_each_other_in_a_column():
    with style.printed_at(90.0):
        figure, panels = style.new_figure(3.0, columns=3, sharey=True)
        figure.draw_without_rendering()
    tops = [axes.get_position().y1 for axes in panels[0]]
    assert panels.shape == (1, 3)
    assert tops == sorted(tops, reverse=True)
    assert panels[0, 0].get_shared_y_axes().joined(panels[0, 0], panels[0, 2])


def test_page_is_as_before_outside_of_print():
    figure, panels = style.new_figure(3.0, columns=3)
    assert figure.get_figwidth() == style.WIDTH
    assert len({axes.get_position().y1 for axes in panels[0]}) == 1


def test_overlapping_texts_are_found():
    figure = Figure(figsize=(3.0, 2.0), layout="constrained")
    axes = figure.subplots()
    fit_texts(figure)
    assert is_legible(figure)
    axes.text(0.5, 0.5, "one text")
    axes.text(0.5, 0.5, "another")
    assert not is_legible(figure)


def test_long_title_is_broken():
    figure = Figure(figsize=(2.0, 2.0), layout="constrained")
    axes = figure.subplots()
    axes.set_title("a title that is much longer than its panel is wide")
    fit_texts(figure)
    assert "\n" in axes.get_title()
    assert is_legible(figure)


def test_methods_name_settings_and_cite_sources(drawn):
    manuscript = build_manuscript(SUMMARY, drawn.settings, VERSIONS, ["trends"])
    parts = [part for sentence in manuscript.methods for part in sentence]
    keys = {part for sentence in manuscript.methods for part in sentence[1::2]}
    assert keys == set(manuscript.references)
    assert "bei2003" in keys
    assert any("463" in part for part in parts)


def test_assumptions_that_nobody_confirmed_are_said(drawn):
    law = drawn.settings["wear"]["wear_law"]
    entry = {"name": "law", "key": "wear.wear_law", "value": law, "found": "a law of pins"}
    own = drawn.settings | {"assumed": [entry]}
    sentences = build_manuscript(SUMMARY, own, VERSIONS, []).methods
    assert any("a law of pins" in sentence[0] for sentence in sentences)


@pytest.mark.parametrize(("law", "has_constant"), [("pressure", True), ("strain", False)])
def test_constant_of_creep_belongs_to_its_law(drawn, law, has_constant):
    own = drawn.settings | {"wear": drawn.settings["wear"] | {"creep_law": law}}
    sentences = build_manuscript(SUMMARY, own, VERSIONS, []).methods
    assert any("mm/MPa" in sentence[0] for sentence in sentences) == has_constant


def test_sentences_of_other_models_are_left_out(drawn):
    own = {name: value for name, value in drawn.settings.items() if name != "wear"}
    sentences = build_manuscript(SUMMARY, own, VERSIONS, []).methods
    assert not any("Creep" in sentence[0] for sentence in sentences)


def test_files_of_the_manuscript(drawn):
    files = manuscript_files(build_manuscript(SUMMARY, drawn.settings, VERSIONS, ["trends"]))
    latex = files["manuscript.tex"].decode()
    assert latex.isascii()
    assert latex.count("\\begin{") == latex.count("\\end{")
    assert set(re.findall(r"\\cite\{(\w+)\}", latex)) == set(
        re.findall(r"^@\w+\{(\w+),", files["references.bib"].decode(), re.MULTILINE)
    )
    with zipfile.ZipFile(BytesIO(files["manuscript.docx"])) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
    document = Document(BytesIO(files["manuscript.docx"]))
    rows = [[cell.text for cell in row.cells] for table in document.tables for row in table.rows]
    assert len(rows) == 2
    assert any("Depth & width" in paragraph.text for paragraph in document.paragraphs)


def test_signs_of_latex():
    assert latex_text("10⁻⁷ mm³ & 5 %") == r"10$^{-7}$ mm$^3$ \& 5 \%"


@pytest.mark.parametrize(("height", "covered"), [(1.0, True), (0.2, False)])
def test_legends_that_cover_curves_are_below_all_panels(height, covered):
    with style.printed_at(90.0):
        figure, ((axes,),) = style.new_figure(1.6)
        axes.plot([0.0, 1.0], [0.0, height], label="rising")
        axes.plot([0.0, 1.0], [height, 0.0], label="falling")
        axes.set_ylim(0.0, 1.0)
        axes.legend(loc="upper center")
        fit_texts(figure)
    below = figure.legends[0] if figure.legends else None
    assert (axes.get_legend() is None) == covered
    assert (below is not None) == covered
    if covered:
        assert [text.get_text() for text in below.get_texts()] == ["rising", "falling"]
        assert below.get_window_extent().y1 <= axes.get_window_extent().y0
