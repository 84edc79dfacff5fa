"""What `make study` shows while it runs and when it is done."""

from __future__ import annotations

import io
import logging
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from kneewear.errors import InputDataError
from kneewear.io.documents import save_json
from kneewear.outcome import outcome

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


def test_running_jobs_show_what_their_logs_have_reached(handler, plugin, tmp_path):
    log = tmp_path / "solve.log"
    log.write_text(
        "2026-11-22 20:00:00,000 INFO gait: 1 of 4 cases done; about 9 s left\nfurther\n"
    )
    send(handler, "run_info", stats={"solve": 2})
    begin(handler, 1, "solve", [str(log)])
    assert handler._state() == "[  0 %] solve: gait: 1 of 4 cases done; about 9 s left"
    assert plugin.last_progress(tmp_path / "none.log") == ""


def test_a_terminal_has_one_line_that_changes(handler):
    handler.live = True
    send(handler, "run_info", stats={"solve": 2})
    begin(handler, 1, "solve")
    send(handler, "job_finished", job_id=1)
    handler._write()
    assert "\r\033[K" in handler.stream.getvalue()


def test_failures_and_warnings_are_shown_and_no_line_is_long(handler, plugin):
    send(handler, "job_error", logging.ERROR, rule_name="plot_it", log=["a.log"])
    send(handler, None, logging.WARNING, "x" * 1000 + "\nsecond")
    send(handler, "error", logging.ERROR, "Command '...' failed", exception="RuleException")
    send(handler, None, logging.INFO, "Building DAG of jobs...")
    first, second, third = handler.stream.getvalue().splitlines()
    assert first == "FAILED: plot it; log: a.log"
    assert len(second) == plugin.WIDTH
    assert third == "second"


def test_study_of_hours_does_not_write_hundreds_of_lines(plugin):
    seconds, lines = plugin.PAUSE, 0
    while seconds < 24 * 3600:
        seconds += max(plugin.PAUSE, plugin.PAUSE_SHARE * seconds)
        lines += 1
    assert lines < 70


def test_outcome_has_five_results_each_warning_once_and_the_page(tmp_path):
    page = tmp_path / "report" / "index.html"
    with pytest.raises(InputDataError, match=r"index.html: found no key results; .* Run the study"):
        outcome(tmp_path)
    page.parent.mkdir()
    items = "\n".join(f"<li>Result {n}: <strong>{n}&nbsp;mm&sup3;</strong>.</li>" for n in range(6))
    page.write_text(f'<ul class="tiles" id="key-results">{items}</ul><ul><li>Other</li></ul>')
    said = [["settings", "shown before"]] + [["solve", f"case {n} slid"] for n in range(3)]
    save_json({"warnings": said}, tmp_path / "provenance.json")
    assert outcome(tmp_path) == [
        *(f"Result {n}: {n} mm³." for n in range(5)),
        "Warning (solve): case 0 slid (2 more like it)", f"Report: {page}",
    ]  # fmt: skip
