"""A job's log holds messages, warnings and the traceback of a failure."""

from __future__ import annotations

import logging
import re
import warnings
from time import process_time

import numpy as np
import pandas as pd
import pytest

from kneewear.errors import (
    NOT_COMPUTED,
    ConvergenceError,
    DamagedFileError,
    InputDataError,
    OutputFileError,
)
from kneewear.io.documents import load_computed, load_table, save_table
from kneewear.joblog import ATTEMPT, job_log, start_up_share


def test_log_holds_messages_and_warnings(tmp_path):
    path = tmp_path / "logs" / "job.log"
    with job_log(path):
        logging.getLogger("kneewear.room").info("case %s", "a")
        # A caller that turns warnings into errors (or hides them) must not matter here.
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            logging.captureWarnings(True)
            warnings.warn("steep", stacklevel=1)
    text = path.read_text()
    assert "INFO case a" in text
    assert "done in" in text


def test_log_holds_the_part_of_the_processor_time_before_the_cases(tmp_path):
    with job_log(tmp_path / "job.log"), start_up_share(3):
        begun = process_time()
        while process_time() < begun + 0.05:  # the log has hundredths of a second
            np.linalg.svd(np.ones((200, 200)))
    text = (tmp_path / "job.log").read_text()
    cases, start, share = map(
        float, re.search(r"3 cases in (.*) s of .* start-up of (.*) s \((.*) %", text).groups()
    )
    assert cases > 0.0
    # Times are rounded to hundredths of a second, the share to a tenth of a per cent.
    rounding = 100.0 * 0.01 / (start + cases) + 0.05
    assert share == pytest.approx(100.0 * start / (start + cases), abs=rounding)


def test_users_fault_ends_the_job_with_one_message(tmp_path):
    path = tmp_path / "job.log"
    with pytest.raises(SystemExit, match=r"a\.csv"), job_log(path):
        raise InputDataError("a.csv", "x", "y", "Do z.")
    assert "Traceback" in path.read_text()


def test_job_out_of_memory_ends_with_a_remedy(tmp_path):
    path = tmp_path / "job.log"
    with pytest.raises(SystemExit, match="cases_per_job"), job_log(path):
        # More than any machine addresses, so that the library refuses at once.
        np.empty(2**55)
    assert "Traceback" in path.read_text()


def test_other_faults_end_with_a_message_and_are_logged(tmp_path):
    path = tmp_path / "job.log"
    with pytest.raises(SystemExit, match="ZeroDivisionError"), job_log(path):
        _ = 1 / 0
    assert "Traceback" in path.read_text()
    with pytest.raises(SystemExit, match=r"none\.csv") as ended, job_log(path):
        (tmp_path / "none.csv").read_text()
    assert "FileNotFoundError" not in str(ended.value)


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), InputDataError("a", "x", "y", "Do z.")])
def test_side_study_that_fails_leaves_the_reason_and_what_it_had_computed(tmp_path, capfd, error):
    tables = [str(tmp_path / f"{name}.csv") for name in ("one", "two")]
    with job_log(tmp_path / "job.log", side=tables):
        save_table(pd.DataFrame({"a": [1.0]}), tables[0])
        raise error
    assert list(load_computed(tables)) == ["one"]
    assert "x" in load_table(tables[1])[NOT_COMPUTED].iloc[0]
    terminal = capfd.readouterr().err
    assert "two.csv" in terminal
    assert "one.csv" not in terminal
    assert "Traceback" in (tmp_path / "job.log").read_text()


def test_side_study_on_a_full_disk_or_with_a_damaged_file_ends_its_job(tmp_path):
    table = str(tmp_path / "one.csv")
    for error in (OutputFileError("b", "full", "Make room."), DamagedFileError("c", "x", "y")):
        with pytest.raises(SystemExit), job_log(tmp_path / "job.log", side=[table]):
            raise error
    assert not (tmp_path / "one.csv").exists()


def test_next_job_has_its_own_log(tmp_path):
    with job_log(tmp_path / "a.log"):
        pass
    with job_log(tmp_path / "b.log"):
        logging.getLogger("kneewear").info("second")
    assert "second" not in (tmp_path / "a.log").read_text()


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (InputDataError("a.csv", "x", "y", "Do z."), False),
        (ConvergenceError("Force balance", 3, 0.1, "N", "Do z."), False),
        (OutputFileError("a.nc", "disk full", "Make room."), True),
        (MemoryError(), True),
    ],
    ids=["input", "convergence", "disk", "memory"],
)
def test_only_causes_that_may_pass_are_tried_again(tmp_path, monkeypatch, error, again):
    """Where jobs are retried, as on clusters."""
    tried = []

    def attempt(number):
        monkeypatch.setenv(ATTEMPT, str(number))
        (tmp_path / "job.log").unlink(missing_ok=True)  # as Snakemake does
        with pytest.raises(SystemExit) as caught, job_log(tmp_path / "job.log"):
            tried.append(number)
            raise error
        return str(caught.value)

    first, second = attempt(1), attempt(2)
    assert tried == ([1, 2] if again else [1])
    assert first.partition("\n")[0] == second.partition("\n")[0]
    # A later run is a first attempt: the input may have been corrected.
    attempt(1)
    assert tried[-1] == 1
