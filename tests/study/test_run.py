"""Cases on a coarse grid: batches, what cases share, failures, and new studies of one file each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kneewear as kw
from kneewear.study.discretisation import check_discretisation
from kneewear.study.element_sums import SampleSums
from kneewear.study.files import FileReader, load_activity
from kneewear.study.inputs import CaseInputs, built_in_activities, exact_knee
from kneewear.study.plans import CASE, plan_cases
from kneewear.study.run import FAILURE, run_cases
from kneewear.study.settings import merge_settings, validate_study
from tests.physics.bodies import SMALL, gait_study
from tests.study.studies import CHECKOUT, COARSE, coarse_study, computed, shipped

HERE = CHECKOUT / "tests/study"
WEAR_FACTOR = {"settings": ["wear.wear_factor_mm3_per_n_m"], "values": [1e-7, 2e-7, 4e-7]}
SWEEP_VARIABLES = shipped("sweep.yaml")["variables"]


@pytest.fixture(scope="module")
def swept():
    """A study over radii, alignment and mass, its plan and all cases in one batch."""
    plan = {"plan": "latin_hypercube", "samples": 4}
    study = coarse_study(SWEEP_VARIABLES, plan)
    table = plan_cases(study)
    return study, table, computed(study, table)


def test_batches_and_order_change_no_bit(swept):
    study, table, whole = swept
    parts = [computed(study, table[first : first + 2][::-1]) for first in (0, 2)]
    again = pd.concat(parts).sort_values(CASE).reset_index(drop=True)
    pd.testing.assert_frame_equal(again, whole, check_exact=True)


def test_wear_is_proportional_to_its_factor_and_contact_is_not_solved_again():
    study = coarse_study({"wear": WEAR_FACTOR})
    results = computed(study)
    volume = results["both_wear_volume"]
    np.testing.assert_allclose(volume / results["wear"], volume[0] / 1e-7, rtol=1e-12)
    assert results["medial_max_pressure"].nunique() == 1


def test_a_case_that_fails_is_stated_and_the_others_are_computed(swept):
    study, table, whole = swept
    # The first has a condyle of half the width of its rims, the second an impossible mass.
    changed = table[:3].copy()
    changed.loc[0, "femoral_coronal_radius"] = 3.0
    changed.loc[1, "body_mass"] = -5.0
    results = computed(study, changed)
    assert results[FAILURE].ne("").tolist() == [True, True, False]
    assert "body_mass_kg" in results[FAILURE][1]
    assert results["medial_wear_volume"][2] == whole["medial_wear_volume"][2]
    assert results["both_wear_volume"].isna().tolist() == [True, True, False]


def example_study(variables):
    """Study over a motion from files, with the elements of a small knee."""
    settings = merge_settings(COARSE, shipped("example_meshes.yaml"))
    settings = merge_settings(
        settings,
        {
            "variables": variables,
            "cases": {"plan": "factorial", "maps": False},
            "analyses": {},
            "grid": COARSE["grid"],
            "simulation": {"analysis": "quasi_static", "frames": SMALL[2]},
        },
    )
    return validate_study(settings)


def example_results(study, reader=None):
    """Results of such a study."""
    name = "example_gait"
    activities = {name: load_activity(study, name, CHECKOUT)}
    knee = gait_study(*SMALL).knee()
    inputs = CaseInputs(study, knee, activities, exact=True, reader=reader)
    return run_cases(study, plan_cases(study), inputs)


def test_amplitude_and_alignment_of_a_measured_motion_are_variables():
    scale = "activities.example_gait.motion.scale.anterior_posterior"
    results = example_results(
        example_study(
            {
                "travel": {"settings": [scale], "values": [0.5, 1.0]},
                "slope": {
                    "settings": ["simulation.alignment.tibial.slope_deg"],
                    "values": [0.0, 2.0],
                },
            }
        )
    )
    assert list(results[FAILURE]) == [""] * 4
    volumes = results.set_index(["travel", "slope"])["medial_wear_volume"]
    # Flexion slides most, and is the same.
    assert volumes[0.5, 0.0] < 0.99 * volumes[1.0, 0.0]
    assert volumes.is_unique
    alone = example_results(example_study({}))["medial_wear_volume"][0]
    assert volumes[1.0, 0.0] == alone


def test_a_case_reads_its_own_motion_for_its_own_side(tmp_path):
    curves = (CHECKOUT / "config/example_meshes/gait.csv").read_text()
    (tmp_path / "own.csv").write_text(curves)
    motion = "activities.example_gait.motion"
    study = example_study(
        {
            "file": {"settings": [f"{motion}.file"], "values": [str(tmp_path / "own.csv")]},
            "side": {"settings": [f"{motion}.knee"], "values": ["right", "left"]},
        }
    )
    results = example_results(study, FileReader(CHECKOUT))
    assert list(results[FAILURE]) == ["", ""]
    nominal = example_results(example_study({}))["medial_wear_volume"][0]
    # Clinical conventions have the same signs on both sides: a left knee is mirrored as it is read.
    np.testing.assert_allclose(results["medial_wear_volume"], nominal, rtol=1e-9)


def test_a_finer_discretisation_is_compared():
    study = coarse_study({})
    activities = built_in_activities(study)
    table = check_discretisation(study, exact_knee(study), activities)
    row = table.set_index(["side", "quantity"]).loc[("medial", "wear_volume")]
    assert row["here"] == computed(study)["medial_wear_volume"][0]
    # Eight frames of a cycle are too few by tens of per cent.
    assert 1.0 < abs(row["difference_percent"]) < 90.0


def test_sums_of_elements_are_those_of_the_samples():
    constants = shipped("monte_carlo.yaml")["variables"]
    study = coarse_study({"load": constants["load"]}, {"plan": "monte_carlo", "samples": 3})
    inputs = CaseInputs(study, exact_knee(study), built_in_activities(study), exact=True)
    sums = SampleSums(inputs.nominal_knee.grid)
    results = run_cases(study, plan_cases(study), inputs, sums.add)
    drawn = results[results["role"] == "draw"]
    assert int(sums.total.samples) == len(drawn) == 3
    volume = (sums.total.mean("damage") * inputs.nominal_knee.grid.area).sum(axis=(1, 2))
    columns = ["medial_damage_volume", "lateral_damage_volume"]
    # Depths are summed in picometres.
    np.testing.assert_allclose(volume, drawn[columns].mean(), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.compiled
def test_wear_laws_are_levels_of_a_variable():
    """A new study is one file."""
    tables = kw.run(kw.load_study(HERE / "wear_laws.yaml")).tables
    cases, regression = tables["cases"], tables["regression"]
    assert list(dict.fromkeys(cases["wear_law"])) == [
        "archard",
        "unified_theory",
        "pressure_power",
    ]
    pressure = cases[(cases["quantity"] == "max_pressure") & (cases["thickness_mm"] == 6)]
    assert pressure.groupby(["side", "body_mass_kg"])["value"].nunique().eq(1).all()
    wear = cases[(cases["quantity"] == "wear_volume") & (cases["side"] == "medial")]
    assert wear["value"].is_unique
    alone = kw.run(
        kw.load_study(
            HERE / "wear_laws.yaml",
            {
                "wear": {"wear_law": "unified_theory"},
                "variables": {"thickness_mm": [6, 10], "body_mass_kg": [50, 75]},
            },
        )
    ).tables["regression"]
    of_law = regression[regression["wear_law"] == "unified_theory"].drop(columns="wear_law")
    pd.testing.assert_frame_equal(of_law.reset_index(drop=True), alone)
