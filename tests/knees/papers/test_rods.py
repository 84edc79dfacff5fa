"""Cosserat rods: strains, equilibria and time steps against laws and analytical solutions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kneewear.errors import ConvergenceError
from kneewear.knees.papers.fe_knee import rod_step
from kneewear.knees.papers.fe_knee.rod_elements import (
    NodalForces,
    forces_of_step,
    moved_nodes,
    section,
    strains,
)
from kneewear.knees.papers.fe_knee.rod_step import Poses, RodSystem, relative_turn
from kneewear.knees.papers.fe_knee.rods import RodMaterial, RodState
from kneewear.knees.papers.rotation_vectors import (
    cayley,
    cross_product,
    dot,
    exponential,
    logarithm,
    transposed,
    turned,
)

MATERIAL = RodMaterial()
LENGTH = 50.0
FREE = (False, False)

vectors = st.tuples(*[st.floats(-2.0, 2.0)] * 3).map(np.array)


def rod(elements: int = 20, gravity=(0.0, 0.0, 0.0)) -> tuple[RodSystem, RodState]:
    """One straight ligament along x."""
    system = RodSystem((MATERIAL,), np.array([LENGTH]), elements, gravity)
    return system, system.straight([[0.0, 0.0, 0.0]], [[LENGTH, 0.0, 0.0]])


def bent(system: RodSystem, state: RodState, size: float = 1.0) -> RodState:
    """The state with curved centre lines, turned sections and uneven velocities."""
    at = np.linspace(0.0, 1.0, system.elements + 1)[:, None]
    waves = np.sin(np.array([3.0, 2.0, 4.0]) * at + np.array([0.0, 1.0, 2.0]))
    return RodState(
        state.position + 2.0 * size * waves,
        exponential(0.4 * size * waves[None]) @ state.rotation,
        state.velocity + 3000.0 * size * waves[:, [1, 2, 0]],
        state.spin + 200.0 * size * waves[:, [2, 0, 1]],
    )


def tumbling() -> tuple[RodSystem, RodState]:
    """Two free rods of different length and material with large motions."""
    stiff = RodMaterial(young_modulus=1000.0, poisson=0.4, density=2e-9, radius=3.0)
    system = RodSystem((MATERIAL, stiff), np.array([48.0, 70.0]))
    state = system.straight([[0, 0, 0], [5, 5, 5]], [[50, 0, 0], [5, 70, 5]], (100.0, 0, -500.0))
    return system, bent(system, state)


@given(vectors, vectors)
@settings(max_examples=30)
def test_rigid_motion_changes_no_strain(turn, shift):
    system, state = tumbling()
    turned = state.turned(exponential(turn), 100.0 * shift)
    assert np.allclose(system.strains(turned), system.strains(state), atol=1e-13)
    straight = rod()[1].turned(exponential(turn), 100.0 * shift)
    assert np.allclose(rod()[0].strains(straight), 0.0, atol=1e-13)


@given(vectors, vectors)
@settings(max_examples=10, deadline=None)
def test_steps_commute_with_rigid_motions(turn, shift):
    system, state = tumbling()
    rotation = exponential(turn)
    first = system.step(state.turned(rotation, shift), 1e-5, held=FREE).state
    second = system.step(state, 1e-5, held=FREE).state.turned(rotation, shift)
    assert np.allclose(first.position, second.position, atol=1e-11)
    assert np.allclose(first.rotation, second.rotation, atol=1e-12)
    assert np.allclose(system.strains(first), system.strains(second), atol=1e-12)


def test_strains_are_those_of_the_geodesic_between_nodes():
    first, turn = exponential([[0.2, -0.7, 0.4]]), np.array([[0.3, 0.5, -0.6]])
    chord, length = np.array([[1.0, 2.0, 3.0]]), np.array([[2.5]])
    at = section(chord, first, first @ exponential(turn))
    stretch, curvature = strains(at, length)
    middle = first @ exponential(0.5 * turn)
    assert np.allclose(curvature, turn / length, atol=1e-15)
    assert np.allclose(stretch, (transposed(middle) @ chord[..., None])[..., 0] / 2.5 - [0, 0, 1])


@given(vectors, vectors, vectors, vectors, vectors)
@settings(max_examples=50)
def test_forces_of_a_step_do_the_work_of_the_strain_energy(turn, chord, shift, turn_a, turn_b):
    stiffness, length = np.array([[3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]), np.array([[0.7]])
    first = exponential([turn])
    old = section(chord[None], first, first @ exponential([0.2 * shift]))
    step = shift[None], 0.2 * turn_a[None], 0.2 * turn_b[None]
    work = sum(
        float(np.sum(force * way))
        for force, way in zip(forces_of_step(old, length, stiffness, *step), step, strict=True)
    )

    def energy(at):
        strain = np.concatenate(strains(at, length), axis=-1)
        return 0.5 * 0.7 * np.sum(stiffness * strain**2)

    gained = energy(moved_nodes(old, *step)) - energy(old)
    assert work == pytest.approx(gained, abs=1e-11 * (1.0 + energy(old) + abs(gained)))


@pytest.mark.parametrize("steps", [25, pytest.param(300, marks=pytest.mark.slow)])
def test_free_rods_conserve_energy_and_momenta(steps):
    system, state = tumbling()
    start = state
    for _ in range(steps):
        state = system.step(state, 1e-5, held=FREE).state
    vibrated = system.strain_energy(state) / system.strain_energy(start)
    assert np.all(np.abs(vibrated - 1.0) > 0.05)
    # Rounding of Newton's last correction, added over the steps.
    assert np.allclose(system.energy(state), system.energy(start), rtol=1e-11)
    assert np.allclose(system.momentum(state), system.momentum(start), rtol=0, atol=1e-14)
    angular = system.angular_momentum(start)
    assert np.allclose(
        system.angular_momentum(state), angular, rtol=0, atol=1e-11 * np.max(np.abs(angular))
    )
    rounding = transposed(state.rotation) @ state.rotation - np.eye(3)
    assert np.max(np.abs(rounding)) < 1e-12


def forces_of_linear_turns(old, length, stiffness, shift, turn_a, turn_b):
    """Forces of equation 24 as printed in sum form: turns are linear within an element."""
    turn = 0.5 * (turn_a + turn_b)
    share = 1.0 / (1.0 + 0.25 * dot(turn, turn))
    middle = cayley(turn) @ old.middle
    stretch, curvature = strains(old, length)
    new_stretch = turned(transposed(middle), old.chord + shift) / length - [0.0, 0.0, 1.0]
    change = share * (turn_b - turn_a - 0.5 * cross_product(turn, turn_b - turn_a))
    new_curvature = curvature + turned(transposed(old.middle), change) / length
    stress = 0.5 * stiffness[..., :3] * (stretch + new_stretch)
    force = turned(0.5 * (old.middle + middle), stress)
    couple = turned(old.middle, 0.5 * stiffness[..., 3:] * (curvature + new_curvature))
    couple = share * (couple + 0.5 * cross_product(turn, couple))
    arm = 0.5 * cross_product(old.chord + 0.5 * shift, force)
    return NodalForces(force, -arm - couple, couple - arm)


@pytest.mark.slow
def test_linear_turns_of_the_source_lose_energy_on_geodesic_elements(monkeypatch):
    changes = {}
    for law in (forces_of_step, forces_of_linear_turns):
        monkeypatch.setattr(rod_step, "forces_of_step", law)
        system, state = rod()
        start = state = bent(system, state, 0.3)
        for _ in range(300):
            state = system.step(state, 1e-5, held=FREE).state
        changes[law] = system.energy(state)[0] / system.energy(start)[0] - 1.0
    assert abs(changes[forces_of_step]) < 1e-11
    assert -0.004 < changes[forces_of_linear_turns] < -0.001


def test_gravity_work_is_part_of_the_conserved_energy():
    system, state = rod(gravity=(0.0, -9810.0, 0.0))
    start = state = bent(system, state)
    for _ in range(20):
        state = system.step(state, 2e-5, held=FREE).state
    assert np.allclose(system.energy(state), system.energy(start), rtol=1e-11)
    fallen = np.average(state.velocity - start.velocity, axis=1, weights=system.nodal_mass[0, :, 0])
    assert np.allclose(fallen, [[0.0, -9810.0 * 4e-4, 0.0]], atol=1e-9)


def test_forces_of_supports_balance_the_change_of_momentum():
    system, state = rod(gravity=(0.0, -9810.0, 0.0))
    state, tau = bent(system, state), 1e-5
    ends = system.ends(state)
    ends = Poses(ends.position + 0.05, exponential(np.full((1, 2, 3), 0.003)) @ ends.rotation)
    after = system.step(state, tau, ends)
    middle = 0.5 * (state.position + after.state.position)
    force = np.sum(after.force, axis=1) + np.sum(system.weight, axis=1)
    moment = np.sum(np.cross(middle[:, [0, -1]], after.force) + after.moment, axis=1)
    moment += np.sum(np.cross(middle, system.weight), axis=1)
    change = system.momentum(after.state) - system.momentum(state)
    turn = system.angular_momentum(after.state) - system.angular_momentum(state)
    assert np.allclose(tau * force, change, rtol=1e-9, atol=1e-14)
    assert np.allclose(tau * moment, turn, rtol=1e-9, atol=1e-13)
    # And their work is the change of energy.
    shift = after.state.position[:, [0, -1]] - state.position[:, [0, -1]]
    turns = relative_turn(system.ends(state), ends)
    work = np.sum(after.force * shift + after.moment * turns, axis=(1, 2))
    assert np.allclose(work, system.energy(after.state) - system.energy(state), rtol=1e-9)


def test_tension_is_modulus_times_area_times_strain():
    system, state = rod()
    ends = Poses(np.array([[[0.0, 0, 0], [1.02 * LENGTH, 0, 0]]]), system.ends(state).rotation)
    pulled = system.equilibrium(state, ends)
    assert pulled.force[0, 1] == pytest.approx([330.0 * np.pi * 25.0 * 0.02, 0.0, 0.0], abs=1e-8)
    assert system.stresses(pulled.state)[0, :, 2] == pytest.approx(pulled.force[0, 1, 0])
    assert system.edge_stress(pulled.state) == pytest.approx(6.6)


def test_shorter_reference_gives_prestrain():
    system = RodSystem((MATERIAL,), np.array([LENGTH / 1.05]))
    state = system.straight([[0.0, 0.0, 0.0]], [[0.0, LENGTH, 0.0]])
    assert system.strains(state)[0, :, 2] == pytest.approx(0.05)
    at_rest = system.step(state, 1e-5)
    assert at_rest.force[0, 0] == pytest.approx([0.0, -330.0 * np.pi * 25.0 * 0.05, 0.0], abs=1e-8)
    assert np.allclose(at_rest.state.position, state.position, atol=1e-12)


def test_torque_is_shear_modulus_times_polar_moment_times_twist():
    system, state = rod()
    ends = system.ends(state)
    turn = np.array([[[0.0, 0, 0], [0.8, 0, 0]]])
    twisted = system.equilibrium(state, Poses(ends.position, exponential(turn) @ ends.rotation))
    torque = 330.0 / 2.6 * 0.5 * np.pi * 5.0**4 * 0.8 / LENGTH
    assert twisted.moment[0, 1] == pytest.approx([torque, 0.0, 0.0], abs=1e-7)
    assert twisted.moment[0, 0] == pytest.approx([-torque, 0.0, 0.0], abs=1e-7)


def test_end_moment_bends_a_rod_into_a_circle():
    system, state = rod()
    loads = np.zeros((1, 21, 6))
    for share in np.linspace(0.1, 1.0, 10):
        loads[0, -1, 5] = share * 330.0 * 0.25 * np.pi * 5.0**4 * 2 * np.pi / LENGTH
        result = system.equilibrium(state, held=(True, False), loads=loads)
        state = result.state
    assert state.position[0, -1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-8)
    assert result.moment[0, 0] == pytest.approx([0.0, 0.0, -loads[0, -1, 5]])
    edge = 330.0 * 2 * np.pi / LENGTH * 5.0
    assert system.edge_stress(state) == pytest.approx(edge)
    assert state.position[0, 10, 1] == pytest.approx(LENGTH / np.pi, rel=0.005)


def deflection(elements: int) -> float:
    """Deflection by a small force across the free end, divided by the analytical one."""
    system, state = rod(elements)
    loads = np.zeros((1, elements + 1, 6))
    loads[0, -1, 1] = force = 1e-3
    found = system.equilibrium(state, held=(True, False), loads=loads).state.position[0, -1, 1]
    bending, shear = MATERIAL.stiffness[3], MATERIAL.stiffness[0]
    return float(found / (force * LENGTH**3 / (3 * bending) + force * LENGTH / shear))


def test_cantilever_deflects_by_bending_and_shear_with_second_order():
    errors = [1.0 - deflection(elements) for elements in (5, 10, 20)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.02)
    assert errors[2] < 1e-3


def test_axial_vibration_has_the_period_of_a_bar():
    system, state = rod()
    at = np.linspace(0.0, 1.0, 21)[:, None]
    mode = 1.0 * np.sin(0.5 * np.pi * at) * np.array([1.0, 0.0, 0.0])
    state = replace(state, velocity=mode[None])
    wave_speed = np.sqrt(330.0 / 1e-9)
    tau = 4.0 * LENGTH / wave_speed / 80
    end = []
    for _ in range(90):
        state = system.step(state, tau, held=(True, False)).state
        end.append(state.position[0, -1, 0] - LENGTH)
    crossings = np.flatnonzero(np.diff(np.sign(end)))
    share = [end[k] / (end[k] - end[k + 1]) for k in crossings]
    period = 2.0 * np.diff(crossings + share)[0]
    # Lumped mass lowers the frequency by (k h)^2 / 24, the step by (w tau)^2 / 12.
    assert period / 80 == pytest.approx(1.0 + (np.pi / 40) ** 2 / 24 + (np.pi / 40) ** 2 / 12, 1e-5)


def test_steps_are_of_second_order():
    results = []
    for steps in (10, 20, 40):
        system, state = rod(5)
        state = bent(system, state, 0.3)
        for _ in range(steps):
            state = system.step(state, 2e-5 / steps, held=FREE).state
        results.append(state)
    for name in ("position", "rotation"):
        first, second, third = (getattr(one, name) for one in results)
        rate = np.linalg.norm(first - second) / np.linalg.norm(second - third)
        assert rate == pytest.approx(4.0, rel=0.1)


def test_newton_converges_quadratically():
    system, state = rod()
    assert system.step(bent(system, state, 0.1), 1e-5, held=FREE).iterations <= 4


def test_prescribed_ends_are_reached():
    system, state = rod()
    ends = system.ends(state)
    ends = Poses(ends.position - 0.3, exponential(np.full((1, 2, 3), 0.1)) @ ends.rotation)
    reached = system.ends(system.step(state, 1e-5, ends).state)
    assert np.allclose(reached.position, ends.position, atol=1e-14)
    assert np.allclose(logarithm(transposed(reached.rotation) @ ends.rotation), 0.0, atol=1e-14)


def test_steps_that_are_too_long_are_refused():
    system, state = tumbling()
    with pytest.raises(ConvergenceError):
        system.step(state, 0.1, held=FREE)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: RodMaterial(radius=0.0), "positive"),
        (lambda: RodMaterial(poisson=0.6), "Poisson"),
        (lambda: RodSystem((MATERIAL,), np.array([1.0, 2.0])), "one positive length"),
        (lambda: RodSystem((MATERIAL,), np.array([1.0]), 0), "at least one element"),
        (lambda: rod()[0].straight([[0, 0, 0]], [[0, 0, 0]]), "coincide"),
    ],
)
def test_impossible_rods_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
