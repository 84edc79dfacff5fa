"""Joints: gradient of an energy, constraint forces of a lever, and what each kind leaves free."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.knees.joints import Joint
from kneewear.mechanics.loads import Load
from kneewear.motion.actions import Contact
from kneewear.motion.equilibrium import solve_system, trace_equilibria
from kneewear.motion.system import BODY_THREE, Body, System

AXIS = np.array([0.6, 0.0, 0.8])
POINT = np.array([10.0, -5.0, 3.0])


def joint(kind, stiffness=1e4):
    return Joint(kind, POINT, AXIS, POINT - [0.0, 20.0, 0.0], AXIS, stiffness)


def system(kind, **loads):
    contact = Contact("ground", "arm", joint(kind))
    return System("ground", (Body("arm", BODY_THREE),), {"joint": contact, **loads})


@pytest.mark.parametrize("kind", ["hinge", "ball", "planar"])
def test_forces_are_the_gradient_of_the_energy_and_derivatives_exact(kind):
    one, at = system(kind), np.array([0.3, 20.2, -0.4, 0.1, -0.2, 0.3])
    found, step = one.forces(at), 1e-6
    for n in range(6):
        move = step * np.eye(6)[n]
        up, down = one.forces(at + move), one.forces(at - move)
        assert found.force[n] == pytest.approx(-(up.energy - down.energy) / (2 * step), rel=1e-5)
        slope = (up.force - down.force) / (2 * step)
        np.testing.assert_allclose(found.derivative[:, n], slope, atol=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("kind", ["hinge", "ball", "planar"])
def test_a_joint_leaves_free_what_its_kind_says(kind):
    turn = Rotation.from_rotvec(0.4 * AXIS).as_matrix()
    law, free = (
        joint(kind),
        {
            "hinge": [turn],
            "ball": [turn, Rotation.from_rotvec([0, 0.3, 0]).as_matrix()],
            "planar": [turn],
        }[kind],
    )
    for rotation in free:
        place = POINT - rotation @ np.asarray(law.other_point)
        assert law.evaluate(rotation, place).energy == pytest.approx(0.0, abs=1e-18)
    across = np.cross(AXIS, [0.0, 1.0, 0.0])
    start = POINT - np.asarray(law.other_point)
    slid, lifted = (law.evaluate(np.eye(3), start + v) for v in (across, AXIS))
    assert slid.gap == pytest.approx(0.0 if kind == "planar" else 1.0, abs=1e-12)
    assert lifted.gap == pytest.approx(1.0)
    tilted = law.evaluate(Rotation.from_rotvec(0.1 * across).as_matrix(), start)
    assert tilted.tilt == pytest.approx(0.0 if kind == "ball" else 0.1)


def test_a_hinge_carries_the_load_and_yields_by_it_over_its_stiffness():
    # A spring about the hinge would be missing: the load passes through the axis.
    force = np.array([30.0, -200.0, 50.0])
    load = Load(force, point=np.asarray(joint("hinge").other_point), body="arm")
    one = system("hinge", load=load)
    found = solve_system(one, [0.0, 20.0, 0.0, 0.0, 0.0, 0.0], ("arm",))
    part = found.forces.parts["joint"]
    np.testing.assert_allclose(part.wrench[:3], -force, rtol=1e-7)
    assert part.gap == pytest.approx(np.linalg.norm(force) / 1e4, rel=1e-7)


def test_a_four_bar_linkage_closes_as_its_lengths_say():
    """Crank, coupler and rocker by hinges; the rocker's angle by the law of cosines."""
    base, crank, coupler, rocker = 60.0, 20.0, 55.0, 45.0
    z = np.array([0.0, 0.0, 1.0])

    def hinge(one, other):
        return Joint("hinge", one, z, other, z, 1e5)

    bodies = tuple(Body(name, BODY_THREE) for name in ("crank", "coupler", "rocker"))
    system = System(
        "ground",
        bodies,
        {
            "first": Contact("crank", "coupler", hinge([crank, 0, 0], [0, 0, 0])),
            "second": Contact("coupler", "rocker", hinge([coupler, 0, 0], [rocker, 0, 0])),
            # Something to carry, so that there is a largest force.
            "torque": Load(moment=[0.0, 0.0, 45.0], body="rocker"),
        },
    )

    def rocker_angle(turn):
        tip = crank * np.array([np.cos(turn), np.sin(turn)])
        apart = tip - [base, 0.0]
        length = np.linalg.norm(apart)
        inner = np.arccos((rocker**2 + length**2 - coupler**2) / (2.0 * rocker * length))
        return np.arctan2(apart[1], apart[0]) - inner

    turns = np.linspace(0.4, 2.0 * np.pi + 0.4, 61)
    start = np.zeros(18)
    start[[5, 11, 12, 17]] = turns[0], 0.8, base, rocker_angle(turns[0])
    start[6:8] = crank * np.array([np.cos(turns[0]), np.sin(turns[0])])
    tip = np.array([base, 0.0]) + rocker * np.array([np.cos(start[17]), np.sin(start[17])])
    start[11] = np.arctan2(*(tip - start[6:8])[::-1])
    motion = np.tile(start, (61, 1))
    motion[:, 5] = turns
    free = ("coupler.x", "coupler.y", "coupler.theta_3", "rocker.theta_3")
    found = trace_equilibria(system, motion, free)
    angles = np.array([one.coordinates[17] for one in found])
    expected = np.unwrap([rocker_angle(turn) for turn in turns])
    # Hinges yield by some 1e-5 mm.
    np.testing.assert_allclose(angles, expected, atol=2e-6)
    gaps = [one.forces.parts[name].gap for one in found for name in ("first", "second")]
    assert max(gaps) < 1e-4
