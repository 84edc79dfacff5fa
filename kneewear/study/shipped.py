"""Settings that come with kneewear: shelves of studies, and files found at a place of before.

The folder `config` has the studies that users start from. Its folders `evidence` and `papers` are
shelves: studies that exist as evidence, and knees of papers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

from kneewear import checkout_folder
from kneewear.base.files import read_settings_file
from kneewear.errors import Finding

# Shelves by the folder below `config`, and what is on them.
SHELVES = {
    "": "to start from",
    "evidence": "evidence",
    "papers": "knees of papers",
}
COMMAND = re.compile(
    r"^(?:snakemake --cores 2 --configfile|make study CONFIG=)\s*\"?([\w./ ]+)\"?$"
)
# Commands of make by what they are called outside a checkout.
_COMMANDS = {"study": "run", "unlock": "unlock", "check-inputs": "check", "compare": "compare"}
# Not within a longer path, which exists where it is read.
_PLACE = re.compile(
    r"(?<![\w/.-])config/[\w./-]*\w|(?<![\w/.-])docs/(?P<page>[\w/-]+)\.md|\bmake (?P<command>"
    + "|".join(_COMMANDS)
    + r")\b(?P<value> [A-Z]+=)?"
)
# No studies of their own: the values of every key, and a template of the reader's.
TEMPLATES = ("defaults", "config")


def shipped_folder() -> Path:
    """Folder of the settings that come with kneewear."""
    return checkout_folder() / "config"


def shipped_studies(folder: Path | None = None) -> dict[str, list[Path]]:
    """Files of settings that come with kneewear, by shelf (key of `SHELVES`), in their order.

    `folder` is searched instead of the shipped one.
    """
    root = folder or shipped_folder()
    found: dict[str, list[Path]] = {}
    for shelf in SHELVES:
        files = root.glob("*.yaml") if shelf == "" else (root / shelf).rglob("*.yaml")
        found[shelf] = sorted(file for file in files if file.stem not in TEMPLATES)
    return found


def find_study(name: str) -> Path | None:
    """File of settings of a name; None where there is none.

    A file of the user comes first: `name` itself, then `config/NAME.yaml` in the working folder.
    Otherwise `NAME` is a study that comes with kneewear, on any shelf; a path below `config` may
    also be one that it had before it was put on a shelf (see `moved_file`).
    """
    path = Path(name)
    if path.is_file():
        return path
    if (path.parent, path.suffix) == (Path(), ""):
        file = f"{path.stem}.yaml"
        root = shipped_folder()
        places = [Path("config", file), root / file, *sorted(root.rglob(file))]
        return next((place for place in places if place.is_file()), None)
    return moved_file(path)


def moved_file(path: str | Path, shelves: Iterable[str] = SHELVES) -> Path | None:
    """File that comes with kneewear of a path below its folder `config`; None without one.

    `path` starts with `config`, or is in the shipped folder. Of a file that was put on a shelf it
    is the path of before; only these `shelves` are searched.
    """
    root, given = shipped_folder(), Path(path)
    if given.parts[:1] == ("config",):
        inner = Path(*given.parts[1:])
    else:
        try:
            inner = given.resolve().relative_to(root)
        except ValueError:
            return None
    places = (root / shelf / inner for shelf in shelves)
    return next((place for place in places if place.is_file()), None)


def moved_finding(path: str | Path, where: str = "") -> Finding | None:
    """Finding that names the new place of a file that was put on a shelf; None for other files.

    `where` is the file or key that names it; `path` itself if it is left out.
    """
    if Path(path).is_file():
        return None
    file = moved_file(path)
    if file is None:
        return None
    place = file.relative_to(shipped_folder().parent)
    if Path(path).parts[-len(place.parts) :] == place.parts:
        return None
    return Finding(
        "files.moved",
        "warn",
        where or str(path),
        "a file that stands on a shelf now",
        place.as_posix(),
        "Name it there: the former place is found in this release only.",
    )


def reachable(text: str) -> str:
    """Text of a message whose places exist where it is read, also outside a checkout.

    Files of settings that the working folder lacks are named where they are installed, pages of the
    documentation by their address, and commands of make by commands of `kneewear`.
    """
    return _PLACE.sub(_reachable_place, text)


def _reachable_place(match: re.Match[str]) -> str:
    """Place of a message, or the command, that exists outside a checkout."""
    place = match[0]
    if Path(place).exists() or (match["command"] and Path("Makefile").is_file()):
        return place
    if match["command"]:
        return f"kneewear {_COMMANDS[match['command']]}{' ' if match['value'] else ''}"
    if match["page"]:
        address = dict(line.split(", ", 1) for line in _project_addresses())
        return f"{address['Documentation']}/{match['page']}/"
    file = moved_file(place)
    return place if file is None else str(file)


def _project_addresses() -> list[str]:
    """Lines of the package's metadata that name its addresses."""
    return metadata("kneewear").get_all("Project-URL") or ["Documentation, docs"]


def list_studies() -> list[str]:
    """Lines that list the shipped studies by shelf: name, first sentence, and what each needs."""
    lines = []
    for shelf, files in shipped_studies().items():
        place = Path("config", shelf).as_posix()
        lines += ["", f"{SHELVES[shelf].capitalize()} ({place}/)"]
        for file in files:
            needs = needs_of(file)
            lines += [f"  {file.stem}", f"      {first_sentence(file)}"]
            lines += [f"      Needs {'; '.join(needs)}."] if needs else []
    return [*lines[1:], "", "Run one with: kneewear run NAME"]


def needs_of(file: Path) -> list[str]:
    """Return the needs of a shipped study: settings before its own, studies before it, and data."""
    names = [[Path(one).stem for one in match.split()] for match in _commands(file)]
    own = next((found for found in names if file.stem in found), [file.stem])
    before = own[: own.index(file.stem)]
    needs = [f"the settings of {one} before its own" for one in before]
    texts = [text for one in (*before, file.stem) for text in _texts(_content(one))]
    paths = [Path(text).parts for text in texts if Path(text).suffix in {".csv", ".stl"}]
    used = {parts[1] for parts in paths if parts[0] == "results" and "<" not in parts[1]}
    needs += [f"the finished study {one}" for one in sorted(used)]
    folders = {parts[0] for parts in paths if len(parts) > 1} - {"config", "results"}
    needs += [f"data that are not shipped ({', '.join(sorted(folders))})"] if folders else []
    return needs


def first_sentence(path: Path) -> str:
    """First sentence of the comment at the top of a file."""
    return re.split(r"(?<!al)\.(?: |$)", comment(path))[0] + "."


def comment(path: Path) -> str:
    """First paragraph of a file's comment, up to its first command."""
    found = []
    for line in comment_lines(path):
        if not line or COMMAND.match(line) or line.endswith("     "):
            break
        found.append(line)
    text = " ".join(found)
    return text[:-1] + "." if text.endswith(":") else text


def comment_lines(path: Path) -> Iterator[str]:
    """Lines of the comment at the top of a file, without the name of its schema."""
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            return
        if "$schema" not in line:
            yield line[1:].strip()


def _commands(path: Path) -> list[str]:
    """Files of each command of a file's comment, split at blanks by the reader."""
    return [match[1] for line in comment_lines(path) if (match := COMMAND.match(line))]


def _content(name: str) -> dict[str, Any]:
    file = find_study(name)
    return {} if file is None else read_settings_file(file).content


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts of settings."""
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
