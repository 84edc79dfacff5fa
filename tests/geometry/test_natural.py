"""The natural knee of `natural_knee/` in the data folder: fits, layers, elements."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from kneewear.base.sides import SIDES
from kneewear.geometry.grid import bearing_of, build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.meshes import to_knee_axes
from kneewear.geometry.plane import Plane
from kneewear.geometry.table import tabulate_surface
from kneewear.geometry.thickness import joint_thickness, with_layer_thickness
from kneewear.io.shapes import load_shape
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.refusals import refusal

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve() / "natural_knee"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the data folder {DATA} is absent")

# Published mean deviations of the cartilage fits, mm (Bei 2003, section 2.2.1).
PUBLISHED_MEAN = {"femoral": 0.14, "insert": 0.19}
FILES = {
    "femoral_mesh": "femur_cartilage",
    "femoral_bone_mesh": "femur_subchondral_bone",
    "insert_mesh": "tibia_cartilage",
    "insert_bone_mesh": "tibia_subchondral_bone",
}
CONFIG = ROOT / "config"
SETTINGS = validate_study(
    merge_settings(
        read_settings(CONFIG / "defaults.yaml"), read_settings(CONFIG / "papers/natural_knee.yaml")
    )
).implant


@pytest.fixture(scope="module")
def meshes():
    return {name: load_shape(DATA / f"{file}.stl") for name, file in FILES.items()}


@pytest.fixture(scope="module")
def built(meshes):
    knee, record = build_implant(SETTINGS, **meshes)
    return knee, record.fit_quality


@pytest.mark.slow
@needs_data
class TestNaturalKnee:
    def test_fits_deviate_no_more_than_published(self, built):
        knee, quality = built
        assert knee.natural
        assert len(quality) == 8
        for fit in quality:
            body = fit.component.removesuffix("_bone")
            # Met several times over: 0.02-0.03 mm with 3 mm between the knots.
            assert fit.mean_mm < 0.04 < PUBLISHED_MEAN[body]
            assert fit.n_points > 500

    def test_tibial_layer_is_the_distance_to_the_bones_mesh(self, built, meshes):
        knee, _ = built
        bone = to_knee_axes(
            meshes["insert_bone_mesh"], "m", SETTINGS.natural.axes.model_dump(), "right"
        )
        weights = np.array([(i, j, 8 - i - j) for i in range(9) for j in range(9 - i)]) / 8.0
        corners = bone.vertices[bone.faces]
        samples = (weights @ corners).reshape(-1, 3)
        border = cKDTree(bone.vertices[bone.border_vertices])
        wide = replace(knee, insert_layer=replace(knee.insert_layer, limits=(0.01, 99.0)))
        grid = build_grid(wide, 30, 24)
        for number in range(2):
            on = grid.valid[number]
            away, nearest = cKDTree(samples).query(grid.centre[number][on])
            # The bone's sheet ends under the flank of the eminence; there is nothing to compare.
            over = (border.query(samples[nearest])[0] > 1.0) & (grid.thickness[number][on] > 0.5)
            assert over.mean() > 0.5
            error = np.abs(grid.thickness[number][on] - away)[over]
            assert error.mean() < 0.03
            assert error.max() < 0.25

    def test_elements_carry_a_layer_within_its_limits(self, built):
        knee, _ = built
        grid = build_grid(knee, 40, 30)
        for number, side in enumerate(SIDES):
            valid = grid.valid[number]
            thickness = grid.thickness[number][valid]
            assert thickness.min() == 2.0
            # Cartilage beyond its bone has the distance to the nearest bone, which is larger.
            beyond = bearing_of(knee, side).without_bone(grid.centre[number][valid])
            assert 0.0 < beyond.mean() < 0.35
            assert 2.3 < thickness[~beyond].max() < 4.6
            assert thickness.max() <= SETTINGS.natural.tibial_thickness_mm[1]
            share = (grid.area[number] * np.nan_to_num(grid.normal[number][..., 1])).sum()
            assert share == pytest.approx(knee.coverage[side].area, rel=1e-6)
        # No element is a natural knee's least thickness thinner or thicker.
        assert np.nanmin(grid.case_thickness(knee.nominal_thickness)) == 2.0

    def test_areas_sum_to_that_of_the_covered_patch(self, built, meshes):
        knee, _ = built
        sheet = to_knee_axes(
            meshes["insert_mesh"], "m", SETTINGS.natural.axes.model_dump(), "right"
        )
        corners = sheet.vertices[sheet.faces]
        # Over the plan of each triangle, by the three mid-points of its sides.
        midpoints = 0.5 * (corners + np.roll(corners, 1, axis=1))[..., [0, 2]]
        grid = build_grid(knee, 100, 75)
        for number, (side, sign) in enumerate(zip(SIDES, (1, -1), strict=True)):
            own = sign * corners[:, :, 2].mean(axis=1) > 0
            plan = midpoints[own].reshape(-1, 2)
            u, v = Plane().projection(knee.insert[side])(plan)
            assert np.abs(knee.insert[side].evaluate(u, v)[:, [0, 2]] - plan).max() < 1e-9
            upward = knee.insert[side].normal(u, v)[:, 1].reshape(-1, 3)
            exact = (sheet.face_normals[own, 1] * (1.0 / upward).mean(axis=1)).sum()
            assert grid.area[number].sum() == pytest.approx(exact, rel=1e-3)
            # The patch leaves out the voxel steps of the mesh, and with them 1 % of its area.
            rough = np.linalg.norm(sheet.face_normals[own], axis=1).sum()
            assert grid.area[number].sum() == pytest.approx(rough, rel=0.02)

    def test_contact_has_both_layers(self, built):
        knee, _ = built
        grid = build_grid(knee, 40, 30)
        for number, side in enumerate(SIDES):
            layer = knee.femoral_layer
            samples = tabulate_surface(knee.femoral[side], 121, 61)
            table = with_layer_thickness(samples, layer.bone[side], layer.limits)
            thickness = table.column("thickness_mm")
            assert 1.0 == thickness.min() < thickness.max() < 4.0
            # The source's frames coincide at zero coordinates: the knee stands.
            points = grid.centre[number][grid.valid[number]]
            u, v, gap, _, interior = knee.femoral[side].closest_points(points)
            near = interior & (gap < 1.0)
            assert near.sum() > 20
            fixed = grid.thickness[number][grid.valid[number]]
            both = joint_thickness(fixed, table, u, v)[near]
            assert 3.0 <= both.min() < both.max() < 9.0
            assert np.ptp(both - fixed[near]) > 0.1

    def test_exchanged_sheets_are_refused(self, meshes):
        wrong = meshes | {
            "insert_mesh": meshes["insert_bone_mesh"],
            "insert_bone_mesh": meshes["insert_mesh"],
        }
        refusal(build_implant, SETTINGS, **wrong)

    def test_sparser_fit_than_the_tolerance_needs_is_refused(self, meshes):
        spacing = SETTINGS.natural.knot_spacing_mm.model_copy(update={"along": 8.0, "across": 8.0})
        natural = SETTINGS.natural.model_copy(update={"knot_spacing_mm": spacing})
        sparse = SETTINGS.model_copy(update={"natural": natural})
        refusal(build_implant, sparse, **meshes)
