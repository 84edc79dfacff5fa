"""An equilibrium depends on load and prescribed coordinates, not on how it was reached."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kneewear.motion._equilibrium_kernels import Loading
from kneewear.motion.component import contact_model
from kneewear.motion.frame_equilibrium import approach, solve_equilibrium
from tests.physics.bodies import (
    CASES,
    UPRIGHT,
    contact_of,
    flat_implant,
    gait_study,
    plate,
    pose_of,
)

pytestmark = pytest.mark.compiled

# Residuals of 1e-12 of the load over stiffnesses of 0.01 of the load per mm and more.
SAME = 1e-8
STARTS = {
    "10 mm above": ([0.0, 10.0, 0.0], 0.0),
    "1 mm inside": ([0.0, -1.0, 0.0], 0.0),
    "varus of 3 deg": ([0.0, 3.0, 0.0], np.radians(3.0)),
    "valgus of 3 deg": ([0.0, 3.0, 0.0], -np.radians(3.0)),
    "1 mm medial": ([0.0, 0.0, 1.0], 0.0),
    "1 mm lateral and above": ([0.0, 2.0, -1.0], 0.01),
}


def both_contacts(study):
    parts = [contact_of(study.implant, 40, 30, side) for side in (0, 1)]
    return [c for c, _ in parts], [k for _, k in parts]


@pytest.mark.parametrize("line", [None, 8.0])
@pytest.mark.parametrize("approached", [False, True])
def test_equilibrium_does_not_depend_on_the_start(line, approached):
    study = gait_study()
    history = study.arrays(CASES[0])
    contacts, layers = both_contacts(study)
    model = contact_model(contacts, layers)
    for frame in (0, 2, 5, 9):
        force, shared = float(history.load[0, frame]), line is None
        loading = Loading(force, 0.7, shared, line or 0.0, 0.0, 0.0, False)
        found = {}
        for name, (shift, turn) in STARTS.items():
            start = np.hstack([history.translation[0, frame], history.rotation[0, frame]])
            start += [*shift, turn, 0.0, 0.0]
            if approached:
                start = approach(contacts, start, frame)
            found[name] = solve_equilibrium(model, contacts, start, loading, 1e-12, frame)
        first = found["10 mm above"]
        for name, other in found.items():
            assert other.translation == pytest.approx(first.translation, abs=SAME), (frame, name)
            assert other.rotation == pytest.approx(first.rotation, abs=SAME), (frame, name)
            lever, expected = (
                sum(contact.wrench[3] for contact in one.contacts) / loading.force
                for one in (other, first)
            )
            assert lever == pytest.approx(expected, abs=100 * SAME), (frame, name)


def poses(study, count=12):
    history = study.arrays(CASES[0])
    return [pose_of(history, frame) for frame in range(min(count, history.load.shape[1]))]


def test_order_of_poses_changes_no_bit():
    study = gait_study()
    contact, layer = contact_of(study.implant, 40, 30)
    listed = poses(study)
    straight = []
    for rotation, translation in listed:
        contact.reset()
        straight.append(contact.evaluate(rotation, translation, layer))
    for number in np.random.default_rng(3).permutation(len(listed)):
        contact.reset()
        again = contact.evaluate(*listed[number], layer)
        assert np.array_equal(again.element, straight[number].element)
        assert np.array_equal(again.penetration, straight[number].penetration)
        assert np.array_equal(again.wrench, straight[number].wrench)


def on_all(contact, result):
    penetration = np.zeros(contact.index.size)
    penetration[result.element] = result.penetration
    return penetration


def test_a_remembered_search_finds_what_a_fresh_one_finds():
    study = gait_study()
    walker, layer = contact_of(study.implant, 40, 30, search="breadth_first")
    fresh, _ = contact_of(study.implant, 40, 30)
    random = np.random.default_rng(5)
    (rotation, translation), *_ = poses(study)
    translation = translation.copy()
    for _ in range(60):
        translation += random.uniform(-0.15, 0.15, 3) * [1.0, 0.2, 1.0]
        translation[1] = np.clip(translation[1], 37.0, 38.0)
        fresh.reset()
        one, other = (c.evaluate(rotation, translation, layer) for c in (walker, fresh))
        assert np.array_equal(on_all(walker, one), on_all(fresh, other))
        assert np.array_equal(one.wrench, other.wrench)


def test_result_does_not_depend_on_the_resolution_of_the_table():
    study = gait_study()
    reference = study.arrays(CASES[0])
    for nodes in ((31, 17), (201, 101)):
        history = replace(study, nodes=nodes).arrays(CASES[0])
        # The table only starts searches that end on the exact surface.
        top = reference.max_pressure.max()
        assert np.max(np.abs(history.pressure - reference.pressure)) < 1e-5 * top
        assert history.translation == pytest.approx(reference.translation, abs=1e-6)


def test_a_cycle_may_begin_at_any_frame_and_run_backwards():
    study = gait_study()
    reference = study.arrays(CASES[0])
    n_frames = study.activity.load.size
    forward = (np.arange(n_frames) + 5) % n_frames
    for order in (forward, np.arange(n_frames)[::-1]):
        activity = replace(
            study.activity,
            translation=study.activity.translation[order],
            rotation=study.activity.rotation[order],
            load=study.activity.load[order],
        )
        history = replace(study, activity=activity).arrays(CASES[0])
        # Solved to 1e-9 of the load over 0.01 of the load per mm and more.
        assert history.translation == pytest.approx(reference.translation[:, order], abs=1e-6)
        assert history.rotation == pytest.approx(reference.rotation[:, order], abs=1e-7)
        assert history.max_pressure == pytest.approx(reference.max_pressure[:, order], rel=1e-5)


def test_two_runs_give_the_same_bits():
    study = gait_study()
    one, other = study.arrays(CASES[1]), study.arrays(CASES[1])
    assert np.array_equal(one.pressure, other.pressure)
    assert np.array_equal(one.slip, other.slip)
    assert np.array_equal(one.reaction_moment, other.reaction_moment)


def test_a_remembered_search_sees_elements_that_a_border_reaches():
    """A flat stamp slides over a plate by less and by more than an element."""
    implant = flat_implant(plate((-4.0, 4.0), (-4.0, 4.0)).reversed_normal(), 8.0, 8.0)
    walker, layer = contact_of(implant, 80, 80, search="breadth_first")
    fresh, _ = contact_of(implant, 80, 80)
    for shift in (0.0, 0.05, 0.12, 0.3, 3.0):
        fresh.reset()
        pose = UPRIGHT, np.array([shift, 7.9, 0.0])
        one = on_all(walker, walker.evaluate(*pose, layer))
        other = on_all(fresh, fresh.evaluate(*pose, layer))
        assert np.array_equal(one, other)
