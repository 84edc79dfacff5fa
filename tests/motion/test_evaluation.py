"""Contact at given poses: analytical solution of a sphere, the static study, and refused poses."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import kneewear as kw
from kneewear.motion.evaluation import contact_at_poses
from kneewear.motion.settings import SimulationSettings

pytestmark = pytest.mark.compiled

CHECKOUT = Path(__file__).parents[2]

RADIUS = 30.0  # mm
THICKNESS = 8.0  # mm
DEPTH = 0.2  # mm
SPHERES = {
    "study": "spheres",
    "grid": {"rows": 40, "columns": 120},
    "table": {"distance_error_um": 1.0},
    "implant": {
        "nominal_thickness_mm": THICKNESS,
        "parametric": {
            "femoral_sagittal_radius_mm": RADIUS,
            "femoral_coronal_radius_mm": {"medial": RADIUS, "lateral": RADIUS},
            "plateau_sagittal_radius_mm": 1e5,
            "plateau_coronal_radius_mm": {"medial": 1e5, "lateral": 1e5},
            "plateau_spacing_mismatch_mm": {"medial": 0.0, "lateral": 0.0},
            "plateau_land_half_width_mm": 6.0,
            "plateau_half_length_mm": 6.0,
            "extra_thickness_mm": 0.0,
        },
    },
}
ABOVE = [0.0, THICKNESS + RADIUS - DEPTH, 0.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def study():
    return kw.load_study(CHECKOUT / "config/quick.yaml", SPHERES)


@pytest.fixture(scope="module")
def knee(study):
    return kw.build_knee(study)


def test_spheres_on_a_plane_meet_the_analytical_solution(knee, study):
    found = kw.evaluate_contact(knee, ABOVE, study).squeeze("pose")
    young, poisson = 463.0, 0.46
    modulus = (1 - poisson) * young / ((1 + poisson) * (1 - 2 * poisson))
    force = math.pi * modulus / THICKNESS * (RADIUS - DEPTH) * DEPTH**2
    for side in ("medial", "lateral"):
        one = found.sel(side=side)
        # 0.1 % is the error of the grid.
        assert -float(one.force.sel(component="y")) == pytest.approx(force, rel=1e-3)
        assert float(one.max_pressure) == pytest.approx(modulus * DEPTH / THICKNESS, rel=5e-3)
        # The force is the sum of the pressures, whose lines are within 7 deg of the vertical.
        assert float((one.pressure * one.area).sum()) == pytest.approx(force, rel=5e-3)


def test_a_pose_does_not_depend_on_the_others(knee, study):
    apart = [0.0, 60.0, 0.0, 0.0, 0.0, 0.0]
    several = kw.evaluate_contact(knee, [ABOVE, apart, ABOVE], study)
    np.testing.assert_array_equal(several.force[0], several.force[2])
    assert not several.force[1].any()
    assert several.centre_of_pressure[1].isnull().all()


def test_a_thicker_insert_is_softer(knee, study):
    thin, thick = (
        kw.evaluate_contact(knee, ABOVE, study, thickness_mm=value).max_pressure
        for value in (THICKNESS, 2 * THICKNESS)
    )
    np.testing.assert_allclose(thick, 0.5 * thin, rtol=1e-4)  # the plane is a large sphere


@pytest.mark.parametrize("poses", [[0.0, 1.0], [[0.0] * 5], [0.0] * 5 + [math.nan]])
def test_poses_without_six_finite_coordinates_are_refused(knee, study, poses):
    assert isinstance(study.simulation, SimulationSettings)
    with pytest.raises(ValueError):
        contact_at_poses(knee, poses, study.simulation)
