"""The surface table against the sample rows of Machado's Table 6.2."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.evidence.paper.own import TABLE_RADIUS, sphere_of_table_6_2, table_6_2
from kneewear.geometry.table import householder_tangents

# Half a unit of the last printed digit, and a little for ties.
PRINTED = 0.00051


def test_sample_rows_of_table_6_2_come_out():
    table = table_6_2()
    assert len(table) == 8 * 14 - 6
    np.testing.assert_allclose(table["computed"], table["published"], atol=PRINTED)


def test_normals_of_that_parametrisation_point_inward():
    table = sphere_of_table_6_2("derivatives")
    assert table.normal == pytest.approx(-table.point / TABLE_RADIUS, abs=1e-12)


def test_householder_frames_are_orthonormal_also_at_the_first_axis():
    random = np.random.default_rng(1).normal(size=(200, 3))
    normal = random / np.linalg.norm(random, axis=1, keepdims=True)
    normal = np.vstack([normal, [[1.0, 0.0, 0.0], [1.0, 1e-9, 0.0], [-1.0, 0.0, 0.0]]])
    frame = np.stack([normal, *householder_tangents(normal)], axis=-2)
    assert frame @ frame.swapaxes(-1, -2) == pytest.approx(
        np.broadcast_to(np.eye(3), frame.shape), abs=1e-8
    )
    assert np.linalg.det(frame) == pytest.approx(-1.0)
