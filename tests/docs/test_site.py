"""The documentation site: builds without a warning, says everything, and fetches nothing."""

from __future__ import annotations

import ast
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import kneewear
from docs.generators import results
from docs.generators.docstrings import readable
from docs.generators.identifiers import linked
from docs.generators.pages import API, FAULTS_HEAD, NO_CATALOGUE, ROOMS, page_name
from kneewear.settings.study import Study

pytest.importorskip("mkdocs", reason="needs the extra 'docs'")

CHECKOUT = Path(__file__).parents[2]
FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=\"?(https?:)?//[^>]*>"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; every warning ends the build."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=CHECKOUT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "KNEEWEAR_RESULTS": str(folder / "none")},
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
    """What stands between the tags of a page."""
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
        shown = page(site, f"reference/{page_name(room) if room else 'package'}.html")
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
def test_the_api_is_the_first_page_of_the_reference(site):
    assert set(API) == set(kneewear.__all__)
    shown = page(site, "reference/api.html")
    offsets = [shown.index(f'id="kneewear.api.{name}"') for name in API[:-1]]
    assert offsets == sorted(offsets)
    nav = (CHECKOUT / "mkdocs.yml").read_text()
    assert "- reference/index.md\n      - Python API: reference/api.md" in nav


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
def test_every_key_of_the_default_study_is_explained(site):
    shown = words(site, "reference/settings.html")
    default = yaml.safe_load((CHECKOUT / "config" / "config.yaml").read_text())
    for key in default:
        assert key in shown
    assert "results/&lt;study&gt;/" in page(site, "reference/settings.html")
    assert not list(site.rglob("*.in"))


@pytest.mark.workflow
@pytest.mark.slow
def test_every_netcdf_variable_is_explained(site):
    shown = words(site, "reference/files.html")
    for file in ("Damage maps", "Contact history", "Element grid"):
        assert file in shown
    for variable in ("damage_depth", "pressure", "tangent_row", "load_line"):
        assert variable in shown


@pytest.mark.workflow
@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(site):
    for path in site.rglob("*.html"):
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
def test_every_theory_page_names_source_and_limits(site):
    for path in (site / "theory").glob("*.html"):
        if path.stem not in ("index", "sources"):
            text = words(site, f"theory/{path.name}")
            cited = r"(Bei|Machado|Johnson|Sander)[^.]{0,40}(Eq|section|\(\d{4}\))"
            assert re.search(cited, text), path
            if path.stem != "frames":
                assert "Limits." in text, path


@pytest.mark.workflow
@pytest.mark.slow
def test_faults_page_holds_the_catalogue_or_says_that_it_is_absent(site):
    shown = words(site, "reference/faults.html")
    if (CHECKOUT / "tests" / "faults" / "bad_input.py").exists():
        assert NO_CATALOGUE.split("(")[0] not in shown
        assert page(site, "reference/faults.html").count("<tr>") > 60 + 12
        assert FAULTS_HEAD.splitlines()[2][:20] in shown
    else:
        assert NO_CATALOGUE.split("(")[0] in shown


@pytest.mark.workflow
@pytest.mark.slow
def test_notebooks_are_shown_with_what_they_print_and_draw(site):
    assert "exact" in words(site, "notebooks/sphere.html")
    for name in ("sphere", "wear_law"):
        shown = page(site, f"notebooks/{name}.html")
        (text,) = re.findall(r'<img alt="([^"]+)" src="data:image/png', shown)
        assert len(text) > 40


def test_roles_and_plain_tables_of_docstrings_become_markdown():
    text = "See :func:`a.b`.\n\n=== ===\nx   y\n=== ===\n1   2\n=== ===\n\nEnd."
    assert readable(text) == (
        "See `a.b`.\n\n```text\n=== ===\nx   y\n=== ===\n1   2\n=== ===\n```\n\nEnd."
    )


def test_identifiers_become_links_without_the_text_around_them():
    text = "(X 1991, doi:10.1016/0021-9290(91)90019-J), <p>doi:10.1115/1.3138397.</p>"
    assert linked(text) == (
        '(X 1991, <a href="https://doi.org/10.1016/0021-9290(91)90019-J">'
        "doi:10.1016/0021-9290(91)90019-J</a>), "
        '<p><a href="https://doi.org/10.1115/1.3138397">doi:10.1115/1.3138397</a>.</p>'
    )


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


def test_every_table_of_the_pages_has_a_copy_for_a_fresh_build():
    names = {
        name
        for path in sorted((CHECKOUT / "docs").rglob("*.md"))
        for _, name, _ in results.MARKER.findall(path.read_text())
        if not name.startswith("config/")
    }
    assert len(names) > 8
    assert not [name for name in sorted(names) if not (results.SNAPSHOT / name).is_file()]


def test_no_page_of_the_api_lists_a_logger_or_an_abbreviation_of_a_type(site):
    listed = {
        name
        for room in (*ROOMS, "package")
        for name in re.findall(
            r'<h\d id="(?:kneewear\.)([\w.]+)"', page(site, f"reference/{page_name(room)}.html")
        )
    }
    assert "tissue.bundles" in listed
    names = {name.rsplit(".", 1)[-1] for name in listed}
    assert names.isdisjoint({"logger", "Array", "Bools", "Numbers", "Block"})
