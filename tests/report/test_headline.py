"""Key results: wear first, creep apart where it is an upper estimate, measurements beside."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from kneewear import default_study
from kneewear.report.derived import Tables
from kneewear.report.insert_view import shown_depths
from kneewear.report.results import damage_maps, design
from kneewear.report.specification import load_page
from kneewear.report.summary import KeyResult, build_summary, read_key_results
from kneewear.report.wear_tables import deepest_places
from kneewear.wear.gravimetry import tabulate_wear_over_cycles
from kneewear.wear.leading import DAMAGE, UPPER_ESTIMATES, WEAR, leading_depth

# Of each case and side; the thicker insert wears less and creeps deeper.
VALUES = {
    "wear_volume": (7.0, "mm3"),
    "max_wear_depth": (0.2, "mm"),
    "max_creep_depth": (1.7, "mm"),
    "damage_depth": (1.9, "mm"),
    "damage_volume": (90.0, "mm3"),
    "creep_volume": (83.0, "mm3"),
    "max_pressure": (20.0, "MPa"),
    "avg_pressure": (10.0, "MPa"),
    "linear_wear_rate": (0.05, "mm/year"),
    "linear_penetration_rate": (0.4, "mm/year"),
    "volumetric_wear_rate": (1.7, "mm3/year"),
    "volumetric_penetration_rate": (21.0, "mm3/year"),
    "mass_loss": (1.5, "mg/million cycles"),
}


def wear_tables():
    rows = []
    for thickness, mass, side in [
        (thickness, mass, side)
        for thickness in (9.0, 11.0)
        for mass in (60.0, 90.0)
        for side in ("medial", "lateral")
    ]:
        factor = 0.9 if thickness == 11.0 else 1.0
        for quantity, (value, unit) in VALUES.items():
            own = value * (2.0 - factor if "creep" in quantity or "damage" in quantity else factor)
            case = f"{thickness:g}mm_{mass:g}kg"
            rows.append((case, "gait", thickness, mass, side, quantity, own * mass / 60.0, unit))
    columns = ["case", "life", "thickness_mm", "body_mass_kg", "side", "quantity", "value", "unit"]
    intervals = pd.DataFrame(
        [
            (side, quantity, unit, nominal, 0.2 * nominal, 2.0 * nominal, "2.5 to 97.5")
            for side in ("both", "medial", "lateral")
            for quantity, (nominal, unit) in VALUES.items()
        ],
        columns=["side", "quantity", "unit", "nominal", "lower", "upper", "percentiles"],
    )
    return {"cases": pd.DataFrame(rows, columns=columns), "constant_intervals": intervals}


def summary(creep_law, tables):
    settings = default_study().model_dump(mode="json")
    settings["wear"]["creep_law"] = creep_law
    return build_summary("wear", load_page("wear"), Tables(tables, settings), [])


def test_only_the_law_that_overestimates_is_an_upper_estimate():
    assert set(UPPER_ESTIMATES) == {"strain"}
    assert leading_depth("strain") is WEAR
    assert leading_depth("pressure") is DAMAGE


@pytest.mark.parametrize("creep_law", ["strain", "pressure"])
def test_wear_is_first_and_sums_lead_only_with_a_creep_that_is_known(creep_law):
    record = summary(creep_law, wear_tables())
    names = [one.name for one in read_key_results(record)]
    assert names[:3] == ["wear_volume", "wear_rate", "max_wear_depth"]
    assert ("damage_depth" in names) == (creep_law == "pressure")
    assert ("max_creep_depth" in names) == (creep_law == "strain")
    depth = next(one for one in read_key_results(record) if one.name == "max_wear_depth")
    assert (depth.value, depth.low) == (pytest.approx(0.2), pytest.approx(0.04))
    checks = {one["check"] for one in record["findings"]}
    assert ("creep_estimate" in checks) == (creep_law == "strain")
    # Nothing on the first screen names the sum.
    first = [cell for table in record["tables"] for cell in table["header"]]
    assert ("Deepest damage (mm)" in first) == (creep_law == "pressure")
    assert ("Deepest wear (mm)" in first) == (creep_law == "strain")


def test_retrieved_inserts_are_beside_wear_outside_of_their_range():
    record = summary("strain", wear_tables())
    (retrieved,) = [one for one in read_key_results(record) if one.name == "retrieved_wear"]
    # Engh et al. (2013), without creep: 74 (25 to 123); here 3 to 5 mm3 a year.
    assert (retrieved.value, retrieved.low, retrieved.high) == (74.0, 25.0, 123.0)
    (finding,) = [one for one in record["findings"] if one["check"] == "retrieved_range"]
    assert finding["severity"] == "warn"
    more = wear_tables()
    rate = more["cases"]["quantity"] == "volumetric_wear_rate"
    more["cases"].loc[rate, "value"] *= 20.0
    names = {one.name for one in read_key_results(summary("strain", more))}
    assert "retrieved_wear" not in names


def test_simulator_test_is_the_first_line_with_its_interval_and_ratio():
    tables = wear_tables()
    study = default_study()
    rate = tables["cases"].query("quantity == 'mass_loss'").groupby("case")["value"].sum()
    test = pd.DataFrame(
        {"million_cycles": [1.0, 3.0], "wear_mm3": [9.0, 25.7], "error_mm3": [1.0, 2.7]}
    )
    tables |= tabulate_wear_over_cycles(tables["cases"], study.wear, {"machine A": test})
    first = read_key_results(summary("strain", tables))[0]
    volumes = 3.0 * rate / study.wear.density_mg_per_mm3
    assert first.name == "simulator_test"
    assert first.value == pytest.approx(0.5 * (volumes.min() + volumes.max()))
    assert (first.measured, first.measured_error) == (25.7, 2.7)
    assert first.low == pytest.approx(0.2 * volumes.min())
    assert first.high == pytest.approx(2.0 * volumes.max())
    numbers = ("machine A", "3 million cycles", "25.7", "2.7", f"{first.value / 25.7:.2f}")
    assert all(number in first.text() for number in numbers)
    # The headline of the page has them as well.
    assert all(number in summary("strain", tables)["sentence"] for number in numbers[1:])


def test_measurement_of_nothing_has_no_ratio():
    result = KeyResult("test", "Test", 3.0, "mm3", {}, measured=0.0)
    assert "ratio" not in result.measurement


def test_maps_and_ranking_are_of_wear_where_creep_is_an_upper_estimate():
    assert shown_depths(WEAR) == ("wear_depth", "creep_depth")
    assert shown_depths(DAMAGE)[0] == "damage_depth"
    assert damage_maps(xr.Dataset(), None, 0, (), WEAR) is None
    cases = wear_tables()["cases"]
    thick, thin = (
        deepest_places(cases, {}, WEAR).set_index("thickness_mm").loc[h, "depth"].max()
        for h in (11.0, 9.0)
    )
    # By damage the thicker insert would be the worse one.
    assert thick < thin
    damage = deepest_places(cases, {}).set_index("thickness_mm")["depth"]
    assert damage.loc[11.0].max() > damage.loc[9.0].max()
    # A surface needs three levels of one variable.
    thickest = cases[cases["thickness_mm"] == 11.0].assign(thickness_mm=13.0)
    thickest["case"] = "thickest " + thickest["case"]
    drawn = design(pd.concat([cases, thickest], ignore_index=True), {}, WEAR)
    shown = drawn.axes[0].images[0].get_array() if drawn.axes[0].images else None
    assert shown is None or np.nanmax(shown) == pytest.approx(0.3)
