"""Profiles of the planar knee that are sections of meshes."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh, sagittal_section, sphere_mesh, woven
from kneewear.knees.impacts import integrate_impacts
from kneewear.knees.inputs import load_parts
from kneewear.knees.papers.planar_knee.model import FREE, build_planar
from kneewear.mechanics.rotations import body_three_123
from tests.knees.papers.test_machado_knees import PLANAR, settings

# Of the femoral profile of the shipped study.
CENTRE = np.array([-13.98, -17.21])
RADIUS = 30.4
# The centre is rounded to 0.01 mm, angles of the shipped points to 0.01 deg; radii change by up to
# 30 mm per radian.
ROUNDING = 0.005 * np.sqrt(2.0) + np.radians(0.005) * 30.0


def written(path, mesh):
    """Mesh as an OBJ file in m."""
    lines = [f"v {x} {y} {z}" for x, y, z in 1e-3 * mesh.vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in mesh.faces + 1]
    path.write_text("\n".join(lines))
    return path


def knee(name="femoral_profile", **outline):
    """Shipped study with an outline in place of a profile."""
    own = {
        "mesh": "femur.obj",
        "unit": "m",
        "z_mm": 0.0,
        "origin_mm": [0.0, 0.0],
        "angle_deg": [-215.0, 35.0],
        "points": 28,
        **outline,
    }
    return settings("planar_knee", **{name: {"angle_deg": None, "radius_mm": None, "outline": own}})


def cylinder(centre, radius, around=361, waves=0.0):
    """Cylinder along z, 20 mm long, with 40 waves of so many mm around."""
    turn = np.linspace(0.0, 2.0 * np.pi, around)
    local = radius + waves * np.sin(40.0 * turn)
    rows = [
        np.stack(
            [centre[0] + local * np.cos(turn), centre[1] + local * np.sin(turn), 0.0 * turn + z], -1
        )
        for z in (-10.0, 10.0)
    ]
    return woven(np.array(rows))


def ray_length(angle, centre, radius):
    """Distance from the origin to the farther place of a circle."""
    along = np.cos(angle) * centre[0] + np.sin(angle) * centre[1]
    left = np.cos(angle) * centre[1] - np.sin(angle) * centre[0]
    return along + np.sqrt(radius**2 - left**2)


@pytest.mark.parametrize("z", [0.0, 12.3])
def test_the_outline_of_a_sphere_is_its_circle(tmp_path, z):
    """At the equator and off it, seen from within."""
    path = written(tmp_path / "ball.obj", sphere_mesh([3.0, -5.0, 2.0], RADIUS, 361, 181))
    one = knee(z_mm=2.0 + z, origin_mm=[1.0, -1.0])
    profile = load_parts(one, {"femoral_profile": path})["femoral_profile"]
    angle, radius = profile.points
    assert len(angle) == 28 and angle[[0, -1]] == pytest.approx(np.radians([-215.0, 35.0]))
    exact = ray_length(angle, [2.0, -4.0], np.sqrt(RADIUS**2 - z**2))
    # Sagitta of an edge of one degree, along and across.
    sagitta = 2.0 * RADIUS * (1.0 - np.cos(np.radians(0.5))) / np.sqrt(1.0 - (z / RADIUS) ** 2)
    assert np.all(radius <= exact + 1e-6)
    np.testing.assert_allclose(radius, exact, atol=1.5 * sagitta)


def test_a_tibia_has_the_place_farthest_from_its_centre_of_mass(tmp_path):
    """Turned by -90 deg: superior is its first axis, anterior minus its second."""
    path = written(tmp_path / "plateau.obj", cylinder([4.0, -60.0], 40.0))
    one = knee(
        "tibial_profile", origin_mm=[10.0, -220.0], rotation_deg=-90, angle_deg=[-5, 8], points=18
    )
    angle, radius = load_parts(one, {"tibial_profile": path})["tibial_profile"].points
    sagitta = 40.0 * (1.0 - np.cos(np.radians(0.5)))
    np.testing.assert_allclose(radius, ray_length(angle, [160.0, 6.0], 40.0), atol=1.5 * sagitta)


def test_an_outline_touches_where_the_given_points_touch(tmp_path):
    """A cylinder through the shipped femoral points; its axis, in the mesh, is elsewhere."""
    origin = np.array([20.0, 15.0])
    path = written(tmp_path / "femur.obj", cylinder(CENTRE + origin, RADIUS, around=3601))
    one = knee(origin_mm=origin.tolist())
    parts = load_parts(one, {"femoral_profile": path})
    assert set(parts) == {"femoral_profile"}
    _, radius = PLANAR.femoral_profile.points
    np.testing.assert_allclose(parts["femoral_profile"].points[1], radius, atol=ROUNDING)
    for spline in PLANAR.splines:
        found = []
        for own in (PLANAR, one.model_copy(update=parts)):
            system, start = build_planar(own, "healthy", "hertz", spline, 50.0)
            shape = system.actions["contact"].law.shapes
            turn = body_three_123([0.0, 0.0, start[5]])
            first = shape.angles
            found.append(shape.touch(turn, start[:3]))
            # The search starts within a step of the points, 9.3 and 1 deg.
            assert np.all(np.abs(shape.angles - first) < np.radians([9.3, 1.0]))
        assert found[1].depth == pytest.approx(found[0].depth, abs=ROUNDING)
        # Points of the tibial line, 3.5 mm apart, are rounded to 1e-4 mm.
        np.testing.assert_allclose(found[1].normal, found[0].normal, atol=3e-5)
        # The tibia is a line: the normal is fixed, and points along it are less certain.
        np.testing.assert_allclose(found[1].point, found[0].point, atol=0.1)


def test_smoothing_takes_waves_of_the_mesh_away(tmp_path):
    """Waves of 0.1 mm have an rms of 0.07 mm; the smooth curve is the circle between them."""
    path = written(tmp_path / "rough.obj", cylinder([0.0, 0.0], RADIUS, 3601, waves=0.1))
    error = {}
    for smoothing in (0.0, 0.08):
        one = knee(smoothing_mm=smoothing, points=60)
        _, radius = load_parts(one, {"femoral_profile": path})["femoral_profile"].points
        error[smoothing] = np.abs(radius - RADIUS).max()
    assert error[0.0] > 0.09
    assert error[0.08] < 0.3 * error[0.0]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"z_mm": 10.5}, "z_mm"),
        ({"unit": "mm", "z_mm": 5.0}, "z_mm"),
        ({"origin_mm": [100.0, 0.0]}, "angle_deg"),
    ],
)
def test_a_section_that_misses_its_mesh_is_refused(tmp_path, change, key):
    path = written(tmp_path / "femur.obj", cylinder([0.0, 0.0], RADIUS))
    with pytest.raises(InputDataError) as refused:
        load_parts(knee(**change), {"femoral_profile": path})
    assert f"multibody.femoral_profile.outline.{key}" in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_range_opposite_to_an_open_mesh_is_refused(tmp_path):
    """The upper half of a cylinder, sought below."""
    whole = cylinder([0.0, 0.0], RADIUS)
    upper = whole.part((whole.vertices[whole.faces, 1] >= -1e-9).all(axis=1))
    path = written(tmp_path / "femur.obj", upper)
    load_parts(knee(angle_deg=[10.0, 170.0]), {"femoral_profile": path})
    with pytest.raises(InputDataError) as refused:
        load_parts(knee(angle_deg=[-170.0, -10.0]), {"femoral_profile": path})
    assert "multibody.femoral_profile.outline.angle_deg" in str(refused.value)


def test_an_origin_on_the_outline_is_refused(tmp_path):
    path = written(tmp_path / "femur.obj", cylinder([0.0, 0.0], RADIUS))
    with pytest.raises(InputDataError) as refused:
        one = knee(origin_mm=[0.0, RADIUS - 0.2], angle_deg=[10.0, 170.0])
        load_parts(one, {"femoral_profile": path})
    assert str(path) in str(refused.value)


def test_a_rough_outline_without_a_common_normal_is_refused(tmp_path):
    """Waves of 2 mm: concave places, where two profiles share many normals or none."""
    path = written(tmp_path / "rough.obj", cylinder(CENTRE, RADIUS, 3601, waves=2.0))
    one = knee(points=60)
    rough = one.model_copy(update=load_parts(one, {"femoral_profile": path}))
    system, start = build_planar(rough, "healthy", "hertz", "cubic", 50.0)
    with pytest.raises(InputDataError) as refused:
        integrate_impacts(system, np.linspace(0.0, 0.3, 31), start, FREE)
    assert "multibody.femoral_profile" in str(refused.value)


def test_a_missing_mesh_is_refused(tmp_path):
    path = tmp_path / "none.obj"
    with pytest.raises(InputDataError) as refused:
        load_parts(knee(), {"femoral_profile": path})
    assert str(path) in str(refused.value)


def test_a_profile_has_points_or_an_outline():
    outline = knee().femoral_profile.outline.model_dump()
    for change in (
        {"outline": outline},
        {"outline": outline, "angle_deg": None},
        {"angle_deg": None, "radius_mm": None},
        {"radius_mm": None},
    ):
        with pytest.raises(InputDataError) as refused:
            settings("planar_knee", femoral_profile=change)
        assert "multibody.femoral_profile" in str(refused.value)


def test_a_vertex_on_the_plane_is_cut_once(tmp_path):
    """A tetrahedron with a corner at the plane's height, and one whose face is below it."""
    corners = np.array([[0.0, 0.0, -1.0], [9.0, 0.0, -1.0], [0.0, 9.0, -1.0], [0.0, 0.0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    mesh = TriangleMesh(corners, faces)
    found = sagittal_section(mesh, 0.0)
    ends = np.unique(found.reshape(-1, 2).round(9), axis=0)
    np.testing.assert_allclose(ends, [[0.0, 0.0], [0.0, 4.5], [4.5, 0.0]])
    assert len(found) == 3 and len(sagittal_section(mesh, 1.5)) == 0
    at_corner = sagittal_section(mesh, 1.0)
    np.testing.assert_allclose(at_corner, np.zeros((3, 2, 2)), atol=1e-12)
