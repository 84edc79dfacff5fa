"""Faulty settings, meshes and tables, made by changing good ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from kneewear.settings.study import merge_settings, read_settings

CHECKOUT = Path(__file__).parent.parent.parent
EXAMPLE = CHECKOUT / "config" / "example_meshes"
STUDY = yaml.safe_load((CHECKOUT / "config" / "example_meshes.yaml").read_text())


def text(content: str | bytes) -> Callable[[Path], Path]:
    """A settings file of this content."""

    def make(folder: Path) -> Path:
        path = folder / "mine.yaml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def key(path: str, value: Any) -> Callable[[Path], Path]:
    """A settings file that sets one key of the default study."""
    for step in reversed(path.split(".")):
        value = {step: value}
    return text(yaml.safe_dump(value, allow_unicode=True))


def example(
    change: Callable[[dict[str, Any]], object] = lambda study: None,
    spare: Mapping[str, bytes] | None = None,
    **files: Callable[[bytes], bytes] | bytes | None,
) -> Callable[[Path], Path]:
    """The example study with its settings or some of its four files changed.

    `files` gives for insert, femoral, motion or load new content, a function of the old one, or
    None for no file; `spare` are further files by name.
    """

    def make(folder: Path) -> Path:
        study = yaml.safe_load(yaml.safe_dump(STUDY))
        study["data_folder"] = str(folder)
        meshes = study["implant"]["meshes"]
        activity = study["activities"]["example_gait"]
        indices = {
            "insert": (meshes, "insert"),
            "femoral": (meshes, "femoral"),
            "motion": (activity["motion"], "file"),
            "load": (activity["load"], "file"),
        }
        for name, (block, entry) in indices.items():
            source = CHECKOUT / block[entry]
            block[entry] = source.name
            content = files.get(name, source.read_bytes())
            if callable(content):
                content = content(source.read_bytes())
            if content is not None:
                (folder / source.name).write_bytes(content)
        for name, content in (spare or {}).items():
            (folder / name).write_bytes(content)
        change(study)
        path = folder / "mine.yaml"
        path.write_text(yaml.safe_dump(study, allow_unicode=True))
        return path

    return make


def shipped(name: str, changes: Mapping[str, Any], **files: str) -> Callable[[Path], Path]:
    """A study of `config` with some of its settings changed, and text files beside it."""

    def make(folder: Path) -> Path:
        for file, content in files.items():
            (folder / f"{file}.csv").write_text(content)
        path = folder / "mine.yaml"
        settings = merge_settings(read_settings(CHECKOUT / "config" / f"{name}.yaml"), changes)
        settings["data_folder"] = str(folder)
        path.write_text(yaml.safe_dump(settings))
        return path

    return make


def with_value(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Change of one key of the example study."""

    def change(study: dict[str, Any]) -> None:
        *blocks, last = path.split(".")
        for block in blocks:
            study = study[block]
        study[last] = value

    return change


def named(name: str, content: bytes, part: str = "insert") -> Callable[[Path], Path]:
    """The example study with another file for a component."""
    made = example(with_value(f"implant.meshes.{part}", name))

    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return made(folder)

    return make


def replaced(old: str, new: str, count: int = -1) -> Callable[[bytes], bytes]:
    """Change of a text file."""
    return lambda content: content.replace(old.encode(), new.encode(), count)


def row(number: int, change: Callable[[list[str]], list[str]]) -> Callable[[bytes], bytes]:
    """Change of the cells of one line of a CSV file, counted from 0."""

    def edit(content: bytes) -> bytes:
        lines = content.decode().splitlines()
        lines[number] = ",".join(change(lines[number].split(",")))
        return ("\n".join(lines) + "\n").encode()

    return edit


def column(number: int, change: Callable[[float], float]) -> Callable[[bytes], bytes]:
    """Change of all numbers in one column of a CSV file, counted from 0."""

    def edit(content: bytes) -> bytes:
        lines = content.decode().splitlines()
        for index in range(2, len(lines)):
            cells = lines[index].split(",")
            cells[number] = repr(float(change(float(cells[number]))))
            lines[index] = ",".join(cells)
        return ("\n".join(lines) + "\n").encode()

    return edit


def columns(numbers: tuple[int, ...], change: Callable[[float], float]) -> Callable[[bytes], bytes]:
    """The same change of several columns."""

    def edit(content: bytes) -> bytes:
        for number in numbers:
            content = column(number, change)(content)
        return content

    return edit


STORAGE = b"""gait
version=1
nRows=3
nColumns=2
endheader
time\tflexion_deg
0\t1
0.5\t2
1
"""


def vertices(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[bytes], bytes]:
    """Change of the corners of a binary STL, shape (n, 3, 3)."""

    def edit(content: bytes) -> bytes:
        kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
        triangles = np.frombuffer(content, kind, offset=84).copy()
        triangles["corners"] = change(triangles["corners"])
        return content[:84] + triangles.tobytes()

    return edit


def axial(change: Callable[[float], float]) -> Callable[[Path], Path]:
    """The example study with its load file taken for joint loads, after a change."""

    def settings(study: dict[str, Any]) -> None:
        load = study["activities"]["example_gait"]["load"]
        load |= {"kind": "axial_load", "load_range_body_weights": None}

    return example(settings, load=column(1, change))


def ascii_stl(content: bytes) -> str:
    """Text of a binary STL."""
    kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    lines = ["solid part"]
    for triangle in np.frombuffer(content, kind, offset=84)["corners"][:200]:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x} {y} {z}" for x, y, z in triangle]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid part"]) + "\n"


def spoilt(index: tuple[int, ...], value: float) -> Callable[[np.ndarray], np.ndarray]:
    """Change of one coordinate."""

    def change(corners: np.ndarray) -> np.ndarray:
        corners = corners.copy()
        corners[index] = value
        return corners

    return change


def deep(levels: int) -> str:
    """Lists within lists."""
    return "study: " + "[" * levels + "]" * levels + "\n"


def bomb() -> str:
    """Aliases of aliases: nine to the power of nine entries."""
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    for n in range(1, 9):
        lines.append(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]")
    return "\n".join(lines) + "\n"


def huge(folder: Path) -> Path:
    """An insert of two gigabytes that take no room on the disk."""
    with (folder / "huge.stl").open("wb") as file:
        file.truncate(2_000_000_000)
    return example(with_value("implant.meshes.insert", "huge.stl"))(folder)


def dangling(folder: Path) -> Path:
    """An insert that is a link to nowhere."""
    (folder / "link.stl").symlink_to(folder / "gone.stl")
    return example(with_value("implant.meshes.insert", "link.stl"))(folder)


def folder_for_file(folder: Path) -> Path:
    """An insert that is a folder."""
    (folder / "meshes.stl").mkdir()
    return example(with_value("implant.meshes.insert", "meshes.stl"))(folder)


def swapped(study: dict[str, Any]) -> None:
    """Exchange both components."""
    meshes = study["implant"]["meshes"]
    meshes["insert"], meshes["femoral"] = meshes["femoral"], meshes["insert"]
