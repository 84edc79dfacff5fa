"""The worn insert in STL, STEP and CSV is the fresh one less its damage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from kneewear import default_study
from kneewear.base.cases import Case
from kneewear.base.schemas import DAMAGE
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.io.cad import cad_is_installed
from kneewear.io.shapes import load_shape
from kneewear.motion.history import case_coordinates, failure_attribute
from kneewear.report.worn_insert import save_worn_insert
from kneewear.wear.worn_surface import lower_surface, worn_patches

LIVES = ("walk",)


@pytest.fixture(scope="module")
def grid():
    implant, _ = build_implant(default_study().implant)
    return build_grid(implant, 60, 45)


@pytest.fixture(scope="module")
def maps(grid):
    """A dent on each side, a third of it creep."""
    middle = grid.centre[..., 2].mean(axis=(1, 2), keepdims=True)
    away = np.hypot(grid.centre[..., 0], grid.centre[..., 2] - middle)
    damage = np.where(grid.valid, 0.3 * np.exp(-((away / 5.0) ** 2)), 0.0)[None, None]
    pressure = np.where(damage > 0.0, 10.0, 0.0)
    return DAMAGE.dataset(
        {
            "life": LIVES,
            "activity": ("gait",),
            "shares": np.ones((1, 1)),
            **case_coordinates((Case("own", 8.0, 70.0),)),
            "side": grid.sides,
            "wear_depth": damage * 2.0 / 3.0,
            "creep_depth": damage / 3.0,
            "damage_depth": damage,
            "max_pressure": pressure,
            "avg_pressure": np.full((1, 1, 2), 5.0),
            "cross_shear": np.zeros_like(damage),
        },
        **failure_attribute(()),
    )


def below(mesh):
    """Volume between a mesh and the plane y = 0, mm3, and its normals' heights."""
    corners = mesh.vertices[mesh.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(np.sum(corners[..., 1].mean(axis=1) * across[:, 1]) / 2.0), across[:, 1]


@pytest.mark.parametrize("left", [False, True])
def test_stl_lacks_the_volume_of_the_damage(maps, grid, tmp_path, left):
    none = xr.zeros_like(maps.damage_depth)
    fresh = maps.assign(wear_depth=none, creep_depth=none, damage_depth=none)
    volumes = []
    for number, one in enumerate((fresh, maps)):
        save_worn_insert(one, grid, "own", tmp_path / str(number), left)
        volume, up = below(load_shape(tmp_path / str(number) / "own.stl"))
        assert (up > 0.0).all()
        volumes.append(volume)
    wanted = float(np.sum(maps.damage_depth[0, 0] * grid.area))
    # Corners are means of neighbours, which smooths a dent at the border of the grid.
    assert volumes[0] - volumes[1] == pytest.approx(wanted, rel=2e-3)


def test_table_has_every_element_mirrored_back(maps, grid, tmp_path):
    save_worn_insert(maps, grid, "own", tmp_path, left=True)
    table = pd.read_csv(tmp_path / "own.csv")
    assert len(table) == grid.valid.sum()
    np.testing.assert_array_equal(table["x_mm"], -grid.centre[grid.valid][:, 0])
    np.testing.assert_array_equal(table["wear_depth_mm"], maps.wear_depth.values[0, 0][grid.valid])
    total = (table["damage_depth_mm"] * table["area_mm2"]).sum()
    assert total == pytest.approx(float((maps.damage_depth[0, 0] * grid.area).sum()))


def test_patches_pass_through_the_worn_elements_and_look_up(maps, grid):
    depth, wear = maps.damage_depth.values[0, 0], maps.wear_depth.values[0, 0]
    worn = lower_surface(grid, depth, wear, smoothing=0.0, thins=False)
    for side, (name, patch) in enumerate(worn_patches(worn).items()):
        assert name == grid.sides[side]
        rows, columns = depth.shape[1:]
        points = patch.evaluate(np.arange(columns)[None, :] * 1.0, np.arange(rows)[:, None] * 1.0)
        # Centres of elements that are partly covered are off the middle of their cell.
        whole = grid.covered[side] > 0.999
        np.testing.assert_allclose(points[whole], worn.centre[side][whole], atol=1e-9)
        np.testing.assert_allclose(points[..., 1], worn.centre[side, ..., 1], atol=1e-9)
        assert (patch.normal(np.array([3.5]), np.array([4.5]))[..., 1] > 0.0).all()


@pytest.mark.skipif(not cad_is_installed(), reason="needs the optional extra `cad`")
def test_step_has_both_plateaus(maps, grid, tmp_path):
    from tests.io.step_patches import load_patches

    written = save_worn_insert(maps, grid, "own", tmp_path)
    assert [path.suffix for path in written] == [".csv", ".stl", ".step"]
    patches = load_patches(written[-1])
    assert len(patches) == 2
    worn = lower_surface(grid, maps.damage_depth[0, 0], maps.wear_depth[0, 0], 0.0, False)
    for found, patch in zip(patches, worn_patches(worn).values(), strict=True):
        np.testing.assert_allclose(found.control_points, patch.control_points, atol=1e-6)
