"""Strings over bones: at rest, outside, as long as the geodesic, optimal."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from kneewear.analysis.literature import AIM
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.primitives import sphere
from kneewear.io.shapes import load_shape
from kneewear.knees.papers.muscle_string.model import compare_source_string, source_string
from kneewear.knees.papers.muscle_string.string import MeshObstacle, SurfaceObstacle, stretch_string
from kneewear.knees.tissue.files import FileFrame, read_muscles
from kneewear.knees.tissue.wrapping import WrapObject, shortest_path
from kneewear.mechanics.rotations import turns_312

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve() / "natural_knee"


def ball(meridians=36, rings=19):
    """Sphere of radius 1: 686 points and 1368 triangles as the source's, if it had this grid."""
    polar = np.pi * np.arange(1, rings + 1) / (rings + 1)
    round_ = 2.0 * np.pi * np.arange(meridians) / meridians
    ring = [
        (np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)) for a in polar for b in round_
    ]
    faces = []
    for c in range(meridians):
        d = (c + 1) % meridians
        faces.append((0, 1 + c, 1 + d))
        last = 1 + (rings - 1) * meridians
        faces.append((1 + rings * meridians, last + d, last + c))
        for r in range(rings - 1):
            a = 1 + r * meridians
            faces.append((a + c, a + meridians + c, a + d))
            faces.append((a + d, a + meridians + c, a + meridians + d))
    return TriangleMesh(np.array([(0, 0, 1), *ring, (0, 0, -1)], float), np.array(faces))


MESH = MeshObstacle(ball())
ENDS = np.array([[-1.5, 0.1, 0.1], [1.4, 0.2, 0.5]])


def geodesic(ends):
    return shortest_path(WrapObject("ball", "sphere", "femur", (1.0, 0, 0)), *ends).length


@pytest.mark.parametrize("points", [5000])
def test_closest_points_are_those_of_every_triangle(points):
    rng = np.random.default_rng(3)
    spots = rng.normal(size=(points, 3))
    found, outward, gap = MESH.closest(spots)
    corners = MESH.mesh.vertices[MESH.mesh.faces]
    for n in range(0, points, 250):
        # Sampling of every triangle bounds the distance from above, planes from below.
        w = rng.dirichlet(np.ones(3), 200)
        samples = np.einsum("wk,nkd->nwd", w, corners).reshape(-1, 3)
        sampled = np.linalg.norm(samples - spots[n], axis=1).min()
        assert abs(gap[n]) <= sampled + 1e-12
        assert abs(gap[n]) == pytest.approx(sampled, abs=5e-3)
    np.testing.assert_allclose(found + gap[:, None] * outward, spots, atol=1e-12)
    radius = np.linalg.norm(spots, axis=1)
    assert (gap[radius > 1.0] > 0.0).all() and (gap[radius < 0.98] < 0.0).all()


@pytest.mark.parametrize("nodes", [20, 40, 80])
def test_length_over_a_sphere_is_the_geodesic_within_the_error_of_nodes_and_facets(nodes):
    path = stretch_string(*ENDS, [MESH], nodes=nodes)
    on = np.count_nonzero(path.touched >= 0)
    assert on > nodes // 4
    # Facets are up to 1 - cos(pi / 36) inside the sphere; chords shorten the arc, of 1.5 rad.
    facets = 1.0 - np.cos(np.pi / 36) ** 2
    chords = (1.5 / on) ** 2 / 24.0
    exact = geodesic(ENDS)
    assert -1.6 * (facets + chords) < path.length - exact < 1e-12


def test_error_on_a_smooth_sphere_falls_with_the_square_of_the_nodes():
    # Under the lower part of a sphere, as that of a patch.
    ends = np.array([[-1.5, -0.5, 0.1], [1.4, -0.6, 0.3]])
    patch = SurfaceObstacle(sphere(1.0))

    def path(nodes):
        share = np.linspace(0.0, 1.0, nodes + 2)[1:-1, None]
        bow = (1.0 - share) * ends[0] + share * ends[1] - np.sin(np.pi * share) * (0.0, 0.9, 0.0)
        return stretch_string(*ends, [patch], nodes=nodes, begin=bow, tolerance=1e-9)

    errors = [geodesic(ends) - path(nodes).length for nodes in (20, 80)]
    assert path(20).gap.min() > -1e-5
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.6)


def test_no_node_is_inside_and_the_programme_is_optimal():
    path = stretch_string(*ENDS, [MESH])
    assert path.gap.min() > -1e-5
    assert path.residual < 1e-10
    assert (path.pressing[path.touched < 0] == 0.0).all()
    outward = MESH.closest(path.nodes[1:-1])[1]
    assert ((path.pressing * outward).sum(-1) >= 0.0).all()


def test_pulls_and_pressing_balance():
    # The tension, one over the spacing, varies by the square of the turn per node.
    path = stretch_string(*ENDS, [MESH], nodes=80)
    np.testing.assert_allclose(path.pressing.sum(axis=0), path.pulls.sum(axis=0), atol=5e-3)


def test_source_problem_over_its_length_of_string():
    start, path = source_string()
    assert len(start) == 22
    assert path.length == pytest.approx(4.132996, abs=5e-3)
    assert path.iterations <= 9
    verdicts = compare_source_string().set_index("quantity")["verdict"]
    assert verdicts["length of the source's string at the end"] == AIM


def test_two_obstacles_hold_one_string():
    other = TriangleMesh(MESH.mesh.vertices + (2.4, -0.4, 0.6), MESH.mesh.faces)
    path = stretch_string(ENDS[0], (4.4, 0.0, 0.3), [MESH, MeshObstacle(other)], nodes=40)
    assert {0, 1} <= set(path.touched)
    assert path.gap.min() > -1e-5


@pytest.mark.skipif(
    not (DATA / "femur_cartilage.stl").is_file(),
    reason=f"no data of the natural knee in {DATA} (set KNEEWEAR_DATA to the folder above it)",
)
def test_the_quadriceps_of_a_measured_knee_slides_over_its_femur():
    femur = load_shape(DATA / "femur_cartilage.stl")
    femur = MeshObstacle(TriangleMesh(1000.0 * femur.vertices, femur.faces), margin=40.0)
    frames = {
        "femur": FileFrame("femur", (5.5514, 374.1814, 1.1706)),
        "patella": FileFrame("patella"),
    }
    muscles = {one.name: one for one in read_muscles(DATA / "quadriceps.csv", frames)}
    (_, above), (_, insertion) = muscles["vasint"].path[-2:]
    lengths, touching = [], []
    for flexion in (20.0, 60.0, 80.0, 90.0):
        # The patella follows the trochlea about the epicondylar axis; measured up to 46 degrees.
        turn = turns_312(np.radians([-flexion, 0.0, 0.0]))
        end = turn @ (np.asarray(insertion) + (53.0, 5.0, 4.0))
        share = np.linspace(0.0, 1.0, 32)[1:-1, None]
        bow = (1.0 - share) * above + share * end + 30.0 * np.sin(np.pi * share) * (1.0, 0.3, 0.0)
        path = stretch_string(
            above, end, [femur], nodes=30, begin=bow, tolerance=3e-4, muscle="vasint"
        )
        assert path.gap.min() > -0.05
        lengths.append(path.length)
        touching.append(np.count_nonzero(path.touched >= 0))
        assert path.length >= np.linalg.norm(end - above) - 1e-9
    assert touching[0] == 0 and touching[-1] >= 2
    assert np.all(np.diff(lengths) > 0.0)
