"""Tables of bundles, muscles and wrap objects, and one message per fault in them."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.knees.tissue.files import (
    FileFrame,
    read_ligaments,
    read_muscle_tensions,
    read_muscles,
    read_wrap_objects,
)
from tests.refusals import refused_at

FRAMES = {
    "femur_r": FileFrame("femur", (10.0, 0.0, 0.0)),
    "tibia_r": FileFrame("tibia"),
    "patella": FileFrame("patella"),
}
BODIES = ("femur", "tibia", "patella")
HEADER = (
    "bundle,body_1,x1_mm,y1_mm,z1_mm,body_2,x2_mm,y2_mm,z2_mm,"
    "linear_stiffness_n_per_strain,slack_length_mm,wrap_object"
)
ROW = "MCL1,femur_r,1,2,3,tibia_r,4,-5,6,500,60.5,Med"


def ligaments(folder, *rows, header=HEADER):
    path = folder / "ligaments.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_points_are_moved_into_the_frames_of_the_bodies(tmp_path):
    path = ligaments(tmp_path, ROW, "MCL2,tibia_r,0,0,0,femur_r,0,0,0,300,40,")
    found = read_ligaments(path, FRAMES, BODIES)
    assert found.bundles.names == ("MCL1", "MCL2")
    assert found.wrap_objects == ("Med", "")
    np.testing.assert_array_equal(found.bundles.arrays.body, [0, 1, 1, 0])
    np.testing.assert_array_equal(found.bundles.arrays.point[:2], [[11, 2, 3], [4, -5, 6]])
    assert found.bundles.law.tension(np.array([60.5, 40.0]) * 1.1) == pytest.approx([35.0, 21.0])


@pytest.mark.parametrize(
    ("row", "header", "place"),
    [
        (ROW.replace("tibia_r", "tibea_r"), HEADER, "ligaments.csv, column 'body_2', data row 2"),
        (
            ROW.replace("500", "0"),
            HEADER,
            "ligaments.csv, column 'linear_stiffness_n_per_strain', data row 2",
        ),
        (ROW.replace("60.5", "-1"), HEADER, "ligaments.csv, column 'slack_length_mm', data row 2"),
        (ROW.replace("-5", "low"), HEADER, "ligaments.csv, column 'y2_mm', data row 2"),
        (ROW.replace("-5", ""), HEADER, "ligaments.csv, column 'y2_mm', data row 2"),
        (ROW, HEADER.replace("x1_mm", "x1"), "ligaments.csv, header"),
    ],
)
def test_a_fault_in_a_row_is_named(tmp_path, row, header, place):
    good = ROW.replace("MCL1", "MCL0")
    assert (
        refused_at(read_ligaments, ligaments(tmp_path, good, row, header=header), FRAMES, BODIES)
        == place
    )


def test_a_bundle_occurs_once(tmp_path):
    assert (
        refused_at(read_ligaments, ligaments(tmp_path, ROW, ROW), FRAMES, BODIES)
        == "ligaments.csv, column 'bundle', data row 2"
    )


def test_a_table_has_rows(tmp_path):
    assert refused_at(read_ligaments, ligaments(tmp_path), FRAMES, BODIES) == "ligaments.csv"


MUSCLES = """muscle,max_isometric_force_n,point,body,x_mm,y_mm,z_mm,wrap_object
recfem,848.8,1,pelvis,0,0,0,Knee
recfem,848.8,2,femur_r,1,2,3,Knee
recfem,848.8,3,patella,4,5,6,Knee
"""


def test_muscles_keep_the_points_on_known_bodies(tmp_path):
    path = tmp_path / "quadriceps.csv"
    path.write_text(MUSCLES, encoding="utf-8")
    (muscle,) = read_muscles(path, FRAMES)
    assert (muscle.name, muscle.force, muscle.wrap_object) == ("recfem", 848.8, "Knee")
    assert [body for body, _ in muscle.path] == ["femur", "patella"]
    np.testing.assert_array_equal(muscle.path[0][1], [11, 2, 3])
    path.write_text(MUSCLES.replace("patella", "sesamoid"), encoding="utf-8")
    assert refused_at(read_muscles, path, FRAMES) == "quadriceps.csv, muscle recfem"


TENSIONS = "muscle,length_mm,tension_n\nsart,500,1\nsart,520,3\ngrac,400,2\n"


def test_tensions_of_muscles_are_read_by_name(tmp_path):
    path = tmp_path / "tensions.csv"
    path.write_text(TENSIONS + "grac,410,5\n", encoding="utf-8")
    law = read_muscle_tensions(path, ("grac", "sart"))
    np.testing.assert_allclose(law.tension([410.0, 500.0]), [5.0, 1.0])


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ("", "tensions.csv, muscle grac"),
        ("grac,390,3\n", "tensions.csv, column 'length_mm', data row 4"),
        ("grac,410,-3\n", "tensions.csv, column 'tension_n', data row 4"),
        ("grac,410,x\n", "tensions.csv, column 'tension_n', data row 4"),
    ],
)
def test_a_faulty_table_of_tensions_is_named(tmp_path, rows, place):
    path = tmp_path / "tensions.csv"
    path.write_text(TENSIONS + rows, encoding="utf-8")
    assert refused_at(read_muscle_tensions, path, ("grac", "sart")) == place


WRAPS = (
    "name,kind,body,translation_x_mm,translation_y_mm,translation_z_mm,rotation_x_rad,"
    "rotation_y_rad,rotation_z_rad,radius_or_semiaxis_x_mm,semiaxis_y_mm,semiaxis_z_mm,"
    "length_mm,used_by\n"
)


def test_wrap_objects_are_placed_in_their_body(tmp_path):
    path = tmp_path / "wrap_objects.csv"
    path.write_text(WRAPS + "Knee,cylinder,femur_r,1,2,3,0,0,0.5,29.5,,,211,a b\n", "utf-8")
    (found,) = read_wrap_objects(path, FRAMES)
    assert (found.kind, found.body, found.used_by) == ("cylinder", "femur", ("a", "b"))
    assert found.translation == (11.0, 2.0, 3.0)
    assert (found.size[0], found.length) == (29.5, 211.0)


def test_a_side_of_a_wrap_object_has_three_numbers(tmp_path):
    path = tmp_path / "wrap_objects.csv"
    header, row = WRAPS.replace("used_by", "used_by,side"), "Knee,sphere,femur_r,0,0,0,0,0,0,1,,,,"
    for text, side in (("1 0 -2", (1.0, 0.0, -2.0)), ("", (0.0, 0.0, 0.0))):
        path.write_text(f"{header}{row},{text}\n", encoding="utf-8")
        assert read_wrap_objects(path, FRAMES)[0].side == side
    path.write_text(f"{header}{row},anterior\n", encoding="utf-8")
    assert (
        refused_at(read_wrap_objects, path, FRAMES) == "wrap_objects.csv, column 'side', data row 1"
    )


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ("Knee,torus,femur_r,0,0,0,0,0,0,1,,,1,", "wrap_objects.csv, column 'kind', data row 1"),
        (
            "Knee,cylinder,femur_r,0,0,0,0,0,0,,,,1,",
            "wrap_objects.csv, column 'radius_or_semiaxis_x_mm', data row 1",
        ),
        (
            "Knee,ellipsoid,femur_r,0,0,0,0,0,0,1,0,1,,",
            "wrap_objects.csv, column 'semiaxis_y_mm', data row 1",
        ),
    ],
)
def test_a_faulty_wrap_object_is_named(tmp_path, row, place):
    path = tmp_path / "wrap_objects.csv"
    path.write_text(WRAPS + row + "\n", encoding="utf-8")
    assert refused_at(read_wrap_objects, path, FRAMES) == place
