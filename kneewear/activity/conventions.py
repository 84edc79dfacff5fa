"""Conventions of motion files, and their conversion to the pose of this project.

This project: the femoral component moves on the insert; x posterior, y superior, z medial, all
knees as right ones. With R = Ry(external rotation) Rx(varus) Rz(-flexion) (Grood and Suntay 1983)
for the turn of the femur, flexion is -theta_z, varus +theta_x and tibial external rotation
+theta_y.

==================== ======= ========= ================ ============= ========= ==================
convention           flexion varus     rotation         anterior-     superior- medial-lateral
                                                        posterior     inferior
==================== ======= ========= ================ ============= ========= ==================
grood-suntay         flexed  varus     tibia external   femur anter.  superior  femur lateral
body-123             flexed  varus     tibia external   femur anter.  superior  femur lateral
opensim              flexed  adduction tibia internal   tibia anter.  tibia up  tibia lateral
iso14243-3:2004      flexed  -         tibia internal   tibia anter.  -         -
iso14243-3:2014      flexed  -         tibia internal   tibia anter.  -         -
jointtrack, matrices as grood-suntay, once the reader has combined the poses of both components
signs                by the six signs; angles and axes as grood-suntay
==================== ======= ========= ================ ============= ========= ==================

Further differences:

- grood-suntay: the angles are the clinical ones; the position is that of the femoral origin along
  the axes of the insert (not along the three axes of the joint), as fluoroscopy gives it.
- body-123: the angles are body-three 1-2-3 ones, in the order varus, rotation, flexion.
- opensim: coordinates of the six-degree-of-freedom knee of Lenhart et al. (2015) and Smith et al.
  (2019), right knees: the tibia in the femur, R = Rz(-flexion) Rx(adduction) Ry(rotation), position
  of the tibial origin along the axes of the femur (x anterior, y superior, z lateral). The pose is
  inverted as a whole; reversing signs would leave the position wrong by centimetres.
- iso14243-3: the tibia is displaced across both its own axis and the flexion axis, and turned about
  its own axis, from the pose at rest. The standard itself was not available: anterior and internal
  motion of the tibia are assumed positive in both editions. Their curves have opposite signs: AP
  displacement mainly negative and rotation mainly positive in 2004, the reverse in 2014 (Wang et
  al. 2018, PLoS ONE 13:e0206496, abstract). A file that differs from its edition gives a warning.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.settings import (
    IsoMotion,
    MotionSettings,
    OpenSimMotion,
    PlacementSettings,
    RegisteredMotion,
    SignedMotion,
)
from kneewear.mechanics.rotations import (
    angles_123,
    body_three_123,
    clinical_angles,
    grood_suntay,
    turns_312,
)

Array = NDArray[np.float64]

ANGLES = ("flexion", "varus", "rotation")
POSITIONS = ("anterior_posterior", "superior_inferior", "medial_lateral")
POSE = (*ANGLES, *POSITIONS)
# Direction of the x-ray beam along the insert's axes, of motion from fluoroscopy.
BEAM = ("beam_posterior", "beam_superior", "beam_medial")
# Signs of flexion, varus, tibial external rotation, and of the femur posterior, superior, medial.
_FEMUR = (1, 1, 1, -1, 1, -1)
_TIBIA = (1, 1, -1, 1, -1, 1)
_SIGNS = {
    "grood-suntay": _FEMUR,
    "body-123": _FEMUR,
    "jointtrack": _FEMUR,
    "matrices": _FEMUR,
    "opensim": _TIBIA,
    "iso14243-3:2004": _TIBIA,
    "iso14243-3:2014": _TIBIA,
}
# Axes of OpenSim (anterior, superior, right) in this frame, for a right knee.
_OPENSIM_AXES = np.diag([-1.0, 1.0, -1.0])


def column_signs(settings: MotionSettings) -> dict[str, int]:
    """Sign of each column of a motion file.

    1 where it grows with flexion, varus, external tibial rotation, posterior, superior or medial
    translation of the femur; -1 for the contrary.
    """
    given = settings.signs if isinstance(settings, SignedMotion | IsoMotion) else None
    if given is None:
        return dict(zip(POSE, _SIGNS[settings.convention], strict=True))
    values = (
        given.flexion,
        given.varus,
        given.tibial_external_rotation,
        -given.femur_anterior,
        given.femur_superior,
        -given.femur_lateral,
    )
    return dict(zip(POSE, values, strict=True))


def femoral_pose(motion: pd.DataFrame, settings: MotionSettings) -> tuple[Array, Array]:
    """Pose of the femoral component in the insert's frame.

    Angles are converted by the full rotation matrix: clinical ones used as body-three angles would
    be wrong by some 0.2 deg.

    Parameters
    ----------
    motion : DataFrame
        Columns flexion, varus, rotation (deg), anterior_posterior, superior_inferior and
        medial_lateral (mm) in the sense of the convention; missing ones are zero.
    settings : MotionSettings
        Convention, with its reference or placement.

    Returns
    -------
    translation, rotation : array, shape (n, 3)
        mm, x posterior, y superior, z medial; and body-three 1-2-3 angles, rad, without jumps.
    """
    absent = np.zeros(len(motion))
    values = {name: motion[name].to_numpy(float) if name in motion else absent for name in POSE}
    if isinstance(settings, OpenSimMotion):
        translation, matrix = _inverted(values, settings.placement)
    else:
        ways = column_signs(settings)
        flexion, varus, external = (ways[name] * np.radians(values[name]) for name in ANGLES)
        translation = np.column_stack([ways[name] * values[name] for name in POSITIONS])
        matrix = grood_suntay(flexion, varus, external)
        if settings.convention == "body-123":
            matrix = body_three_123(np.column_stack([varus, external, -flexion]))
        elif isinstance(settings, IsoMotion):
            translation[:, 0] += settings.reference_posterior_mm
            # Along the machine's axes, which are fixed while the tibia rotates.
            turned = grood_suntay(0.0, 0.0, external)
            translation = np.einsum("...ij,...j->...i", turned, translation)
    return translation, np.unwrap(angles_123(matrix), axis=0)


def _inverted(values: dict[str, Array], placement: PlacementSettings | None) -> tuple[Array, Array]:
    """Pose of the femoral component in the insert from that of the tibia in the femur."""
    flexion, adduction, internal = (np.radians(values[name]) for name in ANGLES)
    # The transpose of Rz(-flexion) Rx(adduction) Ry(rotation) is Ry(-rotation) Rx(-adduction)
    # Rz(flexion), of the form `grood_suntay` makes.
    turn = grood_suntay(-flexion, -adduction, -internal)
    tibia = np.column_stack([values[name] for name in POSITIONS])
    return _placed(turn, -np.einsum("nij,nj->ni", turn, tibia), placement)


def _placed(turn: Array, shift: Array, placement: PlacementSettings | None) -> tuple[Array, Array]:
    """Pose of the femoral component in the insert from that of the femoral body in the tibial."""
    femoral = insert = np.hstack([_OPENSIM_AXES, np.zeros((3, 1))])
    if placement is not None:
        femoral, insert = np.array(placement.femoral_mm), np.array(placement.insert_mm)
    axes, origin = insert[:, :3], insert[:, 3]
    matrix = axes.T @ turn @ femoral[:, :3]
    translation = (turn @ femoral[:, 3] + shift - origin) @ axes
    return translation, matrix


def registered_motion(
    femoral: Array, tibial: Array, settings: RegisteredMotion, knee: str
) -> pd.DataFrame:
    """Motion of the femoral component on the insert from registered poses of both.

    The pose of the femur in the tibia is inv(T_tibial) T_femoral, with T of R = Rz Rx Ry. A left
    knee, whose right-handed component frames have x anterior, becomes its mirror image.

    Parameters
    ----------
    femoral, tibial : array, shape (n, 6)
        Poses as of `kneewear.io.pose_files.read_tracked_poses`, mm and deg; not-a-number where
        missing.
    settings : RegisteredMotion
        Frame rate, and placement of the components' axes in the frames of the registered meshes.
    knee : str
        "right" or "left".

    Returns
    -------
    DataFrame
        Columns time_s, the pose in the sense of grood-suntay (deg and mm), and `BEAM`; not-a-number
        where a component was not registered.
    """
    one, other = (turns_312(np.radians(poses[:, 3:])) for poses in (tibial, femoral))
    back = one.swapaxes(1, 2)
    shift = np.einsum("nij,nj->ni", back, femoral[:, :3] - tibial[:, :3])
    translation, matrix = _placed(back @ other, shift, settings.placement)
    beam = back[:, :, 2] @ np.array(settings.placement.insert_mm)[:, :3]
    if knee == "left":
        mirror = np.array([-1.0, 1.0, 1.0])
        translation, beam = translation * mirror, beam * mirror
        matrix = matrix * np.outer(mirror, mirror)
    flexion, varus, rotation = np.degrees(clinical_angles(matrix)).T
    values = (flexion, varus, rotation, *(translation * (-1.0, 1.0, -1.0)).T, *beam.T)
    time = np.arange(len(beam)) / settings.frame_rate_hz
    return pd.DataFrame({"time_s": time, **dict(zip((*POSE, *BEAM), values, strict=True))})
