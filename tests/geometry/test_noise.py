"""Noise of scans is told from shape."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.extraction import extract_condyles, extract_plateaus
from kneewear.geometry.fit_search import without_bad_borders
from kneewear.geometry.fitting import FitSettings
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.noise import estimate_noise
from kneewear.geometry.refinement import subdivided
from kneewear.geometry.segmentation import segment_condyles
from tests.transformations.implants import cruciate_retaining, posterior_stabilised, smooth_femoral


def sphere_cap(count, radius=25.0, reach=15.0):
    """Points of a sphere about its lowest place, in no order."""
    random = np.random.default_rng(3)
    x, z = random.uniform(-reach, reach, (2, count))
    return np.column_stack([x, -np.sqrt(radius**2 - x**2 - z**2), z])


@pytest.mark.parametrize("noise", [0.005, 0.015, 0.05])
def test_noise_of_a_sphere_is_found(noise):
    points = sphere_cap(2000)
    noisy = points + noise * np.random.default_rng(4).normal(size=points.shape)
    assert estimate_noise(noisy) == pytest.approx(noise, rel=0.1)


def test_shapes_without_noise_have_hardly_any():
    assert estimate_noise(sphere_cap(2000)) < 0.001
    femoral = cruciate_retaining(1.0).femoral.vertices
    assert estimate_noise(femoral[femoral[:, 1] < femoral[:, 1].min() + 6.0]) < 0.002


def test_few_points_have_no_noise():
    assert estimate_noise(sphere_cap(10)) == 0.0


def test_condyles_do_not_end_where_the_noise_of_a_scan_is_largest():
    """The largest of some thousand deviations of 15 um is about 60 um, here near a border."""
    femoral = smooth_femoral(0.8)
    noise = np.random.default_rng(4).normal(scale=0.015, size=femoral.vertices.shape)
    sheet = extract_condyles(TriangleMesh(femoral.vertices + noise, femoral.faces), "file").sheet
    condyles, _ = segment_condyles(sheet)
    settings = FitSettings(4.0, 2.3, 0.6, np.inf, densest=True)
    assert without_bad_borders(sheet, condyles, settings, 0.015) == condyles


def test_a_post_of_long_triangles_hides_what_is_under_it_with_noise_too():
    """Noise leaves the flat faces of a box no planes that are subdivided."""
    insert = posterior_stabilised(0.7).insert
    noise = np.random.default_rng(5).normal(scale=0.015, size=insert.vertices.shape)
    noisy = subdivided(TriangleMesh(insert.vertices + noise, insert.faces))
    sheet = extract_plateaus(noisy, "file").sheet
    x, _, z = sheet.vertices.T
    assert not ((np.abs(x + 3.5) < 4.0) & (np.abs(z) < 4.5)).any()
