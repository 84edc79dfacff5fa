"""The page in a real browser: quiet, self-contained, operable, accessible."""

from __future__ import annotations

import io
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from statsmodels.api import OLS

from docs.generators.results import SNAPSHOT
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.documents import load_table
from kneewear.regression.groups import QUANTITIES
from kneewear.report.comparison import draw_depth_differences, render_comparison
from kneewear.report.facts import centre_rows
from kneewear.report.fe_knee import knee_view
from kneewear.report.figures import draw_results
from kneewear.report.insert_view import build_insert_view
from kneewear.report.maps import draw_damage_maps
from kneewear.report.multibody import scene_view
from kneewear.report.page import render_page
from kneewear.report.regression import draw_calibration_figures
from kneewear.report.static import draw_static_figures
from kneewear.report.wear import draw_wear_over_cycles
from kneewear.settings.cases import OUTPUTS
from kneewear.settings.study import load_study, read_study
from kneewear.sides import BOTH, SIDES
from kneewear.studies.comparison import (
    FinishedStudy,
    compare_studies,
    depth_maps,
    middle_cell,
    shared_cells,
)
from kneewear.studies.multibody.result import Scene, curves, scene_record
from kneewear.wear.gravimetry import tabulate_wear_over_cycles
from tests.report.new_kinds import (
    CONFIG,
    dynamic_knee_run,
    multibody,
    passive_flexion,
    searched,
)
from tests.report.static_results import STUDY
from tests.report.test_twin_on_wear_page import TWIN
from tests.report.test_uncertainty_report import made_up

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Three-dimensional drawing without a graphics card.
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 60_000  # ms; software rendering on a machine that runs other tests besides
LOOKS = {
    "laptop": {"size": (1440, 900)},
    "tablet": {"size": (834, 1194)},
    "phone": {"size": (390, 844)},
}


# Captions of tables whose last column cannot be scrolled into the window.
UNREACHABLE_COLUMNS = """() => {
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  return [...document.querySelectorAll("table.data")].filter((table) => {
    const last = table.tHead.rows[0].lastElementChild;
    last.scrollIntoView({ inline: "end", block: "nearest" });
    const box = last.getBoundingClientRect();
    const region = table.closest(".scroll").getBoundingClientRect();
    return box.right > Math.min(region.right, window.innerWidth) + 1 || box.width === 0;
  }).map((table) => table.caption ? table.caption.textContent : "?");
}"""


@pytest.fixture(scope="module")
def browser():
    found = os.environ.get("KNEEWEAR_BROWSER") or next(
        filter(None, map(shutil.which, BROWSERS)), ""
    )
    if not found:
        pytest.skip("no Chromium on this machine; KNEEWEAR_BROWSER may name one")
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=found, args=FLAGS, timeout=PATIENCE)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(whole, tmp_path_factory):
    """The page as a file, with a real figure."""
    picture = io.BytesIO()
    draw_damage_maps(whole.maps, whole.grid, 0).savefig(picture, format="svg")
    view = build_insert_view(
        whole.implant,
        whole.grid,
        whole.maps,
        whole.cycles.percent,
        whole.histories.values(),
    )
    text = render_page(
        "wear",
        whole.settings,
        whole.tables,
        {"damage_maps": picture.getvalue()},
        {"versions": {"numpy": "2.0"}, "warnings": [["fit", "a warning"]]},
        notes={"gait": ("A note.",)},
        view=view,
    )
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def static_address(static_study, tmp_path_factory):
    """The page of a static study as a file, with a real figure."""
    record, implant, tables = static_study
    drawn = draw_static_figures(
        record, implant, tables["static"], tables["material_comparison"],
        tables["element_convergence"], tables["grid_sensitivity"],
    )  # fmt: skip
    pictures = {name: io.BytesIO() for name in drawn}
    for name, figure in drawn.items():
        figure.savefig(pictures[name], format="svg")
    path = tmp_path_factory.mktemp("static") / "index.html"
    figures = {name: file.getvalue() for name, file in pictures.items()}
    settings = STUDY.model_dump(mode="json")
    page = render_page("static", settings, tables, figures, {"versions": {"numpy": "2.0"}})
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


class Visit:
    """A page opened in a window of its own, and what went wrong on it."""

    def __init__(self, browser, address, size, **options):
        width, height = size
        self.window = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.window.set_default_timeout(PATIENCE)
        self.page = self.window.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def _listen(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def shown(self, words):
        """Wait until the view shows something, and return the sum of its values."""
        self.page.wait_for_selector(f'#viewer[data-shown*="{words}"]')
        return float(self.page.get_attribute("#viewer", "data-sum"))

    def canvas(self, view="viewer"):
        return matplotlib.image.imread(
            io.BytesIO(self.page.locator(f"#{view}-canvas").screenshot()), format="png"
        )[..., :3]

    def assert_quiet_and_accessible(self):
        """No complaint, no request for another file, no width beyond the window, and axe agrees."""
        from axe_playwright_python.sync_playwright import Axe

        assert self.complaints == []
        asked = [url for url in self.requests if not url.startswith(("data:", "blob:"))]
        assert len(asked) == 1
        assert self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert self.page.evaluate(UNREACHABLE_COLUMNS) == []
        found = Axe().run(self.page).response["violations"]
        assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []

    def photograph(self, folder, name):
        """One picture per section: pictures of a whole long page repeat its start."""
        for section in self.page.locator("main > section").all():
            section.screenshot(path=folder / f"{name}_{section.get_attribute('id')}.png")

    def choose(self, selector, value):
        self.page.locator(selector).select_option(value)

    def put(self, selector, value):
        self.page.locator(selector).fill(str(value))


@pytest.fixture(scope="module")
def visits(browser, address):
    """One open page a width, for all tests: each sets what it looks at."""
    found = {kind: Visit(browser, address, **look) for kind, look in LOOKS.items()}
    yield found
    for one in found.values():
        one.window.close()


@pytest.mark.parametrize("kind", LOOKS)
def test_page_is_quiet_alone_and_accessible(visits, whole, address, tmp_path, kind):
    from axe_playwright_python.sync_playwright import Axe

    one = visits[kind]
    one.shown(f"damage_depth {centre_rows(whole.tables['cases'])['case'].iloc[0]}")
    assert one.complaints == []
    # The library makes objects in memory; nothing else may be asked for.
    assert [url for url in one.requests if not url.startswith(("data:", "blob:"))] == [address]
    assert one.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert one.page.evaluate(UNREACHABLE_COLUMNS) == []
    found = Axe().run(one.page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
    for chapter in ("results", "damage", "regression", "motion"):
        one.page.locator(f"#{chapter}").screenshot(path=tmp_path / f"{chapter}_{kind}.png")


@pytest.mark.parametrize("kind", LOOKS)
def test_static_page_is_quiet_alone_and_accessible(browser, static_address, tmp_path, kind):
    one = Visit(browser, static_address, **LOOKS[kind])
    one.page.wait_for_selector("body[data-tables=ready]")
    one.assert_quiet_and_accessible()
    assert one.page.locator("figure img").count() == 5
    one.photograph(tmp_path, f"static_{kind}")
    one.window.close()


@pytest.fixture(scope="module")
def knee_address(tmp_path_factory):
    """The page of a knee of several bodies as a file, with a small scene of three positions."""
    sheet = TriangleMesh(
        20.0 * np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]),
        np.array([[0, 1, 2], [0, 2, 3]]),
    )
    turns, places = np.tile(np.eye(3), (3, 2, 1, 1)), np.zeros((3, 2, 3))
    places[:, 1, 1] = [-10.0, -20.0, -30.0]
    bundle = [(np.array([[10.0, 0.0, 10.0], [10.0, y, 10.0]]),) for y in places[:, 1, 1]]
    scene = Scene(("femur", "tibia"), {"femur": sheet, "tibia": sheet}, turns, places,
                  ("0°", "45°", "90°"), tuple(bundle), "Sheets", {"tibia": sheet})  # fmt: skip
    kind, settings, tables, drawn = passive_flexion()
    figures = {name: as_svg(figure) for name, figure in drawn.items()}
    path = tmp_path_factory.mktemp("knee") / "index.html"
    view = scene_view(scene_record(scene))
    page = render_page(kind, settings, tables, figures, {"versions": {"numpy": "2.0"}}, view=view)
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("kind", LOOKS)
def test_a_knee_is_moved_in_three_dimensions(browser, knee_address, tmp_path, kind):
    from axe_playwright_python.sync_playwright import Axe

    one = Visit(browser, knee_address, **LOOKS[kind])
    one.page.wait_for_selector('#scene[data-shown="0 0°"]')

    def coloured():
        picture = matplotlib.image.imread(
            io.BytesIO(one.page.locator("#scene-canvas").screenshot())
        )
        return (np.ptp(picture[..., :3], axis=-1) > 0.1).sum(axis=1)

    first = coloured()
    one.page.locator("#scene-frame").focus()
    one.page.keyboard.press("ArrowRight")
    one.page.wait_for_selector('#scene[data-shown="1 45°"]')
    assert "at 45°" in one.page.inner_text("#scene-title")
    one.put("#scene-frame", 2)
    one.page.wait_for_selector('#scene[data-shown="2 90°"]')
    # The tibia and the end of the bundle are lower in the picture.
    assert np.flatnonzero(coloured()).max() > np.flatnonzero(first).max()
    one.page.locator("#scene-play").click()
    one.page.wait_for_selector('#scene[data-shown="0 0°"]')
    assert one.page.get_attribute("#scene-play", "aria-pressed") == "true"
    one.page.locator("#scene-play").click()
    one.page.locator('#scene [data-view="front"]').click()
    assert one.complaints == []
    assert [url for url in one.requests if not url.startswith(("data:", "blob:"))] == [knee_address]
    assert one.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    found = Axe().run(one.page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
    one.page.locator("#scene").screenshot(path=tmp_path / f"scene_{kind}.png")
    one.window.close()


def as_svg(figure):
    """Bytes of a figure."""
    file = io.BytesIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


@pytest.fixture(scope="module")
def plain_addresses(whole, static_study, new_kinds, tmp_path_factory):
    """Pages without a view as files: appendices, and pages of other kinds of study.

    The verification study is the one whose tables the documentation keeps.
    """
    one, sampled = made_up("monte_carlo")
    uncertain = ("uncertainty", one.model_dump(mode="json"), sampled, {})
    kept = {
        path.stem: load_table(path) for path in (SNAPSHOT / "verification/tables").glob("*.csv")
    }
    verified = read_study(
        ROOT / "config/verification.yaml", defaults=ROOT / "config/config.yaml"
    ).model_dump(mode="json")
    calibration = read_study(
        ROOT / "config/calibration.yaml", defaults=ROOT / "config/config.yaml"
    ).model_dump(mode="json")
    fitted = calibration_tables(whole, calibration["calibration"]["constants"])
    figures = draw_calibration_figures(
        *(fitted[name] for name in ("constants", "comparison", "correlations", "trade_off"))
    )
    drawn = ("trade_off", "sensitivity", "correlations")
    fit = ("calibration", calibration, fitted, {name: as_svg(figures[name]) for name in drawn})
    touched = pd.DataFrame({"pose": ["gait, 0 %"], "touches": ["medial"], "medial_gap": [0.0]})
    pages = {
        "verification": (("verification", verified, kept, {}), "page"),
        "verification appendix": (("verification", verified, kept, {}), "appendix"),
        "inputs": (("preflight", whole.settings, {"first_contacts": touched}, {}), "page"),
        "wear appendix": (("wear", whole.settings, whole.tables, {}), "appendix"),
        "static appendix": (
            ("static", STUDY.model_dump(mode="json"), static_study[2], {}),
            "appendix",
        ),
        "calibration": (fit, "page"),
        "calibration appendix": (fit, "appendix"),
        "uncertainty": (uncertain, "page"),
        "uncertainty appendix": (uncertain, "appendix"),
    }
    for name, (*contents, drawn) in new_kinds.items():
        contents.append({one: as_svg(figure) for one, figure in drawn.items()})
        pages[name] = contents, "page"
        pages[f"{name} appendix"] = contents, "appendix"
    folder, found = tmp_path_factory.mktemp("plain"), {}
    for name, (given, part) in pages.items():
        path = folder / f"{name}.html"
        path.write_text(render_page(*given, part=part), encoding="utf-8")
        found[name] = path.as_uri()
    path = folder / "comparison.html"
    path.write_text(comparison_page(whole), encoding="utf-8")
    found["comparison"] = path.as_uri()
    return found


def knee_page(name):
    """Page of a shipped study of several bodies: kept statements, curves made up."""
    study = read_study(CONFIG / f"{name}.yaml", defaults=ROOT / "config/config.yaml")
    kept = SNAPSHOT / name / "tables/multibody_statements.csv"
    at = np.linspace(0.0, 90.0, 4)
    motion = curves("varus", "flexion (deg)", at, "deg", {"computed": at})
    forces = curves("contact force", "flexion (deg)", at, "N", {"medial": at, "lateral": at})
    tables = {"multibody_statements": load_table(kept)}
    kind, settings, tables, drawn = multibody(study, tables, motion, forces)
    figures = {one: as_svg(figure) for one, figure in drawn.items()}
    return render_page(kind, settings, tables, figures)


def measured_wear_page(whole):
    """Wear page with a finite-element twin and with wear that was measured in a simulator."""
    test = pd.DataFrame({"million_cycles": [0.0, 2.0], "wear_mm3": [0.0, 20.0], "error_mm3": 2.0})
    wear = tabulate_wear_over_cycles(
        whole.tables["cases"], load_study(whole.settings).wear, {"lab": test}
    )
    columns = {"million_cycles": "Mc", "loss": "mm3", "error": "sd"}
    source = {"file": "lab.csv", "unit": "mm3", "columns": columns, "source": "made up"}
    report = {"fe_twin": "twin/tables/fe_twin.csv", "simulator_tests": {"lab": source}}
    settings = whole.settings | {"report": whole.settings["report"] | report}
    drawn = draw_wear_over_cycles(wear["wear_over_cycles"], wear["simulator_tests"])
    tables = whole.tables | wear | {"fe_twin": TWIN}
    return render_page("wear", settings, tables, {"wear_over_cycles": as_svg(drawn)})


def two_lives_page(single):
    """Wear page of one case with two lives, with its maps."""
    drawn = draw_results(single.grid, single.maps, single.tables)
    figures = {name: as_svg(figure) for name, figure in drawn.items()}
    view = build_insert_view(single.implant, single.grid, single.maps, single.cycles.percent,
                             single.histories.values())  # fmt: skip
    return render_page("wear", single.settings, single.tables, figures, view=view)


OTHER_PAGES = {
    "measured wear": lambda whole, _: measured_wear_page(whole),
    "two lives": lambda _, single: two_lives_page(single),
    **{name: lambda *_, name=name: knee_page(name)
       for name in ("tkr_predicted_gait", "knee_extension", "spatial_knee")},
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_PAGES)
def test_pages_with_further_contents_are_quiet_and_accessible(
    browser, whole, single, tmp_path, name
):
    path = tmp_path / "index.html"
    path.write_text(OTHER_PAGES[name](whole, single), encoding="utf-8")
    for kind, look in LOOKS.items():
        one = Visit(browser, path.as_uri(), **look)
        one.page.wait_for_selector("body[data-tables=ready]")
        one.assert_quiet_and_accessible()
        one.photograph(tmp_path, kind)
        one.window.close()


def calibration_tables(whole, constants):
    """Tables of a calibration whose search is left out."""
    names, kept = list(constants)[:4], ("key", "low", "high", "source")
    rows = [
        {"constant": name, **{key: constants[name][key] for key in kept},
         "value": constants[name]["low"], "standard_error": 0.1, "at_bound": True,
         "largest_correlation": -0.5, "correlated_with": names[0],
         **{f"{quantity}_percent": 1.0 for quantity in QUANTITIES}}
        for name in names
    ]  # fmt: skip
    matrix = dict(zip(names, np.eye(len(names)), strict=True))
    return {
        "constants": pd.DataFrame(rows),
        "correlations": pd.DataFrame({"constant": names} | matrix),
        "singular_values": pd.DataFrame({"singular_value": 1.0, "standard_error": 0.1} | matrix),
        "trade_off": pd.read_csv(ROOT / "config/calibration/trade_off.csv", comment="#"),
        "comparison": whole.tables["comparison"],
    }


def comparison_page(whole):
    """Page of two studies, the second with half of the wear, and of their uncertain constants."""
    settings = load_study(whole.settings)
    first = FinishedStudy(settings, whole.grid, [whole.maps], [list(whole.histories.values())],
                          made_up_samples())  # fmt: skip
    halved = replace(
        whole.maps,
        wear_depth=0.5 * whole.maps.wear_depth,
        damage_depth=0.5 * whole.maps.wear_depth + whole.maps.creep_depth,
    )
    named = settings.model_copy(update={"study": "half_the_wear"})
    studies = [first, replace(first, settings=named, maps=[halved])]
    tables = compare_studies(studies)
    cells = shared_cells(tables["differences"])
    picture = io.BytesIO()
    maps = depth_maps(studies, middle_cell(cells))
    next(iter(draw_depth_differences(maps, cells).values())).savefig(picture, format="svg")
    return render_comparison(studies, tables, {"difference_maps_half": picture.getvalue()}, cells)


def made_up_samples():
    """Samples of two constants, results in proportion to one of them."""
    factor = np.linspace(0.5, 1.5, 21)
    table = pd.DataFrame({"sample": range(21), "role": ["nominal"] + ["draw"] * 20,
                          "wear_factor": factor, "youngs_modulus": factor[::-1]})  # fmt: skip
    for side in (BOTH, *SIDES):
        for quantity in OUTPUTS:
            table[f"{side}_{quantity}"] = factor
    return table


@pytest.mark.parametrize("kind", LOOKS)
def test_pages_of_other_kinds_are_quiet_and_accessible(browser, plain_addresses, tmp_path, kind):
    for name, address in plain_addresses.items():
        one = Visit(browser, address, **LOOKS[kind])
        one.page.wait_for_selector("body[data-tables=ready]")
        if name == "comparison":
            one.page.wait_for_selector('#pair-view[data-shown="default | half_the_wear"]')
        one.assert_quiet_and_accessible()
        one.photograph(tmp_path, f"{name}_{kind}")
        one.window.close()


@pytest.mark.parametrize("name", ["uncertainty", "static"])
def test_results_beyond_validity_have_a_badge(browser, plain_addresses, static_address, name):
    one = Visit(browser, {**plain_addresses, "static": static_address}[name], **LOOKS["laptop"])
    one.page.wait_for_selector("body[data-tables=ready]")
    badges = one.page.locator("main .badge").all_inner_texts()
    assert badges
    assert set(badges) <= {"outside validity", "within validity"}
    one.window.close()


@pytest.fixture(scope="module")
def designs():
    """Contents of the page of a search, and its view."""
    return searched()


@pytest.mark.parametrize("look", LOOKS)
def test_view_of_designs_shows_the_surfaces_of_each(browser, designs, tmp_path, look):
    (kind, settings, tables, drawn), view = designs
    figures = {name: as_svg(figure) for name, figure in drawn.items()}
    path = tmp_path / "index.html"
    path.write_text(render_page(kind, settings, tables, figures, view=view), encoding="utf-8")
    one = Visit(browser, path.as_uri(), **LOOKS[look])
    cases = view["cases"]
    assert len(cases) >= len(tables["chosen_designs"]) > 1
    seen = []
    for number, case in enumerate(cases):
        one.choose("#viewer-case", str(number))
        one.shown(case["name"])
        seen.append(one.canvas())
    # Titles of other lengths may move the picture by a fraction of a pixel.
    rows = min(map(len, seen))
    assert np.abs(seen[-1][:rows] - seen[0][:rows]).max() > 0.2
    links = one.page.locator("a[data-case]")
    assert links.count() == len(cases) - len(tables["chosen_designs"])
    for number in range(links.count()):
        links.nth(number).click()
        one.shown(links.nth(number).get_attribute("data-case"))
    one.assert_quiet_and_accessible()
    one.photograph(tmp_path, f"designs_{look}")
    one.window.close()


@pytest.fixture(scope="module")
def moving_knee():
    """Contents of the page of a dynamic knee, and its view."""
    (kind, settings, tables, drawn), run = dynamic_knee_run()
    figures = {name: as_svg(figure) for name, figure in drawn.items()}
    return (kind, settings, tables, figures), knee_view(run.frames)


@pytest.mark.parametrize("look", LOOKS)
def test_frames_of_a_dynamic_knee_are_played(browser, moving_knee, tmp_path, look):
    contents, view = moving_knee
    path = tmp_path / "index.html"
    path.write_text(render_page(*contents, view=view), encoding="utf-8")
    one = Visit(browser, path.as_uri(), **LOOKS[look])
    one.page.wait_for_selector(f'#frames[data-shown="0 {view["labels"][0]}"]')
    first = one.canvas("frames")
    last = len(view["labels"]) - 1
    one.choose("#frames-factor", "20")
    one.put("#frames-frame", last)
    one.page.wait_for_selector(f'#frames[data-shown="{last} {view["labels"][last]}"]')
    assert "enlarged 20 times" in one.page.inner_text("#frames-title")
    assert np.abs(one.canvas("frames") - first).max() > 0.2
    one.page.locator("#frames-play").click()
    one.page.wait_for_selector(f'#frames[data-shown="0 {view["labels"][0]}"]')
    assert one.page.get_attribute("#frames-play", "aria-pressed") == "true"
    one.page.locator("#frames-play").click()
    one.assert_quiet_and_accessible()
    one.photograph(tmp_path, f"frames_{look}")
    one.window.close()


@pytest.mark.parametrize("kind", LOOKS)
def test_view_is_drawn_and_follows_time_and_case(visits, tmp_path, kind):
    one = visits[kind]
    one.page.get_by_role("button", name="oblique").click()
    one.page.locator("#viewer-femoral").check()
    one.choose("#viewer-quantity", "pressure")
    one.choose("#viewer-case", "2")
    one.put("#viewer-frame", 2)
    first = one.shown("pressure 10mm_50kg 2")
    drawn = one.canvas()
    # Not blank: insert, femoral component and pressures have colours of their own.
    assert len(np.unique((drawn * 15).astype(int).reshape(-1, 3), axis=0)) > 15
    assert (drawn.min(axis=-1) < 0.95).mean() > 0.05
    one.put("#viewer-frame", 4)
    assert one.shown("pressure 10mm_50kg 4") != first
    moved = one.canvas()
    assert np.abs(moved - drawn).max() > 0.2
    one.choose("#viewer-quantity", "wear_depth")
    one.choose("#viewer-case", "0")
    one.shown("wear_depth 6mm_50kg")
    assert not one.page.locator("#viewer-frame").is_visible()
    one.page.get_by_role("button", name="above").click()
    one.page.locator("#viewer-femoral").uncheck()
    one.page.wait_for_timeout(300)
    assert np.abs(one.canvas() - moved).max() > 0.2
    one.page.locator("#viewer").screenshot(path=tmp_path / f"view_{kind}.png")
    assert one.complaints == []


@pytest.mark.parametrize("kind", LOOKS)
def test_view_from_above_names_its_directions_and_values(visits, whole, kind):
    one = visits[kind]
    one.choose("#viewer-quantity", "damage_depth")
    one.choose("#viewer-case", "0")
    one.shown("damage_depth 6mm_50kg")
    one.page.get_by_role("button", name="above").click()
    one.page.wait_for_timeout(300)
    box = one.page.locator("#viewer-canvas").bounding_box()
    at = {}
    for name in ("anterior", "posterior", "medial", "lateral"):
        mark = one.page.locator("#viewer-canvas .mark", has_text=re.compile(f"^{name}$"))
        own = mark.bounding_box()
        at[name] = own["x"] + own["width"] / 2, own["y"] + own["height"] / 2
    assert at["anterior"][1] < box["y"] + box["height"] / 2 < at["posterior"][1]
    assert at["medial"][0] < box["x"] + box["width"] / 2 < at["lateral"][0]
    # The cross is at the largest value, and pointing there shows value and position.
    depth = whole.maps.damage_depth[0, 0]
    worst = np.unravel_index(np.argmax(depth[0]), depth[0].shape)
    cross = one.page.locator("#viewer-canvas .deepest").first.bounding_box()
    one.page.mouse.move(cross["x"] + cross["width"] / 2, cross["y"] + cross["height"] / 2)
    words = one.page.locator("#viewer-canvas .mark").last.inner_text()
    value, x, z = (float(text) for text in re.findall(r"[\d.]+", words))
    assert value == pytest.approx(depth[0].max(), rel=0.05)
    assert "anterior" in words or "posterior" in words
    assert [x, z] == pytest.approx(np.abs(whole.grid.centre[0][worst][[0, 2]]), abs=1.5)


def test_tables_sort_filter_and_download(visits, whole, tmp_path):
    one = visits["laptop"]
    one.page.wait_for_selector("body[data-tables=ready]")
    one.page.eval_on_selector_all("#damage details", "all => all.forEach(d => { d.open = true; })")
    named = one.page.locator("th", has_text="Wear depth (mm)")
    box = one.page.locator("#damage details .dt-container").filter(has=named)
    heads = [head.strip() for head in box.locator("thead th").all_inner_texts()]
    column = heads.index("Wear depth (mm)")
    box.locator("thead th").nth(column).click()
    box.locator("thead th[aria-sort=ascending]").wait_for()
    # Rows are drawn some time after the head says that they are sorted.
    one.page.wait_for_function(
        """([body, column]) => {
          const read = [...body.rows].map(row => Number(row.cells[column]?.textContent));
          return read.length === 8 && read.every((value, i) => i === 0 || read[i - 1] <= value);
        }""",
        arg=[box.locator("tbody").element_handle(), column],
    )
    box.locator("input[type=search]").fill("lateral")
    assert box.locator("tbody tr").count() == 4
    box.locator("input[type=search]").fill("")
    with one.page.expect_download() as download:
        box.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "cases.csv")
    table = pd.read_csv(tmp_path / "cases.csv")
    cases = whole.tables["cases"]
    expected = cases[cases["quantity"] == "wear_depth"]["value"]
    assert sorted(table["Wear depth (mm)"]) == pytest.approx(sorted(expected), rel=1e-12)
    assert one.complaints == []


def test_view_tells_the_largest_values_of_the_study(visits, whole):
    one = visits["laptop"]
    names = [case.name for case in whole.maps.cases]
    for quantity in ("damage_depth", "wear_depth", "creep_depth"):
        one.choose("#viewer-quantity", quantity)
        one.choose("#viewer-case", "3")
        one.shown(f"{quantity} {names[3]}")
        title = one.page.inner_text("#viewer-title")
        for side, depth in zip(whole.maps.sides, getattr(whole.maps, quantity)[0, 3], strict=True):
            read = float(title.split(f"{side} ")[1].split(" mm")[0])
            assert read == pytest.approx(depth.max(), rel=6e-3)


def test_without_webgl_the_page_says_so_and_keeps_its_pictures(browser, address):
    window = browser.new_context()
    window.set_default_timeout(PATIENCE)
    page = window.new_page()
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(address)
    assert page.locator("#viewer-missing").is_visible()
    assert not page.locator("#viewer").is_visible()
    assert page.locator("#damage img").first.is_visible()
    window.close()


def thicknesses(page):
    """Cells of the decision tool by quantity and side: least thickness, and its fit interval."""
    cells = page.eval_on_selector_all(
        "#decision-table tbody tr",
        "rows => rows.map(r => [0, 2, 3].map(i => r.cells[i].textContent))",
    )
    return {
        (name.split(" (")[0], side): text
        for name, *both in cells
        for side, text in zip(("medial", "lateral"), both, strict=True)
    }


@pytest.mark.parametrize(
    ("name", "quantity"),
    [("Largest wear depth", "max_wear_depth"), ("Damage depth", "damage_depth")],
)
def test_minimum_thickness_agrees_with_statsmodels(visits, whole, name, quantity):
    one = visits["laptop"]
    cases, mass = whole.tables["cases"], 80.0
    models = whole.tables["regression_models"].drop_duplicates(["side", "quantity"])
    models = models.set_index(["side", "quantity"])
    one.put("#decision-mass", mass)
    own = cases[(cases["quantity"] == quantity) & (cases["side"] == "medial")]
    points, values = own[["thickness_mm", "body_mass_kg"]].to_numpy(float), own["value"]
    plane = models.loc["medial", quantity]["plane_is_enough"]
    scale = (lambda x: np.asarray(x, float)) if plane else np.log
    back = (lambda x: x) if plane else np.exp
    matrix = np.column_stack([np.ones(len(own)), scale(points)])
    fit = OLS(scale(values.to_numpy(float)), matrix).fit()

    def predicted(thickness, column):
        frame = fit.get_prediction([[1.0, *scale([thickness, mass])]]).summary_frame()
        return float(back(frame[column][0]))

    limit = predicted(8.3, "mean")
    one.put(f"#decision-{quantity}", limit)
    middle, low, high = re.match(
        r"([\d.]+) \(([a-z ]*[\d.]+) to ([a-z ]*[\d.]+)\)",
        thicknesses(one.page)[name, "medial"],
    ).groups()
    assert float(middle) == pytest.approx(8.3, abs=0.051)
    # At its ends the limit is that of the prediction interval.
    for text, column in ((low, "obs_ci_lower"), (high, "obs_ci_upper")):
        if text[0].isdigit():
            nearby = [predicted(float(text) + step, column) for step in (-0.06, 0.06)]
            assert nearby[1] <= limit <= nearby[0]
        else:
            end = 6.0 if text.startswith("below") else 10.0
            assert (predicted(end, column) <= limit) == text.startswith("below")
    assert one.page.locator(f'#decision-contours [data-quantity="{quantity}"]').count() == 1
    one.put(f"#decision-{quantity}", "")


def test_decision_states_the_deciding_limit_and_validity(visits, tmp_path):
    one = visits["laptop"]
    one.put("#decision-mass", 80)
    one.put("#decision-max_pressure", 1000)
    one.put("#decision-avg_pressure", 1000)
    said = one.page.locator("#decision-message")
    assert "Every simulated insert, from 6 mm, keeps the limits for 80 kg." in said.inner_text()
    colour = "e => getComputedStyle(e).color"
    ink = one.page.eval_on_selector("body", colour)
    assert said.evaluate(colour) == ink
    # No contour of a limit that nothing reaches, and no legend of its colour.
    assert one.page.locator("#decision-contours polyline").count() == 0
    legend = one.page.locator("#decision-contours text", has_text="not reached")
    assert legend.count() == 2
    assert set(legend.evaluate_all("all => all.map(e => e.getAttribute('fill'))")) == {"#5c5c5c"}
    edge = "e => e.getBBox().x + e.getBBox().width"
    assert max(text.evaluate(edge) for text in legend.all()) <= 520
    one.page.locator("#decision").screenshot(path=tmp_path / "decision.png")
    one.put("#decision-damage_depth", 1e-6)
    assert "No simulated insert, up to 10 mm, keeps the limits for 80 kg" in said.inner_text()
    assert "decided by damage depth" in said.inner_text()
    assert said.evaluate(colour) != ink
    assert "validity" in said.locator(".badge").inner_text()
    one.put("#decision-damage_depth", "")


@pytest.mark.parametrize("value", [49, 101, ""])
def test_decision_refuses_to_extrapolate(visits, value):
    one = visits["phone"]
    one.put("#decision-mass", value)
    assert "within what was simulated, 50 to 100 kg" in one.page.inner_text("#decision-message")
    assert one.page.get_attribute("#decision-mass", "aria-invalid") == "true"
    assert set(thicknesses(one.page).values()) == {"\u2013"}


def test_long_tables_are_printed_in_full(visits, tmp_path):
    one = visits["laptop"]
    one.page.emulate_media(media="print")
    one.page.pdf(path=tmp_path / "page.pdf")
    assert one.page.locator("details:not([open])").count() == 0
    assert not one.page.locator("#viewer").is_visible()
    assert one.page.locator("#damage img").first.is_visible()
    one.page.emulate_media(media="screen")
