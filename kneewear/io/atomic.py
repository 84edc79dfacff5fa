"""Files written under a temporary name and renamed: no reader sees a half-written one."""

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

_MAKE_WRITABLE = "Make the folder writable, or run in another one."
_REMEDIES = {
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
        "Make room on the disk (or raise the quota), then run the same command again.",
    ),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _MAKE_WRITABLE),
}
_OTHER_REMEDY = "Check the disk and the folder, then run the same command again."


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Temporary name in the folder of `path`; renamed to `path` when the block succeeds.

    Parameters
    ----------
    path : str or Path
        Final name; its folder is created when missing. The digest of the content is stored in the
        folder `.digests` beside it (see `kneewear.io.digests`).

    Yields
    ------
    Path
        Unique name with the same suffix, which two runs of a job never share.

    Raises
    ------
    OutputFileError
        When the disk is full, the folder read-only, or writing fails otherwise; no file remains.
    """
    final = Path(path)
    try:
        # The digest comes first: after a kill in between, the old file is refused.
        with _renamed(final) as temporary:
            yield temporary
            with _renamed(digest_path(final)) as record:
                record.write_text(digest_line(temporary, final.name), encoding="ascii")
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, _OTHER_REMEDY)
        raise OutputFileError(final, str(error.strerror or error), remedy) from error


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
    inner = (Path(path) for path, _, _ in os.walk(folder))
    existing = inner if folder.is_dir() else (next(p for p in folder.parents if p.is_dir()),)
    for path in existing:
        if not os.access(path, os.W_OK | os.X_OK):
            reason = "read-only folder" if os.access(path, os.R_OK) else "no permission"
            raise OutputFileError(path, reason, _MAKE_WRITABLE)


@contextmanager
def _renamed(final: Path) -> Iterator[Path]:
    """Temporary name beside a file, renamed on success and removed on failure."""
    final.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(final)
    owner = f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    temporary = final.with_name(f".{final.stem}.{owner}{final.suffix}")
    try:
        yield temporary
        os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_leftovers(final: Path) -> None:
    """Remove the temporary files of a file whose processes on this machine were killed."""
    host = re.escape(platform.node())
    stem, suffix = re.escape(final.stem), re.escape(final.suffix)
    pattern = re.compile(rf"\.{stem}\.{host}-(\d+)-[0-9a-f]{{8}}{suffix}")
    for path in final.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match and not _is_running(int(match[1])):
            path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
