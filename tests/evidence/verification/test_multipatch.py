"""Several patches answer as the one surface they were cut from."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.multipatch import PatchSet
from tests.geometry.example_implant import example_implant
from tests.geometry.patches import count_holes, find_seams, split_surface
from tests.geometry.test_surface import wavy

CONDYLE = example_implant().femoral["medial"]
# Inserting knots rounds numbers of 40 mm a few dozen times.
EXACT = 1e-10
CUTS = {12: (4, 3), 96: (12, 8)}


@pytest.fixture(scope="module", params=CUTS)
def split(request):
    cuts = CUTS[request.param]
    patches = tuple(split_surface(CONDYLE, *cuts))
    assert len(patches) == request.param
    return PatchSet(patches, tolerance=1e-6), cuts


def parameters(cuts, count=900):
    """Parameters all over the condyle, a third of them exactly on seams and corners of seams."""
    (u0, u1), (v0, v1) = CONDYLE.domain
    random = np.random.default_rng(5)
    u, v = random.uniform(u0, u1, count), random.uniform(v0, v1, count)
    third = count // 3
    u[: third // 2] = random.choice(np.linspace(u0, u1, cuts[0] + 1)[1:-1], third // 2)
    v[third // 4 : third] = random.choice(
        np.linspace(v0, v1, cuts[1] + 1)[1:-1], third - third // 4
    )
    return u, v


@pytest.mark.parametrize("rational", [False, True])
def test_pieces_have_the_points_of_the_whole(rational):
    surface = wavy(rational=rational)
    for patch in split_surface(surface, 3, 5):
        (u0, u1), (v0, v1) = patch.domain
        u, v = np.linspace(u0, u1, 7)[:, None], np.linspace(v0, v1, 7)
        assert patch.evaluate(u, v) == pytest.approx(surface.evaluate(u, v), abs=EXACT)
        assert patch.normal(u, v) == pytest.approx(surface.normal(u, v), abs=1e-9)


@pytest.mark.compiled
def test_every_patch_finds_its_neighbours(split):
    body, (along, across) = split
    inner = (along - 1) * across + (across - 1) * along
    seams = find_seams(body)
    assert len(seams) == 2 * inner
    assert max(seam.gap for seam in seams) < EXACT
    assert all(seam.share == 1.0 for seam in seams)
    pairs = {(seam.patch, seam.neighbour) for seam in seams}
    assert pairs == {(b, a) for a, b in pairs}


@pytest.mark.compiled
def test_seams_have_no_holes(split):
    body, cuts = split
    assert count_holes(body) == 0
    u, v = parameters(cuts)
    point, normal = CONDYLE.evaluate(u, v), CONDYLE.normal(u, v)
    *_, distance, hit = body.ray_hits(point + 3.0 * normal, -normal)
    assert hit.all()
    assert distance == pytest.approx(CONDYLE.ray_hits(point + 3.0 * normal, -normal)[2], abs=1e-9)


def test_distance_is_that_of_the_whole(split):
    body, cuts = split
    u, v = parameters(cuts)
    for height in (0.5, -0.5):
        points = CONDYLE.evaluate(u, v) + height * CONDYLE.normal(u, v)
        *_, distance, normal, interior = body.closest_points(points)
        assert interior.all()
        assert distance == pytest.approx(CONDYLE.closest_points(points)[2], abs=1e-9)
        assert normal == pytest.approx(CONDYLE.normal(u, v), abs=1e-6)


def test_points_beside_the_whole_have_no_foot(split):
    body, _ = split
    beside = CONDYLE.evaluate(CONDYLE.domain[0][0], 0.5) + [0.0, 0.0, 0.0]
    _, s_u, *_ = CONDYLE.derivatives(CONDYLE.domain[0][0], 0.5)
    point = beside - 2.0 * s_u / np.linalg.norm(s_u)
    assert not body.closest_points(point[None])[-1].any()
