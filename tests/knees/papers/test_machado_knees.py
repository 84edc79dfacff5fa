"""The planar and the spatial knee of Machado's thesis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kneewear.analysis.literature import AIM
from kneewear.errors import InputDataError
from kneewear.knees.contact.point import SphereOnPlane
from kneewear.knees.impacts import integrate_impacts
from kneewear.knees.papers.planar_knee.literature import path_distance
from kneewear.knees.papers.planar_knee.model import FREE, build_planar
from kneewear.knees.papers.planar_knee.model import solve as solve_planar
from kneewear.knees.papers.planar_knee.panels import PROFILES
from kneewear.knees.papers.planar_knee.run import Run
from kneewear.knees.papers.point_contact.euler_parameters import integrate_euler_parameters
from kneewear.knees.papers.point_contact.materials import impact_law
from kneewear.knees.papers.spatial_knee.literature import (
    assumed_case,
    compare_spatial,
    euler_parameter_differences,
    rank_of,
)
from kneewear.knees.papers.spatial_knee.model import (
    build_spatial,
    spatial_motion_table,
    spatial_scene,
    tabulated_condyle,
)
from kneewear.knees.papers.spatial_knee.model import solve as solve_spatial
from kneewear.mechanics.rotations import body_three_123
from kneewear.study.settings import read_study
from kneewear.study.shipped import find_study

CONFIG = Path(__file__).parents[3] / "config"


def settings(name, **changes):
    own = {"multibody": changes} if changes else {}
    return read_study(find_study(name), own, defaults=CONFIG / "defaults.yaml").multibody


PLANAR = settings("planar_knee")
SPATIAL = settings("spatial_knee")


def test_planar_stiffnesses_are_those_of_the_source():
    law = impact_law(PLANAR.knees["healthy"], PLANAR.contact_radius_mm, "hertz")
    assert law.stiffness * 1000.0**1.5 == pytest.approx(3260513, abs=0.5)
    # Rows of Table 5.3 with their radii exchanged.
    cup = impact_law(PLANAR.knees["healthy"], 30.4, "hertz", -75.0)
    ball = impact_law(PLANAR.knees["healthy"], 26.4, "hertz", 36.02)
    assert ball.stiffness * 1000.0**1.5 == pytest.approx(2308135, abs=1)
    assert cup.stiffness * 1000.0**1.5 == pytest.approx(4228138, abs=1)


def test_planar_knee_keeps_its_energy_and_meets_the_femur():
    system, start = build_planar(PLANAR, "healthy", "hertz", "cubic", 50.0)
    found = integrate_impacts(system, np.linspace(0.0, 0.3, 151), start, FREE)
    assert found.motion.energy_error < 1e-3
    contact = found.contacts[0]
    begin = 90.0 - np.degrees(contact.begin_coordinates[5])
    assert 22.5 < begin < 27.5 + 2.0
    # The motion stays in the plane.
    assert np.abs(found.motion.coordinates[:, 2:5]).max() < 1e-12


def test_the_pulse_decays_as_the_source_has_it():
    """Eq. 5.1 by hand at a half and one and a half of its duration."""
    system, start = build_planar(PLANAR, "healthy", "hertz", "cubic", 50.0)
    along = system.poses(start).rotation[1, :, 0]
    for part, force in ((0.5, 50.0 * np.exp(-1.1825)), (1.5, -50.0 * np.exp(-10.6425))):
        time = part * PLANAR.pulse.duration_s
        pushed = system.forces(start, time=time).parts["pulse"]
        np.testing.assert_allclose(pushed[..., :3].ravel(), force * along, atol=1e-12)


def test_planar_flexion_is_the_angle_between_the_long_axes():
    """The femur's is along y in the source; the tibia's, x in its own frame, starts at 35.2 deg."""
    system, start = build_planar(PLANAR, "healthy", "hertz", "cubic", 50.0)
    found = integrate_impacts(system, np.array([0.0, 0.02]), start, FREE)
    run = Run("healthy", "hertz", "cubic", 50.0, PROFILES, found)
    axes = [system.poses(one).rotation[1, :, 0] for one in found.motion.coordinates]
    between = [np.degrees(np.arccos(axis[1])) for axis in axes]
    np.testing.assert_allclose(run.flexion, between, atol=1e-9)
    assert run.flexion[0] == pytest.approx(54.79, abs=0.005)


def path(times, speed):
    """A run whose tibia moves along x at a constant speed, mm/s."""
    coordinates = np.zeros((len(times), 6))
    coordinates[:, 0] = speed * np.asarray(times)
    motion = SimpleNamespace(time=np.asarray(times), coordinates=coordinates)
    return Run("healthy", "hertz", "cubic", 50.0, "profiles", SimpleNamespace(motion=motion))


def test_paths_are_compared_at_times_that_both_have():
    # One ends before the other, and has further output times within a contact.
    long, short = path([0.0, 0.1, 0.2, 0.3], 10.0), path([0.0, 0.05, 0.1, 0.15, 0.2], 11.0)
    assert path_distance(long, short) == pytest.approx(0.2)
    assert path_distance(short, long) == pytest.approx(0.2)


def test_aims_are_quantities_of_the_comparison():
    with pytest.raises(InputDataError, match="lowest flexion"):
        settings("planar_knee", aims=["lowest flexoin"])


@pytest.mark.slow
def test_a_planar_study_judges_its_numbers():
    """Two laws, two pulses and one spline of the shipped study, through the first impact."""
    small = PLANAR.model_copy(
        update={
            "knees": {"healthy": PLANAR.knees["healthy"]},
            "laws": ("hertz",),
            "splines": ("cubic",),
            "sphere_pairs": {},
            "duration_s": 0.22,
        }
    )
    result = solve_planar(None, small)
    rows = result.literature.set_index("quantity")
    computed = rows["computed"]
    assert computed["flexion at the start"] == pytest.approx(54.79, abs=0.005)
    assert 22.5 < computed["flexion at the start of the first contact"] < 29.5
    assert rows.loc["stiffness of the sphere of 30.4 mm on a plane", "verdict"] == "reproduced"
    assert computed["energy error over the largest kinetic energy"] < 1e-3
    panels = set(result.kinematics["panel"]) | set(result.forces["panel"])
    assert {
        "flexion by pulse",
        "5.16b force, whole motion, by knee",
        "5.23b ligaments, flores, 150 N",
    } <= panels


def test_spatial_ligaments_have_the_lengths_of_the_source():
    system, start = build_spatial(SPATIAL)
    found = system.forces(start).parts["ligaments"]
    printed = [34.37, 30.95, 30.05, 23.89, 70.26, 44.34, 35.85, 60.14]
    np.testing.assert_allclose(found.length, printed, atol=0.006)
    # The lateral collateral ligament pulls 592 N at a stretch of 1.05 of its slack length.
    assert found.tension[-1] == pytest.approx(592.0, abs=1.0)


def test_an_assumed_stretch_replaces_that_of_its_ligament_alone():
    assumed = SPATIAL.model_copy(update={"assumed_stretches": {"LCL": 1.02}}).assumed
    changed = {name for name, one in assumed.ligaments.items() if one != SPATIAL.ligaments[name]}
    assert changed == {"LCL"}
    assert assumed.ligaments["LCL"].stretch_at_extension == 1.02


def test_an_assumed_stretch_is_of_a_ligament_of_the_knee():
    with pytest.raises(InputDataError, match="MCL_anterior"):
        settings("spatial_knee", assumed_stretches={"MCL_anterior": 1.04})


def test_the_rank_of_a_ligament_is_an_aim_where_its_stretch_is_assumed():
    motion = pd.DataFrame(
        {
            "flexion_deg": [0.0, 40.0, 80.0],
            "internal_rotation_deg": [0.0, 1.0, 3.0],
            "x_mm": 0.0,
            "medial_force_n": [1.0, 2.0, 3.0],
            "lateral_force_n": [1.0, 2.0, 3.0],
            **{f"{name}_n": 1.0 for name in SPATIAL.ligaments},
        }
    )
    cases = {case: (motion, ()) for case in ("hertz", assumed_case(SPATIAL))}
    judged = compare_spatial(cases, SPATIAL, {}).set_index(["quantity", "case"])["verdict"]
    aimed = judged[judged == AIM].index.tolist()
    assert aimed == [(rank_of(name), assumed_case(SPATIAL)) for name in SPATIAL.assumed_stretches]


def test_spatial_knee_flexes_and_keeps_its_energy():
    system, start = build_spatial(SPATIAL)
    times = np.linspace(0.0, 0.06, 31)
    found = integrate_impacts(system, times, start, ("tibia",), relative_tolerance=1e-7)
    assert found.motion.energy_error < 1e-3
    motion = spatial_motion_table(found, SPATIAL)
    assert motion["flexion_deg"].iloc[-1] > 1.0
    assert found.contacts[0].name == "medial"


@pytest.mark.slow
def test_a_tabulated_condyle_touches_where_the_sphere_touches_its_plane():
    """At poses through the flexion, on a plateau that slopes."""
    normal = (0.1, -0.2, np.sqrt(0.95))
    condyle = SPATIAL.condyles["lateral"].model_copy(update={"plane_normal": normal})
    exact = SphereOnPlane(
        condyle.centre_mm, condyle.radius_mm, condyle.plane_mm, condyle.plane_normal
    )
    table = tabulated_condyle(condyle, SPATIAL.lookup, (3, 3))
    # Sagitta of a cell, half a turn and a turn over the samples, mm.
    sagitta = condyle.radius_mm / 8.0 * 5.0 * (np.pi / (SPATIAL.lookup.samples - 1)) ** 2
    for flexion in np.radians([0.0, 30.0, 60.0, 80.0]):
        rotation = body_three_123([-flexion, 0.02, 0.1])
        # The plane's point lies under the sphere, 1 mm inside it.
        under = rotation @ normal
        place = np.array(condyle.centre_mm) - (condyle.radius_mm - 1.0) * under
        translation = place - rotation @ condyle.plane_mm
        one, other = (shape.touch(rotation, translation) for shape in (exact, table))
        assert one.depth == pytest.approx(1.0)
        assert other.depth == pytest.approx(one.depth, abs=1.01 * sagitta)
        np.testing.assert_allclose(other.point, one.point, atol=2e-3)
        np.testing.assert_allclose(other.normal, one.normal, atol=1e-4)


def test_internal_rotation_turns_the_front_of_the_tibia_to_medial():
    """y is anterior; medial is where the medial collateral ligament is, at negative x."""
    system, start = build_spatial(SPATIAL)
    found = integrate_impacts(system, np.array([0.0, 1e-4]), start, ("tibia",))
    turned = found.motion.coordinates + [0.0, 0.0, 0.0, -0.3, 0.0, 0.2]
    found = replace(found, motion=replace(found.motion, coordinates=turned))
    rows = spatial_motion_table(found, SPATIAL)
    tibia = system.poses(turned[-1]).rotation[1]
    medial = np.sign(SPATIAL.ligaments["MCL_ant"].femur_mm[0])
    assert medial * tibia[0, 1] == pytest.approx(np.sin(0.2), abs=1e-3)
    assert rows["internal_rotation_deg"].iloc[-1] == pytest.approx(np.degrees(0.2), abs=0.01)
    assert tibia[1, 2] > 0.0 and rows["flexion_deg"].iloc[-1] == pytest.approx(17.19, abs=0.01)


@pytest.mark.slow
def test_a_spatial_study_judges_its_numbers():
    """The shipped study through the first contacts."""
    lookup = SPATIAL.lookup.model_copy(update={"duration_s": 0.02})
    result = solve_spatial(None, SPATIAL.model_copy(update={"duration_s": 0.06, "lookup": lookup}))
    rows = result.literature.set_index(["quantity", "case"])["computed"]
    for law in SPATIAL.laws:
        assert rows["first contact: medial before lateral by", law] > 0.0
        assert rows["number of medial contacts", law] >= 1.0
        assert rows["energy error over the largest kinetic energy", law] < 1e-3
    assert rows["difference from the positions by Euler parameters", ""] < 0.01
    # The tables' error is the sagitta of a cell of the spheres, 1.2 um.
    assert 0.0 < rows["difference of the positions by lookup tables", ""] < 2e-3
    assert rows["difference of the motion with storage windows", ""] == 0.0
    assert rows["updates of the storage windows", ""] >= 1.0
    series = result.forces.query("panel == '6.22b contact force'").groupby("series")["value"].max()
    assert series["medial"] > 0.0 and series["lateral"] > 0.0
    assert result.scene.labels[0] == "0°"


@pytest.mark.slow
def test_spatial_knee_moves_alike_with_euler_parameters():
    """Other coordinates and another integrator, through the first contacts."""
    system, start = build_spatial(SPATIAL)
    times = np.linspace(0.0, 0.1, 11)
    found = integrate_impacts(system, times, start, ("tibia",), relative_tolerance=1e-9)
    other = integrate_euler_parameters(system, times, start, 1e-9)
    norms = np.linalg.norm(other.parameters, axis=-1)
    np.testing.assert_allclose(norms, 1.0, atol=1e-10)
    np.testing.assert_allclose(other.translation[:, 0], found.motion.coordinates[:, :3], atol=1e-5)
    turns = [system.poses(one).rotation[1] for one in found.motion.coordinates]
    np.testing.assert_allclose(other.rotation[:, 0], turns, atol=1e-6)
    # The tibia turns, after contacts on both sides.
    assert {one.name for one in found.contacts} == {"medial", "lateral"}
    assert np.abs(turns[-1] - np.eye(3)).max() > 0.1
    assert max(euler_parameter_differences(system, found.motion.coordinates, times).values()) < 0.01
    found.motion.coordinates[-1, 0] += 0.02
    place, _ = euler_parameter_differences(system, found.motion.coordinates, times).values()
    assert place == pytest.approx(0.02, abs=1e-3)


def placed(scene, frame, body):
    number = scene.bodies.index(body)
    points = scene.meshes[body].vertices @ scene.rotation[frame, number].T
    return points + scene.translation[frame, number]


def test_the_spatial_scene_has_spheres_on_planes_and_fibres():
    system, start = build_spatial(SPATIAL)
    flexed = start + [0.0, 0.0, 0.0, -0.5, 0.0, 0.0]
    scene = spatial_scene(system, SPATIAL, np.array([0.0, 1.0]), np.array([start, flexed]))
    assert scene.labels == ("0°", "29°") and len(scene.lines[0]) == len(SPATIAL.ligaments)
    femur, tibia = placed(scene, 0, "femur"), placed(scene, 0, "tibia")
    # Anterior, superior, lateral.
    centre = np.roll(SPATIAL.condyles["lateral"].centre_mm, -1)
    radius = np.linalg.norm(femur[len(femur) // 2 :] - centre, axis=1)
    np.testing.assert_allclose(radius, SPATIAL.condyles["lateral"].radius_mm)
    np.testing.assert_allclose(tibia[:, 1], 0.0, atol=1e-9)
    x, y, _ = SPATIAL.condyles["medial"].centre_mm
    np.testing.assert_allclose(tibia[:4].mean(axis=0), [y, 0.0, x], atol=1e-9)
    # Flexion turns the tibia's long axis to posterior.
    assert scene.translation[0, 1, 1] == pytest.approx(start[2])
    long_axis = scene.rotation[1, 1] @ [0.0, 0.0, -1.0]
    np.testing.assert_allclose(long_axis, [-np.sin(0.5), -np.cos(0.5), 0.0], atol=1e-9)
    for line, one in zip(scene.lines[0], SPATIAL.ligaments.values(), strict=True):
        np.testing.assert_allclose(line[0], np.roll(one.femur_mm, -1))


def test_a_mirrored_spatial_knee_moves_as_its_mirror_image():
    def mirrored(point):
        return (-point[0], *point[1:])

    settings = SPATIAL.model_dump()
    for one in settings["ligaments"].values():
        one["femur_mm"], one["tibia_mm"] = mirrored(one["femur_mm"]), mirrored(one["tibia_mm"])
    for one in settings["condyles"].values():
        one["centre_mm"] = mirrored(one["centre_mm"])
    left = type(SPATIAL)(**settings)
    times = np.linspace(0.0, 0.03, 16)
    right, other = (
        integrate_impacts(*_args(one, times), relative_tolerance=1e-8).motion.coordinates
        for one in (SPATIAL, left)
    )
    signs = np.array([-1.0, 1.0, 1.0, 1.0, -1.0, -1.0])
    np.testing.assert_allclose(other, right * signs, atol=1e-3)


def _args(settings, times):
    system, start = build_spatial(settings)
    return system, times, start, ("tibia",)


@pytest.mark.parametrize(
    ("ligament", "words"),
    [({"slack_length_mm": 0}, "slack_length_mm"), ({"stiffness_n_per_mm2": 0}, "stiffness")],
)
def test_a_ligament_needs_a_length_and_a_stiffness(ligament, words):
    with pytest.raises(InputDataError, match=words):
        settings("planar_knee", ligaments={"ACL": ligament})
