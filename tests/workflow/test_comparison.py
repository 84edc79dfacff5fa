"""Finished studies side by side: what cancels, what is ranked, and the page."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

import kneewear as kw
from kneewear.__main__ import main
from kneewear.analysis.comparison import (
    FinishedStudy,
    compare_samples,
    compare_studies,
    depth_maps,
    middle_cell,
    shared_cells,
)
from kneewear.analysis.matching import NEAREST
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.errors import InputDataError, KneewearError
from kneewear.io.documents import load_table
from kneewear.report.comparison import (
    build_comparison_view,
    comparison_findings,
    comparison_settings,
    comparison_tables,
    draw_depth_differences,
)
from kneewear.runs.results import load_finished
from kneewear.study import netcdf
from tests.report.pages import written

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


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
        one.assign(
            wear_depth=factor * one.wear_depth,
            damage_depth=factor * one.wear_depth + one.creep_depth,
        )
        for one in study.maps
    ]
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


def test_nothing_to_compare_is_refused(quick, tmp_path):
    with pytest.raises(KneewearError):
        compare_studies([quick])
    with pytest.raises(KneewearError):
        compare_studies([quick, quick])
    with pytest.raises(InputDataError):
        kw.compare(tmp_path)


def test_designs_without_a_common_case_are_compared_at_the_nearest(quick):
    light, histories = (
        [one.assign_coords(body_mass=one.body_mass + 200.0) for one in parts]
        for parts in (quick.maps, [batch[0] for batch in quick.histories])
    )
    apart = replace(other(quick), maps=light, histories=[[one] for one in histories])
    tables = compare_studies([quick, apart])
    matches = rows(tables["matches"], design="other")
    most = max(case.body_mass for case in quick.settings.variants()[0])
    assert (matches["method"] == NEAREST).all()
    assert set(matches["body_mass_kg"]) == {most}
    least = min(case.body_mass for case in quick.settings.variants()[0])
    assert set(matches["own_body_mass_kg"]) == {least + 200.0}
    # The first and the second study have one motion.
    assert (tables["gaits"]["differs"] == "").all()
    assert depth_maps([quick, apart], (8.0, most)).shape[1] == 4


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


@pytest.mark.slow
def test_command_compares_two_studies(finished, monkeypatch):
    factor = {"wear": {"wear_factor_mm3_per_n_m": 1.0e-7}, "study": "little"}
    finished.snakemake(overrides=factor)
    monkeypatch.chdir(finished.folder)
    main(["compare", "quick little"])
    folder = finished.folder / "results/comparisons/quick_and_little"
    page = folder / "report/index.html"
    assert 'data-table="settings"' in page.read_text(encoding="utf-8")
    drawn = {path.name for path in folder.glob("figures/*.svg")}
    assert drawn == {"difference_maps_little.svg", "view.svg"}
    tables = {path.stem: load_table(path) for path in folder.glob("tables/*.csv")}
    wear = rows(tables["differences"], quantity="wear_volume")
    np.testing.assert_allclose(wear["ratio_equal"], 1.0, rtol=1e-9)
    # Again, in the same folder.
    main(["compare", "quick", "little"])
    for names in ("quick none", ""):
        with pytest.raises(SystemExit):
            main(["compare", names])


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
