"""Forces along the coordinates of a system: exact derivatives, potential, action and reaction."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.errors import ConvergenceError
from kneewear.mechanics.bodies import BodyForces
from kneewear.mechanics.loads import Load
from kneewear.motion.actions import FlexionDriven
from kneewear.motion.equilibrium import solve_system, trace_equilibria
from kneewear.motion.system import Body, System
from tests.knees.systems import START, example

RATES = np.random.default_rng(2).normal(0.0, 1.0, 12) * np.tile([40, 40, 40, 2, 2, 2], 2)


def differences(function, at, step=1e-6):
    columns = []
    for number in range(at.size):
        move = np.zeros(at.size)
        move[number] = step
        columns.append((function(at + move) - function(at - move)) / (2 * step))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("damped", [False, True])
def test_derivatives_of_forces_are_exact(damped):
    system = example(damped)
    found = system.forces(START, RATES)
    slope = differences(lambda q: system.forces(q, RATES).force, START)
    np.testing.assert_allclose(found.derivative, slope, atol=1e-7 * np.abs(slope).max())
    slope = differences(lambda v: system.forces(START, v).force, RATES, 1e-3)
    np.testing.assert_allclose(found.resistance, slope, atol=1e-7 * max(np.abs(slope).max(), 1.0))


def test_forces_are_the_negative_gradient_of_the_energy():
    system = example()
    actions = {name: one for name, one in system.actions.items() if name != "weight"}
    system = System(system.ground, system.bodies, actions)
    slope = differences(lambda q: np.array([system.forces(q).energy]), START)[0]
    np.testing.assert_allclose(system.forces(START).force, -slope, atol=1e-6 * abs(slope).max())


@pytest.mark.parametrize("flexion", [0.35, 1.4])
def test_forces_driven_by_flexion_follow_it_with_exact_derivatives(flexion):
    one = example().actions["ligaments"]
    system = System(
        "femur",
        example().bodies,
        {"pull": FlexionDriven(one, "tibia", [0.2, 0.6, 1.2], [2.0, 6.0, 4.0])},
    )
    bare = System("femur", example().bodies, {"pull": one})
    start = START.copy()
    start[3] = flexion
    found = system.forces(start)
    factor = 2.0 + 10.0 * (flexion - 0.2) if flexion < 0.6 else 4.0
    assert found.parts["pull"].factor == pytest.approx(factor)
    np.testing.assert_allclose(found.force, factor * bare.forces(start).force)
    slope = differences(lambda q: system.forces(q).force, start)
    np.testing.assert_allclose(found.derivative, slope, atol=1e-7 * np.abs(slope).max())
    assert found.energy == 0.0


def test_actions_between_bodies_have_equal_reactions():
    system = example(damped=True)
    poses = system.poses(START, RATES)
    for name in ("ligaments", "bearing", "patellofemoral", "patellar"):
        total = BodyForces.zero(3)
        system.actions[name].add(poses, total)
        wrench = total.wrench.reshape(3, 6)
        about = wrench[:, 3:] + np.cross(poses.translation, wrench[:, :3])
        assert np.abs(wrench).max() > 1.0
        np.testing.assert_allclose(wrench[:, :3].sum(0), 0.0, atol=1e-9)
        np.testing.assert_allclose(about.sum(0), 0.0, atol=1e-7)


def test_equilibrium_is_stable_and_its_forces_balance():
    system = example()
    found = solve_system(system, START, ["tibia.x", "tibia.y", "tibia.theta_2", "patella"])
    free = system.coordinates("tibia.x", "tibia.y", "tibia.theta_2", "patella")
    scale = np.tile([1, 1, 1, 23, 23, 23], 2)
    assert np.abs(found.forces.force / scale)[free].max() < 1e-8 * found.forces.scale
    held = np.setdiff1d(np.arange(12), free)
    np.testing.assert_array_equal(found.coordinates[held], START[held])
    stiffness = -found.forces.derivative[np.ix_(free, free)]
    assert np.linalg.eigvalsh(0.5 * (stiffness + stiffness.T))[0] > 0.0


def test_equilibria_over_a_motion_do_not_depend_on_the_path():
    system = example()
    motion = np.tile(START, (6, 1))
    motion[:, 3] = np.linspace(0.2, 0.7, 6)
    free = ["tibia.x", "tibia.y", "patella"]
    path = trace_equilibria(system, motion, free)
    alone = solve_system(system, motion[-1], free)
    # One rotation has two sets of angles.
    one, other = (system.poses(end.coordinates) for end in (path[-1], alone))
    np.testing.assert_allclose(one.translation, other.translation, atol=1e-6)
    np.testing.assert_allclose(one.rotation, other.rotation, atol=1e-6)
    assert max(one.evaluations for one in path[3:]) < 8


def test_a_load_moves_a_damped_coordinate_at_the_speed_of_its_damper():
    system = System("femur", (Body("tibia"),), {"load": Load((0.0, -10.0, 0.0), body="tibia")})
    dampers, start = [0.0, 5.0, 0.0, 0.0, 0.0, 0.0], (np.zeros(6), 0.1)
    one = solve_system(system, np.zeros(6), ["tibia.y"], previous=start, dampers=dampers)
    # 10 N over 5 N s/mm, for 0.1 s.
    np.testing.assert_allclose(one.coordinates, [0.0, -0.2, 0.0, 0.0, 0.0, 0.0], atol=1e-9)


def test_dampers_hold_quick_motions_and_let_slow_ones_go():
    system, free = example(), ["tibia.x", "tibia.y", "patella"]
    motion = np.tile(START, (6, 1))
    motion[:, 3] = np.linspace(0.2, 0.7, 6)
    still = trace_equilibria(system, motion, free)
    dampers = np.tile([1.0, 1.0, 1.0, 500.0, 500.0, 500.0], 2)
    slow, quick = (
        trace_equilibria(system, motion, free, step=step, dampers=dampers) for step in (1e6, 1e-6)
    )
    moved = np.abs([one.coordinates - still[0].coordinates for one in (still[-1], quick[-1])])
    np.testing.assert_allclose(slow[-1].coordinates, still[-1].coordinates, atol=1e-4)
    loose = system.coordinates(*free)
    assert moved[1][loose].max() < 1e-3 * moved[0][loose].max()


def test_without_anything_that_restores_no_equilibrium_is_reported():
    load = Load((0.0, -10.0, 0.0), body="tibia")
    system = System("femur", (Body("tibia"),), {"load": load})
    with pytest.raises(ConvergenceError):
        solve_system(system, np.zeros(6), ["tibia"], frame=3)
