"""Shortest paths: geodesics, continuity where wrapping begins, balance, and faults."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from kneewear.knees.papers.muscle_string.string import stretch_string
from kneewear.knees.tissue.wrapping import WrapObject, overlap, shortest_path, wrapped_points
from kneewear.mechanics.rotations import body_three_123
from tests.refusals import refused_at

CYLINDER = WrapObject("bar", "cylinder", "femur", (10.0, 0, 0))
BALL = WrapObject("ball", "sphere", "femur", (10.0, 0, 0))
EGG = WrapObject("egg", "ellipsoid", "femur", (30.0, 18.0, 12.0))
KINDS = (CYLINDER, BALL, EGG)
START = np.array([-40.0, 2.0, -7.0])
END = np.array([35.0, 6.0, 9.0])


def test_length_on_a_cylinder_is_that_of_the_unrolled_plane():
    # The plane section perpendicular to the axis, unrolled; a ruler measures it.
    path = shortest_path(CYLINDER, START, END)
    a, b = np.linalg.norm(START[:2]), np.linalg.norm(END[:2])
    swept = np.arccos(START[:2] @ END[:2] / a / b)
    arc = swept - np.arccos(10.0 / a) - np.arccos(10.0 / b)
    flat = np.sqrt(a**2 - 100.0) + 10.0 * arc + np.sqrt(b**2 - 100.0)
    assert path.length == pytest.approx(np.hypot(flat, 16.0), abs=1e-9)
    assert path.is_wrapped
    np.testing.assert_allclose(np.linalg.norm(path.points[:, :2], axis=1), 10.0, atol=1e-12)


def test_length_on_a_sphere_is_two_tangents_and_a_great_circle():
    path = shortest_path(BALL, START, END)
    a, b = np.linalg.norm(START), np.linalg.norm(END)
    arc = np.arccos(START @ END / a / b) - np.arccos(10.0 / a) - np.arccos(10.0 / b)
    exact = np.sqrt(a**2 - 100.0) + 10.0 * arc + np.sqrt(b**2 - 100.0)
    assert path.length == pytest.approx(exact, abs=1e-9)


def test_arc_on_an_ellipsoid_is_that_of_a_minimised_chain():
    start, end = START, END
    path = shortest_path(EGG, start, end)
    assert path.is_wrapped
    count = 40
    first, last = path.points

    def chain(nodes):
        unit = nodes.reshape(-1, 3)
        on = unit / np.linalg.norm(unit / EGG.size, axis=1, keepdims=True)
        return np.diff(np.vstack([first, on, last]), axis=0)

    share = np.linspace(0.0, 1.0, count)[1:-1, None]
    guess = (1 - share) * first + share * last
    guess /= np.linalg.norm(guess, axis=1, keepdims=True)
    # The sum of squares is least for equal chords along a geodesic.
    found = minimize(
        lambda nodes: (chain(nodes) ** 2).sum(),
        guess.ravel(),
        method="L-BFGS-B",
        options={"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-9},
    )
    chords = np.linalg.norm(chain(found.x), axis=1).sum()
    arc = path.length - np.linalg.norm(start - first) - np.linalg.norm(end - last)
    # Chords are shorter by 1 / 24 of the square of the turn between two nodes.
    assert chords == pytest.approx(arc, rel=2e-4)
    assert chords < arc


class Ellipsoid:
    """The same body as an obstacle of strings; its closest points are not those of geodesics."""

    def closest(self, points):
        square = np.asarray(EGG.size) ** 2
        inner = np.sum(points**2 / square, axis=-1) < 1.0
        low, high = np.full(len(points), 1e-9 - square.min()), np.full(len(points), 1e4)
        for _ in range(80):
            middle = 0.5 * (low + high)
            outside = (points**2 * square / (square + middle[:, None]) ** 2).sum(-1) > 1.0
            low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        found = points * square / (square + low[:, None])
        normal = found / square
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        gap = np.linalg.norm(points - found, axis=-1)
        return found, normal, np.where(inner, -gap, gap)


def test_the_path_around_an_ellipsoid_is_that_of_the_shortest_string():
    """Strings of nodes over both flat sides, another method; the last line is near the centre."""
    pairs = [((-5, 30, 4), (8, -24, 6)), ((-38, 1, 2), (40, -2, -1)), ((2, -30, -9), (-6, 27, -12))]
    share = np.linspace(0.0, 1.0, 42)[1:-1, None]
    for start, end in np.array(pairs, dtype=float):
        found = []
        for side in (18.0, -18.0):
            begin = (1 - share) * start + share * end + np.sin(np.pi * share) * [0.0, 0.0, side]
            found.append(stretch_string(start, end, [Ellipsoid()], nodes=40, begin=begin).length)
        path = shortest_path(EGG, start, end)
        assert path.is_wrapped
        # Chords are shorter by 1 / 24 of the square of the turn between two nodes.
        assert min(found) == pytest.approx(path.length, rel=1e-4)
        assert min(found) < path.length


def test_an_arc_around_an_ellipsoid_solves_the_equation_of_a_geodesic():
    """Clairaut: on a body of revolution, radius times the sine to the meridian is constant."""
    spun = WrapObject("spun", "ellipsoid", "femur", (14.0, 14.0, 25.0))
    start, end = np.array([-30.0, 3.0, -20.0]), np.array([22.0, 12.0, 24.0])
    path = shortest_path(spun, start, end)
    azimuth = np.cross([0.0, 0.0, 1.0], path.points)
    constant = (azimuth * [path.points[0] - start, end - path.points[1]]).sum(axis=1)
    spans = np.linalg.norm(path.points - [start, end], axis=1)
    moments = constant / spans
    assert moments[0] == pytest.approx(moments[1], abs=1e-6)
    # Length by quadrature over the height, with the slope that the constant gives.
    c = moments[0]
    z = np.linspace(*path.points[:, 2], 20001)
    middle = 0.5 * (z[1:] + z[:-1])
    r = 14.0 * np.sqrt(1.0 - (middle / 25.0) ** 2)
    slope = -(14.0**2) * middle / 25.0**2 / r
    arc = (np.sqrt(1.0 + slope**2) * r / np.sqrt(r**2 - c**2)).sum() * (z[1] - z[0])
    assert path.length == pytest.approx(arc + spans.sum(), abs=1e-6)


@pytest.mark.parametrize("obstacle", KINDS[1:], ids=lambda one: one.kind)
def test_a_length_changes_by_no_more_than_its_ends_move(obstacle):
    """Also where the line of the ends passes the centre, and the path changes side."""
    random = np.random.default_rng(4)
    for _ in range(5):
        begin, shift = random.normal(scale=2.0, size=(2, 3)) + [[0, -12, 0], [0, 24, 0]]
        steps = np.linspace(0.0, 1.0, 201)[:, None] * shift + begin
        lengths = []
        for step in steps:
            ends = step + [[-45.0, 0.0, 0.0], [45.0, 0.0, 0.0]]
            lengths.append(shortest_path(obstacle, *ends).length)
        assert np.ptp(lengths) > 0.5
        moved = 2.0 * np.linalg.norm(shift) / 200
        assert np.abs(np.diff(lengths)).max() <= moved + 1e-9


@pytest.mark.parametrize("obstacle", KINDS, ids=lambda one: one.kind)
def test_pulls_are_minus_the_derivative_of_length(obstacle):
    path = shortest_path(obstacle, START, END)
    h = 1e-4
    for axis in np.eye(3):
        ahead = shortest_path(obstacle, START + h * axis, END).length
        behind = shortest_path(obstacle, START - h * axis, END).length
        assert (ahead - behind) / (2 * h) == pytest.approx(-path.pulls[0] @ axis, abs=2e-6)
        ahead = shortest_path(obstacle, START, END + h * axis).length
        behind = shortest_path(obstacle, START, END - h * axis).length
        assert (ahead - behind) / (2 * h) == pytest.approx(-path.pulls[1] @ axis, abs=2e-6)


@pytest.mark.parametrize("obstacle", KINDS, ids=lambda one: one.kind)
def test_length_and_pulls_are_continuous_where_wrapping_begins(obstacle):
    # The line of both ends grazes the obstacle as they are lifted together.
    def path(height):
        return shortest_path(obstacle, START + (0, height, -START[2]), END + (0, height, -END[2]))

    low, high = 0.0, 40.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if path(middle).is_wrapped else (low, middle)
    below, above = path(low - 1e-6), path(high + 1e-6)
    assert below.is_wrapped and not above.is_wrapped
    assert below.length == pytest.approx(above.length, abs=1e-8)
    np.testing.assert_allclose(below.pulls, above.pulls, atol=1e-6)


@pytest.mark.parametrize("obstacle", KINDS, ids=lambda one: one.kind)
def test_straight_parts_carry_no_moment_about_the_tangent_points(obstacle):
    path = shortest_path(obstacle, START, END)
    assert path.is_wrapped
    moment = np.cross([START, END], path.pulls).sum(axis=0)
    moment -= np.cross(path.points, path.pulls).sum(axis=0)
    # The forces at the ends and those on the obstacle share their lines.
    np.testing.assert_allclose(moment, 0.0, atol=1e-9)


@pytest.mark.parametrize("obstacle", KINDS, ids=lambda one: one.kind)
def test_frames_do_not_matter_and_the_path_is_symmetric(obstacle):
    turn, shift = body_three_123([0.4, -1.1, 2.0]), np.array([3.0, -80.0, 11.0])
    placed = WrapObject("there", obstacle.kind, "femur", obstacle.size, turn, shift)
    moved = shortest_path(placed, turn @ START + shift, turn @ END + shift)
    path = shortest_path(obstacle, START, END)
    assert moved.length == pytest.approx(path.length, abs=1e-9)
    np.testing.assert_allclose(moved.pulls, path.pulls @ turn.T, atol=1e-9)
    back = shortest_path(obstacle, END, START)
    assert back.length == pytest.approx(path.length, abs=1e-6)


@pytest.mark.parametrize("obstacle", KINDS, ids=lambda one: one.kind)
def test_drawn_points_lie_on_the_obstacle_along_the_path(obstacle):
    turn, shift = body_three_123([0.4, -1.1, 2.0]), np.array([3.0, -80.0, 11.0])
    placed = WrapObject("there", obstacle.kind, "femur", obstacle.size, turn, shift)
    start, end = START - (0.0, 8.0, 0.0), END - (0.0, 8.0, 0.0)
    points = (wrapped_points(placed, turn @ start + shift, turn @ end + shift) - shift) @ turn
    path = shortest_path(obstacle, start, end)
    np.testing.assert_allclose(points[[0, -1]], path.points, atol=1e-9)
    assert len(points) > 2
    semi = obstacle.size if obstacle.kind == "ellipsoid" else np.full(3, 10.0)
    used = 2 if obstacle.kind == "cylinder" else 3
    np.testing.assert_allclose(np.linalg.norm((points / semi)[:, :used], axis=1), 1.0, atol=1e-6)
    drawn = np.vstack([start, points, end])
    length = np.linalg.norm(np.diff(drawn, axis=0), axis=1).sum()
    # Chords are shorter than arcs; the curve on an ellipsoid is a little longer than the path.
    assert length == pytest.approx(path.length, rel=2e-3)
    assert wrapped_points(obstacle, START + (0.0, 50.0, 0.0), END + (0.0, 50.0, 0.0)) is None


def test_a_cylinder_is_wound_on_the_stated_side_also_the_long_way():
    over = WrapObject("bar", "cylinder", "femur", (10.0, 0, 0), side=(0.0, 1.0, 0.0))
    under = WrapObject("bar", "cylinder", "femur", (10.0, 0, 0), side=(0.0, -1.0, 0.0))
    short, long = shortest_path(over, START, END), shortest_path(under, START, END)
    assert short.points[:, 1].min() > 0.0 > long.points[:, 1].max()
    assert long.length > short.length
    # A tendon above the bar lifted off it is straight; one below never passes through it.
    lifted = START + (0, 30, 0), END + (0, 30, 0)
    assert not shortest_path(over, *lifted).is_wrapped
    assert shortest_path(under, *lifted).is_wrapped


@pytest.mark.parametrize("obstacle", KINDS, ids=lambda one: one.kind)
def test_an_attachment_inside_is_refused(obstacle):
    assert refused_at(shortest_path, obstacle, (1.0, 2.0, 0.5), END, "MCL") == "bundle MCL"


def test_a_path_that_winds_the_wrong_way_is_refused():
    ball = WrapObject("ball", "sphere", "femur", (10.0, 0, 0), side=(0.0, -1.0, 0.0))
    assert refused_at(shortest_path, ball, START, END, "PT") == "bundle PT"
    bar = WrapObject("bar", "cylinder", "femur", (10.0, 0, 0), side=(0.0, -1.0, 0.0))
    assert refused_at(shortest_path, bar, (-9.0, 9.0, 0.0), (1.0, 10.05, 0.0)) == "bundle path"


@pytest.mark.parametrize("obstacle", KINDS)
def test_wrapping_begins_where_the_line_touches_with_equal_length_and_direction(obstacle):
    # The end rises past the obstacle; the overlap of the straight line falls through zero.
    def end(height):
        return np.array([35.0, height, 9.0])

    start = np.array([-40.0, 8.0, -7.0])
    low, high = 0.0, 60.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if overlap(obstacle, start, end(middle)) > 0.0 else (low, middle)
    before, after = (shortest_path(obstacle, start, end(low + side)) for side in (-1e-4, 1e-4))
    assert before.is_wrapped
    assert not after.is_wrapped
    # Length over height has the slope of the unit vector: no jump of either.
    slope = -before.pulls[1, 1]
    assert after.length - before.length == pytest.approx(2e-4 * slope, abs=1e-6)
    np.testing.assert_allclose(before.pulls, after.pulls, atol=1e-3)
