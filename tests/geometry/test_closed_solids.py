"""Closed solids: watertight, of the right volume, lowered by what was worn."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear import default_study
from kneewear.geometry.closed_solids import (
    SAMPLES,
    SHELL,
    enclosed_volume,
    is_watertight,
    layer_solid,
    patch_shell,
    worn_mesh,
)
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.meshes import TriangleMesh, sphere_mesh
from kneewear.wear.worn_surface import lower_surface


def raster(rows, columns, height=4.0):
    """Corners and quadrilaterals of unit cells, normals up."""
    x, z = np.meshgrid(np.arange(rows + 1.0), np.arange(columns + 1.0), indexing="ij")
    points = np.stack([x, np.full_like(x, height), z], axis=-1).reshape(-1, 3)
    number = np.arange(len(points)).reshape(rows + 1, columns + 1)
    corners = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    return points, np.stack(corners, axis=-1).reshape(-1, 4)


def test_layer_of_flat_elements_is_a_block():
    points, quads = raster(3, 5)
    block = layer_solid(points, quads, points * [1.0, 0.0, 1.0])
    assert is_watertight(block)
    assert enclosed_volume(block) == pytest.approx(4.0 * 15.0)
    # Two triangles an element, two a wall, and one of the flat underside an edge of the outline.
    assert len(block.faces) == 2 * 15 + 3 * 16


def test_underside_that_is_not_flat_is_followed():
    points, quads = raster(3, 5)
    bottom = points * [1.0, 0.0, 1.0]
    bottom[:, 1] = 0.1 * bottom[:, 0]
    wedge = layer_solid(points, quads, bottom)
    assert is_watertight(wedge)
    assert enclosed_volume(wedge) == pytest.approx((4.0 - 0.15) * 15.0)


def test_outline_that_is_not_seen_from_its_middle_is_closed_as_well():
    points, quads = raster(9, 9)
    cells = quads.reshape(9, 9, 4)
    frame = np.ones((9, 9), dtype=bool)
    frame[2:, 2:7] = False  # an insert around a notch
    solid = layer_solid(points, cells[frame], points * [1.0, 0.0, 1.0])
    assert is_watertight(solid)
    assert enclosed_volume(solid) == pytest.approx(4.0 * frame.sum())


def test_elements_that_meet_at_a_corner_alone_are_refused():
    points, quads = raster(2, 2)
    with pytest.raises(ValueError, match="corner"):
        layer_solid(points, quads[[0, 3]], points * [1.0, 0.0, 1.0])


def test_open_mesh_is_not_watertight():
    points, quads = raster(2, 2)
    block = layer_solid(points, quads, points * [1.0, 0.0, 1.0])
    assert not is_watertight(TriangleMesh(block.vertices, block.faces[1:]))
    assert not is_watertight(
        TriangleMesh(block.vertices, block.faces[[0, *range(len(block.faces))]])
    )


def test_shells_of_condyles_are_closed_and_lie_behind_them():
    implant, _ = build_implant(default_study().implant)
    for surface in implant.femoral.values():
        shell = patch_shell(surface)
        assert is_watertight(shell)
        assert enclosed_volume(shell) > 0.0
        half = len(shell.vertices) // 2
        depth = np.linalg.norm(shell.vertices[:half] - shell.vertices[half:], axis=1)
        assert np.ptp(depth) < 1e-9
        # It is the depth times the mean area of front and back, which are its first and last faces.
        areas = np.linalg.norm(shell.face_normals, axis=1)
        count = 2 * (SAMPLES[0] - 1) * (SAMPLES[1] - 1)
        area = (areas[:count].sum() + areas[-count:].sum()) / 2.0
        assert enclosed_volume(shell) == pytest.approx(depth.mean() * area, rel=0.03)


class Rough:
    """A surface with the roughness of a scanned sheet: heights and normals of samples scatter."""

    def __init__(self, surface, height):
        self.surface, self.domain, self.height = surface, surface.domain, height
        self.random = np.random.default_rng(4)

    def evaluate(self, u, v):
        points = self.surface.evaluate(u, v)
        return points + self.random.normal(0.0, self.height, points.shape)

    def normal(self, u, v):
        normals = self.surface.normal(u, v)
        tilted = normals + self.random.normal(0.0, 30.0 * self.height, normals.shape)
        return tilted / np.linalg.norm(tilted, axis=-1, keepdims=True)


@pytest.mark.parametrize("height", [0.01, 0.02])  # mm; the rougher one needs a wider average
def test_shells_behind_rough_sheets_have_the_thickness_of_smooth_ones(height):
    implant, _ = build_implant(default_study().implant)
    for surface in implant.femoral.values():
        shell = patch_shell(Rough(surface, height))
        assert is_watertight(shell)
        half = len(shell.vertices) // 2
        depth = np.linalg.norm(shell.vertices[:half] - shell.vertices[half:], axis=1)
        np.testing.assert_allclose(depth, SHELL)
        assert enclosed_volume(shell) == pytest.approx(
            enclosed_volume(patch_shell(surface)), rel=0.02
        )


def test_worn_mesh_loses_what_its_elements_lose():
    implant, _ = build_implant(default_study().implant)
    grid = build_grid(implant, 40, 30)
    # A block around both plateaus with a fine top, which is flat as no insert is: only the
    # lowering counts.
    x, z = grid.corners[..., 0], grid.corners[..., 1]
    rows, columns = 160, 240
    points, quads = raster(rows, columns, 20.0)
    low, high = np.array([x.min(), z.min()]) - 2.0, np.array([x.max(), z.max()]) + 2.0
    points[:, [0, 2]] = low + points[:, [0, 2]] / [rows, columns] * (high - low)
    block = layer_solid(points, quads, points * [1.0, 0.0, 1.0])
    bearing = block.vertices[block.faces][:, :, 1].min(axis=1) > 10.0
    # A dent in each plateau, zero at its border.
    dent = np.outer(np.sin(np.linspace(0.0, np.pi, 40)), np.sin(np.linspace(0.0, np.pi, 30)))
    depth = np.where(grid.valid, dent, 0.0)
    worn = lower_surface(grid, depth, depth, smoothing=0.0, thins=False)
    lowered = worn_mesh(block, bearing, grid, worn)
    assert is_watertight(lowered)
    drop = np.where(grid.valid, (grid.centre - worn.centre)[..., 1], 0.0)
    cells = [np.prod(grid.cell_edges(side)) for side in range(len(drop))]
    expected = (drop.sum(axis=(1, 2)) * cells).sum()
    removed = enclosed_volume(block) - enclosed_volume(lowered)
    # Both are sums over rasters of half a millimetre.
    assert removed == pytest.approx(expected, rel=0.01)


def test_volume_of_a_sphere():
    sphere = sphere_mesh([5.0, 2.0, 1.0], 3.0, 201, 101)
    assert abs(enclosed_volume(sphere)) == pytest.approx(36.0 * np.pi, rel=1e-3)
