"""The lookup table: rows agree with the surface and with each other."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.base.sides import SIDES
from kneewear.geometry.table import bilinear, bilinear_with_slopes, tabulate_surface
from tests.physics.bodies import gait_study, sphere

ROUNDING = 1e-12


@pytest.mark.parametrize("side", SIDES)
def test_rows_are_points_and_frames_of_the_surface(side):
    surface = gait_study().implant.femoral[side]
    table = tabulate_surface(surface, 31, 17)
    (u0, u1), (v0, v1) = surface.domain
    assert (table.u[0], table.u[-1], table.v[0], table.v[-1]) == (u0, u1, v0, v1)
    assert np.diff(table.u) == pytest.approx((u1 - u0) / 30, rel=1e-12)
    assert np.diff(table.v) == pytest.approx((v1 - v0) / 16, rel=1e-12)
    u, v = table.u[:, None], table.v[None, :]
    assert table.point == pytest.approx(surface.evaluate(u, v), abs=ROUNDING)
    assert table.normal == pytest.approx(surface.normal(u, v), abs=ROUNDING)
    along = surface.derivatives(u, v)[1]
    along = along / np.linalg.norm(along, axis=-1, keepdims=True)
    assert table.tangent == pytest.approx(along, abs=ROUNDING)


def test_frames_are_orthonormal_and_right_handed():
    table = tabulate_surface(sphere(30.0), 15, 13)
    frame = np.stack([table.normal, table.tangent, table.binormal], axis=-2)
    assert frame @ frame.swapaxes(-1, -2) == pytest.approx(
        np.broadcast_to(np.eye(3), frame.shape), abs=ROUNDING
    )
    assert np.linalg.det(frame) == pytest.approx(1.0, abs=ROUNDING)


def test_slopes_are_the_derivatives_of_the_interpolation():
    rows = tabulate_surface(sphere(30.0), 7, 9).rows
    random, step = np.random.default_rng(3), 1e-6
    # Well inside the cells: between them the slopes jump.
    u = (random.integers(0, 6, 50) + random.uniform(0.1, 0.9, 50)) / 6
    v = (random.integers(0, 8, 50) + random.uniform(0.1, 0.9, 50)) / 8
    values, along_u, along_v = bilinear_with_slopes(rows, u, v)
    assert (values == bilinear(rows, u, v)).all()
    differences = bilinear(rows, u + step, v) - bilinear(rows, u - step, v)
    # Linear in each direction: only rounding of 30 mm over the step is left.
    assert along_u == pytest.approx(differences / (2 * step), abs=1e-7)
    differences = bilinear(rows, u, v + step) - bilinear(rows, u, v - step)
    assert along_v == pytest.approx(differences / (2 * step), abs=1e-7)
