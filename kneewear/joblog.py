"""Log file and threads of one job."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kneewear.errors import KneewearError


@contextmanager
def job_log(path: str | Path, threads: int = 1) -> Iterator[None]:
    """Send log messages and warnings of a block to a file, and a failure with its traceback.

    Messages of `kneewear.progress` are shown on standard error as well.

    Parameters
    ----------
    path : str or Path
        Log file; replaced.
    threads : int
        Threads the job may use; compiled kernels do not look at the scheduler by themselves.

    Raises
    ------
    SystemExit
        After a KneewearError: its message says all a user needs and goes to standard error, the
        traceback stands in the log.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root, logger = logging.getLogger(), logging.getLogger("kneewear")
    root.addHandler(handler)
    # How far a long job is also goes to the terminal, through standard error.
    terminal, progress = logging.StreamHandler(), logging.getLogger("kneewear.progress")
    progress.addHandler(terminal)
    logger.setLevel(logging.INFO)
    logging.captureWarnings(True)
    _limit_threads(threads)
    start = time.perf_counter()
    try:
        yield
        logger.info("done in %.2f s", time.perf_counter() - start)
    except KneewearError as error:
        logger.exception("failed: %s", error)
        sys.exit(f"{error}\n(log: {path})")
    except BaseException:
        logger.exception("failed")
        raise
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        progress.removeHandler(terminal)
        handler.close()


def _limit_threads(threads: int) -> None:
    numba = sys.modules.get("numba")
    if numba is not None:
        numba.set_num_threads(max(1, min(threads, numba.config.NUMBA_NUM_THREADS)))
