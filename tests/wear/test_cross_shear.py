"""Work across the principal direction: known paths, and what turning or scaling them changes."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kneewear.wear.history import cross_shear_ratio
from kneewear.wear.laws import frictional_work

angles = st.floats(0.0, 2.0 * np.pi)


def ratio_of(slip, pressure=None):
    """Cross-shear ratio of one element's path."""
    slip = np.asarray(slip, dtype=float)
    pressure = np.ones(len(slip)) if pressure is None else np.asarray(pressure, dtype=float)
    return float(cross_shear_ratio(*frictional_work(pressure, slip)))


def turned(slip, angle):
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.asarray(slip) @ np.array([[cosine, sine], [-sine, cosine]])


@given(angles, st.lists(st.floats(-3.0, 3.0, allow_subnormal=False), min_size=1, max_size=12))
def test_unidirectional_sliding_has_none(angle, steps):
    straight = turned(np.column_stack([steps, np.zeros(len(steps))]), angle)
    assert ratio_of(straight) == pytest.approx(0.0, abs=1e-14)


@given(angles)
def test_square_path_has_one_half(angle):
    square = turned([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], angle)
    assert ratio_of(square) == pytest.approx(0.5, rel=1e-12)


def test_round_path_has_one_half():
    turn = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    assert ratio_of(np.column_stack([np.cos(turn), np.sin(turn)])) == pytest.approx(0.5, rel=1e-12)


@given(angles, st.floats(0.01, 10.0), st.floats(0.01, 10.0))
def test_rectangle_has_its_short_side_over_both(angle, first, second):
    rectangle = turned([[first, 0.0], [0.0, second], [-first, 0.0], [0.0, -second]], angle)
    assert ratio_of(rectangle) == pytest.approx(min(first, second) / (first + second), rel=1e-9)


def test_pressure_weighs_the_sides_of_a_path():
    # Three quarters of the work along x, one along z.
    assert ratio_of([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0]) == pytest.approx(0.25, rel=1e-14)


@given(st.integers(0, 2**32 - 1), angles)
def test_it_is_the_least_work_across_any_direction(seed, angle):
    random = np.random.default_rng(seed)
    slip, pressure = random.normal(size=(20, 2)), random.uniform(0.0, 20.0, 20)
    work, across = frictional_work(pressure, slip)
    distance = np.hypot(*slip.T)
    sine = np.sin(np.arctan2(slip[:, 1], slip[:, 0]) - angle)
    assert across <= np.sum(pressure * distance * sine**2) * (1.0 + 1e-12)
    assert 0.0 <= across <= 0.5 * work
    # The smaller eigenvalue of the tensor of work, found another way.
    tensor = np.einsum("t,ti,tj->ij", pressure / distance, slip, slip)
    assert across == pytest.approx(np.linalg.eigvalsh(tensor)[0], rel=1e-9)


def test_where_nothing_slides_there_is_none():
    assert ratio_of(np.zeros((4, 2))) == 0.0
    assert ratio_of(np.ones((4, 2)), np.zeros(4)) == 0.0


def pin_slip(stroke, gear_radius, pin_radius, frames):
    """Slip of points of a pin in its own axes, and the area of each point.

    A plate reciprocates over the stroke; a rack and pinion turns the pin by its displacement over
    the gear's radius.
    """
    nodes, weights = np.polynomial.legendre.leggauss(12)
    radius, weight = 0.5 * pin_radius * (nodes + 1.0), weights * (nodes + 1.0)
    angle = np.arange(48) * 2.0 * np.pi / 48
    radius, angle = (grid.ravel() for grid in np.meshgrid(radius, angle, indexing="ij"))
    radius = radius / gear_radius
    # Half a cycle, at the middle of each frame.
    time = (np.arange(frames) + 0.5) * np.pi / frames
    turn = (stroke * np.cos(time) / (2.0 * gear_radius))[:, None]
    speed = np.sin(time)[:, None] * np.pi / frames
    along = speed * (1.0 + np.sin(turn + angle) * radius)
    aside = -speed * np.cos(turn + angle) * radius
    cosine, sine = np.cos(turn), np.sin(turn)
    slip = np.stack([cosine * along + sine * aside, cosine * aside - sine * along], axis=-1)
    return slip, np.repeat(weight, len(angle) // len(weight))


@pytest.fixture(scope="module")
def pins():
    """Exact cross-shear ratios of a pin on a plate, with stroke and radii in mm."""
    file = files("kneewear.evidence.measured_wear") / "pin_on_plate_cross_shear.csv"
    return pd.read_csv(str(file), comment="#")


def pin_ratios(row, frames):
    """Ratio with one principal direction for the pin, and with one for each of its points."""
    slip, area = pin_slip(row.stroke_mm, row.gear_radius_mm, row.pin_radius_mm, frames)
    pressure = np.broadcast_to(area, slip.shape[:2])
    whole = ratio_of(slip.reshape(-1, 2), pressure.reshape(-1))
    work, across = frictional_work(pressure, slip)
    return whole, across.sum() / work.sum()


@pytest.mark.slow
def test_pins_on_a_plate_have_their_exact_cross_shear(pins):
    assert len(pins) == 90
    found = [pin_ratios(row, 400)[0] for row in pins.itertuples()]
    np.testing.assert_allclose(found, pins["cross_shear_exact"], rtol=1e-3)


def test_a_direction_for_each_point_of_a_pin_gives_less_than_one_for_the_pin(pins):
    ratios = np.array([pin_ratios(row, 100) for row in pins.itertuples()])
    less = 1.0 - ratios[:, 1] / ratios[:, 0]
    assert (less > 0.0).all()
    # The statement in `frictional_work`: 0.5 to 95 %, half above 17 %.
    assert less.min() == pytest.approx(0.005, abs=0.001)
    assert less.max() == pytest.approx(0.95, abs=0.01)
    assert np.median(less) == pytest.approx(0.17, abs=0.01)
