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
from dataclasses import replace
from pathlib import Path

from kneewear.errors import DamagedFileError, Finding, InputDataError, OutputFileError

logger = logging.getLogger(__name__)

_MAKE_WRITABLE = "Make the folder writable, or run in another one."
_REMEDIES = {
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
        "Make room on the disk (or raise the quota), then run the same command again.",
    ),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _MAKE_WRITABLE),
}
# Endings of results that have a digest.
_CHECKED = (".csv", ".nc", ".json")
# Smaller files are read to see whether they are as they were written.
_LARGE_BYTES = 1_000_000
# Between the digest of a file and the file itself, which are renamed one after the other.
_AT_ONCE_S = 0.005
# What a pipe, a socket or a device in a folder of results is: reading one may never end.
_IRREGULAR = "a pipe or a device"
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
    refuse_irregular(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise _unreadable(path, error, expected, remedy) from None
    _compare_digest(path, hashlib.sha256(content).hexdigest())
    return content


def refuse_irregular(path: str | Path) -> None:
    """Raise DamagedFileError of a pipe, a socket or a device, which are not opened."""
    if Path(path).exists() and not _is_regular(Path(path)):
        raise DamagedFileError(path, _IRREGULAR, "a file of results")


def check_digest(path: str | Path) -> None:
    """Refuse a large file of results that is not as it was written; raises as `read_checked`."""
    refuse_irregular(path)
    try:
        found = file_hash(path)
    except OSError as error:
        raise _unreadable(path, error, "a result file", "Check the path.") from None
    _compare_digest(path, found)


def damaged_files(folder: str | Path) -> list[DamagedFileError]:
    """Errors of all files of results in a folder that are not as they were written.

    Pipes and devices are among them. Files without a digest and files that were removed are left
    out. A large file whose time of change, which no program sets back, is the time of its digest is
    taken as unchanged.
    """
    entries = sorted(Path(folder).rglob("*"))
    irregular = [path for path in entries if path.exists() and not _is_regular(path)]
    found = [DamagedFileError(path, _IRREGULAR, "a file of results") for path in irregular]
    for record in entries:
        if record.parent.name != ".digests" or record.suffix != ".sha256":
            continue
        path = record.parents[1] / record.name.removesuffix(".sha256")
        if path in irregular or record in irregular:
            continue
        try:
            state, written = path.stat(), record.stat()
        except FileNotFoundError:
            continue
        untouched = state.st_ctime - written.st_ctime < _AT_ONCE_S
        if state.st_size < _LARGE_BYTES or not untouched:
            try:
                check_digest(path)
            except DamagedFileError as error:
                found.append(error)
    return found


def refuse_damaged(folder: str | Path) -> None:
    """Raise the first of the errors of `damaged_files`, if there is any."""
    for error in damaged_files(folder):
        raise error


def unchecked_files(folder: str | Path) -> list[Path]:
    """Tables, arrays and records of results, no links, without a digest: nothing checks them."""
    results = (path for path in sorted(Path(folder).rglob("*")) if path.suffix in _CHECKED)
    own = (path for path in results if path.is_file() and not path.is_symlink())
    return [path for path in own if not digest_path(path).is_file()]


def set_aside(error: DamagedFileError) -> Finding:
    """Rename a damaged file, or the folder that a job writes as a whole; returns what is left.

    The next run finds it missing, and creates it again.
    """
    # Snakemake marks such folders, and goes by them alone.
    whole = (error.path.parent / ".snakemake_timestamp").exists()
    path = error.path.parent if whole else error.path
    renamed = _aside(path)
    try:
        path.replace(renamed)
    except FileNotFoundError:  # another job was faster
        pass
    except OSError:
        return error.finding
    remedy = f"It is set aside as {renamed.name}: run the same command again."
    return replace(error.finding, remedy=remedy)


def _aside(path: Path) -> Path:
    """Name of a damaged file or folder that was set aside."""
    return path.with_name(f"{path.name}.damaged")


def _unreadable(path: str | Path, error: OSError, expected: str, remedy: str) -> InputDataError:
    """Error of a file that cannot be read; one that was damaged before is named."""
    found = "no file" if isinstance(error, FileNotFoundError) else str(error)
    for aside in (_aside(Path(path)), _aside(Path(path).parent)):
        if found == "no file" and aside.exists():
            found = f"no file, because it was damaged and is set aside as {aside.name}"
            remedy = "Run the same command again: it is computed again."
    return InputDataError(path, found, expected, remedy)


def _is_regular(path: Path) -> bool:
    """True of files and folders, and of links to them; False of pipes, sockets and devices."""
    return path.is_file() or path.is_dir()


def _compare_digest(path: str | Path, found: str) -> None:
    """Raise DamagedFileError where the hash of a content is not the digest of the file."""
    path = Path(path)
    refuse_irregular(digest_path(path))
    try:
        line = digest_path(path).read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        logger.warning("%s has no digest beside it: its content is not checked", path)
        return
    written, _, name = line.rstrip("\n").partition("  ")
    if name and name != path.name:
        raise DamagedFileError(
            path, f"the digest of {name} beside it", f"the digest of {path.name}"
        )
    if found != written:
        found, expected = f"content with the digest {found[:12]}...", f"{written[:12]}..."
        raise DamagedFileError(path, found, f"{expected}, as it was written")


def check_writable(folder: str | Path) -> None:
    """Refuse a folder of results, which may be missing, in which files cannot be replaced.

    Raises OutputFileError, naming the first folder in it that cannot be written, or the file that
    is where it should be.
    """
    folder = Path(folder)
    start = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    if not start.is_dir():
        raise OutputFileError(start, "it is no folder", "Remove or rename it, or run elsewhere.")
    inner = (Path(path) for path, _, _ in os.walk(folder))
    existing = inner if start == folder else (start,)
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
