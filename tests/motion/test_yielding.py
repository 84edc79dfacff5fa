"""`simulation.material_yield`: cycles with plastic strain, their memory and what they refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear import build_knee, default_settings_file, evaluate_contact, simulate
from kneewear.activity.sources import build_parametric_activity
from kneewear.base.cases import PLASTIC_MAPS
from kneewear.base.files import read_settings
from kneewear.base.schemas import CONTACT
from kneewear.contact.material import Elastic, Hardening
from kneewear.motion import cases, yielding
from kneewear.motion.evaluation import build_pairs, contact_at_poses
from kneewear.motion.history import Failure, failure_attribute, failures_of
from kneewear.motion.settings import YIELD_LIMITS_MPA, MaterialYieldSettings
from kneewear.report.maps import draw_yield_maps
from kneewear.runs.chains import chain_of
from kneewear.study import netcdf
from kneewear.study.settings import merge_settings, validate_study
from kneewear.study.shipped import find_study
from kneewear.study.study import PERMANENT_LIMITS
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.summary import damage_volume, summarize_cases
from tests.physics.bodies import CASES, example_study, gait_study
from tests.refusals import refused_at

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


HALVED = tuple(
    sorted({*yielding._BORDERS, *(0.5 * (low + high) for low, high in pairwise(yielding._BORDERS))})
)


def middle_pressures(cycle):
    """Mean of the largest pressures of columns in the middle third of each contact, MPa."""
    first = int(elastic()["load"].values[0].argmax())
    columns = gait_study(frames=FRAMES).grid.valid.shape[2]
    middles = []
    for contact in cycle.frames[first].contacts:
        column = contact.element % columns
        largest = np.array([contact.pressure[column == own].max() for own in np.unique(column)])
        third = largest.size // 3
        middles.append(largest[third:-third].mean())
    return np.array(middles)


@pytest.mark.parametrize(
    ("changed", "options"),
    [
        pytest.param({"_BORDERS": HALVED}, {}, marks=pytest.mark.slow, id="slabs half as high"),
        pytest.param({"_MARGIN": yielding._MARGIN + 1.0}, {}, id="a margin of a thickness more"),
        pytest.param({}, {"entry_steps": 2 * yielding.ENTRY_STEPS}, id="load steps half as large"),
    ],
)
def test_pressures_have_converged(monkeypatch, changed, options):
    base = middle_pressures(run_directly(monkeypatch))
    for name, value in changed.items():
        monkeypatch.setattr(yielding, name, value)
    # They change by 0.19, 0.07 and 0.29 %.
    assert middle_pressures(run_directly(monkeypatch, **options)) == pytest.approx(base, rel=0.01)


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


def test_results_of_a_life_are_of_its_own_activities():
    grid = gait_study(frames=FRAMES).grid
    histories = {"gait": cycle(1.0), "stairs": stairs_after_gait()}
    lives = {"walks": {"gait": 1.0}, "both": {"gait": 0.8, "stairs": 0.2}}
    wear = example_study().wear.model_copy(update={"lives": lives})
    maps = accumulate_wear(histories, grid, wear)
    table = summarize_cases(maps, record_cycles(histories), grid, wear)
    values = table.set_index(["life", "side", "quantity"])["value"]
    for side, name in enumerate(grid.sides):
        for quantity in PLASTIC_MAPS[1:]:
            gait, stairs = (float(one[quantity][0, side].max()) for one in histories.values())
            assert values["walks", name, quantity] == gait
            assert values["both", name, quantity] == max(gait, stairs)


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


def stairs_study(share):
    """The stairs of the example study on the same insert."""
    block = example_study().activities["stairs"]
    stairs = build_parametric_activity("stairs", block, FRAMES)
    return replace(study_of(curve_of(share)), activity=stairs)


@cache
def stairs_after_gait():
    return stairs_study(1.0).run(HEAVY, before=cycle(1.0))


def assert_same_bits(found, expected):
    assert set(found.data_vars) == set(expected.data_vars)
    for name, values in expected.data_vars.items():
        np.testing.assert_array_equal(found[name].values, values.values, err_msg=name)


def test_activities_share_one_insert_as_a_sequence_by_hand(monkeypatch):
    expected, done = (cycle(1.0), stairs_after_gait()), []

    def run(*arguments):
        """Run a cycle from what the last one committed, without a dataset between them."""
        *others, _ = arguments
        done.append(yielding.run_cycle(*others, done[-1].committed if done else ()))
        return done[-1]

    monkeypatch.setattr(cases, "run_cycle", run)
    studies = study_of(curve_of(1.0)), stairs_study(1.0)
    for study, history in zip(studies, expected, strict=True):
        assert_same_bits(study.run(HEAVY), history)


def test_stored_strain_continues_to_the_same_bits(tmp_path):
    netcdf.save(cycle(1.0), tmp_path / "gait.nc")
    stored = netcdf.load(CONTACT, tmp_path / "gait.nc")
    assert_same_bits(stairs_study(1.0).run(HEAVY, before=stored), stairs_after_gait())


def test_the_order_of_activities_matters():
    alone = stairs_study(1.0).run(HEAVY)
    peaks = [item["max_pressure"].values for item in (alone, stairs_after_gait())]
    assert np.abs(peaks[1] - peaks[0]).max() > 0.01 * peaks[0].max()
    # The insert has the dents of both activities.
    dents = [item["dent"].values for item in (cycle(1.0), alone, stairs_after_gait())]
    both = (dents[0] > 0.01) & (dents[1] < 0.002)
    assert both.any()
    assert dents[2][both] == pytest.approx(dents[0][both], rel=0.1)


def test_an_activity_after_itself_has_shaken_down():
    again, first = study_of(curve_of(1.0)).run(HEAVY, before=cycle(1.0)), cycle(1.0)
    for name in ("max_pressure", "plastic_strain", "dent"):
        assert again[name].values.max() == pytest.approx(first[name].values.max(), rel=0.02)


def test_an_activity_that_leaves_nothing_changes_nothing():
    light = replace(HEAVY, body_mass=3.0)
    untouched = study_of(curve_of(1.0)).run(light)
    assert not untouched["committed_strain"].values.any()
    own = stairs_study(1.0)
    assert_same_bits(own.run(light, before=untouched), own.run(light))
    forgetful = stairs_study(0.0)
    assert_same_bits(forgetful.run(HEAVY, before=cycle(1.0)), forgetful.run(HEAVY))


def test_blocks_of_rows_keep_their_position_on_the_plateau():
    # Rows of 0.36 mm are joined in pairs, from the first row of the window on.
    study = gait_study(rows=100, columns=8, frames=4)
    pair, grid = build_pairs(study.knee(), study.settings)[0], study.grid
    insert = yielding.YieldingInsert(
        Elastic(463.0, 0.46), Hardening(CURVE["plastic_strain"], CURVE["yield_stress_mpa"]), 1.0
    )
    touched = np.zeros(grid.valid.shape[1:], dtype=bool)
    shape = yielding.committed_shape(grid)
    for row in (40, 41):
        touched[row : row + 9] = True
        first = yielding._Side(pair, grid, 0, 8.0, insert, touched, 1.0)
        fields = first.continued(None)
        fields.strain[:], fields.equivalent[:] = 1.0, 2.0
        left = first.committed(fields, shape)
        assert left.first_row == row % 2 - 1 or left.first_row == 0
        touched[:] = False
        touched[60:80] = True
        second = yielding._Side(pair, grid, 0, 8.0, insert, touched, 1.0, left)
        again = second.committed(second.continued(left), shape)
        for values, expected in zip(again, left, strict=True):
            np.testing.assert_array_equal(values, expected)


def lives(**shares):
    """Settings of lives, with stairs as the other activity."""
    block = example_study().activities["stairs"].model_dump(mode="json")
    return {"wear": {"lives": {"gait": None, **shares}}, "activities": {"stairs": block}}


@pytest.mark.parametrize(
    ("given_lives", "before"),
    [
        ({"both": {"gait": 0.8, "stairs": 0.2}}, {"gait": None, "stairs": "gait"}),
        ({"both": {"stairs": 0.2, "gait": 0.8}}, {"stairs": None, "gait": "stairs"}),
        # Two lives with other activities are two inserts.
        ({"walks": {"gait": 1.0}, "climbs": {"stairs": 1.0}}, {"gait": None, "stairs": None}),
        (
            {"walks": {"gait": 1.0}, "both": {"gait": 0.8, "stairs": 0.2}},
            {"gait": None, "stairs": "gait"},
        ),
        # What is not in the cycles of a life does not load its insert.
        ({"both": {"gait": 0.0, "stairs": 1.0}}, {"stairs": None, "gait": None}),
    ],
)
def test_activities_of_a_life_follow_each_other_in_its_order(given_lives, before):
    study = validate_study(settings(given(0.4), lives(**given_lives)))
    assert study.activities_before() == before
    order = list(study.activities_before())
    assert all(one is None or order.index(one) < order.index(name) for name, one in before.items())
    forgetful = validate_study(settings(given(0.0), lives(**given_lives)))
    assert forgetful.activities_before() == dict.fromkeys(before)


@pytest.mark.parametrize("share", [{}, given(0.4)])
@pytest.mark.parametrize(
    "other", [{"stairs": 1.0}, {"stairs": 0.5, "gait": 0.5}, {"gait": 0.0, "stairs": 1.0}]
)
def test_lives_in_which_an_activity_has_two_inserts_are_refused(share, other):
    both = lives(both={"gait": 0.8, "stairs": 0.2}, other=other)
    assert refused_at(validate_study, settings(share, both)).endswith(
        f"wear.lives.other.{next(name for name, part in other.items() if part)}"
    )
    assert validate_study(settings(given(0.0), both)).simulation.material_yield is not None


def test_jobs_of_an_activity_read_the_contact_before_it():
    study = validate_study(settings(lives(both={"gait": 0.8, "stairs": 0.2})))
    chain = chain_of(study, ".")
    shares = {
        name: own.simulation.material_yield.permanent_share for name, own in chain.own.items()
    }
    assert set(shares.values()) == set(PERMANENT_LIMITS)
    for batch, share in shares.items():
        assert chain.before("gait", batch) == []
        read = chain.before("stairs", batch)
        assert read == ([f"{chain.results}/simulation/gait/{batch}.nc"] if share else [])


@pytest.mark.slow
def test_api_simulates_activities_on_one_insert():
    small = {
        "simulation": {"frames": FRAMES, "distance": "exact"},
        "grid": {"rows": 40, "columns": 30},
        "variables": {"thickness_mm": [10.0], "body_mass_kg": [120.0]},
    }
    study = validate_study(settings(given(1.0), lives(both={"gait": 0.8, "stairs": 0.2}), small))
    knee = build_knee(study)
    cycles = simulate(knee, study)
    gait, stairs = (cycles.histories[name] for name in ("gait", "stairs"))
    case, activity = study.case_list(), cycles.activities["stairs"]
    by_hand = cases.simulate_cases(knee, activity, case, study.simulation, before=gait)
    assert_same_bits(stairs, by_hand)
    alone = cases.simulate_cases(knee, activity, case, study.simulation)
    assert not np.array_equal(stairs["pressure"], alone["pressure"])


@pytest.fixture(scope="module")
def yielded():
    """A knee, its study at both limits, and contact over gait."""
    small = {
        "simulation": {"frames": FRAMES, "distance": "exact"},
        "grid": {"rows": 40, "columns": 30},
        "variables": {"thickness_mm": [10.0], "body_mass_kg": [120.0]},
    }
    study = validate_study(settings(small))
    knee = build_knee(study)
    return knee, study, simulate(knee, study).to_dataset("gait")


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_contact_at_the_poses_of_a_cycle_is_its_own_with_its_state(yielded, number):
    knee, study, gait = yielded
    case = gait.isel(case=number)
    poses = np.concatenate([case["translation"], case["rotation"]], axis=1)[::5]
    found = evaluate_contact(knee, poses, study, state=case)
    expected = case["max_pressure"].values[::5]
    # Both end where a dent changes by less than its tolerance.
    assert found["max_pressure"].values == pytest.approx(expected, rel=0.01)
    share = json.loads(str(case["overrides"].values))["permanent_share"]
    fresh = evaluate_contact(knee, poses, study, case["thickness"].item())
    difference = np.abs(fresh["max_pressure"] - found["max_pressure"]).values.max()
    assert (difference > 0.03 * expected.max()) == (share > 0.0)


@pytest.mark.slow
def test_contact_at_poses_without_yield_is_elastic_to_the_bit(yielded):
    knee, study, gait = yielded
    case = gait.isel(case=0, frame=0)
    poses = np.tile(np.concatenate([case["translation"], case["rotation"]]), (60, 1))
    poses[:, 1] += np.linspace(-0.1, 0.2, 60)
    without = study.simulation.model_copy(update={"material_yield": None})
    found, elastic_one = (
        contact_at_poses(knee, poses, own, 10.0) for own in (study.simulation, without)
    )
    largest = elastic_one["max_pressure"].values.max(axis=1)
    light = (largest > 0.0) & (largest < CURVE["yield_stress_mpa"][0])
    soft, stiff = (one["force"].values.sum(axis=1)[:, 1] for one in (found, elastic_one))
    assert light.any() and (largest > 15.0).any()
    assert (np.abs(soft) < np.abs(stiff))[largest > 15.0].all()
    # From pose to pose without jumps: no pose has the contact of another one.
    assert (np.diff(np.abs(soft)[largest > 15.0]) < 0.0).all()
    found, elastic_one = found.isel(pose=light), elastic_one.isel(pose=light)
    for name, values in elastic_one.data_vars.items():
        np.testing.assert_array_equal(found[name].values, values.values, err_msg=name)


@pytest.mark.slow
def test_states_of_other_inserts_are_refused(yielded):
    knee, study, gait = yielded
    pose = [0.0, 28.0, 0.0, 0.0, 0.0, 0.0]
    case = gait.isel(case=0)
    lean = case.drop_vars("committed_strain")
    for state, thickness, own in (
        (gait, None, study),
        (case, 8.0, study),
        (lean, None, study),
        (case, None, None),
    ):
        with pytest.raises(ValueError):
            evaluate_contact(knee, pose, own, thickness, state=state)


def test_contact_before_an_activity_is_of_the_same_cases():
    own, gait = stairs_study(1.0), cycle(1.0)
    with pytest.raises(ValueError, match=OTHER.name):
        own.run(OTHER, before=gait)
    with pytest.raises(ValueError, match=HEAVY.name):
        own.run(replace(HEAVY, body_mass=100.0), before=gait)
    with pytest.raises(ValueError, match="material_yield"):
        own.run(HEAVY, before=elastic())
    failed = Failure(HEAVY, "", 0, 0.0)
    without = gait.isel(case=[]).assign_attrs(failure_attribute([failed]))
    left_out = own.run(HEAVY, before=without, keep_going=True)
    assert left_out.sizes["case"] == 0
    assert failures_of(left_out) == ()


def test_dents_deeper_than_elements_can_move_fail_the_case(monkeypatch):
    monkeypatch.setattr(yielding, "DEEPEST_DENT", 1e-4)
    history = study_of(curve_of(1.0)).run(HEAVY, keep_going=True)
    assert history.sizes["case"] == 0
    assert [failure.case for failure in failures_of(history)] == [HEAVY]
