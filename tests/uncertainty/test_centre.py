"""Interval of one case of a wear study: even samples, its own constants, and the same ends."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.errors import InputDataError
from kneewear.io.study_inputs import uncertain_constants
from kneewear.settings.cases import OUTPUTS
from kneewear.settings.files import read_settings
from kneewear.settings.study import load_study
from kneewear.settings.uncertainty import UncertaintySettings
from kneewear.sides import BOTH
from kneewear.studies.uncertainty.analysis import prediction_interval
from kneewear.studies.uncertainty.centre import (
    constant_table,
    sample_constants,
    sample_intervals,
    sampled_study,
)
from kneewear.studies.uncertainty.plan import NOMINAL, plan_samples, stratify_samples
from kneewear.studies.uncertainty.samples import evaluate_samples
from tests.uncertainty.test_plan import CONFIG, DEFAULT, MONTE_CARLO, merge_settings, study
from tests.uncertainty.test_samples import COARSE, model_of

ROOT = CONFIG.parent
WEAR = load_study(DEFAULT)


def constants(**changes):
    block = MONTE_CARLO["uncertainty"] | {"samples": 24} | changes
    return UncertaintySettings(**block)


def numbers(seed=1, implant=None, **changes):
    """Samples of the default case, the unchanged one left out."""
    settings = {"seed": seed, "implant": {"name": implant}} if implant else {"seed": seed}
    wear = load_study(merge_settings(DEFAULT, settings))
    plan = stratify_samples(sampled_study(wear, wear.case_list()[0], constants(**changes)))
    assert plan["role"].iloc[0] == NOMINAL
    assert not plan[list(changes.get("constants", ["load"]))].iloc[0].any()
    return plan[plan["role"] == "draw"].reset_index(drop=True)


def test_every_constant_has_one_sample_in_each_equal_part_of_its_range():
    parts = np.floor(24 * 0.5 * (numbers()["wear_factor"] / 0.8 + 1.0)).astype(int)
    assert sorted(parts) == list(range(24))


def test_numbers_of_a_constant_do_not_depend_on_the_others():
    few = {name: MONTE_CARLO["uncertainty"]["constants"][name] for name in ("load", "wear_factor")}
    alone, among = numbers(constants=few), numbers()
    for name in few:
        np.testing.assert_array_equal(alone[name], among[name])
    assert not np.allclose(alone["load"], numbers(seed=2)["load"])


def test_shapes_of_two_implants_are_sampled_apart_and_all_else_together():
    one, two = numbers(), numbers(implant="another")
    np.testing.assert_array_equal(one["youngs_modulus"], two["youngs_modulus"])
    assert not np.allclose(one["sagittal_radius"], two["sagittal_radius"])


def test_the_case_of_a_real_implant_varies_the_constants_it_has():
    base = merge_settings(DEFAULT, read_settings(CONFIG / "dm_measured.yaml"))
    one = load_study(base)
    case = one.case_list()[0]
    sampled = sampled_study(one, case, constants())
    varied = set(sampled.uncertainty.constants)
    assert {"wear_factor", "youngs_modulus", "load", "thickness"} < varied
    assert varied.isdisjoint({"travel", "stance_flexion", "sagittal_radius"})
    assert list(sampled.simulated_activities()) == ["measured_force"]
    table = constant_table(constants(), sampled).set_index("constant")["varied"]
    assert set(table.index[table]) == varied
    assert len(table) == len(constants().constants)
    with_poses = constants(pose_errors=True)
    sampled = sampled_study(one, case, with_poses)
    assert constant_table(with_poses, sampled).set_index("constant")["varied"]["pose_errors"]
    built_in = sampled_study(WEAR, WEAR.case_list()[0], with_poses)
    assert not constant_table(with_poses, built_in).set_index("constant")["varied"]["pose_errors"]


def test_samples_are_of_few_elements_and_a_fresh_surface():
    changed = load_study(merge_settings(DEFAULT, {"wear": {"blocks": 8}}))
    sampled = sampled_study(changed, changed.case_list()[0], constants())
    assert (sampled.grid.rows, sampled.grid.columns, sampled.wear.blocks) == (60, 45, 1)
    assert sampled.simulation.analysis == "quasi_static"


def test_intervals_are_percentiles_and_join_sides_sample_by_sample():
    values = np.arange(1.0, 41.0)
    roles = [NOMINAL] + ["draw"] * 40
    table = pd.DataFrame({"role": roles})
    for side in (BOTH, "medial", "lateral"):
        for quantity in OUTPUTS:
            table[f"{side}_{quantity}"] = [7.0, *np.random.default_rng(1).permutation(values)]
    found = sample_intervals(table, 95.0)
    row = found[(found["side"] == BOTH) & (found["quantity"] == "wear_volume")].iloc[0]
    # Sample k of 40 is the (k - 1/2) / 40 quantile: 2.5 % is half way between the first two.
    assert [row["lower"], row["median"], row["upper"]] == pytest.approx([1.5, 20.5, 39.5])
    assert (row["nominal"], row["samples"], row["percentiles"]) == (7.0, 40, "2.5 to 97.5")
    table.loc[1:, "both_wear_volume"] = np.nan
    failed = sample_intervals(table, 95.0)
    assert failed[failed["side"] == BOTH].set_index("quantity")["failed"]["wear_volume"] == 40


@pytest.fixture(scope="module")
def coarse():
    """A wear study on a coarse grid, and what a Monte Carlo study takes of it."""
    own = merge_settings(
        DEFAULT,
        {key: COARSE[key] for key in ("grid", "table", "simulation", "cases", "cases_per_job")},
    )
    wear = load_study(merge_settings(own, {"report": {"compare_with_published": False}}))
    return wear, study(COARSE, samples=160)


@pytest.mark.compiled
@pytest.mark.slow
def test_ends_agree_with_a_monte_carlo_study_of_the_same_constants(coarse):
    wear, monte_carlo = coarse
    knee, activities = model_of(monte_carlo)
    sampled = sampled_study(wear, wear.case_list()[0], constants(samples=48))
    samples = sample_constants(sampled, knee, activities)
    both = samples[["medial_wear_volume", "lateral_wear_volume"]].sum(axis=1)
    np.testing.assert_allclose(samples["both_wear_volume"], both)
    assert (samples["both_damage_depth"] >= samples["medial_damage_depth"]).all()
    found = sample_intervals(samples, 95.0).set_index(["side", "quantity"])
    drawn, _ = evaluate_samples(monte_carlo, plan_samples(monte_carlo), knee, activities)
    for quantity in ("wear_volume", "damage_depth", "max_pressure"):
        values = drawn[f"medial_{quantity}"].to_numpy(float)[1:]
        expected = prediction_interval(values, 95.0)
        row = found.loc["medial", quantity]
        assert row["nominal"] == pytest.approx(drawn[f"medial_{quantity}"].iloc[0], rel=1e-9)
        # Both have errors of their ends; that of the one with fewer samples is the larger.
        for end in ("lower", "upper"):
            assert abs(row[end] - getattr(expected, end)) < 2.0 * expected.end_error


def test_a_file_without_constants_is_refused_by_name(tmp_path):
    file = tmp_path / "none.yaml"
    file.write_text("kind: wear\n")
    spread = {"report": {"spread": {"constants": str(file)}}}
    with pytest.raises(InputDataError, match=r"none\.yaml.*no block uncertainty"):
        uncertain_constants(load_study(merge_settings(DEFAULT, spread)), ROOT)
    file.write_text("uncertainty: {level_percent: 95, pose_errors: false, constants: {a: {}}}\n")
    with pytest.raises(InputDataError, match=r"none\.yaml, line 1, key .*constants\.a"):
        uncertain_constants(load_study(merge_settings(DEFAULT, spread)), ROOT)


def test_few_samples_are_refused_and_none_leave_the_interval_out():
    with pytest.raises(InputDataError, match="20 and more"):
        load_study(merge_settings(DEFAULT, {"report": {"spread": {"samples": 5}}}))
    none = load_study(merge_settings(DEFAULT, {"report": {"spread": {"samples": 0}}}))
    assert uncertain_constants(none, ROOT) is None
    found = uncertain_constants(WEAR, ROOT)
    assert found.samples == WEAR.report.spread.samples
    assert set(found.constants) == set(MONTE_CARLO["uncertainty"]["constants"])
