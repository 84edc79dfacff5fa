"""Fingerprints of the code of rules: a rule runs again when a room it depends on has changed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Packages whose modules (or folders) serve different rules, and the names in the path of a room
# there: each module of a replication is one, because some of them draw.
_DIVIDED = {"io": 3, "knees": 4, "evidence": 3, "models": 3}
_IMPORT = re.compile(
    r"^[ \t]*(?:from (kneewear[\w.]*) import (\([^)]*\)|.*)|import (kneewear\S*))", re.M
)
# Comment lines, docstrings and meanings of settings, which do not count.
_WORDS = re.compile(
    r'^[ \t]*#.*\n|^[ \t]*r?"""(?:.|\n)*?"""[ \t]*\n'
    r'|(?:description=|\bquantity\()\s*\(?\s*(?:"(?:[^"\\]|\\.)*"\s*)+\)?',
    re.M,
)


def source_fingerprint(
    script: str, root: str | Path = ROOT, replications: Iterable[str] = ()
) -> str:
    """Hash of the rooms of the package that a script of `scripts/` depends on, hexadecimal.

    Counted are the rooms that the script imports, `replications`, which it loads by name, and the
    rooms that they import in turn, each as a whole: its modules and the tables (.csv) of the same
    names. The script is not hashed: Snakemake checks it. Comment lines, docstrings, texts of
    `description=` and empty lines do not count.
    Raises FileNotFoundError when there is no such script.
    """
    base = Path(root)
    text = (base / "scripts" / f"{script}.py").read_text(encoding="utf-8")
    if not (base / "kneewear").is_dir():  # scripts of an installed package
        base = ROOT
    waiting = _imports(text, base)
    waiting |= set(replications)
    rooms: set[str] = set()
    while waiting - rooms:
        room = (waiting - rooms).pop()
        rooms.add(room)
        waiting |= _read_room(base, room)[1]
    digest = hashlib.sha256()
    for room in sorted(rooms):
        digest.update(f"{room} {_read_room(base, room)[0]}\n".encode())
    return digest.hexdigest()[:24]


@cache
def _read_room(base: Path, room: str) -> tuple[str, frozenset[str]]:
    """Hash of a room's code, and the rooms it imports."""
    stem = base.joinpath(*room.split("."))
    files = sorted(stem.rglob("*.py")) if stem.is_dir() else [stem.with_suffix(".py")]
    digest, imported = hashlib.sha256(), set[str]()
    for file in files:
        text = file.read_text(encoding="utf-8")
        imported |= _imports(text, base)
        code = re.sub(r"\n\s*\n", "\n", _WORDS.sub("", text)).strip()
        digest.update(f"{file.relative_to(base)}\n{code}\n".encode())
        table = file.with_suffix(".csv")
        if table.is_file():
            digest.update(table.read_bytes())
    return digest.hexdigest(), frozenset(imported)


def _imports(text: str, base: Path) -> set[str]:
    """Rooms that the import statements of a module or script name."""
    modules = set[str]()
    for package, names, module in _IMPORT.findall(text):
        modules |= {package, module}
        modules |= {f"{package}.{name}" for name in re.findall(r"\w+", names)}
    return {room for module in modules if (room := _room_of(module, base))}


@cache
def _room_of(module: str, base: Path) -> str:
    """Room of a module; empty where there is none."""
    parts = module.split(".")
    depth = _DIVIDED.get(parts[1], 2) if parts[1:] else 2
    path = base.joinpath(*parts[:depth])
    known = len(parts) >= depth and (path.is_dir() or path.with_suffix(".py").is_file())
    return ".".join(parts[:depth]) if known else ""
