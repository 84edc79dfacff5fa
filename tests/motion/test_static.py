"""Static equilibrium from near and far: analytical solutions, and conditions it must meet."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.errors import ConvergenceError
from kneewear.evidence.verification import winkler
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Load
from kneewear.mechanics.springs import Spring
from kneewear.motion.static import solve_static
from tests.physics.bodies import MODULUS, contact_of, flat_implant, knee, sphere

LINE = [0.0, 0.0, 9.2]


NEAR = np.array([0.0, 37.6, -0.4, 0.0, 0.0, -0.3])


def settled(free, start=NEAR, force=3000.0, load=None, **options):
    load = load or Load([0.0, -force, 0.0], point=LINE)
    return solve_static(*knee(), (start[:3], start[3:]), free, loads=[load], **options)


FREEDOMS = [
    ["y"],
    ["y", "z", "theta_1"],
    ["x", "y", "theta_1"],
    ["x", "y", "z", "theta_1"],
    ["x", "y", "z", "theta_1", "theta_2"],
    list(COORDINATES),
]


@pytest.mark.compiled
@pytest.mark.parametrize("free", FREEDOMS, ids="-".join)
def test_far_starts_end_in_the_same_pose(free):
    """Ten millimetres above, overlapping by two, and five degrees off in what is free."""
    springs = [Spring("theta_3", 1e4, rest=-0.3)]
    near = settled(free, springs=springs)
    number = [COORDINATES.index(name) for name in free]
    off = np.array([3.0, 10.0, -2.0, *np.radians([5.0, -5.0, 5.0])])
    for way in (1.0, -0.2):
        start = NEAR.copy()
        start[number] += way * off[number]
        far = settled(free, start, springs=springs)
        # Forces agree to 1e-8 of the load; the dish restores 0.3 % of it per mm and more.
        assert far.translation == pytest.approx(near.translation, abs=1e-5)
        assert far.rotation == pytest.approx(near.rotation, abs=1e-6)


def test_contact_balances_the_load_and_holding_it():
    found = settled(["y", "z", "theta_1"])
    force = sum(contact.wrench for contact in found.contacts)
    assert force[1] == pytest.approx(3000.0, rel=1e-8)
    assert force[2] == pytest.approx(0.0, abs=3e-5)
    assert force[3] == pytest.approx(9.2 * -3000.0, rel=1e-6)
    # Held coordinates take what contact leaves over.
    assert found.reaction[0] == pytest.approx(-force[0], abs=1e-9)
    assert np.abs(found.reaction[[1, 2, 3]]).max() < 1e-8 * 3000.0 * 23.0


def test_stiffness_is_the_derivative_of_the_forces():
    free = ["x", "y", "z", "theta_1", "theta_2", "theta_3"]
    springs = [Spring("theta_3", 1e4, rest=-0.3), Spring("x", 5.0, gap=0.1)]
    load = Load([20.0, -3000.0, 5.0], [5.0, 9.0, 1e3], LINE, point_frame="fixed")
    pose = settled(free, springs=springs, load=load)
    position = np.concatenate([pose.translation, pose.rotation])

    def force(coordinates):
        # Nothing free but one coordinate that a huge residual leaves in place.
        start = (coordinates[:3], coordinates[3:])
        at = solve_static(*knee(), start, ["y"], loads=[load], springs=springs, tolerance=1e9)
        return -at.reaction

    columns = []
    step = np.array([1.0, 1.0, 1.0, 0.03, 0.03, 0.03]) * 1e-6
    for number in range(6):
        change = np.zeros(6)
        change[number] = step[number]
        columns.append((force(position + change) - force(position - change)) / (2 * step[number]))
    lever = np.array([1.0, 1.0, 1.0, 30.0, 30.0, 30.0])
    scale = np.abs(pose.stiffness[:3, :3]).max() * np.outer(lever, lever)
    assert np.max(np.abs((pose.stiffness - np.stack(columns, axis=-1)) / scale)) < 1e-5


@pytest.mark.compiled
def test_two_spheres_on_plates_sink_as_the_closed_form_says():
    """Each sphere carries half the load at the depth the analytical solution gives."""
    implant = flat_implant(sphere(30.0), thickness=8.0)
    pairs, layers = zip(*(contact_of(implant, 60, 60, side) for side in (0, 1)), strict=True)
    found = solve_static(
        pairs,
        layers,
        ([0.0, 45.0, 0.0], [0.05, 0.0, 0.0]),
        ["y", "theta_1"],
        loads=[Load([0.0, -2000.0, 0.0])],
    )
    depth = 38.0 - found.translation[1]
    # 400 elements in contact: the sum is within 0.1 % of the integral.
    force = winkler.sphere_force(30.0, depth, winkler.LinearLayer(MODULUS, 8.0))
    assert force == pytest.approx(1000.0, rel=1e-3)
    assert found.rotation[0] == pytest.approx(0.0, abs=1e-9)


def test_springs_alone_balance_a_load():
    springs = [Spring("x", 10.0, rest=1.0), Spring("y", 4.0, gap=2.0), Spring("theta_2", 50.0)]
    found = solve_static(
        [],
        [],
        (np.zeros(3), np.zeros(3)),
        ["x", "y", "theta_2"],
        loads=[Load([5.0, -8.0, 0.0], moment=[0.0, 10.0, 0.0])],
        springs=springs,
    )
    assert found.translation == pytest.approx([1.5, -4.0, 0.0], abs=1e-6)
    assert found.rotation == pytest.approx([0.0, 0.2, 0.0], abs=1e-6)


def test_a_load_beside_the_insert_names_case_frame_and_residual():
    with pytest.raises(ConvergenceError) as what:
        beside = NEAR + [80.0, 5.0, 0.0, 0.0, 0.0, 0.0]
        settled(["y", "theta_1"], beside, frame=7, case="thin")
    assert what.value.frame == 7
    assert what.value.residual > 1e-3


@pytest.mark.compiled
def test_a_tipping_load_is_no_equilibrium():
    """A dead load far outside the insert turns the component over."""
    with pytest.raises(ConvergenceError):
        settled(
            ["y", "theta_1"], load=Load([0.0, -500.0, 0.0], point=[0, 0, 80], point_frame="fixed")
        )
