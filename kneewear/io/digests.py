"""Digests of result files: a damaged file is detected before it is read."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from kneewear.errors import DamagedFileError, InputDataError

logger = logging.getLogger(__name__)


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file, hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_path(path: str | Path) -> Path:
    """File with the digest of a file, in the folder `.digests` beside it."""
    path = Path(path)
    return path.parent / ".digests" / f"{path.name}.sha256"


def digest_line(content: Path, name: str) -> str:
    """Digest of the file `content`, to be renamed `name`, in the form that `sha256sum` checks."""
    return f"{file_hash(content)}  {name}\n"


def read_checked(
    path: str | Path, expected: str = "a result file", remedy: str = "Check the path."
) -> bytes:
    """Content of a result file, which must be the one that was written.

    Parameters
    ----------
    path : str or Path
        Result file. One without a digest (copied alone, or written by another program) passes,
        with a warning in the log.
    expected, remedy : str
        For the message when it cannot be read.

    Returns
    -------
    bytes
        The bytes whose digest was compared.

    Raises
    ------
    InputDataError
        When the file cannot be read.
    DamagedFileError
        When its digest differs from that of what was written.
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
        raise DamagedFileError(
            path,
            f"content with the digest {found[:12]}...",
            f"{written[:12]}..., as it was written",
        )
    return content
