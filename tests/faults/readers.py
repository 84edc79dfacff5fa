"""The readers under fuzzing: real files to start from, and what a good answer is."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import h5py
import numpy as np
import pandas as pd

from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.io import curves, documents, mesh_formats, netcdf, shapes
from kneewear.io.result_files import atomic_path
from kneewear.settings import files as settings_file
from kneewear.settings.study import load_study, merge_settings
from kneewear.simulation.history import ContactHistory
from kneewear.wear.records import DamageMaps
from tests.faults.faulty_files import CHECKOUT, EXAMPLE, STUDY, ascii_stl
from tests.faults.mutations import mutated

CONFIG = CHECKOUT / "config"
# Triangles kept of a mesh: enough for a shape, few enough for a thousand readings a second.
TRIANGLES = 40


@dataclass
class Outcome:
    """What became of the executions."""

    executions: int = 0
    past_head: int = 0
    accepted: int = 0
    refused: int = 0
    reached: bool = field(default=False, repr=False)


def write_plain(path: Path, content: bytes, random: Random) -> None:
    """A user's file."""
    del random
    path.write_bytes(content)


def write_result(path: Path, content: bytes, random: Random) -> None:
    """A result with the digest of its content: what another program, or a bug, may write."""
    del random
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def write_damaged(path: Path, content: bytes, random: Random) -> None:
    """A result that was changed after it had been written."""
    write_result(path, result_seeds()[path.name], random)
    path.write_bytes(content)


@dataclass(frozen=True)
class Reader:
    """A reader of files.

    Parameters
    ----------
    seeds : callable
        Name and content of real files.
    read : callable
        Reads a file and checks the result.
    body : tuple
        Owner and name of functions that are called once the head has been understood.
    mutate : callable
        Mutation of a content.
    write : callable
        Puts a content into a file.
    """

    seeds: Callable[[], dict[str, bytes]]
    read: Callable[[Path], None]
    body: tuple[tuple[Any, str], ...]
    mutate: Callable[[bytes, Random], bytes] = mutated
    write: Callable[[Path, bytes, Random], None] = write_plain

    @contextmanager
    def watched(self, outcome: Outcome) -> Iterator[None]:
        """Note whether executions get past the head."""

        def watching(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **options: Any) -> Any:
                outcome.reached = True
                return function(*arguments, **options)

            return call

        with ExitStack() as stack:
            for owner, name in self.body:
                watch = mock.patch.object(owner, name, watching(getattr(owner, name)))
                stack.enter_context(watch)
            yield

    def execute(self, path: Path, content: bytes, random: Random, outcome: Outcome) -> None:
        """Read a content; only an InputDataError or a sound result is an answer."""
        self.write(path, content, random)
        outcome.reached = False
        outcome.executions += 1
        try:
            self.read(path)
            outcome.accepted += 1
            outcome.reached = True
        except InputDataError as error:
            assert str(path.name) in str(error) or "settings" in str(error), error
            outcome.refused += 1
        outcome.past_head += outcome.reached


@cache
def mesh_seeds() -> dict[str, bytes]:
    """Real meshes cut down to a few triangles, in every format."""
    content = (EXAMPLE / "insert.stl").read_bytes()
    head, body = content[:80], content[84 : 84 + 50 * TRIANGLES]
    binary = head + TRIANGLES.to_bytes(4, "little") + body
    text = ascii_stl(binary)
    corners = [line.split()[1:] for line in text.splitlines() if line.startswith("vertex")]
    faces = np.arange(len(corners)).reshape(-1, 3)
    obj_lines = [f"v {' '.join(c)}" for c in corners] + [f"f {a} {b} {c}" for a, b, c in faces + 1]
    ply_head = (
        f"ply\nformat {{}} 1.0\ncomment cut down\nelement vertex {len(corners)}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = [" ".join(c) for c in corners] + [f"3 {a} {b} {c}" for a, b, c in faces]
    ply_text = ply_head.format("ascii") + "\n".join(rows) + "\n"
    ply_binary = ply_head.format("binary_little_endian").encode()
    ply_binary += np.array(corners, dtype="<f4").tobytes()
    ply_binary += b"".join(b"\x03" + face.astype("<i4").tobytes() for face in faces)
    return {
        "binary.stl": binary,
        "text.stl": text.encode(),
        "text.ply": ply_text.encode(),
        "binary.ply": ply_binary,
        "text.obj": ("\n".join(obj_lines) + "\n").encode(),
    }


def read_mesh(path: Path) -> None:
    """A mesh is sound when it is finite and its triangles are among its vertices."""
    found = shapes.load_shape(path)
    assert np.isfinite(found.vertices).all()
    assert found.vertices.shape[1] == 3
    if len(found.faces):
        assert 0 <= found.faces.min() <= found.faces.max() < len(found.vertices)


def point_seeds() -> dict[str, bytes]:
    """Vertices of a real mesh as text."""
    lines = mesh_seeds()["text.obj"].decode().splitlines()
    rows = [line[2:].split() for line in lines if line.startswith("v")]
    return {
        "blank.xyz": "\n".join(" ".join(row) for row in rows).encode(),
        "named.csv": ("id;x;y;z\n" + "\n".join(";".join(["1", *row]) for row in rows)).encode(),
    }


def read_points(path: Path) -> None:
    """A cloud is sound when it is finite."""
    assert np.isfinite(shapes.load_shape(path).vertices).all()


CURVES = {
    "gait.csv": STUDY["activities"]["example_gait"]["motion"]["columns"],
    "load.csv": STUDY["activities"]["example_gait"]["load"]["columns"],
    "gait.sto": {"time_s": "time", "flexion": "flexion", "anterior_posterior": "anterior"},
}


def curve_seeds() -> dict[str, bytes]:
    """Motion and load of the example, every fourth row; the motion also as OpenSim writes it."""
    content = {}
    for name in ("gait.csv", "load.csv"):
        lines = (EXAMPLE / name).read_bytes().splitlines()
        content[name] = b"\n".join([*lines[:2], *lines[2::4], lines[-1]]) + b"\n"
    rows = [line.split(b",") for line in content["gait.csv"].splitlines()[2:]]
    head = b"gait\nversion=1\nnRows=%d\nnColumns=7\ninDegrees=yes\nendheader\n" % len(rows)
    labels = b"time\tflexion\tadduction\trotation\tanterior\tsuperior\tlateral\n"
    metres = [[*row[:4], *(b"%g" % (float(cell) / 1000) for cell in row[4:])] for row in rows]
    content["gait.sto"] = head + labels + b"\n".join(map(b"\t".join, metres)) + b"\n"
    return content


def read_curves(path: Path) -> None:
    """Curves are sound when they are finite and their clock runs forwards."""
    table = curves.read_curves(path, CURVES[path.name])
    assert np.isfinite(table.to_numpy()).all()
    assert (np.diff(table.iloc[:, 0]) > 0).all()


def table_seeds() -> dict[str, bytes]:
    """A result table."""
    rows = [f"6mm_{mass}kg,gait,6.0,{mass}.0,medial,max_pressure,{mass / 7!r},MPa" for mass in
            (50, 75, 100)]  # fmt: skip
    head = "case,life,thickness_mm,body_mass_kg,side,quantity,value,unit"
    return {"cases.csv": "\n".join([head, *rows, ""]).encode()}


def read_table(path: Path) -> None:
    """A table is sound when it has the columns asked for."""
    found = documents.load_table(path, ["case", "value"])
    assert isinstance(found, pd.DataFrame)


def settings_seeds() -> dict[str, bytes]:
    """Committed studies."""
    names = ("quick.yaml", "example_meshes.yaml", "nominal.yaml")
    return {name: (CONFIG / name).read_bytes() for name in names}


@cache
def default_settings() -> dict[str, Any]:
    """Settings of the default study."""
    return settings_file.read_settings(CONFIG / "config.yaml")


def read_settings(path: Path) -> None:
    """Settings are sound when they make a study with cases and batches of them."""
    file = settings_file.read_settings_file(path)
    study = load_study(merge_settings(default_settings(), file.content), "settings", [file])
    assert study.case_list()


@cache
def result_seeds() -> dict[str, bytes]:
    """Results of every kind, as they are written."""
    from kneewear.sides import SIDES
    from tests.io.test_round_trips import make_damage, make_grid, make_history, make_surface

    sides = {side: make_surface() for side in SIDES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        netcdf.save(make_grid(), folder / "grid.nc")
        netcdf.save(make_history(), folder / "history.nc")
        netcdf.save(make_damage(), folder / "damage.nc")
        netcdf.save(Implant("one", sides, sides, 0.0, 6.0), folder / "surfaces.nc")
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*.nc"))}


LOADERS: dict[str, Callable[[Path], object]] = {
    "grid.nc": partial(netcdf.load, ElementGrid),
    "history.nc": partial(netcdf.load, ContactHistory),
    "damage.nc": partial(netcdf.load, DamageMaps),
    "surfaces.nc": partial(netcdf.load, Implant),
}


def read_result(path: Path) -> None:
    """A result is sound when its value object can be made."""
    LOADERS[path.name](path)


def change_result(content: bytes, random: Random) -> bytes:
    """Change variables and attributes of a result."""
    memory = io.BytesIO(content)
    try:
        with h5py.File(memory, "a") as file:
            for _ in range(random.choice((1, 1, 2))):
                _change_structure(file, random)
    except (OSError, RuntimeError, ValueError, KeyError, IndexError, TypeError):
        pass  # h5py refuses some of these changes
    return memory.getvalue()


def _change_structure(file: Any, random: Random) -> None:
    """One change of an open file."""
    name, other = random.choice(list(file)), random.choice(list(file))
    attribute = random.choice(list(file.attrs))
    shape = random.choice(((), (2,), (2, 4, 3), (0,), (1, 1, 1, 1)))
    match random.randrange(7):
        case 0:
            del file[name]
        case 1:
            file.attrs[attribute] = random.choice((0, -1, "x", [1, 2]))
        case 2:
            del file.attrs[attribute]
        case 3:
            _overwrite(file[name], random)
        case 4:
            del file[name]
            file[name] = np.zeros(shape, random.choice(("f4", "f8", "i2", "S3", "?")))
        case 5 if other != name:
            file.move(name, "moved")
            file.move(other, name)
        case _:
            del file[name]
            file.create_dataset(name, (10**6, 10**6), "f8", chunks=(10, 10))


def _overwrite(dataset: Any, random: Random) -> None:
    """Put odd values into a variable."""
    if isinstance(dataset, h5py.Dataset) and dataset.dtype.kind in "if" and 0 < dataset.size < 1e6:
        values = dataset[...]
        odd = (np.nan, np.inf, -1.0, 1e30) if dataset.dtype.kind == "f" else (-1, 0, 100)
        values.flat[random.randrange(values.size)] = random.choice(odd)
        dataset[...] = values


READERS = {
    "mesh": Reader(
        mesh_seeds,
        read_mesh,
        (
            (shapes, "_check_vertices"),
            (mesh_formats, "_parse_facets"),
            (mesh_formats, "parse_numbers"),
            (mesh_formats, "_columns"),
        ),
    ),
    "points": Reader(point_seeds, read_points, ((shapes, "parse_numbers"),)),
    "curves": Reader(curve_seeds, read_curves, ((curves, "_numbers"), (curves, "_check_count"))),
    "table": Reader(table_seeds, read_table, (), write=write_result),
    "settings": Reader(settings_seeds, read_settings, ((settings_file, "_check_scalar"),)),
    "result": Reader(
        result_seeds, read_result, ((netcdf._Reader, "variable"),), change_result, write_result
    ),
    # HDF5 may hang on garbled bytes (it does once in some thousands): the digest keeps them away.
    "damaged result": Reader(result_seeds, read_result, (), write=write_damaged),
}
