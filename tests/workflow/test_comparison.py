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
from kneewear.io import netcdf
from kneewear.io.finished_study import load_finished
from kneewear.report.comparison import draw_depth_differences, render_comparison
from kneewear.simulation.history import ContactHistory
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
from kneewear.wear.records import DamageMaps
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.workflow


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
            one = netcdf.load(ContactHistory, path)
            netcdf.save(replace(one, activity=name), path)
    for path in (folder / "wear").glob("b*.nc"):
        maps = netcdf.load(DamageMaps, path)
        shares = np.full((len(maps.lives), 2), 0.5)
        netcdf.save(replace(maps, activities=("zigzag", "ascent"), shares=shares), path)
    found = load_finished(folder)
    for histories in found.histories:
        assert [one.activity for one in histories] == ["zigzag", "ascent"]


def other(study, factor=1.0, **changes):
    """The study under another name, with other wear or settings."""
    maps = [
        replace(one, wear_depth=factor * one.wear_depth,
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
    by_life = ("shares", "wear_depth", "creep_depth", "damage_depth", "max_pressure",
               "avg_pressure", "cross_shear")  # fmt: skip
    lives = [
        replace(one, lives=("first", "second"),
                **{name: np.repeat(getattr(one, name), 2, axis=0) for name in by_life})
        for one in quick.maps
    ]  # fmt: skip
    constants = compare_studies([replace(quick, maps=lives)])["constants"]
    assert constants["design"].tolist() == ["quick, second"]
    assert "only the centre case" in constants["reason"].item()


def test_titles_of_difference_maps_name_designs_as_written(quick, tables):
    cells = shared_cells(tables["differences"])
    name = "difference_maps_wear.blocks_4_b"
    found = {key: table.assign(design="wear.blocks 4, b") if "design" in table else table
             for key, table in tables.items() if key == "differences"}  # fmt: skip
    page = render_comparison([quick, other(quick)], tables | found, {name: b"<svg/>"}, cells)
    assert "<h3>Difference of damage depth: wear.blocks 4, b against quick</h3>" in page


def test_nothing_to_compare_is_refused(quick, tmp_path):
    with pytest.raises(KneewearError, match="found one design; expected two or more"):
        compare_studies([quick])
    with pytest.raises(KneewearError, match="expected different names"):
        compare_studies([quick, quick])
    light = [replace(one, cases=tuple(replace(c, body_mass=20.0) for c in one.cases))
             for one in quick.maps]  # fmt: skip
    histories = [
        [replace(history, cases=two.cases) for history in one]
        for one, two in zip(quick.histories, light, strict=True)
    ]
    apart = replace(other(quick), maps=light, histories=histories)
    with pytest.raises(KneewearError, match="found no thickness and body mass that all designs"):
        compare_studies([quick, apart])
    with pytest.raises(InputDataError, match="found no finished wear study"):
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
    page = render_comparison(studies, tables, {"difference_maps_other": b"<svg/>"}, cells)
    assert "Difference of damage depth: other" in page
    assert "Wear factors differ" not in page
    assert "The order is the same when the wear factor" in page
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?!data:|#)', outside)


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
    assert "wear.wear_factor_mm3_per_n_m" in page.read_text(encoding="utf-8")


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
        cases = settings.cases.model_copy(update={"body_mass_kg": change["masses"]})
        settings = settings.model_copy(update={"cases": cases})
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


def test_page_marks_cases_outside_validity_and_links_its_figures(quick, tables):
    limits = quick.settings.report.model_copy(update={"pressure_limit_mpa": 1.0})
    strict = replace(quick, settings=quick.settings.model_copy(update={"report": limits}))
    cells = shared_cells(tables["differences"])
    full = tables | {"depth_maps": depth_maps([quick, other(quick)], middle_cell(cells))}
    files = {"difference_maps_other": "../figures/difference_maps_other.svg"}
    for first, count in ((strict, len(cells)), (quick, None)):
        page = render_comparison(
            [first, other(first)], full, {"difference_maps_other": b"<svg></svg>"}, cells, files
        )
        if count:
            assert f"quick: {count} of {count} shared cases" in page
            assert f"other: {count} of {count} shared cases" in page
        assert 'href="../figures/difference_maps_other.pdf"' in page
    # Cases that not all designs have are in the differences of two and are not counted.
    page = render_comparison([strict, other(strict)], full, {}, cells[:1])
    assert "quick: 1 of 1 shared cases" in page


def test_page_states_how_many_samples_and_which_percentiles(quick, tables):
    cells = shared_cells(tables["differences"])
    page = render_comparison([quick, other(quick, factor=1.2)], tables, {}, cells)
    assert "against quick, 2.5 to 97.5 percentiles of 20 samples" in page


def test_page_has_warnings_and_names_of_studies_as_written(quick):
    messages = [("accumulate_wear/b000", f"depths {way} in {n} cases")
                for way in ("oscillate", "jump", "sink", "rise") for n in (2, 3)]  # fmt: skip
    wear = quick.settings.wear.model_copy(update={"blocks": 4})
    settings = quick.settings.model_copy(update={"study": "k_evol", "wear": wear})
    updated = replace(quick, settings=settings, warnings=tuple(messages))
    found = compare_studies([replace(quick, warnings=()), updated])
    cells = shared_cells(found["differences"])
    figures = draw_depth_differences(depth_maps([quick, updated], middle_cell(cells)), cells)
    drawn = dict.fromkeys(figures, b"<svg/>")
    page = render_comparison([replace(quick, warnings=()), updated], found, drawn, cells)
    first = "Warning of k_evol (accumulate_wear/b000): depths oscillate in 2 cases (1 more like it)"
    assert page.count(first) == 1
    assert page.count("Warning of ") == 3
    assert "k_evol has warnings of 1 further kind:" in page
    assert "no interval of the ratio to quick of k_evol, because samples of k_evol are" in page
    assert "Difference of damage depth: k_evol" in page
    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall("k evol|K evol|K_evol|>Quick<", text)


def test_page_has_the_warnings_of_each_study_and_names_as_written(quick, tables):
    cells = shared_cells(tables["differences"])
    warned = replace(quick, warnings=(("settings", "a doubtful load"), ("vary_models", "aside")))
    settings = pd.DataFrame({"setting": ["seed"], "quick": ["1"], "my_other": ["2"]})
    constants = pd.DataFrame(
        {"design": ["other"], "reference": ["quick"], "reason": ["a surface is updated"]}
    )
    own = tables | {"settings": settings, "constants": constants}
    page = render_comparison([warned, replace(other(quick), warnings=())], own, {}, cells)
    assert "Warning of quick (settings): a doubtful load" in page
    assert "aside" not in page
    assert "Warning of other" not in page
    assert "my_other</th>" in page
    assert "no interval of the ratio to quick of other, because a surface is updated" in page


def test_warnings_are_read_with_the_study(results):
    found = load_finished(results)
    recorded = json.loads((results / "provenance.json").read_text(encoding="utf-8"))["warnings"]
    assert [list(one) for one in found.warnings] == recorded


LOAD = {
    "base": 0.25,
    "bumps": [
        {"height": 1.75, "centre_percent": 15.0, "width_percent": 16.0},
        {"height": 1.7, "centre_percent": 46.0, "width_percent": 16.0},
    ],
}
PAIRS = {
    "evolving": {"cases": {"overrides": {"wear.blocks": [8]}}},
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
        ("evolving", {"cases.overrides.wear.blocks"}),
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
