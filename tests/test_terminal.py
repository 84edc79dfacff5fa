"""Terminal output of `make study` during a run and at its end."""

from __future__ import annotations

import io
import logging
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
        rule, _, log = handler.running[number]
        handler.running[number] = (rule, time.monotonic() - 10.0, log)
        if number == 4:
            handler.begun = time.monotonic() - 30.0
            assert handler._reached() == "[ 80 %, about 10 s left]"
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
