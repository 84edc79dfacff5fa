"""Samples on a coarse grid: the same bits however they are batched, and sums that are exact."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kneewear.studies.life import built_in_activities, exact_knee
from kneewear.studies.uncertainty.element_sums import add_sample, join_sums, no_sums
from kneewear.studies.uncertainty.plan import plan_samples
from kneewear.studies.uncertainty.samples import (
    check_discretisation,
    evaluate_samples,
)
from tests.physics.bodies import IS_COMPILED, SMALL
from tests.uncertainty.test_plan import MONTE_CARLO, merge_settings, study

COARSE = merge_settings(
    MONTE_CARLO,
    {
        "grid": {"rows": SMALL[0], "columns": SMALL[1]},
        "table": {"u_points": 31, "v_points": 21},
        "simulation": {"frames": 8 if IS_COMPILED else 6},
    },
)
SHAPES = ("thickness", "sagittal_radius", "coronal_radius", "edge_radius", "spacing_mismatch")


def model_of(one):
    """Return what the samples of a study share."""
    return exact_knee(one), built_in_activities(one)


@pytest.fixture(scope="module")
def whole():
    """A study of five samples, evaluated in one batch."""
    one = study(COARSE, samples=4)
    model, plan = model_of(one), plan_samples(one)
    return SimpleNamespace(study=one, model=model, plan=plan,
                           outcome=evaluate_samples(one, plan, *model))  # fmt: skip


def test_batches_change_no_bit(whole):
    parts = [evaluate_samples(whole.study, whole.plan[first : first + 2], *whole.model)
             for first in (0, 2, 4)]  # fmt: skip
    rows, sums = whole.outcome
    pd.testing.assert_frame_equal(
        pd.concat([part for part, _ in parts]).reset_index(drop=True), rows, check_exact=True
    )
    joined = join_sums([part for _, part in reversed(parts)])
    for quantity in ("wear", "creep", "damage"):
        np.testing.assert_array_equal(joined.mean(quantity), sums.mean(quantity))
        np.testing.assert_array_equal(joined.deviation(quantity), sums.deviation(quantity))


def test_sums_hold_the_volumes_of_the_samples(whole):
    # Elements keep their areas where no shape and no thickness is drawn.
    shapes = [name for name in whole.plan if name in SHAPES]
    assert len(shapes) == len(SHAPES)
    rows, sums = evaluate_samples(
        whole.study, whole.plan.assign(**dict.fromkeys(shapes, 0.0)), *whole.model
    )
    assert int(sums.samples) == 4
    assert (rows["failure"] == "").all()
    area = whole.model[0].grid.area
    mean = (sums.mean("damage") * area).sum(axis=(1, 2))
    drawn = rows[rows["role"] == "draw"]
    # Depths are summed in picometres.
    np.testing.assert_allclose(
        mean, drawn[["medial_damage_volume", "lateral_damage_volume"]].mean(), rtol=1e-6
    )


def test_wear_follows_its_factor_without_another_contact(whole):
    name = "wear_factor"
    row = whole.plan[:1].assign(**{name: 0.5})
    more, _ = evaluate_samples(whole.study, pd.concat([whole.plan[:1], row]), *whole.model)
    volumes = more["medial_wear_volume"].to_numpy()
    assert volumes[1] == pytest.approx(1.5 * volumes[0], rel=1e-12)
    assert more["medial_max_pressure"].nunique() == 1


def test_a_sample_without_equilibrium_is_told_and_left_out(whole):
    # A layer of rubber would be pressed through.
    row = whole.plan[1:2].assign(youngs_modulus=-0.9985)
    rows, sums = evaluate_samples(whole.study, row, *whole.model)
    assert int(sums.samples) == 0
    assert "did not converge" in rows["failure"].iloc[0]
    assert rows["medial_damage_depth"].isna().all()


def test_a_finer_discretisation_is_compared(whole):
    table = check_discretisation(whole.study, *whole.model).set_index(["side", "quantity"])
    rows, _ = whole.outcome
    assert table.loc[("medial", "wear_volume"), "here"] == rows["medial_wear_volume"][0]
    # Eight frames of a cycle are too few by tens of per cent.
    assert 1.0 < abs(table.loc[("medial", "wear_volume"), "difference_percent"]) < 90.0


def test_deviations_are_those_of_the_samples():
    maps = [SimpleNamespace(wear_depth=d, creep_depth=2 * d, damage_depth=3 * d)
            for d in np.random.default_rng(1).random((5, 1, 1, 2, 3, 4))]  # fmt: skip
    grid = SimpleNamespace(area=np.zeros((2, 3, 4)), sides=("medial", "lateral"))
    sums = no_sums(grid)
    for one in maps:
        sums = add_sample(sums, one)
    damage = np.array([one.damage_depth[0, 0] for one in maps])
    # Depths are summed in picometres.
    np.testing.assert_allclose(sums.mean("damage"), damage.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(sums.deviation("damage"), damage.std(axis=0, ddof=1), atol=1e-7)
