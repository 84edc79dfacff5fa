"""Log file and threads of one job."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kneewear.errors import DamagedFileError, KneewearError, OutputFileError
from kneewear.io.documents import save_reason

# Environment variable with the number of the attempt at a job.
ATTEMPT = "KNEEWEAR_ATTEMPT"
_OUT_OF_MEMORY = (
    "found too little memory ({}); expected room for a batch of cases. Lower cases_per_job, run "
    "fewer jobs at once (--cores, --resources mem_mb=...) or ask the cluster for more."
)


@contextmanager
def job_log(path: str | Path, threads: int = 1, side: Iterable[str] = ()) -> Iterator[None]:
    """Send log messages and warnings of a block to a file, and a failure with its traceback.

    Progress of long jobs, and errors that do not end the job, go to standard error as well;
    progress does not where KNEEWEAR_PROGRESS is "log", because what runs the jobs reads their logs.
    After a KneewearError, or when memory is exhausted, SystemExit is raised with the message; the
    traceback is in the log. A damaged result is renamed, so that the next run finds it missing and
    creates it again. `threads` limits those of compiled kernels.

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
    root, logger = logging.getLogger(), logging.getLogger("kneewear")
    root.addHandler(handler)
    terminal = logging.StreamHandler()
    terminal.addFilter(_is_shown_on_terminal)
    logger.addHandler(terminal)
    logger.setLevel(logging.INFO)
    logging.captureWarnings(True)
    _limit_threads(threads)
    start = time.perf_counter()
    try:
        yield
        logger.info("done in %.2f s", time.perf_counter() - start)
    except DamagedFileError as error:
        logger.exception("failed: %s", error)
        sys.exit(f"{error.position}: {_set_aside(error)}\n(log: {path})")
    except BaseException as error:
        stops = isinstance(error, OutputFileError) or not isinstance(error, Exception)
        missing = [] if stops else [table for table in side if not Path(table).exists()]
        if missing:
            _leave_out(missing, _reason(error))
        else:
            logger.exception("failed: %s", error)
            if isinstance(error, KneewearError) and not stops:
                cause.write_text(str(error), encoding="utf-8")
            if isinstance(error, KneewearError | MemoryError):
                sys.exit(f"{_reason(error)}\n(log: {path})")
            raise
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        logger.removeHandler(terminal)
        handler.close()


@contextmanager
def start_up_share(count: int) -> Iterator[None]:
    """Log which part of a job's processor time passed before a block that computes its cases."""
    before = time.process_time()
    yield
    total = time.process_time()
    logging.getLogger(__name__).info(
        "%d cases in %.2f s of processor time, after a start-up of %.2f s (%.1f %% of the job)",
        count, total - before, before, 100.0 * before / total,
    )  # fmt: skip


def _is_shown_on_terminal(record: logging.LogRecord) -> bool:
    """Progress, and errors that do not end the job: those that end it have a traceback."""
    if record.name == "kneewear.progress":
        return os.environ.get("KNEEWEAR_PROGRESS") != "log"
    return record.levelno >= logging.ERROR and record.exc_info is None


def _leave_out(tables: list[str], reason: str) -> None:
    """Log why a side study failed, with the traceback, and write the reason as its tables."""
    logger = logging.getLogger("kneewear")
    logger.info("failed", exc_info=True)
    logger.error(
        "%s: not computed, because a side study failed: %s The study goes on without it. To try "
        "again, remove the file and run the same command.",
        ", ".join(tables),
        reason,
    )
    for table in tables:
        save_reason(reason, table)


def _reason(error: BaseException) -> str:
    """What a user reads of an error."""
    if isinstance(error, MemoryError):
        return _OUT_OF_MEMORY.format(error or "no more")
    return str(error) if isinstance(error, KneewearError) else f"{type(error).__name__}: {error}."


def _set_aside(error: DamagedFileError) -> str:
    """Rename a damaged file; returns the message."""
    found = f"found {error.found}; expected {error.expected}."
    renamed = error.path.with_name(f"{error.path.name}.damaged")
    try:
        error.path.replace(renamed)
    except FileNotFoundError:  # another job was faster
        pass
    except OSError:
        return f"{found} {error.remedy}"
    return f"{found} It is set aside as {renamed.name}: run the same command again."


def _limit_threads(threads: int) -> None:
    numba = sys.modules.get("numba")
    if numba is not None:
        numba.set_num_threads(max(1, min(threads, numba.config.NUMBA_NUM_THREADS)))
