"""Joints: gradient of an energy, constraint forces of a lever, and what each kind leaves free."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.mechanics.loads import Load
from kneewear.multibody.actions import Contact
from kneewear.multibody.equilibrium import solve_system
from kneewear.multibody.joints import Joint
from kneewear.multibody.system import BODY_THREE, Body, System

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
    law, free = joint(kind), {"hinge": [turn], "ball": [turn, Rotation.from_rotvec([0, 0.3, 0])
                              .as_matrix()], "planar": [turn]}[kind]  # fmt: skip
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
