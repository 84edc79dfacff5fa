"""Recordings of a simulator under force control become studies whose forces drive the bearing."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML

import kneewear as kw
from kneewear.activity.directions import describe_activity
from kneewear.activity.settings import FileActivity
from kneewear.base.assumptions import unconfirmed
from kneewear.geometry.dish import Dish
from kneewear.io.column_uses import column_uses
from kneewear.io.curves import read_activity
from kneewear.io.mesh_formats import save_ply
from kneewear.report.understood import tabulate_directions
from kneewear.setup.curves import Recordings, write_activity
from kneewear.setup.implant import create_study
from kneewear.setup.shapes import RecognisedShapes
from tests.geometry.invented import rounded_femoral
from tests.geometry.solids import closed_insert
from tests.refusals import refusal

FRAMES = 50
MASS = 75.0
PHASE = np.linspace(0.0, 2.0 * np.pi, 101)
AP_FORCE = 100.0 * np.sin(PHASE)
TORQUE = 3.0 * np.sin(2.0 * PHASE)
SIGNED = ("AP force on tibia (anterior +) (N)", "Tibial torque (internal +) (Nm)")
CONFORMING = Dish(ratio=1.3, room=20.0, middle=1.5)


def recording(folder, force, torque, force_factor=1.0, torque_factor=1.0, **further):
    table = pd.DataFrame(
        {
            "Time (s)": np.linspace(0.0, 1.0, 101),
            "Flexion Angle (deg)": 30.0 - 27.0 * np.cos(PHASE),
            "Axial Force (N)": 1200.0 + 700.0 * np.sin(2.0 * PHASE) ** 2 + 300.0 * np.sin(PHASE),
            force: force_factor * AP_FORCE,
            torque: torque_factor * TORQUE,
            **further,
        }
    )
    path = folder / "station.csv"
    table.to_csv(path, index=False)
    return str(path)


def shapes():
    return RecognisedShapes("right", {}, "mm", {}, {}, {})


def activity_of(path, dish=CONFORMING, own=None):
    text = write_activity("own", own or shapes(), Recordings(path, path, (), MASS), dish)
    assert text.settles
    block = YAML(typ="safe").load(io.StringIO(text.block))["activities"]["own_gait"]
    return FileActivity.model_validate(block)


def wrench(settings, path):
    activity = read_activity("own_gait", settings, {"motion": path, "load": path}, FRAMES, "right")
    return activity.wrench


@pytest.mark.parametrize(
    ("titles", "factors"),
    [
        (SIGNED, (1.0, 1.0)),
        (("Posterior tibial force (N)", "External tibial torque [N.m]"), (-1.0, -1.0)),
        (("AP force on femur (anterior +) (kN)", "tibial_internal_torque_Nmm"), (-1e-3, 1e3)),
    ],
)
def test_forces_drive_the_bearing_in_the_direction_that_titles_state(titles, factors, tmp_path):
    path = recording(tmp_path, *titles, *factors)
    settings = activity_of(path)
    assert settings.control.anterior_posterior == settings.control.rotation == "force"
    driven = wrench(settings, path)
    frames = len(driven)
    phase = 2.0 * np.pi * np.arange(frames) / frames
    # A tibia that is pushed to anterior moves the femur to posterior, x; torque is about y, N mm.
    weight = MASS * 9.81
    np.testing.assert_allclose(weight * driven[:, 0], 100.0 * np.sin(phase), atol=1.0)
    np.testing.assert_allclose(weight * driven[:, 4], -3000.0 * np.sin(2.0 * phase), atol=40.0)
    used = {use.column for use in column_uses("own_gait", settings, {"motion": path}, "right")
            if use.use == "used"}  # fmt: skip
    assert set(titles) <= used


def test_what_a_machine_does_not_record_is_assumed_until_it_is_changed(tmp_path):
    own = shapes()
    settings = activity_of(recording(tmp_path, *SIGNED), own=own)
    block = settings.model_dump(mode="json")
    entries = [item.model_dump(mode="json") for item in own.assumed]
    listed = {"activities": {"own_gait": block}, "assumed": entries}
    names = {"load_line", "anterior_posterior_springs", "rotation_springs"}
    assert names <= {item.name for item in unconfirmed(listed)}
    assert block["control"]["load_line_mm"] == pytest.approx(CONFORMING.middle + 5.0)
    block["control"]["rotation_springs"][0]["stiffness_n_m_per_deg"] = 1.0
    block["control"]["load_line_mm"] = 0.0
    lapsed = names - {item.name for item in unconfirmed(listed)}
    assert lapsed == {"load_line", "rotation_springs"}


def test_a_post_leaves_the_springs_of_a_removed_ligament(tmp_path):
    own = shapes()
    own.assume("post", "implant.meshes.insert", "insert.stl", "a post", "")
    path = recording(tmp_path, *SIGNED)
    with_post, without = activity_of(path, own=own), activity_of(path)
    stiffness = [
        item.control.anterior_posterior_springs[0].stiffness_n_per_mm
        for item in (with_post, without)
    ]
    assert stiffness[0] < stiffness[1]


def test_forces_without_a_direction_and_loads_in_body_weights_are_asked(tmp_path):
    path = recording(tmp_path, "AP force (N)", "IE torque (Nm)")
    finding = refusal(write_activity, "own", shapes(), Recordings(path, path, (), MASS), CONFORMING)
    assert "'AP force (N)'" in finding.found
    assert "'IE torque (Nm)'" in finding.found
    load = recording(tmp_path, *SIGNED, **{"Axial Force (N)": 2.0 + np.sin(PHASE)})
    table = pd.read_csv(load).rename(columns={"Axial Force (N)": "axial load (BW)"})
    table.to_csv(load, index=False)
    finding = refusal(write_activity, "own", shapes(), Recordings(load, load, (), MASS), CONFORMING)
    assert "(BW)" in finding.found


def test_measured_positions_drive_beside_forces(tmp_path):
    further = {
        "tibia_anterior_mm": 2.0 * np.sin(PHASE),
        "tibial_internal_rotation_deg": 3.0 * np.sin(PHASE),
    }
    path = recording(tmp_path, *SIGNED, **further)
    text = write_activity("own", shapes(), Recordings(path, path, (), MASS), Dish(ratio=3.0))
    block = YAML(typ="safe").load(io.StringIO(text.block))["activities"]["own_gait"]
    assert block["boundary_conditions"] == "prescribed"
    assert "control" not in block


def test_forces_are_in_words_beside_the_phases_of_the_load(tmp_path):
    path = recording(tmp_path, *SIGNED)
    settings = activity_of(path)
    activity = read_activity("own_gait", settings, {"motion": path, "load": path}, FRAMES, "right")
    found = describe_activity(activity)
    (curve, values), _ = found.forces
    assert curve.name == "anterior_posterior_force"
    np.testing.assert_allclose(values, 100.0 * activity.wrench[:, 0])
    # The tibia is pushed to anterior in the first half, and the femur to posterior.
    pushes = [item.changes for item in found.movements if item.curve is curve]
    assert pushes[0][0] > 0.0 > pushes[-1][0]
    rows = tabulate_directions([activity]).set_index("curve")
    assert rows.loc["anterior-posterior-force", "maximum"] == pytest.approx(values.max(), abs=1e-6)


@pytest.mark.slow
@pytest.mark.compiled
def test_a_recording_under_force_control_becomes_a_study_that_wears(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path))
    for name, mesh in (("insert", closed_insert(n=60)), ("femoral", rounded_femoral(n=50))):
        save_ply(mesh.vertices, mesh.faces, f"{name}.ply")
    recording(tmp_path, *SIGNED)
    created = create_study(
        "driven", ["insert.ply"], ["femoral.ply"], motion="station.csv", load="station.csv",
        knee="right", body_mass=MASS,
    )  # fmt: skip
    thickness = kw.load_study(created.settings).implant.nominal_thickness_mm
    case = {"variables": {"body_mass_kg": [MASS], "thickness_mm": [thickness]}}
    study = kw.load_study(created.settings, case)
    assert {"load_line", "anterior_posterior_springs", "rotation_springs"} <= {
        item.name for item in unconfirmed(study.model_dump(mode="json"))
    }
    cycles = kw.simulate(kw.build_knee(study), study)
    depth = kw.accumulate_wear(cycles, study).wear_depth
    assert np.isfinite(depth).all()
    assert (depth.max([name for name in depth.dims if name != "side"]) > 0.0).all()
