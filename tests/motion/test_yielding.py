"""`simulation.material_yield`: cycles with plastic strain, their memory and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear import default_settings_file
from kneewear.base.cases import PLASTIC_MAPS
from kneewear.base.files import read_settings
from kneewear.motion import cases, yielding
from kneewear.motion.history import failures_of
from kneewear.motion.settings import YIELD_LIMITS_MPA, MaterialYieldSettings
from kneewear.report.maps import draw_yield_maps
from kneewear.study.settings import merge_settings, validate_study
from kneewear.study.shipped import find_study
from kneewear.study.study import PERMANENT_LIMITS
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.summary import damage_volume, summarize_cases
from tests.physics.bodies import CASES, example_study, gait_study
from tests.refusals import refusal, refused_at

CURVE = {
    "plastic_strain": (0.0, 0.00185, 0.00578, 0.01255, 0.02294, 0.03773, 0.07427, 0.12878),
    "yield_stress_mpa": (5.0, 8.0, 11.0, 14.0, 17.0, 20.0, 25.0, 30.0),
    "source": "config/evidence/fe_twin_yield.yaml",
}
HEAVY, OTHER = CASES[1], CASES[0]
FRAMES = 16
SNAPSHOT = Path(__file__).parents[2] / "docs/snapshot"
pytestmark = pytest.mark.compiled


def curve_of(share, times=1.0):
    stress = tuple(times * item for item in CURVE["yield_stress_mpa"])
    return MaterialYieldSettings(**CURVE | {"yield_stress_mpa": stress, "permanent_share": share})


def study_of(curve):
    return gait_study(frames=FRAMES).with_settings(
        contact="coupled_layer", medial_lateral="held", material_yield=curve
    )


@cache
def cycle(share, times=1.0):
    return study_of(curve_of(share, times)).run(HEAVY)


@cache
def elastic():
    return study_of(None).run(HEAVY)


@pytest.mark.parametrize("share", PERMANENT_LIMITS)
@pytest.mark.slow
def test_material_that_does_not_yield_is_the_coupled_layer_to_the_bit(share):
    found = cycle(share, 20.0)
    for name, values in elastic().data_vars.items():
        np.testing.assert_array_equal(found[name].values, values.values, err_msg=name)
    assert not found["plastic_strain"].values.any()
    assert not found["dent"].values.any()


def test_yield_carries_the_load_at_less_pressure():
    for share in PERMANENT_LIMITS:
        found = cycle(share)
        carried = -found["force"].values[..., 1].sum(axis=2)
        assert carried == pytest.approx(found["load"].values, rel=1e-6)
        peaks = [item["max_pressure"].values.max() for item in (found, elastic())]
        assert 0.7 * peaks[1] < peaks[0] < 0.97 * peaks[1]
        assert found["contact_area"].values.max() > elastic()["contact_area"].values.max()


@pytest.mark.parametrize("share", PERMANENT_LIMITS)
def test_below_the_yield_stress_the_cycle_is_the_coupled_layer_to_the_bit(share):
    light = replace(HEAVY, body_mass=3.0)
    found, without = (study_of(own).run(light) for own in (curve_of(share), None))
    assert 3.0 < found["yielded_stress"].values.max() < CURVE["yield_stress_mpa"][0]
    for name, values in without.data_vars.items():
        np.testing.assert_array_equal(found[name].values, values.values, err_msg=name)


@pytest.mark.slow
def test_results_do_not_depend_on_the_batch_or_a_restart():
    both = study_of(curve_of(1.0)).run(OTHER, HEAVY)
    again = study_of(curve_of(1.0)).run(HEAVY)
    for name, values in cycle(1.0).data_vars.items():
        np.testing.assert_array_equal(both[name].values[1], values.values[0], err_msg=name)
        np.testing.assert_array_equal(again[name].values, values.values, err_msg=name)


def test_only_strain_that_stays_dents_the_surface():
    all_stays, none_stays, half = (cycle(share) for share in (1.0, 0.0, 0.5))
    assert not none_stays["dent"].values.any()
    assert all_stays["dent"].values.max() > 0.005
    # Dents are proportional to the strain that stays.
    np.testing.assert_allclose(
        half["dent"].values, 0.5 * all_stays["dent"].values, rtol=1e-4, atol=1e-6
    )
    assert none_stays["plastic_strain"].values.max() > 0.005


def test_dent_of_earlier_frames_changes_the_pressure_of_later_ones():
    # The largest load has left its dent: unloaded frames on it are pressed less.
    at_light_load = elastic()["load"].values[0] < 0.4 * elastic()["load"].values.max()
    dented, fresh = (
        cycle(share)["max_pressure"].values[0, at_light_load] for share in PERMANENT_LIMITS
    )
    assert np.abs(dented - fresh).max() > 0.03 * fresh.max()


def run_directly(monkeypatch, **options):
    """Plastic cycles of the heavy case with other numbers of load steps and passes."""
    kept = []

    def run(*arguments):
        kept.append(yielding.run_cycle(*arguments, **options))
        return kept[-1]

    monkeypatch.setattr(cases, "run_cycle", run)
    study_of(curve_of(1.0)).run(HEAVY)
    return kept[0]


def test_cycle_shakes_down(monkeypatch):
    growth = [run_directly(monkeypatch, passes=passes).growth for passes in (1, 2)]
    assert growth[0] < 0.02
    assert growth[1] < 0.005


def test_entry_in_one_step_is_stiffer(monkeypatch):
    def peak(steps):
        found = run_directly(monkeypatch, passes=0, entry_steps=steps)
        heaviest = found.frames[int(elastic()["load"].values[0].argmax())]
        return max(contact.max_pressure for contact in heaviest.contacts)

    assert peak(1) > 1.002 * peak(6)


def test_dent_and_plastic_strain_are_in_the_table_of_results():
    history, study = cycle(1.0), example_study()
    grid = gait_study(frames=FRAMES).grid
    maps = accumulate_wear({"gait": history}, grid, study.wear)
    table = summarize_cases(maps, record_cycles({"gait": history}), grid, study.wear)
    values = table.set_index(["side", "quantity"])["value"]
    for side, name in enumerate(grid.sides):
        dent = history["dent"].values[0, side]
        assert values[name, "dent_depth"] == dent.max()
        assert values[name, "dent_volume"] == damage_volume(dent, grid.area[side])
        for quantity in PLASTIC_MAPS[1:]:
            assert values[name, quantity] == history[quantity].values[0, side].max()
        least, most = (values[name, f"{limit}_creep_depth"] for limit in ("least", "most"))
        assert 0.0 < least < 0.49 * most < 0.49 * values[name, "max_creep_depth"]


def test_largest_stress_is_on_the_curve():
    # The largest strain of a nonlinear elastic solid is that under the largest load.
    history = cycle(0.0)
    for side in range(2):
        strain, stress = (
            float(history[name].values[0, side].max())
            for name in ("plastic_strain", "yielded_stress")
        )
        limit = np.interp(strain, CURVE["plastic_strain"], CURVE["yield_stress_mpa"])
        # An update ends within 0.5 % of the overlap.
        assert stress == pytest.approx(limit, rel=0.02)


def test_residual_stress_needs_permanent_strain():
    assert not cycle(0.0)["residual_stress"].values.any()
    stays = cycle(1.0)
    dented = stays["plastic_strain"].values > 0.2 * stays["plastic_strain"].values.max()
    residual, loaded = (stays[name].values for name in ("residual_stress", "yielded_stress"))
    assert (residual[dented] > 0.0).all()
    assert residual.max() < 0.5 * loaded.max()


CHOSEN = {
    "simulation": {
        "analysis": "quasi_static",
        "contact": "coupled_layer",
        "material_yield": dict(CURVE),
    },
    "report": {"compare_with_published": False},
}


@pytest.mark.parametrize(("share", "maps"), [(1.0, 4), (0.0, 2)])
def test_maps_of_zeros_are_not_drawn(share, maps):
    figure = draw_yield_maps(cycle(share), gait_study(frames=FRAMES).grid)
    labelled = [axes for axes in figure.axes if axes.axison]
    assert len(labelled) == 2 * maps  # each with its colour bar


def settings(*further):
    """Settings of the example study on a layer that yields."""
    own = Path(__file__).parents[1] / "physics" / "example_knee.yaml"
    found = merge_settings(read_settings(default_settings_file()), read_settings(own))
    for part in (CHOSEN, *further):
        found = merge_settings(found, part)
    return found


def test_studies_have_both_limits_unless_a_share_is_given():
    both = validate_study(settings())
    assert both.variables["permanent_share"].values == PERMANENT_LIMITS
    assert len(both.case_list()) == 2 * len(validate_study(settings(given(1.0))).case_list())
    assert "permanent_share" not in validate_study(settings(given(0.3))).variables
    shares = {
        both.at({"permanent_share": share}).simulation.material_yield.permanent_share
        for share in PERMANENT_LIMITS
    }
    assert shares == set(PERMANENT_LIMITS)


def test_pressure_limits_are_the_largest_pressures_that_were_compared():
    report = validate_study(settings()).report
    assert (report.pressure_limit_mpa, report.avg_pressure_limit_mpa) == YIELD_LIMITS_MPA
    table = pd.read_csv(SNAPSHOT / "fe_twin_yield/tables/fe_twin.csv")
    for quantity, limit in zip(("max_pressure", "avg_pressure"), YIELD_LIMITS_MPA, strict=True):
        largest = table.loc[table["quantity"] == quantity, "finite_elements"].max()
        assert 0.95 * largest < limit < largest


def given(share):
    return {"simulation": {"material_yield": {"permanent_share": share}}}


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"simulation": {"contact": "foundation"}}, "simulation.contact"),
        ({"simulation": {"contact": "half_space"}}, "simulation.contact"),
        ({"simulation": {"analysis": "forward"}}, "simulation.analysis"),
        (
            {
                "wear": {
                    "blocks": 16,
                    "creep_time": "logarithm",
                    "surface_update": {"smoothing_mm": 1.0},
                }
            },
            "wear.blocks",
        ),
        (
            {"simulation": {"material_yield": {"yield_stress_mpa": [5.0, 4.0]}}},
            "simulation.material_yield",
        ),
    ],
)
def test_settings_without_one_state_are_refused(change, key):
    assert key in refused_at(validate_study, settings(given(1.0), change))


# Shipped study of each kind of bearing, the model of a study that has its implant, and where yield
# is refused; None where it is accepted.
BEARINGS = {
    "cruciate retaining": ("quick", "wear", None),
    "ultracongruent": ("fe_twin_ultracongruent", "wear", None),
    "posterior stabilised, plateaus": ("chapter3", "wear", None),
    "posterior stabilised, post": ("chapter3", "press", "implant.parametric.cam_and_post"),
    "unicompartmental": ("unicompartmental", "wear", None),
    "rotating platform": ("rotating_platform", "backside", "simulation.contact"),
    "meniscal bearing": ("meniscal_bearing", "backside", "simulation.contact"),
    "patellar button": ("patellar_button", "wear_test", "simulation.material_yield"),
    "cartilage": ("natural_knee", "press", "simulation.pressure_law.strain"),
}


@pytest.mark.parametrize("bearing", BEARINGS)
def test_each_kind_of_bearing_takes_yield_or_names_what_excludes_it(bearing):
    name, model, excluded = BEARINGS[bearing]
    file = find_study(name)
    assert file is not None
    own = read_settings(file)
    if model == "wear":
        own = {"implant": own.get("implant", {})}
    study = merge_settings(read_settings(default_settings_file()), own)
    study = merge_settings(study, CHOSEN)
    if excluded is None:
        assert validate_study(study).simulation.material_yield is not None
    else:
        assert refused_at(validate_study, study).endswith(f"key {excluded}")


def test_plastic_strain_of_two_activities_is_refused_unless_nothing_stays():
    lives = {"wear": {"lives": {"gait": None, "both": {"gait": 0.5, "stairs": 0.5}}}}
    stairs = {"activities": {"stairs": settings()["activities"]["gait"]}}
    assert "permanent_share" in refusal(validate_study, settings(given(1.0), lives, stairs)).where
    study = validate_study(settings(given(0.0), lives, stairs))
    assert study.simulation.material_yield.permanent_share == 0.0


def test_dents_deeper_than_elements_can_move_fail_the_case(monkeypatch):
    monkeypatch.setattr(yielding, "DEEPEST_DENT", 1e-4)
    history = study_of(curve_of(1.0)).run(HEAVY, keep_going=True)
    assert history.sizes["case"] == 0
    assert [failure.case for failure in failures_of(history)] == [HEAVY]
