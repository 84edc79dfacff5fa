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
from kneewear.knees.osim import read_osim, simm_spline
from tests.io.leg import model, path
from tests.refusals import refusal, refused_at

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


FUNCTION = '<LinearFunction name="function"><coefficients>0.1 0.01</coefficients></LinearFunction>'
WRAPPED = '<MultiplierFunction name="function">{}</MultiplierFunction>'


def nested(depth):
    start, end = WRAPPED.format("<function>|</function>").split("|")
    return start * depth + FUNCTION + end * depth


@pytest.mark.parametrize(
    ("function", "where"),
    [
        (WRAPPED.format("<scale>1</scale>"), "MultiplierFunction function"),
        (WRAPPED.format("<function/>"), "MultiplierFunction function"),
        (nested(2000), "function None"),
        (nested(50_000), "function None"),
        ('<LinearFunction name="function"/>', "LinearFunction function"),
        ('<SimmSpline name="function"/>', "SimmSpline function"),
        ('<Sine name="function"/>', "TransformAxis rotation3"),
    ],
)
def test_functions_that_are_none_or_unread_are_refused(folder, function, where):
    text = model("one").replace(FUNCTION, function)
    assert text != model("one")
    assert refused_at(imported, text) == f"leg.osim, {where}"


def test_functions_within_functions_multiply(folder):
    doubled = WRAPPED.format(f"<scale>2</scale><function>{FUNCTION}</function>")
    inner = FUNCTION.replace("0.1 0.01", "0.05 0.005")
    once, _ = imported(model("one"))
    table = pd.read_csv("leg_tibia_r_motion.csv")
    Path("leg.yaml").unlink()
    twice, _ = imported(model("one").replace(FUNCTION, doubled.replace(FUNCTION, inner)))
    assert twice == once
    pd.testing.assert_frame_equal(pd.read_csv("leg_tibia_r_motion.csv"), table)


def test_a_coupling_without_a_function_is_refused(folder):
    holder = "<coupled_coordinates_function>"
    first, rest = model("one").split(holder)
    text = first + holder + rest[rest.index("</coupled_coordinates_function>") :]
    assert refused_at(imported, text) == "leg.osim, CoordinateCouplerConstraint pf"


LENIENT = {
    "bare ampersand": ("<gravity>", "<credits>Smith & Jones, a&b;</credits><gravity>"),
    "known entity": ("<gravity>", "<credits>a &lt; b &#38; c</credits><gravity>"),
    "colons": (
        "<ForceSet",
        '<A::B name="a"><A::B::C><x/></A::B::C></A::B><c:d e:f="1"/><ForceSet',
    ),
    "hyphens in a comment": ("<gravity>", "<!-- a -- b ---><gravity>"),
    "control character": ("<gravity>", "<credits>a\x0bb</credits><gravity>"),
    "blanks first": ('<?xml version="1.0" encoding="UTF-8" ?>', "\n  <?xml version='1.0'?>"),
    "no declaration": ('<?xml version="1.0" encoding="UTF-8" ?>', ""),
    "another encoding": ("UTF-8", "ISO-8859-1"),
    "no ground": ('<Ground name="ground"/>', ""),
}


@pytest.mark.parametrize("what", LENIENT)
def test_files_are_read_as_leniently_as_by_opensim(folder, what):
    knee, findings = imported(model())
    Path("leg.yaml").unlink()
    assert imported(model().replace(*LENIENT[what], 1)) == (knee, findings)


def test_text_of_another_encoding_is_read(folder):
    text = model().replace("<gravity>", "<credits>Universit\u00e9</credits><gravity>")
    Path("leg.osim").write_bytes(text.encode("latin-1"))
    assert import_model("leg.osim", "leg").settings == Path("leg.yaml")


OFFSET = """<PhysicalOffsetFrame name="{name}"><socket_parent>{parent}</socket_parent>
<translation>{place}</translation><orientation>0 0 0</orientation>{more}</PhysicalOffsetFrame>"""


def ligament_to(frame, place):
    points = path("odd", [("femur_r", "0 -0.3 0"), ("tibia_r", place)])
    ligament = f'<Blankevoort1991Ligament name="odd">{points}</Blankevoort1991Ligament>'
    return ligament.replace("/bodyset/tibia_r", frame)


@pytest.mark.parametrize(
    ("owner", "socket"),
    [
        ("body", "/bodyset/tibia_r/outer/inner"),
        ("body", "../../bodyset/tibia_r/outer/inner"),
        ("model", "/inner"),
        ("model", "inner"),
    ],
)
def test_frames_of_bodies_and_of_the_model_are_read(folder, owner, socket):
    outer = OFFSET.format(name="outer", parent="/bodyset/tibia_r", place="0 -0.02 0", more="")
    inner = OFFSET.format(name="inner", parent="/outer", place="0 -0.03 0.01", more="")
    if owner == "body":
        # A frame of a frame of a body, which comes before the frame that it is an offset from.
        more = inner.replace("/outer", "..")
        own = outer.removesuffix("</PhysicalOffsetFrame>")
        own += f"<components>{more}</components></PhysicalOffsetFrame>"
        start = '<Body name="tibia_r">'
        text = model(extra_force=ligament_to(socket, "0 -0.05 0"))
        text = text.replace(start, f"{start}<components>{own}</components>")
    else:
        text = model(extra_force=ligament_to(socket, "0 -0.05 0"))
        text = text.replace("<gravity>", f"<components>{inner}{outer}</components><gravity>")
    imported(text)
    row = pd.read_csv("leg_ligaments.csv").set_index("bundle").loc["odd"]
    assert row["body_2"] == "tibia_r"
    np.testing.assert_allclose([row["x2_mm"], row["y2_mm"], row["z2_mm"]], [0, -100, 10])


def test_frames_that_are_not_read_are_no_fault_of_the_model(folder):
    odd = '<StationDefinedFrame name="medial"><ab_axis>+x</ab_axis></StationDefinedFrame>'
    text = model().replace(
        '<Body name="foot_r">', f'<Body name="foot_r"><components>{odd}</components>'
    )
    text = text.replace("/bodyset/foot_r<", "/bodyset/foot_r/medial<", 1)
    found = refusal(imported, text)
    assert found.where == "leg.osim, PhysicalOffsetFrame c_offset"
    assert "StationDefinedFrame" in found.found


def test_frames_in_a_circle_are_refused(folder):
    one = OFFSET.format(name="a", parent="/b", place="0 0 0", more="")
    two = OFFSET.format(name="b", parent="/a", place="0 0 0", more="")
    text = model(extra_force=ligament_to("/a", "0 0 0"))
    text = text.replace("<gravity>", f"<components>{one}{two}</components><gravity>")
    assert refused_at(imported, text) == "leg.osim, PhysicalOffsetFrame b"


def test_bodies_without_a_way_to_the_others_are_refused(folder):
    itself = model().replace(
        "/bodyset/tibia_r</socket_parent>\n<translation>0 -0.4 0<",
        "/bodyset/foot_r</socket_parent>\n<translation>0 -0.4 0<",
        1,
    )
    assert itself != model()
    assert refused_at(imported, itself) == "leg.osim, WeldJoint ankle_r"
    start, end = model().index("<WeldJoint"), model().index("</WeldJoint>") + len("</WeldJoint>")
    alone = model()[:start] + model()[end:]
    assert refused_at(imported, alone) == "leg.osim, body foot_r"


@pytest.mark.parametrize(
    ("span", "first"),
    [("-99999.9 99999.9", 5.729578), ("-10 10", 5.729578), ("2 -0.2", -11.459156)],
)
def test_a_range_that_is_no_limit_starts_at_the_default(folder, span, first):
    text = model("one").replace("<range>-0.2 2.0</range>", f"<range>{span}</range>")
    knee, _ = imported(text)
    assert (knee["course"]["first"], knee["course"]["last"]) == (first, 90.0)


def test_settings_beyond_what_a_study_takes_are_named_by_the_model(folder):
    text = model().replace("<mass>3</mass>", "<mass>3000</mass>")
    where = "leg.osim, key multibody.bodies.tibia_r.mass.mass_kg"
    assert refused_at(imported, text) == where
    assert [file.name for file in folder.iterdir()] == ["leg.osim"]


def test_settings_that_are_refused_leave_no_tables(folder):
    with pytest.raises(InputDataError) as refused:
        imported(model(), activation=-1.0)
    assert "multibody.muscles.muscles.activation" in refused.value.finding.where
    assert [file.name for file in folder.iterdir()] == ["leg.osim"]


# Parts of a model that change its numbers: what is written, and what must be read of it.
MULTIPLIED = (
    '<MultiplierFunction name="function"><function><Constant><value>0.03</value></Constant>'
    "</function><scale>-2</scale></MultiplierFunction>"
)
SPRING = "<elastic_foundation_formulation>{}</elastic_foundation_formulation>"


def read_text(text):
    Path("leg.osim").write_text(text, encoding="utf-8")
    return read_osim("leg.osim")


def test_multipliers_of_functions_and_couplings_count(folder):
    constant = '<Constant name="function"><value>0.02</value></Constant>'
    assert constant in model("one")
    found = read_text(model("one").replace(constant, MULTIPLIED))
    values = [one.value(0.7) for one in found.joints["knee_r"].axes if not one.coordinate]
    assert pytest.approx(-0.06) in values
    found = read_text(model("one").replace("<scale_factor>1<", "<scale_factor>2.5<"))
    driver, follow = found.couplings["beta"]
    assert (driver, follow(0.4)) == ("flex", pytest.approx(2.5 * -0.7 * 0.4))


@pytest.mark.parametrize(
    ("quadrant", "side"),
    [
        ("-x", (-1, 0, 0)),
        ("x", (1, 0, 0)),
        ("+y", (0, 1, 0)),
        ("-Z", (0, 0, -1)),
        ("all", (0, 0, 0)),
    ],
)
def test_wrap_objects_have_the_side_of_their_quadrant(folder, quadrant, side):
    changed = model().replace("<quadrant>-x</quadrant>", f"<quadrant>{quadrant}</quadrant>")
    np.testing.assert_array_equal(read_text(changed).wraps["back"].side, side)


@pytest.mark.parametrize(("form", "strain"), [("linear", "small"), ("nonlinear", "large")])
def test_foundations_have_their_strain_and_meshes_the_usual_thickness(folder, form, strain):
    force = CONTACT.replace("</Smith2018", SPRING.format(form) + "</Smith2018")
    mesh = MESH.format(
        name="tray", body="tibia_r", place="0 0 0", file="none.stl", modulus=1e6, thickness=0.003
    ).replace("<thickness>0.003</thickness>", "")
    meshes = mesh + mesh.replace("tray", "condyle").replace("tibia_r", "femur_r")
    found = read_text(model(extra_force=force, extra_geometry=meshes))
    assert [one.strain for one in found.contacts] == [strain]
    # 5 mm, the default of OpenSim-JAM.
    assert {one.thickness for one in found.meshes.values()} == {5.0}


@pytest.mark.parametrize("word", ["locked", "prescribed"])
def test_coordinates_that_are_locked_or_prescribed_are_not_free(folder, word):
    text = model().replace(
        '<Coordinate name="add">', f'<Coordinate name="add"><{word}>true</{word}>'
    )
    text = text.replace("<locked>false</locked></Coordinate>", "</Coordinate>")
    held = {one.name: one.held for one in read_text(text).joints["knee_r"].coordinates}
    assert held["add"]
    assert not held["flex"]


PULLED = '<MovingPathPoint name="gasmed-P0">{}</MovingPathPoint>'
SECOND = '<Body name="tibia_r"><mass>1</mass></Body></objects></BodySet>'
FAULTS = {
    "a body twice": ("</objects></BodySet>", SECOND, "Body tibia_r"),
    "a body without a name": ("</objects></BodySet>", SECOND.replace("tibia_r", ""), "Body "),
    "a joint twice": ('name="ankle_r"', 'name="knee_r"', "WeldJoint knee_r"),
    "a muscle twice": ('name="gasmed"', 'name="vasint"', "Millard2012EquilibriumMuscle vasint"),
    "a ligament twice": ('name="CAP1"', 'name="MCL1"', "Blankevoort1991Ligament MCL1"),
    "a negative mass": ("<mass>3</mass>", "<mass>-3</mass>", "Body tibia_r"),
    "an axis of zeros": ("<axis>0 0 -1</axis>", "<axis>0 0 0</axis>", "TransformAxis rotation1"),
    "an axis of no coordinate": (
        "<coordinates>flex</coordinates>",
        "<coordinates>flexion</coordinates>",
        "TransformAxis rotation1",
    ),
    "a coupling to no coordinate": (
        "<dependent_coordinate_name>beta<",
        "<dependent_coordinate_name>gamma<",
        "CoordinateCouplerConstraint pf",
    ),
    "a coupling with itself": (
        "<dependent_coordinate_name>beta<",
        "<dependent_coordinate_name>flex<",
        "CoordinateCouplerConstraint pf",
    ),
    "a path about nothing": (
        "<wrap_object>ball<",
        "<wrap_object>bowl<",
        "Millard2012EquilibriumMuscle vasint",
    ),
    "a side that is none": (
        "<quadrant>-x<",
        "<quadrant>north<",
        "WrapCylinder back",
    ),
    "no word for true": ("<locked>false<", "<locked>perhaps<", "Coordinate g0"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_what_opensim_refuses_or_renames_is_refused_at_its_object(folder, what):
    old, new, where = FAULTS[what]
    text = model("one")
    assert old in text
    assert refused_at(imported, text.replace(old, new, 1)) == f"leg.osim, {where}"
    assert [file.name for file in folder.iterdir()] == ["leg.osim"]


def test_a_path_of_moving_points_is_not_supported_and_no_fault_of_the_model(folder):
    start, end = '<PathPoint name="gasmed-P0">', "</PathPoint>"
    before, _, after = model().partition(start)
    inner, _, rest = after.partition(end)
    found = refusal(imported, before + PULLED.format(inner) + rest)
    assert found.where == "leg.osim, Millard2012EquilibriumMuscle gasmed"
    assert "not supported" in found.found


def test_constraints_that_are_not_enforced_do_not_couple(folder):
    text = model("one").replace("<scale_factor>1<", "<isEnforced>0</isEnforced><scale_factor>1<")
    found = read_text(text)
    assert found.couplings == {}
    assert [where for where, _ in found.notes] == ["pf"]


def test_of_two_wrap_objects_of_a_name_paths_pass_the_first(folder):
    second = '<WrapSphere name="back"><radius>0.5</radius></WrapSphere>'
    body = model().index('<Body name="tibia_r">')
    empty = '<WrapObjectSet name="wrapobjectset"><objects></objects>'
    text = model()[:body] + model()[body:].replace(empty, empty[:-10] + second + "</objects>", 1)
    found = read_text(text)
    assert (found.wraps["back"].kind, found.wraps["back"].body) == ("cylinder", "femur_r")
    assert [where for where, _ in found.notes] == ["back"]


@pytest.mark.parametrize(("word", "held"), [("1", True), ("TRUE", True), ("0", False)])
def test_words_for_true_and_false_are_those_of_opensim(folder, word, held):
    text = model("one").replace("<locked>false</locked>", f"<locked>{word}</locked>")
    assert {one.held for one in read_text(text).joints["knee_r"].coordinates} == {held}
