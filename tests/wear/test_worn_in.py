"""Depth of a surface that follows its wear, from the depth of one that stays fresh."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.study.inputs import CaseInputs, built_in_activities, exact_knee
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.laws import ScaledDepth
from kneewear.wear.posterior import WornIn, typical_law
from kneewear.wear.worn_contact import WornContact
from kneewear.wear.worn_in import integrated_depth, worn_in_depths
from tests.study.studies import coarse_study, shipped
from tests.wear.conftest import make_grid, make_settings

QUICK = shipped("quick.yaml")


def test_depth_is_the_integral_of_the_rate():
    """Where each depth is worn at the rate exp(-d) of a fresh surface."""
    fresh = np.linspace(0.0, 1.0, 41)[1:]
    # A block wears at the rate at its start.
    worn = np.cumsum(np.exp(-np.append(0.0, fresh[:-1])) * np.diff(fresh, prepend=0.0))
    curve = integrated_depth(fresh, worn)
    at = np.array([0.3, 0.6, 1.0])
    assert curve.depth(at) == pytest.approx(1.0 - np.exp(-at), rel=2e-3)


def test_depth_goes_on_with_the_last_slope():
    curve = WornIn(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.8, 1.2]))
    assert curve.depth(np.array([0.0, 0.5, 2.0, 4.0])) == pytest.approx([0.0, 0.4, 1.2, 2.0])


@pytest.mark.slow
@pytest.mark.compiled
def test_depths_of_less_wear_are_those_of_lives_of_their_own():
    study = coarse_study({}, **{key: QUICK[key] for key in ("grid", "simulation")})
    inputs = CaseInputs(study, exact_knee(study), built_in_activities(study), exact=True)
    cycles, grid, wear = inputs.cycles(study), inputs.knee(study).grid, study.wear
    simulation = study.simulation.model_copy(update={"analysis": "quasi_static"})
    worn = WornContact(inputs.knee(study), built_in_activities(study), simulation)
    curves = worn_in_depths(cycles, grid, wear, worn)
    law, level = typical_law()
    for part in (0.1, 0.3, 1.0):
        own = ScaledDepth(law, part * level)
        fresh, depth = (
            accumulate_wear(cycles, grid, settings, worn, own).wear_depth.values[0, 0]
            for settings in (wear.without_updates(), wear.model_copy(update={"blocks": 16}))
        )
        for number, side in enumerate(grid.sides):
            found = curves["gait", side].depth(fresh[number].max())
            # Blocks differ, and the deepest element changes; the ratio is 0.4 to 0.8.
            assert found == pytest.approx(depth[number].max(), rel=0.08)


def test_class_that_was_not_measured_has_no_depth():
    settings = make_settings(material_class="crosslinked")
    assert worn_in_depths({}, make_grid(), settings, lambda *_: None) == {}
