"""Findings and the errors that carry them."""

import pickle

from kneewear.errors import DamagedFileError, InputDataError
from kneewear.findings import Finding


def test_text_has_all_fields_in_one_line():
    finding = Finding("load.peak", "warn", "load.csv, row 3", "20 BW", "1.5 to 5 BW", "Scale it.")
    assert str(finding) == (
        "load.csv, row 3: found 20 BW; expected 1.5 to 5 BW. Scale it. (check load.peak)"
    )


def test_empty_fields_leave_no_gaps():
    assert Finding("a.b", "note", "", "Two files are the same", "", "").text() == (
        "Two files are the same."
    )


def test_an_error_carries_its_finding_and_keeps_it_between_processes():
    error = InputDataError("gait.csv", "3 rows", "20", "Give more.", "row 3", "motion.rows")
    wanted = Finding("motion.rows", "refuse", "gait.csv, row 3", "3 rows", "20", "Give more.")
    assert error.finding == pickle.loads(pickle.dumps(error)).finding == wanted
    assert str(error) == wanted.text()
    damaged = DamagedFileError("a.nc", "half a file", "a NetCDF file")
    assert pickle.loads(pickle.dumps(damaged)).finding == damaged.finding
