"""Contact on surfaces that sink: a factor that is updated from search to search."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.contact import pair as pairs_of_contact
from kneewear.contact.pair import ContactModel
from kneewear.motion.evaluation import build_layers, build_pairs
from tests.physics.bodies import CASES, gait_study, pose_of

POSES = range(0, 24, 2)
pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def pressed():
    """A pair, its layer and poses of a cycle that press it by three times the usual depth."""
    study = gait_study().with_settings(contact="coupled_layer")
    knee, history = study.knee(), study.run(CASES[1])
    pair = build_pairs(knee, study.settings)[0]
    layer = build_layers(knee.grid, [pair], 6.0, study.settings)[0]
    lower = np.array([0.0, -0.2, 0.0])
    poses = [pose_of(history, frame) for frame in POSES if frame < history.sizes["frame"]]
    return pair, layer, [(rotation, place + lower) for rotation, place in poses]


def contacts(pair, layer, poses):
    model = ContactModel({"pair": pair}, {"pair": layer})
    listed = []
    for rotation, place in poses:
        model.forget()
        listed.append(model.evaluate(rotation, place)["pair"])
    return listed


@pytest.mark.parametrize("places", [5000, 200, 20])
def test_updated_factor_gives_the_contact_of_a_new_one(pressed, monkeypatch, places):
    """Also where places are given up, and where there are too few for the candidates."""
    pair, layer, poses = pressed
    monkeypatch.setattr(pairs_of_contact, "_MAX_PLACED", places)
    expected = contacts(pair, layer, poses)
    # Back and forth: every pose is met with another factor.
    kept = contacts(pair.sinkable(), layer, [*poses, *poses[::-1]])
    largest = max(contact.element.size for contact in expected)
    assert largest > 20
    for one, other in zip(kept, [*expected, *expected[::-1]], strict=True):
        np.testing.assert_array_equal(one.element, other.element)
        np.testing.assert_allclose(one.pressure, other.pressure, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(one.wrench, other.wrench, rtol=1e-9, atol=1e-7)
        scale = np.abs(other.stiffness).max()
        np.testing.assert_allclose(one.stiffness, other.stiffness, rtol=0, atol=1e-8 * scale)


def test_sunk_elements_are_pressed_by_less(pressed):
    pair, layer, poses = pressed
    sunk = pair.sinkable()
    sunk.sink(np.full(pair.index.size, 0.05))
    (rotation, place), depth = poses[0], np.array([0.0, 0.05, 0.0])
    dented = contacts(sunk, layer, [(rotation, place)])[0]
    raised = contacts(pair, layer, [(rotation, place + depth)])[0]
    # Elements of this plateau are nearly level.
    assert dented.wrench[1] == pytest.approx(raised.wrench[1], rel=0.05)
    assert dented.wrench[1] < contacts(pair, layer, [(rotation, place)])[0].wrench[1]
