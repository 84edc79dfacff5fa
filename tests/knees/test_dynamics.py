"""Motion of a system: balance of energy, known motions, prescribed coordinates, events."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.knees.tissue.bundles import Bundles
from kneewear.mechanics.coordinates import PeriodicSpline
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import solid_body
from kneewear.mechanics.tension_laws import linear
from kneewear.motion.dynamics import integrate_system
from kneewear.motion.system import Body, System
from tests.knees.systems import START, example

TIMES = np.linspace(0.0, 0.05, 11)


def without(system, *names):
    kept = {name: one for name, one in system.actions.items() if name not in names}
    return System(system.ground, system.bodies, kept)


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.slow
def test_forces_do_as_much_work_as_the_bodies_gain(damped):
    found = integrate_system(example(damped), TIMES, START, ["tibia", "patella"])
    assert found.kinetic.max() > 10.0
    assert found.energy_error < 1e-3


@pytest.mark.slow
def test_forces_with_a_potential_conserve_energy_and_dampers_take_it():
    kept = integrate_system(without(example(), "weight"), TIMES, START, ["tibia", "patella"])
    total = kept.kinetic + kept.energy
    assert np.abs(total - total[0]).max() < 1e-3 * kept.kinetic.max()
    lost = integrate_system(without(example(True), "weight"), TIMES, START, ["tibia", "patella"])
    assert (np.diff(lost.kinetic + lost.energy) < 0.0).all()


def test_a_mass_on_a_tendon_swings_with_its_frequency():
    # 1 t mm/s2 per mm: x = 20 + cos(w t) with w^2 = k / m while the tendon is taut.
    path = (("femur", (0.0, 0.0, 0.0)), ("tibia", (0.0, 0.0, 0.0)))
    tendon = Bundles(("tendon",), ("femur", "tibia"), (path,), linear(10.0, 5.0))
    pull = Load((50.0, 0.0, 0.0), body="tibia")
    body = Body("tibia", inertia=solid_body(2e-3, [10.0, 10.0, 10.0], [0.0, 0.0, 0.0]))
    system = System("femur", (body,), {"tendon": tendon, "pull": pull})
    times = np.linspace(0.0, 0.3, 31)
    found = integrate_system(system, times, [21.0, 0, 0, 0, 0, 0], ["tibia.x"])
    np.testing.assert_allclose(found.coordinates[:, 0], 20.0 + np.cos(50.0 * times), atol=2e-4)


def test_prescribed_coordinates_follow_their_motion_and_need_a_reaction():
    body = Body("tibia", inertia=solid_body(2e-3, [10.0, 10.0, 10.0], [0.0, 0.0, 0.0]))
    system = System("femur", (body,), {"load": Load((0.0, 3.0, 0.0), body="tibia")})

    # 100 t^2 over one interval.
    motion = PeriodicSpline(np.zeros((1, 4, 6)), 0.06)
    motion.coefficients[0, 2, 0] = 100.0
    found = integrate_system(system, TIMES, np.zeros(6), ["tibia.y"], motion=motion)
    np.testing.assert_allclose(found.coordinates[:, 0], 100.0 * TIMES**2)
    np.testing.assert_allclose(found.coordinates[:, 1], 750.0 * TIMES**2, atol=1e-4)
    np.testing.assert_allclose(found.reaction[:, 0], 2e-3 * 200.0, rtol=1e-9)
    assert found.energy_error < 1e-5


def test_events_are_found_and_may_end_the_motion():
    body = Body("tibia", inertia=solid_body(2e-3, [10.0, 10.0, 10.0], [0.0, 0.0, 0.0]))
    system = System("femur", (body,), {"load": Load((0.0, 4.0, 0.0), body="tibia")})

    def margins(time, coordinates, rates, parts, values):
        values[0] = 0.4 - coordinates[1]

    # y = 1000 t^2 reaches 0.4 at 0.02 s.
    found = integrate_system(
        system, TIMES, np.zeros(6), ["tibia.y"], margins=margins, stops=(True,)
    )
    assert found.events[0] == (pytest.approx(0.02, abs=1e-5), 0)
    assert found.time[-1] <= 0.02
