"""A job's log holds messages, warnings and the traceback of a failure."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import warnings

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
from kneewear.runs.joblog import ATTEMPT, job_log


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


@pytest.mark.slow
def test_processor_time_of_a_job_counts_its_processes_and_failures(tmp_path):
    code = (
        "import subprocess, sys, time\n"
        "from kneewear.runs.joblog import job_log\n"
        "busy = 'import time\\nwhile time.process_time() < {}: pass'\n"
        "with job_log(sys.argv[1]):\n"
        "    subprocess.run([sys.executable, '-c', busy.format(0.6)], check=True)\n"
        "    exec(busy.format('0.4 + ' + str(time.process_time())))\n"
        "    time.sleep(1.0)\n"
        "    raise ValueError('x')\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "job.log")]
    before = time.monotonic()
    done = subprocess.run(command, check=False, capture_output=True)
    elapsed = time.monotonic() - before
    assert done.returncode == 1
    assert 1.0 <= float((tmp_path / "job.seconds").read_text()) < elapsed - 0.9


def test_garbage_is_collected_rarely_until_a_job_has_started(tmp_path):
    code = (
        "import gc, sys; usual = gc.get_threshold(); import kneewear\n"
        "imports = gc.get_threshold()\n"
        "assert gc.isenabled() and imports[0] > usual[0]\n"
        "from kneewear.runs.joblog import job_log\n"
        "with job_log(sys.argv[1]):\n"
        "    assert imports[0] > gc.get_threshold()[0]\n"
        "    assert gc.get_threshold()[1:] == usual[1:]"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "job.log")]
    subprocess.run(command, env=os.environ | {"KNEEWEAR_JOB": "1"}, check=True)


def test_users_fault_ends_the_job_with_one_message(tmp_path):
    path = tmp_path / "job.log"
    with pytest.raises(SystemExit, match=r"a\.csv"), job_log(path):
        raise InputDataError("a.csv", "x", "y", "Do z.")
    assert "Traceback" in path.read_text()


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


def test_damaged_file_in_the_folder_of_a_job_sets_the_folder_aside(tmp_path):
    folder = tmp_path / "evaluated"
    folder.mkdir()
    for name in ("spread.csv", ".snakemake_timestamp"):
        (folder / name).touch()
    with pytest.raises(SystemExit), job_log(tmp_path / "job.log"):
        raise DamagedFileError(folder / "spread.csv", "x", "y")
    # Snakemake goes by the folder: without it the job runs again.
    assert not folder.exists()
    assert (tmp_path / "evaluated.damaged" / "spread.csv").exists()
