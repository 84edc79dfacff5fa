"""What must be right before Snakemake starts: named files of settings, temporary folder, home."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kneewear.errors import InputDataError
from kneewear.settings.files import read_settings_file

# Job scripts of Snakemake and compiled code need about as much.
_ROOM_BYTES = 1_000_000


def settings_files(words: Sequence[str]) -> list[str]:
    """Files of settings that were named on a command line, perhaps split at blanks.

    As many words as possible that name a file together are taken as one name. InputDataError as
    `read_settings_file` if one cannot be read or is no YAML.
    """
    parts = [part for word in words for part in word.split(" ") if part]
    files = []
    while parts:
        sizes = range(len(parts), 0, -1)
        size = next((n for n in sizes if Path(" ".join(parts[:n])).is_file()), 1)
        files.append(" ".join(parts[:size]))
        parts = parts[size:]
    for file in files:
        read_settings_file(file)
    return files


def check_machine() -> None:
    """Refuse a machine on which Snakemake cannot start.

    InputDataError if the temporary folder takes no file of a megabyte, or the folder of caches in
    the home folder can neither be written nor created.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=os.environ.get("TMPDIR")) as file:
            file.write(bytes(_ROOM_BYTES))
            file.flush()
    except OSError as error:
        raise InputDataError(
            "temporary folder " + os.environ.get("TMPDIR", "/tmp"),
            (error.strerror or str(error)).lower(),
            "a folder with room for a file of 1 MB",
            "Make room there, or name another folder: TMPDIR=folder make study.",
        ) from None
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    try:
        (folder / "snakemake").mkdir(parents=True, exist_ok=True)
        reason = "" if os.access(folder / "snakemake", os.W_OK) else "no permission to write"
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    if reason:
        raise InputDataError(
            f"cache folder {folder}",
            reason,
            "a folder in the home folder that can be written, which Snakemake needs",
            "Name another one: XDG_CACHE_HOME=folder make study.",
        )
