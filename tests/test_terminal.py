"""Terminal output of `make study` during a run and at its end."""

from __future__ import annotations

import io
import logging
import re
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.exceptions import LockException

PLUGINS = Path(__file__).parent.parent / "workflow" / "terminal"


@pytest.fixture
def plugin(monkeypatch):
    """Module of the logger, which is no part of the package."""
    monkeypatch.syspath_prepend(str(PLUGINS))
    monkeypatch.setenv("KNEEWEAR_PROGRESS", "")
    return import_module("snakemake_logger_plugin_kneewear")


@pytest.fixture
def handler(plugin):
    handler = plugin.LogHandler(SimpleNamespace(), None)
    handler.stream = io.StringIO()
    yield handler
    handler.close()


def send(handler, event=None, level=logging.INFO, message="", **values):
    record = logging.LogRecord("snakemake", level, "", 0, message, (), None)
    record.__dict__.update(values, event=event)
    handler.handle(record)


def begin(handler, number, rule, log=()):
    send(handler, "job_info", jobid=number, rule_name=rule, log=log)


def test_a_line_per_stage_with_share_and_time_left(handler):
    send(handler, "run_info", stats={"solve": 4, "compile_kernels": 1, "total": 6, "all": 1})
    begin(handler, 0, "compile_kernels")
    send(handler, "job_finished", job_id=0)
    for number in range(1, 5):
        begin(handler, number, "solve")
        if number == 4:
            handler.begun = time.monotonic() - 30.0
            assert handler._reached() == "[ 80 %, about 10 s left]"
        rule, _, log = handler.running[number]
        handler.running[number] = (rule, time.monotonic() - 10.0, log)
        send(handler, "job_finished", job_id=number)
    begin(handler, 5, "all")
    assert handler.stream.getvalue().splitlines() == [
        "Jobs: 5, stages: 2",
        "compiling kernels (first run only) ...",
        "[ 20 %] compiling kernels (first run only), 0 s",
        "[100 %] solve (4 jobs), 40 s",
    ]


def test_failures_and_warnings_are_shown_whole_and_no_line_is_long(handler, plugin):
    send(handler, "job_error", logging.ERROR, rule_name="plot_it", log=["a.log"])
    # Snakemake's remedy is at the end of its longest line.
    locked = str(LockException())
    send(handler, None, logging.ERROR, locked)
    send(handler, "error", logging.ERROR, "Command '...' failed", exception="RuleException")
    send(handler, None, logging.INFO, "Building DAG of jobs...")
    first, *others = handler.stream.getvalue().splitlines()
    assert first == "FAILED: plot it; log: a.log"
    assert " ".join(others).split() == locked.split()
    assert max(map(len, others)) <= plugin.WIDTH


def progress(folder, name, left):
    """Log of a job that says how much time is left."""
    log = folder / name
    log.write_text(
        f"2026-11-29 01:00:00,000 INFO activity gait: frame 5 of 50; about {left} s left\n"
    )
    return [str(log)]


def estimates(handler):
    """Times left that were shown, s."""
    return [float(s) for s in re.findall(r"about (\d+) s left", handler.stream.getvalue())]


def test_one_estimate_which_falls_from_jobs_that_say_it_themselves(handler, tmp_path):
    send(handler, "run_info", stats={"prepare": 3, "solve": 2})
    for number in range(3):
        begin(handler, number, "prepare")
        send(handler, "job_finished", job_id=number)
    handler.begun = time.monotonic() - 20.0
    shown = []
    for left in (40, 90, 30):
        begin(handler, 10, "solve", progress(tmp_path, "one.log", left))
        shown.append(handler._state())
    assert ["about" in one for one in shown] == [True, False, True]
    assert all(one.count(" left") <= 1 for one in shown)
    assert "frame 5 of 50" in shown[0]
    handler._write(*shown)
    first, last = estimates(handler)
    # Each of two jobs takes what one has left, as it has just begun.
    assert (first, last) == (pytest.approx(80, abs=2), pytest.approx(60, abs=2))


def test_a_job_without_a_measure_leaves_the_time_open(handler, tmp_path):
    send(handler, "run_info", stats={"prepare": 3, "draw": 1})
    for number in range(3):
        begin(handler, number, "prepare")
        send(handler, "job_finished", job_id=number)
    handler.begun = time.monotonic() - 20.0
    begin(handler, 10, "draw", [str(tmp_path / "none.log")])
    assert "about" not in handler._state()
    handler.running.clear()
    assert "about" in handler._reached()


def test_nothing_is_shown_of_what_a_stopped_run_says(handler):
    send(handler, "run_info", stats={"solve": 2})
    begin(handler, 0, "solve")
    send(handler, "job_finished", job_id=0)
    before = handler.stream.getvalue()
    with pytest.raises(SystemExit):
        handler._stop()
    send(handler, "job_error", logging.ERROR, rule_name="solve", log=["a.log"])
    handler.close()
    said = handler.stream.getvalue().removeprefix(before)
    assert re.findall(r"\d+", said) == ["1", "2"]
    assert said.count("\n") == 1
