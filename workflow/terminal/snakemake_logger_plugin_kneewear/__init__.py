"""Terminal output of `make study`: a line per stage, progress and time left (`--logger kneewear`).

A stage is a rule. In a pipe or a file a line is written when a stage ends, and at growing
intervals what long stages have reached; on a terminal the last line also shows this every second.
Snakemake's own messages are in its log, which is named at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import textwrap
import threading
import time
from collections import Counter
from logging import WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# Characters of a line; s between two lines of progress, which also wait for a part of the elapsed
# time, so that a study of hours does not write hundreds.
WIDTH = 160
PAUSE = 30.0
PAUSE_SHARE = 0.1
COMPILATION = "compile_kernels"
# Of a log file: room for its last message of progress.
TAIL_BYTES = 2000
# Jobs, and seconds of a run, from which the time left is estimated, at least.
ENOUGH = 3
EARLY = 10.0
PROGRESS = re.compile(r" INFO (.*); about (\d+) s left$")


class LogHandler(LogHandlerBase):
    """Writes stages to standard error."""

    writes_to_stream = has_filter = has_formatter = True
    writes_to_file = needs_rulegraph = False

    def __post_init__(self) -> None:
        # Jobs leave the terminal to this handler (kneewear.runs.joblog), which reads their logs.
        os.environ["KNEEWEAR_PROGRESS"] = "log"
        self.stream = sys.stderr
        self.live = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.planned: Counter[str] = Counter()
        self.seconds: dict[str, list[float]] = {}
        self.running: dict[int, tuple[str, float, list[str]]] = {}
        self.begun = self.reported = time.monotonic()
        self.ended = threading.Event()
        # s, as shown last: a later estimate that is longer is not shown.
        self.least_left = float("inf")
        self.stopped = False
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGUSR1, self._stop)
        threading.Thread(target=self._report, daemon=True).start()

    def emit(self, record: LogRecord) -> None:
        """Take up one message of Snakemake."""
        if self.stopped:
            return
        said = record.__dict__
        event = said.get("event")
        if event == LogEvent.RUN_INFO:
            self.planned = Counter(said["stats"])
            # Targets have no job of their own.
            del self.planned["total"], self.planned["all"], self.planned["study"]
            self.begun = self.reported = time.monotonic()
            self._write(f"Jobs: {self.planned.total()}, stages: {len(self.planned)}")
        elif event == LogEvent.JOB_INFO and said["rule_name"] in self.planned:
            self.running[said["jobid"]] = (said["rule_name"], time.monotonic(), list(said["log"]))
            if said["rule_name"] == COMPILATION:
                self._write(f"{title(COMPILATION)} ...")
        elif event == LogEvent.JOB_FINISHED and said["job_id"] in self.running:
            self._finish(*self.running.pop(said["job_id"])[:2])
        elif event == LogEvent.JOB_ERROR:
            self._write(f"FAILED: {title(said['rule_name'])}; log: {', '.join(said['log'])}")
        elif record.levelno >= WARNING:
            # An error of a job has been reported by the job itself.
            if said.get("exception") != "RuleException":
                self._write(*str(record.msg).splitlines())
        elif str(record.msg).startswith("Nothing to be done"):
            self._write("The study is up to date: nothing was run.")
        elif str(record.msg).startswith("Complete log(s): "):
            self._write("Full log: " + os.path.relpath(str(record.msg).partition(": ")[2]))

    def close(self) -> None:
        """End the line of a terminal."""
        self.ended.set()
        if not self.stopped:
            self._write()
        # They would wake a scheduler that has ended; Snakemake would wait a second for them.
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.cancel()
        super().close()

    def _stop(self, *_: object) -> None:
        """End the run, as `kneewear run` asks for; nothing that follows from it is shown."""
        with self.lock:  # type: ignore[union-attr]
            self.ended.set()
            done = sum(map(len, self.seconds.values()))
            self._write(f"Stopping after {done} of {self.planned.total()} jobs ...")
            self.stopped = True
        sys.exit(1)

    def _finish(self, rule: str, start: float) -> None:
        done = self.seconds.setdefault(rule, [])
        done.append(time.monotonic() - start)
        if len(done) == self.planned[rule]:
            jobs = f" ({len(done)} jobs)" if len(done) > 1 else ""
            self._write(f"{self._reached()} {title(rule)}{jobs}, {duration(sum(done))}")

    def _report(self) -> None:
        """Write what running jobs have reached until the run has ended."""
        while not self.ended.wait(1.0):
            with self.lock:  # type: ignore[union-attr]
                pause = max(PAUSE, PAUSE_SHARE * (time.monotonic() - self.begun))
                if self.live:
                    self._write()
                elif self.running and time.monotonic() - self.reported > pause:
                    self._write(self._state())

    def _state(self) -> str:
        """Jobs done, time left and what runs."""
        runs = Counter(rule for rule, _, _ in self.running.values())
        logs = [log for _, _, files in self.running.values() for log in files]
        names = [title(rule) + (f" ({n} jobs)" if n > 1 else "") for rule, n in runs.items()]
        last = next(filter(None, (last_progress(log)[0] for log in logs)), "")
        return f"{self._reached()} {', '.join(names)}" + (f": {last}" if last else " ...")

    def _reached(self) -> str:
        """Share of the jobs that are done, and an estimate of the time left, which never rises."""
        count = sum(map(len, self.seconds.values()))
        share = f"[{100 * count // self.planned.total():3d} %"
        done = {rule: seconds for rule, seconds in self.seconds.items() if rule != COMPILATION}
        early = time.monotonic() - self.begun < EARLY or sum(map(len, done.values())) < ENOUGH
        if early or count == self.planned.total():
            return share + "]"
        left = self._left(done)
        if left is None:
            return share + ", time left not known]"
        if left > self.least_left:
            return share + ", longer than estimated]"
        self.least_left = left
        return f"{share}, about {duration(left)} left]"

    def _left(self, done: dict[str, list[float]]) -> float | None:
        """Time left, s; None where a job runs of which neither its log nor a similar one tells."""
        now = time.monotonic()
        lengths = {rule: sum(one) / len(one) for rule, one in done.items()}
        # Of stages that have not begun; the longest, so that the estimate seldom rises.
        unknown = max(lengths.values())
        running = []
        for rule, start, logs in self.running.values():
            told = [left for _, left in map(last_progress, logs) if left is not None]
            if told:
                lengths.setdefault(rule, now - start + told[0])
            elif rule not in lengths:
                return None
            running.append(told[0] if told else max(0.0, lengths[rule] - (now - start)))
        runs = Counter(rule for rule, _, _ in self.running.values())
        waiting = {
            rule: number - len(self.seconds.get(rule, ())) - runs[rule]
            for rule, number in self.planned.items()
        }
        left = sum(number * lengths.get(rule, unknown) for rule, number in waiting.items())
        # Jobs that ran side by side so far, on average.
        beside = max(1.0, sum(map(sum, done.values())) / (now - self.begun))
        return max([(left + sum(running)) / beside, *running])

    def _write(self, *lines: str) -> None:
        """Lines, on a terminal above the one that is written again and again."""
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            state = self._state()[:width] if self.running and not self.ended.is_set() else ""
            self.stream.write("\r\033[K" + "".join(f"{line}\n" for line in wrapped(lines)) + state)
        elif lines:
            self.reported = time.monotonic()
            self.stream.write("".join(f"{line}\n" for line in wrapped(lines)))
        self.stream.flush()


def wrapped(lines: tuple[str, ...]) -> list[str]:
    """All words of lines, on lines of at most `WIDTH` characters; longer words stay whole."""
    options = {"break_long_words": False, "break_on_hyphens": False}
    return [part for line in lines for part in textwrap.wrap(line, WIDTH, **options) or [""]]


def title(rule: str) -> str:
    """Name of a stage."""
    first = "compiling kernels (first run only)"
    return first if rule == COMPILATION else rule.replace("_", " ")


def duration(seconds: float) -> str:
    """Seconds as a short text."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def last_progress(log: Any) -> tuple[str, float | None]:
    """Last message of progress in the log of a running job, and the time left by it, s.

    Nothing and None where there is none. The message is of kneewear.base.progress; the time since
    it was written is taken off.
    """
    try:
        with Path(log).open("rb") as file:
            state = os.fstat(file.fileno())
            file.seek(max(0, state.st_size - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return "", None
    found = [match for line in lines if (match := PROGRESS.search(line))]
    if not found:
        return "", None
    said, left = found[-1].groups()
    return said, max(0.0, float(left) - (time.time() - state.st_mtime))
