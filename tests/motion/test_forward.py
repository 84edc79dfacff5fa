"""Forward dynamics against equilibria, energy, mirrored knees and analytical solutions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import simpson, solve_ivp

from kneewear.base.cases import Case
from kneewear.base.checks import checks
from kneewear.errors import ConvergenceError
from kneewear.mechanics.coordinates import fit_periodic
from kneewear.mechanics.integration import integrate
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import solid_body
from kneewear.mechanics.rotations import body_three_123, turn_axes
from kneewear.mechanics.springs import Spring
from kneewear.motion.cases import GRAVITY, load_not_carried
from kneewear.motion.cycle import CycleBoundaryConditions, axial_forces
from kneewear.motion.forward import Integrator, solve_forward
from kneewear.motion.quasi_static import solve_quasi_static
from tests.physics.bodies import contact_of, energy, gait_study

pytestmark = pytest.mark.compiled

ROWS = 30
COLUMNS = 24
FRAMES = 50
MASS = 4e-4
WEIGHT = 75.0 * GRAVITY
CASE_OF_BALANCE = Case("one", 8.0, 75.0)
CHECK_OF_BALANCE = "motion.load_not_carried"


@cache
def knee():
    """Study, pairs, layers and the quasi-static solution of the built-in gait."""
    study = gait_study(ROWS, COLUMNS, FRAMES)
    found = [contact_of(study.implant, ROWS, COLUMNS, side) for side in (0, 1)]
    pairs, layers = zip(*found, strict=True)
    still, _ = solve_quasi_static(pairs, layers, study.activity, WEIGHT, study.settings)
    return study, pairs, layers, still


def body(mass=MASS):
    return solid_body(mass, [25.0] * 3, [1.0, 5.0, 0.0])


@cache
def walked(tolerance=1e-5, damping=0.2, cycles=1, samples=None, mass=MASS):
    _, pairs, layers, still = knee()
    conditions = still.conditions
    integrator = Integrator(tolerance, damping, cycles)
    return solve_forward(pairs, layers, body(mass), conditions, integrator, samples=samples)


def stance():
    load = knee()[3].load
    return load > 0.4 * load.max()


def test_motion_stays_near_the_equilibria():
    _, _, _, still = knee()
    moved = walked()
    apart = np.abs(moved.coordinates - still.coordinates)[stance()]
    # A micrometre of height is about a per cent of force; the bearing hardly restores sideways.
    assert apart[:, 1].max() < 3e-4
    assert apart[:, 2].max() < 0.1
    assert apart[:, 3].max() < 1e-4
    # Prescribed coordinates follow the prescribed motion.
    assert apart[:, [0, 4, 5]].max() < 1e-9


def test_share_is_held_and_adduction_torque_mirrors_the_load():
    _, _, _, still = knee()
    moved = walked()
    down = moved.contact[:, :, 1]
    share = down[:, 0] / down.sum(axis=1)
    assert np.abs(share - 0.7)[stance()].max() < 0.02
    torque = moved.contact[:, :, 3].sum(axis=1)
    assert abs(np.corrcoef(torque, still.load)[0, 1]) > 0.99


def test_lighter_bodies_come_nearer_to_the_equilibria():
    """Inertia and damping (in proportion to the root of mass) are all that keeps them apart."""
    _, _, _, still = knee()
    apart = [
        np.abs(walked(mass=mass).coordinates[:, 1] - still.coordinates[:, 1])[stance()].max()
        for mass in (1e-2, 1e-3, 1e-4)
    ]
    assert apart[0] > 1.8 * apart[1] > 3.2 * apart[2]


@pytest.mark.slow
def test_error_falls_with_the_tolerance():
    reference = walked(1e-8).coordinates[:, 1:4]
    errors = [
        np.abs(walked(t).coordinates[:, 1:4] - reference).max(axis=0) for t in (1e-3, 1e-5, 1e-7)
    ]
    # Errors of single steps are what is bounded: those of the whole path fall more slowly.
    assert (errors[1] < 0.2 * errors[0]).all()
    assert (errors[2] < 0.2 * errors[1]).all()
    # Of 0.1 mm of penetration; a chain of steps errs by some hundred times each of them.
    assert errors[1][0] < 1e-4 * 0.1


class Vibration:
    """A tenth of critical damping at 3000 rad/s, driven by the slow motion sin(2 pi t)."""

    relative_tolerance, scale, largest_step = 1e-5, np.array([0.1, 300.0]), 0.01
    rate, ratio = 3000.0, 0.1

    def slope(self, time, state, slope):
        slope[0] = state[1]
        pull = np.sin(2 * np.pi * time) - state[0]
        slope[1] = self.rate**2 * pull - 2 * self.ratio * self.rate * state[1]

    def jacobian(self, time, state, slope, matrix):
        matrix[:] = [[0.0, 1.0], [-(self.rate**2), -2 * self.ratio * self.rate]]

    def margins(self, time, state, margins):
        # Without `stops` there are no margins: a call is an error of the integration.
        raise AssertionError("margins of an integration without events")


def test_order_three_steps_over_vibration_that_order_five_resolves():
    times, start = np.linspace(0.0, 1.0, 101), np.array([0.0, 2 * np.pi])
    five, three = (integrate(Vibration(), times, start, highest_order=n) for n in (5, 3))
    assert 3 * three.evaluations < five.evaluations
    lag = 2 * Vibration.ratio / Vibration.rate
    # Where the component follows the motion but for the lag of its damping.
    followed = np.sin(2 * np.pi * (times - lag))
    assert three.state[5:, 0] == pytest.approx(followed[5:], abs=1e-4)


def test_a_cycle_ends_where_it_began_once_it_is_periodic():
    first, third = walked(), walked(cycles=3)
    assert np.abs(third.gap[1]) < 1e-6
    assert np.abs(third.gap[2]) < max(0.2 * np.abs(first.gap[2]), 1e-6)
    assert third.time == pytest.approx(first.time, abs=1e-12)


@pytest.mark.slow
def test_energy_balances_over_the_cycle():
    """Work of load and drivers = kinetic + elastic + dissipated, within 0.1 % of what flows."""
    _, pairs, layers, still = knee()
    conditions = still.conditions
    moved = walked(samples=4000)
    load = fit_periodic(conditions.loads[0].time_history(FRAMES), conditions.duration)
    powers, stored = [], []
    columns = (moved.coordinates, moved.rates, moved.reaction, moved.inertia, moved.contact)
    for time, position, rates, reaction, inertia, contact in zip(moved.time, *columns, strict=True):
        rotation, axes = body_three_123(position[3:]), turn_axes(position[3:])
        jacobian = np.eye(6)
        jacobian[3:, 3:] = axes
        force, _, point = np.split(load(time)[0], 3)
        applied, _ = Load(force, point=point, point_frame="fixed").wrench(position[:3], rotation)
        # What is left of the equations of motion are the dampers.
        damped = inertia - reaction - jacobian.T @ (contact.sum(axis=0) + applied)
        powers.append([applied @ jacobian @ rates, reaction @ rates, -damped @ rates])
        elastic = sum(
            energy(pair.evaluate(rotation, position[:3], layer), layer)
            for pair, layer in zip(pairs, layers, strict=True)
        )
        mass, _ = body().equations(position, rates)
        stored.append([0.5 * rates @ mass @ rates, elastic])
    loads, drivers, lost = simpson(np.array(powers), x=moved.time, axis=0)
    gross = simpson(np.abs(np.array(powers)[:, 0]), x=moved.time)
    kept = np.sum(stored[-1]) - np.sum(stored[0])
    assert lost > 0.0
    assert gross > 1000.0
    assert abs(loads + drivers - lost - kept) < 1e-3 * gross
    # Each part counts: without dampers or what is stored at mid-stance the balance would not hold.
    assert np.max(np.sum(stored, axis=1)) > 0.01 * gross


@pytest.mark.slow
def test_mirrored_knee_moves_mirrored():
    _, pairs, layers, still = knee()
    study, conditions = knee()[0], still.conditions
    mirror = np.array([-1.0, 1.0, 1.0, 1.0, -1.0, -1.0])
    femoral = {side: surface.mirrored() for side, surface in study.implant.femoral.items()}
    insert = {side: surface.mirrored() for side, surface in study.implant.insert.items()}
    implant = replace(study.implant, femoral=femoral, insert=insert, left=True)
    found = [contact_of(implant, ROWS, COLUMNS, side) for side in (0, 1)]
    other_pairs, other_layers = zip(*found, strict=True)
    axial = axial_forces(still.load, still.load_line, -still.coordinates[:, 0])
    other_conditions = replace(conditions, motion=conditions.motion * mirror, loads=(axial,))
    other_body = solid_body(MASS, [25.0] * 3, [-1.0, 5.0, 0.0])
    other = solve_forward(
        other_pairs, other_layers, other_body, other_conditions, Integrator(1e-6, 0.2)
    )
    one = solve_forward(pairs, layers, body(), conditions, Integrator(1e-6, 0.2))
    apart = np.abs(other.coordinates * mirror - one.coordinates)
    assert apart[:, 1].max() < 1e-6
    assert apart[:, 2].max() < 1e-4
    assert apart[:, 3].max() < 1e-7


def test_a_pendulum_swings_as_huygens_says():
    """No contact at all: one free angle, a weight at the centre of mass."""
    length, radius, gravity = 40.0, 25.0, 9810.0
    pendulum = solid_body(MASS, [radius] * 3, [0.0, -length, 0.0])
    weight = Load([0.0, -MASS * gravity, 0.0], point=[0.0, -length, 0.0])
    period = 2.0 * np.pi * np.sqrt((radius**2 + length**2) / (gravity * length))
    start = np.zeros((40, 6))
    start[:, 5] = 1e-3
    conditions = CycleBoundaryConditions(start, period, ["theta_3"], [weight])
    moved = solve_forward([], [], pendulum, conditions, Integrator(1e-8, 0.0))
    expected = 1e-3 * np.cos(2.0 * np.pi * moved.time / period)
    assert moved.coordinates[:, 5] == pytest.approx(expected, abs=2e-7)


def test_a_damped_oscillator_obeys_its_closed_form():
    """Mass on a spring with a damper, let go from a millimetre."""
    stiffness, ratio = 5.0, 0.1
    rate = np.sqrt(stiffness / MASS)
    damping = 2.0 * ratio * np.sqrt(stiffness * MASS)
    start = np.zeros((60, 6))
    start[:, 0] = 1.0
    conditions = CycleBoundaryConditions(
        start, 12.0 / rate, ["x"], springs=[Spring("x", stiffness, damping=damping)]
    )
    by_spring = solve_forward([], [], body(), conditions, Integrator(1e-8, 0.0))
    damped = np.sqrt(1.0 - ratio**2) * rate * by_spring.time
    expected = np.exp(-ratio * rate * by_spring.time) * (
        np.cos(damped) + ratio / np.sqrt(1.0 - ratio**2) * np.sin(damped)
    )
    assert by_spring.coordinates[:, 0] == pytest.approx(expected, abs=2e-6)
    # The same damper asked for as a part of the critical one.
    bare = replace(conditions, springs=[Spring("x", stiffness)])
    by_ratio = solve_forward([], [], body(), bare, Integrator(1e-8, ratio))
    assert by_ratio.coordinates[:, 0] == pytest.approx(by_spring.coordinates[:, 0], abs=1e-6)


@pytest.mark.parametrize("exponent", [0.0, 0.25, 1.0])
def test_dampers_follow_a_power_of_the_load(exponent):
    """Mass on a spring under a load that varies, against another integrator."""
    stiffness, ratio, load = 5.0, 0.1, 2.0
    rate = np.sqrt(stiffness / MASS)
    damping = 2.0 * ratio * np.sqrt(stiffness * MASS)
    period = 24.0 / rate

    def share(time):
        return 0.55 + 0.45 * np.cos(2.0 * np.pi * time / period)

    def slope(time, state):
        resisting = damping * share(time) ** exponent * state[1]
        return state[1], (load * share(time) - resisting - stiffness * state[0]) / MASS

    start = np.zeros((60, 6))
    start[:, 0] = 1.0
    force = load * share(period * np.arange(60) / 60)
    along = Load(force[:, None] * [1.0, 0.0, 0.0])
    conditions = CycleBoundaryConditions(start, period, ["x"], [along], [Spring("x", stiffness)])
    integrator = Integrator(1e-8, ratio, damping_load_exponent=exponent)
    moved = solve_forward([], [], body(), conditions, integrator)
    expected = solve_ivp(slope, (0.0, period), [1.0, 0.0], "DOP853", moved.time, rtol=1e-10)
    assert moved.coordinates[:, 0] == pytest.approx(expected.y[0], abs=1e-5)


def test_losing_all_contact_is_an_error_that_names_the_frame():
    _, pairs, layers, still = knee()
    conditions = still.conditions
    pull = np.where(np.arange(FRAMES) < 30, still.load, -50.0)
    lifted = axial_forces(pull, still.load_line, still.coordinates[:, 0])
    with pytest.raises(ConvergenceError) as caught:
        solve_forward(
            pairs,
            layers,
            body(),
            replace(conditions, loads=(lifted,)),
            Integrator(1e-5, 0.2),
            case="upward",
        )
    assert 29 <= caught.value.frame <= 31


def test_losing_one_side_is_recorded():
    _, pairs, layers, still = knee()
    conditions = still.conditions
    line = np.where(np.abs(np.arange(FRAMES) - 10) < 2, 26.0, still.load_line)
    aside = axial_forces(still.load, line, still.coordinates[:, 0])
    moved = solve_forward(
        pairs, layers, body(), replace(conditions, loads=(aside,)), Integrator(1e-4, 0.2)
    )
    assert {number for _, number in moved.lost} == {1}
    frames = [moment / conditions.duration * FRAMES for moment, _ in moved.lost]
    assert 6.0 < frames[0] < 10.0


def test_a_motion_into_the_metal_is_an_error_that_names_the_frame():
    _, pairs, layers, still = knee()
    conditions = still.conditions
    motion = conditions.motion.copy()
    motion[20:26, 1] -= 12.0
    sunk = replace(conditions, motion=motion, free=("z", "theta_1"))
    with pytest.raises(ConvergenceError) as caught:
        solve_forward(pairs, layers, body(), sunk, Integrator(1e-5, 0.2))
    assert 17 <= caught.value.frame <= 25


def test_forward_analysis_of_a_case():
    # On a grid of 30 x 24 equilibria jump sideways by up to 0.07 mm from frame to frame, as single
    # elements come and go; what has inertia does not follow, and peaks differ by 1.3 % (rms).
    study = gait_study(60, 45, FRAMES)
    case = Case("one", 8.0, 75.0)
    still = study.arrays(case)
    moved = study.with_settings(analysis="forward").arrays(case)
    assert (still.analysis, moved.analysis) == ("quasi_static", "forward")
    assert not still.inertia_force.any()
    assert moved.inertia_force.any()
    # The grid is the same, so pressures differ by what inertia and damping do.
    in_stance = still.load[0] > 0.4 * still.load[0].max()
    for name in ("max_pressure", "avg_pressure"):
        apart = (getattr(moved, name) / getattr(still, name) - 1.0)[0, in_stance]
        assert np.sqrt(np.mean(apart**2)) < 0.005
    assert moved.residual.max() < 1e-9


def test_load_that_dampers_carry_is_noticed(caplog):
    study = gait_study(ROWS, COLUMNS, 25)
    logged = {}
    for damping in (0.1, 20.0):
        forward = study.settings.forward.model_copy(update={"damping_ratio": damping})
        caplog.clear()
        history = study.with_settings(analysis="forward", forward=forward).run(CASE_OF_BALANCE)
        force, load = (history[name].values[0] for name in ("force", "load"))
        lost, frame = load_not_carried(force, load)
        carried = -force[frame, :, 1].sum() / load[frame]
        assert lost == pytest.approx(abs(carried - 1.0), rel=1e-12)
        assert lost >= np.abs(-force[:, :, 1].sum(axis=1) / load - 1.0).mean()
        logged[damping] = [getattr(record.args[0], "check", "") for record in caplog.records]
        logged[damping] = [name for name in logged[damping] if name == CHECK_OF_BALANCE]
        assert (lost > checks()[CHECK_OF_BALANCE].range.high) == bool(logged[damping])
    assert not logged[0.1]
    assert logged[20.0]
