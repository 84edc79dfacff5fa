"""Heights of meshes over their plan, and deviations of blocks."""

import numpy as np
import pytest

from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.retrieval.registration import register
from kneewear.models.retrieval.scans import sheet_of
from kneewear.models.retrieval.surfaces import STEP, Raster, make_blocks


def _dish(raster: Raster) -> np.ndarray:
    x, z = np.meshgrid(raster.x, raster.z, indexing="ij")
    return x**2 / 80.0 + z**2 / 60.0 + 0.02 * np.sin(x / 4.0) * z


def _raster() -> Raster:
    return Raster.around(np.array([-15.0, -12.0]), np.array([15.0, 12.0]))


def test_heights_of_a_tilted_plane_are_exact() -> None:
    raster = _raster()
    corners = np.array([[-20.0, 0.0, -20.0], [-20.0, 0.0, 20.0], [20.0, 0.0, 20.0]])
    corners[:, 1] = 1.0 + 0.1 * corners[:, 0] - 0.2 * corners[:, 2]
    heights = raster.heights(TriangleMesh(corners, np.array([[0, 1, 2]])))
    x, z = np.meshgrid(raster.x, raster.z, indexing="ij")
    inside = np.isfinite(heights)
    assert inside.sum() > 1000
    assert heights[inside] == pytest.approx((1.0 + 0.1 * x - 0.2 * z)[inside], abs=1e-12)


def test_triangles_that_face_down_have_no_height() -> None:
    raster = _raster()
    mesh = sheet_of(raster, _dish(raster))
    turned = TriangleMesh(mesh.vertices, np.ascontiguousarray(mesh.faces[:, ::-1]))
    assert np.isfinite(raster.heights(mesh)).mean() > 0.95
    assert not np.isfinite(raster.heights(turned)).any()


def test_volume_of_a_uniform_removal_is_depth_times_plan() -> None:
    raster = _raster()
    heights = _dish(raster)
    regions = np.zeros(raster.shape, dtype=np.int64)
    blocks = make_blocks(raster, heights, heights - 0.1, regions, 1.5)
    # Depth is along the normal, and area of the surface: their product is the plan's.
    removed = -(blocks.deviation * blocks.area).sum()
    assert removed == pytest.approx(0.1 * raster.x.size * raster.z.size * STEP**2, rel=2e-3)


def test_scan_is_moved_back_to_its_reference() -> None:
    raster = _raster()
    reference = sheet_of(raster, _dish(raster))
    angle = 0.02
    turn = np.array(
        [[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]]
    )
    scan = TriangleMesh(reference.vertices @ turn.T + [1.0, -2.0, 0.5], reference.faces)
    pose = register(scan, reference)
    # Nearest points lie on other triangles near edges: a hundredth of their size remains.
    assert np.abs(pose.moved(scan).vertices - reference.vertices).max() < 0.005
    assert pose.scale == pytest.approx(1.0, abs=1e-3)
