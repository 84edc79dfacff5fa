"""Figures of knees: bodies as surfaces and outlines, axes of their own, ticks with room."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PolyCollection

from kneewear.knees.figures import draw_poses
from kneewear.knees.papers.fe_knee.figures import draw_knee_contact
from kneewear.knees.result import curves
from kneewear.report.curves import draw_curves


def scene(z):
    """A tetrahedron, of which a bundle ends at z, at two poses 10 mm apart along x."""
    return {
        "bodies": ["femur"],
        "labels": ["0 deg", "90 deg"],
        "rotation": [[np.eye(3).tolist()]] * 2,
        "translation": [[[0.0, 0.0, 0.0]], [[10.0, 0.0, 0.0]]],
        "meshes": {
            "femur": {
                "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                "triangles": [[0, 1, 2], [0, 2, 3], [0, 1, 3]],
            }
        },
        "lines": [[[[0.0, 0.0, 0.0], [1.0, 1.0, z]]]] * 2,
    }


def drawn(axes, kind):
    return [one for one in axes.collections if type(one) is kind]


@pytest.mark.parametrize(("z", "rows"), [(0.0, 1), (2.0, 2)])
def test_bodies_are_surfaces_from_the_side_and_from_the_front_unless_planar(z, rows):
    figure = draw_poses(scene(z))
    columns = 4
    assert len(figure.axes) == rows * columns
    for axes in figure.axes:
        (surface,) = drawn(axes, PolyCollection)
        assert len(surface.get_paths()) == 3 and len(drawn(axes, LineCollection)) == 1
    # The last pose is 10 mm further.
    last = drawn(figure.axes[columns - 1], PolyCollection)[0]
    assert min(path.vertices[:, 0].min() for path in last.get_paths()) == pytest.approx(10.0)


def test_each_contact_has_its_own_axis_of_nodes():
    history = pd.DataFrame({"time_ms": [0.0, 0.1, 0.2, 0.3]})
    for name, most in (("obstacle", 597.0), ("cartilage", 2.0)):
        history[f"{name}_nodes"] = [0.0, most, most, 0.0]
        history[f"{name}_force_n"] = [0.0, 1.0, 1.0, 0.0]
    figure = draw_knee_contact(history, ())
    tops = [axes.get_ylim()[1] for axes in figure.axes[1:]]
    assert tops[0] > 597.0 and 2.0 < tops[1] < 3.0


def test_tick_labels_of_narrow_panels_have_room():
    at = np.linspace(0.04947, 0.04957, 5)
    panels = [curves(name, "time (s)", at, "1", {"one": at}) for name in "abc"]
    figure = draw_curves(pd.concat(panels), 3)
    figure.draw_without_rendering()
    for axes in figure.axes:
        low, high = axes.get_xlim()
        boxes = [
            label.get_window_extent()
            for label, place in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True)
            if low <= place <= high
        ]
        assert len(boxes) > 1
        assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
        # A ratio has no unit that would be a number.
        assert axes.get_ylabel() != "1"
