"""Distances, corrections and directions: their formulas, their order, and their derivatives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.contact.pair import ContactPair
from kneewear.contact.traction import Damping, Friction
from kneewear.geometry.grid import build_grid
from kneewear.geometry.table import tabulate_surface
from tests.contact.test_distance_table import tables
from tests.contact.test_evaluation import history
from tests.physics.bodies import (
    UPRIGHT,
    flat_implant,
    gait_study,
    linear_layer,
    pose_of,
    sphere,
)

pytestmark = pytest.mark.compiled

RADIUS, HEIGHT = 30.0, 8.0
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


VELOCITY = np.array([20.0, -5.0, 8.0, 0.3, -0.2, 1.0])
LEVER = np.array([1.0] * 3 + [30.0] * 3)
STEP = 1e-5 / LEVER
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
    scale = np.outer(LEVER, LEVER)
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
