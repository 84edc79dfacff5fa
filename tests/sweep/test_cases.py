"""Cases of a sweep on a coarse grid: batches, what they share, and designs that cannot be built."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.errors import InputDataError
from kneewear.io.study_inputs import load_activity
from kneewear.settings.cases import Case
from kneewear.settings.study import load_study, merge_settings, read_settings
from kneewear.studies.cases import FAILURE, CaseRunner, column_name, evaluate_cases
from kneewear.studies.life import built_in_activities, exact_knee
from kneewear.studies.sweep.analysis import tabulate_sweep
from kneewear.studies.sweep.plan import CASE, plan_cases, plan_of, planned_cases, sweep_runner
from tests.physics.bodies import IS_COMPILED, SMALL, gait_study
from tests.sweep.test_plan import SWEEP, only
from tests.workflow.conftest import CHECKOUT

COARSE = merge_settings(
    SWEEP,
    {
        "grid": {"rows": SMALL[0], "columns": SMALL[1]},
        "table": {"u_points": 31, "v_points": 21},
        "simulation": {"frames": 8 if IS_COMPILED else 6},
        "sweep": {"samples": 4},
    },
)

FEW = {"frames": SMALL[2]}


def evaluated(study, plan):
    """Results of the cases of a plan."""
    runner = sweep_runner(study, exact_knee(study), built_in_activities(study))
    return evaluate_cases(runner, planned_cases(study, plan))


@pytest.fixture(scope="module")
def whole():
    """The study, its plan, and all cases in one batch."""
    study = load_study(COARSE)
    plan = plan_cases(study)
    return study, plan, evaluated(study, plan)


def test_batches_and_order_change_no_bit(whole):
    study, plan, found = whole
    parts = [evaluated(study, plan[first : first + 2][::-1]) for first in (0, 2)]
    again = pd.concat(parts).sort_values(CASE).reset_index(drop=True)
    pd.testing.assert_frame_equal(again, found, check_exact=True)


def test_wear_is_proportional_to_its_factor():
    factor = {"settings": ["wear.wear_factor_mm3_per_n_m"], "low": 1e-7, "high": 4e-7, "levels": 4}
    changes = {"plan": "full_factorial", "samples": None, "factors": only(wear=factor)}
    study = load_study(merge_settings(COARSE, {"sweep": changes}))
    plan = plan_cases(study)
    tables = tabulate_sweep(plan, evaluated(study, plan))
    volume = tables["sweep"][column_name("both", "wear_volume")]
    np.testing.assert_allclose(volume / plan["wear"], volume[0] / 1e-7, rtol=1e-12)
    effects = tables["effects"].set_index(["side", "quantity"])
    one = effects.loc[("both", "wear_volume")]
    assert one["effect"] == pytest.approx(3.0 * volume[0], rel=1e-9)
    # A result that does not vary has no effect to state.
    assert ("both", "max_pressure") not in effects.index


def test_elements_are_a_setting_like_others(whole):
    rows = {"settings": ["grid.rows"], "low": 10, "high": 20, "levels": 2}
    changes = {"plan": "full_factorial", "samples": None, "factors": only(rows=rows)}
    study = load_study(merge_settings(COARSE, {"sweep": changes}))
    volumes = evaluated(study, plan_cases(study))["medial_wear_volume"]
    alone = load_study(merge_settings(COARSE, {"grid": {"rows": 20}, "sweep": changes}))
    same = evaluated(alone, plan_cases(study)[1:])["medial_wear_volume"]
    assert volumes[1] == same[0] != volumes[0]


def test_a_design_that_cannot_be_built_is_stated_and_the_others_are_computed(whole):
    study, plan, found = whole
    # The first has a condyle of half the width of its rims, the second an impossible mass.
    rows = plan[:3].to_dict("records")
    rows[0] |= {"femoral_coronal_radius": 3.0}
    rows[1] |= {"body_mass": -5.0}
    mixed = evaluated(study, plan_of([(row.pop(CASE), row) for row in rows]))
    assert mixed[FAILURE].ne("").tolist() == [True, True, False]
    assert "found" in mixed[FAILURE][0]
    assert "body_mass_kg" in mixed[FAILURE][1]
    assert mixed["medial_wear_volume"][2] == found["medial_wear_volume"][2]
    tables = tabulate_sweep(plan[:3], mixed)
    assert tables["effects"].empty
    assert tables["sweep"][column_name("both", "wear_volume")].isna().tolist() == [
        True,
        True,
        False,
    ]


def test_a_case_that_no_formula_allows_does_not_end_the_others(whole):
    study, _, _ = whole
    runner = sweep_runner(study, exact_knee(study), built_in_activities(study))
    cases = [Case("blocks", 10.0, 75.0, {"wear.blocks": 4}), Case("plain", 10.0, 75.0)]
    found = evaluate_cases(runner, cases)
    assert "updating the surface needs" in found[FAILURE][0]
    assert found[FAILURE][1] == ""
    assert found["medial_wear_volume"].gt(0.0).tolist() == [False, True]


def test_varus_of_the_insert_needs_a_held_medial_lateral_position():
    varus = {"settings": ["simulation.alignment.tibial.varus_deg"], "low": -3.0, "high": 3.0}
    plan = {"plan": "full_factorial", "samples": None, "factors": only(varus=varus)}
    free = load_study(merge_settings(COARSE, {"sweep": plan}))
    # A bearing that is flat across cannot carry the load that varus turns sideways.
    failures = evaluated(free, plan_cases(free))[FAILURE]
    assert failures.str.contains("needs simulation.medial_lateral: held").tolist() == [
        True,
        False,
        True,
    ]
    held = {"simulation": {"medial_lateral": "held"}, "sweep": plan}
    study = load_study(merge_settings(COARSE, held))
    found = evaluated(study, plan_cases(study))
    assert found[FAILURE].tolist() == [""] * 3
    assert found["medial_max_pressure"].nunique() == 3


def measured(factors):
    """A sweep over a motion from files, with the elements of a small knee."""
    example = read_settings(CHECKOUT / "config/example_meshes.yaml")
    single = {"cases": {"thickness_mm": [10], "body_mass_kg": [75]}}
    plan = {"plan": "full_factorial", "samples": None, "factors": only(**factors)}
    settings = merge_settings(merge_settings(COARSE, example), single | {"sweep": plan})
    # Elements of the knee below, which is not built from the meshes.
    return merge_settings(settings, {"grid": COARSE["grid"], "simulation": FEW})


def test_amplitude_of_a_motion_from_a_file_is_a_factor():
    path = "activities.example_gait.motion.scale.anterior_posterior"
    factor = {"settings": [path], "low": 0.5, "high": 1.0, "levels": 2}
    settings = measured({"travel": factor})
    study = load_study(settings)
    activities = {"example_gait": load_activity(study, "example_gait", CHECKOUT)}
    knee = gait_study(*SMALL).knee()
    found = evaluate_cases(
        CaseRunner(study, knee, activities, exact=True), planned_cases(study, plan_cases(study))
    )
    assert list(found[FAILURE]) == ["", ""]
    half = {"activities": {"example_gait": {"motion": {"scale": {"anterior_posterior": 0.5}}}}}
    for change, number in ((half, 0), ({}, 1)):
        own = load_study(merge_settings(settings, change))
        read = {"example_gait": load_activity(own, "example_gait", CHECKOUT)}
        _, values = CaseRunner(own, knee, read, exact=True).evaluate(Case("own", 10.0, 75.0))
        assert values["medial_wear_volume"] == found["medial_wear_volume"][number]
    # Flexion slides most, and is the same.
    assert found["medial_wear_volume"][0] < 0.99 * found["medial_wear_volume"][1]
    seat = {"activities": {"example_gait": {"zero": {"anterior_posterior": "seat"}}}}
    with pytest.raises(InputDataError, match=r"motion\.scale where zero names no seat"):
        load_study(merge_settings(settings, seat))


def test_alignment_of_a_motion_from_a_file_changes_results_and_zeros_do_not():
    """Its activity is read from files, once."""
    paths = [f"simulation.alignment.tibial.{key}" for key in ("slope_deg", "posterior_mm")]
    factors = {
        path.rpartition(".")[2]: {"settings": [path], "low": 0.0, "high": 2.0, "levels": 2}
        for path in paths
    }
    study = load_study(measured(factors))
    activities = {"example_gait": load_activity(study, "example_gait", CHECKOUT)}
    runner = CaseRunner(study, gait_study(*SMALL).knee(), activities, exact=True)
    found = evaluate_cases(runner, planned_cases(study, plan_cases(study)))
    assert list(found[FAILURE]) == [""] * 4
    pressures = found["medial_max_pressure"].to_numpy()
    assert np.ptp(pressures) > 0.01
    assert len(set(pressures)) == 4
    _, nominal = runner.evaluate(Case("nominal", 10.0, 75.0))
    assert nominal["medial_max_pressure"] == pressures[0]
