"""Free ends of a bonded layer below its surface."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kneewear.contact import slab_ends
from kneewear.contact.material import Elastic
from kneewear.contact.slabs import NO_ENDS, SlabWindow
from kneewear.contact.strips import Strip, flat_section

POLYETHYLENE = Elastic(463.0, 0.46)
THICKNESS = 8.0
WINDOW = SlabWindow((24, 36), (0.75, 0.5), THICKNESS, POLYETHYLENE)
ALONG = (np.arange(24) - 11.5)[:, None] * 0.75
ACROSS = (np.arange(36) + 0.5) * 0.5
# A pressure that is largest 5 mm from the first column.
PRESSURE = 20.0 * np.exp(-((ALONG / 3.0) ** 2) - ((ACROSS - 5.0) / 2.5) ** 2)
UNSTRAINED = np.zeros(WINDOW.field_shape)


def ending(before=np.inf, after=np.inf):
    return replace(WINDOW, ends=(NO_ENDS[0], (before, after)))


def added(window, pressure=PRESSURE):
    """Stress by a pressure that a layer without ends does not have."""
    going_on = replace(window, ends=NO_ENDS)
    return window.stress(pressure, UNSTRAINED) - going_on.stress(pressure, UNSTRAINED)


def test_surface_deflects_as_a_strip_with_free_ends():
    number, columns, levels = 6, 30, np.linspace(0.0, 1.0, 5) ** 0.7
    table, wave = slab_ends.end_table(THICKNESS, POLYETHYLENE), slab_ends._WAVES[number]
    strip = Strip(flat_section(columns, 1.0, THICKNESS), POLYETHYLENE, levels)
    wide = Strip(flat_section(2 * columns, 1.0, THICKNESS), POLYETHYLENE, levels)
    loads = np.array([2, 4, 8])
    middle = wide.influence(wave, np.array([columns]))[:, 0]
    expected = strip.influence(wave, loads)[loads]
    expected = expected - middle[columns + loads[:, None] - loads]
    # Deflection per force of cells, which decays exponentially, at the places of the strip.
    border = table.border
    mean = table.surface[number] / np.diff(border)[:, None]
    share = slab_ends._shares(0.5 * (border[1:] + border[:-1]), loads.astype(float))
    found = np.exp(share @ np.log(np.abs(mean @ mean.T)) @ share.T)
    np.testing.assert_allclose(found, expected, rtol=0.05)


def test_end_is_free_of_traction(monkeypatch):
    def traction(window):
        stress = window.stress(PRESSURE, UNSTRAINED)[[2, 4, 5], ..., 0]
        return np.sqrt((stress**2).mean())

    loaded = traction(WINDOW)
    coarse = traction(ending(0.0))
    monkeypatch.setattr(slab_ends, "_FIRST", 0.25)
    monkeypatch.setattr(slab_ends, "_BORDERS", (0.0, 0.3, 0.8, 1.8, 3.8, 6.5))
    slab_ends.end_table.cache_clear()
    fine = traction(ending(0.0))
    slab_ends.end_table.cache_clear()
    # Means of the first column, 0.25 mm from the end.
    assert coarse < 0.5 * loaded
    assert fine < 0.6 * coarse


def test_ends_have_no_effect_far_from_them():
    nearer, far = (np.abs(added(ending(distance))).max() for distance in (2.0, 11.0))
    # 0.5 % of the largest stress by the pressure.
    assert far < 0.1 * nearer
    np.testing.assert_array_equal(added(ending(13.0)), 0.0)


def test_ends_along_both_directions_and_on_both_sides_are_the_same():
    before = added(ending(1.0))
    after = added(ending(after=1.0), PRESSURE[:, ::-1])[..., ::-1]
    mirrored = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0])[:, None, None, None]
    np.testing.assert_allclose(mirrored * after, before, atol=1e-12)
    turned = replace(WINDOW, shape=(36, 24), cell=(0.5, 0.75), ends=((1.0, np.inf), NO_ENDS[1]))
    field = turned.stress(PRESSURE.T, np.zeros(turned.field_shape))
    field -= replace(turned, ends=NO_ENDS).stress(PRESSURE.T, np.zeros(turned.field_shape))
    # Exchange of x and z: xx and zz, xy and yz.
    np.testing.assert_allclose(field.transpose(0, 1, 3, 2)[[2, 1, 0, 4, 3, 5]], before, atol=1e-12)


def test_plastic_strain_sinks_the_surface_more_beside_an_end():
    # Material that was compressed upwards and has spread sideways, as below a contact.
    strain = 1e-3 * np.array([0.5, -1.0, 0.5, 0.0, 0.0, 0.0])[:, None, None, None] * PRESSURE
    strain = np.repeat(strain, WINDOW.heights.size, axis=1)
    wide, one, both = (
        window.deflection(strain).max() for window in (WINDOW, ending(3.0), ending(3.0, 3.0))
    )
    assert both >= one > wide > 0.0
