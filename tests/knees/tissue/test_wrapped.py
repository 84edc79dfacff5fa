"""Forces of bundles that wrap: potential, derivatives, action and reaction, known cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.knees.tissue.bundles import Bundles
from kneewear.knees.tissue.wrapping import WrapObject
from kneewear.mechanics.bodies import BodyForces, BodyPoses
from kneewear.mechanics.tension_laws import constant, linear, quadratic_to_linear, tabulated
from tests.refusals import refused_at

BODIES = ("femur", "tibia", "patella")
TURN = Rotation.from_rotvec([0.2, -0.3, 0.1]).as_matrix()
CYLINDER = WrapObject("Knee", "cylinder", "femur", [20.0, 0.0, 0.0], TURN, [2.0, -3.0, 4.0])
BALL = WrapObject("Ball", "sphere", "tibia", [8.0, 0.0, 0.0], TURN, [1.0, 30.0, 2.0])
EGG = WrapObject("Egg", "ellipsoid", "patella", [22.0, 24.0, 18.0], TURN, [0.0, 1.0, 0.0])


def poses(velocity=0.0):
    random = np.random.default_rng(3)
    turns = Rotation.from_rotvec(0.2 * random.normal(size=(3, 3))).as_matrix()
    places = [[0.0, 0.0, 0.0], [3.0, -60.0, 2.0], [35.0, -10.0, 4.0]]
    return BodyPoses.at_rest(turns, places)._replace(velocity=velocity * random.normal(size=(3, 6)))


def bundles(damping=0.0):
    """Over a cylinder, a ball, an egg and nothing, one of them with a point between."""
    paths = (
        (("femur", [15.0, 40.0, 5.0]), ("tibia", [10.0, 20.0, 2.0])),
        (("femur", [9.0, -5.0, -1.0]), ("tibia", [9.0, 9.0, 2.0])),
        (("femur", [42.0, 25.0, -3.0]), ("tibia", [36.0, 15.0, 4.0])),
        (("femur", [10.0, 5.0, 0.0]), ("tibia", [0.0, 5.0, 6.0])),
        (
            ("femur", [26.0, 50.0, 5.0]),
            ("patella", [-2.0, 24.0, 0.0]),
            ("patella", [0.0, 19.0, 1.0]),
            ("tibia", [30.0, 10.0, 2.0]),
        ),
    )
    names = tuple(f"b{n}" for n in range(len(paths)))
    obstacles = (CYLINDER, BALL, EGG, None, CYLINDER)
    free = Bundles(names, BODIES, paths, linear(np.ones(5), 1.0), obstacles)
    length = free.evaluate(poses()).length
    law = quadratic_to_linear(
        length / np.array([1.1, 1.03, 1.05, 1.08, 1.02]), 900.0, damping_time=damping
    )
    return free.with_law(law)


def total_of(action, at):
    total = BodyForces.zero(3)
    action.add(at, total)
    return total


def moved(at, motion):
    motion = motion.reshape(3, 6)
    turn = Rotation.from_rotvec(motion[:, 3:]).as_matrix()
    return at._replace(rotation=turn @ at.rotation, translation=at.translation + motion[:, :3])


def differences(function, step=1e-4):
    moves = step * np.eye(18)
    return np.stack([(function(m) - function(-m)) / (2 * step) for m in moves], axis=-1)


def test_forces_are_the_negative_gradient_of_the_energy():
    action, at = bundles(), poses()
    slope = differences(lambda m: total_of(action, moved(at, m)).energy[0])
    wrench = total_of(action, at).wrench
    np.testing.assert_allclose(wrench, -slope, atol=1e-5 * np.abs(slope).max())


def test_stiffness_is_the_derivative_of_the_forces():
    action, at = bundles(), poses()
    slope = differences(lambda m: total_of(action, moved(at, m)).wrench)
    found = total_of(action, at).stiffness
    np.testing.assert_allclose(found, slope, atol=1e-6 * np.abs(slope).max())


def test_muscles_with_tensions_over_length_have_a_potential_and_exact_stiffness():
    # Straight and wrapped ones are summed by different kernels.
    whole, at = bundles(), poses()
    tables = [
        (length + np.array([-4.0, -1.0, 2.0, 5.0]), [1.0, 20.0, 80.0, 90.0])
        for length in whole.evaluate(at).length
    ]
    for action in (whole.with_law(tabulated(tables)), whole.straight.with_law(tabulated(tables))):
        found = total_of(action, at)
        slope = differences(lambda m, one=action: total_of(one, moved(at, m)).energy[0])
        np.testing.assert_allclose(found.wrench, -slope, atol=1e-5 * np.abs(slope).max())
        slope = differences(lambda m, one=action: total_of(one, moved(at, m)).wrench)
        np.testing.assert_allclose(found.stiffness, slope, atol=1e-6 * np.abs(slope).max())


def test_stiffness_of_directions_around_an_ellipsoid_is_exact():
    whole, at = bundles(), poses()
    action = whole.chosen([2]).with_law(constant([100.0]))
    slope = differences(lambda m: total_of(action, moved(at, m)).wrench)
    found = total_of(action, at).stiffness
    np.testing.assert_allclose(found, slope, atol=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("kind", ["cylinder", "sphere"])
@pytest.mark.parametrize("sided", [False, True])
def test_directions_around_round_objects_turn_as_their_differences_say(kind, sided):
    """Ends anywhere, the shorter way around or past a stated side."""
    random = np.random.default_rng(7)
    judged = longest = 0
    for _ in range(250):
        turn = Rotation.random(random_state=random).as_matrix()
        side = random.normal(size=3) * ([1, 1, 0] if kind == "cylinder" else 1) * sided
        obstacle = WrapObject("round", kind, "femur", [10.0, 0.0, 0.0], turn, [3.0, 1.0, 2.0], side)
        one, other = np.array([3.0, 1.0, 2.0]) + 12.0 * random.normal(size=(2, 3))
        path = (("femur", one), ("tibia", other))
        bodies = ("femur", "tibia")
        action = Bundles(("tendon",), bodies, (path,), constant([1.0]), (obstacle,))
        at = BodyPoses.at_rest([np.eye(3)] * 2, np.zeros((2, 3)))

        def pulled(shift, action=action, at=at):
            total = BodyForces.zero(2)
            moved = at.translation + np.array([np.zeros(3), shift])
            action.add(at._replace(translation=moved), total)
            return total

        total = pulled(np.zeros(3))
        length = action.evaluate(at).length[0]
        if length <= np.linalg.norm(other - one) + 0.5:  # straight, or hardly bent
            continue
        slope = np.stack(
            [(pulled(h).wrench - pulled(-h).wrench) / 2e-5 for h in 1e-5 * np.eye(3)], axis=-1
        )
        found = total.stiffness[:, 6:9]
        np.testing.assert_allclose(found, slope, atol=1e-6 * np.abs(slope).max())
        judged += 1
        longest = max(longest, length)
    assert judged >= 8
    assert longest > (40.0 if sided and kind == "cylinder" else 20.0)


def test_damping_is_the_derivative_over_velocities():
    action, at = bundles(0.01), poses(5.0)
    found = total_of(action, at)
    for number in (0, 4, 9, 17):
        rates = np.zeros((3, 6))
        rates[number // 6, number % 6] = 1e-3
        ends = [total_of(action, at._replace(velocity=at.velocity + w * rates)) for w in (1, -1)]
        slope = (ends[0].wrench - ends[1].wrench) / 2e-3
        np.testing.assert_allclose(found.damping[:, number], slope, atol=1e-6)


def test_action_equals_reaction():
    at = poses()
    wrench = total_of(bundles(), at).wrench.reshape(3, 6)
    np.testing.assert_allclose(wrench[:, :3].sum(0), 0.0, atol=1e-9)
    about = wrench[:, 3:] + np.cross(at.translation, wrench[:, :3])
    np.testing.assert_allclose(about.sum(0), 0.0, atol=1e-7)


def test_a_tendon_over_a_pulley_loads_its_axle():
    pulley = WrapObject("pulley", "cylinder", "femur", [10.0, 0.0, 0.0], side=[0.0, 1.0, 0.0])
    path = (("tibia", [-30.0, 0.0, 0.0]), ("patella", [30.0, 0.0, 0.0]))
    tendon = Bundles(("tendon",), BODIES, (path,), constant([50.0]), (pulley,))
    at = BodyPoses.at_rest([np.eye(3)] * 3, [[0, 0, 0], [0, -5, 0], [0, -5, 0]])
    total = BodyForces.zero(3)
    found = tendon.add(at, total)
    away, tangent = np.hypot(30.0, 5.0), np.sqrt(30.0**2 + 5.0**2 - 10.0**2)
    # Half the arc: from straight up to where the tangent from the end touches.
    half = np.pi / 2 + np.arctan2(5.0, 30.0) - np.arccos(10.0 / away)
    assert found.length == pytest.approx([2.0 * (tangent + 10.0 * half)])
    force = total.wrench.reshape(3, 6)[:, :3]
    up = 50.0 * np.sin(half)
    np.testing.assert_allclose(force[0], [0, -2.0 * up, 0], atol=1e-9)
    np.testing.assert_allclose(force[1], [50.0 * np.cos(half), up, 0], atol=1e-9)


def test_an_attachment_inside_its_obstacle_is_named():
    path = (("femur", [2.0, 0.0, 4.0]), ("tibia", [28.0, 20.0, 2.0]))
    inside = Bundles(("MCL",), BODIES, (path,), linear(1.0, 1.0), (CYLINDER,))
    assert refused_at(inside.check, poses()) == "bundle MCL"
    assert inside.evaluate(poses()).tension[0] > 0.0
