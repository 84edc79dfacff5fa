"""The storage window: which blocks it keeps, when it moves, and what it interpolates."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.table import tabulate_surface
from kneewear.verification.table_window import BlockLayout, StorageWindow
from tests.physics.bodies import sphere

BLOCK = (9, 9)


def window_on(rows, size=(3, 3), block=BLOCK):
    """Window on rows in memory that notes what it reads."""
    low, high = rows[0, 0, :2], rows[-1, -1, :2]
    points = rows.shape[:2]
    step = [(high[n] - low[n]) / (points[n] - 1) for n in (0, 1)]
    reads = []

    def read(*ranges):
        reads.append(ranges)
        return rows[ranges[0] : ranges[1], ranges[2] : ranges[3]]

    layout = BlockLayout(points, block, tuple(low), tuple(step))
    return StorageWindow(layout, read, size), reads


def plane_rows(points):
    """A plane x = u, y = v over 0 to 1, three columns."""
    u, v = np.meshgrid(np.linspace(0, 1, points), np.linspace(0, 1, points), indexing="ij")
    return np.stack([u, v, 3.0 * u - 2.0 * v], axis=-1)


def test_window_moves_once_at_the_ninth_impact_of_figure_6_13():
    rows = plane_rows(9 * 9)
    window, reads = window_on(rows, size=(5, 5))
    # A ball that bounces forward: eight impacts in the inner 3 x 3 blocks of the first window
    # (blocks 2 to 4), the ninth in a border block (5) that still belongs to it, three more beyond.
    block = 9 / 80
    u = [block * b for b in (3.5, 3.6, 3.8, 4.0, 4.2, 4.4, 4.6, 4.9, 5.3, 5.6, 6.2, 6.8)]
    updates = []
    for value in u:
        window.interpolate(value, 4.0 * block)
        updates.append(window.updates)
    assert updates == [0] * 8 + [1] * 4
    assert len(reads) == 2
    # The block of the ninth impact is the middle one now.
    assert window.first == (3, 2)
    assert window.end == (8, 7)


def test_only_the_blocks_of_the_window_are_read():
    window, reads = window_on(plane_rows(90))
    window.interpolate(0.55, 0.35)
    assert reads == [(36, 63, 18, 45)]
    assert window.rows.shape == (27, 27, 3)


def test_a_window_at_the_table_s_border_stays_there():
    window, reads = window_on(plane_rows(45))
    for u in (0.0, 0.01, 0.1, 0.3):
        window.interpolate(u, 1.0 - u)
    assert len(reads) == 1
    assert window.first == (0, 2)


def test_a_window_as_large_as_the_table_never_moves():
    window, reads = window_on(plane_rows(33), size=(99, 99))
    for u in np.linspace(0, 1, 21):
        window.interpolate(u, u)
    assert len(reads) == 1
    assert window.updates == 0


@pytest.mark.parametrize("size", [(1, 3), (3, 4), (2, 2)])
def test_windows_without_a_middle_are_refused(size):
    with pytest.raises(ValueError, match="odd number of blocks"):
        window_on(plane_rows(90), size=size)


def test_a_window_gives_what_the_whole_table_gives():
    table = tabulate_surface(sphere(30.0), 61, 52)
    window, _ = window_on(table.rows)
    random = np.random.default_rng(3)
    for u, v in random.uniform(0, 1, (200, 2)):
        (u0, u1), (v0, v1) = (np.ptp(table.u), table.u[0]), (np.ptp(table.v), table.v[0])
        parameters = u1 + u * u0, v1 + v * v0
        assert window.interpolate(*parameters) == pytest.approx(
            table.interpolate(*parameters), abs=1e-12
        )


def test_interpolation_error_falls_with_the_square_of_the_spacing():
    surface = sphere(30.0)
    (u0, u1), (v0, v1) = surface.domain
    random = np.random.default_rng(5)
    u, v = random.uniform(u0, u1, 4000), random.uniform(v0, v1, 4000)
    point, normal = surface.evaluate(u, v), surface.normal(u, v)
    errors = []
    for points in (21, 41, 81, 161):
        found = tabulate_surface(surface, points, points).interpolate(u, v)
        errors.append([np.abs(found[:, 2:5] - point).max(), np.abs(found[:, 5:8] - normal).max()])
    orders = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    # The largest of 4000 samples of a fine table sees a worst cell only nearly.
    assert orders == pytest.approx(2.0, abs=0.15)


def test_outside_the_table_is_refused():
    table = tabulate_surface(sphere(30.0), 11, 11)
    with pytest.raises(ValueError, match="u outside the table's"):
        table.interpolate(table.u[-1] + 0.1, table.v[0])
