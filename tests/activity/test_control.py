"""Drive of each coordinate of a simulator: motion, force, springs, or nothing."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from kneewear.activity.sources import build_activity
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.mechanics.springs import spring_forces
from tests.activity.motions import (
    file_activity,
    iso_settings,
    load,
    load_settings,
    motion,
    motion_settings,
)

NEWTONS = load_settings("axial_force_n", body_mass_kg=75.0).model_dump()
WEIGHT = 75.0 * 9.81
FREE = {
    "anterior_posterior": "force",
    "rotation": "force",
    "varus": "free",
    "medial_lateral": "free",
    "load_line_mm": 5.0,
}


def with_forces(settings, **forces):
    columns = settings.columns.model_dump() | forces
    return settings.model_validate(settings.model_dump() | {"columns": columns})


class TestForces:
    settings = with_forces(
        iso_settings(),
        anterior_posterior=None,
        rotation=None,
        anterior_posterior_force_n="apf",
        rotation_torque_n_m="irt",
    )
    curves = motion(anterior_posterior_force_n=100.0, rotation_torque_n_m=3.0).drop(
        columns=["varus", "rotation", "anterior_posterior", "superior_inferior", "medial_lateral"]
    )

    def activity(self, **control):
        chosen = file_activity(self.settings, load=NEWTONS, control=FREE | control)
        return build_activity("machine", chosen, 25, self.curves, load([1000.0] * 5))

    def test_force_on_the_tibia_drives_it_as_it_counts(self):
        """Forward on the tibia leaves the femur behind (+x); inward is against theta_2."""
        wrench = self.activity().wrench * WEIGHT
        np.testing.assert_allclose(wrench[:, 0], 100.0)
        np.testing.assert_allclose(wrench[:, 4], -3000.0)
        np.testing.assert_array_equal(wrench[:, [1, 2, 3, 5]], 0.0)

    def test_held_and_prescribed_coordinates_do_not_move_freely(self):
        activity = self.activity(varus="held", medial_lateral="held")
        assert activity.prescribed == ("z", "theta_1", "theta_3")


class TestDisplacement:
    control = FREE | {"anterior_posterior": "prescribed", "rotation": "prescribed"}

    def test_all_but_the_axial_load_prescribed(self):
        chosen = file_activity(
            control=self.control | {"varus": "prescribed", "medial_lateral": "prescribed"}
        )
        activity = build_activity("machine", chosen, 25, motion(), load())
        assert activity.prescribed == ("x", "z", "theta_1", "theta_2", "theta_3")
        assert activity.free == ("y",)

    def test_a_held_coordinate_stays_at_its_mean(self):
        chosen = file_activity(control=self.control | {"medial_lateral": "held"})
        samples = motion(medial_lateral=2.0 + motion()["medial_lateral"])
        activity = build_activity("machine", chosen, 40, samples, load())
        np.testing.assert_allclose(activity.translation[:, 2], -2.0, atol=1e-6)
        assert np.ptp(activity.translation[:, 0]) > 7.0

    def test_a_held_varus_is_the_clinical_one_and_leaves_the_other_angles(self):
        chosen = file_activity(control=self.control | {"varus": "held"})
        samples = motion(varus=4.0 + motion()["varus"])
        activity = build_activity("machine", chosen, 40, samples, load())
        flexion, varus, external = np.degrees(clinical_angles(body_three_123(activity.rotation))).T
        np.testing.assert_allclose(varus, 4.0, atol=1e-6)
        turn = 2 * np.pi * np.arange(40) / 40
        np.testing.assert_allclose(flexion, 25 - 20 * np.cos(turn), atol=1e-4)
        np.testing.assert_allclose(external, 6.0 * np.cos(turn), atol=1e-4)

    def test_a_prescribed_coordinate_needs_its_column(self):
        settings = motion_settings(leave_out=("rotation",))
        with pytest.raises(ValidationError):
            file_activity(settings)
        with pytest.raises(ValidationError):
            file_activity(settings, control=self.control)
        file_activity(settings, control=self.control | {"rotation": "held"})


def pull(spring, value):
    """Force of one spring at a value of its coordinate."""
    position, number = np.zeros(6), COORDINATES.index(spring.coordinate)
    position[number] = value
    return spring_forces([spring], position)[0][number]


class TestSprings:
    def springs(self, settings=None, **given):
        chosen = file_activity(settings or motion_settings(), control=FREE | given)
        return build_activity("machine", chosen, 25, motion(), load()).springs

    def test_linear_spring_with_a_gap(self):
        (spring,) = self.springs(
            anterior_posterior_springs=[{"stiffness_n_per_mm": 20.0, "gap_mm": 2.5}]
        )
        assert [pull(spring, x) for x in (2.4, 3.5, -4.5)] == [0.0, -20.0, 40.0]

    def test_turning_spring_pulls_with_newton_metres_per_degree(self):
        """0.3 N m/deg beyond 6 deg: 4 deg farther it pulls back with 1.2 N m."""
        (spring,) = self.springs(rotation_springs=[{"stiffness_n_m_per_deg": 0.3, "gap_deg": 6.0}])
        assert spring.coordinate == "theta_2"
        assert pull(spring, np.radians(10.0)) == pytest.approx(-1200.0)

    def test_rest_counts_as_the_motion_does(self):
        """Femur 2 mm anterior is x = -2; tibia 2 mm anterior of rest at x = 3 is x = 5."""
        given = [{"stiffness_n_per_mm": 1.0, "gap_mm": 0.0, "rest_mm": 2.0}]
        (spring,) = self.springs(anterior_posterior_springs=given)
        assert spring.rest == -2.0
        settings = iso_settings(reference_posterior_mm=3.0)
        chosen = file_activity(settings, control=FREE | {"anterior_posterior_springs": given})
        samples = motion().drop(columns=["varus", "superior_inferior", "medial_lateral"])
        (spring,) = build_activity("machine", chosen, 25, samples, load()).springs
        assert spring.rest == 5.0
