"""A simulated flexion of the real implant goes through an OpenSim file and comes back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from kneewear.activity.conventions import ANGLES, POSITIONS, femoral_pose
from kneewear.io.curves import read_curves
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from tests.activity.motions import ROOT, motion_settings

DATA = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve() / "gc_dm"
LABELS = ("knee_flex_r", "knee_add_r", "knee_rot_r", "knee_tx_r", "knee_ty_r", "knee_tz_r")
COLUMNS = dict(
    zip(
        (*ANGLES, *POSITIONS),
        LABELS,
        strict=True,
    )
)


def joint_coordinates(table, frames):
    """Tibia in femur, as the joint of the model counts, from the pose of the components.

    All in homogeneous matrices and Euler angles of SciPy, nothing of kneewear.
    """
    flexion, varus, external = np.radians(
        table[["flexion_deg", "varus_deg", "tibial_external_rotation_deg"]].to_numpy().T
    )
    components = np.tile(np.eye(4), (len(table), 1, 1))
    components[:, :3, :3] = Rotation.from_euler(
        "YXZ", np.column_stack([external, varus, -flexion])
    ).as_matrix()
    position = table[["femur_anterior_mm", "femur_superior_mm", "femur_lateral_mm"]].to_numpy()
    components[:, :3, 3] = 1e-3 * position * [-1, 1, -1]
    femoral, insert = frames
    bones = insert @ components @ np.linalg.inv(femoral)
    joint = np.linalg.inv(bones)
    minus_flexion, adduction, rotation = Rotation.from_matrix(joint[:, :3, :3]).as_euler("ZXY").T
    return np.column_stack([-minus_flexion, adduction, rotation, joint[:, :3, 3]])


@pytest.mark.parametrize("degrees", [True, False])
def test_pose_of_the_components_survives_the_model_of_the_leg(tmp_path, degrees):
    if not DATA.is_dir():
        pytest.skip(f"no data in {DATA} (set KNEEWEAR_DATA)")
    table = pd.read_csv(DATA / "jam_passive_flexion_simulated_dm.csv")
    model = {
        name: np.array(rows)
        for name, rows in json.loads((DATA / "frames.json").read_text()).items()
        if name != "units"
    }
    # The joint connects a frame at the knee, not the femur's own, with the tibia's.
    femoral = (
        np.linalg.inv(model["femur_r_offset_in_femur_r"]) @ model["femoral_implant_in_femur_r"]
    )
    insert = model["tibial_implant_in_tibia_r"]
    coordinates = joint_coordinates(table, (femoral, insert))
    if degrees:
        coordinates[:, :3] = np.degrees(coordinates[:, :3])
    rows = np.column_stack([table["time_s"], coordinates])
    head = ["states", "version=3", f"inDegrees={'yes' if degrees else 'no'}", "endheader"]
    lines = ["\t".join(f"{value:.12g}" for value in row) for row in rows]
    path = tmp_path / "flexion.sto"
    path.write_text("\n".join([*head, "\t".join(["time", *LABELS]), *lines]))
    placed = [frame[:3] * [1, 1, 1, 1000] for frame in (femoral, insert)]
    settings = motion_settings(
        "opensim",
        columns={"time_s": "time", **COLUMNS},
        placement={"femoral_mm": placed[0].tolist(), "insert_mm": placed[1].tolist()},
    )
    curves = read_curves(path, settings.columns.given())
    translation, angles = femoral_pose(curves, settings)
    clinical = np.degrees(clinical_angles(body_three_123(angles)))
    wanted = table[["flexion_deg", "varus_deg", "tibial_external_rotation_deg"]]
    np.testing.assert_allclose(clinical, wanted, atol=1e-7)
    np.testing.assert_allclose(-translation[:, 0], table["femur_anterior_mm"], atol=1e-7)
    np.testing.assert_allclose(translation[:, 1], table["femur_superior_mm"], atol=1e-7)
    np.testing.assert_allclose(-translation[:, 2], table["femur_lateral_mm"], atol=1e-7)
