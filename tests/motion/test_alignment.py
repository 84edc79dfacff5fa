"""Components that sit on their bones elsewhere than motion and load have them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

import kneewear as kw
from kneewear import default_settings_file, default_study, load_study
from kneewear.activity.sources import build_activity
from kneewear.base.cases import Case
from kneewear.base.types import Settings
from kneewear.io.curves import read_curves
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.mechanics.springs import Spring
from kneewear.motion.alignment import Alignment, build_alignment, given_coordinates
from kneewear.motion.cycle import activity_loads
from kneewear.motion.quasi_static import solve_quasi_static
from kneewear.study.settings import read_study
from kneewear.study.shipped import find_study
from tests.activity.motions import ROOT, study
from tests.motion.test_controlled import (
    DISH,
    ROLLER,
    WEIGHT,
    contacts_of,
    dished_implant,
    machine,
    wrench_of,
)
from tests.physics.bodies import contact_of, flat_implant, gait_study, sphere
from tests.refusals import refusal

NEUTRAL = default_study().simulation.alignment
CASE = Case("one", 8.0, 75.0)
# A knee in stance: mm, and body-three angles, rad.
POSE = np.array([2.0, 37.0, -1.0, 0.02, 0.05, -0.3])
OBLIQUE = {
    "tibial": {
        "varus_deg": 3.0,
        "external_rotation_deg": -4.0,
        "slope_deg": 7.0,
        "posterior_mm": 1.5,
        "medial_mm": -1.0,
        "centre_mm": (2.0, 16.0, 1.0),
    },
    "femoral": {"varus_deg": -2.0, "external_rotation_deg": 3.0, "flexion_deg": 4.0},
}
MIRROR = np.array([-1.0, 1.0, 1.0])


def changed(block: Settings, changes):
    """A block of settings with some keys replaced, blocks within it too."""
    update = {
        key: changed(getattr(block, key), value) if isinstance(value, dict) else value
        for key, value in changes.items()
    }
    return block.model_copy(update=update)


def alignment_of(**changes) -> Alignment:
    """Alignment that differs from the neutral one."""
    found = build_alignment(changed(NEUTRAL, changes))
    assert found is not None
    return found


def aligned(one, changes=OBLIQUE, **settings):
    """A study of `tests.physics.bodies` with placed components."""
    return one.with_settings(alignment=changed(one.settings.alignment, changes), **settings)


class TestPlacement:
    def test_given_and_placed_coordinates_are_inverse(self):
        one = alignment_of(**OBLIQUE)
        np.testing.assert_allclose(
            one.to_motion_frame(one.to_implant_frame(POSE)), POSE, atol=1e-12
        )
        np.testing.assert_allclose(
            one.to_implant_frame(one.to_motion_frame(POSE)), POSE, atol=1e-12
        )
        assert np.abs(one.to_implant_frame(POSE) - POSE).max() > 1.0

    @pytest.mark.parametrize(
        ("part", "key", "coordinate", "sense"),
        [
            ("tibial", "varus_deg", "varus", -1),
            ("tibial", "external_rotation_deg", "external", 1),
            ("tibial", "slope_deg", "flexion", -1),
            ("tibial", "posterior_mm", "posterior", -1),
            ("tibial", "medial_mm", "medial", -1),
            ("femoral", "varus_deg", "varus", -1),
            ("femoral", "external_rotation_deg", "external", -1),
            ("femoral", "flexion_deg", "flexion", -1),
            ("femoral", "posterior_mm", "posterior", 1),
            ("femoral", "medial_mm", "medial", 1),
        ],
    )
    def test_sense_of_each_setting_in_extension(self, part, key, coordinate, sense):
        placed = alignment_of(**{part: {key: 2.0}}).to_implant_frame(np.zeros(6))
        flexion, varus, external = np.degrees(clinical_angles(body_three_123(placed[3:])))
        found = {
            "flexion": flexion,
            "varus": varus,
            "external": external,
            "posterior": placed[0],
            "superior": placed[1],
            "medial": placed[2],
        }
        expected = dict.fromkeys(found, 0.0) | {coordinate: 2.0 * sense}
        assert found == pytest.approx(expected, abs=1e-12)

    def test_the_centre_of_the_rotations_stays(self):
        one = alignment_of(tibial=OBLIQUE["tibial"] | {"posterior_mm": 0.0, "medial_mm": 0.0})
        centre = np.array(OBLIQUE["tibial"]["centre_mm"])
        placed = one.tibial_rotation @ centre + one.tibial_shift
        np.testing.assert_allclose(placed, centre, atol=1e-12)

    def test_left_is_mirrored_right(self):
        right = alignment_of(**OBLIQUE)
        left = Alignment(
            right.tibial_rotation * np.outer(MIRROR, MIRROR),
            right.tibial_shift * MIRROR,
            right.femoral_rotation * np.outer(MIRROR, MIRROR),
            right.femoral_shift * MIRROR,
        )
        # Angles are axial vectors.
        both = np.concatenate([MIRROR, -MIRROR])
        np.testing.assert_allclose(
            left.to_implant_frame(both * POSE), both * right.to_implant_frame(POSE), atol=1e-12
        )


class TestMotion:
    def test_zeros_change_no_bit(self):
        one = gait_study()
        elsewhere = aligned(one, {"femoral": {"centre_mm": (1.0, 2.0, 3.0)}})
        assert elsewhere.run(CASE).identical(one.run(CASE))

    @pytest.mark.parametrize("medial_lateral", ["held", "solved"])
    def test_bones_follow_the_given_motion_with_any_coordinates_solved(self, medial_lateral):
        """The given position, flexion and rotation are those of the bones in every frame."""
        given = gait_study()
        # The insert may not be in varus where nothing but the bearing holds it sideways.
        flat = {"tibial": {**OBLIQUE["tibial"], "varus_deg": 0.0}, "femoral": OBLIQUE["femoral"]}
        one = aligned(given, flat, medial_lateral=medial_lateral)
        history = one.arrays(CASE)
        poses = np.hstack([history.translation[0], history.rotation[0]])
        bones = given_coordinates(poses, one.settings)
        follows = [0, 4, 5] + ([2] if medial_lateral == "held" else [])
        # A hundred times what equilibria leave: 1e-8 rad, and mm over a lever of 23 mm.
        expected = given.activity.coordinates[:, follows]
        np.testing.assert_allclose(bones[:, follows], expected, atol=1e-6)
        assert np.abs(poses - bones)[:, [0, 4, 5]].min(axis=0).min() > 0.01
        assert history.residual.max() < 1e-6

    def test_a_file_with_an_alignment_is_the_same_file_edited_by_hand(self):
        example = study("example_meshes").activities["example_gait"]
        motion, load = (
            read_curves(ROOT / part.file, part.columns.given())
            for part in (example.motion, example.load)
        )
        turn, flexion, posterior = 3.0, 2.0, 1.5
        # Femoral positions are anterior and lateral in this file.
        place = np.column_stack(
            [-motion["anterior_posterior"], 0 * motion["percent"], -motion["medial_lateral"]]
        ) - [posterior, 0.0, 0.0]
        place = Rotation.from_euler("y", turn, degrees=True).apply(place)
        edited = motion.assign(
            flexion=motion["flexion"] - flexion,
            rotation=motion["rotation"] + turn,
            anterior_posterior=-place[:, 0],
            medial_lateral=-place[:, 2],
        )
        given = gait_study().with_settings(medial_lateral="held")
        frames = given.activity.percent.size

        def activity_of(table: pd.DataFrame):
            return build_activity("example_gait", example, frames, table, load)

        by_hand = replace(given, activity=activity_of(edited)).arrays(CASE)
        changes = {
            "tibial": {"external_rotation_deg": turn, "posterior_mm": posterior},
            "femoral": {"flexion_deg": flexion},
        }
        found = aligned(replace(given, activity=activity_of(motion)), changes).arrays(CASE)
        # Splines through angles before and after a rotation differ between samples.
        np.testing.assert_allclose(found.translation, by_hand.translation, atol=1e-3)
        np.testing.assert_allclose(found.rotation, by_hand.rotation, atol=1e-5)
        np.testing.assert_allclose(found.max_pressure, by_hand.max_pressure, rtol=1e-3)

    @pytest.mark.compiled
    def test_forward_dynamics_follows_the_placed_motion(self):
        changes = {"tibial": {"slope_deg": 4.0, "external_rotation_deg": 3.0}}
        one = aligned(gait_study(), changes, medial_lateral="held")
        still, moved = one.arrays(CASE), one.with_settings(analysis="forward").arrays(CASE)
        follows = [0, 2]
        np.testing.assert_allclose(
            moved.translation[..., follows], still.translation[..., follows], atol=1e-6
        )
        np.testing.assert_allclose(
            moved.force.sum(axis=2)[0, 3], still.force.sum(axis=2)[0, 3], rtol=0.05, atol=5.0
        )


class TestLoad:
    SLOPE = 6.0

    def plates(self):
        """Balls on two flat plates: contact acts along the insert's y alone."""
        ball = sphere(25.0)
        pairs = [contact_of(flat_implant(ball), 20, 20, side) for side in (0, 1)]
        return tuple(zip(*pairs, strict=True))

    @pytest.mark.compiled
    def test_a_slope_turns_the_load_on_a_flat_insert(self):
        """Contact carries F cos(slope); what prescribes the motion carries F sin(slope)."""
        pairs, layers = self.plates()
        activity = replace(
            machine(np.zeros((8, 6)), prescribed=("x", "theta_2", "theta_3")), load_line=None
        )
        changes = {"tibial": {"slope_deg": self.SLOPE}}
        settings = changed(
            default_study().simulation,
            {"alignment": changes, "medial_lateral": "held", "medial_share": 0.5},
        )
        solution, contacts = solve_quasi_static(pairs, layers, activity, WEIGHT, settings)
        slope, force = np.radians(self.SLOPE), WEIGHT * activity.load
        found = np.array([sum(side.wrench[:3] for side in sides) for sides in contacts])
        np.testing.assert_allclose(found[:, 1], force * np.cos(slope), rtol=1e-7)
        # Elements of 0.8 mm: a thousandth of the load along the plate.
        assert np.abs(found[:, [0, 2]] / force[:, None]).max() < 1e-3
        np.testing.assert_allclose(solution.load, force * np.cos(slope), rtol=1e-12)
        applied = solution.conditions.applied(solution.coordinates)
        turned = np.outer(force, [np.sin(slope), -np.cos(slope), 0.0])
        np.testing.assert_allclose(applied[:, :3], turned, atol=1e-9)

    @pytest.mark.compiled
    def test_a_roller_in_a_sloped_dish_rests_where_the_dish_is_level(self):
        pairs, layers = contacts_of(dished_implant(), rows=120)
        settings = changed(
            default_study().simulation, {"alignment": {"tibial": {"slope_deg": self.SLOPE}}}
        )
        activity = machine(np.zeros((8, 6)))
        solution, contacts = solve_quasi_static(pairs, layers, activity, WEIGHT, settings)
        slope, force = np.radians(self.SLOPE), WEIGHT * activity.load
        found = np.array([sum(side.wrench[:3] for side in sides) for sides in contacts])
        expected = np.outer(force, [-np.sin(slope), np.cos(slope), 0.0])
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-3)
        deep = [max(side.max_penetration for side in sides) for sides in contacts]
        reach = DISH - ROLLER + np.array(deep)
        # Elements of 0.25 mm on a patch some 8 mm wide.
        np.testing.assert_allclose(solution.coordinates[:, 0], reach * np.sin(slope), atol=0.01)

    @pytest.mark.compiled
    def test_an_insert_in_varus_pushes_medially(self):
        """The held position takes F sin(varus), and a spring moves by that over its stiffness."""
        pairs, layers = self.plates()
        activity = replace(
            machine(np.zeros((8, 6)), prescribed=("x", "theta_2", "theta_3")), load_line=None
        )
        base = changed(
            default_study().simulation,
            {"alignment": {"tibial": {"varus_deg": 2.0}}, "medial_share": 0.5},
        )
        held = base.model_copy(update={"medial_lateral": "held"})
        solution, _ = solve_quasi_static(pairs, layers, activity, WEIGHT, held)
        applied = solution.conditions.applied(solution.coordinates)
        force = WEIGHT * activity.load
        np.testing.assert_allclose(applied[:, 2], force * np.sin(np.radians(2.0)), rtol=1e-9)
        sprung = base.model_copy(update={"medial_lateral_spring_per_mm": 0.05})
        solution, contacts = solve_quasi_static(pairs, layers, activity, WEIGHT, sprung)
        bones = given_coordinates(solution.coordinates, sprung)
        np.testing.assert_allclose(solution.spring_force, -0.05 * force * bones[:, 2], rtol=1e-9)
        along = np.array([sum(side.wrench[2] for side in sides) for sides in contacts])
        np.testing.assert_allclose(along + applied[:, 2], -solution.spring_force, rtol=1e-6)
        # Elements of 0.8 mm: a thousandth of the load along the plate.
        assert np.abs(along / force).max() < 1e-3

    @pytest.mark.compiled
    def test_springs_refer_to_the_bones(self):
        """On flat plates a force moves the bones by as much wherever the insert is."""
        pairs, layers = self.plates()
        activity = machine(wrench_of(0, 0.1), [Spring("x", 50.0)])
        changes = {"tibial": {"posterior_mm": 2.0, "medial_mm": 1.0}}
        settings = changed(default_study().simulation, {"alignment": changes})
        solution, contacts = solve_quasi_static(pairs, layers, activity, WEIGHT, settings)
        bones = given_coordinates(solution.coordinates, settings)
        np.testing.assert_allclose(solution.coordinates[:, 0], bones[:, 0] - 2.0, atol=1e-12)
        along = np.array([sum(side.wrench[0] for side in sides) for sides in contacts])
        force = WEIGHT * activity.wrench[:, COORDINATES.index("x")]
        np.testing.assert_allclose(50.0 * bones[:, 0], force + along, atol=1e-4)
        # Elements of 0.8 mm: a thousandth of the load along the plate.
        assert np.abs(along / (WEIGHT * activity.load)).max() < 1e-3

    def test_a_force_has_the_same_moment_about_the_bones_wherever_components_are(self):
        """Loads of a simulator act on the placed components as on the given ones."""
        activity = machine(np.tile([0.1, 0.0, 0.02, 0.5, 2.0, -1.0], (8, 1)))
        one = alignment_of(**OBLIQUE)
        placed = one.to_implant_frame(POSE)
        given, turned = (
            sum(load.at(0).wrench(pose[:3], body_three_123(pose[3:]))[0] for load in loads)
            for loads, pose in (
                (activity_loads(activity, WEIGHT), POSE),
                (activity_loads(activity, WEIGHT, one), placed),
            )
        )
        force = one.tibial_rotation @ turned[:3]
        moment = one.tibial_rotation @ turned[3:]
        origin = one.tibial_rotation @ placed[:3] + one.tibial_shift
        np.testing.assert_allclose(force, given[:3], atol=1e-9)
        expected = given[3:] + np.cross(POSE[:3] - origin, given[:3])
        np.testing.assert_allclose(moment, expected, atol=1e-7)


class TestSettings:
    def test_studies_without_activities_refuse_it(self):
        change = {"simulation": {"alignment": {"tibial": {"slope_deg": 3.0}}}}
        refusal(load_study, ROOT / "config/laxity.yaml", change)


class TestScenarios:
    """The shipped scenarios and tolerances on few elements."""

    def study(self, name, *changes):
        """A shipped study, with changes."""
        small = {
            "grid": {"rows": 24, "columns": 18},
            "simulation": {"frames": 10, "distance": "exact"},
        }
        file = find_study(name)
        return read_study(file, small, *changes, defaults=default_settings_file())

    def test_a_scenario_is_a_study_with_its_alignment(self):
        names = "mechanical", "kinematic"
        study = self.study("alignment")
        results = kw.run(study).tables["results"].set_index("scenario")
        assert (results["failure"] == "").all()
        assert len(results) == len(study.variables["scenario"].blocks)
        tilted = {"tibial": {"varus_deg": 3.0}, "femoral": {"varus_deg": -3.0}}
        for name, alignment in zip(names, ({}, tilted), strict=True):
            typed = {
                "variables": {"mass": {"settings": ["patient.body_mass_kg"], "values": [75, 80]}},
                "analyses": {},
                "simulation": {"alignment": alignment},
            }
            alone = self.study("alignment", typed)
            found = kw.run(alone).tables["results"].set_index("mass").loc[75]
            for quantity in ("medial_wear_volume", "lateral_max_pressure"):
                assert results.loc[name, quantity] == found[quantity]
        # A tray in varus and a femoral component in valgus load the medial side.
        medial = results["medial_wear_volume"] / results["both_wear_volume"]
        assert medial["kinematic"] > medial["mechanical"]
