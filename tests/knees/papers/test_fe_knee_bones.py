"""Bones of a dynamic knee: gap, patches, and natural bones where their data are."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.papers.fe_knee.bone_meshes import joint_gap, tetrahedron_quality
from kneewear.knees.papers.fe_knee.bones import BASE, CONTACT, build_bones
from kneewear.knees.papers.fe_knee.boundary import boundary_distances
from kneewear.knees.papers.fe_knee.files import keep_meshes, load_bones, load_meshes, save_meshes
from kneewear.knees.papers.fe_knee.model import GROUPS, DynamicKnee
from kneewear.knees.papers.fe_knee.volume_mesh import boundary_triangles, element_volumes, hierarchy
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.knees.papers.knees import CONFIG, DISHES, small_knee, small_study, with_fibula

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()


def area(mesh, triangles):
    return np.linalg.norm(TriangleMesh(mesh.nodes, triangles).face_normals, axis=1).sum()


@pytest.fixture(scope="module")
def bones():
    return build_bones(small_knee().bones)


@pytest.mark.slow
def test_the_femur_is_raised_to_the_gap(bones):
    assert joint_gap(bones.femur, bones.tibia) == pytest.approx(0.1, abs=1e-12)
    wider = build_bones(small_knee({"bones": {"joint_gap_mm": 2.0}}).bones)
    assert wider.raised - bones.raised == pytest.approx(1.9)


def test_patches_are_on_the_boundary_outward(bones):
    for mesh in bones.meshes.values():
        own = {tuple(sorted(one)) for one in boundary_triangles(mesh).tolist()}
        for name, triangles in mesh.patches.items():
            assert {tuple(sorted(one)) for one in triangles.tolist()} <= own, name
    normals = [
        TriangleMesh(mesh.nodes, mesh.patches[CONTACT]).face_normals[:, 1]
        for mesh in bones.meshes.values()
    ]
    assert (normals[0] < 0.0).all()
    assert (normals[1] > 0.0).all()


def test_base_and_plateau_have_the_areas_of_the_block(bones):
    own = small_knee().bones.simplified
    assert area(bones.tibia, bones.tibia.patches[BASE]) == pytest.approx(
        own.size_mm[0] * own.size_mm[2]
    )
    cartilage = element_volumes(bones.tibia)[1].sum()
    assert cartilage == pytest.approx(1.5 * area(bones.tibia, bones.tibia.patches[CONTACT]))


def test_meshes_are_read_as_they_were_written(bones, tmp_path):
    save_meshes(bones, tmp_path / "meshes.npz")
    again = load_meshes(tmp_path / "meshes.npz")
    assert again.ligaments == bones.ligaments
    assert again.raised == bones.raised
    for name, mesh in bones.meshes.items():
        other = again.meshes[name]
        np.testing.assert_array_equal(
            again.hierarchies(small_knee().bones)[name].finest.nodes,
            bones.hierarchies(small_knee().bones)[name].finest.nodes,
        )
        for part in ("nodes", "tetrahedra", "prisms"):
            np.testing.assert_array_equal(getattr(other, part), getattr(mesh, part))
        assert list(other.patches) == list(mesh.patches)
        for patch, triangles in mesh.patches.items():
            np.testing.assert_array_equal(other.patches[patch], triangles)


def test_meshes_are_made_again_only_for_another_key_or_a_damaged_file(bones, tmp_path):
    path, made = tmp_path / "meshes.npz", []

    def build():
        made.append(True)
        return bones

    for key, times in (("first", 1), ("first", 1), ("second", 2)):
        kept = keep_meshes(path, key, build)
        np.testing.assert_array_equal(kept.tibia.nodes, bones.tibia.nodes)
        assert len(made) == times
    path.write_bytes(path.read_bytes()[:100])
    keep_meshes(path, "second", build)
    assert len(made) == 3


@pytest.mark.slow
def test_a_fibula_is_a_block_as_low_as_the_tibia_and_is_kept_in_the_file(tmp_path):
    settings = small_knee(with_fibula()).bones
    bones = build_bones(settings)
    own = settings.simplified.fibula
    nodes = bones.fibula.nodes
    np.testing.assert_allclose(nodes.min(axis=0), [0.0, -45.0, -36.0 - own.gap_mm - 14.0])
    np.testing.assert_allclose(nodes.max(axis=0), [20.0, -9.0, -36.0 - own.gap_mm])
    assert "LCL" in bones.fibula.patches and "LCL" not in bones.tibia.patches
    save_meshes(bones, tmp_path / "meshes.npz")
    again = load_meshes(tmp_path / "meshes.npz")
    assert list(again.meshes) == ["femur", "tibia", "fibula"]
    np.testing.assert_array_equal(again.fibula.nodes, nodes)
    # Cells of 12 mm do not fit in a tie of 10 mm.
    with pytest.raises(InputDataError):
        build_bones(small_knee(with_fibula(tie_mm=10.0)).bones)


def test_condyles_are_near_more_places_of_a_plateau_with_dishes():
    near = []
    for changes in ({}, DISHES):
        settings = small_knee(merge_settings({"bones": {"element_mm": 9.0}, "rods": None}, changes))
        conditions = DynamicKnee(build_bones(settings.bones), settings).problem.constraints
        gaps = conditions.gaps[conditions.group == GROUPS.index("cartilage")]
        near.append(np.count_nonzero(gaps < settings.bones.joint_gap_mm + 0.4))
    assert near[1] > 2 * near[0] > 0


def test_an_attachment_far_from_its_bone_is_refused():
    ends = {"MCL": {"femur": [0.0, 24.0, 90.0], "tibia": [0.0, -26.0, 36.0]}}
    bones = small_knee({"bones": {"simplified": {"attachments_mm": ends}}}).bones
    with pytest.raises(InputDataError, match="MCL"):
        build_bones(bones)


@pytest.mark.skipif(
    not (DATA / "natural_knee").is_dir(), reason=f"the data folder {DATA}/natural_knee is absent"
)
@pytest.mark.slow
def test_natural_bones_have_the_volume_of_their_surface_and_cartilage_that_faces():
    pytest.importorskip("pytetwild", exc_type=ImportError)
    settings = merge_settings(
        small_study().model_dump(mode="json"), read_settings(CONFIG / "papers/fe_knee_natural.yaml")
    )
    unlengthened = {"fe_knee": {"bones": {"natural": {"shaft_mm": 0.0}}}}
    own = validate_study(merge_settings(settings, unlengthened)).fe_knee
    natural = load_bones(own.bones, {k: DATA / v for k, v in own.files.items()}, "right")
    bones = build_bones(own.bones, natural)
    for name in ("tibia", "fibula"):
        one = natural.surfaces[name]
        volume = (one.vertices[one.faces].mean(axis=1) * one.face_normals).sum() / 3.0
        # The envelope is 0.9 mm on surfaces of about 150 and 45 cm2; the mesher cuts corners.
        found = element_volumes(bones.meshes[name])[0].sum()
        assert found == pytest.approx(volume, rel=0.05 if name == "tibia" else 0.1)
    finest = {name: one.finest for name, one in bones.hierarchies(own.bones).items()}
    # A node near a ridge of the surface may move to either side of it.
    gap = joint_gap(finest["femur"], finest["tibia"])
    assert gap == pytest.approx(own.bones.joint_gap_mm, abs=1e-3)
    for name, mesh in bones.meshes.items():
        # The mesher gives another mesh each time. Of 24 meshes 23 had more than 92 % of their nodes
        # on the surface, and one 68 %, whose small elements let nodes go half the way only; before
        # they follow it is less than 41 %. The mean is decided by the few nodes of walls and cuts.
        followed = boundary_distances(finest[name], bones.surfaces[name])
        halved = boundary_distances(hierarchy(mesh, 1).finest, bones.surfaces[name])
        assert np.median(followed) < 1e-3 < np.median(halved)
        assert followed.mean() < halved.mean()
        assert (100 if name == "fibula" else 1000) < len(mesh.tetrahedra) < 6000
        assert tetrahedron_quality(mesh).min() > (0.05 if name == "fibula" else 0.1)
        assert ("LCL" in mesh.patches) == (name != "tibia")
        for ligament in set(bones.ligaments) & set(mesh.patches):
            assert 20.0 < area(mesh, mesh.patches[ligament]) < 250.0
