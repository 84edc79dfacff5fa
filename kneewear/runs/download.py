"""Public data files, downloaded at a pinned commit and compared with their digests.

`data_files.csv` names each file, a commit that holds it, where it is in its repository, its SHA-256
(of a text, with line ends of one byte), and how many bytes it has at most.
"""

from __future__ import annotations

import csv
import hashlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import NamedTuple

import numpy as np
import pandas as pd

from kneewear.errors import InputDataError
from kneewear.io.documents import save_table

# Addresses of the repository (Apache-2.0) at a commit; the first that answers is used.
SOURCES = (
    "https://raw.githubusercontent.com/opensim-jam-org/jam-resources/{commit}/",
    "https://cdn.jsdelivr.net/gh/opensim-jam-org/jam-resources@{commit}/",
)
# A checkout may have changed line ends of these.
_TEXTS = (".sto",)
# Motion of subject DM as published, and as the table of curves that its studies name.
_MOTION = "gc_dm/fluoroscopic_gait.sto"
_MOTION_TABLE = "gc_dm/fluoro_gait_dm.csv"
_TABLE = Path(__file__).with_name("data_files.csv")
_BLOCK = 1 << 16
# Without an answer, and for a whole file: a slow line has 20 kB/s.
_PATIENCE_S = 30.0
_MIN_BYTES_PER_S = 20_000.0


class DataFile(NamedTuple):
    """A file of the data folder, its commit and path in the repository, digest and largest size."""

    file: str
    commit: str
    path: str
    sha256: str
    max_bytes: int

    @property
    def longest(self) -> float:
        """Time in which it is downloaded at the latest, s."""
        return _PATIENCE_S + self.max_bytes / _MIN_BYTES_PER_S


def data_files() -> list[DataFile]:
    """Files that can be downloaded."""
    with _TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        DataFile(row["file"], row["commit"], row["path"], row["sha256"], int(row["max_bytes"]))
        for row in rows
    ]


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
        When no address gives a file, with the check "fetch.digest" if one gave a file that
        differs from its digest, else "fetch.offline". A download that broke off goes on where it
        ended.
    """
    lines = []
    for file in data_files():
        bases = [
            *(mirror.rstrip("/") + "/" for mirror in mirrors),
            *(source.format(commit=file.commit) for source in SOURCES),
        ]
        target = folder / file.file
        if target.is_file() and _digest(target) == file.sha256:
            lines.append(f"{target}: there")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        _download(file, target, [base + urllib.parse.quote(file.path) for base in bases])
        lines.append(f"{target}: downloaded, {target.stat().st_size / 1e6:.1f} MB")
    motion, table = folder / _MOTION, folder / _MOTION_TABLE
    if motion.is_file() and not table.is_file():
        save_table(fluoroscopic_curves(motion), table)
        lines.append(f"{table}: written from {motion.name}")
    return lines


def fluoroscopic_curves(path: Path) -> pd.DataFrame:
    """Curves of the published fluoroscopic gait of subject DM: percent, deg and mm.

    Its names of angles are those of a joint of OpenSim, its values a position of the femoral
    component along axes to posterior, superior and medial, m, and turns R = Ry Rx Rz about them,
    rad, in the order x, y, z: with these signs both condyles stay on the insert over the cycle.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index("endheader") + 2
    percent, x, y, z, varus, external, extension = np.loadtxt(lines[start:], unpack=True)
    table = {
        "percent_gait_cycle": percent,
        "flexion_deg": np.degrees(-extension),
        "varus_deg": np.degrees(varus),
        "tibial_external_rotation_deg": np.degrees(external),
        "femur_anterior_mm": -1e3 * x,
        "femur_superior_mm": 1e3 * y,
        "femur_lateral_mm": -1e3 * z,
    }
    return pd.DataFrame(table).round(5)


def _digest(path: Path, suffix: str | None = None) -> str:
    """SHA-256 of a file, of a text with line ends of one byte."""
    content = path.read_bytes()
    if (suffix or path.suffix) in _TEXTS:
        content = content.replace(b"\r\n", b"\n")
    return hashlib.sha256(content).hexdigest()


def _download(file: DataFile, target: Path, addresses: Sequence[str]) -> None:
    """Download from the first address that gives the file; goes on with a part that is there."""
    part = target.with_name(f"{target.name}.part")
    reasons, digest = [], ""
    for address in addresses:
        place = address.partition("//")[2].partition("/")[0] or address
        # A part may be of another server's file: if it is, this server's is read from its start.
        for resumes in (True, False) if part.is_file() else (False,):
            try:
                _save_answer(address, part, file, resumes)
            except _NoAnswerError as error:
                reasons.append(f"{place}: {error}")
                break
            digest = _digest(part, target.suffix)
            if digest == file.sha256:
                part.replace(target)
                return
            part.unlink()
            reasons.append(f"{place}: a file with SHA-256 {digest}")
    raise InputDataError(
        target,
        "; ".join(reasons),
        f"a file with SHA-256 {file.sha256}" if digest else "an address that answers",
        "Name another mirror with --mirror, or copy the file by hand."
        if digest
        else "Connect to the network, or copy the files by hand: docs/how-to/own-implant.md.",
        check="fetch.digest" if digest else "fetch.offline",
    )


class _NoAnswerError(Exception):
    """A server that does not answer, or not as it should."""


def _save_answer(address: str, part: Path, file: DataFile, resumes: bool) -> None:
    """Write what a server sends, at most the size of the file, into a part of it.

    Raises _NoAnswerError, and removes a part that is too large.
    """
    blocks = _blocks(address, part.stat().st_size if resumes else 0)
    for position, block in _in_time(blocks, file.longest):
        if position + len(block) > file.max_bytes:
            part.unlink(missing_ok=True)
            raise _NoAnswerError(f"more than the {file.max_bytes} bytes of the file")
        with part.open("ab" if position else "wb") as written:
            written.write(block)


def _blocks(address: str, begun: int) -> Iterator[tuple[int, bytes]]:
    """Yield positions in the file, and what a server sends from there; raise _NoAnswerError."""
    try:
        request = urllib.request.Request(address)
        if begun:
            request.add_header("Range", f"bytes={begun}-")
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
            # A server without ranges sends all.
            position, block = begun if answer.status == 206 else 0, b""
            yield position, block
            while block := answer.read1(_BLOCK):
                yield position, block
                position += len(block)
            if missing := getattr(answer, "length", None):
                raise _NoAnswerError(f"{missing} bytes less than announced")
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError) and error.code == 416:
            return  # all is there; the digest decides
        raise _NoAnswerError(str(error) or type(error).__name__) from error


def _in_time(blocks: Iterator[tuple[int, bytes]], longest: float) -> Iterator[tuple[int, bytes]]:
    """Yield what comes within a time, s; raise _NoAnswerError after it.

    A server that sends a byte now and then, in its head too, never reaches the limit of a read: the
    answer is read in a thread, which is left behind.
    """
    end = time.monotonic() + longest
    queue: Queue[tuple[int, bytes] | _NoAnswerError | None] = Queue(maxsize=4)
    ended = Event()

    def read() -> None:
        try:
            for block in blocks:
                queue.put(block)
                if ended.is_set():
                    return
            queue.put(None)
        except _NoAnswerError as error:
            queue.put(error)

    Thread(target=read, daemon=True).start()
    try:
        while True:
            try:
                item = queue.get(timeout=max(0.0, end - time.monotonic()))
            except Empty:
                raise _NoAnswerError(f"not finished after {longest:.0f} s") from None
            if item is None:
                return
            if isinstance(item, _NoAnswerError):
                raise item
            yield item
    finally:
        ended.set()
