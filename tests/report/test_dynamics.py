"""Figures and words of a case's motion, of both analyses and of cases that failed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import proj3d

from kneewear.base.cases import Case
from kneewear.evidence.verification.figures import draw_analysis_comparison
from kneewear.evidence.verification.methods import compare_analyses
from kneewear.report.bodies import draw_control_nets, draw_dynamics
from kneewear.report.study_tables import analysis_differences
from tests.datasets import with_values
from tests.physics.bodies import SMALL, gait_study


@cache
def case():
    """Study, its quasi-static history, and one in which all pressures are 2 % higher."""
    study = gait_study(*SMALL)
    still = study.run(Case("one", 8.0, 75.0))
    return (
        study,
        still,
        with_values(still, analysis="forward", max_pressure=1.02 * still.max_pressure),
    )


def is_mirrored(axes):
    """True if a view in space shows posterior, superior and medial of a right knee mirrored."""
    seen = np.array(
        [
            proj3d.proj_transform(x, z, y, axes.get_proj())
            for x, y, z in 1e-3 * np.concatenate([np.zeros((1, 3)), np.eye(3)])
        ]
    )
    return np.linalg.det(seen[1:] - seen[0]) > 0.0


def test_views_in_space_are_not_mirrored():
    axes = Figure().add_subplot(projection="3d")
    # Its own axes are right-handed, and knees are drawn with y upwards.
    assert is_mirrored(axes)
    study, _, _ = case()
    for space in draw_control_nets(study.implant).axes:
        assert not is_mirrored(space)


def test_every_figure_of_an_activity_is_drawn():
    study, still, moved = case()
    figures = draw_dynamics(study.implant, study.grid, {"gait": moved})
    assert list(figures) == ["motion_gait", "forces_gait", "areas_gait"]
    motion, forces, areas = figures.values()
    assert len(motion.axes) == 4
    assert not any(is_mirrored(axes) for axes in motion.axes)
    assert "flexion" in motion.axes[0].get_title()
    # Net superior force on the insert: the load, downwards.
    net = forces.axes[1].lines[-1].get_ydata()
    assert np.asarray(net)[:-1] == pytest.approx(-still["load"][0], rel=1e-6)
    shown = [axes for axes in areas.axes if axes.get_title(loc="left").endswith("%")]
    assert len(shown) == 8
    assert len({axes.get_xlim() for axes in shown}) == 1
    # Anterior is at the top and medial on the left, in all of the plans.
    assert all(axes.yaxis_inverted() and axes.xaxis_inverted() for axes in shown)
    difference = (
        draw_analysis_comparison(compare_analyses(still, moved)).axes[2].lines[0].get_ydata()
    )
    assert np.nanmax(np.asarray(difference)) == pytest.approx(2.0)


def test_differences_of_the_analyses_are_those_of_the_pressures():
    _, still, moved = case()
    found = analysis_differences(compare_analyses(still, moved)).set_index("difference")["percent"]
    assert found["Peak pressure, root mean square"] == pytest.approx(2.0)
    assert found["Peak pressure, largest"] == pytest.approx(2.0)
    assert found["Acceleration's part of the load, largest"] == 0.0
