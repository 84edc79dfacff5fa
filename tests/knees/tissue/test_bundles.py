"""Forces of bundles: potential, exact derivatives, action and reaction, frames, mirror image."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.knees.tissue.bundles import Bundles
from kneewear.mechanics.bodies import BodyForces, BodyPoses
from kneewear.mechanics.tension_laws import TensionLaw, linear, quadratic, quadratic_to_linear

BODIES = ("femur", "tibia", "patella")


def random_poses(seed=1, velocity=0.0):
    random = np.random.default_rng(seed)
    turns = Rotation.from_rotvec(random.normal(0.0, 0.6, (3, 3))).as_matrix()
    poses = BodyPoses.at_rest(turns, random.normal(0.0, 30.0, (3, 3)))
    return poses._replace(velocity=velocity * random.normal(0.0, 1.0, (3, 6)))


def random_bundles(count=12, damping=0.0, seed=3):
    """Paths of two to five points over all bodies; most are taut, in all three laws."""
    random = np.random.default_rng(seed)
    paths = []
    for _ in range(count):
        number = random.integers(2, 6)
        on = random.integers(0, 3, number)
        on[-1] = (on[0] + 1) % 3
        paths.append(tuple((BODIES[b], random.normal(0.0, 25.0, 3)) for b in on))
    law = linear(np.ones(count), 1.0)
    loose = Bundles(tuple(f"b{n}" for n in range(count)), BODIES, tuple(paths), law)
    length = loose.evaluate(random_poses()).length
    slack = length / random.choice([0.9, 1.03, 1.2], count)
    third = count // 3
    parts = [
        quadratic(slack[:third], 30.0, damping),
        quadratic_to_linear(slack[third : 2 * third], 800.0, 0.06, damping),
        linear(slack[2 * third :], 50.0, damping),
    ]
    joined = TensionLaw(
        *(np.concatenate(part) for part in zip(*(p.arrays for p in parts), strict=True))
    )
    return loose.with_law(joined)


def moved(poses, motion):
    """Poses after a small motion (n, 6) of each body: translation, and turn about its origin."""
    turn = Rotation.from_rotvec(motion[:, 3:]).as_matrix()
    return poses._replace(
        rotation=turn @ poses.rotation, translation=poses.translation + motion[:, :3]
    )


def total_of(bundles, poses):
    total = BodyForces.zero(len(bundles.bodies))
    bundles.add(poses, total)
    return total


def differences(function, size, step=1e-5):
    columns = []
    for number in range(size):
        motion = np.zeros(size)
        motion[number] = step
        columns.append((function(motion) - function(-motion)) / (2 * step))
    return np.stack(columns, axis=-1)


def test_forces_are_the_negative_gradient_of_the_energy():
    bundles, poses = random_bundles(), random_poses()
    total = total_of(bundles, poses)
    slope = differences(
        lambda motion: total_of(bundles, moved(poses, motion.reshape(3, 6))).energy[0], 18
    )
    assert np.abs(total.wrench).max() > 100.0
    np.testing.assert_allclose(total.wrench, -slope, atol=1e-5 * np.abs(slope).max())


@pytest.mark.parametrize("damping", [0.0, 0.004])
def test_stiffness_is_the_derivative_of_the_forces(damping):
    bundles, poses = random_bundles(damping=damping), random_poses(velocity=40.0)
    total = total_of(bundles, poses)
    slope = differences(
        lambda motion: total_of(bundles, moved(poses, motion.reshape(3, 6))).wrench, 18
    )
    np.testing.assert_allclose(total.stiffness, slope, atol=1e-6 * np.abs(slope).max())


def test_damping_is_the_derivative_over_velocities_and_takes_energy():
    bundles, poses = random_bundles(damping=0.004), random_poses(velocity=40.0)
    total = total_of(bundles, poses)

    def changed(rates):
        return total_of(bundles, poses._replace(velocity=poses.velocity + rates.reshape(3, 6)))

    slope = differences(lambda rates: changed(rates).wrench, 18, 1e-4)
    np.testing.assert_allclose(total.damping, slope, atol=1e-6 * np.abs(slope).max())
    still = total_of(bundles, poses._replace(velocity=0.0 * poses.velocity))
    assert (total.wrench - still.wrench) @ poses.velocity.ravel() < 0.0


def test_action_equals_reaction():
    poses = random_poses(velocity=40.0)
    wrench = total_of(random_bundles(damping=0.004), poses).wrench.reshape(3, 6)
    force, moment = wrench[:, :3], wrench[:, 3:]
    size = np.abs(force).max()
    np.testing.assert_allclose(force.sum(0), 0.0, atol=1e-12 * size)
    about = (moment + np.cross(poses.translation, force)).sum(0)
    np.testing.assert_allclose(about, 0.0, atol=1e-10 * size * 30.0)


def test_a_rigid_motion_of_everything_turns_the_forces_along():
    bundles, poses = random_bundles(), random_poses()
    turn = Rotation.from_rotvec([0.4, -1.0, 0.7]).as_matrix()
    shift = np.array([100.0, -40.0, 7.0])
    whole = BodyPoses.at_rest(turn @ poses.rotation, poses.translation @ turn.T + shift)
    before, after = total_of(bundles, poses), total_of(bundles, whole)
    expected = before.wrench.reshape(-1, 3) @ turn.T
    np.testing.assert_allclose(after.wrench.reshape(-1, 3), expected, atol=1e-9)
    assert after.energy[0] == pytest.approx(before.energy[0], rel=1e-12)


def test_a_left_knee_mirrors_a_right_one():
    bundles, poses = random_bundles(), random_poses()
    mirror = np.diag([-1.0, 1.0, 1.0])
    paths = tuple(tuple((body, mirror @ point) for body, point in path) for path in bundles.paths)
    left = Bundles(bundles.names, BODIES, paths, bundles.law)
    mirrored = BodyPoses.at_rest(mirror @ poses.rotation @ mirror, poses.translation @ mirror)
    wrench = total_of(bundles, poses).wrench.reshape(3, 2, 3)
    other = total_of(left, mirrored).wrench.reshape(3, 2, 3)
    np.testing.assert_allclose(other[:, 0], wrench[:, 0] @ mirror, atol=1e-10)
    # A moment is an axial vector.
    np.testing.assert_allclose(other[:, 1], -wrench[:, 1] @ mirror, atol=1e-9)


def test_a_bundle_over_inner_points_pulls_with_one_tension():
    path = (("femur", (0.0, 0.0, 0.0)), ("patella", (0.0, 3.0, 0.0)), ("tibia", (4.0, 3.0, 0.0)))
    bundles = Bundles(("tendon",), BODIES, (path,), linear([5.0], [10.0]))
    poses = BodyPoses.at_rest(np.stack([np.eye(3)] * 3), np.zeros((3, 3)))
    total = BodyForces.zero(3)
    found = bundles.add(poses, total)
    assert found.length == pytest.approx([7.0])
    assert found.tension == pytest.approx([20.0])
    force = total.wrench.reshape(3, 6)[:, :3]
    np.testing.assert_allclose(force, [[0, 20, 0], [-20, 0, 0], [20, -20, 0]])
