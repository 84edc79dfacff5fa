"""Contact-stabilised Newmark: conservation, dissipation, patch test of contact, order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kneewear.knees.papers.fe_knee.bounded import DirectActiveSet
from kneewear.knees.papers.fe_knee.constraints import HalfSpace
from kneewear.knees.papers.fe_knee.elasticity import KelvinVoigt
from kneewear.knees.papers.fe_knee.newmark import (
    BodyPair,
    ContactProblem,
    ElasticBody,
    Prediction,
    RigidObstacle,
    State,
)
from kneewear.knees.papers.fe_knee.volume_mesh import hierarchy
from tests.knees.papers.moving import (
    BONE,
    CARTILAGE,
    GROUND,
    TAU,
    above,
    balance,
    lone,
    momentum,
    run,
    two,
)
from tests.knees.papers.volumes import block

DOWN = (0.0, -1000.0, 0.0)
GRAVITY = np.array([0.0, -9810.0, 0.0])


def vibrating(problem, seed=0):
    """A state with random smooth displacement and velocity."""
    rng = np.random.default_rng(seed)
    gradient = 1e-3 * rng.normal(size=(2, 3, 3))
    at = problem.positions
    return State(at @ gradient[0], 1e4 * np.sin(at / 4.0) @ gradient[1])


def test_linear_and_angular_momentum_are_constant_in_free_flight():
    problem = lone(obstacle=False, layer=1.5)
    state = vibrating(problem)
    linear = momentum(problem, state)
    angular = problem.mass @ np.cross(problem.positions, state.velocity)
    for _, step in run(problem, state, 20):
        assert np.allclose(momentum(problem, step.state), linear, atol=1e-12 * abs(linear).max())
        found = problem.mass @ np.cross(problem.positions, step.state.velocity)
        assert np.allclose(found, angular, atol=1e-10 * abs(angular).max())


def test_energy_of_an_elastic_body_is_constant_without_contact():
    problem = lone(obstacle=False)
    state = vibrating(problem)
    energy = problem.energy(state).total
    steps = run(problem, state, 40)
    assert problem.energy(state).elastic > 0.1 * energy
    assert [step.energy.total for _, step in steps] == pytest.approx([energy] * 40, rel=1e-11)


def test_energy_lost_in_a_damped_vibration_is_the_viscous_dissipation():
    problem = lone(obstacle=False, layer=1.5)
    state = vibrating(problem)
    first = problem.energy(state).total
    steps = run(problem, state, 40)
    viscous = sum(step.losses.viscous for _, step in steps)
    assert 0.05 * first < viscous
    assert first - steps[-1][1].energy.total == pytest.approx(viscous, rel=1e-9)


def test_fall_under_gravity_is_exact():
    problem = lone(obstacle=False, gravity=GRAVITY)
    steps = run(problem, problem.at_rest(DOWN), 10)
    time = 10 * TAU
    end = steps[-1][1]
    assert np.allclose(end.state.displacement[:, 1], -1000.0 * time - 4905.0 * time**2, rtol=1e-9)
    assert np.allclose(end.state.velocity[:, 1], -1000.0 - 9810.0 * time, rtol=1e-9)
    assert abs(balance(problem, *steps[-1])) < 1e-9


def test_step_is_the_minimiser_with_the_corrected_terms():
    # One degree of freedom of unit mass with u = 0.4, u_pred = 0.35, tau = 0.1, stiffness 3,
    # viscosity 2 and force 1.5: (15b) gives 0.35621, (16)-(17) as printed 0.39628.
    u, predicted, tau, stiffness, viscosity, force = 0.4, 0.35, 0.1, 3.0, 2.0, 1.5
    mass, k, c = 2.0 / tau**2, 0.5 * stiffness, viscosity / tau
    increment = (mass * (predicted - u) + force - stiffness * u) / (mass + k + c)
    assert u + increment == pytest.approx(0.35621, abs=5e-6)
    printed = (
        predicted - tau**2 * stiffness * u / 4 + viscosity * u / (2 * tau) + tau**2 * force
    ) / (1.0 + tau**2 * stiffness / 4 + viscosity / (2 * tau))
    assert printed == pytest.approx(0.39628, abs=5e-6)


@pytest.fixture(scope="module")
def collision():
    """A problem of two falling blocks, and its steps."""
    problem = two(gravity=GRAVITY)
    return problem, run(problem, problem.at_rest(DOWN), 60)


def test_energy_balance_is_an_identity_and_no_loss_is_negative(collision):
    problem, steps = collision
    for state, step in steps:
        assert abs(balance(problem, state, step)) < 1e-9 * steps[0][1].energy.kinetic
        losses = step.losses
        assert min(losses.viscous, losses.contact, losses.stabilisation) > -1e-9
        assert step.energy.total <= problem.energy(state).total + 1e-9


def test_energy_is_constant_while_contact_does_not_change(collision):
    problem, steps = collision
    for (_, before), (state, step) in pairwise(steps):
        if not before.active.any() and not step.active.any() and not step.impulses.any():
            lost = problem.energy(state).total - step.energy.total
            assert lost == pytest.approx(step.losses.viscous, abs=1e-9)


def test_blocks_touch_the_ground_and_then_each_other(collision):
    problem, steps = collision
    pair = problem.constraints.group == 0
    ground = [bool(step.active[~pair].any()) for _, step in steps]
    joint = [bool(step.active[pair].any()) for _, step in steps]
    # 0.105 mm at 1 m/s and 10 us per step.
    assert ground.index(True) + 1 == 11
    assert joint.index(True) > ground.index(True)
    assert not ground[20] and not joint[-1]


def test_no_node_penetrates(collision):
    problem, steps = collision
    constraints = problem.constraints
    for _, step in steps:
        excess = constraints.matrix @ step.state.displacement.ravel() - constraints.gaps
        assert excess.max() < 1e-13


def test_contact_impulses_change_momentum_and_are_in_equilibrium(collision):
    problem, steps = collision
    weight = problem.mass.sum() * GRAVITY * TAU
    for state, step in steps:
        change = momentum(problem, step.state) - momentum(problem, state)
        impulse = TAU * step.forces + step.impulses
        assert np.allclose(change, weight + problem.resultants(impulse)[1], atol=1e-11)
        part = problem.parts["high"]
        one = problem.mass[part] @ (step.state.velocity - state.velocity)[part]
        expected = problem.mass[part].sum() * GRAVITY * TAU + problem.resultants(impulse)[0]
        assert np.allclose(one, expected, atol=1e-11)
        assert np.allclose(problem.nodal_forces(impulse).sum(axis=0), change - weight, atol=1e-11)


def test_bouncing_block_rebounds_without_flutter_of_the_contact_nodes():
    tau = 5e-7
    problem = lone(height=0.0105, tau=tau)
    steps = run(problem, problem.at_rest(DOWN), 60)
    active = np.array([int(step.active.sum()) for _, step in steps])
    # 0.0105 mm at 1 m/s are 21 steps; the pressure wave crosses the block twice in about 14 steps.
    assert np.all(active[:20] == 0) and active[20] == 25
    closed = np.flatnonzero(active)
    assert np.array_equal(closed, np.arange(closed[0], closed[-1] + 1))
    assert np.all(np.diff(active[20:]) <= 0)
    assert 10 < closed.size < 20
    # The only loss is the kinetic energy of the nodes that stop: half a layer of four elements.
    energy = [step.energy.total for _, step in steps]
    assert energy[-1] / energy[0] == pytest.approx(7.0 / 8.0, rel=1e-9)
    rebound = momentum(problem, steps[-1][1].state)[1] / problem.mass.sum()
    assert 700.0 < rebound < 1000.0 * np.sqrt(7.0 / 8.0)


def test_without_the_projection_of_the_predictor_contact_nodes_flutter():
    problem = lone(height=0.0105, tau=5e-7)
    state, active = problem.at_rest(DOWN), []
    for _ in range(40):
        free = state.displacement + problem.time_step * state.velocity
        step = problem.correct(state, Prediction(free, np.zeros(25)))
        active.append(int(step.active.sum()))
        state = step.state
    # With the projection the count of the same fall rises once (see above).
    assert np.sum(np.diff(active) > 0) > 3


def test_static_pressure_passes_through_meshes_that_do_not_match():
    """A steady state of two blocks pressed together has uniform stress."""
    for swapped, divisions in ((False, (2, 2, 2)), (True, (3, 2, 3))):
        heavy = KelvinVoigt(100.0, 0.0, 1e-9, viscosity=1e-2)
        low = block((10.0, 10.0, 10.0), (2, 2, 2))
        high = above(block((10.0, 10.0, 10.0), divisions, swapped=swapped), 10.0)
        problem = ContactProblem(
            [
                ElasticBody("low", hierarchy(low, 0), heavy, fixed="bottom"),
                ElasticBody("high", hierarchy(high, 0), heavy),
            ],
            # So long that inertia has no part in the step.
            1e6,
            DirectActiveSet,
            [BodyPair(("high", "top"), ("low", "top"), 0.5)],
        )
        pressure = 0.3
        triangles = problem.triangles("high", "bottom")
        load = np.zeros(problem.positions.shape)
        at = problem.positions[triangles]
        size = 0.5 * np.linalg.norm(np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]), axis=1)
        np.add.at(load[:, 1], triangles.ravel(), -pressure * np.repeat(size / 3.0, 3))
        step = problem.step(problem.at_rest(), load)
        # The step is centred: the mean of start and end is in equilibrium.
        found = 0.5 * step.state.displacement[:, 1]
        assert step.active.all()
        assert np.allclose(step.forces / problem.constraints.areas, pressure, rtol=1e-6)
        assert np.allclose(found, -pressure / 100.0 * problem.positions[:, 1], atol=1e-7)


def error_in_energy_norm(problem, state, exact):
    """Physical energy norm of a difference of states, square root of N mm."""
    energy = problem.energy(
        State(state.displacement - exact.displacement, state.velocity - exact.velocity)
    )
    return np.sqrt(energy.kinetic + energy.elastic)


def test_order_in_time_is_two_without_contact():
    def end(steps):
        problem = lone(obstacle=False, tau=4e-6 / steps)
        return problem, run(problem, vibrating(problem), steps)[-1][1].state

    exact = end(512)[1]
    errors = [error_in_energy_norm(*end(steps), exact) for steps in (32, 64)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
def test_order_in_time_with_contact_is_at_least_one_half():
    def end(steps):
        problem = lone(height=0.0105, tau=2.4e-5 / steps)
        return problem, run(problem, problem.at_rest(DOWN), steps)[-1][1].state

    exact = end(1536)[1]
    errors = [error_in_energy_norm(*end(steps), exact) for steps in (24, 48, 96, 192)]
    assert all(coarse > fine for coarse, fine in pairwise(errors))
    assert np.log2(errors[0] / errors[-1]) / 3.0 > 0.5


def test_coupling_iterations_share_the_prediction():
    problem = two()
    state = run(problem, problem.at_rest(DOWN), 12)[-1][1].state
    load = np.zeros(problem.positions.shape)
    load[problem.parts["high"], 1] = -0.01
    prediction = problem.predict(state)
    first = problem.correct(state, prediction)
    second = problem.correct(state, prediction, load, guess=first)
    direct = problem.step(state, load)
    assert np.allclose(second.state.displacement, direct.state.displacement, atol=1e-13)
    assert second.losses.work == pytest.approx(
        float(np.sum(load * (second.state.displacement - state.displacement)))
    )


def test_faults_are_reported():
    mesh = block(layer=1.5)
    body = ElasticBody("a", hierarchy(mesh, 1), BONE, CARTILAGE)
    with pytest.raises(ValueError, match="bottom, top"):
        ContactProblem(
            [body], TAU, DirectActiveSet, obstacles=[RigidObstacle(("a", "side"), GROUND)]
        )
    slope = HalfSpace(np.zeros(3), np.array([1.0, 1.0, 0.0]))
    both = [RigidObstacle(("a", "bottom"), GROUND), RigidObstacle(("a", "bottom"), slope)]
    with pytest.raises(ValueError):
        ContactProblem([body], TAU, DirectActiveSet, obstacles=both)
    other = ElasticBody("b", hierarchy(above(mesh, 11.6), 0), BONE, CARTILAGE)
    with pytest.raises(ValueError):
        ContactProblem([body, other], TAU, DirectActiveSet)
    other = ElasticBody("b", hierarchy(above(mesh, 11.6), 1), BONE, CARTILAGE)
    turned = [BodyPair((x, "top"), (y, "top"), 1.0) for x, y in (("a", "b"), ("b", "a"))]
    with pytest.raises(ValueError):
        ContactProblem([body, other], TAU, DirectActiveSet, turned)
