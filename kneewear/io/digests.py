"""Digests of result files, kept beside them: a damaged file is noticed before it is read."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from kneewear.errors import DamagedFileError

FOLDER = ".digests"

logger = logging.getLogger(__name__)


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file.

    Parameters
    ----------
    path : str or Path
        File to read.

    Returns
    -------
    str
        Hexadecimal digits.
    """
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_path(path: str | Path) -> Path:
    """Place of a file's digest: the folder `.digests` beside it.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Path
    """
    path = Path(path)
    return path.parent / FOLDER / f"{path.name}.sha256"


def digest_line(content: Path, name: str) -> str:
    """Digest of a file in the form of `sha256sum`, which can check it too.

    Parameters
    ----------
    content : Path
        File to read.
    name : str
        Name it is going to have.

    Returns
    -------
    str
    """
    return f"{file_hash(content)}  {name}\n"


def check_digest(path: str | Path) -> None:
    """Refuse a file that is not what was written.

    Parameters
    ----------
    path : str or Path
        Result file. One without a digest (copied alone, or of another program) passes, with a
        warning in the log.

    Raises
    ------
    DamagedFileError
        When its digest is another than when it was written.
    FileNotFoundError
        When there is no such file.
    """
    _compare(path, file_hash(path))


def read_checked(path: str | Path) -> bytes:
    """Content of a result file, checked as by `check_digest`.

    Parameters
    ----------
    path : str or Path
        Result file.

    Returns
    -------
    bytes
        The very bytes whose digest was compared.

    Raises
    ------
    DamagedFileError, FileNotFoundError
        As `check_digest`.
    """
    content = Path(path).read_bytes()
    _compare(path, hashlib.sha256(content).hexdigest())
    return content


def _compare(path: str | Path, found: str) -> None:
    try:
        written = digest_path(path).read_text(encoding="ascii", errors="replace").split(" ")[0]
    except FileNotFoundError:
        logger.warning("%s has no digest beside it: its content is taken on trust", path)
        return
    if found != written:
        raise DamagedFileError(
            path,
            f"content with the digest {found[:12]}...",
            f"{written[:12]}..., as it was written",
        )
