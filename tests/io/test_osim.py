"""Models of OpenSim as composed knees: places and motions by hand, what is left out, faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import sphere_mesh
from kneewear.io.mesh_formats import save_ply
from kneewear.knees.opensim import import_model
from kneewear.knees.osim import simm_spline
from tests.io.leg import model, path

CONTACT = """<Smith2018ArticularContactForce name="tf contact"><socket_target_mesh>
/contactgeometryset/condyle</socket_target_mesh><socket_casting_mesh>/contactgeometryset/tray
</socket_casting_mesh></Smith2018ArticularContactForce>"""
MESH = """<Smith2018ContactMesh name="{name}"><socket_frame>/bodyset/{body}</socket_frame>
<location>{place}</location><orientation>0 0 0.1</orientation><mesh_file>{file}</mesh_file>
<elastic_modulus>{modulus}</elastic_modulus><poissons_ratio>0.4</poissons_ratio>
<thickness>{thickness}</thickness></Smith2018ContactMesh>"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(text, **options):
    Path("leg.osim").write_text(text, encoding="utf-8")
    found = import_model("leg.osim", "leg", **options)
    return yaml.safe_load(found.settings.read_text(encoding="utf-8"))["multibody"], found.findings


def test_bodies_are_placed_and_fixed_as_joints_say(folder):
    knee, _ = imported(model())
    turn = Rotation.from_euler("ZXY", [-0.1, 0.02, -0.03]).as_matrix()
    place = np.array([7.0, -403.0, 2.0]) - turn @ [0.0, 10.0, 0.0]
    start = knee["bodies"]["tibia_r"]["start"]
    np.testing.assert_allclose(start[:3], place, atol=1e-6)
    np.testing.assert_allclose(start[3:], np.degrees([0.1, 0.02, -0.03]), atol=1e-6)
    # The welded foot belongs to the tibia: its mass, and the heel of the calf muscle.
    heel = [0.0, -400.0, 0.0] + Rotation.from_rotvec([0, 0.1, 0]).apply([-40.0, 20.0, 0.0])
    points = pd.read_csv("leg_muscles.csv").set_index(["muscle", "point"])
    assert points.loc[("gasmed", 2), "body"] == "tibia_r"
    np.testing.assert_allclose(
        points.loc[("gasmed", 2), ["x_mm", "y_mm", "z_mm"]].astype(float), heel
    )
    assert knee["bodies"]["tibia_r"]["mass"]["mass_kg"] == 4.0
    # A muscle of the hip joins no two bodies of the knee.
    assert "glmax" not in points.index.get_level_values(0)
    assert knee["bodies"]["tibia_r"]["driven"]["theta_1"][-1] == [90.0, 90.0]


def test_a_knee_of_one_coordinate_follows_its_functions(folder):
    _, findings = imported(model("one"))
    table = pd.read_csv("leg_tibia_r_motion.csv")
    flexion = np.radians(table.iloc[20, 0])
    x = CubicSpline([-0.2, 0.3, 0.8, 1.4, 2.1], [2.0, 1.0, -6.0, -4.0, 3.0])(flexion)
    frame = Rotation.from_euler("XYZ", [0.05, 0.02, 0.0])
    turn = Rotation.from_rotvec([0, 0, -flexion]) * Rotation.from_rotvec([0.02, 0, 0])
    turn = frame * turn * Rotation.from_rotvec([0, 0.1 * flexion + 0.01, 0])
    place = [3.0, -400.0, 1.0] + frame.apply([x, 0.0, 0.0]) - turn.apply([0.0, 10.0, 0.0])
    # The comparison has other conditions at the ends of the spline.
    np.testing.assert_allclose(table.iloc[20, 1:4].astype(float), place, atol=0.3)
    angles = np.degrees(turn.as_euler("ZXY")) * [-1, 1, 1]
    np.testing.assert_allclose(table.iloc[20, 4:].astype(float), angles, atol=1e-6)
    # The patella is coupled: it turns by 0.7 of the flexion about its own axis.
    follower = pd.read_csv("leg_patella_r_motion.csv")
    np.testing.assert_allclose(np.diff(follower["theta_1"]) / np.diff(follower.iloc[:, 0]), 0.7)
    assert {one.where for one in findings if one.check == "import.motion"} == {
        "tibia_r",
        "patella_r",
    }


@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_splines_go_through_their_points_and_are_cubics_of_four(count):
    x = np.array([0.0, 0.4, 1.1, 1.5, 2.2, 2.9, 3.1])[:count]
    y = x**3 - 2.0 * x
    found = np.array([simm_spline(x, y)(at) for at in x])
    np.testing.assert_allclose(found, y, atol=1e-12)
    if count >= 4:
        middle = 0.5 * (x[1:] + x[:-1])
        own = [simm_spline(x, y)(at) for at in middle]
        np.testing.assert_allclose(own, middle**3 - 2.0 * middle, atol=1e-12)


def test_contact_meshes_become_one_layer_in_series(folder):
    mesh = sphere_mesh([0, 0, 0], 0.02)
    save_ply(mesh.vertices, mesh.faces, Path("ball.ply"))
    meshes = MESH.format(
        name="tray", body="foot_r", place="0 0.4 0", file="ball.ply", modulus=4e6, thickness=0.003
    )
    meshes += MESH.format(
        name="condyle",
        body="femur_r",
        place="0 -0.38 0",
        file="ball.ply",
        modulus=8e6,
        thickness=0.006,
    )
    text = model(extra_force=CONTACT, extra_geometry=meshes)
    knee, _ = imported(text, moving=["tibia_r", "patella_r"])
    contact = knee["contacts"]["tf_contact"]
    assert contact["elements"] == "tibia_r.tray"
    assert contact["layer"]["thickness_mm"] == pytest.approx(9.0)
    # 3 mm of 4 MPa and 6 mm of 8 MPa: 9 / (3 / 4 + 6 / 8).
    assert contact["layer"]["youngs_modulus_mpa"] == pytest.approx(6.0)
    placement = knee["bodies"]["tibia_r"]["shapes"]["tray"]["placement"]
    turn = Rotation.from_rotvec([0, 0.1, 0])
    np.testing.assert_allclose(placement[:3], [0.0, 0.0, 0.0], atol=1e-6)
    rotation = Rotation.from_euler("XYZ", placement[3:], degrees=True)
    assert (rotation.inv() * turn * Rotation.from_rotvec([0, 0, 0.1])).magnitude() < 1e-9


def test_what_cannot_be_read_is_reported(folder):
    force = '<HuntCrossleyForce name="heel"></HuntCrossleyForce>'
    moving = path("odd", [("femur_r", "0 -0.3 0"), ("tibia_r", "0 -0.1 0")])
    odd = (
        f'<Blankevoort1991Ligament name="odd">{moving}<appliesForce>false</appliesForce>'
        "</Blankevoort1991Ligament>"
    )
    missing = MESH.format(
        name="condyle", body="femur_r", place="0 0 0", file="none.stl", modulus=1e6, thickness=0.003
    )
    missing += missing.replace("condyle", "tray").replace("femur_r", "tibia_r")
    text = model(extra_force=force + odd + CONTACT, extra_geometry=missing)
    knee, findings = imported(text, moving=["tibia_r", "patella_r"])
    found = {(one.check, one.where) for one in findings}
    assert ("import.unread", "HuntCrossleyForce") in found
    assert ("import.object", "odd") in found
    assert ("import.mesh", "tray") in found
    assert knee["contacts"] == {}


@pytest.mark.parametrize(
    ("change", "options", "where"),
    [
        (("40500", "30000"), {}, ""),
        (("<Model", "<Muddle"), {}, ""),
        (("</Model>", ""), {}, ""),
        (("/bodyset/foot_r", "/bodyset/hoof_r"), {}, "PhysicalOffsetFrame c_offset"),
        (("<mass>3</mass>", "<mass>three</mass>"), {}, "Body tibia_r"),
        (("0 -0.39 -0.04", "0 -0.39"), {}, "PathPoint MCL1-P0"),
        (("", ""), {"ground": "femur_l"}, ""),
        (("", ""), {"moving": ["femur_r"]}, ""),
        (("", ""), {"moving": ["tibia_r", "foot_r"]}, "foot_r to tibia_r"),
    ],
)
def test_faults_name_file_and_object(folder, change, options, where):
    Path("leg.osim").write_text(model().replace(*change), encoding="utf-8")
    with pytest.raises(InputDataError) as refused:
        import_model("leg.osim", "leg", **options)
    assert refused.value.finding.where == "leg.osim" + (f", {where}" if where else "")
    assert not Path("leg.yaml").exists()


def test_settings_that_are_refused_leave_no_tables(folder):
    with pytest.raises(InputDataError) as refused:
        imported(model(), activation=-1.0)
    assert "multibody.muscles.muscles.activation" in refused.value.finding.where
    assert [file.name for file in folder.iterdir()] == ["leg.osim"]
