"""Workbooks are read as the tables that a spreadsheet program exports of them."""

from __future__ import annotations

import zipfile
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import pytest

from kneewear.errors import InputDataError
from kneewear.io.curves import read_curves
from kneewear.io.workbooks import sheet_text

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PERCENT = np.linspace(0.0, 100.0, 21)
CURVES = pd.DataFrame(
    {"Gait cycle (%)": PERCENT, "Flexion (deg)": 5.0 + PERCENT / 2, "Load (BW)": 2.0 + 0 * PERCENT}
)


def _cell(place, value, texts):
    if value is None:
        return ""
    if isinstance(value, str):
        texts.append(value)
        return f'<c r="{place}" t="s"><v>{len(texts) - 1}</v></c>'
    return f'<c r="{place}"><f>A1*1</f><v>{value!r}</v></c>'


def write_workbook(path, sheets):
    """Write sheets of rows, as spreadsheet programs do; None is a cell that is not stored."""
    texts = []
    with zipfile.ZipFile(path, "w") as packed:
        names, relations = "", ""
        for n, (name, rows) in enumerate(sheets.items(), 1):
            lines = ""
            for y, row in enumerate(rows, 1):
                cells = (_cell(f"{chr(65 + x)}{y}", one, texts) for x, one in enumerate(row))
                lines += f'<row r="{y}">{"".join(cells)}</row>'
            packed.writestr(
                f"xl/worksheets/sheet{n}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>',
            )
            names += f'<sheet xmlns:r="{OFFICE}" name="{name}" sheetId="{n}" r:id="rId{n}"/>'
            relations += f'<Relationship Id="rId{n}" Target="worksheets/sheet{n}.xml"/>'
        shared = "".join(f"<si><r><t>{escape(text)}</t></r></si>" for text in texts)
        packed.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{shared}</sst>')
        packed.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{relations}</Relationships>")
        packed.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}"><sheets>{names}</sheets></workbook>'
        )
    return path


def rows_of(table):
    return [list(table), *([float(value) for value in row] for row in table.to_numpy())]


COLUMNS = {"percent": "Gait cycle (%)", "flexion": "Flexion (deg)", "load": "Load (BW)"}


@pytest.mark.parametrize("before", [[], [["Subject", "S 07 & 'right'"], ["Strides", 8.0], []]])
def test_the_sheet_with_the_numbers_is_read_whatever_comes_before_it(tmp_path, before):
    sheets = {"Info": [["Subject", "S07"], ["Strides", 8.0]], "Mean": [*before, *rows_of(CURVES)]}
    read = read_curves(write_workbook(tmp_path / "gait.xlsx", sheets), COLUMNS)
    np.testing.assert_array_equal(read.to_numpy(), CURVES.to_numpy())


def test_cells_that_are_not_stored_are_empty(tmp_path):
    rows = rows_of(CURVES)
    rows[3][2] = None
    file = write_workbook(tmp_path / "gait.xlsx", {"Mean": rows})
    assert sheet_text(file, file.read_bytes()).splitlines()[3] == "10.0,10.0,"
    with pytest.raises(InputDataError):
        read_curves(file, COLUMNS)


def test_workbooks_without_one_table_are_refused(tmp_path):
    for sheets in ({"a": rows_of(CURVES), "b": rows_of(CURVES)}, {"a": [["nothing", "here"]]}):
        file = write_workbook(tmp_path / "gait.xlsx", sheets)
        with pytest.raises(InputDataError):
            read_curves(file, COLUMNS)
    file.write_bytes(b"no workbook")
    with pytest.raises(InputDataError):
        read_curves(file, COLUMNS)
