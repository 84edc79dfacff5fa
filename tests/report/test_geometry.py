"""Figures of the geometry: what they show is where it belongs."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.collections import QuadMesh

from kneewear.geometry.grid import build_grid
from kneewear.report.maps import (
    draw_cartilage_map,
    draw_element_grid,
    draw_geometry,
    draw_thickness_map,
)
from kneewear.report.specification import figure_texts
from tests.geometry.test_layers import knee_of_spheres


def parts(figure, kind):
    """Artists of a kind in all axes, insets included."""
    return figure.findobj(lambda artist: isinstance(artist, kind))


def test_thickness_map_shows_every_element(whole):
    thicker = draw_thickness_map(whole.grid, 10.0)
    assert (
        thicker.axes[0]
        .get_title(loc="left")
        .startswith("Local thickness, 10 mm insert (nominal): medial")
    )
    as_built, more = (
        np.nanmax(one.axes[0].collections[-1].get_array())
        for one in (draw_thickness_map(whole.grid), thicker)
    )
    assert more - as_built == pytest.approx(10.0 - whole.grid.nominal_thickness)
    figure = draw_thickness_map(whole.grid)
    maps = [part for part in parts(figure, QuadMesh) if part.get_array().size == 24 * 18]
    for mesh, thickness in zip(maps, whole.grid.thickness, strict=True):
        np.testing.assert_array_equal(mesh.get_array().reshape(24, 18), thickness)


def test_natural_knee_has_a_map_of_its_femoral_cartilage(whole):
    knee = knee_of_spheres()
    mesh = parts(draw_cartilage_map(knee), QuadMesh)[0]
    np.testing.assert_allclose(mesh.get_array(), 2.5, atol=1e-9)
    with pytest.raises(ValueError):
        draw_cartilage_map(whole.implant)
    for draw in (draw_thickness_map, draw_element_grid):
        draw(build_grid(knee, 8, 6)).savefig(io.BytesIO(), format="png")


def test_a_natural_knee_adds_a_figure_and_every_figure_has_its_words(whole):
    assert set(draw_geometry(whole.implant, whole.grid)) <= set(figure_texts())
    figures = draw_geometry(knee_of_spheres(), whole.grid)
    assert set(figures) == {"element_grid", "thickness_map", "cartilage_map"}
    assert set(figures) <= set(figure_texts())
