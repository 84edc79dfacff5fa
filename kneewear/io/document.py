"""Text and JSON documents (`report/index.html`, `provenance.json`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kneewear.errors import DamagedFileError
from kneewear.io.atomic import atomic_path
from kneewear.io.digests import read_checked


def save_text(text: str, path: str | Path) -> None:
    """Write text as UTF-8."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def save_json(record: Mapping[str, Any], path: str | Path) -> None:
    """Write a record of plain builtins as indented JSON."""
    save_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", path)


def load_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON record.

    Raises
    ------
    InputDataError
        When the file cannot be read.
    DamagedFileError
        When its digest is not that of what was written, or it is no JSON object.
    """
    try:
        record = json.loads(read_checked(path, "a JSON record"))
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(path, str(error), "a JSON record") from error
    if not isinstance(record, dict):
        raise DamagedFileError(path, type(record).__name__, "a JSON object")
    return record
