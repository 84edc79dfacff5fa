"""One motion and load in many forms give the same cycle; what titles do not say is asked."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML

from kneewear.activity.settings import FileActivity
from kneewear.base.assumptions import unconfirmed
from kneewear.geometry.dish import Dish
from kneewear.io.column_uses import column_uses, states_directions
from kneewear.io.curves import read_activity
from kneewear.setup import implant
from kneewear.setup.curves import BUILT_IN, Recordings, write_activity
from kneewear.setup.gait import GAIT_FILE
from kneewear.setup.shapes import RecognisedShapes
from tests.refusals import refusal

FRAMES = 50
MASS = 70.0
WEIGHT = MASS * 9.81
PHASE = np.linspace(0.0, 2.0 * np.pi, 101)
# Curves in deg, mm and N whose decimals are few, so that signs and separators round nothing.
BASE = pd.DataFrame(
    {
        "percent": np.arange(101.0),
        "flexion_deg": np.round(30.0 - 27.0 * np.cos(PHASE), 2),
        "varus_deg": np.round(1.0 + 0.5 * np.sin(PHASE), 2),
        "tibial_external_rotation_deg": np.round(4.0 * np.sin(PHASE), 2),
        "femur_anterior_mm": np.round(2.0 * np.cos(PHASE), 2),
        "axial_force_N": np.round(
            1000.0 + 700.0 * np.sin(2.0 * PHASE) ** 2 + 300.0 * np.sin(PHASE), 0
        ),
    }
)
OPEN = Dish(ratio=3.0)


@dataclass(frozen=True)
class Form:
    """A way to write the curves.

    Titles and factors by the columns of `BASE`, the text of the file, its name and encoding, and
    the tolerance where the form rounds.
    """

    titles: dict = field(default_factory=dict)
    factors: dict = field(default_factory=dict)
    separator: str = ","
    comma: bool = False
    before: str = ""
    units: str = ""
    name: str = "gait.csv"
    encoding: str = "utf-8"
    columns: tuple = ()
    newline: str = "\n"
    tolerance: float = 0.0
    further: dict = field(default_factory=dict)
    quoting: int = 0
    rows: str | None = None

    def write(self, folder):
        table = pd.DataFrame(
            {
                self.titles.get(name, name): self.factors.get(name, 1.0) * BASE[name]
                for name in BASE
                if self.titles.get(name, name)
            }
        )
        if self.rows is not None:
            table.insert(0, self.rows, np.arange(len(BASE)))
        for title, values in self.further.items():
            table[title] = values
        decimal = "," if self.comma else "."
        text = table.to_csv(index=False, sep=self.separator, decimal=decimal, quoting=self.quoting)
        header, _, rows = text.partition("\n")
        text = self.before + header + "\n" + self.units + rows
        path = folder / self.name
        path.write_bytes(text.replace("\n", self.newline).encode(self.encoding))
        return str(path)


def titles(*values):
    """Titles of the columns of `BASE`, in its order; an empty one leaves a column out."""
    return dict(zip(BASE, values, strict=True))


INWARD = {"tibial_external_rotation_deg": -1.0}
BACKWARD = {"femur_anterior_mm": -1.0}
PULLING = {"axial_force_N": -1.0}
SECONDS = {"percent": 0.011}
STORAGE = "gait\nversion=1\nnRows=101\nnColumns=6\ninDegrees=yes\nendheader\n"
SELECTED = "Main.Study.Output.Model.HumanModel.BodyModel.SelectedOutputs.Right.Leg."
VISUAL_3D = "".join(
    "\t" + "\t".join([name] * 4) + "\n"
    for name in ("walk.c3d", "R_KNEE_ANGLE", "LINK_MODEL_BASED", "ORIGINAL")
)
FORMS = {
    "own template": Form(),
    "tibial internal": Form(
        titles("percent", "flexion_deg", "varus_deg", "tibial_internal_rotation_deg",
               "femur_posterior_mm", "axial_force_N"),
        INWARD | BACKWARD,
    ),
    "bare internal, tibia anterior": Form(
        titles("Gait cycle [%]", "Knee flexion", "varus", "internal_rotation", "tibia_anterior_mm",
               "Fz [N]"),
        INWARD | BACKWARD | PULLING,
    ),
    "femoral rotation": Form(
        titles("pct", "knee_flexion_deg", "varus_deg", "femoral_internal_rotation_deg",
               "femur_anterior_mm", "total_N"),
    ),
    "extension and valgus": Form(
        titles("cycle_percent", "knee_extension_deg", "valgus_deg", "tibial_external_rotation_deg",
               "tibia_posterior_mm", "axial_force_N"),
        {"flexion_deg": -1.0, "varus_deg": -1.0},
    ),
    "adduction, rollback": Form(
        titles("% gait cycle", "Knee Angle [deg]", "knee_adduction [deg]", "ext. rot. tibia [deg]",
               "femoral rollback [mm]", "Axial Load (N)"),
        BACKWARD,
    ),
    "marks of the sign": Form(
        titles("Cycle [%]", "Flexion(+)/Extension(-) [deg]", "Varus(+)/Valgus(-) [deg]",
               "Int(+)/Ext(-) tibial rotation [deg]", "AP translation of femur (anterior +) [mm]",
               "Compressive force (N)"),
        INWARD,
    ),
    "the user says it": Form(
        titles("percent", "FE", "AA", "IE", "AP", "load"),
        INWARD | BACKWARD,
        columns=("AA=varus_deg", "IE=tibial_internal_rotation_deg", "AP=tibia_anterior_mm",
                 "load=axial_force_N"),
    ),
    "unknown names": Form(
        titles("c1", "c2", "", "c3", "c4", "c5"),
        columns=("c1=percent", "c2=flexion_deg", "c3=tibial_external_rotation_deg",
                 "c4=femur_anterior_mm", "c5=axial_force_N"),
    ),
    "German": Form(
        titles("Gangzyklus [%]", "Knieflexion [Grad]", "Varus [Grad]", "Innenrotation Tibia [Grad]",
               "Femur anterior [mm]", "Axialkraft [N]"),
        INWARD, separator=";", comma=True, encoding="cp1252",
    ),
    "German, by slashes": Form(
        titles("Gangzyklus / %", "Knieflexion / °", "Varus / °", "Außenrotation der Tibia / °",
               "Femur nach anterior / mm", "Axialkraft / N"),
        separator=";", comma=True, encoding="cp1252", newline="\r\n",
    ),
    "French": Form(
        titles("Cycle de marche (%)", "Flexion du genou (°)", "Varus (°)",
               "Rotation interne du tibia (°)", "Translation antérieure du fémur (mm)",
               "Force axiale (N)"),
        INWARD, separator=";", comma=True, encoding="utf-8-sig",
    ),
    "Spanish": Form(
        titles("Ciclo de marcha (%)", "Flexión de rodilla (°)", "Varo (°)",
               "Rotación externa de la tibia (°)", "Fémur anterior (mm)", "Fuerza axial (N)"),
        encoding="utf-16",
    ),
    "Italian": Form(
        titles("Ciclo del passo [%]", "Flessione ginocchio [gradi]", "Varo [gradi]",
               "Rotazione interna tibiale [gradi]", "Femore anteriore [mm]", "Forza assiale [N]"),
        INWARD, separator="\t", newline="\r\n",
    ),
    "spreadsheet": Form(before="sep=;\n", separator=";", comma=True),
    "tabs": Form(separator="\t", name="gait.tsv"),
    "quoted decimal commas": Form(comma=True, quoting=csv.QUOTE_ALL),
    "old line ends": Form(newline="\r"),
    "a comment": Form(before="# knee 1\n"),
    "lines before": Form(before="Test,walking\nOperator,N. N.\n\n"),
    "a line of units": Form(
        titles("Cycle", "Flexion", "Varus", "Tibial external rotation", "Femur anterior", "Load"),
        units="%,deg,deg,deg,mm,N\n",
    ),
    "units in brackets below": Form(
        titles("Cycle", "Flexion", "Varus", "Tibial external rotation", "Femur anterior", "Load"),
        units="[%];[deg];[deg];[deg];[mm];[N]\n", separator=";", comma=True, name="gait.txt",
        before="Instrument 7\nSubject 3\n",
    ),
    "text of a measuring system": Form(
        titles("Cycle [%]", "Flexion [deg]", "", "Tib ext rot [deg]", "Femur ant [mm]", "Fz [N]"),
        PULLING, separator="\t", name="gait.akf", before="K1L\nWalking\n\n",
    ),
    "body weights": Form(
        titles("percent", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "load_body_weights"),
        {"axial_force_N": 1.0 / WEIGHT}, tolerance=1e-12,
    ),
    "percent of body weight": Form(
        titles("percent", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "Fz [%BW]"),
        {"axial_force_N": -100.0 / WEIGHT}, tolerance=1e-12,
    ),
    "N per kg": Form(
        titles("percent", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "knee force [N/kg]"),
        {"axial_force_N": 1.0 / MASS}, tolerance=1e-12,
    ),
    "kN": Form(
        titles("percent", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "Axial load [kN]"),
        {"axial_force_N": 0.001}, tolerance=1e-12,
    ),
    "lbf": Form(
        titles("percent", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "Axial load (lbf)"),
        {"axial_force_N": 1.0 / 4.4482216152605}, tolerance=1e-12,
    ),
    "kgf": Form(
        titles("percent", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "axial_load_kgf"),
        {"axial_force_N": 1.0 / 9.80665}, tolerance=1e-12,
    ),
    "radians and metres": Form(
        titles("percent", "flexion_rad", "varus_rad", "tibial_external_rotation_rad",
               "femur_anterior_m", "axial_force_N"),
        {"flexion_deg": np.pi / 180, "varus_deg": np.pi / 180, "femur_anterior_mm": 0.001,
         "tibial_external_rotation_deg": np.pi / 180},
        tolerance=1e-12,
    ),
    "centimetres": Form(
        titles("percent", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "Femur anterior (cm)", "axial_force_N"),
        {"femur_anterior_mm": 0.1}, tolerance=1e-12,
    ),
    "seconds": Form(
        titles("Time [s]", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "axial_force_N"),
        SECONDS, tolerance=1e-9,
    ),
    "milliseconds": Form(
        titles("Time [ms]", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "axial_force_N"),
        {"percent": 11.0}, tolerance=1e-9,
    ),
    "frames": Form(
        titles("frame_100hz", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "axial_force_N"),
        tolerance=1e-9,
    ),
    "frames with a stated rate": Form(
        titles("Frame", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "axial_force_N"),
        before="Sampling rate: 100 Hz\n", tolerance=1e-9,
    ),
    "frames with a rate of the user": Form(
        titles("Frame", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "axial_force_N"),
        columns=("Frame=frame_100Hz",), tolerance=1e-9,
    ),
    "percent and time": Form(further={"time_s": 0.011 * BASE["percent"]}),
    "both units of a curve": Form(further={"flexion_rad": np.radians(BASE["flexion_deg"])}),
    "OpenSim": Form(
        titles("time", "knee_angle_r", "", "tibial_external_rotation", "femur_anterior",
               "knee_r_on_tibia_r_in_tibia_r_fy"),
        SECONDS | PULLING | {"femur_anterior_mm": 0.001}, separator="\t", tolerance=1e-9,
        name="gait.sto", before=STORAGE.replace("=6", "=5"),
    ),
    "gait2392, flexion negative": Form(
        titles("time", "knee_angle_r", "", "tibial_external_rotation", "femur_anterior",
               "walker_knee_r_on_tibia_r_in_tibia_r_fy"),
        SECONDS | PULLING | {"femur_anterior_mm": 0.001, "flexion_deg": -1.0}, separator="\t",
        tolerance=1e-9, name="gait.mot", before=STORAGE.replace("=6", "=5"),
    ),
    "motion capture": Form(
        titles("Frame", "X", "Y", "Z", "Femur anterior", "Knee axial force"),
        INWARD, units=",deg,deg,deg,mm,N\n", before="Model Outputs\n100\n,S1:RKneeAngles,,,,\n",
        tolerance=1e-9,
        columns=("S1:RKneeAngles Femur anterior [mm]=femur_anterior_mm",
                 "S1:RKneeAngles Knee axial force [N]=axial_force_N"),
    ),
    "AnyBody": Form(
        titles("Main.Study.Output.Abscissa.t", "Main.Study.Right.KneeFlexion.Pos[0]", "",
               "tibial_external_rotation_deg", "femur_anterior_mm", "Knee_ProximoDistalForce"),
        SECONDS | PULLING, tolerance=1e-9,
    ),
    "AnyBody, whole paths in radians and metres": Form(
        titles("Main.Study.Output.Abscissa.t",
               f"{SELECTED}JointAngles.Knee_Flexion.Pos[0]", "",
               "tibial_external_rotation_deg", "femur_anterior_mm",
               f"{SELECTED}JointReactionForce.Knee_ProximoDistalForce"),
        SECONDS | {"flexion_deg": np.pi / 180}, tolerance=1e-9,
    ),
    "inches and pounds": Form(
        titles("percent", "Knee Flexion (deg)", "varus_deg", "Tibial Ext Rot (deg)",
               "Femoral Rollback (in)", "Joint Load (lbf)"),
        {"axial_force_N": 1.0 / 4.4482216152605, "femur_anterior_mm": -1.0 / 25.4},
        tolerance=1e-12,
    ),
    "a fraction of the cycle": Form(
        titles("Normalized gait cycle (0-1)", "flexion_deg", "varus_deg",
               "tibial_external_rotation_deg", "femur_anterior_mm", "axial_force_N"),
        {"percent": 0.01}, tolerance=1e-12,
    ),
    "a fraction in a column of percent": Form(factors={"percent": 0.01}, tolerance=1e-12),
    "rows without a title": Form(
        titles("", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "axial_force_N"),
        rows="",
    ),
    "frames of one cycle without a rate": Form(
        titles("Frame", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "axial_force_N"),
        tolerance=1e-9,
    ),
    "Visual3D": Form(
        titles("ITEM", "X", "", "Femur anterior", "Tibial external rotation", "Axial force (N)"),
        {"flexion_deg": -1.0}, separator="\t", name="gait.txt", tolerance=1e-9,
        before=VISUAL_3D,
        columns=("R_KNEE_ANGLE Femur anterior=tibial_external_rotation_deg",
                 "R_KNEE_ANGLE Tibial external rotation=femur_anterior_mm",
                 "R_KNEE_ANGLE Axial force (N)=axial_force_N"),
    ),
    "signs in lines before the titles": Form(
        titles("Gait cycle", "Flexion angle", "Varus", "IE rotation", "AP displacement",
               "Axial load"),
        INWARD | BACKWARD, separator="\t", name="gait.txt", units="%\tdeg\tdeg\tdeg\tmm\tN\n",
        before="AP displacement: positive = tibial tray moves anteriorly\n"
               "IE rotation: positive = tibial tray rotates internally\n\n",
    ),
    "signs in a comment": Form(
        titles("percent", "FE [deg]", "varus_deg", "rotation [deg]", "AP [mm]", "axial_force_N"),
        BACKWARD,
        before="# signs: external rotation positive, AP femur posterior positive\n",
    ),
    "Portuguese": Form(
        titles("Ciclo da marcha (%)", "Flexão do joelho (°)", "Varo (°)",
               "Rotação interna da tíbia (°)", "Translação anterior do fémur (mm)",
               "Força axial (N)"),
        INWARD, separator=";", comma=True, encoding="utf-8-sig",
    ),
    "Dutch": Form(
        titles("Gangcyclus (%)", "Knieflexie (°)", "Varus (°)", "Endorotatie tibia (°)",
               "Femur naar anterieur (mm)", "Axiale kracht (N)"),
        INWARD, separator=";", comma=True,
    ),
    "titles of two lines": Form(
        titles("Gait cycle\n(%)", "Knee flexion\n(deg)", "varus_deg",
               "Tibia external\nrotation (deg)", "Femur anterior\ntranslation (mm)",
               "Axial load\n(N)"),
    ),
    "other joints beside": Form(
        further={
            "hip_flexion_deg": 20.0 + BASE["flexion_deg"],
            "left_knee_flexion_deg": 5.0 + BASE["flexion_deg"],
            "ankle_rotation_deg": 3.0 * BASE["tibial_external_rotation_deg"],
            "patella_flexion_deg": 0.6 * BASE["flexion_deg"],
            "knee_flexion_velocity_deg_s": np.gradient(BASE["flexion_deg"]),
            "flexion_sd_deg": np.full(101, 2.0),
            "quadriceps_force_N": 0.9 * BASE["axial_force_N"],
            "knee_flexion_moment_Nm": 0.1 * BASE["axial_force_N"],
        },
    ),
    "both sides": Form(
        titles("percent", "flexion_deg", "varus_deg", "tibial_external_rotation_deg",
               "femur_anterior_mm", "medial_N"),
        {"axial_force_N": 0.5}, further={"lateral_N": 0.5 * BASE["axial_force_N"]},
    ),
    "both sides and their sum": Form(
        further={"medial_N": 0.5 * BASE["axial_force_N"], "lateral_N": 0.5 * BASE["axial_force_N"]},
    ),
}  # fmt: skip


def no_shapes():
    return RecognisedShapes("right", {}, "mm", {}, {}, {})


def settings_of(path, columns=(), dish=OPEN, load=None):
    """Text of the settings that `new` writes, and the activity that they are."""
    given = Recordings(path, load or path, columns, MASS)
    text = write_activity("own", no_shapes(), given, dish)
    block = YAML(typ="safe").load(io.StringIO(text.block))["activities"]["own_gait"]
    return text, FileActivity.model_validate(block)


def cycle(path, columns=()):
    _, settings = settings_of(path, columns)
    files = {"motion": settings.motion.file, "load": settings.load.file}
    return read_activity("own_gait", settings, files, FRAMES, "right")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Cycles with varus, and without it, where it is solved."""
    folder = tmp_path_factory.mktemp("base")
    return {title: cycle(Form({"varus_deg": title}).write(folder)) for title in ("varus_deg", "")}


def test_there_are_thirty_forms_and_more():
    assert len(FORMS) >= 30


@pytest.mark.parametrize("name", FORMS)
def test_one_motion_and_load_in_many_forms_give_the_same_cycle(name, expected, tmp_path):
    form = FORMS[name]
    own = cycle(form.write(tmp_path), form.columns)
    base = expected["varus_deg" if form.titles.get("varus_deg", "varus_deg") else ""]
    for curve in ("translation", "rotation", "load"):
        pair = getattr(own, curve), getattr(base, curve)
        if form.tolerance:
            np.testing.assert_allclose(*pair, rtol=form.tolerance, atol=form.tolerance)
        else:
            np.testing.assert_array_equal(*pair)


def asked(path, columns=(), dish=OPEN, load=None):
    """Finding with which columns are asked for."""
    return refusal(
        write_activity, "own", no_shapes(), Recordings(path, load or path, columns), dish
    )


def changed(**titles_by_name):
    return dict(zip(BASE, BASE, strict=True)) | titles_by_name


@pytest.mark.parametrize(
    ("form", "column"),
    [
        (Form(changed(tibial_external_rotation_deg="tibial_rotation_deg")), "tibial_rotation_deg"),
        (Form(changed(femur_anterior_mm="ap_displacement_mm")), "ap_displacement_mm"),
        (Form(changed(femur_anterior_mm="anterior_mm")), "anterior_mm"),
        (Form(further={"flexion_2_deg": 0.9 * BASE["flexion_deg"] + 3.0}), "flexion_2_deg"),
        (Form(further={"Axial load B (N)": BASE["axial_force_N"] + 50.0}), "Axial load B (N)"),
        (Form(changed(flexion_deg="angle_deg")), "angle_deg"),
        (Form(changed(flexion_deg="brace flexion (deg)")), "brace flexion (deg)"),
        (Form(changed(femur_anterior_mm="carriage AP (mm)")), "carriage AP (mm)"),
        (Form(changed(axial_force_N="strap load (N)")), "strap load (N)"),
        (Form(changed(axial_force_N="RKneeForce Z [N]")), "RKneeForce Z [N]"),
        (Form(changed(percent="time"), {"percent": 11.0}), "time"),
        (Form(changed(axial_force_N="load"), {"axial_force_N": 100.0 / WEIGHT}), "load"),
        (Form(factors={"flexion_deg": -1.0}), "flexion_deg"),
        (Form(further={"Fx [N]": 2.0 * BASE["axial_force_N"]}), "axial_force_N"),
        (Form(further={"medial_N": BASE["flexion_deg"], "lateral_N": 400.0}), "axial_force_N"),
    ],
)
def test_what_several_columns_or_none_may_be_is_asked_with_the_option_that_says_it(
    form, column, tmp_path
):
    finding = asked(form.write(tmp_path))
    assert f"'{column}'" in finding.found
    assert '--column "' in finding.remedy


def test_answers_to_a_question_are_obeyed(tmp_path):
    form = Form(changed(tibial_external_rotation_deg="rot", femur_anterior_mm="ap"))
    path = form.write(tmp_path)
    options = asked(path).remedy.split('--column "')[1:]
    columns = tuple(option.split('"')[0] for option in options)
    assert len(columns) == 2
    _, settings = settings_of(path, columns)
    assert settings.motion.columns.rotation == "-rot [deg]"
    assert settings.motion.columns.anterior_posterior == "-ap [mm]"


def test_the_answer_about_a_load_has_the_unit_of_its_column(tmp_path):
    path = Form(changed(axial_force_N="F_BW"), {"axial_force_N": 1.0 / WEIGHT}).write(tmp_path)
    options = asked(path).remedy.split('--column "')[1:]
    _, settings = settings_of(path, tuple(option.split('"')[0] for option in options))
    assert settings.load.kind == "axial_load"


@pytest.mark.parametrize("column", ["rot", "rot=", "other=flexion_deg", "flexion_deg=x"])
def test_options_of_another_form_are_refused(column, tmp_path):
    assert asked(Form().write(tmp_path), (column,)).where == "--column"


def test_included_angles_of_a_knee_are_no_flexion(tmp_path):
    form = Form(changed(flexion_deg="Knee Angle [deg]"))
    path = form.write(tmp_path)
    table = pd.read_csv(path)
    table["Knee Angle [deg]"] = 180.0 - table["Knee Angle [deg]"]
    table.to_csv(path, index=False)
    assert "'Knee Angle [deg]'" in asked(path).found


@pytest.mark.parametrize(
    ("dish", "conditions"),
    [
        (Dish(ratio=3.0), "prescribed"),
        (Dish(ratio=1.4, room=20.0), "prescribed"),
        (Dish(ratio=1.1, room=20.0), "settled_ap_rotation"),
    ],
)
def test_a_measured_motion_is_prescribed_where_the_bearing_has_room(dish, conditions, tmp_path):
    path = Form().write(tmp_path)
    text, settings = settings_of(path, dish=dish)
    assert settings.boundary_conditions == conditions
    assert text.settles == (conditions != "prescribed")
    uses = {use.column: use for use in column_uses("own", settings, {"motion": path}, "right")}
    for column in ("tibial_external_rotation_deg", "femur_anterior_mm"):
        assert uses[column].use == ("not used" if text.settles else "used")
        assert bool(uses[column].reason) == text.settles
        assert uses[column].key.startswith("activities.own.motion.columns.")


@pytest.mark.parametrize("passes", [True, False])
def test_room_of_a_bearing_is_decided_by_a_trial_of_the_measured_motion(
    passes, tmp_path, monkeypatch
):
    monkeypatch.setattr(implant, "passes", lambda file: passes)
    path = Form().write(tmp_path)
    shapes, dish = no_shapes(), Dish(ratio=1.1, room=20.0, middle=3.0)
    given = Recordings(path, path, (), MASS)
    activity = write_activity("own", shapes, given, dish)
    assert activity.has_little_room
    written = []

    def write(shown, text):
        written.append((shown, text))
        return not text.settles

    shown, text, is_held = implant._followed_or_solved(write, tmp_path, shapes, activity)
    assert written[-1] == (shown, text)
    assert is_held == passes == (not text.settles)
    assert passes != ("boundary_conditions" in {one.name for one in shown.assumed})
    block = YAML(typ="safe").load(io.StringIO(text.block))["activities"]["own_gait"]
    settings = FileActivity.model_validate(block)
    assert settings.boundary_conditions == ("prescribed" if passes else "settled_ap_rotation")
    assert passes != (settings.control is not None and settings.control.load_line_mm == 3.0)
    # What can only be solved is not tried.
    lacking = Form(changed(femur_anterior_mm="")).write(tmp_path)
    given = Recordings(lacking, lacking, (), MASS)
    assert not write_activity("own", no_shapes(), given, dish).has_little_room


@pytest.mark.parametrize(
    ("left_out", "free"),
    [
        ({"femur_anterior_mm": ""}, {"anterior_posterior"}),
        ({"tibial_external_rotation_deg": ""}, {"rotation"}),
        (
            {"femur_anterior_mm": "", "tibial_external_rotation_deg": ""},
            {"anterior_posterior", "rotation"},
        ),
    ],
)
def test_what_neither_file_nor_bearing_decides_is_held_by_assumed_springs(left_out, free, tmp_path):
    path = Form(changed(**left_out)).write(tmp_path)
    shapes = no_shapes()
    text = write_activity("own", shapes, Recordings(path, path, (), MASS), OPEN)
    assert text.settles
    block = YAML(typ="safe").load(io.StringIO(text.block))["activities"]["own_gait"]
    control = FileActivity.model_validate(block).control
    for name in ("anterior_posterior", "rotation"):
        assert getattr(control, name) == ("force" if name in free else "prescribed")
        assert bool(getattr(control, f"{name}_springs")) == (name in free)
    listed = {"activities": {"own_gait": FileActivity.model_validate(block).model_dump()},
              "assumed": [entry.model_dump() for entry in shapes.assumed]}  # fmt: skip
    assumed = {entry.name for entry in unconfirmed(listed)}
    for name in free:
        assert {f"free_{name}", f"{name}_springs"} <= assumed
    single = Dish(ratio=3.0, single=True)
    assert asked(path, dish=single).expected


def test_frames_of_several_bends_are_asked_for_their_rate(tmp_path):
    path = Form(changed(percent="Frame")).write(tmp_path)
    table = pd.read_csv(path)
    table["flexion_deg"] = 30.0 - 27.0 * np.cos(2.0 * PHASE)
    table.to_csv(path, index=False)
    assert "'Frame'" in asked(path).found


def test_frames_of_one_cycle_beside_a_load_in_percent_are_that_cycle(tmp_path):
    motion = Form(changed(percent="Frame"), name="motion.csv").write(tmp_path)
    load = Form(name="load.csv").write(tmp_path)
    _, settings = settings_of(motion, load=load)
    files = {"motion": motion, "load": load}
    own = read_activity("own_gait", settings, files, FRAMES, "right")
    np.testing.assert_allclose(own.load, cycle(load).load, rtol=1e-12)
    np.testing.assert_allclose(own.rotation, cycle(load).rotation, atol=1e-9)


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ("AP: positive femur anterior\nAP: positive femur posterior\n", "AP [mm]"),
        ("AP: anterior is positive\n", "AP [mm]"),  # of which bone
        ("Femoral component: positive fit, posterior stabilised, cemented\n", "AP [mm]"),
    ],
)
def test_lines_that_state_no_direction_leave_the_question(lines, title, tmp_path):
    path = Form(changed(femur_anterior_mm=title), before=lines, name="gait.txt").write(tmp_path)
    assert title in asked(path).found


@pytest.mark.parametrize(
    ("form", "stated"),
    [
        (FORMS["tibial internal"], True),
        (FORMS["signs in lines before the titles"], True),
        (FORMS["the user says it"], False),
    ],
)
def test_titles_state_the_directions_that_settings_use_or_not(form, stated, tmp_path):
    path = form.write(tmp_path)
    _, settings = settings_of(path, form.columns)
    assert states_directions(settings, {"motion": path}) is stated
    given = settings.motion.columns
    columns = given.model_copy(update={"rotation": f"-{given.rotation}".removeprefix("--")})
    motion = settings.motion.model_copy(update={"columns": columns})
    turned = settings.model_copy(update={"motion": motion})
    assert not states_directions(turned, {"motion": path})


def test_a_model_that_follows_a_motion_is_written_as_prescribed_or_asks_for_it(tmp_path):
    tight = Dish(ratio=1.05, room=4.0)
    path = Form().write(tmp_path)
    given = Recordings(path, path, (), MASS)
    text = write_activity("own", no_shapes(), given, tight, follower="mobile")
    assert "boundary_conditions: prescribed" in text.block
    assert "control" not in text.block
    path = Form(changed(tibial_external_rotation_deg="", femur_anterior_mm="")).write(tmp_path)
    given = Recordings(path, path, (), MASS)
    finding = refusal(write_activity, "own", no_shapes(), given, tight, follower="mobile")
    assert "--mobile" in finding.remedy


def test_a_bearing_that_decides_position_solves_it(tmp_path):
    path = Form(changed(femur_anterior_mm="")).write(tmp_path)
    _, settings = settings_of(path, dish=Dish(ratio=1.1, room=20.0))
    assert settings.boundary_conditions == "settled_ap_rotation"


def test_every_column_is_listed_as_used_not_used_or_not_understood(tmp_path):
    further = {"hip_flexion_deg": 1.0, "medial_mm": 2.0, "x": 3.0, "time_s": 0.2 * PHASE}
    path = Form(further=further).write(tmp_path)
    _, settings = settings_of(path)
    files = {"motion": path, "load": path}
    uses = {use.column: use for use in column_uses("own", settings, files, "right")}
    assert {column: use.use for column, use in uses.items()} == {
        "percent": "used",
        "flexion_deg": "used",
        "varus_deg": "not used",
        "tibial_external_rotation_deg": "used",
        "femur_anterior_mm": "used",
        "axial_force_N": "used",
        "hip_flexion_deg": "not used",
        "medial_mm": "not used",
        "x": "not understood",
        "time_s": "not used",
    }
    assert uses["axial_force_N"].key == "activities.own.load.columns.load"
    assert uses["medial_mm"].quantity == "medial_lateral"
    assert not uses["hip_flexion_deg"].key


def test_names_of_settings_turn_and_convert_what_the_list_says(tmp_path):
    form = Form(changed(tibial_external_rotation_deg="IR (deg)"), INWARD)
    path = form.write(tmp_path)
    _, settings = settings_of(path, ("IR (deg)=tibial_internal_rotation_deg",))
    uses = {use.column: use for use in column_uses("own", settings, {"motion": path}, "right")}
    assert uses["IR (deg)"].meaning == "internal rotation of the tibia"


@pytest.mark.parametrize(
    ("title", "mass", "masses"),
    [
        ("axial_force_N", 68.0, (53.0, 68.0, 83.0)),
        ("axial_force_N", None, (60.0, 75.0, 90.0)),
        ("load_body_weights", 68.0, (53.0, 68.0, 83.0)),
        ("load_body_weights", None, (60.0, 90.0)),
    ],
)
def test_the_mass_of_a_measured_force_is_the_middle_case(title, mass, masses, tmp_path):
    factor = 1.0 if title == "axial_force_N" else 1.0 / WEIGHT
    path = Form(changed(axial_force_N=title), {"axial_force_N": factor}).write(tmp_path)
    shapes = no_shapes()
    text = write_activity("own", shapes, Recordings(path, path, (), mass), OPEN)
    assert text.body_masses == masses
    assumed = {entry.name: entry.value for entry in shapes.assumed}
    expected = 75.0 if title == "axial_force_N" and mass is None else None
    assert assumed.get("body_mass") == expected


def test_columns_of_the_other_knee_are_left_out(tmp_path):
    form = Form(
        changed(flexion_deg="knee_flexion_r"),
        further={"knee_flexion_l": 5.0 + BASE["flexion_deg"]},
    )
    path = form.write(tmp_path)
    for side, name in (("right", "knee_flexion_r"), ("left", "knee_flexion_l")):
        shapes = RecognisedShapes(side, {}, "mm", {}, {}, {})
        text = write_activity("own", shapes, Recordings(path, path, (), MASS), OPEN)
        assert f'flexion: "{name}"' in text.block


@pytest.mark.parametrize(
    ("line", "mass"),
    [
        ("Body weight: 784.8 N", 80.0),
        ("Mass [kg]: 80\nBody mass = 80 kg", 80.0),
        ("Körpergewicht; 80,0 kg", 80.0),
        ("Body mass 80 kg\nBody mass 82 kg", None),
        ("Subject mass: 80 kg", 80.0),
        ("Body mass (kg);80,0", 80.0),
        ("Body weight [N],784.8", 80.0),
        ("Tray mass 80 kg", None),
        ("Mass: 2.1 kg", None),
    ],
)
def test_the_body_mass_that_a_file_states_is_that_of_its_forces(line, mass, tmp_path):
    path = Form(before=f"{line}\n").write(tmp_path)
    shapes = no_shapes()
    text = write_activity("own", shapes, Recordings(path, path), OPEN)
    assumed = {one.name for one in shapes.assumed}
    assert ("body_mass" in assumed) == (mass is None)
    assert text.body_masses[1] == pytest.approx(mass or 75.0)


def test_a_motion_without_a_load_takes_the_built_in_one_as_an_assumption(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Form().write(tmp_path)
    shapes = no_shapes()
    text = write_activity("own", shapes, Recordings(path, BUILT_IN), OPEN)
    block = YAML(typ="safe").load(io.StringIO(text.block))["activities"]["own_gait"]
    settings = FileActivity.model_validate(block)
    files = {"motion": settings.motion.file, "load": settings.load.file}
    activity = read_activity("own_gait", settings, files, FRAMES, "right")
    # The curves are the user's, the load is the one of the default study's gait.
    assert np.degrees(np.ptp(activity.rotation[:, 2])) == pytest.approx(54.0, abs=0.5)
    built_in = pd.read_csv(GAIT_FILE)["load_body_weights"]
    assert activity.load.max() == pytest.approx(built_in.max(), rel=0.01)
    listed = {"activities": {"own_gait": settings.model_dump(mode="json")}}
    listed["assumed"] = [entry.model_dump() for entry in shapes.assumed]
    assert "load" in {entry.name for entry in unconfirmed(listed)}
    listed["activities"]["own_gait"]["load"]["file"] = "own.csv"
    assert "load" not in {entry.name for entry in unconfirmed(listed)}
