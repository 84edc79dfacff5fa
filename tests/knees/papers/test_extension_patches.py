"""Coons patches of the knee extension: their joints, contact along lines, and wrapping."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.contact.foundation import ElasticLayer, SmallStrain
from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.contact.distance_field import build_distance_field, distances_to_mesh
from kneewear.knees.contact.mesh_pair import MeshContact
from kneewear.knees.papers.knee_extension.literature import PATELLOFEMORAL, TIBIOFEMORAL
from kneewear.knees.papers.knee_extension.motion import (
    build_base,
    build_extension,
    extend_knee,
    find_slack_length,
    stored_energy_error,
    wrap_overlap,
)
from kneewear.knees.papers.knee_extension.patch_contact import PatchContact
from kneewear.knees.papers.knee_extension.patches import (
    CoonsPatches,
    femoral_patches,
    patellar_patches,
)
from kneewear.knees.papers.knee_extension.plateaus import planar_plateaus, plateau_grids
from kneewear.knees.papers.knee_extension.reader import build_patches
from kneewear.knees.papers.knee_extension.tendon import PatchTendon
from kneewear.motion.actions import Contact
from kneewear.motion.system import FLEXION_FIRST, Body, System
from tests.contact.test_mesh_contact import ball, plate
from tests.knees.papers.test_knee_extension import (
    RADIUS,
    knee_of_spheres,
    settings_of_spheres,
    study,
)

STIFFNESS = 5.0
UP = (0.0, 1.0, 0.0)


def dome(step, radius=RADIUS, half=12.0):
    """Lower side of a sphere about the origin, normals outward."""
    line = np.linspace(-half, half, round(2.0 * half / step) + 1)
    x, z = np.meshgrid(line, line, indexing="ij")
    return CoonsPatches(np.stack([x, -np.sqrt(radius**2 - x * x - z * z), z], axis=-1))


def table(step, half=6.0, height=0.0):
    """Horizontal plane with normals up."""
    line = np.linspace(-half, half, round(2.0 * half / step) + 1)
    z, x = np.meshgrid(line, line, indexing="ij")
    return CoonsPatches(np.stack([x, np.full_like(x, height), z], axis=-1))


def cylinder(step_deg=10.0, radius=RADIUS, half=30.0):
    """Distal and anterior side of a cylinder about z, normals outward."""
    turn, z = np.radians(np.arange(-90.0, 171.0, step_deg)), np.linspace(-half, half, 7)
    turn, z = np.meshgrid(turn, z, indexing="ij")
    return CoonsPatches(np.stack([radius * np.sin(turn), -radius * np.cos(turn), z], axis=-1))


def bumpy():
    """Corners that no smooth surface passes through."""
    u, v = np.meshgrid(np.arange(7.0), np.arange(5.0), indexing="ij")
    return np.stack([u, v, np.random.default_rng(3).normal(size=u.shape)], axis=-1)


def test_patches_interpolate_their_corners_and_join_with_one_tangent_plane():
    points = bumpy()
    surface = CoonsPatches(points).surface
    rows, columns = np.meshgrid(np.arange(7.0), np.arange(5.0), indexing="ij")
    np.testing.assert_allclose(surface.evaluate(rows, columns), points, atol=1e-12)
    along = np.linspace(0.05, 0.95, 7)
    for border in range(1, 6):
        one, other = (surface.normal(border + side, 4.0 * along) for side in (-1e-9, 1e-9))
        np.testing.assert_allclose(one, other, atol=1e-7)
    for border in range(1, 4):
        one, other = (surface.normal(6.0 * along, border + side) for side in (-1e-9, 1e-9))
        np.testing.assert_allclose(one, other, atol=1e-7)


def test_a_patch_is_that_of_coons_from_corners_tangents_and_twists():
    surface = CoonsPatches(bumpy()).surface
    ends = np.meshgrid([2.0, 3.0], [1.0, 2.0], indexing="ij")
    point, p_u, p_v, _, p_uv, _ = surface.derivatives(*ends)
    # Rows: points and tangents over w1 at 0 and 1; columns the same over w2.
    known = np.concatenate(
        [np.concatenate([point, p_v], axis=1), np.concatenate([p_u, p_uv], axis=1)]
    )

    def blend(w):
        return np.array(
            [1 - 3 * w**2 + 2 * w**3, 3 * w**2 - 2 * w**3, w - 2 * w**2 + w**3, w**3 - w**2]
        )

    for w in ((0.3, 0.6), (0.9, 0.2)):
        expected = np.einsum("i,j,ijk->k", blend(w[0]), blend(w[1]), known)
        found = surface.evaluate(2.0 + w[0], 1.0 + w[1])
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_target_on_a_sphere_converges_with_the_fourth_power_of_the_step():
    sources = table(1.0, half=4.0, height=-RADIUS + 0.5).sources
    x, _, z = sources.centre.T
    exact = 0.5 - RADIUS + np.sqrt(RADIUS**2 - x * x - z * z)
    errors = []
    for step in (4.0, 2.0, 1.0):
        depth, _, hit = PatchContact(sources, dome(step), UP, 1.0).penetration(
            np.eye(3), np.zeros(3)
        )
        assert hit.all()
        errors.append(np.abs(depth - exact).max())
    assert errors[2] < 1e-4
    # Natural ends of the splines, 8 mm away, still count on the coarsest grid.
    assert np.log2(errors[0] / errors[1]) > 3.5
    assert np.log2(errors[1] / errors[2]) > 3.5


def test_forces_converge_to_the_foundation_of_a_sphere_on_a_plane():
    """Stiffness times the volume of the cap below the plane, pi R d^2 (1 - d / 3 R)."""
    target, depth, side = dome(1.0), 0.5, 0.37
    place = np.array([side, RADIUS - depth, -side])
    exact = STIFFNESS * np.pi * RADIUS * depth**2 * (1.0 - depth / (3.0 * RADIUS))
    errors, turns = [], []
    for step in (2.0, 1.0, 0.25):
        found = PatchContact(table(step).sources, target, UP, STIFFNESS).evaluate(np.eye(3), place)
        errors.append(abs(found.wrench[1] / exact - 1.0))
        turns.append(np.abs(found.stiffness[1, [0, 2]]).max() / abs(found.stiffness[1, 1]))
    assert errors[2] < errors[1] < errors[0] < 0.1
    assert errors[2] < 2e-3
    # Forces are vertical: with a potential they would not depend on horizontal motion.
    assert turns[2] < turns[1] < turns[0] < 0.1
    assert turns[2] < 2e-3
    # The line of the force is through the centre of the sphere, which is the origin.
    np.testing.assert_allclose(found.wrench[3:], 0.0, atol=0.01 * exact)
    np.testing.assert_allclose(found.wrench[:3], [0.0, found.wrench[1], 0.0], atol=1e-12)
    assert found.wrench[1] > 0.0
    # Force is the sum of pressures times areas, which push into the source.
    total = (found.pressure * found.area) @ found.direction
    np.testing.assert_allclose(found.force, total)
    np.testing.assert_allclose(found.pressure, STIFFNESS * found.penetration)


@pytest.mark.slow
def test_contact_of_patches_is_near_to_that_of_meshes():
    sheet, depth = plate(6.0, 0.25), 0.5
    layer = ElasticLayer(SmallStrain(STIFFNESS * 4.0), np.full(len(sheet.faces), 4.0))
    of_mesh = MeshContact(sheet, build_distance_field(ball(count=320)), layer)
    of_patches = PatchContact(table(0.25).sources, dome(2.0), UP, STIFFNESS)
    pose = np.eye(3), np.array([0.3, RADIUS - depth, 0.1])
    one, other = (law.evaluate(*pose) for law in (of_mesh, of_patches))
    # Distances along the line and the normal differ by d / R, 2.5 %, at most.
    assert other.wrench[1] == pytest.approx(one.wrench[1], rel=0.025)
    all_of_it = np.ones(len(of_patches.area), dtype=bool)
    assert of_patches.energy(other) == of_patches.energy(other, all_of_it)
    assert of_patches.energy(other) == pytest.approx(of_mesh.energy(one), rel=0.05)


def test_bodies_apart_or_behind_do_not_touch():
    law = PatchContact(table(1.0).sources, dome(2.0), UP, STIFFNESS)
    for height in (RADIUS + 0.1, -RADIUS, 200.0):
        found = law.evaluate(np.eye(3), np.array([0.0, height, 0.0]))
        assert found.active_elements == 0
        assert not found.wrench.any()


def test_patches_that_are_left_out_do_not_touch():
    whole, place = dome(2.0), np.array([0.0, RADIUS - 0.3, 0.0])
    half = CoonsPatches(whole.surface.evaluate(*np.meshgrid(*[np.arange(13.0)] * 2, indexing="ij")))
    half.kept[:6] = False
    one, other = (
        PatchContact(table(1.0).sources, target, UP, STIFFNESS).evaluate(np.eye(3), place)
        for target in (whole, half)
    )
    # The patches at negative x are left out.
    assert other.wrench[1] == pytest.approx(0.5 * one.wrench[1], rel=1e-6)
    assert other.wrench[5] > 0.0


def system_of_a_sphere(last_row=None):
    """A sphere on a plane, and a cylinder on which a tendon wraps, up to a row of its patches."""
    around = cylinder()
    around.kept[last_row:] = last_row is None
    law = PatchContact(table(0.5).sources, dome(2.0), UP, STIFFNESS)
    tendon = PatchTendon(np.array([8.0, 60.0, 9.0]), np.array([3.0, 2.0, -1.0]), around)
    bodies = tuple(Body(name, FLEXION_FIRST) for name in ("tibia", "patella"))
    return System(
        "femur", bodies, {"contact": Contact("tibia", "femur", law), "quadriceps": tendon}
    )


@pytest.mark.parametrize(
    ("patella", "last_row", "points"),
    [((10.0, -30.0, 4.0), None, 3), ((32.0, 5.0, 4.0), None, 2), ((10.0, -30.0, 4.0), 15, 3)],
)
def test_derivatives_are_those_of_the_forces(patella, last_row, points):
    """With a tendon that wraps, one that does not, and one that bends over an edge."""
    system = system_of_a_sphere(last_row)
    place = np.array([0.3, -RADIUS + 0.6, 0.2, 0.05, -0.02, 0.1, *patella, 0.3, -0.1, 0.2])
    found, step = system.forces(place), 1e-6
    ahead, back = (
        np.array([system.forces(place + sign * step * row).force for row in np.eye(12)])
        for sign in (1.0, -1.0)
    )
    assert found.parts["contact"].active_elements > 10
    assert len(system.actions["quadriceps"].lines(system.poses(place))[0]) == points
    np.testing.assert_allclose(
        found.derivative,
        ((ahead - back) / (2.0 * step)).T,
        atol=1e-6 * np.abs(found.derivative).max(),
    )


def pull_on_a_cylinder(origin, end, step_deg=5.0):
    """Path and pull of a tendon of 1 N around a fixed cylinder."""
    tendon = PatchTendon(np.array(origin), np.zeros(3), cylinder(step_deg))
    system = System("femur", (Body("patella"),), {"quadriceps": tendon})
    place = np.array([*end, 0.0, 0.0, 0.0])
    poses = system.poses(place)
    action = system.actions["quadriceps"]
    return action.lines(poses)[0], system.forces(place).force[:3], action.turn(poses)


@pytest.mark.parametrize("end", [(15.0, -25.0, 3.0), (10.0, -35.0, -8.0), (19.0, -12.0, 0.0)])
def test_a_wrapped_tendon_is_tangent_to_a_cylinder(end):
    """In the view along the axis of a cylinder: the tangent to a circle."""
    path, force, turn = pull_on_a_cylinder((5.0, 90.0, 12.0), end)
    _, touch, last = path
    np.testing.assert_allclose(last, end, atol=1e-12)
    flat = np.array(end[:2])
    distance = np.linalg.norm(flat)
    # Anterior of both tangents: the centre is on its left.
    lean = np.arcsin(RADIUS / distance)
    to_centre = -flat / distance
    away = np.array([[np.cos(lean), np.sin(lean)], [-np.sin(lean), np.cos(lean)]]) @ to_centre
    exact = flat + np.sqrt(distance**2 - RADIUS**2) * away
    # The cylinder of patches of 5 deg is one to 1 um.
    np.testing.assert_allclose(touch[:2], exact, atol=5e-3)
    along = force / np.linalg.norm(force)
    assert np.linalg.norm(force) == pytest.approx(1.0)
    np.testing.assert_allclose(along[:2] / np.linalg.norm(along[:2]), away, atol=1e-4)
    # Eq. 7: the plane through the ends is along the anterior axis.
    to_origin = path[0] - last
    assert to_origin[1] * along[2] - to_origin[2] * along[1] == pytest.approx(0.0, abs=1e-9)
    assert turn > 0.0


def test_a_tendon_leaves_the_cylinder_where_the_straight_line_is_tangent():
    origin = np.array([5.0, 90.0, 0.0])
    for clearance in (-0.05, 0.05):
        # A line at a distance from the axis of the radius and some more, through the origin.
        lean = np.arcsin((RADIUS + clearance) / np.linalg.norm(origin[:2]))
        back = -origin[:2] / np.linalg.norm(origin[:2])
        way = np.array([[np.cos(lean), -np.sin(lean)], [np.sin(lean), np.cos(lean)]]) @ back
        end = np.append(origin[:2] + 110.0 * way, 0.0)
        path, force, turn = pull_on_a_cylinder(origin, end)
        assert (turn > 0.0) == (clearance < 0.0)
        assert len(path) == (3 if clearance < 0.0 else 2)
        # Where wrapping begins the direction is continuous.
        straight = (origin - end) / np.linalg.norm(origin - end)
        np.testing.assert_allclose(force, straight, atol=0.08)


def test_patches_of_a_femur_follow_it_and_leave_out_what_it_does_not_have():
    whole = ball(RADIUS, 80)
    centre = whole.vertices[whole.faces].mean(axis=1)
    notch = (np.abs(centre[:, 2]) < 4.0) & (centre[:, 1] < 0.0) & (centre[:, 0] < 0.0)
    top = centre[:, 1] > 15.0
    mesh = whole.part(~notch & ~top)
    patches = femoral_patches(mesh, 2.0)
    rows, columns = np.nonzero(patches.kept)
    middle = patches.surface.evaluate(rows + 0.5, columns + 0.5)
    assert not ((np.abs(middle[:, 2]) < 2.5) & (middle[:, 1] < -1) & (middle[:, 0] < -1)).any()
    assert ((np.abs(middle[:, 2]) < 2.5) & (middle[:, 1] < -1) & (middle[:, 0] > 1)).any()
    inner = np.abs(middle[:, 2]) < 12.0
    # Patches at edges continue the surface over half of them.
    np.testing.assert_allclose(np.linalg.norm(middle[inner], axis=1), RADIUS, atol=0.1)
    normal = patches.sources.normal[inner]
    assert ((normal * middle[inner]).sum(axis=1) > 0.99 * RADIUS).all()
    drawn = patches.mesh()
    # Squares of the patches that are kept, and no point of the others.
    assert len(drawn.faces) == 18 * patches.kept.sum()
    assert np.unique(drawn.faces).size == len(drawn.vertices)
    assert (drawn.face_normals * drawn.vertices[drawn.faces].mean(axis=1)).sum(axis=1).min() > 0.0


def test_patches_of_a_patella_face_posterior_and_have_its_area():
    sheet = plate(9.0, 0.5)
    x, _, z = sheet.vertices.T
    bent = np.column_stack([-0.02 * (x * x + z * z), x, z])
    mesh = TriangleMesh(bent, sheet.faces[:, ::-1])
    patches = patellar_patches(mesh, 2.0)
    normal, area = patches.sources.normal, patches.sources.area
    assert (normal[:, 0] < -0.7).all()
    assert np.abs(distances_to_mesh(mesh, patches.sources.centre)).max() < 0.02
    assert area.sum() == pytest.approx(np.linalg.norm(mesh.face_normals, axis=1).sum(), rel=1e-2)


def test_patches_of_plateaus_are_the_planes_of_the_meshes():
    tibia = ball(20.0, 30)
    tibia = TriangleMesh(tibia.vertices * (1.0, 0.1, 2.0) + (3.0, -5.0, 0.0), tibia.faces)
    planes = planar_plateaus(tibia, 8.0)
    for side, grid in zip((-1.0, 1.0), plateau_grids(tibia, 8.0, 1.0), strict=True):
        patches = CoonsPatches(np.swapaxes(grid, 0, 1))
        own = planes.vertices[side * planes.vertices[:, 2] > 0.0]
        slope = np.tan(np.radians(8.0))
        heights = patches.sources.centre[:, 1] - slope * patches.sources.centre[:, 0]
        np.testing.assert_allclose(heights, own[0, 1] - slope * own[0, 0], atol=1e-9)
        assert (patches.sources.normal[:, 1] > 0.9).all()


def test_surfaces_that_no_patch_meets_are_reported():
    patches = {"femur_mm": 9.0, "patella_mm": 9.0, "tibia_mm": 9.0}
    extension = study(extension={"patches": patches}).multibody.extension
    # A patella of two rims, which the middles of patches of 9 mm are between.
    sheet = plate(9.0, 0.5)
    middle = np.abs(sheet.vertices[sheet.faces].mean(axis=1)).max(axis=1)
    x, y, z = sheet.part(middle > 8.5).vertices.T
    rims = TriangleMesh(np.column_stack([y, x, z]), sheet.part(middle > 8.5).faces[:, ::-1])
    tibia = ball(20.0, 30)
    tibia = TriangleMesh(tibia.vertices * (1.0, 0.1, 2.0), tibia.faces)
    with pytest.raises(InputDataError):
        build_patches({"femur": ball(20.0, 40), "tibia": tibia, "patella": rims}, extension)


@pytest.fixture(scope="module")
def extended():
    """The knee of a sphere and plates, the sphere finer, with meshes and with patches."""
    settings, parts = settings_of_spheres(), knee_of_spheres()
    layer = settings.contact("tibiofemoral").layer.model_copy(
        update={"field_spacing_mm": 1.0, "thickness_mm": 0.2}
    )
    contacts = {
        name: one.model_copy(update={"layer": layer}) for name, one in settings.contacts.items()
    }
    settings = settings.model_copy(update={"contacts": contacts})
    surfaces = {name.split(".")[0]: mesh for name, mesh in parts.knee.shapes.items()}
    surfaces["femur"] = ball(RADIUS, 160)
    patches = {
        "femur": (femoral_patches(surfaces["femur"], 2.0),),
        "tibia": (table(0.5, 10.0, 0.3 - RADIUS),),
        "patella": (patellar_patches(surfaces["patella"], 0.5),),
    }
    shapes = {f"{body}.cartilage": mesh for body, mesh in surfaces.items()}
    knee = replace(parts.knee, shapes=shapes)
    found = []
    for own in (None, patches):
        one = replace(parts, knee=knee, patches=own)
        base = build_base(one, settings)
        slack, start = find_slack_length(base, one, settings)
        system = build_extension(base, one, settings, "600N", slack)
        found.append((slack, extend_knee(system, start, settings, "600N")))
    return found


@pytest.mark.slow
def test_a_knee_extends_on_patches_as_on_meshes(extended):
    (slack, of_mesh), (same, of_patches) = extended
    # The layers are thin, so that depths are a fiftieth of the radius.
    assert same == pytest.approx(slack, abs=0.05)
    assert wrap_overlap(of_patches.system, of_patches.motion.coordinates[0]) < 0.0
    one, other = of_mesh.motion.coordinates, of_patches.motion.coordinates
    np.testing.assert_allclose(other[0], one[0], atol=0.02)
    # Flexion of both bodies, rad.
    np.testing.assert_allclose(
        (other[-1] - other[0])[[3, 9]], (one[-1] - one[0])[[3, 9]], rtol=2e-3
    )
    for name in (TIBIOFEMORAL, PATELLOFEMORAL):
        np.testing.assert_allclose(of_patches.table[name], of_mesh.table[name], rtol=0.02)
    assert of_patches.motion.energy_error < 1e-3
    assert stored_energy_error(of_patches) < 1e-3
