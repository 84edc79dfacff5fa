"""Decimal signs and signs between thousands are those of whole columns, in every reader."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from kneewear.evidence.measurements.files import read_pressure_map
from kneewear.io.curves import read_table
from kneewear.io.numerals import is_number, plain_columns, split_numbers
from kneewear.io.pose_files import read_matrix_poses
from kneewear.io.shapes import load_shape
from kneewear.io.text_tables import TextTable
from tests.refusals import refused_at

# Values, and how files in a convention have them: name, decimal sign, sign between thousands.
CONVENTIONS = {
    "point": (".", ""),
    "comma": (",", ""),
    "German": (",", "."),
    "English": (".", ","),
    "Swiss": (".", "'"),
    "French": (",", "\u202f"),
    "blanks": (",", " "),
}
VALUES = [[0.5, 1234.5, -1234567.25], [12.25, 2.0, 1500.0], [-3.125, 0.0, 999.0]]


def written(value, convention, minus="-"):
    decimal, group = CONVENTIONS[convention]
    text = f"{value:,}".replace(",", "\0").replace(".", decimal).replace("\0", group)
    return text.replace("-", minus)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("minus", ["-", "\u2212", "\u2013"])
def test_columns_of_any_convention_become_numbers(convention, minus):
    rows = [[written(value, convention, minus) for value in row] for row in VALUES]
    assert np.array(plain_columns(rows), dtype=float).tolist() == VALUES


@pytest.mark.parametrize(
    ("column", "plain"),
    [
        # The column tells: leading zeros, other counts of decimals, exponents, groups.
        (["1,234", "0,512"], ["1.234", "0.512"]),
        (["1,234", "12,5"], ["1.234", "12.5"]),
        (["1,234", "1234,567"], ["1.234", "1234.567"]),
        (["1,234", "1,234e-3"], ["1.234", "1.234e-3"]),
        (["1,234", "1,234,567"], ["1234", "1234567"]),
        (["1,234", "1,234.5"], ["1234", "1234.5"]),
        (["1,234", "56.75"], ["1234", "56.75"]),
        (["1.234", "1.234.567"], ["1234", "1234567"]),
        (["1.234", "1.234,5"], ["1234", "1234.5"]),
        (["1.234", "2.345"], ["1.234", "2.345"]),
        (["1.0D+03", "2.5d-1"], ["1.0e+03", "2.5e-1"]),
        ([",5", "-,25"], [".5", "-.25"]),
        # It does not, or is of two: cells stay, and are refused as numbers.
        (["1,234", "2,345"], ["1,234", "2,345"]),
        (["12,5", "4.25"], ["12,5", "4.25"]),
        # No numbers.
        (["28.11.2026", "a,b"], ["28.11.2026", "a,b"]),
        (["1.2.3", "10,20,30"], ["1.2.3", "10,20,30"]),
        (["", "nan", "-inf", "0x1"], ["", "nan", "-inf", "0x1"]),
    ],
)
def test_a_column_is_read_as_one(column, plain):
    assert [row[0] for row in plain_columns([[cell] for cell in column])] == plain


def test_other_columns_tell_where_one_does_not():
    rows = [["0,5", "1.234", "1,234"], ["0,75", "2.345", "2,345"]]
    assert plain_columns(rows) == [["0.5", "1234", "1.234"], ["0.75", "2345", "2.345"]]
    rows = [["0.5", "1,234"], ["0.75", "2,345"]]
    assert plain_columns(rows) == [["0.5", "1234"], ["0.75", "2345"]]


@pytest.mark.parametrize("cell", ["1", "-1.5", "1,5", "1.234,5", "1 234", "1e5", "nan", ".5"])
def test_numbers_are_numbers(cell):
    assert is_number(cell)


@pytest.mark.parametrize("cell", ["", "a", "1,2,3", "1.2.3", "-", ".", "1,", "12-5", "1e"])
def test_other_text_is_none(cell):
    assert not is_number(cell)


def lines_of(values, separator, convention):
    stream = io.StringIO()
    rows = [[written(value, convention) for value in row] for row in values]
    if separator in ",;\t":
        csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)
        return stream.getvalue()
    return "".join(separator.join(row) + "\n" for row in rows)


FORMS = [
    (separator, convention)
    for separator in (";", "|", "\t", " ", ", ", ",")
    for convention in ("point", "comma", "German", "English")
    # Between commas cells with commas are quoted, as spreadsheets do.
    if separator != ", " or convention == "point"
]
POINTS = [[-22.211, 10.743, -10.497], [-21.056, 10.302, -10.125], [1520.5, 0.25, 3.0]]


@pytest.mark.parametrize(("separator", "convention"), FORMS)
@pytest.mark.parametrize("header", ["", "x{0}y{0}z\n"])
def test_points_are_read_in_every_form(tmp_path, separator, convention, header):
    path = tmp_path / "points.xyz"
    path.write_text(header.format(separator) + lines_of(POINTS, separator, convention))
    np.testing.assert_array_equal(load_shape(path).vertices, sorted(POINTS))


@pytest.mark.parametrize("header", ["", "x,y,z\n"])
def test_points_of_decimal_commas_between_commas_are_refused(tmp_path, header):
    path = tmp_path / "points.csv"
    path.write_text(header + "".join(f"{n},5,-{2 * n},25,{n % 3},125\n" for n in range(60)))
    line = 1 + header.count("\n")
    assert refused_at(load_shape, path) == f"points.csv, line {line}"
    # Colours and normals follow numbers with points.
    path.write_text(header + "".join(f"{n}.5,{2 * n},{n % 3},255,0,10\n" for n in range(60)))
    assert len(load_shape(path).vertices) == 60


@pytest.mark.parametrize("separator", ["\t", " ", ";"])
def test_points_of_three_decimals_alone_have_decimal_commas(tmp_path, separator):
    path = tmp_path / "points.txt"
    path.write_text(lines_of(POINTS[:2], separator, "comma").replace("0,125", "0,126"))
    assert np.abs(load_shape(path).vertices).max() < 23.0


@pytest.mark.parametrize(("separator", "convention"), FORMS)
def test_maps_of_pressure_are_read_in_every_form(tmp_path, separator, convention):
    cells = [[0.0, 1.25, 12.5, 0.0], [0.5, 20.0, 3.125, 0.0]]
    path = tmp_path / "map.csv"
    path.write_text("# MPa\n" + lines_of(cells, separator, convention))
    assert read_pressure_map(path).tolist() == cells


@pytest.mark.parametrize(("separator", "convention"), FORMS)
@pytest.mark.parametrize("width", [4, 16])
def test_matrices_are_read_in_every_form(tmp_path, separator, convention, width):
    matrix = np.eye(4)
    matrix[:3, 3] = 35.7666447, 88.5, -1704.75
    matrices = np.array([matrix, matrix])
    path = tmp_path / "femur.tra"
    path.write_text(lines_of(matrices.reshape(-1, width).tolist(), separator, convention))
    assert read_matrix_poses(path)[1].tolist() == [35.7666447, 88.5, -1704.75, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("separator", [";", "\t", ","])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_tables_are_read_in_every_form(tmp_path, separator, convention):
    if (separator.isspace() and separator != "\t") or separator == ", ":
        pytest.skip("no separator of a table")
    path = tmp_path / "table.csv"
    path.write_text(f"a{separator}b{separator}c\n" + lines_of(VALUES, separator, convention))
    table = TextTable.read(path, "a table")
    assert [table.numbers(name).tolist() for name in "abc"] == np.transpose(VALUES).tolist()


@pytest.mark.parametrize("ending", [".csv", ".txt", ".sto"])
@pytest.mark.parametrize("convention", ["point", "comma", "German"])
def test_curves_are_read_in_every_form(tmp_path, ending, convention):
    path = tmp_path / f"curves{ending}"
    values = [[0.25 * n, 1000.0 + 250.5 * n] for n in range(6)]
    head = "inDegrees=yes\nendheader\n" if ending == ".sto" else ""
    head = "A recording\n\n" if ending == ".txt" else head
    path.write_text(f"{head}time\tload\n" + lines_of(values, "\t", convention))
    assert read_table(path).numbers("load").tolist() == [row[1] for row in values]


def test_commas_that_may_be_either_are_refused_at_their_cell(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name;load_n\na;1,234\nb;2,345\n")
    place = "table.csv, column 'load_n', data row 1"
    assert refused_at(TextTable.read(path, "a table").numbers, "load_n") == place
    path.write_text("name;load_n\na;12,5\nb;4.25\n")
    assert refused_at(TextTable.read(path, "a table").numbers, "load_n") == place


def test_names_with_commas_stay(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('name,load\n"1,5 mm left",2\n')
    assert TextTable.read(path, "a table").text["name"].tolist() == ["1,5 mm left"]


def test_cells_of_lines_keep_their_place():
    assert split_numbers(["1;;3;", "4;5;6"]) == [["1", "", "3"], ["4", "5", "6"]]
    assert split_numbers(["x y z", "1 2 3"]) == [["x", "y", "z"], ["1", "2", "3"]]
    assert split_numbers(["x (mm),y (mm)", "1, 2"]) == [["x (mm)", "y (mm)"], ["1", "2"]]
    assert split_numbers([]) == []
