"""Knees composed by settings: the same numbers as models in code, statics by hand, faults."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import sphere_mesh
from kneewear.knees.assembly import ComposedParts, _layer, bodies_alone, sample_curve
from kneewear.knees.composed import curve_names
from kneewear.knees.inputs import load_parts
from kneewear.knees.jobs import solve_model
from kneewear.knees.papers.spatial_knee.model import flex
from kneewear.knees.settings.bodies import CurveSettings, LayerSettings
from kneewear.mechanics.rotations import body_three_123
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.refusals import refused_at

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve()
DEFAULTS = read_settings(ROOT / "config/defaults.yaml")


def study(multibody):
    other = {"model": "multibody", "study": "mine", "multibody": multibody}
    return validate_study(merge_settings(DEFAULTS, other | {"data_folder": str(DATA)}))


def solve(multibody, **files):
    settings = study(multibody).multibody
    found = {
        name: str(study(multibody).data_path(file, ROOT)) for name, file in settings.files.items()
    }
    parts = load_parts(settings, found | files)
    return solve_model(parts, settings), parts, settings


def values(table, panel, series="computed"):
    rows = table[(table["panel"] == panel) & (table["series"] == series)]
    assert len(rows)
    return rows["value"].to_numpy()


def ball_on_plane(**changes):
    """A ball of 20 mm that a load presses on a plane."""
    material = {"youngs_modulus_mpa": 100.0, "poisson_ratio": 0.4}
    base = {
        "model": "composed",
        "ground": "femur",
        "course": {"of": "load (N)", "first": 0.0, "last": 100.0, "frames": 5},
        "bodies": {
            "femur": {
                "shapes": {"ball": {"kind": "sphere", "centre_mm": [0, 20, 0], "radius_mm": 20.0}}
            },
            "tibia": {
                "start": [0, -0.1, 0, 0, 0, 0],
                "held": ["x", "z", "theta_1", "theta_2", "theta_3"],
                "shapes": {"plate": {"kind": "plane", "point_mm": [0, 0, 0], "normal": [0, 2, 0]}},
            },
        },
        "contacts": {
            "touch": {
                "kind": "point",
                "fixed": "femur.ball",
                "moving": "tibia.plate",
                "materials": [material, material],
            }
        },
        "loads": {
            "press": {"body": "tibia", "force_n": [0, 1, 0], "factor": [[0, 10], [100, 110]]}
        },
    }
    return merge_settings(base, changes)


def test_a_ball_is_pressed_as_hertz_says():
    result, *_ = solve(ball_on_plane())
    force = np.linspace(10.0, 110.0, 5)
    modulus = 100.0 / (2.0 * (1.0 - 0.4**2))
    depth = (force / (4.0 / 3.0 * modulus * np.sqrt(20.0))) ** (2.0 / 3.0)
    np.testing.assert_allclose(values(result.kinematics, "tibia y"), depth, rtol=1e-6)
    np.testing.assert_allclose(values(result.forces, "contact force", "touch"), force, rtol=1e-6)


def test_names_of_curves_are_known_before_the_solution():
    held = ["z", "theta_1", "theta_2", "theta_3"]
    knee = ball_on_plane(bodies={"tibia": {"driven": {"x": [[0, 0], [100, 5]]}, "held": held}})
    knee["joints"] = {
        "ring": {
            "kind": "ball",
            "bodies": ["femur", "tibia"],
            "point_mm": [0, 0, 0],
            "stiffness_n_per_mm": 10.0,
        }
    }
    result, parts, settings = solve(knee)
    tables = pd.concat([result.kinematics, result.forces])
    found = set(zip(tables["panel"], tables["series"], strict=True))
    assert set(curve_names(parts, settings)) == found
    # A constraint force of the slide, against the joint's spring.
    assert values(result.forces, "constraint force", "tibia x")[-1] == pytest.approx(50.0, rel=1e-6)


def spatial(tmp_path):
    """The spatial knee of Machado as a composed one, with the table of its ligaments."""
    own = validate_study(
        merge_settings(DEFAULTS, read_settings(ROOT / "config/papers/spatial_knee.yaml"))
    ).multibody
    start, rows = np.array(own.tibia.position_mm), []
    for name, one in own.ligaments.items():
        ends = np.array(one.femur_mm), np.array(one.tibia_mm)
        slack = float(np.linalg.norm(ends[1] + start - ends[0])) / one.stretch_at_extension
        # Quadratic up to a strain of 0.3.
        stiffness = 0.6 * slack**2 * one.stiffness_n_per_mm2
        rows.append([name, "femur", *ends[0], "tibia", *ends[1], stiffness, slack])
    ends_of = [f"{axis}{end}_mm" for end in (1, 2) for axis in "xyz"]
    columns = [
        "bundle",
        "body_1",
        *ends_of[:3],
        "body_2",
        *ends_of[3:],
        "linear_stiffness_n_per_strain",
        "slack_length_mm",
    ]
    file = tmp_path / "ligaments.csv"
    pd.DataFrame(rows, columns=columns).to_csv(file, index=False)
    material = {"youngs_modulus_mpa": 24.0, "poisson_ratio": 0.38}
    return own, {
        "model": "composed",
        "ground": "femur",
        "course": {"of": "time (s)", "first": 0.0, "last": 0.45, "frames": 451},
        "dynamics": {"settle": False, "relative_tolerance": 1e-7},
        "gravity": [0, -1, 0],
        "bodies": {
            "femur": {
                "shapes": {
                    side: {
                        "kind": "sphere",
                        "centre_mm": list(one.centre_mm),
                        "radius_mm": one.radius_mm,
                    }
                    for side, one in own.condyles.items()
                }
            },
            "tibia": {
                "turns": "body_three",
                "start": [*own.tibia.position_mm, 0, 0, 0],
                "mass": {
                    "mass_kg": own.tibia.mass_kg,
                    "centre_mm": [0, 0, 0],
                    "inertia_kg_m2": list(own.tibia.inertia_kg_m2),
                },
                "shapes": {
                    "plateau": {"kind": "plane", "point_mm": [0, 0, 213.5], "normal": [0, 0, 1]}
                },
            },
        },
        "contacts": {
            side: {
                "kind": "point",
                "fixed": f"femur.{side}",
                "moving": "tibia.plateau",
                "materials": [material, material],
            }
            for side in own.condyles
        },
        "ligaments": {"fibres": {"file": str(file), "transition_strain": 0.3}},
    }


@pytest.mark.slow
def test_dynamics_of_the_spatial_knee_are_an_instance(tmp_path):
    own, composed = spatial(tmp_path)
    result, *_ = solve(composed)
    expected = flex(own, "hertz").table
    flexion = -values(result.kinematics, "tibia theta_1")[: len(expected)]
    assert expected["flexion_deg"].max() > 79.0
    # Both integrate with a relative tolerance of 1e-7, through the impacts.
    np.testing.assert_allclose(flexion, expected["flexion_deg"], atol=2e-3)
    for side in ("medial", "lateral"):
        force = values(result.forces, "contact force", side)[: len(expected)]
        assert np.abs(force - expected[f"{side}_force_n"]).max() < 0.005 * force.max()


def test_dampers_delay_a_spring_as_the_implicit_euler_method_says():
    stiffness, damper, force, step = 2.0, 4.0, 10.0, 0.2
    knee = {
        "model": "composed",
        "ground": "femur",
        "course": {"of": "time (s)", "first": 0.0, "last": 2.0, "frames": 11, "over": "tibia.x"},
        "bodies": {
            "femur": {},
            "tibia": {
                "start": [0.0] * 6,
                "dampers": [1e3 * damper, 0, 0, 0, 0, 0],
                "held": ["y", "z", "theta_1", "theta_2", "theta_3"],
                "names": ["anterior", "y", "z", "flexion", "adduction", "rotation"],
            },
        },
        "springs": {"band": {"coordinate": "tibia.x", "stiffness": stiffness}},
        "loads": {
            "pull": {
                "body": "tibia",
                "force_n": [force, 0, 0],
                "factor": [[0, 0], [step, 1], [2, 1]],
            }
        },
    }
    result, *_ = solve(knee)
    expected = [0.0]
    for _ in range(10):
        expected.append((expected[-1] + step * force / damper) / (1.0 + step * stiffness / damper))
    found = result.kinematics[result.kinematics["panel"] == "tibia anterior"]
    np.testing.assert_allclose(found["value"], expected, rtol=1e-5)
    # Curves are over what the settings name.
    np.testing.assert_array_equal(found["at"], found["value"])
    assert set(result.kinematics["over"]) == {"tibia anterior (mm)"}


def test_a_monotone_curve_rests_and_does_not_overshoot():
    points = [[0.0, 0.0], [0.5, 0.0], [2.5, 90.0]]
    curve = CurveSettings(points=points, between="monotone")
    at = np.linspace(-1.0, 3.0, 81)
    found = sample_curve(curve, None, at)
    assert (found[at <= 0.5] == 0.0).all() and (found[at >= 2.5] == 90.0).all()
    assert (np.diff(found) >= 0.0).all()
    # The rate begins at zero; at the end it is of the parabola through the three points, 81 deg/s.
    ends = sample_curve(curve, None, np.array([0.501, 2.499]))
    assert ends[0] < 0.001 * 45.0 * 0.01
    assert 90.0 - ends[1] == pytest.approx(0.001 * 81.0, rel=1e-2)


def test_a_load_on_driven_components_is_borne_as_statics_say():
    stiffness, lever, medial, lateral = 100.0, 20.0, 700.0, 300.0
    springs = {name: {"coordinate": f"tibia.{name}", "stiffness": stiffness} for name in "xyz"}
    springs |= {
        name: {"coordinate": f"tibia.{name}", "stiffness": 1.0} for name in ("theta_2", "theta_3")
    }
    mesh = {"shapes": {"part": {"kind": "mesh", "file": "made.ply"}}}
    load = {
        "file": "made.csv",
        "over": "percent",
        "medial": "medial",
        "lateral": "lateral",
        "lever_mm": lever,
        "min_force_n": 20.0,
    }
    settings = study(
        {
            "model": "composed",
            "ground": "femur",
            "course": {"of": "cycle (%)", "first": 0, "last": 100, "frames": 5, "is_cycle": True},
            "bodies": {"femur": mesh, "tibia": mesh | {"start": [0.0] * 6}},
            "springs": springs,
            "components": {
                "femoral": "femur.part",
                "tibial": "tibia.part",
                "load": load,
                "flexion": [[0, 10], [100, 50]],
            },
        }
    ).multibody
    # From the axes of bones (anterior, superior, lateral) to axes of components; one is tilted.
    axes = np.diag([-1.0, 1.0, -1.0])
    flexed = body_three_123(np.radians([0.0, 0.0, -5.0]))
    ball = sphere_mesh((0.0, 0.0, 0.0), 10.0, 9, 5)
    parts = ComposedParts(
        shapes={"femur.part": ball, "tibia.part": ball},
        placements={"femur.part": (flexed @ axes, np.zeros(3)), "tibia.part": (axes, np.zeros(3))},
        load=np.array([[0.0, medial, lateral], [100.0, medial, lateral]]),
    )
    result = solve_model(parts, settings)
    np.testing.assert_allclose(result.motion["flexion_deg"], np.linspace(10.0, 50.0, 5), atol=1e-6)
    np.testing.assert_allclose(values(result.forces, "contact force", "applied load"), 1000.0)
    # The force is along the tibia: both sides make its moment about the anterior axis.
    poses = result.scene.rotation[:, 1], result.scene.translation[:, 1]
    pushed = (medial + lateral) / stiffness * poses[0][:, :, 1]
    np.testing.assert_allclose(poses[1], pushed, atol=1e-4)
    tilt = np.degrees(np.arcsin(poses[0][:, 2, 1]))
    np.testing.assert_allclose(tilt, 1e-3 * lever * (medial - lateral), rtol=1e-4)


def test_printed_numbers_are_judged_and_refused_where_nothing_computes_them(tmp_path):
    file = tmp_path / "printed.csv"
    rows = [
        "panel,series,at,published,tolerance,unit,source",
        "contact force,touch,50,60,0.1,N,a paper",
        "tibia y,computed,0,9,1,mm,a paper",
    ]
    file.write_text("\n".join(rows))
    result, *_ = solve(ball_on_plane(literature=str(file)))
    table = result.literature.set_index("case")["verdict"]
    assert table["touch at 50"] == "reproduced"
    assert table["computed at 0"] == "not reproduced"
    for wrong in (rows[1].replace("touch", "touches"), rows[1].replace(",50,", ",500,")):
        file.write_text("\n".join([rows[0], wrong]))
        with pytest.raises(InputDataError) as refused:
            solve(ball_on_plane(literature=str(file)))
        assert refused.value.finding.where == f"{file}, data row 1"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"ground": "hip"}, "multibody.ground"),
        ({"bodies": {"tibia": {"start": None}}}, "multibody.bodies.tibia.start"),
        (
            {"bodies": {"tibia": {"held": ["x"], "driven": {"x": [[0, 0], [1, 1]]}}}},
            "multibody.bodies.tibia.held",
        ),
        (
            {"bodies": {"tibia": {"driven": {"y": [[0, 0]]}}}},
            "multibody.bodies.tibia.driven.y.points",
        ),
        (
            {"bodies": {"tibia": {"driven": {"y": [[1, 0], [0, 1]]}}}},
            "multibody.bodies.tibia.driven.y.points",
        ),
        (
            {"bodies": {"tibia": {"driven": {"y": {"file": "a.csv", "over": "x"}}}}},
            "multibody.bodies.tibia.driven.y",
        ),
        (
            {"bodies": {"tibia": {"names": ["x", "y", "z", "turn", "tilt", "turn"]}}},
            "multibody.bodies.tibia.names",
        ),
        ({"contacts": {"touch": {"moving": "tibia.plait"}}}, "multibody.contacts.touch.moving"),
        ({"contacts": {"touch": {"fixed": "tibia.plate"}}}, "multibody.contacts.touch.fixed"),
        ({"contacts": {"touch": {"law": "hertzian"}}}, "multibody.contacts.touch.law"),
        (
            {"bodies": {"femur": {"shapes": {"ball": {"radius_mm": -20.0}}}}},
            "multibody.contacts.touch",
        ),
        ({"loads": {"press": {"body": "hip"}}}, "multibody.loads.press.body"),
        ({"loads": {"touch": {"body": "tibia", "force_n": [1, 0, 0]}}}, "multibody"),
        ({"dynamics": {}}, "multibody.bodies.tibia.mass"),
        (
            {
                "bodies": {
                    "tibia": {
                        "mass": {
                            "mass_kg": 4.0,
                            "centre_mm": [0, 0, 0],
                            "inertia_kg_m2": [0.07, 0.7, 0.07],
                        }
                    }
                }
            },
            "multibody.bodies.tibia.mass.inertia_kg_m2",
        ),
        (
            {"springs": {"one": {"coordinate": "femur.x", "stiffness": 1.0}}},
            "multibody.springs.one.coordinate",
        ),
    ],
)
def test_faults_name_their_place(change, where):
    assert refused_at(study, ball_on_plane(**change)) == f"settings, key {where}"


@pytest.mark.parametrize(("axes", "part"), [("ground", 1.0), ("body", np.cos(np.radians(30.0)))])
def test_a_load_along_the_axes_of_a_turned_body_has_its_part_along_the_ground(axes, part):
    knee = ball_on_plane(
        loads={"press": {"body": "tibia", "force_n": [0, 100, 0], "factor": None, "axes": axes}},
        bodies={"tibia": {"start": [0, 0, 0, 30.0, 0, 0]}},
        springs={"hold": {"coordinate": "tibia.y", "stiffness": 10.0}},
    )
    knee["contacts"] = {}
    result, *_ = solve(knee)
    np.testing.assert_allclose(values(result.kinematics, "tibia y"), 10.0 * part, rtol=1e-6)


def test_a_body_has_its_mass_where_the_settings_say():
    mass = {"mass_kg": 2.0, "centre_mm": [1.0, -30.0, 4.0], "inertia_kg_m2": [0.1, 0.2, 0.3]}
    knee = study(ball_on_plane(bodies={"tibia": {"mass": mass}})).multibody
    body = bodies_alone(knee).bodies[0].inertia
    np.testing.assert_allclose(body.centre_of_mass, mass["centre_mm"])
    assert body.mass == pytest.approx(2e-3)
    np.testing.assert_allclose(np.diag(body.inertia), [100.0, 200.0, 300.0])


def test_a_layer_without_thickness_has_those_measured_on_both_bodies():
    layer = LayerSettings(
        youngs_modulus_mpa=5.0,
        poisson_ratio=0.4,
        strain="small",
        field_spacing_mm=1.0,
        thickness_mm=None,
    )
    own, bone, other, other_bone = (
        sphere_mesh([0.0, 0.0, 0.0], radius) for radius in (20.0, 18.0, 30.0, 27.0)
    )
    found = _layer(layer, own, (bone, other, other_bone))
    # 2 mm on this body and 3 mm on the other one; triangles are chords.
    np.testing.assert_allclose(found.thickness, 5.0, atol=0.15)
