"""Writing a file beside its place and renaming it, so that no reader ever sees half of it."""

from __future__ import annotations

import errno
import os
import platform
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kneewear.errors import OutputFileError
from kneewear.io.digests import digest_line, digest_path

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_PERMISSION = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Temporary name in the folder of `path`; renamed to `path` when the block succeeds.

    Parameters
    ----------
    path : str or Path
        Final place; its folder is made when missing. The digest of the content is kept in the
        folder `.digests` beside it (see `kneewear.io.digests`).

    Yields
    ------
    Path
        Unique name with the same suffix. A job that was orphaned by a killed scheduler and its
        second run never share it.

    Raises
    ------
    OutputFileError
        When the disk is full, the folder read-only, or writing fails otherwise; nothing is left.
    """
    final = Path(path)
    try:
        # The digest comes first: killed in between, the old file is refused and not trusted.
        with _renamed(final) as temporary:
            yield temporary
            with _renamed(digest_path(final)) as record:
                record.write_text(digest_line(temporary, final.name), encoding="ascii")
    except OSError as error:
        raise OutputFileError(final, str(error.strerror or error), _remedy(error)) from error


def check_writable(folder: str | Path) -> None:
    """Refuse a folder of results in which files cannot be replaced.

    Parameters
    ----------
    folder : str or Path
        The folder, which may be missing; folders in it are checked as well.

    Raises
    ------
    OutputFileError
        Naming the first folder that cannot be written.
    """
    folder = Path(folder)
    inner = (Path(place) for place, _, _ in os.walk(folder))
    existing = inner if folder.is_dir() else (next(p for p in folder.parents if p.is_dir()),)
    for place in existing:
        if not os.access(place, os.W_OK | os.X_OK):
            reason = "read-only folder" if os.access(place, os.R_OK) else "no permission"
            raise OutputFileError(place, reason, "Make the folder writable, or run in another one.")


@contextmanager
def _renamed(final: Path) -> Iterator[Path]:
    """Temporary name beside a file, renamed on success and removed on failure."""
    final.parent.mkdir(parents=True, exist_ok=True)
    _sweep(final)
    owner = f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    temporary = final.with_name(f".{final.stem}.{owner}{final.suffix}")
    try:
        yield temporary
        os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


def _sweep(final: Path) -> None:
    """Remove what killed processes of this machine left of earlier attempts at a file."""
    host = re.escape(platform.node())
    stem, suffix = re.escape(final.stem), re.escape(final.suffix)
    pattern = re.compile(rf"\.{stem}\.{host}-(\d+)-[0-9a-f]{{8}}{suffix}")
    for path in final.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match and not _lives(int(match[1])):
            path.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _remedy(error: OSError) -> str:
    if error.errno in _NO_ROOM:
        return "Make room on the disk (or raise the quota), then run the same command again."
    if error.errno in _NO_PERMISSION:
        return "Make the folder writable, or run in another one."
    return "Check the disk and the folder, then run the same command again."
