"""The distance table: how far it misses, how smooth it is, and what it leaves out."""

from __future__ import annotations

import logging
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kneewear.base.sides import SIDES
from kneewear.geometry import distance_tabulation
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.implant_sources import build_implant
from kneewear.io.shapes import load_shape
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.physics.bodies import cylinder, gait_study, sphere

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(11)


@cache
def default_table():
    """Surface and table of one of the two condyles, which are alike."""
    surface = gait_study().implant.femoral["medial"]
    return build_distance_table(surface, 5e-5), surface


def band_points(surface, count, depth=0.3, outside=0.45, rim=0.05):
    """Positions near a patch with their distance and normal, away from its borders."""
    (u0, u1), (v0, v1) = surface.domain
    u = u0 + (u1 - u0) * RNG.uniform(rim, 1 - rim, count)
    v = v0 + (v1 - v0) * RNG.uniform(rim, 1 - rim, count)
    height = RNG.uniform(-depth, outside, count)
    normal = surface.normal(u, v)
    return surface.evaluate(u, v) + height[:, None] * normal, height, normal


class TestDefaultImplant:
    @pytest.mark.slow
    def test_distance_is_met_within_a_twentieth_of_a_micrometre(self):
        table, surface = default_table()
        points, height, _ = band_points(surface, 40_000)
        distance, _, _, inside = table.look_up(points)
        assert inside.all()
        assert np.abs(distance - height).max() < 5e-5

    def test_hessian_is_the_derivative_of_the_gradient_and_that_of_the_distance(self):
        table, surface = default_table()
        points, _, _ = band_points(surface, 500, depth=0.2, outside=0.3)
        _, gradient, hessian, inside = table.look_up(points)
        assert inside.all()
        step = 1e-5
        for axis in range(3):
            shift = step * np.eye(3)[axis]
            above, below = table.look_up(points + shift), table.look_up(points - shift)
            # Third derivatives of a spline near a jump of curvature are about jump / spacing, 3 per
            # mm2; central differences err by less still.
            assert gradient[:, axis] == pytest.approx((above[0] - below[0]) / (2 * step), abs=1e-7)
            assert hessian[:, axis] == pytest.approx((above[1] - below[1]) / (2 * step), abs=1e-4)

    def test_second_derivative_has_no_jumps_where_that_of_the_distance_has(self):
        table, surface = default_table()
        # Across the joint of coronal arc and rim (curvature 1/284 to 1/5), in steps so small that
        # a continuous second derivative cannot change by much.
        (u0, u1), _ = surface.domain
        joint = surface.arrays.breaks_v[1]
        v = joint + np.linspace(-0.02, 0.02, 40_001)
        u = np.full(v.size, 0.4 * u0 + 0.6 * u1)
        points = surface.evaluate(u, v) - 0.05 * surface.normal(u, v)
        _, _, hessian, inside = table.look_up(points)
        assert inside.all()
        change = np.abs(np.diff(hessian, axis=0)).max()
        moved = np.linalg.norm(np.diff(points, axis=0), axis=1).max()
        jump = 1 / 5 - 1 / 284
        # Spread over a few cells of 0.07 mm; a jump would show whole in one step of 0.04 um.
        assert change < 3 * jump * moved / 0.07 + 1e-6
        assert change < 1e-3 * jump


@pytest.mark.parametrize("wanted", [1e-3, 1e-5])
def test_sphere_is_met(wanted):
    surface = sphere(25.0)
    table = build_distance_table(surface, wanted)
    points, height, normal = band_points(surface, 5000, rim=0.1)
    distance, gradient, _, inside = table.look_up(points)
    assert inside.all()
    assert np.abs(distance - height).max() < wanted
    assert np.linalg.norm(gradient - normal, axis=1).max() < np.radians(0.02)


def test_spacing_follows_the_wanted_error_and_costs_memory():
    coarse = build_distance_table(gait_study().implant.femoral["medial"], 2e-3).quality
    fine = default_table()[0].quality
    assert coarse.max_error_um < 2.0
    assert coarse.spacing_across_mm > 4 * fine.spacing_across_mm
    assert coarse.memory_mb < fine.memory_mb / 2


def test_spacing_is_the_last_before_the_error_whichever_it_is():
    for count in (1, 5, 7, 37):
        for first in range(count + 1):
            found = distance_tabulation._first_reached(lambda n, at=first: n >= at, count)
            assert found == min(first, count - 1)


def test_only_the_band_is_tabulated():
    surface = cylinder(20.0, 10.0)
    table = build_distance_table(surface, 1e-4)
    # Rows at one distance each, well inside the patch.
    turn = np.linspace(-0.4, 0.4, 21)
    for height, there in [(-3.0, False), (-0.25, True), (0.0, True), (0.4, True), (4.0, False)]:
        radius = 20.0 + height
        points = np.column_stack([radius * np.sin(turn), -radius * np.cos(turn), 3.0 * turn])
        distance, _, _, inside = table.look_up(points)
        assert (inside == there).all()
        assert np.isnan(distance).all() != there
    beside = np.array([[0.0, -20.0, 10.5], [0.0, -20.0, -12.0], [0.0, 0.0, 0.0]])
    assert not table.look_up(beside)[3].any()


def test_an_error_out_of_reach_is_a_fault_of_the_table_that_its_user_warns_of(monkeypatch, caplog):
    monkeypatch.setattr(distance_tabulation, "LARGEST", 500_000)
    with caplog.at_level(logging.WARNING):
        table = build_distance_table(gait_study().implant.femoral["medial"], 5e-5)
    assert not caplog.records
    assert table.quality.faults()
    assert table.quality.excess() > 1.0
    assert table.quality.memory_mb <= 0.5


@pytest.fixture(scope="module")
def real_implant():
    base = read_settings(ROOT / "config/defaults.yaml")
    settings = validate_study(
        merge_settings(base, read_settings(ROOT / "config/dm_fluoroscopy.yaml"))
    ).implant
    folder = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data")
    paths = [folder / settings.meshes.insert, folder / settings.meshes.femoral]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"no real implant data in {folder} (set KNEEWEAR_DATA)")
    return build_implant(settings, *(load_shape(path) for path in paths))[0]


@pytest.mark.slow
@pytest.mark.parametrize("side", SIDES)
def test_real_implant_is_met_on_the_flat_and_at_its_edges(real_implant, side):
    quality = build_distance_table(real_implant.femoral[side], 3e-5).quality
    # Asked for: 0.5 um on the flat, 2 um at rounded edges, 0.02 deg, 16 MB.
    assert quality.max_error_um < 0.03
    assert quality.max_edge_error_um < 0.12
    assert quality.smooth_normal_error_deg < 0.02
    assert quality.memory_mb < 16.0
