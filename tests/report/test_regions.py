"""Heights of an insert under the plan on which regions are drawn."""

from __future__ import annotations

import numpy as np

from kneewear.geometry.meshes import TriangleMesh
from kneewear.report.regions import SPACING, tabulate_heights


def test_heights_are_those_of_the_upper_surface_without_gaps():
    x, z = np.meshgrid(np.arange(-20.0, 21.0, 2.0), np.arange(-30.0, 31.0, 2.0), indexing="ij")
    number = np.arange(x.size).reshape(x.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    faces = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    sheet = TriangleMesh(np.column_stack([x.ravel(), 0.1 * x.ravel(), z.ravel()]), faces)
    heights = tabulate_heights(sheet)
    np.testing.assert_allclose(heights["y_mm"], 0.1 * heights["x_mm"], atol=0.1 * SPACING)
    inside = heights[heights["x_mm"].abs().lt(20.0) & heights["z_mm"].abs().lt(30.0)]
    assert len(inside) == 40 * 60
