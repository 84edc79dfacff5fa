"""Slip of known rigid motions."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case
from kneewear.geometry.grid import build_grid
from tests.physics.bodies import Study, cylinder, flat_implant, gait_study, sphere

pytestmark = pytest.mark.compiled

RADIUS = 30.0
HEIGHT = 8.0
CASE = Case("plates", HEIGHT, 40.0)
FRAMES = 12
# Slips are written in single precision (6e-8 of a millimetre's fraction).
WRITTEN = 1e-6


def rolling(slide, turn, condyle=None):
    """Two condyles on flat plates that slide (mm) and turn (rad about z) by so much a frame.

    Forth over half of the cycle and back over the other: both ways at constant rate.
    """
    implant = flat_implant(condyle or sphere(RADIUS), thickness=HEIGHT)
    forth = np.abs(np.arange(FRAMES) - FRAMES // 2.0) - FRAMES / 4
    translation, rotation = np.zeros((FRAMES, 3)), np.zeros((FRAMES, 3))
    translation[:, 0], rotation[:, 2] = slide * forth, turn * forth
    percent = 100.0 * np.arange(FRAMES) / FRAMES
    activity = Activity("known", percent, 1.0, translation, rotation, np.full(FRAMES, 1.5))
    settings = gait_study().settings.model_copy(update={"medial_share": 0.5})
    study = Study(implant, build_grid(implant, 40, 40), activity, settings, nodes=(81, 61))
    return study, study.arrays(CASE)


# Frames in mid-stroke, backwards (decreasing) and forwards.
BACK = slice(1, FRAMES // 2)
FORTH = slice(FRAMES // 2 + 1, FRAMES)


def loaded_slip(history, frames):
    on = history.pressure[0, frames] > 0
    assert on.any(axis=(-1, -2)).all()
    return history.slip[0, frames][on], on


# A cylinder wider than the plates: nothing pushes it sideways, whereas a sphere settles between
# the elements and so moves sideways by some nanometres while it slides.
WIDE = cylinder(RADIUS, 20.0)


def test_pure_sliding_slips_by_the_distance_slid():
    _, history = rolling(slide=0.2, turn=0.0, condyle=WIDE)
    for frames, sign in ((BACK, -1.0), (FORTH, 1.0)):
        slip, _ = loaded_slip(history, frames)
        assert slip[:, 0] == pytest.approx(sign * 0.2, abs=WRITTEN)
        assert slip[:, 1] == pytest.approx(0.0, abs=WRITTEN)
    # At the turning points it comes back to where it was.
    turning, _ = loaded_slip(history, [0, FRAMES // 2])
    assert turning == pytest.approx(0.0, abs=WRITTEN)


@pytest.mark.parametrize("condyle", [sphere(RADIUS), WIDE])
def test_pure_turning_slips_by_radius_times_angle(condyle):
    turn = 0.03
    study, history = rolling(slide=0.0, turn=turn, condyle=condyle)
    for frames, sign in ((BACK, -1.0), (FORTH, 1.0)):
        slip, on = loaded_slip(history, frames)
        height = np.broadcast_to(history.translation[0, frames, 1][:, None, None, None], on.shape)
        lever = (height - HEIGHT)[on]
        # Half the chord from frame to frame: radius x sin(angle), the lever being the radius less
        # the penetration. A turn about +z drives the lowest point towards +x.
        assert slip[:, 0] == pytest.approx(sign * lever * np.sin(turn), abs=WRITTEN)
        assert slip[:, 0] == pytest.approx(sign * RADIUS * turn, rel=0.01)
        assert slip[:, 1] == pytest.approx(0.0, abs=WRITTEN)
    assert study.activity.rotation[:, 2].max() == pytest.approx(turn * FRAMES / 4)


def test_pure_rolling_does_not_slip():
    turn = 0.01
    # Rolling towards -x turns the condyle towards +z: slide = -radius x angle.
    _, history = rolling(slide=-RADIUS * turn, turn=turn)
    slip, _ = loaded_slip(history, FORTH)
    depth = history.max_penetration.max()
    # What is left is the angle times the penetration (the lever is not quite the radius) and the
    # chord's third order.
    assert np.max(np.abs(slip)) < 1.1 * turn * depth + RADIUS * turn**3
    assert np.max(np.abs(slip)) < 0.05 * RADIUS * turn


def test_slip_of_a_whole_cycle_is_closed():
    """On flat plates a condyle that comes back has slid to and fro by the same amount."""
    _, history = rolling(slide=0.1, turn=0.02, condyle=WIDE)
    total = history.slip[0].astype(float).sum(axis=0)
    always = (history.pressure[0] > 0).all(axis=0)
    assert always.any()
    assert total[always] == pytest.approx(0.0, abs=FRAMES * WRITTEN)


def test_distance_slid_does_not_depend_on_the_number_of_frames():
    work = []
    for frames in (48, 96):
        study = gait_study(40, 30, frames)
        history = study.arrays(CASE)
        sliding = history.pressure[0] * np.linalg.norm(history.slip[0], axis=-1)
        work.append((sliding * np.nan_to_num(study.grid.area)).sum(axis=(0, 2, 3)))
    # Chords of a smooth motion lose its second order: 8 % at 24 frames, 2 % at 48.
    assert work[0] == pytest.approx(work[1], rel=0.03)


def test_slip_lies_in_the_elements_own_plane():
    study = gait_study()
    history = study.arrays(CASE)
    on = history.pressure[0] > 0
    grid = study.grid
    for tangent in (grid.tangent_row, grid.tangent_column):
        assert np.nanmax(np.abs((tangent * grid.normal).sum(-1))) < 1e-12
    in_space = (
        history.slip[0][..., :1] * grid.tangent_row + history.slip[0][..., 1:] * grid.tangent_column
    )
    length = np.linalg.norm(in_space, axis=-1)
    assert length[on] == pytest.approx(np.linalg.norm(history.slip[0], axis=-1)[on], rel=1e-6)
