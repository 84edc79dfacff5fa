"""Influence of pressures on a bonded layer: wave numbers, limits, and tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from kneewear.contact.foundation import confined_modulus
from kneewear.contact.influence import (
    flat_influence,
    flat_layer,
    layer_correction,
    layer_deflection,
    rectangle_deflection,
)

MODULUS = 463.0
POISSON = 0.46


def airy_deflection(wave, poisson):
    """L by an Airy function F = (A + B y) cosh ky + (C + D y) sinh ky fitted to the boundaries.

    No displacement of the base y = 0, pressure cos kx and no shear at y = h = wave, with k = 1.
    """

    def derivatives(y):
        cosh, sinh = np.cosh(y), np.sinh(y)
        return (
            np.array([cosh, y * cosh, sinh, y * sinh]),
            np.array([sinh, cosh + y * sinh, cosh, sinh + y * cosh]),
            np.array([cosh, 2 * sinh + y * cosh, sinh, 2 * cosh + y * sinh]),
            np.array([sinh, 3 * cosh + y * sinh, cosh, 3 * sinh + y * cosh]),
        )

    def along(stress, second):
        return (1 + poisson) * ((1 - poisson) * second + poisson * stress)

    def up(first, third):
        return (1 + poisson) * ((1 - poisson) * third - (2 - poisson) * first)

    low, top = derivatives(0.0), derivatives(wave)
    system = np.array([along(low[0], low[2]), up(low[1], low[3]), top[1], top[0]])
    fitted = np.linalg.solve(system, [0.0, 0.0, 0.0, 1.0])
    return -up(top[1], top[3]) @ fitted / (2.0 * (1.0 - poisson**2))


@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.46, 0.49])
def test_wave_deflects_the_layer_as_the_airy_function_of_its_boundaries(poisson):
    for wave in (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0):
        expected = airy_deflection(wave, poisson)
        assert layer_deflection(wave, poisson) == pytest.approx(expected, rel=1e-10)


def test_rectangle_deflects_a_half_space_as_the_integral_over_it():
    # Of 1 / r over the rectangle; the first point is beside it, the second in its middle.
    def cell(x, z):
        inner = lambda a: quad(lambda b: 1.0 / np.hypot(x - a, z - b), -0.2, 0.2)[0]  # noqa: E731
        return quad(inner, -0.4, 0.4)[0]

    found = rectangle_deflection(np.array([0.9]), np.array([0.3]), 0.8, 0.4)
    assert found[0] == pytest.approx(cell(0.9, 0.3), rel=1e-9)
    # Four right triangles of which the integral is known: a asinh(b / a) + b asinh(a / b), twice.
    middle = rectangle_deflection(np.array([0.0]), np.array([0.0]), 0.8, 0.4)
    expected = 4.0 * (0.4 * np.arcsinh(0.5) + 0.2 * np.arcsinh(2.0))
    assert middle[0] == pytest.approx(expected, rel=1e-12)


def test_correction_is_that_of_its_waves_and_of_a_layer_at_rest_far_away():
    # Independent of the table: adaptive quadrature.
    from scipy.special import j0

    for rho in (0.0, 0.37, 2.2):
        expected = quad(
            lambda x, r=rho: (layer_deflection(x, POISSON) - 1.0) * j0(x * r),
            1e-12,
            30.0,
            limit=400,
            epsabs=1e-12,
        )[0]
        assert layer_correction(rho, POISSON) == pytest.approx(expected, abs=1e-5)
    assert 12.0 * layer_correction(12.0 - 1e-9, POISSON) == pytest.approx(-1.0, abs=1e-4)


def test_wide_uniform_pressure_compresses_a_confined_layer():
    thickness = 5.0
    table = flat_layer((300, 300), (0.3, 0.3), thickness, MODULUS, POISSON)
    # All four quadrants around the loaded cell; rows and columns of the cell count twice.
    total = 4.0 * table.sum() - 2.0 * (table[0].sum() + table[:, 0].sum()) + table[0, 0]
    confined = thickness / confined_modulus(MODULUS, POISSON)
    assert total * 0.09 == pytest.approx(confined, rel=1e-3)


def test_influence_is_symmetric_and_the_same_along_and_across():
    tall = flat_influence((7, 5), (0.4, 0.6), 4.0, MODULUS, POISSON)
    wide = flat_influence((5, 7), (0.6, 0.4), 4.0, MODULUS, POISSON)
    row, column = (part.ravel() for part in np.meshgrid(range(7), range(5), indexing="ij"))
    matrix = tall.matrix(row, column)
    assert matrix == pytest.approx(matrix.T, rel=1e-15)
    assert matrix == pytest.approx(wide.matrix(column, row), rel=1e-13)
    assert np.linalg.eigvalsh(matrix).min() > 0.0
    soft = tall.softened(2.0)
    assert soft.matrix(row, column) == pytest.approx(2.0 * matrix, rel=1e-15)
