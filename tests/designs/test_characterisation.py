"""Contact characterisation: equilibrium, shares, offsets, worst cases, and refused designs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kneewear.errors import InputDataError
from kneewear.io import netcdf
from kneewear.mechanics.loads import Load
from kneewear.settings.contact_characterisation import CharacterisationSettings
from kneewear.settings.study import load_study, merge_settings, read_settings
from kneewear.studies.designs.characterisation import (
    CharacterisationRecord,
    characterise_contact,
    find_worst_cases,
    list_conditions,
    reference_conditions,
    tabulate_contact,
)
from tests.designs.conftest import DEFAULT, SPHERES
from tests.workflow.conftest import CHECKOUT

SETTINGS = CharacterisationSettings(
    flexion_deg=(0, 45),
    load_n=(1000, 2000),
    medial_share=(0.5, 0.65),
    tibial_external_rotation_deg=(0,),
    posterior_offset_mm=(0, 2),
    medial_offset_mm=(0,),
    varus_offset_deg=(0,),
    posterior_slope_deg=(0,),
    free=("anterior_posterior", "medial_lateral"),
    pressures_mpa=(5, 10),
)


@pytest.fixture(scope="module")
def record(bench):
    """Spheres in dishes under all conditions."""
    return characterise_contact(bench(SPHERES), SETTINGS)


def test_each_condyle_carries_its_share_of_the_load(record):
    assert record.cases == list_conditions(SETTINGS)
    load = np.array([case.load for case in record.cases])
    share = np.array([case.medial_share for case in record.cases])
    down = -record.force[..., 1]
    assert_allclose(down.sum(axis=1), load, rtol=1e-6)
    assert_allclose(down[:, 0] / load, share, atol=1e-4)


def test_offsets_are_from_the_settled_position_and_held_by_load_times_slope(record):
    x = record.translation[:, 0].reshape(2, 2, 2, 2)
    assert_allclose(x[..., 1] - x[..., 0], 2.0, atol=1e-9)
    # Settled, nothing holds the component; off the bottom the slope does, by 2 mm in 25 mm.
    held = record.reaction[:, 0].reshape(2, 2, 2, 2)
    load = np.array([case.load for case in record.cases]).reshape(2, 2, 2, 2)
    assert np.abs(held[..., 0]).max() < 1e-3 * load.max()
    expected = load[..., 1] * math.tan(math.asin(2.0 / 25.0))
    assert_allclose(held[..., 1], expected, rtol=0.03)


ONE = {"flexion_deg": (0,), "load_n": (2000,), "medial_share": (0.6,), "posterior_offset_mm": (0,)}


def test_held_varus_tips_the_load_onto_one_side_by_load_times_lever(bench):
    tipped = SETTINGS.model_copy(update={**ONE, "varus_offset_deg": (0.0, 0.1, 4.0, -4.0)})
    one = bench(SPHERES)
    record = characterise_contact(one, tipped)
    assert [case.varus_offset for case in record.cases] == [0.0, 0.1, 4.0, -4.0]
    down = -record.force[..., 1]
    assert_allclose(down.sum(axis=1), 2000.0, rtol=1e-6)
    # Settled, the share holds without a moment; further varus loads the medial side.
    assert pytest.approx(down[0, 0] / 2000.0, abs=1e-4) == 0.6
    assert 0.6 < down[1, 0] / 2000.0 < 1.0
    assert down[2].tolist() == pytest.approx([2000.0, 0.0])
    assert down[3].tolist() == pytest.approx([0.0, 2000.0])
    # Lifted off, the sphere settles at the bottom of its dish: the lever is from there to the load.
    levers = np.array(one.middles) - one.line(0.6)
    assert np.abs(record.reaction[2:, 3]) == pytest.approx(2000.0 * np.abs(levers), rel=0.02)
    assert record.reaction[2, 3] * record.reaction[3, 3] < 0.0


def test_slope_moves_the_condyles_down_it_as_far_as_spheres_allow(bench):
    sloped = SETTINGS.model_copy(update={**ONE, "posterior_slope_deg": (0.0, 6.0)})
    one = bench(SPHERES)
    record = characterise_contact(one, sloped)
    moved = record.translation[1, 0] - record.translation[0, 0]
    # Backwards, by the sine of the slope times the distance of the centres, and the layer's 0.3 mm.
    assert moved == pytest.approx(25.0 * math.sin(math.radians(6.0)), rel=0.02)
    load = -record.force.sum(axis=1)
    expected = [-2000.0 * math.sin(math.radians(6.0)), 2000.0 * math.cos(math.radians(6.0)), 0.0]
    assert load[1].tolist() == pytest.approx(expected, abs=2.0)
    share = record.force[1, 0, 1] / record.force[1, :, 1].sum()
    assert share == pytest.approx(0.6, abs=1e-4)
    held = characterise_contact(one, sloped.model_copy(update={"free": ("medial_lateral",)}))
    # Held off the bottom, where load times slope of the dish acts even on a level insert.
    level = held.reaction[0, 0] * math.cos(math.radians(6.0))
    assert held.reaction[1, 0] == pytest.approx(level + expected[0], abs=2.0)


def test_table_of_a_submission_has_one_condition_of_every_size_flexion_and_side(record):
    contact = tabulate_contact(record, "one", SETTINGS.pressures_mpa)
    found = reference_conditions(contact)
    assert found[["flexion_deg", "side"]].to_numpy().tolist() == [
        [0, "medial"], [0, "lateral"], [45, "medial"], [45, "lateral"]
    ]  # fmt: skip
    assert set(found["load_n"]) == {1000}
    assert set(found["posterior_offset_mm"]) == {0}
    assert (found["contact_area_mm2"] * found["avg_pressure_mpa"]).to_numpy() == pytest.approx(
        500.0, rel=0.01
    )
    assert found["max_pressure_mpa"].to_numpy() == pytest.approx(
        record.max_pressure[[0, 8]].ravel()
    )


def test_condyles_of_revolution_meet_alike_at_every_flexion(record):
    pressure = record.max_pressure.reshape(2, 8, 2)
    assert_allclose(pressure[0], pressure[1], rtol=1e-3)


def test_areas_above_pressures_are_parts_of_the_loaded_area(record):
    table = tabulate_contact(record, "one", SETTINGS.pressures_mpa)
    keys = [name for name in table.columns if name not in ("quantity", "value", "unit")]
    wide = table.pivot_table(index=keys, columns="quantity", values="value")
    assert (wide["area_above_10_mpa"] <= wide["area_above_5_mpa"]).all()
    assert (wide["area_above_5_mpa"] < wide["contact_area"]).all()
    assert (wide["area_above_10_mpa"] > 0.0).any()
    # Mean pressure times area is the force along the pressure, which is nearly vertical.
    assert_allclose(wide["avg_pressure"] * wide["contact_area"], wide["force"], rtol=0.01)


def test_worst_cases_are_the_extremes_of_each_design_and_of_the_family(record, bench):
    other = characterise_contact(bench({}), SETTINGS)
    tables = [tabulate_contact(one, name, (5,)) for name, one in (("a", record), ("b", other))]
    import pandas as pd

    contact = pd.concat(tables)
    worst = find_worst_cases(contact)
    assert len(worst) == 6
    for _, row in worst.iterrows():
        every = contact[contact["quantity"] == row["quantity"]]["value"]
        extreme = every.min() if row["quantity"] == "contact_area" else every.max()
        assert row["worst_of_family"] == (row["value"] == extreme)
    assert worst.groupby("quantity")["worst_of_family"].sum().tolist() == [1, 1, 1]


def test_record_survives_its_file(record, tmp_path):
    netcdf.save(record, tmp_path / "one.nc")
    loaded = netcdf.load(CharacterisationRecord, tmp_path / "one.nc")
    assert loaded.cases == record.cases
    assert_allclose(loaded.element_pressure, record.element_pressure, rtol=0, atol=0)


def test_load_pushes_along_its_own_line(bench):
    one = bench({})
    line = one.line(0.75)
    assert line == pytest.approx(0.5 * one.middles[0])
    assert Load((0.0, -1.0, 0.0), point=(0.0, 0.0, line)).wrench(np.zeros(3), np.eye(3))[0][
        3
    ] == pytest.approx(line)


def refusal(**changes):
    """Message about a changed study."""
    base = merge_settings(DEFAULT, read_settings(CHECKOUT / "config/characterisation.yaml"))
    with pytest.raises(InputDataError) as caught:
        load_study(merge_settings(base, changes))
    return str(caught.value)


def test_a_design_with_an_unknown_key_or_an_impossible_value_is_refused_by_name():
    said = refusal(designs={"small": {"parametric": {"femoral_sagital_radius_mm": 3.0}}})
    assert "designs.small" in said
    assert "femoral_sagital_radius_mm" in said
    said = refusal(designs={"large": {"parametric": {"condyle_spacing_mm": -1.0}}})
    assert "designs.large" in said
    assert "condyle_spacing_mm" in said


def test_a_share_of_the_whole_load_is_refused():
    assert "less than 1" in refusal(characterisation={"medial_share": [1.0]})


def test_designs_are_studies_of_their_own():
    base = merge_settings(DEFAULT, read_settings(CHECKOUT / "config/characterisation.yaml"))
    study = load_study(base)
    variants = study.variants()
    assert list(variants) == ["small", "medium", "large"]
    assert variants["medium"].implant == study.implant
    assert variants["small"].implant.parametric.condyle_spacing_mm == 41.4


@pytest.mark.slow
def test_inputs_of_each_design_are_drawn_in_a_folder_of_its_own(tmp_path, monkeypatch, capsys):
    from kneewear.__main__ import main

    monkeypatch.chdir(tmp_path)
    main([str(CHECKOUT / "config/laxity.yaml"), "--draw"])
    said = capsys.readouterr().out
    for design in ("flat", "dished"):
        page = f"results/laxity/inputs/{design}/index.html"
        assert page in said
        assert "60 deg" in (tmp_path / page).read_text()
