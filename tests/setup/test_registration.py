"""Poses that put one file on the other count from the origins of the files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import yaml

from kneewear.io.mesh_formats import save_ply
from kneewear.mechanics.rotations import grood_suntay
from kneewear.setup.implant import create_study
from kneewear.setup.registration import gaps_between, is_registered
from kneewear.setup.shapes import recognise_shapes
from tests.geometry.invented import rounded_femoral
from tests.geometry.solids import closed_insert

# Axes of OpenSim (anterior, superior, lateral of a right knee) in posterior, superior, medial.
AXES = np.diag([-1.0, 1.0, -1.0])
ROWS = 41
PHASE = np.linspace(0.0, 2.0 * np.pi, ROWS)
FLEXION = 25.0 - 22.0 * np.cos(PHASE)


def storage(file, columns):
    rows = [
        "\t".join(columns),
        *("\t".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    header = f"gait\nversion=1\nnRows={ROWS}\nnColumns={len(columns)}\ninDegrees=yes\nendheader\n"
    file.write_text(header + "\n".join(rows) + "\n")


def recording(folder, seat):
    """Coordinates of a tibia whose insert stays below the femoral origin by a height, mm."""
    turn = grood_suntay(np.radians(FLEXION), 0.0 * PHASE, 0.0 * PHASE)
    shift = np.array([0.0, seat, 0.0])
    # Pose of the tibia in the femur, along its axes, m.
    femur = AXES @ turn @ AXES
    tibia = -np.einsum("nji,j->ni", femur, AXES @ shift) / 1000.0
    coordinates = {
        "knee_flex_r": FLEXION, "knee_add_r": 0.0 * PHASE, "knee_rot_r": 0.0 * PHASE,
        "knee_tx_r": tibia[:, 0], "knee_ty_r": tibia[:, 1], "knee_tz_r": tibia[:, 2],
    }  # fmt: skip
    time = np.linspace(0.0, 1.1, ROWS)
    storage(folder / "ik.mot", {"time": time, **coordinates})
    force = -(800.0 + 700.0 * np.sin(PHASE) ** 2 + 300.0 * np.sin(PHASE))
    storage(folder / "jr.sto", {"time": time, "knee_r_on_tibia_r_in_tibia_r_fy": force})


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("origin", "registered"),
    [
        ((0.0, 0.0, 0.0), True),
        ((3.0, 4.0, 2.0), True),  # of a frame of the bone
        ((0.0, 30.0, 0.0), False),
        ((40.0, 0.0, 0.0), False),
    ],
)
@pytest.mark.slow
def test_registered_files_keep_their_origin(origin, registered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    insert, femoral = closed_insert(n=60), rounded_femoral(n=50)
    moved = femoral.moved(origin if registered else (0.0, 0.0, 0.0))
    turns = grood_suntay(np.radians(FLEXION), 0.0 * PHASE, 0.0 * PHASE)
    gaps = gaps_between(insert, moved, np.zeros((ROWS, 3)), turns)
    recording(tmp_path, -float(np.median(gaps)))
    save_ply(insert.vertices @ AXES, insert.faces, "insert.ply")
    save_ply(femoral.moved(origin).vertices @ AXES, femoral.faces, "femoral.ply")
    created = create_study(
        "own", ["insert.ply"], ["femoral.ply"], motion="ik.mot", load="jr.sto", knee="right"
    )
    settings = yaml.safe_load(created.settings.read_text())
    own = settings["activities"]["own_gait"]
    assert own["motion"]["convention"] == "opensim"
    assert set(own["zero"].values()) == {"file" if registered else "dwell_pose"}
    assert settings["implant"]["meshes"]["femoral"] == (
        "femoral.ply" if registered else "own_femoral.ply"
    )


def clinical_recording(file, height):
    """Clinical angles and all three positions, the femoral origin at a height over the insert."""
    columns = {
        "percent": np.linspace(0.0, 100.0, ROWS),
        "flexion_deg": FLEXION,
        "varus_deg": 0.0 * PHASE,
        "tibial_external_rotation_deg": 2.0 * np.sin(PHASE),
        "femur_anterior_mm": 0.5 * np.cos(PHASE),
        "femur_superior_mm": height + 0.2 * np.cos(PHASE),
        "femur_lateral_mm": 0.0 * PHASE,
        "axial_force_bw": 1.0 + 0.8 * np.sin(PHASE) ** 2,
    }
    pd.DataFrame(columns).to_csv(file, index=False)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("origin", "raised", "registered", "assumed"),
    [
        (0.0, 0.0, True, False),
        pytest.param(4.0, 4.0, True, False, marks=pytest.mark.slow),
        # Of other origins than those of the shapes.
        pytest.param(0.0, 35.0, False, True, marks=pytest.mark.slow),
        pytest.param(-50.0, 0.0, False, True, marks=pytest.mark.slow),
        # From rest, wherever the files are.
        pytest.param(0.0, None, False, False, marks=pytest.mark.slow),
        pytest.param(40.0, None, False, False, marks=pytest.mark.slow),
    ],
)
def test_registered_poses_in_clinical_angles(
    origin, raised, registered, assumed, tmp_path, monkeypatch
):
    """`origin` of the femoral file is above the condyles' axis, `raised` the recorded position."""
    monkeypatch.chdir(tmp_path)
    insert, femoral = closed_insert(n=60), rounded_femoral(n=50).moved([0.0, -origin, 0.0])
    turns = grood_suntay(np.radians(FLEXION), 0.0 * PHASE, 0.0 * PHASE)
    gaps = gaps_between(insert, femoral.moved([0.0, origin, 0.0]), np.zeros((ROWS, 3)), turns)
    rest = -float(np.median(gaps))
    clinical_recording("gait.csv", 0.0 if raised is None else rest + raised)
    save_ply(insert.vertices, insert.faces, "insert.ply")
    save_ply(femoral.vertices, femoral.faces, "femoral.ply")
    shapes = recognise_shapes(
        "own",
        ["insert.ply"],
        ["femoral.ply"],
        "right",
        registered=lambda recognised: is_registered(recognised, "gait.csv", (), "activities.own"),
    )
    assert shapes.is_registered == registered
    if registered:
        assert shapes.files["femoral"] == "femoral.ply"
    assert assumed == any(one.name == "origins" for one in shapes.assumed)
