"""Result files: written whole or not at all, and checked against their digest when read."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import platform
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kneewear.errors import DamagedFileError, InputDataError, OutputFileError

logger = logging.getLogger(__name__)

_MAKE_WRITABLE = "Make the folder writable, or run in another one."
_REMEDIES = {
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
        "Make room on the disk (or raise the quota), then run the same command again.",
    ),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _MAKE_WRITABLE),
}
_OTHER_REMEDY = "Check the disk and the folder, then run the same command again."


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file, hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def frozen_digest(file: str | Path, record: str | Path) -> str:
    """Digest of a stored prediction; DamagedFileError if the file is not the one that was stored.

    `record` is the JSON file whose `sha256` was written with it.
    """
    stored = str(json.loads(Path(record).read_text(encoding="utf-8"))["sha256"])
    if file_hash(file) != stored:
        raise DamagedFileError(file, "another content than was stored", f"SHA-256 {stored}")
    return stored


def job_records(folder: str | Path, suffix: str) -> dict[str, str]:
    """Logs or benchmarks by job, such as `simulate_contact/gait/b000`, gathered or not."""
    records: dict[str, str] = {}
    # In the order of text, a gathered file precedes the folder of its rule.
    for path in sorted(Path(folder).rglob(f"*{suffix}"), key=str):
        name = path.relative_to(folder).with_suffix("").as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        own, *gathered = re.split(r"^==> (.*) <==\n", text, flags=re.MULTILINE)
        records |= {} if gathered else {name: own}
        jobs = zip(gathered[::2], gathered[1::2], strict=True)
        records |= {f"{name}/{job}": said for job, said in jobs}
    return records


def digest_path(path: str | Path) -> Path:
    """File with the digest of a file, as `sha256sum` checks it, in the folder `.digests`."""
    path = Path(path)
    return path.parent / ".digests" / f"{path.name}.sha256"


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Temporary name in the folder of `path`; renamed to `path` when the block succeeds.

    The folder is created when missing. The name is unique, so that two runs of a job never share
    it. Raises OutputFileError when the disk is full, the folder read-only, or writing fails
    otherwise; no file remains.
    """
    final = Path(path)
    try:
        # The digest comes first: after a kill in between, the old file is refused.
        with _renamed(final) as temporary:
            yield temporary
            with _renamed(digest_path(final)) as record:
                record.write_text(f"{file_hash(temporary)}  {final.name}\n", encoding="ascii")
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, _OTHER_REMEDY)
        raise OutputFileError(final, str(error.strerror or error), remedy) from error


def copy_result(source: Path, path: str | Path) -> None:
    """Copy a result file, complete or not at all."""
    with atomic_path(path) as temporary:
        shutil.copyfile(source, temporary)


def read_checked(
    path: str | Path, expected: str = "a result file", remedy: str = "Check the path."
) -> bytes:
    """Content of a result file, whose digest must be that of what was written.

    A file without a digest (copied alone, or written by another program) passes, with a warning.
    `expected` and `remedy` are for the InputDataError when it cannot be read; a changed file
    raises DamagedFileError.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        found = "no file" if isinstance(error, FileNotFoundError) else str(error)
        raise InputDataError(path, found, expected, remedy) from None
    found = hashlib.sha256(content).hexdigest()
    try:
        written = digest_path(path).read_text(encoding="ascii", errors="replace").split(" ")[0]
    except FileNotFoundError:
        logger.warning("%s has no digest beside it: its content is not checked", path)
        return content
    if found != written:
        found, expected = f"content with the digest {found[:12]}...", f"{written[:12]}..."
        raise DamagedFileError(path, found, f"{expected}, as it was written")
    return content


def check_digest(path: str | Path) -> None:
    """Refuse a large file of results that is not as it was written; raises as `read_checked`."""
    path = Path(path)
    if not path.is_file():
        raise InputDataError(path, "no file", "a result file", "Check the path.")
    record = digest_path(path)
    if not record.is_file():
        logger.warning("%s has no digest beside it: its content is not checked", path)
        return
    written = record.read_text(encoding="ascii", errors="replace").split(" ")[0]
    found = file_hash(path)
    if found != written:
        found, expected = f"content with the digest {found[:12]}...", f"{written[:12]}..."
        raise DamagedFileError(path, found, f"{expected}, as it was written")


def check_writable(folder: str | Path) -> None:
    """Refuse a folder of results, which may be missing, in which files cannot be replaced.

    Raises OutputFileError, naming the first folder in it that cannot be written.
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
