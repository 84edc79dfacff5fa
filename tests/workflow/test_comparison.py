"""Finished studies side by side: what cancels, what is ranked, and the page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import kneewear as kw
from kneewear.errors import InputDataError, KneewearError
from kneewear.findings import Finding, Reported
from kneewear.io import netcdf
from kneewear.io.finished_study import load_finished
from kneewear.report.comparison import (
    build_comparison_view,
    comparison_findings,
    comparison_settings,
    comparison_tables,
    draw_depth_differences,
)
from kneewear.schemas import CONTACT, DAMAGE
from kneewear.studies.comparison import (
    FinishedStudy,
    _ranks,
    compare_samples,
    compare_studies,
    depth_maps,
    design_label,
    middle_cell,
    on_raster,
    shared_cells,
)
from tests.report.pages import written
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.workflow


def page_of(studies, tables, figures, cells):
    """Page of a comparison."""
    shown, named = comparison_tables(studies, tables, cells), comparison_settings(studies)
    return written("comparison", named, shown, figures, comparison_findings(studies))


@pytest.fixture(scope="module")
def quick(results) -> FinishedStudy:
    return load_finished(results)


def test_activities_are_read_in_the_order_of_the_damage(results, tmp_path):
    """Folders of activities are listed by name, and one of an earlier run may remain."""
    folder = tmp_path / "renamed"
    shutil.copytree(results, folder)
    for name in ("zigzag", "ascent", "earlier"):
        shutil.copytree(results / "simulation/gait", folder / "simulation" / name)
        for path in (folder / "simulation" / name).glob("*.nc"):
            one = netcdf.load(CONTACT, path)
            netcdf.save(one.assign_attrs(activity=name), path)
    for path in (folder / "wear").glob("b*.nc"):
        maps = netcdf.load(DAMAGE, path)
        shares = np.full((maps.sizes["life"], 2), 0.5)
        meaning = {name: maps[name].attrs for name in ("activity", "shares")}
        two = maps.drop_vars(["activity", "shares"]).assign(
            shares=(("life", "activity"), shares, meaning["shares"])
        )
        names = ("activity", ["zigzag", "ascent"], meaning["activity"])
        netcdf.save(two.assign_coords(activity=names), path)
    found = load_finished(folder)
    for histories in found.histories:
        assert [one.attrs["activity"] for one in histories] == ["zigzag", "ascent"]


def other(study, factor=1.0, **changes):
    """The study under another name, with other wear or settings."""
    maps = [
        one.assign(wear_depth=factor * one.wear_depth,
                   damage_depth=factor * one.wear_depth + one.creep_depth)
        for one in study.maps
    ]  # fmt: skip
    settings = study.settings.model_copy(update={"study": "other", **changes})
    return replace(study, settings=settings, maps=maps)


@pytest.fixture(scope="module")
def tables(quick):
    return compare_studies([quick, other(quick, factor=1.2)])


def rows(table, **values):
    for name, value in values.items():
        table = table[table[name] == value]
    return table


def test_values_are_those_of_the_case_tables(tables, results):
    cases = kw.open_results(results).tables["cases"]
    found = rows(tables["differences"], thickness_mm=6.0, body_mass_kg=75.0)
    wanted = rows(cases, case="6mm_75kg").set_index(["side", "quantity"])["value"]
    values = found.set_index(["side", "quantity"])["reference_value"]
    assert (values == wanted.reindex(values.index)).all()


def test_a_shared_wear_factor_cancels_in_wear_and_not_in_damage(tables):
    table = tables["differences"]
    wear = rows(table, quantity="wear_volume")
    for column in ("ratio", "ratio_half", "ratio_double"):
        # Volumes are sums in double precision.
        np.testing.assert_allclose(wear[column], 1.2, rtol=1e-12)
    damage = rows(table, quantity="damage_depth", side="medial")
    assert (damage["ratio_half"] < damage["ratio"]).all()
    assert (damage["ratio"] < damage["ratio_double"]).all()
    assert (damage["ratio_double"] < 1.2).all()
    assert (rows(table, quantity="max_pressure")["ratio_double"] == 1.0).all()


def test_different_wear_factors_are_set_equal(quick):
    wear = quick.settings.wear
    double = wear.model_copy(update={"wear_factor_mm3_per_n_m": 2 * wear.wear_factor_mm3_per_n_m})
    tables = compare_studies([quick, other(quick, factor=2.0, wear=double)])
    wear_rows = rows(tables["differences"], quantity="wear_volume")
    np.testing.assert_allclose(wear_rows["ratio"], 2.0, rtol=1e-12)
    np.testing.assert_allclose(wear_rows["ratio_equal"], 1.0, rtol=1e-12)


def test_updated_surfaces_have_no_value_at_another_wear_factor(quick, tables):
    assert tables["ranking"]["rank_half"].notna().all()
    wear = quick.settings.wear.model_copy(update={"blocks": 4})
    updated = replace(
        quick, settings=quick.settings.model_copy(update={"study": "other", "wear": wear})
    )
    tables = compare_studies([quick, updated])
    assert tables["differences"]["ratio_half"].isna().all()
    assert tables["differences"]["ratio"].notna().any()
    assert tables["ranking"]["rank_double"].isna().all()
    changed = tables["settings"].set_index("setting")
    assert list(changed.index) == ["wear.blocks"]
    assert changed.loc["wear.blocks", "other"] == "4"


def test_ranks_begin_with_the_least(tables):
    depths = rows(tables["ranking"], quantity="damage_depth")
    assert depths["design"].tolist() == ["quick", "other"]
    assert depths["rank"].tolist() == [1.0, 2.0]
    assert (depths["cases"] == 4).all()
    assert depths["value"].is_monotonic_increasing


def test_values_within_the_error_of_the_model_have_one_rank():
    assert _ranks(pd.Series([1.012, 1.0, 1.004, 1.5])).tolist() == [3.0, 1.0, 1.0, 4.0]
    assert _ranks(pd.Series([0.0, 0.0, 0.1])).tolist() == [1.0, 1.0, 3.0]
    assert np.isnan(_ranks(pd.Series([1.0, np.nan]))).all()


def test_designs_that_are_no_centre_case_say_that_they_have_no_samples(quick):
    lives = [one.isel(life=[0, 0]).assign_coords(life=["first", "second"]) for one in quick.maps]
    constants = compare_studies([replace(quick, maps=lives)])["constants"]
    assert constants["design"].tolist() == ["quick, second"]
    assert "only the centre case" in constants["reason"].item()


def test_nothing_to_compare_is_refused(quick, tmp_path):
    with pytest.raises(KneewearError):
        compare_studies([quick])
    with pytest.raises(KneewearError):
        compare_studies([quick, quick])
    light, histories = (
        [one.assign_coords(body_mass=one.body_mass * 0 + 20.0) for one in parts]
        for parts in (quick.maps, [batch[0] for batch in quick.histories])
    )
    histories = [[one] for one in histories]
    apart = replace(other(quick), maps=light, histories=histories)
    with pytest.raises(KneewearError):
        compare_studies([quick, apart])
    with pytest.raises(InputDataError):
        kw.compare(tmp_path)


def test_raster_returns_a_plane_and_stays_on_the_bearing(quick):
    grid = quick.grid
    plane = 1.0 + 0.1 * grid.centre[..., 0] - 0.02 * grid.centre[..., 2]
    x, z = np.array([-3.0, 0.25, 90.0]), np.array([-22.0, 0.0, 23.5])
    found = on_raster(grid, plane, x, z)
    wanted = 1.0 + 0.1 * x[:, None] - 0.02 * z
    # Interpolation is linear; between the plateaus and beyond them there is no element.
    np.testing.assert_allclose(found[:2, [0, 2]], wanted[:2, [0, 2]], rtol=1e-9)
    assert np.isnan(found[2]).all()
    assert np.isnan(found[:, 1]).all()


def test_page_has_both_designs_their_maps_and_no_other_file(quick, tables):
    studies = [quick, other(quick, factor=1.2)]
    cells = shared_cells(tables["differences"])
    maps = depth_maps(studies, middle_cell(cells))
    positive = maps[maps["quick"] > 0.0]
    assert (positive["other"] > positive["quick"]).all()
    figures = draw_depth_differences(maps, cells)
    assert list(figures) == ["difference_maps_other"]
    page = page_of(studies, tables, {"difference_maps_other": b"<svg/>"}, cells)
    assert 'id="figure-difference_maps_other"' in page.page
    assert page.results["mean", "wear_volume", "other"].value > 0.0
    outside = re.sub(r"<script.*?</script>", "", page.page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?!data:|#)', outside)
    view = build_comparison_view(studies, cells)
    assert {scene["of"]["design"] for scene in view["scenes"]} == {"quick", "other"}
    assert view["panes"] == "design"


def test_labels_name_life_and_overrides():
    assert design_label("a", "stairs", {"wear.blocks": 4.0}) == "a, stairs, wear.blocks 4"
    assert design_label("a", None, {"wear.blocks": float("nan")}) == "a"


@pytest.mark.slow
def test_rule_compares_two_studies(finished):
    factor = {"wear": {"wear_factor_mm3_per_n_m": 1.0e-7}, "study": "little"}
    finished.snakemake(overrides=factor)
    command, environment = finished.command()
    command = command[: command.index("--configfile")]
    command += ["--snakefile", "workflow/rules/compare.smk", "--config"]
    for studies, says in (("quick little", "1 of 1 steps"), ("quick none", "found no such folder"),
                          ("", "found no studies")):  # fmt: skip
        done = subprocess.run(
            [*command, f"studies={studies}"], cwd=finished.folder,
            env=environment | {"HOME": os.environ["HOME"]}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert says in done.stdout + done.stderr
    page = finished.folder / "results/comparisons/quick_and_little/report/index.html"
    assert 'data-table="settings"' in page.read_text(encoding="utf-8")


def constants_of(quick, **changes):
    """Uncertainty of the ratio of two studies of equal samples but for some columns."""
    samples = quick.samples.assign(**changes)
    return compare_samples(quick, replace(other(quick), samples=samples))


def test_constants_that_two_designs_share_cancel_in_their_ratio(quick):
    volume = "both_wear_volume"
    found = constants_of(quick, **{volume: 1.3 * quick.samples[volume]})
    row = rows(found, side="both", quantity="wear_volume").iloc[0]
    # Either value has a wide interval; the ratio has none, for all constants are shared.
    assert row["upper"] > 2.0 * row["lower"]
    assert [row["ratio"], row["ratio_lower"], row["ratio_upper"]] == pytest.approx([1.3] * 3)
    assert "wear_factor" in row["shared"]
    assert row["own"] == ""


def test_a_constant_with_numbers_of_its_own_does_not_cancel(quick):
    numbers = quick.samples["youngs_modulus"].to_numpy()
    changed = np.concatenate([numbers[:1], numbers[:0:-1]])
    found = constants_of(quick, youngs_modulus=changed)
    assert found["own"].iloc[0] == "youngs_modulus"
    assert "youngs_modulus" not in found["shared"].iloc[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"samples": None}, "other has no samples"),
        ({"blocks": 4}, "samples of other are of a fresh surface"),
        ({"seed": 7}, "seeds differ"),
        ({"masses": (60.0, 61.0)}, "centre cases differ"),
    ],
)
def test_designs_whose_samples_cannot_be_paired_say_why(quick, change, reason):
    second = other(quick)
    settings = second.settings
    if "blocks" in change:
        wear = settings.wear.model_copy(update={"blocks": 4})
        settings = settings.model_copy(update={"wear": wear})
    elif "masses" in change:
        masses = settings.variables["body_mass_kg"].model_copy(update={"values": change["masses"]})
        variables = {**settings.variables, "body_mass_kg": masses}
        settings = settings.model_copy(update={"variables": variables})
    elif "seed" in change:
        settings = settings.model_copy(update=change)
    second = replace(second, settings=settings)
    if "samples" in change:
        second = replace(second, samples=None)
    found = compare_samples(quick, second)
    assert reason in found["reason"].item()
    tables = compare_studies([quick, second]) if "masses" not in change else None
    if tables:
        assert reason in tables["constants"]["reason"].item()


def test_cases_outside_validity_are_findings(quick, tables):
    limits = quick.settings.report.model_copy(update={"pressure_limit_mpa": 1.0})
    strict = replace(quick, settings=quick.settings.model_copy(update={"report": limits}))
    cells = shared_cells(tables["differences"])
    full = tables | {"depth_maps": depth_maps([quick, other(quick)], middle_cell(cells))}
    # Cases that not all designs have are in the differences of two and are not counted.
    for some in (cells, cells[:1]):
        page = page_of([strict, other(strict)], full, {}, some)
        outside = page.tables["outside_cells"].set_index("design")["cases"]
        assert outside.to_dict() == {"quick": len(some), "other": len(some)}


def test_findings_of_each_study_are_named_and_those_aside_left_out(quick, tables):
    cells = shared_cells(tables["differences"])
    load, aside = (Finding("", "warn", "", text, "", "") for text in ("a load", "aside"))
    warned = replace(quick, findings=(Reported(load, "settings"), Reported(aside, "vary_models")))
    constants = pd.DataFrame({"design": ["other"], "reference": ["quick"], "reason": ["updated"]})
    own = tables | {"constants": constants}
    page = page_of([warned, replace(other(quick), findings=())], own, {}, cells)
    found = {one.finding.found: one for one in page.findings}
    assert found["a load"].job == "quick, settings"
    assert "aside" not in found
    (missing,) = (one for one in page.findings if one.finding.check == "uncertain_ratio")
    assert missing.finding.where == "other against quick"


def test_findings_are_read_with_the_study(results):
    recorded = json.loads((results / "report/summary.json").read_text(encoding="utf-8"))
    assert [one.record() for one in load_finished(results).findings] == recorded["findings"]


LOAD = {
    "base": 0.25,
    "bumps": [
        {"height": 1.75, "centre_percent": 15.0, "width_percent": 16.0},
        {"height": 1.7, "centre_percent": 46.0, "width_percent": 16.0},
    ],
}
PAIRS = {
    "evolving": {
        "variables": {
            "thickness_mm": [6, 10],
            "body_mass_kg": [50, 75],
            "blocks": {"settings": ["wear.blocks"], "values": [8]},
        }
    },
    "lighter": {"activities": {"gait": {"load_body_weights": LOAD}}},
    "flatter": {
        "implant": {
            "parametric": {"plateau_coronal_radius_mm": {"medial": 200.0, "lateral": 200.0}}
        }
    },
}
STATIC = {"simulation": {"analysis": "quasi_static"}}


@pytest.fixture(scope="module")
def pairs(finished, tmp_path_factory):
    """Comparison of a small study with itself changed, by what is changed."""
    checkout = Checkout(tmp_path_factory.mktemp("pairs") / "copy", origin=finished.folder)
    for name, changes in {"fixed": {}, **PAIRS}.items():
        checkout.snakemake(overrides={"study": name, **STATIC, **changes})
    found = {}
    for name in PAIRS:
        command, environment = checkout.command()
        command = command[: command.index("--configfile")]
        options = ["--snakefile", "workflow/rules/compare.smk", "--config", f"studies=fixed {name}"]
        subprocess.run(
            [*command, *options],
            cwd=checkout.folder,
            env=environment,
            check=True,
            capture_output=True,
        )
        folder = checkout.folder / "results/comparisons" / f"fixed_and_{name}"
        assert (folder / "report/index.html").is_file()
        tables = {path.stem: pd.read_csv(path) for path in (folder / "tables").glob("*.csv")}
        found[name] = tables
    return found


def of(tables, quantity):
    """Ratios of the second design to the first one, by case and side."""
    rows = tables["differences"]
    ratio = rows[rows["quantity"] == quantity]["ratio"].to_numpy()
    assert ratio.size >= 8
    return ratio


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("evolving", {"variables.blocks"}),
        ("lighter", {"activities.gait.load_body_weights.bumps"}),
        (
            "flatter",
            {
                "implant.parametric.plateau_coronal_radius_mm.medial",
                "implant.parametric.plateau_coronal_radius_mm.lateral",
            },
        ),
    ],
)
def test_a_pair_lists_the_settings_that_were_changed_and_no_others(pairs, name, settings):
    assert set(pairs[name]["settings"]["setting"]) == settings


@pytest.mark.slow
def test_a_surface_that_follows_its_wear_wears_less_deep_and_cancels_nothing(pairs):
    assert (of(pairs["evolving"], "wear_depth") < 1.0).all()
    assert pairs["evolving"]["differences"]["ratio_half"].isna().all()
    assert "ratio" not in pairs["evolving"]["constants"] or (
        pairs["evolving"]["constants"]["ratio"].isna().all()
    )


@pytest.mark.slow
def test_a_lighter_load_wears_less_and_its_ratio_is_surer_than_its_value(pairs):
    assert (of(pairs["lighter"], "wear_volume") < 1.0).all()
    assert (of(pairs["lighter"], "max_pressure") < 1.0).all()
    constants = pairs["lighter"]["constants"]
    row = constants[constants["quantity"] == "wear_volume"].iloc[0]
    assert row["ratio_upper"] / row["ratio_lower"] < 0.3 * row["upper"] / row["lower"]


@pytest.mark.slow
def test_a_flatter_dish_has_higher_pressure_and_ranks_behind(pairs):
    assert (of(pairs["flatter"], "max_pressure") > 1.0).all()
    ranking = pairs["flatter"]["ranking"].query("quantity == 'max_pressure'").set_index("design")
    assert ranking["rank"].to_dict() == {"fixed": 1, "flatter": 2}
