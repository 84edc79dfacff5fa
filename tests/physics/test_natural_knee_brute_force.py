"""The natural knee at given poses against the raw triangles of its cartilage and bone.

The brute force shares only the reader of the meshes with the product: no patches, grids or
searches. Every triangle of the tibia's cartilage is divided into four, and from the centre of each
a ray along the normal of the mesh is tested against the femur's triangles. Thickness is defined as
in the product, as the shortest distance to the bone; here to dense points of its triangles.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from kneewear.io.shapes import load_shape
from kneewear.study.files import FileReader
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.models.press.conftest import compute

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()
needs_data = pytest.mark.skipif(
    not (DATA / "natural_knee").is_dir(), reason=f"no natural_knee in the data folder {DATA}"
)
pytestmark = [pytest.mark.slow, pytest.mark.compiled, needs_data]

SIDES = ("medial", "lateral")
# Flexion and varus of the femur about the joint's axes, deg, and its position (posterior, superior,
# medial), mm: penetrations from 0.7 to 1.4 mm.
POSES = (
    (0.0, 0.0, (0.0, -0.8, 0.0)),
    (0.0, 0.57, (4.0, -0.6, 0.5)),
    (30.0, 3.05, (0.0, -2.3, -0.5)),
    (30.0, 2.95, (4.0, -2.6, -0.5)),
)
COLUMNS = {
    "time_s": "number",
    **{
        name: name
        for name in (
            "flexion",
            "varus",
            "rotation",
            "anterior_posterior",
            "superior_inferior",
            "medial_lateral",
        )
    },
}
# Cartilage of the study, MPa, and its layers' limits, mm: p = -K ln(1 - d / h).
YOUNG = 4.0
POISSON = 0.45
MODULUS = (1 - POISSON) * YOUNG / ((1 + POISSON) * (1 - 2 * POISSON))
TIBIAL_LIMITS = (2.0, 10.0)
FEMORAL_LIMITS = (1.0, 20.0)
# Parts of a triangle's edges: of the tibia's elements, and of the points on bones.
PARTS = 2
BONE_PARTS = 12
# Elements of the study: more than the source's 20 x 15, which count areas to about 3 %.
FINE = {"rows": 80, "columns": 60}
DEEPEST = 4.0  # mm; longest ray
MAX_DEVIATION = 0.02  # largest relative difference


class Sheet(NamedTuple):
    """Corners (n, 3, 3) of triangles, mm: x posterior, y superior, z medial; vertex normals."""

    corners: np.ndarray
    normals: np.ndarray


class Contact(NamedTuple):
    """Force, N, area, mm2, and largest penetration, mm, of one side."""

    force: float
    area: float
    depth: float


def read_sheet(name):
    """A sheet of the right knee, from m and x anterior, y superior, z lateral."""
    mesh = load_shape(DATA / "natural_knee" / f"{name}.stl")
    vertices = 1000.0 * mesh.vertices * [-1.0, 1.0, -1.0]
    corners = vertices[mesh.faces]
    normals = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(normals, mesh.faces[:, corner], vector_area(corners))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Sheet(corners, normals[mesh.faces])


def vector_area(corners):
    """Normals of triangles times their area, mm2."""
    return 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def elements(sheet):
    """Centres, unit normals and areas of the equal parts of all triangles."""
    up = [(i + 1 / 3, j + 1 / 3) for i in range(PARTS) for j in range(PARTS - i)]
    down = [(i + 2 / 3, j + 2 / 3) for i in range(PARTS) for j in range(PARTS - 1 - i)]
    part = np.array(up + down) / PARTS
    weights = np.column_stack([1.0 - part.sum(axis=1), part])
    centre = np.einsum("wk,nkd->nwd", weights, sheet.corners).reshape(-1, 3)
    normal = np.einsum("wk,nkd->nwd", weights, sheet.normals).reshape(-1, 3)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    area = np.linalg.norm(vector_area(sheet.corners), axis=1) / PARTS**2
    return centre, normal, np.repeat(area, PARTS**2)


def bone_points(sheet):
    """Points about 0.08 mm apart on the triangles of a bone, for distances to it."""
    steps = range(BONE_PARTS + 1)
    part = [(i, j, BONE_PARTS - i - j) for i in steps for j in range(BONE_PARTS + 1 - i)]
    return np.einsum("wk,nkd->nwd", np.array(part) / BONE_PARTS, sheet.corners).reshape(-1, 3)


def first_hits(start, way, corners):
    """Length, mm, of each ray to the first triangle it meets; inf where it meets none."""
    middle = corners.mean(axis=1)
    radius = np.linalg.norm(corners - middle[:, None], axis=2).max()
    tree = cKDTree(middle)
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    found = np.full(len(start), np.inf)
    for ray, (point, direction) in enumerate(zip(start, way, strict=True)):
        near = tree.query_ball_point(point + 0.5 * DEEPEST * direction, 0.5 * DEEPEST + radius)
        if not near:
            continue
        # Moeller and Trumbore: barycentric coordinates and length by Cramer's rule.
        across = np.cross(direction, second[near])
        size = (first[near] * across).sum(axis=1)
        size = np.where(size == 0.0, np.nan, size)
        away = point - corners[near, 0]
        turned = np.cross(away, first[near])
        u, v = (away * across).sum(axis=1) / size, turned @ direction / size
        length = (second[near] * turned).sum(axis=1) / size
        met = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9) & (length > 0.0)
        found[ray] = length[met].min(initial=np.inf)
    return np.where(found <= DEEPEST, found, np.inf)


@pytest.fixture(scope="module")
def brute_force():
    """Contact of each pose and side on the raw triangles."""
    tibia, femur = read_sheet("tibia_cartilage"), read_sheet("femur_cartilage")
    tibial_bone, femoral_bone = (
        cKDTree(bone_points(read_sheet(f"{body}_subchondral_bone"))) for body in ("tibia", "femur")
    )
    centre, normal, area = elements(tibia)
    # Plateaus and condyles lie on either side of the mid-plane.
    of_side = {"medial": 1.0, "lateral": -1.0}
    results = []
    for flexion, varus, position in POSES:
        turn = Rotation.from_euler("XYZ", [varus, 0.0, -flexion], degrees=True).as_matrix()
        for side in SIDES:
            own = of_side[side] * femur.corners[:, :, 2].mean(axis=1) > 0.0
            placed = femur.corners[own] @ turn.T + position
            on = (of_side[side] * centre[:, 2] > 0.0) & (centre[:, 1] > placed[:, :, 1].min() - 1.0)
            at, up, size = centre[on], normal[on], area[on]
            depth = first_hits(at, -up, placed)
            inside = np.isfinite(depth)
            at, up, size, depth = at[inside], up[inside], size[inside], depth[inside]
            facing = (at - depth[:, None] * up - position) @ turn
            thickness = np.clip(tibial_bone.query(at)[0], *TIBIAL_LIMITS)
            thickness += np.clip(femoral_bone.query(facing)[0], *FEMORAL_LIMITS)
            pressure = -MODULUS * np.log1p(-depth / thickness)
            force = ((pressure * size)[:, None] * up).sum(axis=0)
            results.append(Contact(float(np.linalg.norm(force)), size.sum(), depth.max()))
    return results


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """The static study of the poses, read from a file as a user writes it, on fine elements."""
    path = tmp_path_factory.mktemp("poses") / "poses.csv"
    rows = [
        f"{number},{flexion},{varus},0,{-posterior},{superior},{-medial}"
        for number, (flexion, varus, (posterior, superior, medial)) in enumerate(POSES)
    ]
    path.write_text("\n".join([",".join(COLUMNS.values()), *rows]) + "\n")
    given = {
        "distance": "ray",
        "force_direction": "element_normal",
        "free": [],
        "load_n": None,
        "posterior_mm": None,
        "medial_mm": None,
        "load_line_mm": None,
        "poses": {"file": str(path), "convention": "body-123", "columns": COLUMNS},
    }
    pose = {"settings": ["press.pose"], "values": list(range(1, len(POSES) + 1))}
    settings = {}
    for part in (
        read_settings(ROOT / "config/defaults.yaml"),
        read_settings(ROOT / "config/papers/natural_knee.yaml"),
        {
            "data_folder": str(DATA),
            "grid": FINE,
            "press": given,
            "variables": {"pose": pose},
            "analyses": {"settling": None},
        },
    ):
        settings = merge_settings(settings, part)
    return compute(validate_study(settings), reader=FileReader(ROOT)).data


def of_record(record):
    """Contacts of a record in the order of the brute force."""
    return [
        Contact(
            float(np.linalg.norm(record.force[pose, side])),
            float(record.contact_area[pose, side]),
            float(record.max_penetration[pose, side]),
        )
        for pose in range(len(POSES))
        for side in range(len(SIDES))
    ]


def test_poses_are_those_of_the_brute_force(record):
    np.testing.assert_allclose(record.translation, [position for *_, position in POSES], atol=1e-9)
    angles = [(varus, 0.0, -flexion) for flexion, varus, _ in POSES]
    np.testing.assert_allclose(np.degrees(record.rotation), angles, atol=1e-9)
    assert not record.border_pressure.values.any()


def test_forces_and_areas_are_those_of_the_raw_triangles(record, brute_force):
    for found, wanted in zip(of_record(record), brute_force, strict=True):
        assert 0.3 < wanted.depth < 1.5
        assert found.force == pytest.approx(wanted.force, rel=MAX_DEVIATION)
        assert found.area == pytest.approx(wanted.area, rel=MAX_DEVIATION)
