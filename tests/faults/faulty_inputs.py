"""Writes the faulty settings, meshes and tables that `faulty_inputs.yaml` lists.

A case starts from the default settings, or from a study of `config` (`base`), whose keys `set` and
`merge` change. `text` or `bytes` (hexadecimal) are a whole settings file instead; `spare` are
further files by name; `data` marks a case that reads files which are not shipped. The four files
of the example study are the keys `insert`, `femoral`, `motion` and `load`: null for no file, a
text, or changes of the original in their order, each a function of this module with its arguments.
`changed` has, by their keys in the settings, such changes of any files of the data folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy.spatial import cKDTree

from kneewear.study.settings import merge_settings, read_settings
from kneewear.study.shipped import find_study

CHECKOUT = Path(__file__).parents[2]
DATA = CHECKOUT.parent / "shared/data"
EXAMPLE = CHECKOUT / "config" / "example_meshes"
FILES = {"insert": "insert.stl", "femoral": "femoral.stl", "motion": "gait.csv", "load": "load.csv"}
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
# Coordinates of the example's motion that are zero, and what makes them alive.
_ALIVE = {
    "varus_deg": (1.2, -0.25),
    "femur_superior_mm": (0.9, 0.0),
    "femur_lateral_mm": (0.7, 0.16),
}


def write_input(case: dict[str, Any], folder: Path) -> Path:
    """Write the files of a case into a folder; returns its settings file."""
    path = folder / "mine.yaml"
    for name, content in case.get("spare", {}).items():
        (folder / name).write_bytes(content.encode("latin-1"))
    if "text" in case or "bytes" in case:
        path.write_bytes(case["text"].encode() if "text" in case else bytes.fromhex(case["bytes"]))
        return path
    settings: dict[str, Any] = {}
    if "base" in case:
        settings = read_settings(find_study(case["base"]))
        if not case.get("data"):
            settings["data_folder"] = str(folder)
    if case.get("base") == "example_meshes":
        _write_example(case, folder, settings)
    for place, changes in case.get("changed", {}).items():
        _write_changed(place, changes, folder, settings)
    for place, value in case.get("set", {}).items():
        *blocks, last = place.split(".")
        block = settings
        for name in blocks:
            block = block.setdefault(name, {})
        block[last] = value
    settings = merge_settings(settings, case.get("merge", {}))
    path.write_text(yaml.safe_dump(settings, allow_unicode=True))
    return path


def _write_changed(
    place: str, changes: list[dict[str, Any]], folder: Path, settings: dict[str, Any]
) -> None:
    """Write a changed copy of the file that a key of the settings names, and name it there."""
    *blocks, last = place.split(".")
    block = settings
    for name in blocks:
        block = block[name]
    shipped = CHECKOUT / block[last]
    file = shipped if shipped.exists() else DATA / block[last]
    block[last] = str(folder / Path(block[last]).name)
    if DATA.is_dir() or shipped.exists():
        content = file.read_bytes()
        for change in changes:
            ((function, argument),) = change.items()
            content = CHANGES[function](content, argument)
        Path(block[last]).write_bytes(content)


def _write_example(case: dict[str, Any], folder: Path, settings: dict[str, Any]) -> None:
    """Write the files of the example study, changed, and name them in its settings."""
    meshes = settings["implant"]["meshes"]
    activity = settings["activities"]["example_gait"]
    meshes |= {part: FILES[part] for part in ("insert", "femoral")}
    for part in ("motion", "load"):
        activity[part]["file"] = FILES[part]
    for part, name in FILES.items():
        changes = case.get(part, [])
        content = (EXAMPLE / name).read_bytes() if isinstance(changes, list) else changes
        for change in changes if isinstance(changes, list) else ():
            ((function, argument),) = change.items()
            content = CHANGES[function](content, argument)
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def put(content: bytes, argument: tuple[int, str]) -> bytes:
    """Overwrite bytes, given in hexadecimal."""
    start, new = argument[0], bytes.fromhex(argument[1])
    return content[:start] + new + content[start + len(new) :]


def as_text(content: bytes, argument: tuple[str, str]) -> bytes:
    """Text STL of the first 200 triangles with one word replaced."""
    lines = ["solid part"]
    for triangle in np.frombuffer(content, _TRIANGLE, offset=84)["corners"][:200]:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x} {y} {z}" for x, y, z in triangle]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid part", ""]).replace(*argument, 1).encode()


def cells(content: bytes, argument: tuple[int, dict[int, str]]) -> bytes:
    """Cells of a line by their columns, counted from 0; columns may be further ones."""
    lines = [line.split(b",") for line in content.splitlines()]
    row = lines[argument[0]]
    for column, value in argument[1].items():
        row += [b""] * (column + 1 - len(row))
        row[column] = value.encode()
    return b"\n".join(map(b",".join, lines)) + b"\n"


def rows_without(content: bytes, argument: tuple[int, int]) -> bytes:
    """Lines without those from a first to a last one."""
    lines = content.splitlines()
    return b"\n".join(lines[: argument[0]] + lines[argument[1] :]) + b"\n"


def table(change: Callable[[pd.DataFrame, Any], pd.DataFrame]) -> Callable[[bytes, Any], bytes]:
    """Change of a CSV file as a table."""

    def edit(content: bytes, argument: Any) -> bytes:
        changed = change(pd.read_csv(BytesIO(content), comment="#"), argument)
        return changed.to_csv(index=False).encode()

    return edit


def alive(samples: pd.DataFrame, _: Any) -> pd.DataFrame:
    """Motion in every coordinate."""
    turn = samples["percent"] / 100.0
    for name, (size, start) in _ALIVE.items():
        samples[name] += size * np.cos(2.0 * np.pi * (turn + start))
    return samples


def scaled(samples: pd.DataFrame, argument: dict[str, list[float]]) -> pd.DataFrame:
    """Columns times a factor plus a number, and plus percent times a third one."""
    for name, (factor, shift, slope) in argument.items():
        grown = slope * samples["percent"] if slope else 0.0
        samples[name] = factor * samples[name] + shift + grown
    return samples


def filled(samples: pd.DataFrame, argument: dict[str, list[float]]) -> pd.DataFrame:
    """Values of columns in rows from a first to before a last one."""
    for name, (first, last, value) in argument.items():
        samples[name] = samples[name].astype(float)
        samples.loc[samples.index[int(first) : int(last)], name] = value
    return samples


def copied(samples: pd.DataFrame, argument: dict[str, str]) -> pd.DataFrame:
    """Columns with the values of others, exchanged where both are given."""
    return samples.assign(**{name: samples[other] for name, other in argument.items()})


def summed(samples: pd.DataFrame, argument: dict[str, list[str]]) -> pd.DataFrame:
    """Columns with the sum of others."""
    return samples.assign(**{name: samples[parts].sum(axis=1) for name, parts in argument.items()})


def repeated(samples: pd.DataFrame, count: int) -> pd.DataFrame:
    """Several cycles as one."""
    parts = [
        samples.iloc[:-1].assign(percent=lambda one, n=n: one["percent"] + 100.0 * n)
        for n in range(count)
    ]
    joined = pd.concat([*parts, samples.tail(1).assign(percent=100.0 * count)])
    return joined.assign(percent=joined["percent"] / count)


def rolled(samples: pd.DataFrame, argument: dict[str, int]) -> pd.DataFrame:
    """Columns later by some rows."""
    for name, rows in argument.items():
        values = np.roll(samples[name].to_numpy()[:-1], rows)
        samples[name] = np.append(values, values[0])
    return samples


def timed(samples: pd.DataFrame, duration: float) -> pd.DataFrame:
    """Time instead of percent."""
    samples["percent"] *= duration / 100.0
    return samples.rename(columns={"percent": "time_s"})


def still(samples: pd.DataFrame, _: Any) -> pd.DataFrame:
    """Every column but the clock at its first value."""
    samples.loc[:, samples.columns[1:]] = samples.iloc[0, 1:].to_numpy()
    return samples


def body_weights(samples: pd.DataFrame, scale: float) -> pd.DataFrame:
    """Ground reaction as a joint load of 0.3 to 2.5 body weights, scaled."""
    force = samples["ground_reaction_n"]
    return samples.assign(ground_reaction_n=scale * (0.3 + 2.2 * force / force.max()))


def placements(content: bytes, factor: float) -> bytes:
    """Placements whose axes are scaled."""
    record = json.loads(content)
    for name, rows in record.items():
        if name != "units":
            record[name] = [[factor * one for one in row[:3]] + row[3:] for row in rows]
    return json.dumps(record).encode()


def mesh(change: Callable[[np.ndarray, Any], np.ndarray]) -> Callable[[bytes, Any], bytes]:
    """Change of the corners (n, 3, 3) of a binary STL, x anterior, y superior, z lateral."""

    def edit(content: bytes, argument: Any) -> bytes:
        corners = np.frombuffer(content, _TRIANGLE, offset=84)["corners"].astype(float)
        corners = change(corners, argument)
        triangles = np.zeros(len(corners), _TRIANGLE)
        triangles["corners"] = corners
        return b" " * 80 + np.uint32(len(corners)).tobytes() + triangles.tobytes()

    return edit


def spoilt(corners: np.ndarray, argument: list[float]) -> np.ndarray:
    """One coordinate: triangle, corner, axis and value."""
    corners[tuple(map(int, argument[:3]))] = argument[3]
    return corners


def hole(corners: np.ndarray, argument: list[float]) -> np.ndarray:
    """A round hole about x and z; the nearest triangle alone without a radius."""
    away = np.hypot(*(corners.mean(axis=1)[:, [0, 2]] - argument[:2]).T)
    return corners[away > (argument[2] if argument[2:] else away.min())]


def noise(corners: np.ndarray, rms: float) -> np.ndarray:
    """Noise of all vertices, the same for those at one place."""
    places, number = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    moved = places + np.random.default_rng(1).normal(0.0, rms, places.shape)
    return moved[number.ravel()].reshape(corners.shape)


def turned(corners: np.ndarray, degrees: float) -> np.ndarray:
    """Turn about the medial-lateral axis."""
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return corners @ np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def doubled(corners: np.ndarray, argument: dict[str, Any]) -> np.ndarray:
    """The component and a copy, turned and moved."""
    other = turned(corners, argument.get("turned", 0.0)) + argument.get("moved", 0.0)
    return np.concatenate([corners, other])


def decimated(corners: np.ndarray, argument: tuple[int, int]) -> np.ndarray:
    """A regular sheet of few triangles over the same corners."""
    places = np.unique(corners.reshape(-1, 3), axis=0)
    lines = [
        np.linspace(places[:, k].min(), places[:, k].max(), n)
        for k, n in zip((0, 2), argument, strict=True)
    ]
    x, z = np.meshgrid(*lines, indexing="ij")
    nearest = cKDTree(places[:, [0, 2]]).query(np.stack([x, z], axis=-1))[1]
    grid = np.stack([x, places[nearest, 1], z], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    quads = [np.stack(quad, axis=-2).reshape(-1, 3, 3) for quad in ((a, d, c), (a, c, b))]
    return np.concatenate(quads)


CHANGES: dict[str, Callable[[bytes, Any], bytes]] = {
    "cut": lambda content, count: content[:-count],
    "trailing": lambda content, count: content + b"x" * count,
    "put": put,
    "as_text": as_text,
    "replace": lambda content, words: content.replace(words[0].encode(), words[1].encode()),
    "before": lambda content, head: bytes.fromhex(head) + content,
    "head": lambda content, count: b"\n".join(content.splitlines()[:count]) + b"\n",
    "cells": cells,
    "rows_without": rows_without,
    "alive": table(alive),
    "scaled": table(scaled),
    "filled": table(filled),
    "copied": table(copied),
    "summed": table(summed),
    "repeated": table(repeated),
    "until": table(lambda samples, last: samples[samples["percent"] <= last]),
    "every": table(lambda samples, step: samples.iloc[::step]),
    "rolled": table(rolled),
    "timed": table(timed),
    "still": table(still),
    "odd": table(lambda samples, _: samples.iloc[::2]),
    "placements": placements,
    "body_weights": table(body_weights),
    "spoilt": mesh(spoilt),
    "times": mesh(lambda corners, factors: corners * factors),
    "moved": mesh(lambda corners, shift: corners + shift),
    "reversed": mesh(lambda corners, _: corners[:, ::-1]),
    "hole": mesh(hole),
    "noise": mesh(noise),
    "turned": mesh(turned),
    "doubled": mesh(doubled),
    "decimated": mesh(decimated),
}
