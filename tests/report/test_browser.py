"""Pages in a real browser: quiet, self-contained, operable, accessible."""

from __future__ import annotations

import io
import os
import re
import shutil
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
import yaml
from statsmodels.api import OLS

from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.settings import InsertRegions
from kneewear.knees.figures import scene_view
from kneewear.knees.result import scene_record
from kneewear.report.chart_data import cases_data
from kneewear.report.derived import Tables
from kneewear.report.html import render
from kneewear.report.insert_view import build_insert_view
from kneewear.report.maps import draw_damage_maps
from kneewear.report.regions import tabulate_heights
from tests.report.labels import misplaced
from tests.report.new_kinds import NEW_KINDS, passive_flexion, searched
from tests.report.pages import written
from tests.report.test_viewer import small_scene

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Three-dimensional drawing without a graphics card.
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 60_000  # ms; software rendering on a machine that runs other tests besides
LOOKS = {"laptop": (1300, 900), "phone": (400, 844)}
# Rules of the Web Content Accessibility Guidelines 2.2 at levels A and AA.
GUIDELINES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# Captions of tables whose last column cannot be scrolled into the window.
UNREACHABLE_COLUMNS = """() => {
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  return [...document.querySelectorAll("table.data")].filter((table) => {
    // Where rows are lists of their cells, there are no headings of columns.
    const head = table.tHead.rows[0].lastElementChild;
    const last = head.checkVisibility() ? head : table.tBodies[0].rows[0];
    last.scrollIntoView({ inline: "end", block: "nearest" });
    const box = last.getBoundingClientRect();
    const region = table.closest(".scroll").getBoundingClientRect();
    return box.right > Math.min(region.right, window.innerWidth) + 1 || box.width === 0;
  }).map((table) => table.caption ? table.caption.textContent : "?");
}"""


class Visit:
    """A page opened in a window, and what went wrong on it."""

    def __init__(self, browser, text, folder, look="laptop"):
        path = Path(folder, "index.html")
        path.write_text(text, encoding="utf-8")
        width, height = LOOKS[look]
        self.window = browser.new_context(viewport={"width": width, "height": height})
        self.window.set_default_timeout(PATIENCE)
        self.page = self.window.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("body[data-tables=ready]")
        self.page.evaluate(
            "document.querySelectorAll('details').forEach((d) => { d.open = true; })"
        )

    def _listen(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def shown(self, words):
        """Wait until the view shows something, and return the sum of its values."""
        self.page.wait_for_selector(f'#viewer[data-shown*="{words}"]')
        return float(self.page.get_attribute("#viewer", "data-sum"))

    def canvas(self):
        file = io.BytesIO(self.page.locator("#viewer-canvas-0").screenshot())
        return matplotlib.image.imread(file, format="png")[..., :3]

    def assert_quiet_and_accessible(self):
        """No complaint, no request for another file, no width beyond the window, and axe agrees."""
        from axe_playwright_python.sync_playwright import Axe

        assert self.complaints == []
        asked = [url for url in self.requests if not url.startswith(("data:", "blob:"))]
        assert len(asked) == 1
        assert self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert self.page.evaluate(UNREACHABLE_COLUMNS) == []
        rules = {"runOnly": {"type": "tag", "values": GUIDELINES}}
        violations = Axe().run(self.page, options=rules).response["violations"]
        found = [(one["id"], node["target"]) for one in violations for node in one["nodes"]]
        assert found == []

    def choose(self, name, value):
        self.page.locator(f"#viewer-{name}").select_option(value)

    def put(self, selector, value):
        self.page.locator(selector).fill(str(value))


@pytest.fixture(scope="module")
def browser():
    path = os.environ.get("KNEEWEAR_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), "")
    if not path:
        pytest.skip("no Chromium on this machine; KNEEWEAR_BROWSER may name one")
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def visits(browser, whole, tmp_path_factory):
    """The page of a wear study with its view, at each width."""
    view = build_insert_view(
        whole.implant, whole.grid, whole.maps, whole.cycles.percent.values, whole.histories.values()
    )
    figures = {"damage_maps": draw_damage_maps(whole.maps, whole.grid, 0)}
    text = written("wear", whole.settings, whole.tables, figures, view=view).page
    opened = {look: Visit(browser, text, tmp_path_factory.mktemp("page"), look) for look in LOOKS}
    yield opened
    for one in opened.values():
        one.window.close()


@pytest.mark.parametrize("look", LOOKS)
def test_page_is_quiet_alone_and_accessible(visits, look):
    visits[look].shown("damage_depth")
    visits[look].assert_quiet_and_accessible()


@pytest.fixture(scope="module", params=NEW_KINDS)
def other_kind(request):
    """Kind, settings, tables and figures of a small study of designs or of several bodies."""
    return NEW_KINDS[request.param]()


def test_texts_of_other_kinds_do_not_overlap(other_kind):
    *_, figures = other_kind
    found = {name: misplaced(figure) for name, figure in figures.items()}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_pages_of_other_kinds_are_quiet_and_accessible(browser, tmp_path, other_kind):
    name, settings, tables, figures = other_kind
    found = written(name, settings, tables, figures)
    assert found.results and found.summary["tables"]
    one = Visit(browser, found.page, tmp_path, "phone")
    one.assert_quiet_and_accessible()
    shown = one.page.locator("figure img").count()
    assert shown + found.appendix.count("<img") == len(figures)
    one.window.close()


@pytest.mark.parametrize("look", LOOKS)
def test_view_is_drawn_and_follows_time_and_case(visits, look):
    one = visits[look]
    one.page.get_by_role("button", name="oblique").click()
    one.page.locator("[data-group=femoral]").check()
    one.choose("quantity", "pressure")
    one.choose("case", "10mm_50kg")
    one.put("#viewer-frame", 2)
    first = one.shown("pressure 10mm_50kg gait 2")
    drawn = one.canvas()
    # Not blank: insert, femoral component and pressures have colours of their own.
    assert len(np.unique((drawn * 15).astype(int).reshape(-1, 3), axis=0)) > 15
    one.put("#viewer-frame", 4)
    assert one.shown("pressure 10mm_50kg gait 4") != first
    assert np.abs(one.canvas() - drawn).max() > 0.2
    # Curves mark the frame, and choose it where one points.
    curves = one.page.locator("#viewer-curves svg")
    assert curves.count() == 4
    marked = [float(curves.first.locator(".now").get_attribute("x1"))]
    box = curves.first.bounding_box()
    curves.first.click(position={"x": 1.0, "y": box["height"] / 2})
    one.shown("pressure 10mm_50kg gait 0")
    marked.append(float(curves.first.locator(".now").get_attribute("x1")))
    assert marked[1] < marked[0]
    one.assert_quiet_and_accessible()
    one.choose("quantity", "wear_depth")
    one.choose("case", "6mm_50kg")
    one.shown("wear_depth 6mm_50kg")
    assert not one.page.locator("#viewer-frame").is_visible()
    assert not one.page.locator("#viewer-curves").is_visible()
    assert one.complaints == []


def test_view_from_above_names_its_directions_and_values(visits, whole):
    one = visits["laptop"]
    one.choose("quantity", "damage_depth")
    one.choose("case", "6mm_50kg")
    one.shown("damage_depth 6mm_50kg")
    one.page.get_by_role("button", name="above").click()
    one.page.wait_for_timeout(300)
    at = {}
    for name in ("anterior", "posterior", "medial", "lateral"):
        mark = one.page.locator("#viewer-canvas-0 .mark", has_text=re.compile(f"^{name}$"))
        own = mark.bounding_box()
        at[name] = own["x"] + own["width"] / 2, own["y"] + own["height"] / 2
    assert at["anterior"][1] < at["medial"][1] < at["posterior"][1]
    assert at["medial"][0] < at["anterior"][0] < at["lateral"][0]
    # The cross is at the largest value, and pointing there shows value and position.
    depth = whole.maps.damage_depth.values[0, 0]
    worst = np.unravel_index(np.argmax(depth[0]), depth[0].shape)
    cross = one.page.locator("#viewer-canvas-0 .deepest").first.bounding_box()
    one.page.mouse.move(cross["x"] + cross["width"] / 2, cross["y"] + cross["height"] / 2)
    words = one.page.locator("#viewer-canvas-0 .mark").last.inner_text()
    value, x, z = (float(text) for text in re.findall(r"[\d.]+", words))
    assert value == pytest.approx(depth[0].max(), rel=0.05)
    assert [x, z] == pytest.approx(np.abs(whole.grid.centre[0][worst][[0, 2]]), abs=1.5)


def test_bodies_move_and_designs_have_shapes_of_their_own(browser, tmp_path):
    name, settings, tables, _ = passive_flexion()
    view = scene_view(scene_record(small_scene()))
    one = Visit(browser, written(name, settings, tables, view=view).page, tmp_path)
    one.shown("0")
    before = one.canvas()
    one.put("#viewer-frame", 2)
    one.shown("2")
    assert np.abs(one.canvas() - before).max() > 0.2
    one.assert_quiet_and_accessible()
    one.window.close()
    (name, settings, tables, _), view = searched()
    one = Visit(browser, written(name, settings, tables, view=view).page, tmp_path)
    sums = set()
    for value, _ in view["choices"][1]["options"]:
        one.choose("case", value)
        sums.add(one.shown(f"damage_depth {value}"))
    assert len(sums) == len(view["choices"][1]["options"])
    one.window.close()


def test_without_webgl_the_page_says_so_and_keeps_its_pictures(visits):
    page = visits["laptop"].window.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(visits["laptop"].page.url)
    assert page.locator("#viewer-missing").is_visible()
    assert not page.locator("#viewer").is_visible()
    assert page.locator("#damage img").first.is_visible()
    page.close()


def test_tables_sort_filter_and_download(visits, whole, tmp_path):
    one = visits["laptop"]
    one.page.eval_on_selector_all("#damage details", "all => all.forEach(d => { d.open = true; })")
    box = one.page.locator(".dt-container", has=one.page.locator("[data-table=all_cases]"))
    heads = [head.strip() for head in box.locator("thead th").all_inner_texts()]
    column = heads.index("Wear depth at deepest damage (mm)")
    box.locator("thead th").nth(column).click()
    box.locator("thead th[aria-sort=ascending]").wait_for()
    box.locator("input[type=search]").fill("lateral")
    assert box.locator("tbody tr").count() == whole.tables["cases"]["case"].nunique()
    box.locator("input[type=search]").fill("")
    with one.page.expect_download() as download:
        box.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "cases.csv")
    table = pd.read_csv(tmp_path / "cases.csv")
    cases = whole.tables["cases"]
    expected = cases[cases["quantity"] == "wear_depth_at_deepest_damage"]["value"]
    assert table["Wear depth at deepest damage (mm)"].tolist() == pytest.approx(
        sorted(expected), rel=1e-12
    )


def test_minimum_thickness_agrees_with_statsmodels(visits, whole):
    one, quantity, mass = visits["laptop"], "damage_depth", 80.0
    cases = whole.tables["cases"]
    models = whole.tables["regression_models"].set_index(["side", "quantity", "model"])
    error = models["leave_one_out_rmse"]["medial", quantity]
    plane = error["plane"] <= error["power law"]
    own = cases[(cases["quantity"] == quantity) & (cases["side"] == "medial")]
    points, values = own[["thickness_mm", "body_mass_kg"]].to_numpy(float), own["value"]
    scale = (lambda x: np.asarray(x, float)) if plane else np.log
    matrix = np.column_stack([np.ones(len(own)), scale(points)])
    fit = OLS(scale(values.to_numpy(float)), matrix).fit()
    frame = fit.get_prediction([[1.0, *scale([8.3, mass])]]).summary_frame()
    limit = float((frame if plane else np.exp(frame))["mean"].iloc[0])
    one.put("#decision-mass", mass)
    one.put(f"#decision-{quantity}", limit)
    row = one.page.locator("#decision-table tr", has=one.page.locator(f"#decision-{quantity}"))
    middle = re.match(r"[\d.]+", row.locator("td").nth(1).inner_text())[0]
    assert float(middle) == pytest.approx(8.3, abs=0.051)
    assert one.page.locator(f'#decision-contours [data-quantity="{quantity}"]').count() == 1


@pytest.mark.parametrize(
    ("masses", "thicknesses", "labels"),
    [
        ([60.3, 90.7], [6.11, 8.11], [6.5, 7, 7.5, 8, 70, 80, 90]),
        ([50.0, 150.0], [5.99, 8.0], [6, 7, 8, 50, 100, 150]),
        ([60.0, 60.7], [0.3, 0.7], [0.3, 0.4, 0.5, 0.6, 0.7, 60, 60.2, 60.4, 60.6]),
    ],
)
@pytest.mark.parametrize("width", [360, 1300])
def test_labels_of_the_decision_tool_are_round_and_readable(
    masses, thicknesses, labels, width, browser, tmp_path
):
    """They have no error of binary fractions, and their size on every screen."""
    sides = ["medial", "lateral"]
    identity = np.eye(3).tolist()
    fits = [
        {
            "life": "gait",
            "side": side,
            "quantity": "max_pressure",
            "name": "Maximum pressure",
            "unit": "MPa",
            "coefficients": [20.0, -1.0, 0.1],
            "deviation": 0.1,
            "power": None,
        }
        for side in sides
    ]
    data = {
        "thickness_mm": thicknesses,
        "body_mass_kg": masses,
        "inverse": identity,
        "logarithmic_inverse": identity,
        "quantile": 2.0,
        "fits": fits,
        "limits": {"max_pressure": 22.0},
        "mass": 75.0,
        "lives": ["gait"],
        "sides": sides,
    }
    tool = render("decision.html.j2", section={"tool": data})
    file = tmp_path / "tool.html"
    file.write_text(f"<!doctype html><meta charset='utf-8'><body>{tool}", encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(file.as_uri())
    texts = page.locator("#decision-contours text").all_text_contents()
    numbers = [float(text) for text in texts if re.fullmatch(r"[\d.]+", text)]
    assert sorted(numbers) == labels
    drawn = page.locator("#decision-contours").evaluate(
        "one => [one.clientWidth / one.viewBox.baseVal.width, one.scrollWidth - one.clientWidth]"
    )
    assert drawn[0] >= 1.0
    assert drawn[1] <= 0
    page.close()


@pytest.mark.parametrize("value", [49, 101, ""])
def test_decision_refuses_to_extrapolate(visits, value):
    one = visits["phone"]
    one.put("#decision-mass", value)
    assert one.page.get_attribute("#decision-mass", "aria-invalid") == "true"
    cells = one.page.locator("#decision-table tbody td:nth-child(3)").all_inner_texts()
    assert set(cells) == {"\u2013"}


def test_long_tables_are_printed_in_full(visits, tmp_path):
    one = visits["laptop"]
    one.page.eval_on_selector("#damage details", "part => { part.open = false; }")
    one.page.emulate_media(media="print")
    one.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert one.page.locator("details:not([open])").count() == 0
    assert not one.page.locator("#viewer").is_visible()
    assert not one.page.locator("nav").is_visible()
    one.page.pdf(path=tmp_path / "page.pdf")
    # As before the print.
    one.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    one.page.emulate_media(media="screen")
    assert one.page.locator("details:not([open])").count() == 1
    one.page.eval_on_selector("#damage details", "part => { part.open = true; }")


FACE = np.array([[0, 1, 2]])
REGION = {"x": [-20.0, 20.0], "z": [10.0, 30.0], "outline": None}


@pytest.fixture
def regions(browser, tmp_path):
    """The page of inputs with the plan of a flat insert; its middle is at x = z = 0."""
    x, z = np.mgrid[-25.0:26.0, -40.0:41.0]
    sheet = TriangleMesh(np.column_stack([x.ravel(), 0.01 * x.ravel() ** 2, z.ravel()]), FACE)
    lateral = REGION | {"z": [-30.0, -10.0]}
    window = {"medial": REGION, "lateral": lateral}
    meshes = {"insert_region_mm": window}
    settings = {"study": "plan", "implant": {"name": "plate", "meshes": meshes}}
    frames = {"insert_heights": tabulate_heights(sheet)}
    visit = Visit(browser, written("preflight", settings, frames).page, tmp_path)
    yield visit
    visit.window.close()


def outlines(visit):
    shown = yaml.safe_load(visit.page.locator("#regions-yaml").input_value())
    return shown and shown["implant"]["meshes"]["insert_region_mm"]


def at(visit, x, z):
    """Point of the window at x, z of the plan."""
    to_window = """([x, z]) => {
      const plan = document.getElementById("regions-plan");
      const point = new DOMPoint(-z, x).matrixTransform(plan.getScreenCTM());
      return [point.x, point.y];
    }"""
    visit.page.locator("#regions-plan").scroll_into_view_if_needed()
    return visit.page.evaluate(to_window, [x, z])


def test_regions_begin_with_the_windows_of_the_settings(regions):
    regions.assert_quiet_and_accessible()
    corners = outlines(regions)
    assert corners["medial"]["x"] == [-20, 20]
    assert corners["lateral"]["z"] == [-30, -10]
    assert sorted(map(tuple, corners["medial"]["outline"])) == [
        (-20, 10),
        (-20, 30),
        (20, 10),
        (20, 30),
    ]
    InsertRegions.model_validate(corners)


def test_corners_are_drawn_dragged_moved_and_removed(regions):
    mouse = regions.page.mouse
    mouse.click(*at(regions, 24.0, 20.0))
    found = outlines(regions)["medial"]
    assert found["outline"][3] == pytest.approx([24.0, 20.0], abs=0.3)
    assert found["x"][1] == pytest.approx(24.0, abs=0.3)
    mouse.move(*at(regions, -20.0, 30.0))
    mouse.down()
    mouse.move(*at(regions, -15.0, 33.0))
    mouse.up()
    assert outlines(regions)["medial"]["outline"][0] == pytest.approx([-15.0, 33.0], abs=0.3)
    regions.page.keyboard.press("ArrowUp")
    assert outlines(regions)["medial"]["outline"][0][0] == pytest.approx(-15.5, abs=0.3)
    regions.page.keyboard.press("Delete")
    assert len(outlines(regions)["medial"]["outline"]) == 4
    assert len(outlines(regions)["lateral"]["outline"]) == 4


def test_an_outline_that_crosses_itself_is_not_written(regions):
    regions.page.mouse.move(*at(regions, -20.0, 30.0))
    regions.page.mouse.down()
    regions.page.mouse.move(*at(regions, 24.0, 20.0))
    regions.page.mouse.up()
    assert outlines(regions) is None


def test_chart_of_cases_and_view_show_the_same_case(visits, whole):
    one = visits["laptop"]
    data = cases_data(Tables(whole.tables, whole.settings), whole.settings)
    number = next(i for i, case in enumerate(data["cases"]) if case["name"] == "6mm_50kg")
    one.page.select_option("#cases-quantity", "1")
    one.page.locator(f'#cases-plot [data-case="{number}"]').click(force=True)
    one.choose("quantity", "damage_depth")
    one.shown("damage_depth 6mm_50kg")
    words = one.page.locator("#cases-message").inner_text()
    volume = data["cases"][number]["values"][1]
    assert f"{volume:#.3g}".rstrip(".") in words
    one.choose("case", "10mm_50kg")
    chosen = one.page.locator("#cases-case option:checked").inner_text()
    assert chosen == "10 mm, 50 kg"


def test_chart_of_samples_reads_out_the_one_that_is_clicked(browser, tmp_path):
    data = {
        "inputs": [{"label": "mass", "unit": "kg"}, {"label": "share", "unit": ""}],
        "outputs": [
            {"label": "Wear volume", "unit": "mm³", "limit": None},
            {"label": "Maximum pressure", "unit": "MPa", "limit": 35.0},
        ],
        "samples": [
            {"label": "c0", "outside": False, "values": [60.0, 0.6, 11.0, 20.0]},
            {"label": "c1", "outside": True, "values": [90.0, 0.7, 22.0, 41.0]},
            {"label": "c2", "outside": False, "values": [75.0, None, 17.0, 30.0]},
        ],
        "count": 3,
    }
    text = render("samples.html.j2", section={"tool": data})
    file = tmp_path / "tool.html"
    file.write_text(f"<!doctype html><meta charset='utf-8'><body>{text}", encoding="utf-8")
    page = browser.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    page.select_option("#samples-output", "1")
    page.locator('#samples-plot [data-sample="1"]').click(force=True)
    said = page.locator("#samples-message").inner_text()
    assert all(part in said for part in ("c1", "90 kg", "41 MPa"))
    # A sample without a value is not at a place of its own.
    page.select_option("#samples-input", "1")
    assert page.locator("#samples-plot [data-sample]").count() == 2
    page.close()
    assert complaints == []


def test_contents_mark_the_section_in_view_and_open_it(visits):
    page = visits["laptop"].page
    page.eval_on_selector("#rates details", "part => { part.open = false; }")
    page.locator("nav a[href='#rates']").click()
    page.wait_for_selector("nav a[href='#rates'][aria-current=true]")
    assert page.locator("#rates > details[open]").count() == 1
    box = page.locator("nav").bounding_box()
    assert box["y"] == 0.0
    page.evaluate("window.scrollTo(0, 0)")
