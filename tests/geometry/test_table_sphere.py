"""The surface table against the sample rows of Machado's Table 6.2."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.table import frame_samples, householder_tangents

# Sample rows of Table 6.2 (Machado thesis): row and column in the table, x, y, z (m), normal,
# tangent, binormal as printed, three decimals; a sphere of 6 mm radius, normals inward.
TABLE_6_2 = {
    (1, 1): "-0.006 0.000 0.000 1.000 0.000 0.000 0.000 0.907 0.421 0.000 0.421 -0.907",
    (2, 1): "-0.006 0.000 0.001 0.995 0.000 -0.098 0.000 1.000 0.000 -0.098 0.000 -0.995",
    (1, 2): "-0.006 -0.001 0.000 0.981 0.195 0.000 0.195 -0.981 0.000 0.000 0.000 1.000",
    (1, 5): "-0.004 -0.004 0.000 0.707 0.707 0.000 0.707 -0.707 0.000 0.000 0.000 1.000",
    (1, 9): "0.000 -0.006 0.000 0.000 1.000 0.000 1.000 0.000 0.000 0.000 0.000 1.000",
    (2, 9): "0.000 -0.006 0.001 0.000 0.995 -0.098 0.995 0.010 0.098 -0.098 0.098 0.990",
    (8, 9): "0.000 -0.005 0.004 0.000 0.773 -0.634 0.773 0.402 0.490 -0.634 0.490 0.598",
    (17, 9): "0.000 0.000 0.006 0.000 0.000 -1.000 0.000 1.000 0.000 -1.000 0.000 0.000",
}
# Half a unit of the last printed digit, and a little for ties.
PRINTED = 0.00051


def sphere_table(tangents, radius=0.006):
    """The sphere of Eq. 6.11 over u 0..pi/2 and v -pi..-pi/2, as in Table 6.2."""
    u, v = np.linspace(0.0, np.pi / 2, 17), np.linspace(-np.pi, -np.pi / 2, 9)
    a, b = u[:, None], v[None, :]
    point = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a) + 0 * b], axis=-1)
    along_u = np.stack([-np.sin(a) * np.cos(b), -np.sin(a) * np.sin(b), np.cos(a) + 0 * b], axis=-1)
    # Without the factor cos u, which vanishes at the pole and with it the derivative along v.
    along_v = np.stack([-np.sin(b) + 0 * a, np.cos(b) + 0 * a, 0 * a * b], axis=-1)
    return frame_samples(u, v, radius * point, radius * along_u, radius * along_v, tangents)


@pytest.mark.parametrize("row", TABLE_6_2)
def test_sample_rows_of_table_6_2_come_out(row):
    table = sphere_table("householder")
    printed = np.array(TABLE_6_2[row].split(), dtype=float).reshape(4, 3)
    i, j = row[0] - 1, row[1] - 1
    assert table.point[i, j] == pytest.approx(printed[0], abs=PRINTED)
    assert table.normal[i, j] == pytest.approx(printed[1], abs=PRINTED)
    if row != (1, 1):  # degenerate: the print is round-off
        assert table.tangent[i, j] == pytest.approx(printed[2], abs=PRINTED)
        assert table.binormal[i, j] == pytest.approx(printed[3], abs=PRINTED)


def test_normals_of_that_parametrisation_point_inward():
    table = sphere_table("derivatives")
    assert table.normal == pytest.approx(-table.point / 0.006, abs=1e-12)


def test_householder_frames_are_orthonormal_also_at_the_first_axis():
    random = np.random.default_rng(1).normal(size=(200, 3))
    normal = random / np.linalg.norm(random, axis=1, keepdims=True)
    normal = np.vstack([normal, [[1.0, 0.0, 0.0], [1.0, 1e-9, 0.0], [-1.0, 0.0, 0.0]]])
    frame = np.stack([normal, *householder_tangents(normal)], axis=-2)
    assert frame @ frame.swapaxes(-1, -2) == pytest.approx(
        np.broadcast_to(np.eye(3), frame.shape), abs=1e-8
    )
    assert np.linalg.det(frame) == pytest.approx(-1.0)
