"""Pose files of JointTrack and JTML: read, combined into a motion, and refused when damaged."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter
from scipy.spatial.transform import Rotation

from kneewear.activity.conventions import BEAM, registered_motion
from kneewear.activity.plausibility import judge_motion
from kneewear.activity.settings import FileActivity, Motion, MotionSettings
from kneewear.errors import InputDataError
from kneewear.io.curves import read_activity
from kneewear.io.pose_files import read_both_poses, read_matrix_poses, read_tracked_poses
from kneewear.io.shapes import load_shape
from tests.activity.motions import ROOT
from tests.refusals import refused_at

KNEEL = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data").resolve() / "jtml_kneel_1"
JTS = "JT_EULER_312\n  x_tran, y_tran, z_tran, z_rot, x_rot, y_rot\n"
JTAK = "JTA_EULER_KINEMATICS\nX_TRAN\t\tY_TRAN\t\tZ_TRAN\t\tZ_ROT\t\tX_ROT\t\tY_ROT\n"
UNIT = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
COUNT = 41


def settings(**changed) -> MotionSettings:
    block = {
        "file": "fem.jts",
        "tibial_file": "tib.jts",
        "convention": "jointtrack",
        "frame_rate_hz": 10.0,
        "placement": {"femoral_mm": UNIT, "insert_mm": UNIT},
        "standard_deviation": {"out_of_plane_mm": 4.9},
    }
    return TypeAdapter(Motion).validate_python({**block, **changed})


def knee(count=COUNT):
    """Turn and position of a femoral component on its insert over a cycle, by SciPy alone."""
    turn = 2 * np.pi * np.arange(count) / (count - 1)
    flexion, varus, external = 25 - 20 * np.cos(turn), np.sin(turn), 6 * np.cos(turn)
    turns = Rotation.from_euler("YXZ", np.column_stack([external, varus, -flexion]), degrees=True)
    position = np.column_stack([-4 * np.sin(turn), 40 + np.cos(turn), 0.5 * np.cos(turn)])
    return turns, position, (flexion, varus, external)


def camera_poses(count=COUNT, mirror=1.0):
    """Rows of both pose files for that knee, filmed from the side by a camera that moves."""
    turns, position, _ = knee(count)
    flip = np.diag([mirror, 1.0, 1.0])
    turns = Rotation.from_matrix(flip @ turns.as_matrix() @ flip)
    position = position @ flip
    way = np.linspace(0, 1, count)
    tibial = Rotation.from_euler(
        "ZXY", np.column_stack([5 + 9 * way, -7 + way, 179 + 4 * way]), degrees=True
    )
    place = np.column_stack([20 + way, 15 - way, -1000 + 10 * way])
    femoral, point = tibial * turns, place + tibial.apply(position)
    rows = [
        np.hstack([where, turn.as_euler("ZXY", degrees=True)])
        for where, turn in ((point, femoral), (place, tibial))
    ]
    return rows


def write(folder, name, rows, head=JTS, missing=()):
    lines = [", ".join(f"{v:.9g}" for v in row) for row in rows]
    for number in missing:
        lines[number] = "NOT_OPTIMIZED,0,0,0,0,0,0,"
    path = folder / name
    path.write_text(head + "\n".join(lines) + "\n   \n", encoding="utf-8")
    return path


def build(folder, missing=(), side="right", femoral=None, **changed):
    fem, tib = camera_poses(mirror=1.0 if side == "right" else -1.0)
    files = {
        "motion": write(folder, "fem.jts", fem if femoral is None else femoral, missing=missing),
        "tibial": write(folder, "tib.jts", tib),
        "load": folder / "load.csv",
    }
    pd.DataFrame({"p": np.linspace(0, 100, 11), "f": 1.0}).to_csv(files["load"], index=False)
    activity = FileActivity.model_validate(
        {
            "source": "file",
            "motion": settings(**changed).model_dump(),
            "load": {
                "file": "load.csv",
                "kind": "axial_load",
                "columns": {"percent": "p", "load": "f"},
            },
            "duration_s": 4.0,
            "closing_percent": 0,
        }
    )
    return read_activity("kneel", activity, files, COUNT - 1, side)


class TestReading:
    @pytest.mark.parametrize(
        "text",
        [
            JTS + " 1, 2, 3, 4, 5, 6\n\t\n",
            JTS + "1,2,3,4,5,6",
            JTAK + "1,\t2,\t\t3,\t4,\t5,\t6,\n",
            JTAK.replace("KINEMATICS", "POSE").replace("\n", "\r\n") + "1 2 3 4 5 6",
        ],
    )
    def test_all_forms_of_a_row(self, tmp_path, text):
        path = tmp_path / "one.jts"
        path.write_text(text, encoding="utf-8")
        np.testing.assert_array_equal(read_tracked_poses(path), [[1, 2, 3, 4, 5, 6]])

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("percent,flexion\n1,2\n", "line 1: found 'percent,flexion'"),
            ("JT_INTCALIB\n1198\n", "line 1: found 'JT_INTCALIB'"),
            ("JT_EULER_312\n", "line 2: found ''"),
            ("JT_EULER_312\nx,y,z\n1,2,3\n", "line 2: found 'x,y,z'"),
            (JTS, "found no rows"),
            (JTS + "1,2,3,4,5\n", "line 3: found '1,2,3,4,5'; expected six finite numbers"),
            (JTS + "1,2,3,4,5,6\n1,2,3,4,5,nan\n", "line 4: found '1,2,3,4,5,nan'"),
            (JTS + "1,2,3,4,5,x\n", "line 3"),
        ],
    )
    def test_other_content_is_refused_with_its_line(self, tmp_path, text, found):
        path = tmp_path / "fem.jts"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputDataError) as caught:
            read_tracked_poses(path)
        assert found in str(caught.value)

    def test_files_that_do_not_belong_together(self, tmp_path):
        one = write(tmp_path, "fem.jts", np.ones((5, 6)), missing=[2])
        short = write(tmp_path, "short.jts", np.ones((4, 6)))
        assert refused_at(read_both_poses, one, short) == "short.jts"
        copy = write(tmp_path, "tib.jts", np.ones((5, 6)), missing=[2])
        assert refused_at(read_both_poses, one, copy) == "tib.jts"


class TestMotion:
    @pytest.mark.parametrize("side", ["right", "left"])
    def test_relative_pose_is_that_of_the_knee(self, tmp_path, side):
        activity = build(tmp_path, side=side)
        _, position, (flexion, varus, external) = knee()
        np.testing.assert_allclose(activity.translation, position[:-1], atol=1e-5)
        angles = activity.rotation
        again = Rotation.from_euler("XYZ", angles).as_euler("YXZ", degrees=True).T
        np.testing.assert_allclose(again, [external[:-1], varus[:-1], -flexion[:-1]], atol=1e-5)

    def test_placement_moves_mesh_frames_into_component_axes(self, tmp_path):
        """Meshes with x anterior and z lateral, and origins of their own."""
        turned = [[-1, 0, 0, 3.0], [0, 1, 0, -5.0], [0, 0, -1, 2.0]]
        fem, tib = camera_poses()
        other = registered_motion(
            fem, tib, settings(placement={"femoral_mm": turned, "insert_mm": turned}), "right"
        )
        plain = registered_motion(fem, tib, settings(), "right")
        matrix = np.diag([-1.0, 1.0, -1.0])
        turns, position, _ = knee()
        origin = np.array(turned)[:, 3]
        expected = (turns.apply(origin) + position - origin) @ matrix
        names = ["anterior_posterior", "superior_inferior", "medial_lateral"]
        np.testing.assert_allclose(other[names] * [-1, 1, -1], expected, atol=1e-9)
        np.testing.assert_allclose(other[list(BEAM)], plain[list(BEAM)] @ matrix, atol=1e-12)

    def test_missing_frames_are_bridged_and_counted(self, tmp_path):
        activity = build(tmp_path, missing=[7, 20])
        assert "2 of 41 frames were not registered; a spline bridges them" in activity.notes
        np.testing.assert_allclose(activity.translation, knee()[1][:-1], atol=1e-3)

    @pytest.mark.parametrize(
        "missing",
        [
            [0],
            [40],
            [10, 11, 12],
        ],
    )
    def test_too_much_missing_is_refused(self, tmp_path, missing):
        with pytest.raises(InputDataError):
            build(tmp_path, missing=missing)

    def test_error_along_the_beam_is_a_standard_deviation(self, tmp_path):
        given = {"out_of_plane_mm": 4.9, "anterior_posterior_mm": 0.5, "flexion_deg": 1.0}
        activity = build(tmp_path, standard_deviation=given)
        _, tib = camera_poses()
        beam = Rotation.from_euler("ZXY", tib[:, 3:], degrees=True).inv().apply([0, 0, 1])
        size = 4.9 * np.sqrt(np.mean(beam**2, axis=0))
        np.testing.assert_allclose(
            activity.deviation[:3], [np.hypot(0.5, size[0]), size[1], size[2]], rtol=1e-6
        )
        assert activity.deviation[5] == pytest.approx(np.radians(1.0))
        assert size[2] > 4.8
        assert any("4.9 mm along the x-ray beam" in note for note in activity.notes)


@pytest.mark.skipif(not KNEEL.is_dir(), reason=f"no data in {KNEEL} (set KNEEWEAR_DATA)")
class TestKneeling:
    def test_both_condyles_lie_on_the_polyethylene(self):
        poses = read_both_poses(KNEEL / "fem.jts", KNEEL / "tib.jts")
        motion = registered_motion(*poses, settings(), "right")
        # "About 107 deg" in formats.md.
        np.testing.assert_allclose(motion["flexion"], 107.0, atol=1.0)
        femur = load_shape(KNEEL / "KR_right_7_fem.stl").vertices.copy()
        names = ["anterior_posterior", "superior_inferior", "medial_lateral"]
        lowest = []
        for row in motion.to_dict("records"):
            turn = Rotation.from_euler(
                "YXZ", [row["rotation"], row["varus"], -row["flexion"]], degrees=True
            )
            place = np.array([row[name] for name in names]) * [-1, 1, -1]
            points = turn.apply(femur) + place
            lowest.append([points[way * points[:, 2] > 5, 1].min() for way in (1, -1)])
        # See formats.md of the data: 11.50 and 11.32 mm above the tray's origin.
        np.testing.assert_allclose(lowest[0], [11.50, 11.32], atol=0.01)
        assert np.abs(np.diff(lowest)).max() < 0.2


def matrices(rows):
    """4x4 matrices (n, 4, 4) of poses, by SciPy alone."""
    found = np.tile(np.eye(4), (len(rows), 1, 1))
    found[:, :3, :3] = Rotation.from_euler("ZXY", rows[:, 3:], degrees=True).as_matrix()
    found[:, :3, 3] = rows[:, :3]
    return found


def write_matrices(folder, name, values, separator=",", lines_per_frame=1):
    rows = np.asarray(values).reshape(-1, 16 // lines_per_frame)
    text = "\n".join(separator.join(f"{one:.9g}" for one in row) for row in rows)
    (folder / name).write_text(text + "\n", encoding="utf-8")
    return folder / name


class TestMatrices:
    @pytest.mark.parametrize("order", ["row", "column"])
    @pytest.mark.parametrize(("separator", "lines"), [(",", 1), (" ", 4), (", ", 4)])
    def test_matrices_are_the_poses_they_were_made_from(self, tmp_path, order, separator, lines):
        femoral, _ = camera_poses()
        values = matrices(femoral)
        values = values if order == "row" else values.swapaxes(1, 2)
        values[3] = np.nan
        path = write_matrices(tmp_path, "fem.tra", values, separator, lines)
        found = read_matrix_poses(path)
        assert np.isnan(found[3]).all()
        known = np.arange(COUNT) != 3
        np.testing.assert_allclose(found[known, :3], femoral[known, :3], atol=1e-5)
        turned = matrices(found[known])[:, :3, :3]
        np.testing.assert_allclose(turned, matrices(femoral[known])[:, :3, :3], atol=1e-7)

    def test_an_activity_is_that_of_the_same_poses_of_jointtrack(self, tmp_path):
        first = build(tmp_path)
        files = {"motion": "fem.tra", "tibial": "tib.tra"}
        for name, rows in zip(files.values(), camera_poses(), strict=True):
            write_matrices(tmp_path, name, matrices(rows).swapaxes(1, 2))
        block = {
            "source": "file",
            "duration_s": 4.0,
            "closing_percent": 0,
            "motion": settings(
                convention="matrices", file="fem.tra", tibial_file="tib.tra"
            ).model_dump(),
            "load": {
                "file": "load.csv",
                "kind": "axial_load",
                "columns": {"percent": "p", "load": "f"},
            },
        }
        paths = {part: tmp_path / name for part, name in files.items()}
        paths["load"] = tmp_path / "load.csv"
        other = read_activity(
            "kneel", FileActivity.model_validate(block), paths, COUNT - 1, "right"
        )
        np.testing.assert_allclose(other.translation, first.translation, atol=1e-5)
        np.testing.assert_allclose(other.rotation, first.rotation, atol=1e-7)

    @pytest.mark.parametrize(("factor", "noticed"), [(1.0, False), (0.1, True)])
    def test_positions_in_centimetres_are_noticed(self, tmp_path, factor, noticed):
        """Autoscoper saves positions in mm or cm, and no line of the file tells which."""
        for name, rows in zip(("fem.tra", "tib.tra"), camera_poses(), strict=True):
            write_matrices(tmp_path, name, matrices(rows * np.repeat([factor, 1.0], 3)))
        chosen = settings(convention="matrices", file="fem.tra", tibial_file="tib.tra")
        poses = read_both_poses(tmp_path / "fem.tra", tmp_path / "tib.tra", "matrices")
        motion = registered_motion(*poses, chosen, "right")
        motion["percent"] = np.linspace(0, 100, COUNT)
        checks = {finding.check for finding in judge_motion(motion, chosen)}
        assert ("motion.anterior_posterior_range" in checks) == noticed

    @pytest.mark.parametrize(
        ("changed", "place"),
        [
            (lambda one: one[:, 0, :3], "fem.tra, line 1"),  # three numbers
            (lambda one: one.reshape(-1, 16)[:, :6], "fem.tra, line 1"),  # xyzypr
            (lambda one: one.reshape(-1, 4)[:-1], "fem.tra"),  # cut off
            (lambda one: one * [1, 1, 1, 2], "fem.tra"),  # no row 0, 0, 0, 1
            (lambda one: one * [[1.1], [1.1], [1.1], [1.0]], "fem.tra, frame 1"),  # scaled
            (lambda one: one * [[-1.0], [1], [1], [1]], "fem.tra, frame 1"),  # mirrored
            (lambda one: one * [1, 1, 1, 0] + np.diag([0, 0, 0, 1]), "fem.tra"),  # no positions
            (
                lambda one: one / [[1, 1, 1, 1000.0]] * [1, 1, 1, 1] + np.diag([0, 0, 0, 0.999]),
                "fem.tra",
            ),  # metres
        ],
    )
    def test_other_forms_are_refused(self, tmp_path, changed, place):
        values = changed(matrices(camera_poses()[0]))
        text = "\n".join(
            ",".join(f"{one:.9g}" for one in row) for row in values.reshape(-1, values.shape[-1])
        )
        path = tmp_path / "fem.tra"
        path.write_text(text + "\n", encoding="utf-8")
        assert refused_at(read_matrix_poses, path) == place

    def test_a_row_of_words_is_refused(self, tmp_path):
        path = write_matrices(tmp_path, "fem.tra", matrices(camera_poses()[0]))
        path.write_text(path.read_text().replace("0,0,0,1", "0,0,x,1", 1), encoding="utf-8")
        assert refused_at(read_matrix_poses, path) == "fem.tra, line 1"
