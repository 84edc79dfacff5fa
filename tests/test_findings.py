"""Findings and the errors that carry them."""

import logging
import pickle
import shutil
from pathlib import Path

import pytest

from kneewear import __main__ as command
from kneewear.base.findings import Reported, gather
from kneewear.errors import DamagedFileError, Finding, InputDataError
from kneewear.runs import preflight
from kneewear.study import files

FOLDER = Path(__file__).parent.parent


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


def test_check_prints_one_line_for_each_cause(tmp_path, monkeypatch, capsys):
    """Equal findings of files and of a log, and those that differ in values alone, are one line."""

    def judged(check: str, value: float) -> Finding:
        return Finding(check, "warn", "insert.stl", f"{value:g}", "1", "")

    def draw(*_):
        for finding in (judged("geometry.width", 2), judged("own.a", 3), judged("own.a", 4)):
            logging.getLogger("kneewear.geometry").warning("%s", finding)
        return []

    shutil.copy(FOLDER / "config" / "quick.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "check_inputs", lambda *_: [judged("geometry.width", 2)])
    monkeypatch.setattr(preflight, "write_preflights", draw)
    command.main(["check", "quick.yaml"])
    printed = capsys.readouterr()
    said = printed.out + printed.err
    assert [said.count(f"(check {name})") for name in ("geometry.width", "own.a")] == [1, 1]

    def refuse(*_):
        draw()
        raise InputDataError("insert.stl", "nothing", "a bearing", "Name it.")

    monkeypatch.setattr(preflight, "write_preflights", refuse)
    with pytest.raises(SystemExit):
        command.main(["check", "quick.yaml"])
    printed = capsys.readouterr()
    assert (printed.out + printed.err).count("(check own.a)") == 1
