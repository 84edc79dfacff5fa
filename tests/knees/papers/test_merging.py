"""One bundle in place of several: what it keeps of them."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.knees.papers.knee_extension.merging import mean_path, merge_ligaments, merge_muscles
from kneewear.knees.tissue.bundles import Bundles
from kneewear.knees.tissue.wrapping import WrapObject
from kneewear.mechanics.bodies import BodyPoses
from kneewear.mechanics.tension_laws import constant, quadratic_to_linear
from tests.refusals import refused_at

BODIES = ("femur", "tibia")
ROD = WrapObject("rod", "cylinder", "femur", (5.0, 0.0, 0.0))


def poses(drop=0.0):
    places = np.array([[0.0, 0.0, 0.0], [0.0, -drop, 0.0]])
    return BodyPoses(np.stack([np.eye(3)] * 2), places, np.zeros((2, 6)), 0.0)


def fibre(z, length=40.0):
    return ("femur", np.array([20.0, 0.0, z])), ("tibia", np.array([20.0, -length, z]))


def bundles(paths, slack, stiffness, obstacles=None):
    names = tuple(f"b{n}" for n in range(len(paths)))
    law = quadratic_to_linear(slack, stiffness)
    return Bundles(names, BODIES, paths, law, obstacles)


def test_parallel_fibres_and_their_bundle_pull_alike():
    fibres = bundles((fibre(-4.0), fibre(4.0)), [38.0, 38.0], [300.0, 500.0])
    one = merge_ligaments(fibres, {"both": [0, 1]}, poses())
    np.testing.assert_allclose(one.paths[0][0][1], [20.0, 0.0, 0.0])
    for drop in (-3.0, 0.5, 4.0):
        pulled = fibres.evaluate(poses(drop)).tension.sum()
        assert one.evaluate(poses(drop)).tension[0] == pytest.approx(pulled, abs=1e-9)


def test_its_strain_is_the_mean_one_where_they_are_merged():
    fibres = bundles((fibre(0.0, 40.0), fibre(6.0, 50.0)), [39.0, 52.0], 400.0)
    one = merge_ligaments(fibres, {"both": [0, 1]}, poses(1.0))
    wanted = np.mean([41.0 / 39.0, 51.0 / 52.0]) - 1.0
    assert one.law.strain(one.evaluate(poses(1.0)).length)[0] == pytest.approx(wanted)


def test_it_is_slack_at_zero_force_and_once_differentiable_at_the_transition():
    fibres = bundles((fibre(0.0), fibre(1.0)), [40.0, 40.0], 400.0)
    law = merge_ligaments(fibres, {"both": [0, 1]}, poses()).law
    slack, knee = law.slack_length, law.slack_length + law.transition
    assert law.tension(slack)[0] == law.stiffness(slack)[0] == 0.0
    assert law.tension(0.9 * slack)[0] == 0.0
    step = 1e-6
    for name in ("tension", "stiffness"):
        below, above = (getattr(law, name)(knee + side * step)[0] for side in (-1.0, 1.0))
        assert below == pytest.approx(above, rel=1e-5)
    assert knee[0] == pytest.approx(1.06 * slack[0])


def test_a_tendon_has_the_force_weighted_ends_of_its_muscles():
    points = ([0.0, 90.0, 0.0], [10.0, 50.0, 4.0], [10.0, 0.0, 8.0], [0.0, -9.0, 8.0])
    on = ("femur", "femur", "tibia", "tibia")
    inner = tuple((body, np.array(point)) for body, point in zip(on, points, strict=True))
    law = constant([1.0, 3.0])
    muscles = Bundles(("a", "b"), BODIES, (inner, fibre(0.0)), law, (None, ROD))
    tendon = merge_muscles("quadriceps", muscles)
    (one, start), (other, end) = tendon.paths[0]
    assert (one, other, tendon.obstacles) == ("femur", "tibia", (ROD,))
    np.testing.assert_allclose(start, [17.5, 12.5, 1.0])
    np.testing.assert_allclose(end, [17.5, -30.0, 2.0])
    assert tendon.evaluate(poses()).tension[0] == 1.0


def test_bundles_between_different_bodies_are_not_merged():
    three = Bundles(
        ("MCL1", "PT1"),
        ("femur", "tibia", "patella"),
        (fibre(0.0), (("patella", np.zeros(3)), ("tibia", np.ones(3)))),
        quadratic_to_linear([10.0, 10.0], 400.0),
    )
    assert refused_at(mean_path, three, [0, 1]) == "bundles MCL1 and PT1"
