"""Log file and threads of one job."""

from __future__ import annotations

import atexit
import gc
import json
import logging
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kneewear import COLLECTIONS
from kneewear.base.findings import Reported
from kneewear.errors import (
    DamagedFileError,
    InputDataError,
    KneewearError,
    OutputFileError,
)
from kneewear.io.documents import save_reason
from kneewear.io.result_files import set_aside
from kneewear.study.shipped import reachable

# Ending of the file with the findings of a job, beside its log.
FINDINGS = ".findings"
# Ending of the file with the processor time of a job, s, beside its log. In long jobs Snakemake
# measures it every half minute only.
PROCESSOR = ".seconds"
# Environment variable with the number of the attempt at a job.
ATTEMPT = "KNEEWEAR_ATTEMPT"
# The last collections of a process that imports this module would take half a second, for nothing.
atexit.register(gc.freeze)
_OUT_OF_MEMORY = (
    "found too little memory ({}); expected room for a batch of cases. Lower cases_per_job, run "
    "fewer jobs at once (--cores, --resources mem_mb=...) or ask the cluster for more."
)


@contextmanager
def job_log(path: str | Path, side: Iterable[str] = ()) -> Iterator[None]:
    """Send log messages and warnings of a block to a file, and a failure with its traceback.

    Progress of long jobs, and errors that do not end the job, go to standard error as well;
    progress does not where KNEEWEAR_PROGRESS is "log", because what runs the jobs reads their logs.
    Warnings are also records (:class:`kneewear.errors.Finding`), a line of JSON each, in a
    file beside the log with the ending .findings: a finding that is an argument of the message, or
    the message itself.

    After any error SystemExit is raised with the message; the traceback is in the log. A damaged
    result is renamed, so that the next run finds it missing and creates it again.

    The processor time of the job, with its start and the processes that it has waited for, is
    written to a file with the ending .seconds.

    `side` are the tables of a side study, which never stops the study: when it fails, the job
    succeeds, with the reason in place of its missing tables and on standard error.

    A further attempt at a job that failed because of its input, or because a solution did not
    converge, ends at once with the message of the first one; `ATTEMPT` counts them.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # Snakemake removes the log of the attempt before.
    cause = Path(path).with_suffix(".failed")
    if cause.is_file() and os.environ.get(ATTEMPT, "1") != "1":
        sys.exit(f"{cause.read_text(encoding='utf-8')}\n(not tried again; log: {path})")
    cause.unlink(missing_ok=True)
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    findings = _FindingsHandler(Path(path).with_suffix(FINDINGS))
    root, logger = logging.getLogger(), logging.getLogger("kneewear")
    root.addHandler(handler)
    root.addHandler(findings)
    terminal = logging.StreamHandler()
    terminal.addFilter(_is_shown_on_terminal)
    logger.addHandler(terminal)
    logger.setLevel(logging.INFO)
    logging.captureWarnings(True)
    # Collections of the job leave out what imported packages hold (see `kneewear`), and are rare:
    # figures are many small objects, and arrays are not collected but freed.
    gc.freeze()
    gc.set_threshold(20_000, *COLLECTIONS[1:])
    start = time.perf_counter()
    try:
        yield
        logger.info("done in %.2f s", time.perf_counter() - start)
    except DamagedFileError as error:
        logger.exception("failed: %s", error)
        sys.exit(f"{set_aside(error).text()}\n(log: {path})")
    except BaseException as error:
        stops = isinstance(error, OutputFileError) or not isinstance(error, Exception)
        missing = [] if stops else [table for table in side if not Path(table).exists()]
        if missing:
            _leave_out(missing, _reason(error))
        else:
            logger.exception("failed: %s", error)
            if isinstance(error, KneewearError) and not stops:
                cause.write_text(str(error), encoding="utf-8")
            if isinstance(error, Exception):
                sys.exit(f"{reachable(_reason(error))}\n(log: {path})")
            raise
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        root.removeHandler(findings)
        logger.removeHandler(terminal)
        handler.close()
        seconds = sum(os.times()[:4])  # of the process and its children, user and system
        with suppress(OSError):  # a full disk, which has ended the job
            Path(path).with_suffix(PROCESSOR).write_text(f"{seconds:.2f}\n", encoding="utf-8")


class _FindingsHandler(logging.Handler):
    """Writes warnings to a file as records, an empty one where there are none."""

    def __init__(self, path: Path) -> None:
        super().__init__(logging.WARNING)
        self.path = path
        path.write_text("", encoding="utf-8")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning; `alike` is the same for messages that differ in their values alone."""
        if record.exc_info is not None:  # ends the job
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(Reported.of_message(record).record()) + "\n")


def _is_shown_on_terminal(record: logging.LogRecord) -> bool:
    """Progress, and errors that do not end the job: those that end it have a traceback."""
    if record.name == "kneewear.base.progress":
        return os.environ.get("KNEEWEAR_PROGRESS") != "log"
    return record.levelno >= logging.ERROR and record.exc_info is None


def _leave_out(tables: list[str], reason: str) -> None:
    """Log why a side study failed, with the traceback, and write the reason as its tables."""
    logger = logging.getLogger("kneewear")
    logger.info("failed", exc_info=True)
    logger.error(
        "%s: not computed, because a side study failed: %s The study goes on without it. To try "
        "again, remove the folder %s and run the same command.",
        ", ".join(Path(table).name for table in tables),
        reason,
        Path(tables[0]).parent,
    )
    for table in tables:
        save_reason(reason, table)


def _reason(error: BaseException) -> str:
    """Text of an error for users."""
    if isinstance(error, MemoryError):
        return _OUT_OF_MEMORY.format(str(error) or "no more")
    if isinstance(error, KneewearError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        expected = "a file and a disk that can be read and written"
        found = error.strerror or type(error).__name__
        return str(InputDataError(error.filename, found, expected, "Check both, and run it again."))
    return f"{type(error).__name__}: {error}. This is a fault of kneewear; its log has the place."
