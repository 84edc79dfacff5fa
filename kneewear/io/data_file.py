"""Content of a user's data file, with the faults every kind of file shares."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection
from pathlib import Path

from kneewear.base.content import read_content
from kneewear.errors import InputDataError

# Largest files, bytes: twenty million triangles, or the same as text.
LARGEST_BINARY = 1_000_000_000
LARGEST_TEXT = 200_000_000
# No implant is as large in any unit; damaged numbers are.
LARGEST_COORDINATE = 1e9

# Control characters that no text has.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")


def read_data(
    path: str | Path, kind: str, largest: int = LARGEST_BINARY, endings: Collection[str] = ()
) -> bytes:
    """Bytes of a data file of a `kind` ("a mesh"), at most `largest`.

    Packed files with one of the `endings` are unpacked by the caller.

    Raises InputDataError as `read_content`.
    """
    remedy = "Check `data_folder` and the file's name."
    return read_content(path, f"{kind} file", largest, remedy, endings=endings)


def decode_text(path: str | Path, content: bytes, fallback: str | None = None) -> str:
    """Text of a data file in UTF-8, or in UTF-16 with a byte order mark.

    A text that is not UTF-8 is read in the encoding `fallback`, if one is given and fits. Raises
    InputDataError when it is in another encoding or holds binary content.
    """
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if fallback is not None and not wide and not _BINARY.search(content):
            return decode_text(path, content.decode(fallback, "replace").encode())
        line = content.count(b"\n", 0, error.start) + 1
        raise InputDataError(
            path,
            f"a byte 0x{content[error.start]:02x} that is not UTF-{16 if wide else 8}",
            "text in UTF-8 or ASCII",
            "Save it as text in UTF-8 (not as a spreadsheet); binary content is damaged or of "
            "another format.",
            f"line {line}",
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputDataError(
            path, "binary content", "text", "Export the file again.", f"line {line}"
        )
    return text


def parse_numbers(
    path: str | Path, number: int, line: str, words: list[str], expected: str, most: int = 3
) -> list[float]:
    """At least three coordinates in words of a line, and at most `most` numbers."""
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if not 3 <= len(values) <= most or not all(abs(v) < LARGEST_COORDINATE for v in values):
        raise line_fault(path, number, line, expected)
    return values


def line_fault(
    path: str | Path, number: int, line: str, expected: str, place: str = "line"
) -> InputDataError:
    """Error for one line (counted from 1) of a text file; long lines are shortened."""
    shown = line.strip()
    shown = f"'{shown[:60]}...'" if len(shown) > 60 else f"'{shown}'"
    return InputDataError(
        path, shown, expected, "Correct the line, or export the file again.", f"{place} {number}"
    )


def cut_off(path: str | Path, found: str, expected: str) -> InputDataError:
    """Error for a file that ends too early or is damaged."""
    remedy = "The file is cut off or damaged: copy or export it again."
    return InputDataError(path, found, expected, remedy)
