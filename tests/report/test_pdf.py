"""A4 pages of the summary."""

from __future__ import annotations

import base64
import io
import re
import zlib

import pytest
from PIL import Image

from kneewear import default_settings_file
from kneewear.report.page import changed_settings, render_page
from kneewear.report.pdf import MAX_ROWS, _column_widths, _Document, _Reader, write_pdf
from kneewear.settings.study import load_study
from tests.report.drawn import figures_of
from tests.report.static_results import STUDY
from tests.report.test_uncertainty_report import made_up


def picture(width, height):
    """Picture as a data address."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def pages(path):
    """Number of pages."""
    return len(re.findall(rb"/Type /Page\b", path.read_bytes()))


def drawn(path):
    """Drawing commands of all pages."""
    parts = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", path.read_bytes(), re.DOTALL)
    texts = []
    for part in parts:
        try:
            texts.append(zlib.decompress(part))
        except zlib.error:
            continue
    return b"".join(texts)


def test_equal_texts_are_equal_files(tmp_path):
    text = "<h1>Wear</h1><p>0.5 mm³ &lt; <b>1</b></p><ul><li>µm → ≤</li></ul>"
    for name in "ab":
        (tmp_path / name).write_bytes(write_pdf(text, "Study"))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert pages(tmp_path / "a") == 1


@pytest.mark.parametrize(
    ("width", "height", "most"), [(400, 100, 82.0), (120, 100, 82.0), (100, 400, 120.0)]
)
def test_pictures_are_centred_and_no_higher_than_allowed(tmp_path, width, height, most):
    (tmp_path / "a").write_bytes(
        write_pdf(f'<p>One</p><img src="{picture(width, height)}">', "Study")
    )
    found = re.search(rb"q ([\d.]+) 0 0 ([\d.]+) ([\d.]+) [\d.-]+ cm /I", drawn(tmp_path / "a"))
    across, up, left = (float(value) / 72.0 * 25.4 for value in found.groups())
    assert across / up == pytest.approx(width / height, rel=1e-3)
    assert left + 0.5 * across == pytest.approx(105.0, abs=0.1)
    assert up <= most + 0.01


def test_no_word_of_a_table_is_broken(tmp_path):
    heads = ["Displacement", "Friction", "Text", *map(str, range(9))]
    cells = ["anterior", "0.01325", "words " * 40, *["0.007042"] * 9]
    rows = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in (heads, cells)
    )
    page = _Document("Study")
    widths = _column_widths(page, list(zip(heads, cells, strict=True)))
    assert sum(widths) == pytest.approx(page.epw)
    for width, *column in zip(widths, heads, cells, strict=True):
        longest = max(page.get_string_width(word) for cell in column for word in cell.split())
        assert width >= longest + 1.0
    # What fpdf does with them: every cell of one word stays one text.
    (tmp_path / "a").write_bytes(write_pdf(f"<table>{rows}</table>", "Study"))
    assert pages(tmp_path / "a") == 1


def test_long_tables_are_cut(tmp_path):
    rows = "".join(f"<tr><td>{n}</td><td>{n * n}</td></tr>" for n in range(400))
    table = f"<table><caption>All</caption><tr><th>n</th><th>n2</th></tr>{rows}</table>"
    (tmp_path / "a").write_bytes(write_pdf(table, "Study"))
    assert pages(tmp_path / "a") == 1
    assert MAX_ROWS < 400


@pytest.mark.parametrize("length", range(40, 60))
def test_lines_break_between_words_wherever_the_style_changes(length):
    start = "w" * (length - 20) + " within 10 mm insert, 100 kg:"
    plain = write_pdf(f"<h2>{start} outside validity</h2>", "A")
    assert write_pdf(f"<h2>{start}\n<b>outside validity</b> </h2>", "A") == plain


def test_badges_are_in_brackets_and_titles_are_above_their_pictures():
    document = _Document("Study")
    reader = _Reader(document)
    set_texts, cells = [], []
    document.write = lambda _, text: set_texts.append(text)
    reader._words = lambda tag, style, text: cells.append((tag, text, document.get_y()))
    reader.feed(
        '<h2>51 months <span class="badge within">within validity</span></h2>'
        f'<figure><h3>Design</h3><img src="{picture(40, 30)}"><figcaption>All cases.</figcaption>'
        "</figure><p>After.</p>"
    )
    assert set_texts == ["51 months [within validity]", "After."]
    (title, above), (caption, below) = ((text, at) for _, text, at in cells)
    assert (title, caption) == ("Design", "All cases.")
    assert below - above == pytest.approx(82.0, abs=0.1)


# A picture 82 mm high and its caption of several lines, and the room left on the page, mm.
@pytest.mark.parametrize(("room", "page"), [(110.0, 1), (80.0, 1), (60.0, 2)])
def test_a_figure_is_on_one_page_and_smaller_where_that_saves_a_break(room, page):
    document = _Document("Study")
    document.set_y(document.h - 15.0 - room)
    _Reader(document).feed(
        f'<figure><h3>Title</h3><img src="{picture(400, 200)}">'
        "<figcaption>" + 60 * "word " + "</figcaption></figure>"
    )
    assert document.page_no() == page
    assert document.get_y() <= document.h - 15.0


def as_png(figures):
    """Figures as pictures of the size that reports have."""
    found = {}
    for name, figure in figures.items():
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=100)
        found[name] = file.getvalue()
    return found


@pytest.mark.slow
def test_the_summary_of_every_kind_is_four_pages_at_most(
    whole, single, static_study, new_kinds, tmp_path
):
    defaults = load_study(default_settings_file()).model_dump(mode="json")
    one, sampled = made_up("monte_carlo")
    studies = {
        "wear": ("wear", whole.settings, whole.tables, figures_of(whole)),
        "two lives": ("wear", single.settings, single.tables, figures_of(single)),
        "static": ("static", STUDY.model_dump(mode="json"), static_study[2], {}),
        "uncertainty": ("uncertainty", one.model_dump(mode="json"), sampled, {}),
        **new_kinds,
    }
    found = {}
    for name, (kind, settings, tables, figures) in studies.items():
        page = render_page(
            kind, settings, tables, as_png(figures),
            {"versions": {"kneewear": "0"}, "warnings": []},
            defaults=defaults, part="summary",
        )  # fmt: skip
        path = tmp_path / f"{name}.pdf"
        path.write_bytes(write_pdf(page, name))
        found[name] = pages(path)
    assert {name: count for name, count in found.items() if count > 4} == {}


def test_settings_of_blocks_that_the_default_lacks_are_one_row():
    study = {"study": "mine", "kind": "other", "grid": {"rows": 9}, "own": {"a": 1, "b": {"c": 2}}}
    table = changed_settings(study, {"study": "d", "kind": "wear", "grid": {"rows": 8}})
    assert table.to_numpy().tolist() == [
        ["grid.rows", "9", "8"], ["own", "a 1", "–"], ["own.b", "c 2", "–"],
    ]  # fmt: skip
