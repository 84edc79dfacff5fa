"""Public data files, downloaded at a pinned commit and compared with their digests.

`data_files.csv` names each file, where it is in its repository, and its SHA-256.
"""

from __future__ import annotations

import csv
import hashlib
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kneewear.errors import InputDataError
from kneewear.io.result_files import file_hash

# Addresses under which the repository can be read at the commit; the first that answers is used.
SOURCES = (
    "https://raw.githubusercontent.com/opensim-jam-org/jam-resources/{commit}/",
    "https://cdn.jsdelivr.net/gh/opensim-jam-org/jam-resources@{commit}/",
)
# Contains all files; licence Apache-2.0.
COMMIT = "842e8355b06f284bd13e8ae230ff8cdd613671b6"
_TABLE = Path(__file__).with_name("data_files.csv")
_BLOCK, _PATIENCE_S = 1 << 16, 30.0


class DataFile(NamedTuple):
    """A file of the data folder, its path in the repository, and its digest."""

    file: str
    path: str
    sha256: str


def data_files() -> list[DataFile]:
    """Files that can be downloaded."""
    with _TABLE.open(encoding="utf-8", newline="") as file:
        return [DataFile(**row) for row in csv.DictReader(file)]


def fetch_data(folder: Path, mirrors: Sequence[str] = ()) -> list[str]:
    """Download the files that a data folder lacks.

    Parameters
    ----------
    folder : Path
        Data folder; files that are there with the right digest stay.
    mirrors : sequence of str
        Base addresses that are tried before `SOURCES`.

    Returns
    -------
    list of str
        A line for each file.

    Raises
    ------
    InputDataError
        When no address answers, with the check "fetch.offline"; or when a file differs from its
        digest, "fetch.digest". A download that broke off goes on where it ended.
    """
    lines = []
    bases = [
        *(one.rstrip("/") + "/" for one in mirrors),
        *(s.format(commit=COMMIT) for s in SOURCES),
    ]
    for one in data_files():
        target = folder / one.file
        if target.is_file() and file_hash(target) == one.sha256:
            lines.append(f"{target}: there")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.part")
        _download(part, [base + urllib.parse.quote(one.path) for base in bases])
        found = hashlib.sha256(part.read_bytes()).hexdigest()
        if found != one.sha256:
            part.unlink()
            raise InputDataError(
                target, f"a file with SHA-256 {found}", one.sha256,
                "Name another mirror with --mirror, or copy the file by hand.",
                check="fetch.digest",
            )  # fmt: skip
        part.replace(target)
        lines.append(f"{target}: downloaded, {target.stat().st_size / 1e6:.1f} MB")
    return lines


def _download(part: Path, addresses: Sequence[str]) -> None:
    """Download from the first address that answers; goes on with a part that is there."""
    reasons = []
    for address in addresses:
        begun = part.stat().st_size if part.is_file() else 0
        request = urllib.request.Request(address)
        if begun:
            request.add_header("Range", f"bytes={begun}-")
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
                whole = answer.status != 206  # a server without ranges sends all
                with part.open("wb" if whole else "ab") as file:
                    while block := answer.read(_BLOCK):
                        file.write(block)
            return
        except (OSError, ValueError) as error:
            if isinstance(error, urllib.error.HTTPError) and error.code == 416:
                return  # all is there; the digest decides
            reasons.append(f"{urllib.parse.urlsplit(address).netloc}: {error}")
    raise InputDataError(
        part.with_suffix(""), "; ".join(reasons), "an address that answers",
        "Connect to the network, or copy the files by hand: docs/how-to/own-implant.md.",
        check="fetch.offline",
    )  # fmt: skip
