"""Bytes of a file that a user names, with files that are not what their names say refused."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from kneewear.errors import InputDataError

# Bytes at the start of a file in which its signature is searched.
_HEAD_BYTES = 4096
_EXPORT = "Export what is in it as text, a mesh or a CAD part, and name that file."
_DOWNLOAD = "Download the file itself: open it on its page, and use the button that downloads it."
_UNPACK = "Unpack it, and name the file in it."


class _Signature(NamedTuple):
    """Start of a kind of file, endings of files that are of it, and how to get the content."""

    name: str
    start: re.Pattern[bytes]
    remedy: str
    endings: tuple[str, ...] = ()


def _signature(name: str, start: bytes, remedy: str, *endings: str) -> _Signature:
    return _Signature(name, re.compile(start, re.IGNORECASE | re.DOTALL), remedy, endings)


# Start of a zip file with a member.
_PACKED = b"PK\x03\x04"
# Lines between which Git writes both versions of a part.
_CONFLICT = re.compile(rb"^<<<<<<< [^\n]*\n(?=[^\0]*^=======\r?$[^\0]*^>>>>>>> )", re.MULTILINE)
_BLANKS = rb"(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*"
# The first that matches names the file.
_SIGNATURES = (
    _signature(
        "a pointer of Git LFS, in place of the file",
        _BLANKS + rb"version https?://(git-lfs\.github\.com|git-media\.io|hawser\.github\.com)/",
        "Run git lfs pull in its repository, or download the file itself from its page.",
    ),
    _signature(
        "a pointer of DVC, in place of the file",
        _BLANKS + rb"outs:\s+- (md5|etag|hash|path|size):",
        "Run dvc pull in its repository, or download the file itself from its page.",
    ),
    _signature(
        "a pointer of git-annex, in place of the file",
        _BLANKS + rb"[^\n]{0,300}annex/objects/",
        "Run git annex get in its repository, or download the file itself from its page.",
    ),
    _signature(
        "the name of another file: a link that Git wrote as text",
        rb"(link )?([A-Z]:)?([\w. -]{0,80}[/\\])*[\w. -]{1,80}"
        rb"\.(stl|obj|ply|vtp|xyz|ste?p|ige?s|csv|txt|sto|mot|osim|ya?ml)\s*\Z",
        "Name the file to which it leads.",
    ),
    _signature(
        "a page of HTML",
        _BLANKS + rb"(<\?xml[^>]*>\s*)?<(!doctype\s+html|html|head|body|script|meta|title|table)\b",
        _DOWNLOAD,
    ),
    _signature(
        "the error of a server",
        _BLANKS + rb"((<\?xml[^>]*>\s*)?<error>|\d{3}: [\w ]+\s*$|\{\s*\"(message|error)\"\s*:)",
        _DOWNLOAD,
    ),
    _signature("a workbook of Excel", rb"PK\x03\x04.*(xl/|\[Content_Types\]\.xml)", _EXPORT),
    _signature("a zip file", rb"PK(\x03\x04|\x05\x06)", _UNPACK),
    _signature(
        "a compressed file",
        rb"\x1f\x8b|BZh\d|\xfd7zXZ|7z\xbc\xaf\x27\x1c|Rar!|\x28\xb5\x2f\xfd",
        _UNPACK,
    ),
    _signature("a document of Excel 97, Word 97 or SolidWorks", rb"\xd0\xcf\x11\xe0", _EXPORT),
    _signature("a PDF document", rb"%PDF-", _EXPORT),
    _signature("a document in rich text", rb"\{\\rtf", _EXPORT),
    _signature("a picture", rb"\x89PNG|\xff\xd8\xff|GIF8\d|BM.{4}\0{4}|(II\*|MM\0\*)", _EXPORT),
    _signature(
        "what macOS stores besides a file (._NAME)",
        rb"\0\x05\x16[\0\x07]",
        "Name the file without ._ before its name.",
    ),
    _signature(
        "a shortcut to a file",
        rb"\x4c\0\0\0\x01\x14\x02\0|\[InternetShortcut\]",
        "Name the file to which it leads.",
    ),
    _signature("a file of MATLAB", rb"MATLAB [57]\.\d MAT-file", _EXPORT),
    _signature("a file of HDF5 or NetCDF", rb"\x89HDF\r\n|CDF[\x01\x02\x05]", _EXPORT),
    _signature("a table of Parquet, Arrow or Feather", rb"PAR1|ARROW1|FEA1", _EXPORT),
    _signature("a database of SQLite", rb"SQLite format 3\0", _EXPORT),
    _signature("arrays that Python stored", rb"\x93NUMPY|\x80[\x02-\x05][\x95\x8a}\]c(]", _EXPORT),
    _signature(
        "a model in glTF, USD or OFF",
        rb"glTF[\x01\x02]|#usda |PXR-USDC|(ST|C|N)*OFF\s+(#[^\n]*\n\s*)*\d+ \d+ \d+\s",
        _EXPORT,
    ),
    _signature("a workbook of Excel", _BLANKS + rb"(<\?xml[^>]*>\s*)?<\?mso-application", _EXPORT),
    _signature("a mesh in AMF", _BLANKS + rb"(<\?xml[^>]*>\s*)?<amf\b", _EXPORT),
    _signature("a drawing in DXF", rb"\s*0\r?\n\s*SECTION\r?\n", _EXPORT),
    _signature("a part in JT", rb"Version \d+\.\d+\s+JT\b", _EXPORT),
    _signature(
        "a mesh of finite elements",
        rb"\s*(/PREP7|/BATCH|\*HEADING|\*NODE\b|\$MeshFormat|BEGIN BULK|\*KEYWORD)",
        _EXPORT,
    ),
    _signature("materials of an OBJ file", rb"(\s*#[^\n]*\n)*\s*newmtl\s", "Name the .obj file."),
    _signature("a recording in C3D", rb"[\x02-\x10]P[\x01-\xff]", _EXPORT),
    _signature("a DICOM file", rb".{128}DICM", _EXPORT),
    _signature("a STEP file", rb"\s*ISO-10303-21\s*;", "Name it .step.", ".step", ".stp"),
    _signature("a part of Parasolid", rb"\*\*ABCDEFGHIJKLMNOPQRSTUVWXYZ", _EXPORT),
    _signature("a mesh in PLY", rb"ply\r?\n\s*(format|comment|obj_info)", "Name it .ply.", ".ply"),
    _signature("a file of VTK before XML", rb"# vtk DataFile", "Save it as .vtp or .stl."),
)


def read_content(
    path: str | Path,
    expected: str,
    largest: int,
    remedy: str,
    smaller: str = "export it coarser, or in a binary format",
    endings: Collection[str] = (),
) -> bytes:
    """Bytes of a regular file of at most `largest` bytes that is what it is `expected` to be.

    Parameters
    ----------
    path : str or Path
        The file.
    expected : str
        What it should be, "a mesh file".
    largest : int
        Bytes.
    remedy : str
        What to do about a path that is no file.
    smaller : str, optional
        What to do about a file that is too large.
    endings : collection of str, optional
        Endings of packed files that the caller unpacks, such as workbooks.

    Returns
    -------
    bytes

    Raises
    ------
    InputDataError
        If the path names no file but a folder, a pipe or a device; if the file is empty, too large
        or not readable; or if it is a file of another kind: a pointer to the content, a page of
        HTML, a workbook, an archive.
    """
    path = Path(path)
    if not path.is_file():
        other = "a folder" if path.is_dir() else "a pipe or a device"
        raise InputDataError(path, other if path.exists() else "no such file", expected, remedy)
    size = path.stat().st_size
    if size == 0:
        raise InputDataError(path, "an empty file", expected, "Copy or export the file again.")
    if size > largest:
        limit = f"at most {largest / 1e6:g} MB"
        advice = f"Is it the right file? Then {smaller}."
        raise InputDataError(path, f"a file of {size / 1e6:.1f} MB", limit, advice)
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputDataError(path, reason, expected, "Check file and permissions.") from error
    head = _plain_head(content)
    unpacked = path.suffix.lower() in endings and content.startswith(_PACKED)
    for signature in () if unpacked else _SIGNATURES:
        if path.suffix.lower() not in signature.endings and signature.start.match(head):
            raise InputDataError(path, signature.name, expected, signature.remedy)
    merged = _CONFLICT.search(content) if b"<<<<<<< " in content else None
    if merged:
        number = content.count(b"\n", 0, merged.start()) + 1
        state = "two versions of lines, which Git could not merge"
        remedy = "Keep one of the versions, and remove the lines <<<<<<<, ======= and >>>>>>>."
        raise InputDataError(path, state, expected, remedy, f"line {number}")
    return content


def _plain_head(content: bytes) -> bytes:
    """Start of a file, of one byte each character where it is text in UTF-16."""
    head = content[: 2 * _HEAD_BYTES]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "replace").encode("latin-1", "replace")
    return head[:_HEAD_BYTES]
