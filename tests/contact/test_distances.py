"""Distances, corrections and directions: their formulas, their order, and their derivatives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.contact.foundation import (
    MATERIALS,
    ElasticLayer,
    LargeStrain,
    SmallStrain,
    ThreeParameter,
)
from kneewear.contact.pair import ContactPair
from kneewear.contact.traction import Damping, Friction
from kneewear.geometry.grid import build_grid
from kneewear.geometry.table import tabulate_surface
from tests.contact.test_distance_table import tables
from tests.contact.test_evaluation import history
from tests.physics.bodies import (
    MODULUS,
    UPRIGHT,
    flat_implant,
    gait_study,
    linear_layer,
    plate,
    pose_of,
    sphere,
)

pytestmark = pytest.mark.compiled

RADIUS = 30.0
HEIGHT = 8.0
METHODS = ("minimum_distance", "ray")
CORRECTIONS = ("none", "mid_surface")
DIRECTIONS = ("minimum_distance", "element_normal", "mid_surface")


def pair_over(implant, cells, **choices):
    grid = build_grid(implant, *cells)
    condyle = implant.femoral["medial"]
    pair = ContactPair(grid, 0, condyle, tabulate_surface(condyle, 81, 61), **choices)
    return pair, linear_layer(grid.thickness[0].ravel()[pair.index])


def on_all(pair, result):
    penetration = np.zeros(pair.index.size)
    penetration[result.element] = result.penetration
    return penetration


def angle_and_distances(pair, middle):
    """Of every element under a sphere: cosine at the element and at the hit, m and r."""
    arm = middle + [0.0, 0.0, 23.0] - pair.centre
    length = np.linalg.norm(arm, axis=1)
    nearest = RADIUS - length
    # Down along y: the sphere's surface lies below the centre by sqrt(R^2 - sideways^2).
    sideways = np.hypot(arm[:, 0], arm[:, 2])
    drop = np.sqrt(np.maximum(RADIUS**2 - sideways**2, 0.0))
    return arm[:, 1] / length, drop / RADIUS, nearest, drop - arm[:, 1]


@pytest.mark.parametrize(("method", "correction"), [*product(METHODS, CORRECTIONS)])
@pytest.mark.slow
def test_penetration_under_a_sphere_is_that_of_the_formula(method, correction):
    choices = {"method": method, "correction": correction}
    pair, layer = pair_over(flat_implant(sphere(RADIUS)), (40, 40), **choices)
    middle = np.array([0.3, HEIGHT + RADIUS - 0.4, -0.2])
    at_element, at_hit, nearest, way = angle_and_distances(pair, middle)
    cosine = at_element if method == "minimum_distance" else at_hit
    half = np.cos(0.5 * np.arccos(cosine))
    expected = {
        ("minimum_distance", "none"): nearest,
        ("minimum_distance", "mid_surface"): nearest / half,
        ("ray", "none"): way,
        ("ray", "mid_surface"): way * cosine / half,
    }[method, correction]
    found = on_all(pair, pair.evaluate(UPRIGHT, middle, layer))
    # Newton steps end below a nanometre, with the square of it left over.
    assert found == pytest.approx(np.where(nearest > 0, expected, 0.0), abs=1e-10)


def test_minimum_distance_is_the_smallest_and_the_ray_the_longest():
    study = gait_study()
    for frame in (0, 4, 8):
        depth = {}
        for choice in product(METHODS, CORRECTIONS):
            pair, layer = pair_over(study.implant, (40, 30), method=choice[0], correction=choice[1])
            depth[choice] = on_all(pair, pair.evaluate(*pose_of(history(), frame), layer))
        least, most = depth["minimum_distance", "none"], depth["ray", "none"]
        assert (least > 0).sum() > 50
        for method in METHODS:
            corrected = depth[method, "mid_surface"]
            assert (corrected >= least - 1e-10).all()
            assert (corrected <= most + 1e-10).all()
        assert most.max() > least.max()


def test_both_corrections_agree_under_a_plane():
    stamp = plate((-4.0, 4.0), (-4.0, 4.0)).reversed_normal()
    tilted = Rotation.from_rotvec([0.0, 0.0, 0.05]).as_matrix()
    found = []
    for method in METHODS:
        pair, layer = pair_over(
            flat_implant(stamp), (40, 40), method=method, correction="mid_surface"
        )
        found.append(on_all(pair, pair.evaluate(tilted, [0.0, HEIGHT - 0.05, 0.0], layer)))
    inner = (found[0] > 0) & (found[1] > 0)
    assert inner.sum() > 200
    assert found[0][inner] == pytest.approx(found[1][inner], abs=1e-12)


def test_corrections_of_a_conformal_pair_hardly_differ_from_the_distance():
    """A sphere in a cup of nearly its own radius faces every element head on."""
    cup = sphere(30.5).transformed(UPRIGHT, [0.0, 30.5 + HEIGHT, 23.0])
    implant = flat_implant(sphere(RADIUS))
    implant.insert["medial"] = cup.reversed_normal()
    depth = []
    for choice in product(METHODS, CORRECTIONS):
        pair, layer = pair_over(implant, (30, 30), method=choice[0], correction=choice[1])
        result = pair.evaluate(UPRIGHT, [0.0, HEIGHT + RADIUS - 0.2, 0.0], layer)
        depth.append(on_all(pair, result))
    assert (depth[0] > 0).sum() > 100
    # With centres 0.7 mm apart normals differ by that times the sine of 22 deg over 30 mm at most,
    # and the ray is longer than the minimum distance by half the square of it.
    angle = 0.7 * np.sin(np.radians(22.0)) / RADIUS
    for other in depth[1:]:
        assert other == pytest.approx(depth[0], abs=0.55 * angle**2 * depth[0].max())


VELOCITY = np.array([20.0, -5.0, 8.0, 0.3, -0.2, 1.0])
CHARACTERISTIC_LENGTH = np.array([1.0] * 3 + [30.0] * 3)
STEP = 1e-5 / CHARACTERISTIC_LENGTH
CASES = [
    (method, correction, direction, source, moving)
    for method, correction, direction in product(METHODS, CORRECTIONS, DIRECTIONS)
    for source, moving in product(("search", "table"), (False, True))
    if not (method == "ray" and source == "table")
]


@pytest.mark.parametrize(("method", "correction", "direction", "source", "moving"), CASES)
def test_derivatives_are_those_of_the_wrench(method, correction, direction, source, moving):
    choices = {"method": method, "correction": correction, "direction": direction}
    if source == "table":
        choices["distance_table"] = tables()["medial"]
    if moving:
        choices |= {"friction": Friction(0.1, 0.06, 2.0), "damping": Damping(0.02)}
    pair, layer = pair_over(gait_study().implant, (24, 20), **choices)
    rotation, translation = pose_of(history(), 3)
    velocity = VELOCITY if moving else None

    def wrench(twist, change):
        turn = Rotation.from_rotvec(twist[3:]).as_matrix()
        speed = None if velocity is None else velocity + change
        return pair.evaluate(turn @ rotation, translation + twist[:3], layer, speed).wrench

    result = pair.evaluate(rotation, translation, layer, velocity)
    scale = np.outer(CHARACTERISTIC_LENGTH, CHARACTERISTIC_LENGTH)
    numerical = [
        (wrench(s * e, 0.0) - wrench(-s * e, 0.0)) / (2 * s)
        for s, e in zip(STEP, np.eye(6), strict=True)
    ]
    error = (result.stiffness - np.transpose(numerical)) / scale
    # Asked for are 1e-5 of it; no element enters or leaves contact within these steps.
    assert np.abs(error).max() < 1e-7 * np.abs(result.stiffness[:3, :3]).max()
    if moving:
        faster = 1e-3 * np.eye(6)
        numerical = [(wrench(np.zeros(6), v) - wrench(np.zeros(6), -v)) / 2e-3 for v in faster]
        error = (result.damping - np.transpose(numerical)) / scale
        assert np.abs(error).max() < 1e-6 * np.abs(result.damping[:3, :3]).max()
    else:
        assert not result.damping.any()


@pytest.mark.parametrize(
    "law",
    [
        LargeStrain(MODULUS),
        ThreeParameter(MATERIALS["polyethylene_23c"], 0.46, "published"),
        ThreeParameter(MATERIALS["polyethylene_23c"], 0.46, "integrated", "large"),
        SmallStrain(MODULUS, cap=10.0),
    ],
    ids=["large strain", "published", "integrated at large strain", "capped"],
)
@pytest.mark.parametrize("source", ["search", "table"])
def test_stiffness_is_that_of_every_law(law, source):
    choices = {"distance_table": tables()["medial"]} if source == "table" else {}
    pair, layer = pair_over(gait_study().implant, (24, 20), **choices)
    layer = ElasticLayer(law, layer.thickness)
    rotation, translation = pose_of(history(), 3)

    def wrench(twist):
        turn = Rotation.from_rotvec(twist[3:]).as_matrix()
        return pair.evaluate(turn @ rotation, translation + twist[:3], layer).wrench

    stiffness = pair.evaluate(rotation, translation, layer).stiffness
    numerical = [
        (wrench(s * e) - wrench(-s * e)) / (2 * s) for s, e in zip(STEP, np.eye(6), strict=True)
    ]
    error = (stiffness - np.transpose(numerical)) / np.outer(
        CHARACTERISTIC_LENGTH, CHARACTERISTIC_LENGTH
    )
    assert np.abs(error).max() < 1e-7 * np.abs(stiffness[:3, :3]).max()
