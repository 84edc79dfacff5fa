"""Bundles over surfaces of any shape, beside bundles over an exact sphere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.errors import InputDataError
from kneewear.mechanics.bodies import BodyForces, BodyPoses, UnknownBodyError
from kneewear.multibody.equilibrium import solve_system
from kneewear.multibody.system import Body, System
from kneewear.tissue.bundles import Bundles, WrappedBundles
from kneewear.tissue.laws import constant, linear
from kneewear.tissue.muscle_string import MeshObstacle
from kneewear.tissue.surface_bundles import SurfaceBundles, Wrapping
from kneewear.tissue.wrapping import WrapObject
from tests.tissue.test_muscle_string import ball

BODIES, RADIUS = ("femur", "tibia", "patella"), 20.0
# From the tibia over a sphere of the femur to the patella, whose mesh has another side.
PATH = (("tibia", [-30.0, 4.0, 2.0]), ("patella", [26.0, 6.0, 9.0]))


class Sphere:
    """An obstacle without facets, about the origin of its frame."""

    def closest(self, points):
        away = np.linalg.norm(points, axis=1)
        outward = points / away[:, None]
        return RADIUS * outward, outward, away - RADIUS


def poses():
    turns = Rotation.from_rotvec([[0.1, 0.2, -0.1], [0.05, 0.1, 0.2], [-0.1, 0.0, 0.1]])
    return BodyPoses.at_rest(turns.as_matrix(), [[1.0, 2.0, 3.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])


def over(obstacle, law, nodes=40, body="femur"):
    plain = Bundles(("tendon",), BODIES, (PATH,), law)
    return SurfaceBundles(plain, (Wrapping(body, (obstacle,)),), nodes=nodes, tolerance=1e-8)


def exact(law):
    plain = Bundles(("tendon",), BODIES, (PATH,), law)
    return WrappedBundles(plain, (WrapObject("ball", "sphere", "femur", [RADIUS, 0.0, 0.0]),))


def total_of(action, at):
    total = BodyForces.zero(3)
    return action.add(at, total), total


def moved(at, motion):
    motion = motion.reshape(3, 6)
    turn = Rotation.from_rotvec(motion[:, 3:]).as_matrix()
    return at._replace(rotation=turn @ at.rotation, translation=at.translation + motion[:, :3])


LAW = linear(60.0, 50.0)


def test_length_and_forces_approach_those_over_an_exact_sphere():
    at = poses()
    pulls, wrench = total_of(exact(LAW), at)
    errors, apart = [], []
    for nodes in (20, 80):
        found, total = total_of(over(Sphere(), LAW, nodes), at)
        errors.append(float(pulls.length[0] - found.length[0]))
        apart.append(np.abs(total.wrench - wrench.wrench).max() / np.abs(wrench.wrench).max())
    assert pulls.length[0] - np.linalg.norm(np.diff(exact(LAW).bundles.lines(at)[0], axis=0)) > 1.0
    assert 0.0 < errors[1] < errors[0] / 8.0 and errors[1] < 0.01
    assert apart[1] < 0.005 and apart[1] < apart[0]


def test_action_equals_reaction_of_the_obstacle():
    at = poses()
    for obstacle in (Sphere(), MeshObstacle(_mesh())):
        wrench = total_of(over(obstacle, LAW), at)[1].wrench.reshape(3, 6)
        assert np.abs(wrench[0, :3]).max() > 100.0
        np.testing.assert_allclose(wrench[:, :3].sum(0), 0.0, atol=1e-9)
        about = wrench[:, 3:] + np.cross(at.translation, wrench[:, :3])
        np.testing.assert_allclose(about.sum(0), 0.0, atol=1e-7)


def test_forces_are_the_gradient_of_the_energy_within_the_error_of_nodes():
    action, at, step = over(Sphere(), LAW, 80), poses(), 0.05
    moves = step * np.eye(18)
    slope = [
        (total_of(action, moved(at, m))[1].energy - total_of(action, moved(at, -m))[1].energy)[0]
        / (2.0 * step)
        for m in moves
    ]
    wrench = total_of(action, at)[1].wrench
    np.testing.assert_allclose(wrench, -np.array(slope), atol=0.01 * np.abs(wrench).max())


def test_a_body_hung_over_a_bone_comes_to_rest_where_its_forces_balance():
    """Two tendons of equal tension over one sphere: the patella rests between their anchors."""
    law = constant([100.0, 100.0])
    paths = (
        (("femur", [-30.0, -5.0, 0.0]), ("patella", [0.0, 0.0, 0.0])),
        (("femur", [30.0, -5.0, 0.0]), ("patella", [0.0, 0.0, 0.0])),
    )
    begins = tuple(
        RADIUS * 1.2 * np.column_stack([sign * np.sin(turn), np.cos(turn), 0.0 * turn])
        for sign, turn in ((-1.0, np.linspace(1.6, 0.1, 30)), (1.0, np.linspace(1.6, 0.1, 30)))
    )
    plain = Bundles(("one", "other"), ("femur", "patella"), paths, law)
    wrappings = tuple(Wrapping("femur", (Sphere(),), begin) for begin in begins)
    action = SurfaceBundles(plain, wrappings, nodes=30)
    system = System("femur", (Body("patella"),), {"tendons": action})
    found = solve_system(system, [3.0, 26.0, 0.0, 0.0, 0.0, 0.0], ("patella.x",))
    assert found.coordinates[0] == pytest.approx(0.0, abs=0.05)


def test_faulty_wrappings_are_refused():
    with pytest.raises(UnknownBodyError, match="obstacles of a bundle: found body 'fibula'"):
        over(Sphere(), LAW, body="fibula")
    plain = Bundles(("tendon",), BODIES, (PATH,), LAW)
    with pytest.raises(ValueError, match="found wrappings of 0 of 1 bundles"):
        SurfaceBundles(plain, ())
    inside = Bundles(("tendon",), BODIES, ((("femur", [1.0, 0.0, 0.0]), PATH[1]),), LAW)
    with pytest.raises(InputDataError, match="muscle tendon: found its start"):
        SurfaceBundles(inside, (Wrapping("femur", (Sphere(),)),)).evaluate(poses())


def _mesh():
    mesh = ball()
    return type(mesh)(RADIUS * mesh.vertices, mesh.faces)
