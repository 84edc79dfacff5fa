"""Public data files, downloaded at a pinned commit and compared with their digests.

`data_files.csv` names each file, a commit that holds it, where it is in its repository, and its
SHA-256; that of a text is of its form with line ends of one byte.
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
_PATIENCE_S = 30.0


class DataFile(NamedTuple):
    """A file of the data folder, its commit and path in the repository, and its digest."""

    file: str
    commit: str
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
        part = target.with_name(f"{target.name}.part")
        _download(part, [base + urllib.parse.quote(file.path) for base in bases])
        found = _digest(part, target.suffix)
        if found != file.sha256:
            part.unlink()
            raise InputDataError(
                target,
                f"a file with SHA-256 {found}",
                file.sha256,
                "Name another mirror with --mirror, or copy the file by hand.",
                check="fetch.digest",
            )
        part.replace(target)
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
        part.with_suffix(""),
        "; ".join(reasons),
        "an address that answers",
        "Connect to the network, or copy the files by hand: docs/how-to/own-implant.md.",
        check="fetch.offline",
    )
