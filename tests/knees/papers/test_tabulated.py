"""Contact by lookup tables: storage windows, common normals, and the bouncing ball."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.evidence.paper.command import source_items
from kneewear.knees.contact.point import SphereOnPlane
from kneewear.knees.papers.bouncing_ball.model import bounce, solve
from kneewear.knees.papers.bouncing_ball.settings import WindowSettings
from kneewear.knees.papers.point_contact.record_file import RecordFile, write_records
from kneewear.knees.papers.point_contact.tabulated import (
    TabulatedPair,
    plane_table,
    sphere_table,
    window_on,
)
from kneewear.mechanics.rotations import body_three_123
from kneewear.study.settings import read_study

CONFIG = Path(__file__).parents[3] / "config"
GROUND = plane_table((-50.0, -20.0), (50.0, 180.0), 333)
WHOLE = (999, 999)


def settings(**changes):
    own = {"multibody": changes}
    file = CONFIG / "papers/bouncing_ball.yaml"
    return read_study(file, own, defaults=CONFIG / "defaults.yaml").multibody


def pair_of(samples, size=WHOLE, ground=GROUND):
    sphere = sphere_table(20.0, samples)
    return TabulatedPair(ground, sphere, (window_on(ground, 9, size), window_on(sphere, 9, WHOLE)))


def test_a_window_moves_once_at_the_ninth_impact_of_figure_6_13():
    table = plane_table((0.0, 0.0), (1.0, 1.0), 81)
    window = window_on(table, 9, (5, 5))
    # Eight impacts in the inner blocks of the first window, the ninth in a border block of it.
    block = 9 / 80
    updates = []
    for place in (3.5, 3.6, 3.8, 4.0, 4.2, 4.4, 4.6, 4.9, 5.3, 5.6, 6.2, 6.8):
        window.look_up(block * place, 4.0 * block)
        updates.append(window.updates)
    assert updates == [0] * 8 + [1] * 4
    assert window.first == (3, 2) and window.end == (8, 7)
    low, high = window.extents[-1]
    np.testing.assert_allclose(low, [27 / 80, 18 / 80])
    np.testing.assert_allclose(high, [71 / 80, 62 / 80])
    # Only its blocks are in memory.
    assert window.rows.shape == (45, 45, 14)


def test_every_window_gives_the_same_bits():
    table = sphere_table(30.0, 61)
    small, whole = window_on(table, 9, (3, 3)), window_on(table, 9, WHOLE)
    random = np.random.default_rng(3)
    for u, v in random.uniform(0.0, 1.0, (200, 2)) * (np.pi, 2.0 * np.pi):
        for one, other in zip(small.look_up(u, v), whole.look_up(u, v), strict=True):
            assert np.array_equal(one, other)
    assert small.updates > 10 and whole.updates == 0


def test_a_tabulated_sphere_is_a_sphere_to_the_square_of_the_spacing():
    """The contact is beside the samples, away from the pole: the ball is turned."""
    turn = body_three_123([0.6, -0.4, 0.9])
    exact = SphereOnPlane((0.0,) * 3, 20.0, (0.0,) * 3, (0.0, 0.0, 1.0))
    errors = []
    for samples in (51, 101, 201):
        pair, found = pair_of(samples), []
        for x in (3.1, 3.2, 3.3):
            place = np.array([x, 40.0 + x, 19.9])
            touch = pair.touch(turn, place)
            ball = exact.touch(np.eye(3), -place)
            found.append(touch.depth - ball.depth)
            np.testing.assert_allclose(touch.normal, [0.0, 0.0, 1.0], atol=1e-12)
        errors.append(np.abs(found).max())
    assert errors[0] < 0.05
    # One sample of the error of a cell, which varies within it.
    assert np.log2(errors[0] / errors[2]) == pytest.approx(4.0, abs=1.5)


@pytest.mark.slow
def test_the_ball_bounces_as_hertz_has_it():
    """Depth from the energy of the fall; tables of few points, with and without windows."""
    small = settings(
        duration_s=0.07,
        samples=[33, 9],
        windows=[{"ball": [9, 9], "ground": [37, 37]}, {"ball": [3, 3], "ground": [3, 9]}],
    )
    result = solve(None, small)
    rows = result.literature.set_index(["quantity", "case"])["computed"]
    assert rows["number of impacts", ""] == 1.0
    fall = 9.2e-5 * 9810.0 * 12.0
    depth = (2.5 * fall / 173925.0) ** 0.4
    panel = result.kinematics.query("panel == '6.16c indentation'")
    # 41 times within an impact miss the deepest one by up to 3e-3 of it.
    assert panel.groupby("series")["value"].max().tolist() == pytest.approx([depth] * 2, rel=3e-3)
    path = "difference of the ball's path from that without a window"
    assert (rows[path] == 0.0).all()
    assert rows["difference of the ball's path from that of a sphere on a plane"].max() < 1e-6
    panels = {*result.kinematics["panel"], *result.forces["panel"]}
    for one in source_items():
        if one.study == "bouncing_ball" and one.panels:
            assert any(panel.startswith(one.panels) for panel in panels)
    assert rows["energy error over the largest kinetic energy", ""] < 1e-3
    assert rows["processor time with window 2 over that with window 1", ""] > 0.0


@pytest.mark.slow
def test_the_window_of_the_ground_follows_the_ball():
    window = WindowSettings(ball=(3, 3), ground=(3, 3))
    slow, fast = (
        bounce(
            settings(ball={"gap_mm": 0.5, "speed_mm_per_s": speed}),
            np.linspace(0.0, 0.04, 5),
            9,
            window,
        )
        for speed in (1.0, 1000.0)
    )
    assert slow.windows[0].updates == 0
    assert fast.windows[0].updates > 0


def stored(table, block):
    file = io.BytesIO()
    write_records(file, table, block)
    return file


def test_a_file_of_records_has_the_length_that_is_printed():
    """Section 6.5.1: 81 points of 14 columns of 8 bytes are 9072; 1369 records of the plane."""
    file = stored(GROUND, (9, 9))
    assert RecordFile(file).record_length == 9072
    assert len(file.getvalue()) == (1 + 1369) * 9072


@pytest.mark.parametrize("block", [(9, 9), (7, 4), (40, 1)], ids=str)
def test_any_part_of_a_file_is_that_of_the_table(block):
    """The last records of both directions are not full."""
    table = sphere_table(30.0, 61)
    records = RecordFile(stored(table, block))
    assert records.layout.points == (61, 61) and records.layout.block == block
    for begin, end, first, last in ((0, 61, 0, 61), (5, 20, 33, 61), (60, 61, 0, 1)):
        part = records.read(begin, end, first, last)
        np.testing.assert_array_equal(part, table.rows[begin:end, first:last])


@pytest.mark.parametrize(
    "spoil",
    [lambda data: data[:-1], lambda data: data + b"0", lambda data: b"", lambda data: bytes(99999)],
    ids=["cut off", "longer", "empty", "zeros"],
)
def test_a_file_of_another_length_is_refused(spoil):
    data = stored(sphere_table(30.0, 61), (9, 9)).getvalue()
    with pytest.raises(InputDataError):
        RecordFile(io.BytesIO(spoil(data)))
