"""Holding the medial-lateral position, and loads that cannot be."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from kneewear.base.cases import Case
from kneewear.motion._equilibrium_kernels import Loading
from kneewear.motion.frame_equilibrium import solve_equilibrium
from kneewear.motion.history import FRICTION_BEARS
from tests.physics.bodies import gait_study


def test_holding_keeps_the_prescribed_position_and_tells_the_force(caplog):
    with caplog.at_level(logging.INFO):
        history = gait_study().with_settings(medial_lateral="held").arrays(Case("held", 8.0, 75.0))
    np.testing.assert_allclose(history.translation[..., 2], 0.0)
    side_force = history.force.sum(axis=2)[..., 2]
    np.testing.assert_allclose(history.reaction_force[..., 2], side_force, atol=1e-9)
    assert np.abs(side_force).max() > 1.0
    (told,) = [one for one in caplog.records if f"{np.abs(side_force).max():.0f} N" in one.message]
    # Friction bears it.
    assert np.abs(side_force).max() < FRICTION_BEARS * history.load.max()
    assert told.levelno == logging.INFO


@pytest.mark.parametrize("force", [0.0, -10.0, float("nan")])
def test_a_load_that_does_not_push_is_refused(force):
    with pytest.raises(ValueError):
        loading = Loading(force, 0.7, True, 0.0, 0.0, 0.0, False)
        solve_equilibrium(None, [], np.zeros(6), loading, 1e-9, 0)
