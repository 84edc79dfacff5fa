"""Measured compression and measured pressures: fits, maps, and comparison with a press study."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.__main__ import main
from kneewear.contact.foundation import MATERIALS
from kneewear.errors import InputDataError
from kneewear.evidence.measurements.files import read_measured_pressures, read_pressure_map
from kneewear.evidence.measurements.material_fit import fit_material
from kneewear.evidence.measurements.pressure_maps import (
    average_trials,
    averaged,
    pair_pressures,
    pressure_errors,
    rank_choices,
    reduce_map,
    vary_cut_off,
)
from tests.refusals import refused_at

PUBLISHED = MATERIALS["polyethylene_23c"]
STRESS = np.linspace(0.0, 30.0, 25)


@pytest.mark.parametrize("exponent", [None, 3.0])
@pytest.mark.parametrize("response", ["modulus", "strain"])
def test_a_fit_returns_the_material_of_its_points(response, exponent):
    law = PUBLISHED.tangent_modulus if response == "modulus" else PUBLISHED.strain
    found = fit_material(STRESS, law(STRESS), response, exponent)
    assert found.material.exponent == pytest.approx(3.0, rel=1e-4)
    assert found.material.reference_strain == pytest.approx(0.0257, rel=1e-3)
    assert found.material.reference_pressure == pytest.approx(15.8, rel=1e-3)
    assert found.skill == pytest.approx(1.0)


def spot(peak=10.0, noise=0.1):
    """A round pressure on cells of 1.61 mm2, with faint cells outside."""
    y, x = np.mgrid[-24:25, -24:25]
    dome = peak * np.sqrt(np.maximum(1.0 - (x**2 + y**2) / 400.0, 0.0))
    return np.where(dome > 0.0, dome, noise)


def test_the_cut_off_removes_cells_outside_the_contact():
    cells = spot()
    whole, cut = reduce_map(cells, 0.01, 1.61), reduce_map(cells, 0.2, 1.61)
    assert whole.area_mm2 == pytest.approx(2401 * 1.61)
    assert cut.area_mm2 == pytest.approx((spot(noise=0.0) > 0).sum() * 1.61)
    assert cut.max_pressure_mpa == whole.max_pressure_mpa == 10.0
    # Mean of half an ellipsoid: two thirds of its peak.
    assert cut.avg_pressure_mpa == pytest.approx(20.0 / 3.0, rel=0.02)
    table = vary_cut_off(cells, [0.0, 0.2, 20.0], 1.61).set_index("cut_off_mpa")
    assert table["area_mm2"].tolist() == pytest.approx([whole.area_mm2, cut.area_mm2, 0.0])
    with pytest.raises(ValueError):
        reduce_map(cells, 20.0, 1.61)


def test_averaging_takes_a_hot_cell_down_to_its_weight_and_keeps_the_force():
    cells = np.zeros((5, 5))
    cells[2, 2] = 16.0
    found = averaged(cells)
    assert found[1:4, 1:4].tolist() == [[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]
    assert found.sum() == cells.sum()
    assert averaged(np.ones((4, 4)))[1:3, 1:3] == pytest.approx(1.0)


def contact_of(offset):
    """Computed pressures of two materials at two loads: `offset` by material above 10 and 20."""
    return pd.DataFrame(
        [
            (material, 0.0, load, side, quantity, factor * load / 100.0 + shift + sign)
            for material, shift in offset.items()
            for load in (1000.0, 2000.0)
            for side, sign in (("medial", 1.0), ("lateral", -1.0))
            for quantity, factor in (("max_pressure", 1.0), ("avg_pressure", 0.5))
        ],
        columns=["material", "flexion_deg", "load_n", "side", "quantity", "value"],
    )


def test_errors_are_those_of_the_means_of_both_sides():
    trials = pd.DataFrame(
        {
            "load_n": [1000.0, 1000.0, 2000.0],
            "max_pressure_mpa": [9.0, 11.0, 20.0],
            "avg_pressure_mpa": [5.0, 5.0, 9.0],
        }
    )
    measured = average_trials(trials, ["load_n"])
    assert measured["trials"].tolist() == [2, 1]
    assert measured["sd_max_pressure_mpa"].iloc[0] == pytest.approx(np.sqrt(2.0))
    paired = pair_pressures(contact_of({"soft": -2.0, "stiff": 3.0}), measured)
    table = pressure_errors(paired, ["load_n"]).set_index(["quantity", "material"])
    peak = table.loc["peak pressure without averaging"]
    assert peak["mean_mpa"].to_dict() == pytest.approx({"soft": -2.0, "stiff": 3.0})
    assert peak["sd_mpa"].tolist() == pytest.approx([0.0, 0.0])
    # The measurements are 10 and 20 MPa: 5 MPa from their mean.
    assert peak["constant_mean_mpa"].tolist() == pytest.approx([5.0, 5.0])
    assert peak["skill"].tolist() == pytest.approx([1.0 - 4.0 / 25.0, 1.0 - 9.0 / 25.0])
    mean = table.loc[("average pressure", "soft")]
    errors = np.array([-2.0, -1.0])
    assert mean["rms_mpa"] == pytest.approx(np.sqrt((errors**2).mean()))
    assert mean["sd_mpa"] == pytest.approx(errors.std(ddof=1))


def test_the_position_whose_pressures_differ_least_is_found():
    offsets = {f"at {place:g} mm": 4.0 * (place - 0.35) for place in (0.0, 0.2, 0.4, 0.6)}
    contact = contact_of(offsets).rename(columns={"material": "medial_mm"})
    trials = pd.DataFrame(
        {
            "load_n": [1000.0, 2000.0],
            "max_pressure_mpa": [10.0, 20.0],
            "avg_pressure_mpa": [5.0, 10.0],
        }
    )
    errors = pressure_errors(
        pair_pressures(contact, average_trials(trials, ["load_n"])), ["load_n"]
    )
    ranked = rank_choices(errors)
    assert ranked["medial_mm"].tolist() == ["at 0.4 mm", "at 0.2 mm", "at 0.6 mm", "at 0 mm"]
    # Of both quantities together.
    own = errors[errors["medial_mm"] == "at 0.4 mm"]
    assert ranked["rms_mpa"].iloc[0] == pytest.approx(np.sqrt((own["rms_mpa"] ** 2).mean()))
    assert rank_choices(errors.drop(columns="medial_mm")).empty


def test_maps_are_read_reduced_and_compared_by_a_command(tmp_path, capsys):
    study = tmp_path / "results" / "press"
    (study / "tables").mkdir(parents=True)
    contact_of({"soft": 0.0, "stiff": 2.0}).to_csv(study / "tables" / "contact.csv", index=False)
    for load in (1000, 2000):
        np.savetxt(tmp_path / f"map{load}.csv", spot(load / 100.0), delimiter=",")
    table = tmp_path / "measured.csv"
    table.write_text("load_n,map\n1000,map1000.csv\n2000,map2000.csv\n")
    # Of the size at which the map carries its load.
    main(["compare-pressure", str(study), str(table), "--cut-off", "0.2", "--cell-area", "0.118"])
    assert "skill" in capsys.readouterr().out
    folder = study / "measured_pressure"
    errors = pd.read_csv(folder / "pressure_errors.csv").set_index(["quantity", "material"])
    assert errors.loc[("peak pressure without averaging", "stiff"), "mean_mpa"] == pytest.approx(2)
    assert errors.loc[("peak pressure with averaging", "soft"), "mean_mpa"] > 0.01
    assert (folder / "cut_off.svg").is_file() and (folder / "measured_pressures.svg").is_file()


def test_a_command_fits_a_table_and_prints_settings(tmp_path, capsys):
    table = tmp_path / "compression.csv"
    rows = zip(STRESS, PUBLISHED.tangent_modulus(STRESS), strict=True)
    table.write_text("stress_mpa,modulus_mpa\n" + "".join(f"{a},{b}\n" for a, b in rows))
    main(["fit-material", str(table), "--output", str(tmp_path), "--exponent", "3"])
    assert "reference_pressure_mpa: 15.8" in capsys.readouterr().out
    assert (tmp_path / "material_fit.svg").is_file()
    table.write_text("stress_mpa,modulus_mpa\n1,-5\n")
    with pytest.raises(SystemExit, match="modulus_mpa"):
        main(["fit-material", str(table), "--output", str(tmp_path)])


@pytest.mark.parametrize(
    "text",
    [
        "load_n\n1\n",
        "load_n,map,avg_pressure_mpa\n1,a,2\n",
        "map\na\n",
        "load_n,max_pressure_mpa\n1,12000\n",
        "load_n,max_pressure_mpa,avg_pressure_mpa\n1,12,15\n",
    ],
)
def test_tables_without_pressures_or_conditions_are_refused(tmp_path, text):
    file = tmp_path / "measured.csv"
    file.write_text(text)
    with pytest.raises(InputDataError, match=r"header|_mpa'"):
        read_measured_pressures(file, 0.2, 1.61)


def measured_maps(folder, factor, header="load_n,map", row="1000,{map}", sides=1):
    """A table of one condition, whose maps together carry 1000 N times a factor."""
    cells = spot()
    np.savetxt(folder / "map.csv", factor * cells * 1000.0 / (cells.sum() * 1.61 * sides))
    rows = [row.format(map="map.csv", side=side) for side in ("medial", "lateral")[:sides]]
    (folder / "measured.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder / "measured.csv"


FORMS = {
    "no side": ("load_n,map", "1000,{map}", 1),
    "flexion": ("flexion_deg,load_n,map", "30,1000,{map}", 1),
    "both sides": ("load_n,side,map", "1000,{side},{map}", 2),
    "one side": ("load_n,side,map", "1000,{side},{map}", 1),
}


@pytest.mark.parametrize("form", FORMS)
# In psi, kgf/cm2, kPa, N/cm2, and a map of a tenth.
@pytest.mark.parametrize("factor", [145.0, 10.2, 1000.0, 100.0, 0.1])
def test_maps_that_do_not_carry_their_load_are_refused(tmp_path, form, factor):
    if form == "one side" and factor < 1.0:
        return  # the other side may carry the rest
    table = measured_maps(tmp_path, factor, *FORMS[form])
    place = "measured.csv, column 'map', data row 1"
    refused = refused_at(read_measured_pressures, table, 0.0, 1.61)
    assert refused in (place, "map.csv")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("factor", [0.7, 1.0, 1.3])
def test_maps_that_carry_about_their_load_are_read(tmp_path, form, factor):
    table = measured_maps(tmp_path, factor, *FORMS[form])
    measured, _, _ = read_measured_pressures(table, 0.0, 1.61)
    assert len(measured) == FORMS[form][2]


def test_counts_of_a_sensor_are_no_pressures(tmp_path):
    path = tmp_path / "raw.csv"
    np.savetxt(path, np.round(spot(238.0)), fmt="%d", delimiter=",")
    assert refused_at(read_pressure_map, path) == "raw.csv"
    np.savetxt(path, np.round(spot(12.0)), fmt="%d", delimiter=",")
    assert read_pressure_map(path).max() == 12.0
