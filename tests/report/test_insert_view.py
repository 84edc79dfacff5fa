"""The interactive view: its maps are those of the study."""

from __future__ import annotations

import gzip
from base64 import b64decode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kneewear.mechanics.rotations import body_three_123
from kneewear.report import insert_view
from kneewear.report.insert_view import (
    STEPS,
    block_values,
    build_insert_view,
    colour_steps,
    insert_mesh,
)


def unpacked(text, kind=np.uint8):
    return np.frombuffer(gzip.decompress(b64decode(text)), kind)


@pytest.fixture(scope="module")
def view(whole):
    return build_insert_view(
        whole.implant,
        whole.grid,
        whole.maps,
        whole.cycles.percent,
        whole.histories.values(),
    )


def test_depth_maps_agree_with_the_study_within_half_a_step(whole, view):
    life = whole.maps.lives[0]
    for index, case in enumerate(view["cases"]):
        for name in ("damage_depth", "wear_depth", "creep_depth"):
            depth = getattr(whole.maps, name)[0, index]
            packed, top = case["maps"][life][name], view["scales"][name]["top"]
            shown = unpacked(packed["steps"]) * top / STEPS
            assert shown == pytest.approx(depth[whole.grid.valid], abs=1.01 * top / STEPS)
            assert np.ptp([shown.max(), depth.max()]) <= 0.501 * top / STEPS
            assert packed["largest"][0] == pytest.approx(depth.max(axis=(1, 2)), rel=1e-5)


def test_pressures_and_poses_agree_with_the_histories(whole, view):
    history = whole.histories["gait"]
    count = int(whole.grid.valid.sum())
    top = view["scales"]["pressure"]["top"]
    assert top == history.pressure.max()
    for index, case in enumerate(view["cases"]):
        cycle = case["cycles"]["gait"]
        shown = unpacked(cycle["steps"]).reshape(-1, count) * top / STEPS
        pressure = history.pressure[index][:, whole.grid.valid]
        assert np.abs(shown - pressure).max() <= 1.01 * top / STEPS
        assert cycle["largest"] == pytest.approx(history.max_pressure[index], rel=1e-5)
        pose = np.reshape(cycle["poses"], (-1, 4, 4))
        assert pose[:, :3, 3] == pytest.approx(history.translation[index])
        assert pose[2, :3, :3] == pytest.approx(
            body_three_123(history.rotation[index, 2]), abs=1e-6
        )


def test_one_colour_scale_spans_all_cases(whole, view):
    steps = [
        unpacked(case["maps"]["gait"]["damage_depth"]["steps"]).max() for case in view["cases"]
    ]
    assert max(steps) == STEPS
    assert len(set(steps)) > 1


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
    monkeypatch.setattr(insert_view, "MOST_VERTICES", 100)
    view = build_insert_view(
        whole.implant,
        whole.grid,
        whole.maps,
        whole.cycles.percent,
        whole.histories.values(),
    )
    assert view["elements_per_vertex"] > 1
    count = len(unpacked(view["insert"]["points"])) // 12
    assert count < 200
    for index, case in enumerate(view["cases"]):
        steps = unpacked(case["maps"]["gait"]["damage_depth"]["steps"])
        top = view["scales"]["damage_depth"]["top"]
        assert len(steps) == count
        assert steps.max() == colour_steps(whole.maps.damage_depth[0, index], top).max()


def test_a_large_study_shows_its_typical_cases(whole, monkeypatch):
    monkeypatch.setattr(insert_view, "MOST_VALUES", 10)
    view = build_insert_view(
        whole.implant,
        whole.grid,
        whole.maps,
        whole.cycles.percent,
        whole.histories.values(),
    )
    assert {case["name"] for case in view["cases"]} <= {case.name for case in whole.maps.cases}
    assert all(case["cycles"] for case in view["cases"])


@given(
    arrays(np.float64, (2, 5, 7), elements=st.floats(0.0, 50.0)),
    st.integers(1, 8),
)
def test_blocks_hold_the_largest_of_their_elements(values, factor):
    blocks = block_values(np.maximum, values, factor)
    assert blocks.shape == (2, -(-5 // factor), -(-7 // factor))
    assert blocks.max() == values.max()
    assert blocks[0, 0, 0] == values[0, :factor, :factor].max()


@given(arrays(np.float64, 20, elements=st.floats(0.0, 30.0)))
def test_steps_are_zero_where_nothing_was_touched(values):
    steps = colour_steps(values, 30.0)
    assert np.array_equal(steps == 0, values == 0.0)
    assert (np.abs(steps * 30.0 / STEPS - values) <= 30.0 / STEPS).all()
