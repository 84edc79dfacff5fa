"""Springs of knee simulators: law, energy, and the tendons that they replace."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kneewear.knees.tissue.bundles import Bundles
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.springs import Spring, spring_forces
from kneewear.mechanics.tension_laws import linear
from kneewear.motion.system import Body, System

BODY = "insert"
LONG = 1e4
STRETCH = st.floats(-3.0, 3.0)


def system_of(actions):
    return System("ground", (Body(BODY),), actions)


def test_spring_is_slack_in_its_gap_and_linear_beyond():
    spring = Spring("x", stiffness=9.3, rest=1.0, gap=2.5)
    for value, force in ((1.0, 0.0), (3.4, 0.0), (-1.4, 0.0), (4.5, -9.3), (-3.5, 18.6)):
        pull, slope = spring_forces([spring], [value, 0, 0, 0, 0, 0])
        assert pull == pytest.approx([force, 0, 0, 0, 0, 0], abs=1e-12)
        assert slope[0, 0] == (-9.3 if force else 0.0)
    damped = [Spring("theta_2", 2.0, damping=3.0), Spring("theta_2", 1.0)]
    pull, _ = spring_forces(damped, np.full(6, 0.1), np.full(6, 10.0))
    assert pull == pytest.approx([0, 0, 0, 0, -0.3 - 30.0, 0])


@given(STRETCH, st.floats(0.0, 2.0), st.sampled_from(COORDINATES))
def test_force_is_the_gradient_of_the_energy(stretch, gap, coordinate):
    system = system_of({"spring": Spring(coordinate, 9.3, rest=0.2, gap=gap, body=BODY)})
    place, step, found = COORDINATES.index(coordinate), 1e-5, []
    for value in (stretch - step, stretch, stretch + step):
        pose = np.where(np.arange(6) == place, 0.2 + value, 0.0)
        found.append(system.forces(pose))
    slope = (found[2].energy - found[0].energy) / (2.0 * step)
    assert found[1].force[place] == pytest.approx(-slope, abs=1e-3)


@given(STRETCH, st.floats(0.0, 2.0), st.integers(0, 2))
def test_a_spring_with_a_gap_pulls_as_two_tendons_that_are_slack_over_it(stretch, gap, axis):
    spring = Spring("xyz"[axis], 9.3, rest=0.2, gap=gap, body=BODY)
    way = np.eye(3)[axis]
    paths = tuple(
        (("ground", way * (0.2 + sign * LONG)), (BODY, np.zeros(3))) for sign in (1.0, -1.0)
    )
    tendons = Bundles(
        ("one", "other"), ("ground", BODY), paths, linear(np.full(2, LONG + gap), 9.3)
    )
    pose = np.concatenate([way * (0.2 + stretch), np.zeros(3)])
    one, other = (system_of({"tissue": tissue}).forces(pose) for tissue in (spring, tendons))
    # Lengths of 10 m are rounded to 2e-12 mm.
    np.testing.assert_allclose(one.force, other.force, atol=1e-9)
    assert one.energy == pytest.approx(other.energy, abs=1e-8)
    along = one.derivative[axis, axis], other.derivative[axis, axis]
    assert along[0] == pytest.approx(along[1], abs=1e-9) or abs(abs(stretch) - gap) < 1e-9
