"""The component settles by numerical damping where descent finds its equilibrium."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.mechanics.coordinates import POSE_FACTORS
from kneewear.models.press.static_figures import draw_settling
from kneewear.motion.settling import settle_component
from kneewear.study.inputs import exact_knee
from tests.models.press.chapter3 import small_study

pytestmark = pytest.mark.compiled

POSE = list(POSE_FACTORS)


def settled(mass_kg=0.4, **options):
    """Sequence and comparison at 0 deg under 3000 N, lifted and tilted."""
    start = {"lift_mm": 3.0, "varus_deg": 3.0} | options
    study = small_study(analyses={"settling": start}, flexion_deg=0, load_n=3000)
    forward = study.simulation.forward.model_copy(update={"mass_kg": mass_kg})
    simulation = study.simulation.model_copy(update={"forward": forward})
    study = study.model_copy(update={"simulation": simulation})
    return settle_component(exact_knee(study).implant, study)


def test_numerical_damping_and_descent_find_one_pose():
    sequence, end = settled()
    start, last = sequence.iloc[0], sequence.iloc[-1]
    assert start["varus_deg"] == pytest.approx(3.0)
    assert start["posterior_mm"] == 12.0
    assert start["medial_force_n"] == start["lateral_force_n"] == 0.0
    assert set(end.loc[end["free"], "coordinate"]) == {"posterior_mm", "superior_mm", "varus_deg"}
    # Accelerations of 1e-5 mm/s2 are 4e-9 N of 0.4 kg and 2e-11 mm over 200 N/mm; descent leaves
    # 1e-8 of the load, 1.5e-7 mm.
    assert end["difference"].abs().max() < 1e-6
    for unit in ("mm", "rad"):
        assert last[f"acceleration_{unit}_per_s2"] < 1e-5
    assert last["medial_force_n"] == pytest.approx(1500.0, rel=1e-6)
    assert last["lateral_force_n"] == pytest.approx(1500.0, rel=1e-6)


def test_mass_changes_times_alone():
    light, heavy = settled()[0], settled(mass_kg=40.0)[0]
    # Rests of accelerations decide on the last steps; before, both differ by rounding.
    count = min(len(light), len(heavy)) - 10
    np.testing.assert_allclose(10.0 * light["time_s"][:count], heavy["time_s"][:count], rtol=1e-9)
    np.testing.assert_allclose(light[POSE][:count], heavy[POSE][:count], atol=1e-9)
    np.testing.assert_allclose(light[POSE].iloc[-1], heavy[POSE].iloc[-1], atol=1e-6)


def test_errors_of_steps_change_the_way_alone():
    fine, coarse = settled(step_error_mm=0.02)[0], settled(step_error_mm=1.0)[0]
    assert len(fine) > 3 * len(coarse)
    np.testing.assert_allclose(fine[POSE].iloc[-1], coarse[POSE].iloc[-1], atol=1e-6)


def test_figure_shows_poses_in_their_order():
    study = small_study()
    figure = draw_settling(settled()[0], exact_knee(study).implant)
    titles = [float(axes.get_title().split()[0]) for axes in figure.axes[:5]]
    assert titles == sorted(titles)
