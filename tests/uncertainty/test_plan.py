"""Plans: what samples change, and that each depends on seed and number only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from kneewear.activity.sources import build_parametric_activity
from kneewear.errors import InputDataError
from kneewear.settings.files import read_settings
from kneewear.settings.study import apply_case, load_study, merge_settings
from kneewear.settings.uncertainty import UncertainConstant
from kneewear.studies.cases import with_pose_error
from kneewear.studies.uncertainty.plan import POSE_ERROR, plan_samples, quantile, sample_case

CONFIG = Path(__file__).parent.parent.parent / "config"
DEFAULT = read_settings(CONFIG / "config.yaml")
MONTE_CARLO = merge_settings(DEFAULT, read_settings(CONFIG / "monte_carlo.yaml"))
REAL = merge_settings(
    merge_settings(DEFAULT, read_settings(CONFIG / "dm_fluoroscopy.yaml")),
    read_settings(CONFIG / "uncertainty" / "dm_monte_carlo.yaml"),
)


def study(base=MONTE_CARLO, **uncertainty):
    """Return a study with some keys of its uncertainty block replaced."""
    return load_study(merge_settings(base, {"uncertainty": {"samples": 8} | uncertainty}))


@pytest.mark.parametrize("file", sorted((CONFIG / "uncertainty").glob("*.yaml")), ids=str)
def test_every_committed_addition_is_valid(file):
    base = REAL if file.stem.startswith("dm") else MONTE_CARLO
    found = load_study(merge_settings(base, read_settings(file)))
    assert found.uncertainty is not None
    assert found.uncertainty.method in ("monte_carlo", file.stem)


@pytest.mark.parametrize("method", ["monte_carlo", "one_at_a_time", "variance_based"])
def test_plan_has_the_samples_that_are_promised_and_begins_unchanged(method):
    one = study(method=method)
    plan = plan_samples(one)
    assert len(plan) == one.uncertainty.sample_count
    assert list(plan["sample"]) == list(range(len(plan)))
    unchanged = apply_case(one, sample_case(one, plan.iloc[0]))
    for block in ("implant", "activities", "simulation", "wear", "cases"):
        assert getattr(unchanged, block) == getattr(one, block)


def test_a_random_sample_depends_on_seed_and_number_only():
    few, many = plan_samples(study()), plan_samples(study(samples=20))
    assert few.equals(many[: len(few)])
    other = load_study(merge_settings(MONTE_CARLO, {"seed": 2, "uncertainty": {"samples": 8}}))
    assert not np.isclose(plan_samples(other)["load"][1:], few["load"][1:]).any()


def test_numbers_follow_their_distribution():
    normal = UncertainConstant(settings=("a",), change="add", distribution="normal", spread=2.0,
                               unit="mm", source="-")  # fmt: skip
    uniform = normal.model_copy(update={"distribution": "uniform"})
    p = np.linspace(0.001, 0.999, 7)
    # Cut at three standard deviations a normal quantile moves by 0.3 % of tail probability at most.
    inside = stats.norm.cdf(-3.0) + p * (1.0 - 2.0 * stats.norm.cdf(-3.0))
    np.testing.assert_allclose(quantile(normal, p), 2.0 * stats.norm.ppf(inside), rtol=1e-9)
    np.testing.assert_allclose(quantile(uniform, p), 4.0 * p - 2.0, atol=1e-12)
    assert quantile(normal, 0.5) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(quantile(normal, [0.0, 1.0]), [-6.0, 6.0])


def test_steps_change_one_constant_at_a_time():
    plan = plan_samples(study(method="one_at_a_time"))
    names = list(study().uncertainty.constants)
    changed = plan[names].to_numpy() != 0.0
    assert (changed[1:].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(plan["constant"][1::2], names)


def test_blocks_are_those_of_saltelli():
    plan = plan_samples(study(method="variance_based"))
    names = list(study().uncertainty.constants)
    for _, block in plan[1:].groupby("block"):
        first, last = block[block["role"] == "A"].iloc[0], block[block["role"] == "B"].iloc[0]
        for _, row in block[block["role"] == "mixed"].iterrows():
            assert all(row[name] == (last if name == row["constant"] else first)[name]
                       for name in names)  # fmt: skip


def test_constants_reach_their_settings():
    one = study()
    nothing = dict.fromkeys(one.uncertainty.constants, 0.0)
    changed = apply_case(one, sample_case(one, nothing | {"travel": 0.1, "thickness": -0.05}))
    before, after = (s.activities["gait"].femur_posterior_mm for s in (one, changed))
    assert after.base == before.base
    assert [b.height for b in after.bumps] == pytest.approx([1.1 * b.height for b in before.bumps])
    assert [b.width_percent for b in after.bumps] == [b.width_percent for b in before.bumps]
    assert changed.cases.thickness_mm == (pytest.approx(9.95),)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"constants": {"load": {"settings": ["wear.nothing"]}}}, "there is no 'nothing'"),
        ({"constants": {"load": {"settings": ["wear.wear_law"]}}}, "is no number"),
        ({"constants": {"load": {"settings": ["grid.rows"]}}}, "samples are not built from"),
        ({"constants": {"load": {"unit": "mm"}}}, "unit 1 with change: multiply"),
        ({"method": "variance_based", "samples": 100}, "a power of two"),
        ({"pose_errors": True}, "no motion with a standard deviation"),
    ],
)
def test_faults_are_told(change, said):
    with pytest.raises(InputDataError, match=said):
        study(**change)


def test_several_cases_are_refused():
    with pytest.raises(InputDataError, match="an uncertainty study with 2 cases"):
        load_study(merge_settings(MONTE_CARLO, {"cases": {"thickness_mm": [6, 10]}}))


def test_a_sample_out_of_range_is_refused_before_any_is_simulated():
    with pytest.raises(InputDataError, match=r"sample \d+ of the uncertainty study"):
        plan_samples(study(constants={"medial_share": {"spread": 5.0}}, samples=30))


def test_pose_errors_are_named_by_their_number():
    settings = study().activities["gait"]
    deviation = np.array([0.5, 0.5, 0.0, 0.02, 0.02, 0.02])
    activity = replace(build_parametric_activity("gait", settings, 8), deviation=deviation)
    same = with_pose_error(activity, np.nan, 1, "a.csv")
    assert same is activity
    one, again, other = (
        with_pose_error(activity, error, 1, "a.csv") for error in (0.25, 0.25, 0.75)
    )
    np.testing.assert_array_equal(one.coordinates, again.coordinates)
    assert not np.allclose(one.coordinates, other.coordinates)
    elsewhere = with_pose_error(activity, 0.25, 1, "b.csv")
    assert not np.allclose(one.coordinates, elsewhere.coordinates)
    # The error is that of the measurement, independent of the activity's name.
    renamed = with_pose_error(replace(activity, name="walk"), 0.25, 1, "a.csv")
    np.testing.assert_array_equal(one.coordinates, renamed.coordinates)
    first = [
        with_pose_error(activity, number / 400.0, 1, "a.csv").coordinates[0]
        for number in range(400)
    ]
    many = np.array(first) - activity.coordinates[0]
    # The standard deviation of 400 samples is known to 3.5 %, four times that is allowed.
    np.testing.assert_allclose(many.std(axis=0), activity.deviation, rtol=0.15)


def test_measured_poses_are_a_column_of_the_plan():
    plan = plan_samples(study(REAL, samples=4))
    assert np.isnan(plan[POSE_ERROR][0])
    assert plan[POSE_ERROR][1:].between(0.0, 1.0).all()
    assert plan[POSE_ERROR].nunique() == 4
