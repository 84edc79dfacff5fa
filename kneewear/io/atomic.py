"""Writing a file beside its place and renaming it, so that no reader ever sees half of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Temporary name in the folder of `path`; renamed to `path` when the block succeeds.

    Parameters
    ----------
    path : str or Path
        Final place; its folder is made when missing.

    Yields
    ------
    Path
        Unique name with the same suffix. A job that was orphaned by a killed scheduler and its
        second run never share it.
    """
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = final.with_name(f".{final.stem}.{os.getpid()}-{uuid.uuid4().hex[:8]}{final.suffix}")
    try:
        yield temporary
        os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)
