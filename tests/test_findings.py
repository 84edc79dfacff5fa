"""Findings and the errors that carry them."""

import pickle

from kneewear.base.findings import Reported, gather
from kneewear.errors import DamagedFileError, Finding, InputDataError


def test_an_error_carries_its_finding_and_keeps_it_between_processes():
    error = InputDataError("gait.csv", "3 rows", "20", "Give more.", "row 3", "motion.rows")
    wanted = Finding("motion.rows", "refuse", "gait.csv, row 3", "3 rows", "20", "Give more.")
    assert error.finding == pickle.loads(pickle.dumps(error)).finding == wanted
    assert str(error) == wanted.text()
    damaged = DamagedFileError("a.nc", "half a file", "a NetCDF file")
    assert pickle.loads(pickle.dumps(damaged)).finding == damaged.finding


def test_findings_that_differ_in_values_are_one_of_all_their_jobs():
    def of(job: str, error: float) -> Reported:
        finding = Finding("", "warn", "tables", f"errs by {error} um", "", "")
        return Reported(finding, job=job, alike="errs by %g um")

    note = Reported(Finding("a", "note", "here", "found", "", ""), job="plot_figures")
    found = gather([note, *(of(job, error) for job in ("build", "plot") for error in (1.4, 2.0))])
    assert [(one.finding.severity, one.job, one.more) for one in found] == [
        ("warn", "build, plot", 3),
        ("note", "plot_figures", 0),
    ]
