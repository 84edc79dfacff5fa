"""Muscles as strings in a joint, by settings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kneewear.knees.papers.muscle_string.model import (
    body_meshes,
    hinge_poses,
    solve,
    source_sphere,
    string_motion,
)
from kneewear.study.settings import read_study

CONFIG = Path(__file__).parents[3] / "config"


def settings(**changes):
    file = CONFIG / "papers/muscle_string.yaml"
    own = {"multibody": changes}
    return read_study(file, own, defaults=CONFIG / "defaults.yaml").multibody


def motion_of(study, name, meshes=None):
    flexion = np.linspace(0.0, 50.0, study.flexion_deg.frames)
    shapes = body_meshes(meshes or {}, study)
    return string_motion(name, study.muscles[name], shapes, study, *hinge_poses(study, flexion))


def test_the_sphere_has_the_points_and_triangles_of_the_source():
    mesh = source_sphere(20.0)
    assert (len(mesh.vertices), len(mesh.faces)) == (686, 1368)
    outward = np.einsum(
        "nk,nk->n",
        *(
            np.cross(*np.diff(mesh.vertices[mesh.faces], axis=1).swapaxes(0, 1)),
            mesh.vertices[mesh.faces].mean(axis=1),
        ),
    )
    assert (outward > 0.0).all()


def test_a_muscle_over_the_sphere_has_its_radius_as_moment_arm():
    """An extensor over a sphere about the hinge; the flexor is straight, by its own geometry."""
    study = settings(flexion_deg={"frames": 10})
    extensor = motion_of(study, "extensor")
    # Facets are up to 0.4 % inside the sphere, and chords turn by up to 5 deg per node.
    np.testing.assert_allclose(extensor.moment_arm, -20.0, rtol=0.01)
    assert extensor.length[-1] - extensor.length[0] == pytest.approx(
        20.0 * np.radians(50.0), rel=0.01
    )
    flexor = motion_of(study, "flexor")
    start, end = np.array([-26.0, 60.0]), np.array([-30.0, -50.0])
    assert flexor.length[0] == pytest.approx(np.linalg.norm(end - start))
    across = abs(np.linalg.det([start, end])) / np.linalg.norm(end - start)
    assert flexor.moment_arm[0] == pytest.approx(across)
    assert all((path.touched < 0).all() for path in flexor.paths[:3])


def test_a_bone_of_the_turning_body_carries_the_string_with_it():
    """The sphere on the tibia: the string feels it there, and the moment arm is that of before."""
    bodies = {"femur": {"sphere_radius_mm": None}, "tibia": {"sphere_radius_mm": 20.0}}
    study = settings(bodies=bodies, flexion_deg={"frames": 10})
    beside = motion_of(settings(flexion_deg={"frames": 10}), "extensor")
    found = motion_of(study, "extensor")
    np.testing.assert_allclose(found.length, beside.length, rtol=5e-4)
    # The string presses along the normals of facets, 10 deg apart, that turn under its nodes.
    np.testing.assert_allclose(found.moment_arm, beside.moment_arm, rtol=0.04)


def test_the_study_judges_moment_arms_by_virtual_work():
    result = solve(None, settings(flexion_deg={"frames": 19}))
    table = result.literature.set_index(["quantity", "case"])
    arms = "rms difference of moment arms by forces and by virtual work"
    assert (table.loc[arms, "verdict"] == "reproduced").all()
    assert (table.loc["largest penetration", "verdict"] == "reproduced").all()
    assert (table.loc["residual over spacing", "verdict"] == "reproduced").all()
    assert {"length", "moment arm, oblique"} <= set(result.kinematics["panel"])
    assert len(result.scene.lines[0]) == 3
