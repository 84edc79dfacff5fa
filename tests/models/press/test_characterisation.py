"""Contact of designs: equilibrium, shares, offsets, slope, and tables of worst cases."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from kneewear.analysis.tables import analyse_results
from kneewear.mechanics.loads import Load
from kneewear.models.press.tables import analyse_submission
from kneewear.study.files import design_studies
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.models.press.conftest import DEFAULT, SPHERES, compute, press_study
from tests.workflow.conftest import CHECKOUT

pytestmark = pytest.mark.compiled

DESIGNS = {
    "design": {"settings": ["implant.parametric"], "blocks": {"spheres": SPHERES, "flat": {}}}
}
ANALYSES = {"contact": {}, "worst_cases": {"by": "design"}, "submission": {"by": "design"}}


@pytest.fixture(scope="module")
def study():
    """Spheres in dishes and the built-in bearing under 8 conditions each."""
    return press_study(
        {},
        variables=DESIGNS,
        analyses=ANALYSES,
        flexion_deg=[0.0, 45.0],
        load_n=[1000.0, 2000.0],
        medial_share=0.6,
        posterior_offset_mm=[0.0, 2.0],
        pressures_mpa=(5.0, 10.0),
    )


@pytest.fixture(scope="module")
def results(study):
    return compute(study).results


@pytest.fixture(scope="module")
def tables(study, results):
    return analyse_results(study, results)


@pytest.fixture(scope="module")
def spheres(results):
    return results[results["design"] == "spheres"].reset_index(drop=True)


@pytest.mark.slow
def test_each_condyle_carries_its_share_of_the_load(spheres):
    down = -spheres[["medial_force_superior", "lateral_force_superior"]].to_numpy()
    assert_allclose(down.sum(axis=1), spheres["load_n"], rtol=1e-6)
    assert_allclose(down[:, 0] / spheres["load_n"], 0.6, atol=1e-4)


def test_offsets_are_from_the_settled_position_and_held_by_load_times_slope(spheres):
    at = spheres.pivot(
        index=["flexion_deg", "load_n"],
        columns="posterior_offset_mm",
        values=["posterior_position", "reaction_posterior"],
    )
    x, held = at["posterior_position"], at["reaction_posterior"]
    assert_allclose(x[2.0] - x[0.0], 2.0, atol=1e-9)
    # Settled, nothing holds the component; off the bottom the slope does, by 2 mm in 25 mm.
    assert held[0.0].abs().max() < 1e-3 * 2000.0
    load = at.index.get_level_values("load_n")
    assert_allclose(held[2.0], load * math.tan(math.asin(2.0 / 25.0)), rtol=0.03)


ONE = {"flexion_deg": 0.0, "load_n": 2000.0, "medial_share": 0.6}


def test_held_varus_tips_the_load_onto_one_side_by_load_times_lever(rig):
    angles = [0.0, 0.1, 4.0, -4.0]
    results = compute(press_study(SPHERES, **ONE, varus_offset_deg=angles)).results
    down = -results[["medial_force_superior", "lateral_force_superior"]].to_numpy()
    assert_allclose(down.sum(axis=1), 2000.0, rtol=1e-6)
    # Settled, the share holds without a moment; further varus loads the medial side.
    assert pytest.approx(down[0, 0] / 2000.0, abs=1e-4) == 0.6
    assert 0.6 < down[1, 0] / 2000.0 < 1.0
    assert down[2].tolist() == pytest.approx([2000.0, 0.0])
    assert down[3].tolist() == pytest.approx([0.0, 2000.0])


def test_moment_of_held_varus_is_load_times_lever(rig):
    study = press_study(SPHERES, **ONE, varus_offset_deg=[4.0, -4.0])
    moment = compute(study).data["reaction"].sel(coordinate="theta_1").values
    one = rig(SPHERES, **ONE)
    # Lifted off, the sphere settles at the bottom of its dish: the lever is from there to the load.
    levers = np.array(one.middles) - one.line(0.6)
    assert np.abs(moment) == pytest.approx(2000.0 * np.abs(levers), rel=0.02)
    assert moment[0] * moment[1] < 0.0


def test_slope_moves_the_condyles_down_it_as_far_as_spheres_allow():
    results = compute(press_study(SPHERES, **ONE, posterior_slope_deg=[0.0, 6.0])).results
    moved = results["posterior_position"].diff().iloc[1]
    # Backwards, by the sine of the slope times the distance of the centres, and the layer's 0.3 mm.
    assert moved == pytest.approx(25.0 * math.sin(math.radians(6.0)), rel=0.02)
    sloped = results.iloc[1]
    for axis, part in (
        ("posterior", -math.sin(math.radians(6.0))),
        ("superior", math.cos(math.radians(6.0))),
    ):
        force = -sloped[f"medial_force_{axis}"] - sloped[f"lateral_force_{axis}"]
        assert force == pytest.approx(2000.0 * part, abs=2.0)
    up = sloped["medial_force_superior"] + sloped["lateral_force_superior"]
    assert sloped["medial_force_superior"] / up == pytest.approx(0.6, abs=1e-4)


def test_table_of_a_submission_has_one_condition_of_every_size_flexion_and_side(tables, spheres):
    table = tables["submission"]
    table = table[table["design"] == "spheres"]
    assert table[["flexion_deg", "side"]].to_numpy().tolist() == [
        [0, "medial"],
        [0, "lateral"],
        [45, "medial"],
        [45, "lateral"],
    ]
    assert set(table["load_n"]) == {1000}
    assert set(table["posterior_offset_mm"]) == {0}
    force = (table["contact_area_mm2"] * table["avg_pressure_mpa"]).to_numpy()
    assert force == pytest.approx([600.0, 400.0] * 2, rel=0.01)
    first = spheres.iloc[[0, 4]][["medial_max_pressure", "lateral_max_pressure"]]
    assert table["max_pressure_mpa"].to_numpy() == pytest.approx(first.to_numpy().ravel())


def test_submission_shows_one_level_of_further_variables(study, results, tables):
    doubled = results.assign(medial_contact_area=2.0 * results["medial_contact_area"])
    both = pd.concat([results.assign(model="one"), doubled.assign(model="other")])
    table = analyse_submission(both, study, study.analyses.submission)["submission"]
    pd.testing.assert_frame_equal(table, tables["submission"])


def test_condyles_of_revolution_meet_alike_at_every_flexion(spheres):
    pressure = spheres["medial_max_pressure"].to_numpy().reshape(2, 4)
    assert_allclose(pressure[0], pressure[1], rtol=1e-3)


def test_areas_above_pressures_are_parts_of_the_loaded_area(tables):
    table = tables["contact"]
    table = table[table["side"] != "all"]
    wide = table.pivot_table(index=["case", "side"], columns="quantity", values="value")
    assert (wide["area_above_10_mpa"] <= wide["area_above_5_mpa"]).all()
    assert (wide["area_above_5_mpa"] < wide["contact_area"]).all()
    assert (wide["area_above_10_mpa"] > 0.0).any()
    # Mean pressure times area is the force along the pressure, which is nearly vertical.
    carried = wide["avg_pressure"] * wide["contact_area"]
    assert_allclose(carried, -wide["force_superior"], rtol=0.01)


def test_worst_cases_are_the_extremes_of_each_design_and_of_the_family(tables):
    contact, worst = tables["contact"], tables["worst_cases"]
    assert len(worst) == 6
    for _, row in worst.iterrows():
        every = contact[contact["quantity"] == row["quantity"]]["value"]
        extreme = every.min() if row["quantity"] == "contact_area" else every.max()
        assert row["worst_of_family"] == (row["value"] == extreme)
    assert worst.groupby("quantity")["worst_of_family"].sum().tolist() == [1, 1, 1]


def test_load_acts_along_its_line(rig):
    one = rig({})
    line = one.line(0.75)
    assert line == pytest.approx(0.5 * one.middles[0])
    moment = Load((0.0, -1.0, 0.0), point=(0.0, 0.0, line)).wrench(np.zeros(3), np.eye(3))[0][3]
    assert moment == pytest.approx(line)


def test_designs_are_studies_of_their_own():
    base = merge_settings(DEFAULT, read_settings(CHECKOUT / "config/characterisation.yaml"))
    study = validate_study(base)
    designs = design_studies(study)
    assert list(designs) == ["small", "medium", "large"]
    assert designs["medium"].implant == study.implant
    assert designs["small"].implant.parametric.condyle_spacing_mm == 41.4


@pytest.mark.slow
def test_inputs_of_each_design_are_drawn_in_a_folder_of_its_own(tmp_path, monkeypatch):
    from kneewear.__main__ import main

    monkeypatch.chdir(tmp_path)
    main(["check", str(CHECKOUT / "config/laxity.yaml")])
    for design in ("flat", "dished"):
        page = f"results/laxity/inputs/{design}/index.html"
        assert "60 deg" in (tmp_path / page).read_text()
