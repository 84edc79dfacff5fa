"""Covered area against shapes whose area is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.element_grid import covered_area

pytestmark = pytest.mark.compiled


def paraboloid(i, j):
    return 1.0 - i**2 - j**2


def ellipsoid(i, j):
    along, across = 0.8 * i + 0.6 * j, 0.8 * j - 0.6 * i
    return 1.0 - along**2 - (across / 0.5) ** 2


def dome(i, j):
    """Not a quadratic function; positive on the unit disc."""
    return np.cos(0.5 * np.pi * np.minimum(np.hypot(i, j), 2.0))


def ring(i, j):
    distance = np.hypot(i, j)
    return (1.0 - distance) * (distance - 0.5)


def two_patches(i, j):
    return np.maximum(paraboloid(2 * i, 2 * (j - 1)), paraboloid(2 * i, 2 * (j + 1)))


SHAPES = {
    paraboloid: np.pi,
    ellipsoid: 0.5 * np.pi,
    dome: np.pi,
    ring: 0.75 * np.pi,
    two_patches: 0.5 * np.pi,
}


def errors(shape, size, count=60):
    """Relative errors on cells of a size, at random offsets of the grid: ours, whole elements'."""
    half = 2.0
    number = int(2 * half / size) + 1
    area = np.full((number, number), size**2)
    middle = size * (np.arange(number) - 0.5 * (number - 1))
    found = []
    for offset in size * np.random.default_rng(5).uniform(-0.5, 0.5, (count, 2)):
        value = shape(middle[:, None] - offset[0], middle - offset[1])
        found.append([covered_area(value, area), size**2 * (value > 0.0).sum()])
    return (np.array(found) / SHAPES[shape] - 1.0).T


@pytest.mark.parametrize(("shape", "width"), [(paraboloid, 2.0), (two_patches, 1.0)])
def test_area_of_paraboloids_is_exact_but_for_the_integration(shape, width):
    for across in (6, 10, 20, 40):
        ours, _ = errors(shape, width / across)
        assert np.abs(ours).max() < 7e-3 / across**2


@pytest.mark.parametrize("shape", [ellipsoid, dome, ring], ids=lambda s: s.__name__)
def test_area_converges_smoothly_and_faster_than_second_order(shape):
    sizes = 0.1 / 2.0 ** np.arange(4)
    spread = [np.sqrt(np.mean(errors(shape, size)[0] ** 2)) for size in sizes]
    # At every step: chance alignments of border and elements do not hide the trend.
    assert (np.log2(np.divide(spread[:-1], spread[1:])) > 1.6).all()
    assert np.polyfit(np.log(sizes), np.log(spread), 1)[0] > 2.0
    ours, whole = errors(shape, sizes[0])
    assert np.abs(ours).max() < 0.25 * np.abs(whole).max()


def test_area_is_continuous_in_the_position_of_the_contact():
    size, area = 0.1, np.full((41, 41), 0.01)
    middle = size * (np.arange(41) - 20)
    found = [
        covered_area(paraboloid(middle[:, None] - offset, middle - 0.3 * offset), area)
        for offset in np.linspace(0.0, 0.1, 101)
    ]
    # Whole elements jump by 0.01 and more.
    assert np.abs(np.diff(found)).max() < 1e-4


def test_unequal_areas_are_weighted():
    """A stretched plane: areas per cell that vary along the rows."""
    size = 0.05
    middle = size * (np.arange(61) - 30)
    slope = 0.4
    area = np.broadcast_to(size**2 * (1.0 + slope * middle[:, None]), (61, 61))
    shift = 0.3
    value = paraboloid(middle[:, None] - shift, middle)
    # Of a linear weight the integral over a disc is that of its centre.
    assert covered_area(value, area) == pytest.approx(np.pi * (1.0 + slope * shift), rel=1e-4)


def test_border_of_the_elements_is_not_exceeded():
    """Half a disc, cut by the end of the grid, by cells without an element, or by both."""
    size = 0.1
    across = size * (np.arange(41) - 20)
    along = size * (np.arange(20) + 0.5)
    value, area = paraboloid(along[:, None], across), np.full((20, 41), size**2)
    assert covered_area(value, area) == pytest.approx(0.5 * np.pi, rel=1e-4)
    missing = np.zeros((5, 41))
    for kind in (0.0, np.nan, -1.0):
        wider = np.vstack([missing + kind, value]), np.vstack([missing, area])
        assert covered_area(*wider) == pytest.approx(0.5 * np.pi, rel=1e-4)
