"""Contact where a surface ends is counted for patches and meshes, in wear and press studies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from kneewear.contact.ends import PatchEnds, contact_at_ends
from kneewear.contact.foundation import ElasticLayer, SmallStrain
from kneewear.contact.pair import ContactPair
from kneewear.geometry.grid import build_grid
from kneewear.geometry.table import tabulate_surface
from kneewear.knees.contact.distance_field import build_distance_field
from kneewear.knees.contact.mesh_pair import MeshContact, MeshEnds
from kneewear.mechanics.rotations import body_three_123
from tests.contact.indenters import THICKNESS, bumps
from tests.contact.test_mesh_contact import ball, plate
from tests.physics.bodies import flat_implant, linear_layer

DEPTH = 0.3
HALF = 12.0


@pytest.fixture(scope="module")
def patch_pair():
    """The egg-box, which ends at 14 mm, over a plate that ends at 12 mm."""
    implant = flat_implant(bumps(), HALF, HALF, spacing=0.0, thickness=THICKNESS)
    pair = ContactPair(build_grid(implant, 40, 40), 0, bumps(), tabulate_surface(bumps(), 81, 81))
    return pair, linear_layer(np.full(pair.index.size, THICKNESS))


def of_patches(patch_pair, shift, tilt=0.0):
    pair, layer = patch_pair
    rotation = body_three_123(np.array([0.0, 0.0, tilt]))
    contact = pair.evaluate(rotation, shift, layer)
    return rotation, contact, contact_at_ends(PatchEnds(pair), rotation, shift, contact)


@pytest.mark.parametrize(
    ("shift", "insert", "femoral"),
    [(0.0, False, False), (11.5, True, False), (13.0, False, True)],
)
def test_contact_at_each_end_is_counted(patch_pair, shift, insert, femoral):
    tilt = np.arctan(20.0 / 60.0) if femoral else 0.0
    # Tilted, the part of the body that ends is the lowest one.
    height = THICKNESS - DEPTH + (lowest(shift, tilt) if femoral else 0.0)
    _, contact, found = of_patches(patch_pair, np.array([shift, height, 0.0]), tilt)
    assert contact.active_elements > 0
    assert ((found.force > 0.0) == (insert, femoral)).all()
    assert ((found.area > 0.0) == (insert, femoral)).all()
    assert (found.pressure <= contact.max_pressure).all()
    assert (found.force <= contact.force @ [0.0, -1.0, 0.0] + 1e-9).all()


def lowest(shift, tilt):
    """Height at which the turned body first touches the plate, mm."""
    points = bumps().sample_points @ body_three_123(np.array([0.0, 0.0, tilt])).T
    over = np.abs(points[:, [0, 2]] + [shift, 0.0]).max(axis=1) < HALF
    return -points[over, 1].min()


def test_elements_at_a_femoral_end_are_those_of_all_nearest_points(patch_pair):
    pair, _ = patch_pair
    tilt, shift = np.arctan(20.0 / 60.0), 13.0
    place = np.array([shift, lowest(shift, tilt) + THICKNESS - DEPTH, 0.0])
    rotation, contact, _ = of_patches(patch_pair, place, tilt)
    found = PatchEnds(pair).touched(rotation, place, contact)[1]
    centres = (pair.centre[contact.element] - place) @ rotation
    u, v, *_ = bumps().closest_points(centres)
    away = cKDTree(bumps().border_points()).query(bumps().evaluate(u, v))[0]
    assert 0 < found.sum() < found.size
    np.testing.assert_array_equal(found, away < np.sqrt(contact.area))


@pytest.mark.parametrize("offset", [0.0, 9.5])
def test_meshes_end_at_open_edges(offset):
    sheet = plate()
    layer = ElasticLayer(SmallStrain(100.0), np.full(len(sheet.faces), THICKNESS))
    law = MeshContact(sheet, build_distance_field(ball()), layer)
    place = np.array([offset, 20.0 - DEPTH, 0.0])
    found = contact_at_ends(MeshEnds(law), np.eye(3), place, law.evaluate(np.eye(3), place))
    assert (found.force[0] > 0.0) == (offset > 9.0)
    assert found.force[1] == 0.0  # a closed ball


def test_an_open_moving_mesh_ends(offset=3.0):
    half = ball()
    open_ball = type(half)(
        half.vertices, half.faces[half.vertices[half.faces].mean(axis=1)[:, 0] < offset]
    )
    sheet = plate()
    layer = ElasticLayer(SmallStrain(100.0), np.full(len(sheet.faces), THICKNESS))
    law = MeshContact(sheet, build_distance_field(open_ball), layer)
    place = np.array([0.0, 20.0 - DEPTH, 0.0])
    found = contact_at_ends(MeshEnds(law), np.eye(3), place, law.evaluate(np.eye(3), place))
    assert found.force[1] > 0.0
    assert found.force[0] == 0.0


def test_ends_along_a_motion_are_those_of_each_pose(patch_pair):
    pair, _ = patch_pair
    tilt = np.arctan(20.0 / 60.0)
    shifts, tilts = [0.0, 11.5, 13.0, 0.0], [0.0, 0.0, tilt, 0.0]
    heights = [0.0, 0.0, lowest(13.0, tilt), 20.0]  # apart in the last pose
    places = np.array(
        [[x, THICKNESS - DEPTH + y, 0.0] for x, y in zip(shifts, heights, strict=True)]
    )
    each = [of_patches(patch_pair, *pose) for pose in zip(places, tilts, strict=True)]
    rotations = np.array([rotation for rotation, *_ in each])
    found = PatchEnds(pair).along(rotations, places, [contact for _, contact, _ in each])
    assert each[-1][1].active_elements == 0
    assert (found.force > 0.0).any(axis=0).all()
    for name, values in found._asdict().items():
        alone = np.array([getattr(one, name) for *_, one in each])
        np.testing.assert_allclose(values, alone, rtol=1e-12, err_msg=name)  # order of sums
