"""Exports of motion capture with several blocks, and of Visual3D, are one table."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.io.curves import read_table

FRAMES = 12
SAMPLES = 10  # of the force plate in each frame


def capture(forces_first):
    """Text of an export of two blocks, force plate and angles."""
    forces = ["Devices", "1000", ",,Plate - Force,,", "Frame,Sub Frame,Fx,Fy,Fz", ",,N,N,N"]
    forces += [
        f"{frame},{sample},1,2,{-100 * frame - sample}"
        for frame in range(1, FRAMES + 1)
        for sample in range(SAMPLES)
    ]
    # Cameras start two frames later.
    angles = ["Model Outputs", "100", ",,A:RKneeAngles,,", "Frame,Sub Frame,X,Y,Z", ",,deg,deg,deg"]
    angles += [f"{frame},0,{frame},1,2" for frame in range(3, FRAMES + 1)]
    events = ["Events", "100", "Subject,Context,Name,Time (s)", "A,Right,Foot Strike,0.41"]
    blocks = [forces, angles] if forces_first else [angles, forces]
    return "\n\n".join("\n".join(block) for block in [events, *blocks]) + "\n"


@pytest.mark.parametrize("forces_first", [True, False])
def test_blocks_of_one_export_are_one_table_of_their_common_frames(forces_first, tmp_path):
    path = tmp_path / "trial.csv"
    path.write_text(capture(forces_first))
    table = read_table(path)
    frames = np.arange(3.0, FRAMES + 1)
    np.testing.assert_array_equal(table.numbers("Frame"), frames)
    np.testing.assert_array_equal(table.numbers("A:RKneeAngles X [deg]"), frames)
    # The sample of a plate at the time of the frame.
    np.testing.assert_array_equal(table.numbers("Plate - Force Fz [N]"), -100.0 * frames)
    assert table.rate_hz == 100.0


def test_variables_of_visual3d_are_above_types_folders_and_components(tmp_path):
    names = "\tRIGHT_KNEE_ANGLE\tRIGHT_KNEE_ANGLE\tRIGHT_HIP_ANGLE\tRIGHT_HIP_ANGLE"
    lines = [
        "\twalk.c3d" * 4,
        names,
        "\tLINK_MODEL_BASED" * 4,
        "\tORIGINAL" * 4,
        "ITEM\tX\tY\tX\tY",
        *(f"{row}\t{10 + row}\t1\t{20 + row}\t2" for row in range(1, 8)),
    ]
    path = tmp_path / "walk.txt"
    path.write_text("\n".join(lines))
    table = read_table(path)
    assert table.titles[0] == "ITEM"
    np.testing.assert_array_equal(table.numbers("RIGHT_KNEE_ANGLE X"), np.arange(11.0, 18.0))
    np.testing.assert_array_equal(table.numbers("RIGHT_HIP_ANGLE X"), np.arange(21.0, 28.0))
