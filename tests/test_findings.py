"""Findings and the errors that carry them."""

import pickle

from kneewear.errors import DamagedFileError, Finding, InputDataError


def test_an_error_carries_its_finding_and_keeps_it_between_processes():
    error = InputDataError("gait.csv", "3 rows", "20", "Give more.", "row 3", "motion.rows")
    wanted = Finding("motion.rows", "refuse", "gait.csv, row 3", "3 rows", "20", "Give more.")
    assert error.finding == pickle.loads(pickle.dumps(error)).finding == wanted
    assert str(error) == wanted.text()
    damaged = DamagedFileError("a.nc", "half a file", "a NetCDF file")
    assert pickle.loads(pickle.dumps(damaged)).finding == damaged.finding
