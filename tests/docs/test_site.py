"""The documentation site: builds without a warning, says everything, and fetches nothing."""

from __future__ import annotations

import ast
import csv
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generators.examples import EXAMPLES, ROOT
from docs.generators.pages import ROOMS, concepts
from kneewear.study.settings import Study

pytest.importorskip("mkdocs", reason="needs the extra 'docs'")
pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=\"?(https?:)?//[^>]*>"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; every warning ends the build."""
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {
        "NO_MKDOCS_2_WARNING": "1",
        "KNEEWEAR_RESULTS": str(folder / "none"),
    }
    for words_of_command in (
        ["docs.generators.build", "build/docs"],
        ["mkdocs", "build", "--strict", "--site-dir", str(folder)],
        ["docs.generators.offline", str(folder)],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *words_of_command],
            cwd=CHECKOUT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def page(site, name):
    """Source of a page."""
    return (site / name).read_text(encoding="utf-8")


def words(site, name):
    """Return the text between the tags of a page."""
    article = re.search(r"<article.*?</article>", page(site, name), re.DOTALL)[0]
    return html.unescape(re.sub(r"<[^>]+>", "", article))


def public_names(path):
    """Qualified names of public classes, functions and methods of a module, read without import."""
    module = ".".join(path.relative_to(CHECKOUT).with_suffix("").parts)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield f"{module}.{node.name}"
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                    yield f"{module}.{node.name}.{inner.name}"


@pytest.mark.workflow
@pytest.mark.slow
def test_every_public_name_of_every_room_is_in_the_reference(site):
    missing, count = [], 0
    for room in (*ROOMS, ""):
        shown = page(site, f"reference/{room if room else 'package'}.html")
        for path in sorted((CHECKOUT / "kneewear" / room).glob("**/*.py" if room else "*.py")):
            if path.name.startswith("_") or path.name == "api.py":
                continue
            for name in public_names(path):
                count += 1
                missing += [] if f'id="{name.replace(".__init__", "")}"' in shown else [name]
    assert not missing
    assert count > 400


@pytest.mark.workflow
@pytest.mark.slow
def test_concepts_of_the_sources_stand_on_their_built_pages(site):
    shown = {row["page"]: words(site, f"theory/{row['page'][:-3]}.html") for row in concepts()}
    shown = {name: " ".join(text.lower().split()) for name, text in shown.items()}
    missing = [row for row in concepts() if row["concept"].lower() not in shown[row["page"]]]
    assert not missing
    listed = words(site, "theory/concepts.html")
    assert all(row["concept"] in listed for row in concepts())


def test_every_folder_of_the_package_is_a_room():
    found = {path.parent.name for path in (CHECKOUT / "kneewear").glob("*/__init__.py")}
    assert found == set(ROOMS)


@pytest.mark.workflow
@pytest.mark.slow
def test_every_setting_is_explained(site):
    keys = {
        re.split(r"[.]", key)[-1].removesuffix("[]")
        for key in re.findall(r"<code>([^<]+)</code>", page(site, "reference/settings.html"))
    }
    schema = Study.model_json_schema()
    blocks = [schema, *schema["$defs"].values()]
    wanted = {name for block in blocks for name in block.get("properties", {})}
    assert len(wanted) > 100
    assert wanted <= keys, wanted - keys


@pytest.mark.workflow
@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(site):
    # Scripts of the example report hold such texts; `tests/report/test_browser.py` watches reports.
    pages = {*site.rglob("*.html")} - {*(site / "example").rglob("*.html")}
    assert len(pages) > 50
    for path in pages:
        assert not FETCHED.search(path.read_text(encoding="utf-8")), path
    for path in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?https?:", path.read_text()), path


@pytest.mark.workflow
@pytest.mark.slow
def test_formulas_are_mathml(site):
    for path in (site / "theory").glob("*.html"):
        text = words(site, f"theory/{path.name}")
        assert "$" not in text, path
        assert "\\" not in text, path
    assert page(site, "theory/contact.html").count("<math") > 15
    # A display with its fraction: Eq. 2-1.
    assert re.search(r'<math[^>]*display="block"', page(site, "theory/contact.html"))


@pytest.mark.workflow
@pytest.mark.slow
def test_a_reader_without_network_can_search(site):
    playwright = pytest.importorskip("playwright.sync_api", reason="needs a browser")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium")
    said, asked = [], []
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        reader = browser.new_page()
        reader.on("pageerror", lambda error: said.append(str(error)))
        reader.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
        reader.on("request", lambda request: asked.append(request.url))
        reader.goto((site / "theory" / "wear.html").as_uri())
        # Key by key: the search hears keys, not a text set at once after it got ready.
        reader.locator("input[name=query]").press_sequentially("cross-shear", delay=20)
        reader.wait_for_selector(".md-search-result__item", state="attached", timeout=120_000)
        height = reader.evaluate(
            "document.querySelector('math[display=block] mfrac, math mi')"
            ".getBoundingClientRect().height"
        )
        browser.close()
    assert height > 0
    assert not said
    assert not [url for url in asked if url.startswith("http")]


def questions():
    """Questions of a newcomer, words that they type into the search, and the page that answers."""
    with (CHECKOUT / "docs" / "questions.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def linked_pages(site, name):
    """Pages of the site that the text of a page links to; the menu does not count."""
    article = re.search(r"<article.*?</article>", page(site, name), re.DOTALL)[0]
    for target in re.findall(r'<a [^>]*?href="([^"#:]+\.html)', article):
        path = ((site / name).parent / target).resolve()
        if path.is_file() and path.is_relative_to(site.resolve()):
            yield path.relative_to(site.resolve()).as_posix()


def test_each_question_of_a_newcomer_is_answered_within_three_clicks(site):
    clicks, reached = {"index.html": 0}, ["index.html"]
    while reached:
        name = reached.pop(0)
        for target in linked_pages(site, name):
            if target not in clicks and not target.startswith(("example/", "reference/")):
                clicks[target] = clicks[name] + 1
                reached.append(target)
    assert len(questions()) >= 10
    for row in questions():
        assert clicks.get(row["page"], 9) <= 3, row


def answered(site, wanted, results):
    """True if a search found the wanted page, or its question with a link to it."""
    for addresses in results:
        name = re.search(r"/([\w./-]+\.html)", addresses[0])[1]
        if name.endswith(f"/{wanted}"):
            return True
        section = re.search(r"faq\.html[^#]*#([\w-]+)", addresses[1]) if addresses[1:] else None
        if section:
            answer = page(site, "faq.html").split(f'id="{section[1]}"')[1].split("<h")[0]
            if f'href="{wanted}' in answer:
                return True
    return False


@pytest.mark.workflow
@pytest.mark.slow
def test_each_question_of_a_newcomer_is_answered_by_one_search(site):
    playwright = pytest.importorskip("playwright.sync_api", reason="needs a browser")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        reader = browser.new_page()
        reader.goto((site / "index.html").as_uri())
        field = reader.locator("input[name=query]")
        field.press_sequentially("wear", delay=20)
        reader.wait_for_selector(".md-search-result__item", state="attached", timeout=120_000)
        for row in questions():
            field.fill("")
            field.press_sequentially(row["search"], delay=20)
            # Results of the last key replace those of the keys before it.
            reader.wait_for_timeout(2500)
            # Of each page that is found: the page, and the section that fits best.
            results = reader.locator(".md-search-result__item").evaluate_all(
                "pages => pages.map(page =>"
                " [...page.querySelectorAll(':scope > a')].map(link => link.href))"
            )
            assert answered(site, row["page"], results[:3]), (row, results[:3])
        browser.close()


# Pages of every kind: text, tables, programs, formulas, a form, generated references.
ACCESSIBLE = [
    "index",
    "install",
    "tutorial",
    "real-implant",
    "faq",
    "need",
    "gallery",
    "play",
    "examples",
    "glossary",
    "limits",
    "validation",
    "measured-wear",
    "how-to/index",
    "how-to/own-implant",
    "how-to/own-motion",
    "how-to/hand-on",
    "how-to/which-model",
    "theory/wear",
    "theory/contact",
    "theory/concepts",
    "evidence/uncertainty",
    "reference/settings",
    "reference/api",
]
WIDTHS = (1300, 400)  # pixels
GUIDELINES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.mark.workflow
@pytest.mark.slow
def test_pages_are_accessible(site):
    playwright = pytest.importorskip("playwright.sync_api", reason="needs a browser")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium")
    rules, found = {"runOnly": {"type": "tag", "values": GUIDELINES}}, []
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        reader = browser.new_page()
        for name in ACCESSIBLE:
            reader.goto((site / f"{name}.html").as_uri())
            for width in WIDTHS:
                reader.set_viewport_size({"width": width, "height": 900})
                # Tables are wrapped, and made reachable, after the page has loaded.
                reader.wait_for_timeout(500)
                violations = axe.Axe().run(reader, options=rules).response["violations"]
                found += [
                    (width, name, one["id"], node["target"])
                    for one in violations
                    for node in one["nodes"]
                ]
                # Only tables and programs, which scroll by themselves, are wider than the page.
                if reader.evaluate("document.documentElement.scrollWidth") > width:
                    found.append((width, name, "scrolls"))
        browser.close()
    assert found == []


def test_no_page_of_the_api_lists_a_logger_or_an_abbreviation_of_a_type(site):
    listed = {
        name
        for room in (*ROOMS, "package")
        for name in re.findall(
            r'<h\d id="(?:kneewear\.)([\w.]+)"', page(site, f"reference/{room}.html")
        )
    }
    assert "knees.tissue.bundles" in listed
    names = {name.rsplit(".", 1)[-1] for name in listed}
    assert names.isdisjoint({"logger", "Array", "Bools", "Numbers", "Block"})


def test_every_example_is_shown_with_its_output_and_picture(site):
    shown = page(site, "examples.html")
    assert shown.count('class="highlight"') == 2 * len(EXAMPLES)  # program and output
    for picture in ("one_cycle.png", "pressure_map.png"):
        assert (site / "images" / picture).is_file()
        assert picture in shown


# Numbers that an example prints: the line, which number of the line, and its limits by an
# independent argument.
PRINTED = {
    # Forces of a contact that grows with the penetration, 0.05 mm apart.
    "one_contact": [(3, 1, 3000.0, 4500.0), (2, 1, 1000.0, 1500.0)],
    # The medial share is a setting, 70 %.
    "one_cycle": [(1, 0, 70.0, 70.0), (2, 0, 30.0, 30.0)],
    # Areas in contact, mm2.
    "pressure_map": [(0, 0, 80.0, 160.0), (1, 0, 60.0, 120.0)],
    # Without a threshold the law is Archard's, whose volume the study has.
    "own_wear_law": [(1, 0, 59.0, 60.0), (2, 1, 59.0, 60.0)],
    # The load is largest at the lowest point, 80 deg.
    "own_activity": [(0, 1, 75.0, 80.0)],
    "own_implant": [(2, 0, 15.0, 22.0)],
    # Archard's volume is force times sliding distance.
    "two_designs": [(1, 2, 0.98, 1.02), (3, 2, 0.98, 1.02)],
    # Without uncertainty: the volume of the case.
    "monte_carlo": [(3, 3, 35.0, 45.0)],
    # Pressure falls with conformity in most subjects; the volume hardly changes.
    "cohort": [(3, 1, 50.0, 90.0), (2, 0, 0.0, 3.0)],
    # Noise averages out: the volume of 39.9 mm3 within 3 %.
    "scan": [(0, 0, 39.0, 41.0), (3, 1, 38.7, 41.1)],
}


def test_every_example_is_listed_and_at_most_60_lines_long():
    others = {"drop_component", "synthetic_cohort"}
    files = {file.stem: file for file in (ROOT / "examples").glob("*.py")}
    assert set(files) - others == set(EXAMPLES) == set(PRINTED)
    for name in EXAMPLES:
        assert len(files[name].read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.workflow
def test_examples_print_numbers_within_what_is_expected(site):
    """The outputs on the page, which were printed while the site was built."""
    page_of_examples = (CHECKOUT / "build/docs/examples.md").read_text(encoding="utf-8")
    outputs = re.findall(r"^Output:\n\n```text\n(.*?)\n```$", page_of_examples, re.M | re.S)
    for name, output in zip(EXAMPLES, outputs, strict=True):
        lines = output.splitlines()
        for row, place, lowest, highest in PRINTED[name]:
            # Digits of units such as mm3 are no numbers.
            number = float(re.findall(r"(?<![A-Za-z])-?\d+\.?\d*", lines[row])[place])
            assert lowest <= number <= highest, (name, lines[row])
