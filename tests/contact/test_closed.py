"""Forces of closed spheres, cylinders and cones in all orientations: analytical solutions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kneewear.contact.foundation import ElasticLayer, SmallStrain
from kneewear.contact.pair import ContactModel
from kneewear.geometry.primitives import revolved
from kneewear.geometry.table import tabulate_surface
from tests.contact import closed_bodies
from tests.contact.closed_bodies import (
    RADIUS,
    bodies,
    body_pair,
    closed_sphere,
    lowest,
    pair_of,
    plate_grid,
)

pytestmark = pytest.mark.compiled

HALF = closed_bodies.HALF
ROUND = closed_bodies.ROUND
MODULUS = 100.0
THICKNESS = 8.0
DEPTH = 0.5
STIFFNESS = MODULUS / THICKNESS
FACING = 0.1
# The pole or tip at -z and that at +z turned straight down, seams down, and any others.
TURNS = {
    "axis across, seam up": Rotation.identity(),
    "axis across, seam down": Rotation.from_rotvec([0.0, 0.0, np.pi]),
    "axis across, seam aside": Rotation.from_rotvec([0.0, 0.0, 1.0]),
    "axis along rows": Rotation.from_rotvec([0.0, np.pi / 2, 0.0]),
    "-z down": Rotation.from_rotvec([np.pi / 2, 0.0, 0.0]).inv(),
    "+z down": Rotation.from_rotvec([np.pi / 2, 0.0, 0.0]),
    "nearly +z down": Rotation.from_rotvec([np.pi / 2 - 0.01, 0.02, 0.0]),
    "nearly -z down": Rotation.from_rotvec([0.01 - np.pi / 2, 0.0, 1e-6]),
    **{f"random {n}": turn for n, turn in enumerate(Rotation.random(6, random_state=3))},
}


def layer_of(pair):
    return ElasticLayer(SmallStrain(MODULUS), np.full(pair.index.size, THICKNESS))


def pressed(body, turn, depth=DEPTH, **choices):
    """Pair, pose and result of a body, named or of patches, at a depth in the plane y = 0."""
    named = isinstance(body, str)
    pair, rotation = (body_pair if named else pair_of)(body, **choices), turn.as_matrix()
    patches = bodies()[body].patches if named else body
    place = np.array([0.013, -lowest(patches, rotation) - depth, 0.007])
    return pair, rotation, place, pair.evaluate(rotation, place, layer_of(pair))


def wrench_of(body, pair, rotation, place):
    """Wrench of the elements by the closed form of the distance, and how many touch."""
    arm = pair.centre - place
    distance, outward = body.distance(arm @ rotation)
    normal = outward @ rotation.T
    active = (distance < 0) & (-(normal * pair.normal).sum(axis=1) > FACING)
    force = (STIFFNESS * pair.area * distance)[active, None] * normal[active]
    return np.concatenate([force.sum(0), np.cross(arm[active], force).sum(0)]), active.sum()


@pytest.mark.parametrize(
    "turn",
    [pytest.param(turn, marks=pytest.mark.slow) if "random" in turn else turn for turn in TURNS],
)
@pytest.mark.parametrize("name", bodies())
def test_no_element_of_a_closed_body_is_lost(name, turn):
    body = bodies()[name]
    pair, rotation, place, found = pressed(name, TURNS[turn])
    wrench, active = wrench_of(body, pair, rotation, place)
    assert active >= 5
    assert found.active_elements == active
    scale = np.repeat([1.0, 10.0], 3) * np.linalg.norm(wrench[:3])
    assert np.abs(found.wrench - wrench) / scale == pytest.approx(np.zeros(6), abs=1e-8)


def sphere_force(depth):
    """Of the minimum distance to a sphere whose centre is at a height over the plane: exact."""
    return np.pi * STIFFNESS * (RADIUS - depth) * depth**2


def lying_force(depth):
    """Of a cylinder on its side; elements nearer to its ends than to its wall do not face it."""
    height = RADIUS - depth
    half = np.sqrt(RADIUS**2 - height**2)
    angle = np.arcsinh(half / height)
    whole = RADIUS * angle - half
    ends = RADIUS**2 * angle - 2 * RADIUS * half + 0.5 * (half * RADIUS + height**2 * angle)
    return 4.0 * STIFFNESS * height * (HALF * whole - ends)


def tip_force(depth):
    """Of a cone on its tip."""
    sine, cosine = np.array([RADIUS, HALF]) / np.hypot(RADIUS, HALF)
    return np.pi / 3.0 * STIFFNESS * (sine**2 / cosine) ** 2 * depth**3


def standing_force(depth):
    """Of a flat round end; elements nearer to the wall than to the end do not face it."""
    return np.pi * STIFFNESS * depth * (RADIUS - depth) ** 2


@pytest.mark.parametrize(
    ("name", "turns", "depth", "force"),
    [
        ("sphere", TURNS, DEPTH, sphere_force),
        pytest.param("hemispheres", TURNS, DEPTH, sphere_force, marks=pytest.mark.slow),
        ("cylinder", list(TURNS)[:4], DEPTH, lying_force),
        ("cylinder", ["-z down", "+z down"], DEPTH, standing_force),
        ("cone", ["-z down"], 2.0, tip_force),
    ],
)
def test_force_is_that_of_the_integral(name, turns, depth, force):
    for turn in turns:
        *_, found = pressed(name, TURNS[turn], depth)
        # Elements of 0.35 mm: 1 % of the contact's radius squared, and its irregular border.
        assert found.wrench[1] == pytest.approx(force(depth), rel=0.02)


@pytest.mark.parametrize("turn", ["-z down", "axis across, seam down", "random 0"])
def test_rays_meet_closed_bodies(turn):
    pair, rotation, place, found = pressed("sphere", TURNS[turn], method="ray")
    arm = place - pair.centre[found.element]
    sideways = np.hypot(arm[:, 0], arm[:, 2])
    assert found.active_elements > 300
    assert found.penetration == pytest.approx(
        np.sqrt(RADIUS**2 - sideways**2) - arm[:, 1], abs=1e-8
    )
    halves = body_pair("hemispheres", method="ray")
    halves = halves.evaluate(rotation, place, layer_of(halves))
    assert halves.wrench == pytest.approx(found.wrench, abs=1e-7 * found.wrench[1])


@pytest.mark.parametrize("name", bodies())
def test_derivatives_hold_at_poles_and_seams(name):
    for turn in ("-z down", "axis across, seam down", "random 1"):
        pair, rotation, place, found = pressed(name, TURNS[turn], 0.3)
        step, layer = 1e-6, layer_of(pair)
        for axis in range(3):
            move = step * np.eye(3)[axis]
            ahead, behind = (
                pair.evaluate(rotation, place + sign * move, layer) for sign in (1.0, -1.0)
            )
            if ahead.active_elements != behind.active_elements:
                continue
            slope = (ahead.wrench - behind.wrench) / (2 * step)
            scale = np.abs(found.stiffness).max()
            assert np.abs(found.stiffness[:, axis] - slope).max() < 2e-6 * scale


def test_the_body_inside_a_groove_is_kept():
    """Elements whose nearest point is an edge that runs into the body are at that distance."""
    # Faces of 45 deg that meet in a groove, from below: the edge runs along z at y = 0.
    slopes = []
    for sign in (1.0, -1.0):
        x = np.array([0.0, 10.0 * sign])
        points = np.stack(
            [
                np.tile(x[:, None], (1, 2)),
                np.tile(-np.abs(x)[:, None], (1, 2)),
                np.tile([-10.0, 10.0], (2, 1)),
            ],
            axis=-1,
        )
        knots = np.array([0.0, 0.0, 1.0, 1.0])
        patch = type(closed_sphere())(points, np.ones((2, 2)), knots, knots, 1, 1)
        slopes.append(patch if patch.normal(0.5, 0.5)[1] < 0 else patch.reversed_normal())
    grid = plate_grid(41, 4.0)
    pair = pair_of(tuple(slopes), grid)
    found = pair.evaluate(np.eye(3), [0.0, -0.5, 0.0], layer_of(pair))
    x = np.abs(pair.centre[:, 0])
    # Below the edge by 0.5: the faces are met beyond x = 0.5 only.
    depth = np.where(x < 0.5, np.hypot(x, 0.5), (x + 0.5) / np.sqrt(2.0))
    assert found.active_elements == pair.index.size
    assert found.penetration[np.argsort(found.element)] == pytest.approx(depth, abs=1e-9)


def test_an_open_end_stays_open():
    """Beside the rim of an open sheet is no body, also where a seam or two patches end on it."""
    cup = revolved(*closed_bodies.meridian(-np.pi / 2, -0.6), ROUND, 4)
    turn = Rotation.from_rotvec([0.0, 0.0, 0.4]) * TURNS["-z down"]
    pair, rotation, place, found = pressed((cup,), turn, 6.0)
    local = (pair.centre[found.element] - place) @ rotation
    rim = np.sin(-0.6)
    # The nearest point of the sphere lies on the sheet.
    assert (local[:, 2] / np.linalg.norm(local, axis=1) < rim + 1e-9).all()
    halves = tuple(
        revolved(*closed_bodies.meridian(-np.pi / 2, -0.6), sweep, 2)
        for sweep in ((-np.pi, 0), (0, np.pi))
    )
    same = pair_of(halves).evaluate(rotation, place, layer_of(pair))
    assert np.array_equal(np.sort(same.element), np.sort(found.element))
    assert same.wrench == pytest.approx(found.wrench, rel=1e-9, abs=1e-9 * found.wrench[1])


def test_normals_of_poles_are_limits():
    sphere, disc = closed_sphere(), closed_bodies.turned((0.0, 8.0), (0.0, 0.0))
    for surface, v, normal in ((sphere, 0.0, -1.0), (sphere, 1.0, 1.0), (disc, 1.0, 1.0)):
        for u in (0.0, 0.3, 1.0):
            assert surface.normal(u, v) == pytest.approx([0.0, 0.0, normal], abs=1e-6)
    bends = np.stack(sphere.curvature([0.2, 0.7], [0.0, 1.0]))
    assert bends == pytest.approx(np.full((2, 2), -1.0 / RADIUS), rel=1e-6)
    rows = tabulate_surface(sphere, 9, 9).rows
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_motion_that_is_not_finite_is_refused(bad, threads):
    pair = body_pair("sphere")
    model = ContactModel({"only": pair}, {"only": layer_of(pair)}, threads=threads)
    place, still = np.array([0.0, RADIUS - DEPTH, 0.0]), np.zeros(6)
    expected = model.evaluate(np.eye(3), place, still)["only"].wrench.copy()
    for number in range(3):
        for array in (np.eye(3), place, still):
            pose = [np.eye(3), place.copy(), still.copy()]
            wrong = next(one for one in pose if one.shape == array.shape)
            wrong.flat[number] = bad
            with pytest.raises(ValueError):
                model.evaluate(*pose)
    # The velocity counts only where it is given, and nothing of a refused motion is left.
    assert np.array_equal(model.evaluate(np.eye(3), place, still)["only"].wrench, expected)
    with pytest.raises(ValueError):
        pair.evaluate(np.full((3, 3), bad), place, layer_of(pair))
