"""The elastic half-space: its influence, its contact conditions, Hertz and the flat punch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.optimize import nnls

from kneewear.contact import hertz
from kneewear.contact.hertz import contact_modulus
from kneewear.evidence.verification.half_space import (
    pressed_rectangle,
    solve_half_space,
    sphere_gap,
)

MODULUS = contact_modulus(463.0, 0.46)


def test_modulus_of_a_pair():
    assert contact_modulus(463.0, 0.46) == pytest.approx(463.0 / (1 - 0.46**2), rel=1e-14)
    # Polyethylene against cobalt-chromium: a thousandth softer than against a rigid body.
    pair = contact_modulus(463.0, 0.46, 210e3, 0.3)
    assert 1 / pair == pytest.approx((1 - 0.46**2) / 463.0 + (1 - 0.3**2) / 210e3, rel=1e-14)
    assert pair == contact_modulus(210e3, 0.3, 463.0, 0.46)


@pytest.mark.parametrize("point", [(3.0, 1.0), (0.0, 2.0), (0.9, 1.7), (-1.4, 0.3), (40.0, 30.0)])
def test_deflection_outside_a_rectangle_is_boussinesqs_integral(point):
    # Boussinesq: pressure over pi E* distance; smooth outside the rectangle.
    x, y = point
    exact = dblquad(lambda v, u: 1 / math.hypot(x - u, y - v), -0.8, 0.8, -0.5, 0.5, epsrel=1e-11)
    found = float(pressed_rectangle(x, y, 0.8, 0.5))
    assert found == pytest.approx(exact[0] / math.pi, rel=1e-9)


@given(st.floats(0.1, 5.0), st.floats(0.1, 5.0))
def test_deflection_under_a_rectangle_is_that_of_its_quarters(half_length, half_width):
    whole = float(pressed_rectangle(0.0, 0.0, half_length, half_width))
    quarter = pressed_rectangle(half_length / 2, half_width / 2, half_length / 2, half_width / 2)
    assert whole == pytest.approx(4 * float(quarter), rel=1e-12)
    # Johnson (1985), section 3.3: 1.122 p a (1 - nu^2) / E x 2 in the middle of a square.
    square = float(pressed_rectangle(0.0, 0.0, half_length, half_length))
    assert square == pytest.approx(4 / math.pi * 2 * half_length * math.asinh(1.0) / 1.0, rel=1e-12)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["noise", "smooth", "rough bump"]))
def test_contact_closes_gaps_and_never_pulls(seed, kind):
    random = np.random.default_rng(seed)
    shape, cell = (13, 9), (0.4, 0.7)
    gap = random.normal(size=shape)
    if kind == "smooth":
        gap = np.cumsum(np.cumsum(gap, axis=0), axis=1) / 20
    elif kind == "rough bump":
        row, column = np.indices(shape)
        gap = ((row - random.uniform(0, 13)) ** 2 + (column - random.uniform(0, 9)) ** 2) / 10
        gap = gap + 0.3 * random.normal(size=shape)
    approach = float(np.quantile(gap, 0.6))
    contact = solve_half_space(gap, cell, MODULUS, approach=approach)
    force = contact.pressure * 0.28
    row, column = (index.ravel() for index in np.indices(shape))
    deflected = pressed_rectangle(
        0.4 * (row[:, None] - row), 0.7 * (column[:, None] - column), 0.2, 0.35
    ) / (MODULUS * 0.28)
    open_by = gap.ravel() - approach + deflected @ force.ravel()
    size = approach - gap.min()
    assert contact.pressure.min() >= 0.0
    assert open_by.min() >= -1e-11 * size
    assert abs(open_by * (force.ravel() > 0)).max() <= 1e-11 * size
    # The same problem as non-negative least squares, by another's solver.
    root = np.linalg.cholesky(deflected)
    other, _ = nnls(root.T, np.linalg.solve(root, approach - gap.ravel()))
    assert force.ravel() == pytest.approx(other, abs=1e-8 * force.max())


def test_load_and_approach_are_two_ways_to_one_contact():
    gap, cell = sphere_gap(30.0, 8, 30)
    pressed = solve_half_space(gap + 7.0, cell, MODULUS, approach=7.2)
    loaded = solve_half_space(gap + 7.0, cell, MODULUS, load=pressed.force)
    assert loaded.approach == pytest.approx(7.2, abs=1e-10)
    assert loaded.pressure == pytest.approx(pressed.pressure, abs=1e-7 * pressed.pressure.max())
    assert pressed.force == pytest.approx(pressed.pressure.sum() * cell[0] * cell[1], rel=1e-13)


@pytest.mark.slow
def test_ellipse_is_hertz():
    exact = hertz.ellipse_contact((80.0, 20.0), 500.0, MODULUS)
    a, b = exact.semi_axes
    line = lambda half, count: half * ((np.arange(count) + 0.5) * 2 / count - 1)  # noqa: E731
    x, z = np.meshgrid(line(1.6 * a, 30), line(1.6 * b, 30), indexing="ij")
    cell = (3.2 * a / 30, 3.2 * b / 30)
    contact = solve_half_space(x**2 / 160 + z**2 / 40, cell, MODULUS, load=500.0)
    assert contact.approach == pytest.approx(exact.depth, rel=0.01)
    assert contact.pressure.max() == pytest.approx(exact.peak_pressure, rel=0.01)


def test_flat_punch_is_met_from_below_as_cells_shrink():
    # Pressure is infinite at the rim, so that convergence is slow: of first order in the cell.
    errors = []
    for cells in (12, 24, 48):
        gap, cell = sphere_gap(30.0, 8.4, cells, (0.01, 0.02))
        inside = 60.0 * gap < 4.0**2
        contact = solve_half_space(np.where(inside, 0.0, np.nan), cell, MODULUS, approach=0.05)
        covered = math.sqrt(inside.sum() * cell[0] * cell[1] / math.pi)
        # Johnson (1985), Contact Mechanics, Eq. 3.36.
        errors.append(contact.force / (2.0 * MODULUS * covered * 0.05) - 1.0)
    assert abs(errors[0]) > abs(errors[1]) > abs(errors[2])
    assert abs(errors[2]) < 0.02
