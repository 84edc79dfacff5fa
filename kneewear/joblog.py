"""Log file and threads of one job."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kneewear.errors import DamagedFileError, KneewearError

_OUT_OF_MEMORY = (
    "found too little memory ({}); expected room for a batch of cases. Lower cases_per_job, run "
    "fewer jobs at once (--cores, --resources mem_mb=...) or ask the cluster for more."
)


@contextmanager
def job_log(path: str | Path, threads: int = 1) -> Iterator[None]:
    """Send log messages and warnings of a block to a file, and a failure with its traceback.

    Progress of long jobs, and errors that do not end the job, go to standard error as well. After a
    KneewearError, or when memory is exhausted, SystemExit is raised with the message; the traceback
    is in the log. A damaged result is renamed, so that the next run finds it missing and creates it
    again. `threads` limits those of compiled kernels.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
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
    except KneewearError as error:
        logger.exception("failed: %s", error)
        sys.exit(f"{error}\n(log: {path})")
    except MemoryError as error:
        logger.exception("failed")
        sys.exit(f"{_OUT_OF_MEMORY.format(error or 'no more')}\n(log: {path})")
    except BaseException:
        logger.exception("failed")
        raise
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        logger.removeHandler(terminal)
        handler.close()


def _is_shown_on_terminal(record: logging.LogRecord) -> bool:
    """Progress, and errors that do not end the job: those that end it have a traceback."""
    continues = record.levelno >= logging.ERROR and record.exc_info is None
    return continues or record.name == "kneewear.progress"


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
