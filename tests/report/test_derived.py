"""Derived tables: their numbers are those of the tables they are computed from."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.literature import ComparedNumber, judge_numbers
from kneewear.base.cases import PLASTIC_OUTPUTS
from kneewear.base.checks import checks
from kneewear.evidence.published.tables import (
    creep_share,
    insert_rates,
    regression_table,
    retrievals,
    unjudged_planes,
)
from kneewear.models.press.static_figures import draw_grid_sensitivity, draw_position_scan
from kneewear.report.study_tables import (
    compared_numbers,
    convergence_errors,
    cut_off_cases,
    cut_off_contact,
    differences_of_levels,
    differing_numbers,
    division_errors,
    scanned_positions,
    scans_positions,
    validity,
)
from kneewear.report.uncertainty import draw_effects
from kneewear.report.wear import draw_blocks, draw_spread
from kneewear.report.wear_tables import (
    BLOCK_QUANTITIES,
    blocks,
    border_contact,
    centre,
    choice_effects,
    choices,
    insert_sequences,
    lives_compared,
    motion_ranges,
    surface_errors,
    thickness_choice,
    yielding_results,
)
from kneewear.wear.law_settings import WEAR_LAWS
from kneewear.wear.spread import vary_models
from tests.report.static_results import CONVERGENCE, SENSITIVITY
from tests.wear.conftest import make_grid, make_history, make_settings

LEVELS = {1.0: 1.1, 8.0: 1.01, 16.0: 1.0}
REPORT = {"report": {"pressure_limit_mpa": 35.0, "avg_pressure_limit_mpa": 14.0}}


def value(cases, case, side, quantity):
    chosen = cases.query("case == @case and side == @side and quantity == @quantity")
    return float(chosen["value"].iloc[0])


def test_an_insert_loses_both_sides_volume_and_the_deeper_sides_thickness(whole):
    cases = whole.tables["cases"]
    case = cases["case"].iloc[0]
    for creep, kind in ((True, "penetration_rate"), (False, "wear_rate")):
        rates = insert_rates(cases, creep).loc[("gait", case)]
        sides = [
            [value(cases, case, side, f"{form}_{kind}") for side in ("medial", "lateral")]
            for form in ("linear", "volumetric")
        ]
        assert rates["linear"] == max(sides[0])
        assert rates["volume"] == pytest.approx(sum(sides[1]), rel=1e-12)
        masses = [value(cases, case, side, "mass_loss") for side in ("medial", "lateral")]
        assert rates["mass"] == pytest.approx(sum(masses), rel=1e-12)


def test_cases_within_the_published_range_are_counted(whole):
    rate = insert_rates(whole.tables["cases"], True)["linear"]
    middle = float(rate.median())
    group = {
        "linear_mm_per_year": {"mean": middle, "low": 0.0, "high": middle},
        "volume_mm3_per_year": None,
        "includes_creep": True,
        "spread": "range",
        "source": "made up",
    }
    table = retrievals(whole.tables["cases"], {"report": {"retrievals": {"some": group}}})
    assert table["within"].item() == f"{(rate <= middle).sum()} of {len(rate)}"


def test_creep_share_is_of_both_sides(whole):
    cases = whole.tables["cases"]
    case = cases["case"].iloc[0]
    creep, damage = (
        sum(value(cases, case, side, f"{name}_volume") for side in ("medial", "lateral"))
        for name in ("creep", "damage")
    )
    assert creep_share(cases)["gait", case] == pytest.approx(100.0 * creep / damage)


def test_lives_are_compared_by_their_ratio(single, whole):
    cases = single.tables["cases"].copy()
    here = (cases["life"] == "rest") & (cases["quantity"] == "wear_volume")
    cases.loc[here & (cases["side"] == "lateral"), "value"] *= 1.44
    table = lives_compared(cases).set_index(["quantity", "side"]).iloc[:, -1]
    assert table["wear_volume", "lateral"] == "1.44"
    assert table["wear_volume", "medial"] == "1.00"
    assert lives_compared(pd.DataFrame(whole.tables["cases"])).empty


def test_surface_errors_are_parts_of_the_peak_penetration():
    cases = pd.DataFrame(
        {
            "side": ["medial", "medial", "lateral"],
            "quantity": "max_penetration",
            "value": [0.050, 0.100, 0.100],
        }
    )
    quality = pd.DataFrame(
        {
            "component": ["insert", "femoral"] * 2,
            "side": ["medial"] * 2 + ["lateral"] * 2,
            "mean_mm": [0.0005] * 4,
        }
    )
    percent = surface_errors(cases, quality).set_index("side")["percent"]
    assert percent.to_dict() == {"medial": "1 to 2", "lateral": "1"}


def test_border_contact_is_weighed_by_its_share():
    names = ("border_pressure", "border_force_share", "border_wear_share")
    rows = [
        ("a", "medial", (0.0, 0.0, 0.0)),
        ("a", "lateral", (8.9, 0.003, 0.0002)),
        ("b", "lateral", (1.0, 0.001, 0.0001)),
    ]
    cases = pd.DataFrame(
        [
            {"case": case, "life": "x", "side": side, "quantity": name, "value": one}
            for case, side, values in rows
            for name, one in zip(names, values, strict=True)
        ]
    )
    (row,) = border_contact(cases).to_dict("records")
    assert (row["side"], row["cases"], row["pressure"]) == ("lateral", 2, 8.9)
    assert row["force_percent"] == pytest.approx(0.3)
    assert row["severity"] == "note"


@pytest.mark.parametrize("share", [0.0005, 0.003, 0.008, 0.019, 0.021, 0.3])
@pytest.mark.parametrize("window", ["insert", "femoral"])
def test_a_run_judges_contact_at_borders_as_the_placement_of_its_motion_does(window, share):
    start = "" if window == "insert" else "femoral_"
    other = "wear" if window == "insert" else "area"
    values = {
        f"{start}border_pressure": 5.0,
        f"{start}border_force_share": share,
        f"{start}border_{other}_share": 0.0,
    }
    cases = pd.DataFrame(
        [
            {"case": "a", "life": "x", "side": "medial", "quantity": name, "value": value}
            for name, value in values.items()
        ]
    )
    (row,) = border_contact(cases).to_dict("records")
    finding = checks()[f"placement.{window}_border_force"].judge(share, "")
    assert row["severity"] == (finding.severity if finding else "note")
    # Wear there is of no check before the run, and does not refuse what that accepts.
    cases.loc[cases["quantity"] == f"{start}border_{other}_share", "value"] = 0.4
    (row,) = border_contact(cases).to_dict("records")
    expected = (finding.severity if finding else "note") if window == "femoral" else "warn"
    assert row["severity"] == ("refuse" if share > 0.02 else expected)
    # A bearing that holds its condyle ends with contact: its check warns where others fail.
    quantity = checks()[f"placement.{window}_border_force"].quantity
    placement = pd.DataFrame([{"quantity": quantity, "value": share, "verdict": "warning"}])
    (row,) = border_contact(cases, placement).to_dict("records")
    assert row["severity"] == ("warn" if share > 0.02 else expected)


def test_thickness_is_chosen_among_inserts_that_differ_in_thickness_alone(whole):
    cases = whole.tables["cases"]
    middle = centre(cases)
    table = thickness_choice(cases, middle, whole.tables["validity"])
    mass = middle["body_mass_kg"].iloc[0]
    own = cases[cases["body_mass_kg"] == mass]
    assert table["thickness_mm"].tolist() == sorted(own["thickness_mm"].unique())
    depth = own[own["quantity"] == "damage_depth"].groupby("thickness_mm")["value"].max()
    assert table["damage_depth"].tolist() == depth.tolist()


def test_effects_of_wear_and_creep_add_up_to_that_of_damage(whole):
    middle, settings = centre(whole.tables["cases"]), copy.deepcopy(whole.settings)
    effects = choice_effects(middle, settings).set_index(["choice", "side"])["percent"]
    for side in ("medial", "lateral"):
        # Ten per cent more of both are ten per cent more damage.
        assert effects["wear", side] + effects["creep", side] == pytest.approx(10.0, rel=1e-6)
    settings["wear"]["blocks"] = 4
    assert choice_effects(middle, settings).empty


def test_ranges_of_the_motion_are_shown_where_forces_decide_it():
    values = {
        "posterior_position": (-4.0, 5.0, "mm"),
        "tibial_external_rotation": (-8.0, 10.0, "deg"),
    }
    rows = [
        ("gait", "both", f"{name}_{end}", value, unit)
        for name, (low, high, unit) in values.items()
        for end, value in (("min", low), ("max", high))
    ]
    cases = pd.DataFrame(rows, columns=["life", "side", "quantity", "value", "unit"])
    driven = pd.DataFrame({"coordinate": ["x", "x"], "condition": ["driven by force", "spring"]})
    table = motion_ranges(cases, driven)
    assert table["range"].tolist() == [9.0, 18.0]
    assert table["unit"].tolist() == ["mm", "deg"]
    given = driven.assign(condition=["prescribed", "spring"])
    assert motion_ranges(cases, given).empty


@pytest.fixture
def varied(whole):
    """Case table whose values approach a limit over the number of blocks."""
    tables = []
    for count, factor in LEVELS.items():
        one = whole.tables["cases"].copy()
        one["value"] *= factor
        one["case"] += f"_blocks_{count:g}"
        one.insert(4, "wear.blocks", count)
        tables.append(one)
    return pd.concat(tables, ignore_index=True)


def test_results_of_yield_are_ranges_of_each_limit():
    rows = [
        (f"case_{share}_{value}", share, side, quantity, value * factor, unit)
        for share, factor in ((0.0, 1.0), (1.0, 10.0))
        for value in (0.5, 1.5)
        for side in ("medial", "lateral")
        for quantity, unit in PLASTIC_OUTPUTS.items()
    ]
    names = ["case", "permanent_share", "side", "quantity", "value", "unit"]
    cases = pd.DataFrame(rows, columns=names)
    table = yielding_results(cases)
    count = len(PLASTIC_OUTPUTS)
    assert table["quantity"].tolist() == 2 * list(PLASTIC_OUTPUTS)
    assert table["permanent_share"].tolist() == [0.0] * count + [1.0] * count
    for column in ("medial", "lateral"):
        numbers = table[column].str.findall(r"[\d.]+").tolist()
        assert [[float(one) for one in pair] for pair in numbers[::count]] == [[0.5, 1.5], [5, 15]]
    assert yielding_results(cases.query("quantity == 'none'")).empty


def test_order_of_activities_is_stated_where_plastic_strain_stays():
    mixed = {"both": {"gait": 0.8, "rest": 0.0, "stairs": 0.2}, "gait": {"gait": 1.0}}

    def of(material):
        settings = {"simulation": {"material_yield": material}, "wear": {"lives": mixed}}
        return insert_sequences(settings)

    table = of({"permanent_share": 0.5})
    assert table["life"].tolist() == ["both"]
    assert table["text"].tolist() == table["sequence"].tolist()
    text = table["sequence"].item()
    assert text.index("gait") < text.index("stairs")
    assert "rest" not in text
    assert of({"permanent_share": 0.0}).empty
    assert of(None).empty


def test_results_by_blocks_are_those_of_the_case_table(varied, whole):
    table = blocks(varied)
    assert set(table["quantity"]) == set(BLOCK_QUANTITIES)
    assert list(table.columns[-4:]) == ["1", "8", "16", "change"]
    loaded = table[table["16"] > 0.0]
    np.testing.assert_allclose(loaded["1"], 1.1 * loaded["16"])
    np.testing.assert_allclose(loaded["change"], -1.0)
    assert blocks(whole.tables["cases"]).empty
    for axes in draw_blocks(varied).axes:
        assert len(axes.lines) == 6
        for line in axes.lines:
            assert list(line.get_xdata()) == [1, 8, 16]


def spread_of(**changes):
    history = {"gait": make_history(grid=make_grid())}
    return vary_models(history, make_grid(), make_settings(**changes), None, 1, [1e-7, 4e-7])


def test_choices_of_the_model_are_those_of_its_laws_and_factors():
    volumes = choices(spread_of()).set_index(["choice", "variant"])["wear_volume"]
    surviving = {name for name, law in WEAR_LAWS.items() if law.survives}
    assert set(volumes["wear law"].index) == {*surviving, "archard"}
    assert volumes["as configured"].item() == volumes["wear law", "archard"]
    assert volumes["wear factor", "4e-07"] == pytest.approx(4.0 * volumes["wear factor", "1e-07"])
    left = draw_spread(spread_of()).axes[0]
    assert [bar.get_width() for bar in left.containers[0]] == pytest.approx(volumes.tolist())


def test_mean_and_peak_of_any_side_are_judged_and_failures_are_not():
    frame = pd.DataFrame(
        {
            "medial_max_pressure": [20.0, 36.0, 20.0, np.nan, 35.0],
            "lateral_avg_pressure": [10.0, 10.0, 14.1, np.nan, 14.0],
            "border_pressure": [99.0] * 5,
        }
    )
    assert validity(frame, REPORT).tolist() == ["within", "outside", "outside", "", "within"]


def test_errors_are_counted_from_the_most_elements():
    errors = convergence_errors(CONVERGENCE).set_index(["quantity", "wanted"])
    assert errors.loc[("max_pressure", 25), "median_percent"] == pytest.approx(4.0)
    assert errors.loc[("avg_pressure", 50), "greatest_percent"] == pytest.approx(4.0)
    assert errors.loc[("avg_pressure", 400), "median_percent"] == pytest.approx(0.0)
    deviation = division_errors(SENSITIVITY, "max_pressure_mpa")
    assert list(deviation.index) == list(deviation.columns) == [20, 40]
    assert deviation.loc[20, 40] == pytest.approx(100.0 * (20.5 / 20.1 - 1.0))
    assert len(draw_grid_sensitivity(SENSITIVITY).axes) >= 4


def test_scan_of_positions_tells_pressure_and_which_side_is_in_front():
    rows = [
        {
            "material": "cartilage",
            "flexion_deg": 0.0,
            "posterior_mm": position,
            "load_n": 1000.0,
            "side": side,
            "quantity": quantity,
            "value": one,
        }
        for position, peak, behind in ((-2.0, 6.0, 4.0), (0.0, 4.5, -1.0), (2.0, 5.0, 6.0))
        for side, more in (("medial", 0.0), ("lateral", 0.5))
        for quantity, one in (
            ("max_pressure", peak + more),
            ("avg_pressure", 0.5 * peak),
            ("centre_posterior", position - 8.0 + (behind if side == "lateral" else 0.0)),
        )
    ]
    table = pd.DataFrame(rows)
    scan = scanned_positions(table)
    assert scan["max_pressure"].tolist() == [6.5, 5.0, 5.5]
    assert scan["medial_ahead_mm"].tolist() == [4.0, -1.0, 6.0]
    assert not scans_positions(table[table["posterior_mm"] == 0.0])
    peaks = draw_position_scan(table).axes[0]
    np.testing.assert_allclose(peaks.lines[0].get_ydata(), [6.0, 4.5, 5.0])


def test_the_largest_effect_stands_on_top():
    rows = [
        {
            "quantity": quantity,
            "side": side,
            "variable": name,
            "effect_percent": size,
            "nominal": 1.0,
            "at_low": 1.0 - 0.01 * size,
            "at_high": 1.0 + 0.01 * size,
        }
        for quantity in (
            "wear_depth_at_deepest_damage",
            "creep_depth_at_deepest_damage",
            "damage_depth",
            "wear_volume",
            "damage_volume",
            "damage_area",
            "max_pressure",
            "avg_pressure",
        )
        for side in ("medial", "lateral")
        for name, size in (("small", 1.0), ("large", 5.0))
    ]
    axes = draw_effects(pd.DataFrame(rows)).axes[0]
    names = {
        label.get_text(): at
        for label, at in zip(axes.get_yticklabels(), axes.get_yticks(), strict=True)
    }
    assert names["large"] > names["small"]


def test_numbers_that_differ_are_named_with_their_case():
    numbers = [
        ComparedNumber("force", "medial", 3.0, "N", "a paper", low=4.0),
        ComparedNumber("ratio", "", 1.0, "1", "a paper", high=2.0),
    ]
    rows = differing_numbers(compared_numbers(judge_numbers(numbers)))
    assert rows[["place", "computed", "expected"]].to_numpy().tolist() == [
        ["force (medial)", "3 N", "≥ 4"]
    ]
    assert differing_numbers(compared_numbers(judge_numbers(numbers[1:]))).empty


@pytest.mark.parametrize(("share", "severity"), [(0.001, "note"), (0.02, "warn"), (0.2, "refuse")])
def test_contact_cut_off_in_static_studies_is_judged_by_its_share(share, severity, whole):
    values = {"border_pressure": 1.0, "border_force_share": share, "border_area_share": 0.1}
    rows = [
        {
            "case": case,
            "side": side,
            "quantity": name,
            "unit": "1",
            "value": value if case == "a" and side == "medial" else 0.0,
        }
        for case in ("a", "b")
        for side in ("medial", "lateral")
        for name, value in values.items()
    ]
    table = cut_off_contact(pd.DataFrame(rows))
    assert table["side"].tolist() == ["medial"]
    assert table[["cases", "severity"]].iloc[0].tolist() == [1, severity]
    results = pd.DataFrame({"medial_border_force_share": [share, 0.0], "case": ["a", "b"]})
    assert len(cut_off_cases(results)) == int(severity != "note")


@pytest.mark.parametrize(("cases", "judged"), [(4, False), (5, False), (6, True)])
def test_a_plane_through_few_cases_has_no_errors_on_the_page(cases, judged):
    plane = {"side": "medial", "quantity": "max_pressure", "unit": "MPa", "r2": 0.9, "cases": cases}
    slopes = {"a0": 49.0, "a1_per_mm": -3.5, "a2_per_kg": 0.22}
    errors = {"a0_se": 2.7, "a1_se": 0.3, "a2_se": 0.02}
    regression = pd.DataFrame([plane | slopes | errors])
    table = regression_table(regression)
    assert ("r2" in table) == judged
    assert ("a0_with_error" in table) == ("a0" not in table) == judged
    few = unjudged_planes(regression).to_dict("records")
    assert few == ([] if judged else [{"cases": cases, "coefficients": 3, "needed": 6}])


@pytest.mark.parametrize("between", ["design", "material"])
def test_differences_name_the_compared_level_of_any_variable(between):
    row = {between: "second", "against": "first", "quantity": "wear_volume", "median": 1.0}
    found = differences_of_levels(pd.DataFrame([row]))
    assert found.loc[0, ["level", "against"]].tolist() == ["second", "first"]
