"""The 3-D view: its maps, poses and shapes are those of the study."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode

import numpy as np
import pytest

from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.figures import scene_view
from kneewear.knees.result import Scene, scene_record
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.history import cases_of
from kneewear.report import insert_view
from kneewear.report.insert_view import build_insert_view, insert_mesh
from kneewear.report.viewer import STEPS, colour_steps, packed
from tests.datasets import plain


def unpacked(text, kind=np.uint8):
    return np.frombuffer(gzip.decompress(b64decode(text)), kind)


def view_of(whole):
    return build_insert_view(
        whole.implant,
        whole.grid,
        whole.maps,
        whole.cycles.percent,
        whole.histories.values(),
    )


@pytest.fixture(scope="module")
def view(whole):
    return view_of(whole)


def scene_of(view, **of):
    (scene,) = (one for one in view["scenes"] if of.items() <= one["of"].items())
    return scene


def test_depth_maps_agree_with_the_study_within_half_a_step(whole, view):
    for index, case in enumerate(cases_of(whole.maps)):
        for name in ("damage_depth", "wear_depth", "creep_depth"):
            depth = whole.maps[name].values[0, index]
            top = view["scales"][name]["top"]
            scene = scene_of(view, case=case.name, quantity=name)
            shown = unpacked(scene["colours"]) * top / STEPS
            assert shown == pytest.approx(depth[whole.grid.valid], abs=1.01 * top / STEPS)
            assert np.ptp([shown.max(), depth.max()]) <= 0.501 * top / STEPS


def test_pressures_and_poses_agree_with_the_histories(whole, view):
    history = plain(whole.histories["gait"])
    count = int(whole.grid.valid.sum())
    top = view["scales"]["pressure"]["top"]
    assert top == history.pressure.max()
    for index, case in enumerate(history.cases):
        scene = scene_of(view, case=case.name, activity="gait")
        shown = unpacked(scene["colours"]).reshape(-1, count) * top / STEPS
        pressure = history.pressure[index][:, whole.grid.valid]
        assert np.abs(shown - pressure).max() <= 1.01 * top / STEPS
        assert len(scene["frames"]) == len(scene["texts"]) == len(pressure)
        assert scene["first_frame"] == history.load[index].argmax()
        pose = np.reshape(scene["poses"]["femoral"], (-1, 4, 4))
        assert pose[:, :3, 3] == pytest.approx(history.translation[index])
        turn = body_three_123(history.rotation[index, 2])
        assert pose[2, :3, :3] == pytest.approx(turn, abs=1e-6)


def test_every_choice_leads_to_a_scene_and_all_is_json(view):
    json.dumps(view, allow_nan=False)
    for choice in view["choices"]:
        values = {value for value, _ in choice["options"]}
        assert choice["first"] in values
        named = {
            scene["of"][choice["name"]] for scene in view["scenes"] if choice["name"] in scene["of"]
        }
        assert named == values
    assert {name for scene in view["scenes"] for name in scene["bodies"]} == set(view["bodies"])


def test_vertices_are_elements_and_triangles_look_up(whole):
    mesh, valid = insert_mesh(whole.grid)
    assert mesh.points == pytest.approx(whole.grid.centre[whole.grid.valid])
    assert np.array_equal(valid, whole.grid.valid)
    a, b, c = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
    normal = np.cross(b - a, c - a)
    assert (normal[:, 1] > 0.0).all()
    # What the triangles miss is half an element along the border.
    covered = 0.5 * np.linalg.norm(normal, axis=1).sum()
    assert 0.85 * whole.grid.area.sum() < covered < whole.grid.area.sum()


def test_blocks_of_elements_keep_maxima_and_shape(whole, monkeypatch):
    monkeypatch.setattr(insert_view, "MAX_VERTICES", 100)
    view = view_of(whole)
    count = len(unpacked(view["bodies"]["insert"]["points"])) // 12
    assert count < 200
    top = view["scales"]["damage_depth"]["top"]
    for index, case in enumerate(cases_of(whole.maps)):
        steps = unpacked(scene_of(view, case=case.name, quantity="damage_depth")["colours"])
        assert len(steps) == count
        assert steps.max() == colour_steps(whole.maps.damage_depth.values[0, index], top).max()


def small_scene():
    """Two sheets, the lower one moving down in three frames, and a bundle between them."""
    sheet = TriangleMesh(
        20.0 * np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]),
        np.array([[0, 1, 2], [0, 2, 3]]),
    )
    turns, places = np.tile(np.eye(3), (3, 2, 1, 1)), np.zeros((3, 2, 3))
    places[:, 1, 1] = [-10.0, -20.0, -30.0]
    bundle = [(np.array([[10.0, 0.0, 10.0], [10.0, y, 10.0]]),) for y in places[:, 1, 1]]
    return Scene(
        ("femur", "tibia"),
        {"femur": sheet, "tibia": sheet},
        turns,
        places,
        ("0°", "45°", "90°"),
        tuple(bundle),
        "Sheets",
        {"tibia": sheet},
    )


def test_bodies_are_at_their_places_in_every_frame():
    view = scene_view(scene_record(small_scene()))
    (scene,) = view["scenes"]
    assert scene["frames"] == ["0°", "45°", "90°"]
    heights = [np.reshape(pose, (4, 4))[1, 3] for pose in scene["poses"]["tibia"]]
    assert heights == [-10.0, -20.0, -30.0]
    assert scene["poses"]["tibia bone"] == scene["poses"]["tibia"]
    assert [line[0][1][1] for line in scene["lines"]] == heights
    points = unpacked(view["bodies"]["femur"]["points"], "<f4").reshape(-1, 3)
    assert points == pytest.approx(small_scene().meshes["femur"].vertices)
    assert scene_view(scene_record(None)) == {}


@pytest.mark.parametrize("shift", [(0.0, 0.0, 0.0), (30.0, 20.0, -40.0)])
def test_component_stands_beside_the_insert_wherever_the_origin_of_its_file_is(view, shift):
    placed, insert, bodies = [], [], {}
    for name, one in view["bodies"].items():
        points = unpacked(one["points"], "<f4").reshape(-1, 3)
        own = points + np.array(shift, "<f4") if one["group"] == "femoral" else points
        bodies[name] = one | {"points": packed(own)}
        (placed if one["group"] == "femoral" else insert).append(own)
    pose = np.reshape(insert_view._beside(bodies), (4, 4))
    femoral = np.concatenate(placed) @ pose[:3, :3].T + pose[:3, 3]
    (low, high), (front, back) = (
        (one.min(axis=0), one.max(axis=0)) for one in (femoral, np.concatenate(insert))
    )
    bearing = unpacked(view["bodies"]["insert"]["points"], "<f4").reshape(-1, 3)
    assert high[0] == pytest.approx(front[0] - insert_view.GAP_MM, abs=1e-3)
    below = (bearing[:, 1].max() - low[1]) / (high[1] - low[1])
    assert below == pytest.approx(insert_view.SUNK, abs=1e-3)
    assert low[2] + high[2] == pytest.approx(front[2] + back[2], abs=1e-3)
