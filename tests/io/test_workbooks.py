"""Workbooks are read as the tables that a spreadsheet program exports of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook

from kneewear.errors import InputDataError
from kneewear.io.curves import read_curves
from kneewear.io.workbooks import sheet_text

PERCENT = np.linspace(0.0, 100.0, 21)
CURVES = pd.DataFrame(
    {"Gait cycle (%)": PERCENT, "Flexion (deg)": 5.0 + PERCENT / 2, "Load (BW)": 2.0 + 0 * PERCENT}
)


def write_workbook(path, sheets):
    """Write sheets of rows; None is a cell that is not stored."""
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def rows_of(table):
    return [list(table), *([float(value) for value in row] for row in table.to_numpy())]


COLUMNS = {"percent": "Gait cycle (%)", "flexion": "Flexion (deg)", "load": "Load (BW)"}


@pytest.mark.parametrize("before", [[], [["Subject", "S 07 & 'right'"], ["Strides", 8.0], []]])
def test_the_sheet_with_the_numbers_is_read_whatever_comes_before_it(tmp_path, before):
    sheets = {"Info": [["Subject", "S07"], ["Strides", 8.0]], "Mean": [*before, *rows_of(CURVES)]}
    read = read_curves(write_workbook(tmp_path / "gait.xlsx", sheets), COLUMNS)
    np.testing.assert_array_equal(read.to_numpy(), CURVES.to_numpy())


@pytest.mark.parametrize("before", [[], [["Subject", "S07"]]])
def test_sheets_over_the_same_percent_are_one_table(tmp_path, before):
    clock, flexion, load = CURVES.columns
    sheets = {
        "Info": [["Subject", "S07"]],
        "kinematics": [*before, *rows_of(CURVES[[clock, flexion]])],
        "kinetics": [*before, *rows_of(CURVES[[clock, load]])],
    }
    read = read_curves(write_workbook(tmp_path / "gait.xlsx", sheets), COLUMNS)
    np.testing.assert_array_equal(read.to_numpy(), CURVES.to_numpy())


def test_cells_that_are_not_stored_are_empty(tmp_path):
    rows = rows_of(CURVES)
    rows[3][2] = None
    file = write_workbook(tmp_path / "gait.xlsx", {"Mean": rows})
    assert sheet_text(file, file.read_bytes()).splitlines()[3] == "10,10,"
    with pytest.raises(InputDataError):
        read_curves(file, COLUMNS)


def test_workbooks_without_one_table_are_refused(tmp_path):
    later = CURVES.assign(**{COLUMNS["percent"]: 0.9 * PERCENT})
    twice = {"a": rows_of(CURVES), "b": rows_of(CURVES)}
    shifted = {"a": rows_of(CURVES[[COLUMNS["percent"], COLUMNS["load"]]]), "b": rows_of(later)}
    for sheets in (twice, shifted, {"a": [["nothing", "here"]]}):
        file = write_workbook(tmp_path / "gait.xlsx", sheets)
        with pytest.raises(InputDataError):
            read_curves(file, COLUMNS)
    file.write_bytes(b"no workbook")
    with pytest.raises(InputDataError):
        read_curves(file, COLUMNS)
