"""Tied bodies and prescribed displacements: bars with known forces, balances, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.knees.papers.fe_knee.bounded import DirectActiveSet
from kneewear.knees.papers.fe_knee.constraints import HalfSpace, tied
from kneewear.knees.papers.fe_knee.elasticity import KelvinVoigt
from kneewear.knees.papers.fe_knee.mortar import mortar
from kneewear.knees.papers.fe_knee.newmark import (
    BodyPair,
    ContactProblem,
    ElasticBody,
    PrescribedMotion,
    RigidObstacle,
    State,
)
from kneewear.knees.papers.fe_knee.volume_mesh import hierarchy
from tests.knees.papers.moving import BONE, EXACT, GROUND, TAU, balance, run
from tests.knees.papers.volumes import block

SOLVERS = [DirectActiveSet, EXACT]
# Without Poisson's effect a bar between clamped ends has uniform stress.
BAR = KelvinVoigt(17000.0, 0.0, 2e-9)
# Critical damping of the slowest vibration of the clamped bar, and steps that resolve the fastest.
DAMPED = replace(BAR, viscosity=0.1)
SHORT = 1e-6
AREA = 64.0
LENGTH = 30.0


def body(name, *args, material=BAR, **more):
    return ElasticBody(name, hierarchy(block(*args, **more), 1), material)


def bar(gap=0.0, material=BAR):
    """Two halves of a bar of 30 mm along y whose meshes do not match, a gap between them."""
    low = body("low", (8.0, 10.0, 8.0), (2, 2, 2), material=material)
    high = body(
        "high",
        (8.0, 20.0, 8.0),
        (3, 2, 3),
        origin=(0.0, 10.0 + gap, 0.0),
        swapped=True,
        material=material,
    )
    return [low, high]


TIE = BodyPair(("high", "bottom"), ("low", "top"), 5.0)


def ends(low, high, displacement=(0.0, 0.0, 0.0), ramp=0.0):
    """Hold the lower end and move the upper one."""
    return [
        PrescribedMotion("low", np.unique(low.meshes.finest.patches["bottom"]), np.zeros(3)),
        PrescribedMotion(
            "high", np.unique(high.meshes.finest.patches["top"]), np.array(displacement), ramp
        ),
    ]


def stretched(problem, end):
    """Uniform stretch of the bar at rest, by the displacement of its upper end."""
    return State(problem.positions[:, 1:2] / LENGTH * np.array(end), 0.0 * problem.positions)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("end", [0.02, -0.02])
def test_a_tied_bar_in_equilibrium_stays_and_reacts_with_modulus_area_and_strain(solver, end):
    bodies = bar()
    moved = (0.0, end, 0.0)
    problem = ContactProblem(bodies, TAU, solver, ties=[TIE], prescribed=ends(*bodies, moved))
    state = stretched(problem, moved)
    step = problem.step(problem.step(state).state)
    force = 17000.0 * AREA * end / LENGTH
    # The upper end is pulled with the force, the lower one is held.
    np.testing.assert_allclose(step.reactions[:, 1], [-force, force], rtol=1e-9)
    assert np.abs(step.reactions[:, [0, 2]]).max() < 1e-8 * abs(force)
    np.testing.assert_allclose(step.state.displacement, state.displacement, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_force_passes_the_tie_to_the_support(solver):
    """A force at the free end: the support reacts with it, and both parts stay stretched by it."""
    force = 3000.0
    bodies = bar()
    mesh = bodies[1].meshes.finest
    loads = np.zeros(mesh.nodes.shape)
    at = mesh.nodes[mesh.patches["top"]]
    area = 0.5 * np.linalg.norm(np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]), axis=1)
    np.add.at(loads[:, 1], mesh.patches["top"].ravel(), np.repeat(force * area / (3.0 * AREA), 3))
    problem = ContactProblem(
        bodies, TAU, solver, loads={"high": loads}, ties=[TIE], prescribed=ends(*bodies)[:1]
    )
    state = stretched(problem, (0.0, force * LENGTH / (17000.0 * AREA), 0.0))
    step = run(problem, state, 5)[-1][1]
    np.testing.assert_allclose(step.reactions[0], [0.0, -force, 0.0], atol=1e-8 * force)
    np.testing.assert_allclose(step.state.displacement, state.displacement, atol=1e-10)


def test_a_slow_ramp_is_met_and_reacts_as_the_static_bar():
    bodies = bar(material=DAMPED)
    moved, steps = np.array([0.0, 0.03, 0.0]), 400
    problem = ContactProblem(
        bodies,
        SHORT,
        DirectActiveSet,
        ties=[TIE],
        prescribed=ends(*bodies, moved, 0.5 * steps * SHORT),
    )
    found = run(problem, problem.at_rest(), steps)
    top = problem.parts["high"].start + ends(*bodies)[1].nodes
    for number, (_, step) in enumerate(found, start=1):
        share = min(number / (0.5 * steps), 1.0)
        np.testing.assert_allclose(step.state.displacement[top] - share * moved, 0.0, atol=1e-17)
    force = 17000.0 * AREA * moved[1] / LENGTH
    np.testing.assert_allclose(found[-1][1].reactions[:, 1], [-force, force], rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("gap", [0.0, 4.0])
def test_tied_bodies_conserve_momenta_and_energy_in_free_flight(solver, gap):
    """Across a gap too, where a tie of displacements alone would lose moments of shear forces."""
    problem = ContactProblem(bar(gap, BONE), TAU, solver, ties=[TIE])
    at = problem.positions
    speed = 1e3 * np.sin(at / 5.0) @ np.random.default_rng(0).normal(size=(3, 3))
    state = problem.at_rest(speed)

    def balances(state):
        angular = problem.mass @ np.cross(at, state.velocity)
        return np.r_[problem.mass @ state.velocity, angular, problem.energy(state).total]

    first = balances(state)
    for _, step in run(problem, state, 20):
        # Solved to 1e-12 in the energy norm.
        np.testing.assert_allclose(balances(step.state), first, rtol=1e-9, atol=1e-9)


def test_a_tie_follows_rigid_motions_and_keeps_the_mass():
    bodies = bar(4.0, BONE)
    problem = ContactProblem(bodies, TAU, DirectActiveSet, ties=[TIE])
    assert problem.mass.sum() == pytest.approx(2e-9 * AREA * LENGTH, rel=1e-12)
    at = problem.positions
    pair = mortar(at, problem.triangles("high", "bottom"), problem.triangles("low", "top"), 5.0)
    own = tied(at, pair)
    turned = np.cross([0.3, -0.2, 0.5], at) + [1.0, 2.0, 3.0]
    np.testing.assert_allclose(
        (own.weights @ turned.ravel()).reshape(-1, 3), turned[own.nodes], atol=1e-12
    )


def test_reactions_balance_all_other_forces_and_their_work_is_the_gain_of_energy():
    """A bar on the ground that is pushed down: obstacle, gravity, inertia and reaction."""
    mesh = block((8.0, 10.0, 8.0), (2, 2, 2), origin=(0.0, 0.01, 0.0))
    one = ElasticBody("block", hierarchy(mesh, 1), BONE)
    top = np.unique(one.meshes.finest.patches["top"])
    problem = ContactProblem(
        [one],
        TAU,
        DirectActiveSet,
        obstacles=[RigidObstacle(("block", "bottom"), GROUND)],
        gravity=np.array([0.0, -9810.0, 0.0]),
        prescribed=[PrescribedMotion("block", top, np.array([0.005, -0.03, 0.0]), 1e-4)],
    )
    weight = problem.mass.sum() * np.array([0.0, -9810.0, 0.0])
    steps = run(problem, problem.at_rest(), 40)
    assert max(step.forces.max() for _, step in steps) > 0.0
    scale = max(abs(step.reactions).max() for _, step in steps)
    for state, step in steps:
        gained = problem.mass @ (step.state.velocity - state.velocity) / TAU
        contact = problem.resultants(step.forces + step.impulses / TAU)[0]
        np.testing.assert_allclose(
            step.reactions.sum(axis=0), gained - weight - contact, atol=1e-9 * scale
        )
        assert balance(problem, state, step) == pytest.approx(step.losses.prescribed, abs=1e-9)
    assert sum(step.losses.prescribed for _, step in steps) > 0.0


def test_impossible_ties_and_motions_are_refused():
    bodies = bar()
    base = np.unique(bodies[0].meshes.finest.patches["bottom"])
    upper = np.unique(bodies[1].meshes.finest.patches["bottom"])
    held = PrescribedMotion("low", base, np.zeros(3))
    every = [
        PrescribedMotion(one.name, np.arange(len(one.meshes.finest.nodes)), np.zeros(3))
        for one in bodies
    ]
    for ties, motions in (
        ([], [held, held]),
        ([TIE], [PrescribedMotion("high", upper, np.zeros(3))]),
        ([], every),
        ([BodyPair(TIE.nonmortar, TIE.mortar, 5.0), BodyPair(TIE.mortar, TIE.nonmortar, 5.0)], []),
    ):
        with pytest.raises(ValueError):
            ContactProblem(bodies, TAU, DirectActiveSet, ties=ties, prescribed=motions)


def test_an_obstacle_holds_several_patches():
    low, high = bar()
    plane = HalfSpace(np.array([0.0, -0.001, 0.0]), np.array([0.0, 1.0, 0.0]))
    problem = ContactProblem(
        [low, high],
        TAU,
        DirectActiveSet,
        obstacles=[RigidObstacle(("low", "bottom"), plane, (("high", "bottom"),))],
    )
    assert len(problem.constraints.nodes) == 25 + 49
    assert set(problem.constraints.group) == {0}
