"""Mutated real files are refused with an InputDataError that names them, or read soundly."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kneewear.base.files import read_settings, read_settings_file
from kneewear.errors import InputDataError
from kneewear.io.curves import read_curves
from kneewear.io.shapes import load_shape
from kneewear.study.settings import merge_settings, validate_study
from tests.faults.faulty_inputs import CHECKOUT, EXAMPLE, as_text

NUMBERS = (
    b"nan",
    b"-inf",
    b"1e308",
    b"-1e-320",
    b"0",
    b"-1",
    b"3.4e38",
    b"1e",
    b"1.2.3",
    b"--2",
    b"",
    b"4294967296",
    b"99999999999999999999",
    b"0x10",
    b"1_0",
    b"1,5",
    b"\xc2\xb2",
    b"e5",
    b"010",
)
CELLS = (b"x", b'"', b"#", b"\xff", b"\0", b"- ", b"{", b": ", b"&a")
WORDS = (
    *(struct.pack("<f", x) for x in (float("nan"), float("inf"), 3e38, -1e-45)),
    *(struct.pack("<i", n) for n in (-1, 0, 3, 2**31 - 1, -(2**31))),
)
NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
TRIANGLES = 40


def mutated(content: bytes, random: Random) -> bytes:
    """One to four mutations; binary content keeps its head in most of them."""
    binary = b"\0" in content[:2000]
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        change = random.choice((change_bytes, change_word, cut) if binary else TEXT)
        head = random.choice((0, 84, 84, 400)) if binary else 0
        content = content[:head] + change(content[head:], random)
    return content


def change_number(content: bytes, random: Random) -> bytes:
    """Another number, or nearly one, in the place of a number."""
    matches = list(NUMBER.finditer(content))
    if not matches:
        return content
    match = random.choice(matches)
    new = random.choice((*NUMBERS, str(random.uniform(-1e4, 1e4)).encode()))
    return content[: match.start()] + new + content[match.end() :]


def change_lines(content: bytes, random: Random) -> bytes:
    """Delete, double, exchange or cut a line."""
    lines = content.split(b"\n")
    index, other = random.randrange(len(lines)), random.randrange(len(lines))
    new = random.choice(
        ([], [lines[index]] * 2, [lines[other]], [lines[index][: random.randrange(20)]])
    )
    return b"\n".join(lines[:index] + new + lines[index + 1 :])


def change_cells(content: bytes, random: Random) -> bytes:
    """Delete, double or exchange an entry of a line."""
    lines = content.split(b"\n")
    index = random.randrange(len(lines))
    mark = b"," if b"," in lines[index] else b" "
    cells = lines[index].split(mark)
    cell = random.randrange(len(cells))
    cells[cell : cell + 1] = random.choice(([], cells[cell : cell + 1] * 2, [random.choice(CELLS)]))
    lines[index] = mark.join(cells)
    return b"\n".join(lines)


def change_bytes(content: bytes, random: Random) -> bytes:
    """Flip a bit, or overwrite, insert or remove a few bytes."""
    index, length = random.randrange(len(content) + 1), random.choice((1, 1, 2, 4, 8, 50))
    flipped = bytes([(content[index : index + 1] or b"\0")[0] ^ (1 << random.randrange(8))])
    new = random.choice((flipped, random.randbytes(length), b""))
    return content[:index] + new + content[index + random.choice((0, 1, length)) :]


def change_word(content: bytes, random: Random) -> bytes:
    """Overwrite four aligned bytes with a number that is at a limit."""
    index = 4 * random.randrange(1 + len(content) // 4)
    return content[:index] + random.choice(WORDS) + content[index + 4 :]


def cut(content: bytes, random: Random) -> bytes:
    """Cut the end off."""
    return content[: random.randrange(len(content) + 1)]


def end_lines_otherwise(content: bytes, random: Random) -> bytes:
    """Line ends of other systems, or a byte order mark."""
    return random.choice(
        (content.replace(b"\n", b"\r\n"), content.replace(b"\n", b"\r"), b"\xef\xbb\xbf" + content)
    )


TEXT = (
    change_number,
    change_number,
    change_number,
    change_lines,
    change_cells,
    change_bytes,
    cut,
    end_lines_otherwise,
)


@cache
def mesh_seeds() -> dict[str, bytes]:
    """A real mesh cut down to a few triangles, in every format."""
    content = (EXAMPLE / "insert.stl").read_bytes()
    binary = content[:80] + TRIANGLES.to_bytes(4, "little") + content[84 : 84 + 50 * TRIANGLES]
    text = as_text(binary, ("", ""))
    corners = [line.split()[1:] for line in text.decode().splitlines() if line.startswith("vertex")]
    faces = np.arange(len(corners)).reshape(-1, 3)
    obj_lines = [f"v {' '.join(c)}" for c in corners] + [f"f {a} {b} {c}" for a, b, c in faces + 1]
    head = (
        f"ply\nformat {{}} 1.0\ncomment cut down\nelement vertex {len(corners)}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = [" ".join(c) for c in corners] + [f"3 {a} {b} {c}" for a, b, c in faces]
    packed = b"".join(b"\x03" + face.astype("<i4").tobytes() for face in faces)
    points = [" ".join(corner) for corner in corners]
    return {
        "binary.stl": binary,
        "text.stl": text,
        "text.ply": (head.format("ascii") + "\n".join(rows) + "\n").encode(),
        "binary.ply": head.format("binary_little_endian").encode()
        + np.array(corners, dtype="<f4").tobytes()
        + packed,
        "text.obj": ("\n".join(obj_lines) + "\n").encode(),
        "blank.xyz": "\n".join(points).encode(),
        "named.csv": (
            "id;x;y;z\n" + "\n".join("1;" + p for p in points).replace(" ", ";")
        ).encode(),
    }


def read_mesh(path: Path) -> None:
    """A mesh is sound when it is finite and its triangles are among its vertices."""
    shape = load_shape(path)
    assert np.isfinite(shape.vertices).all()
    assert shape.vertices.shape[1] == 3
    if len(shape.faces):
        assert 0 <= shape.faces.min() <= shape.faces.max() < len(shape.vertices)


COLUMNS = {
    "gait.csv": {"percent": "percent", "flexion": "flexion_deg", "varus": "varus_deg"},
    "gait.sto": {"time_s": "time", "flexion": "flexion", "anterior_posterior": "anterior"},
}


def curve_seeds() -> dict[str, bytes]:
    """Motion of the example, every fourth row, also as OpenSim writes it."""
    lines = (EXAMPLE / "gait.csv").read_bytes().splitlines()
    lines = [*lines[:2], *lines[2::4], lines[-1]]
    rows = [line.split(b",") for line in lines[2:]]
    head = b"gait\nversion=1\nnRows=%d\nnColumns=3\ninDegrees=yes\nendheader\n" % len(rows)
    cells = [b"\t".join((row[0], row[1], b"%g" % (float(row[4]) / 1000))) for row in rows]
    text = head + b"time\tflexion\tanterior\n" + b"\n".join(cells) + b"\n"
    return {"gait.csv": b"\n".join(lines) + b"\n", "gait.sto": text}


def read_motion(path: Path) -> None:
    """Curves are sound when they are finite and their clock runs forwards."""
    table = read_curves(path, COLUMNS[path.name])
    assert np.isfinite(table.to_numpy()).all()
    assert (np.diff(table.iloc[:, 0]) > 0).all()


def settings_seeds() -> dict[str, bytes]:
    """Committed studies."""
    names = ("quick.yaml", "example_meshes.yaml", "rotating_platform.yaml")
    return {name: (CHECKOUT / "config" / name).read_bytes() for name in names}


default_settings = cache(lambda: read_settings(CHECKOUT / "config" / "defaults.yaml"))


def read_study(path: Path) -> None:
    """Settings are sound when they make a study with cases."""
    file = read_settings_file(path)
    assert validate_study(
        merge_settings(default_settings(), file.content), "settings", [file]
    ).case_list()


READERS: dict[str, tuple[Callable[[], dict[str, bytes]], Callable[[Path], None], int]] = {
    "mesh": (mesh_seeds, read_mesh, 500),
    "curves": (curve_seeds, read_motion, 150),
    "settings": (settings_seeds, read_study, 60),
}


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_are_refused_or_read_soundly(name, tmp_path):
    seeds, read, examples = READERS[name]
    outcomes = []

    def execute(file: str, content: bytes) -> None:
        (tmp_path / file).write_bytes(content)
        try:
            read(tmp_path / file)
            outcomes.append("read")
        except InputDataError as error:
            assert file in error.finding.where or "settings" in error.finding.where, error
            outcomes.append("refused")

    for file, content in seeds().items():
        execute(file, content)
    assert set(outcomes) == {"read"}

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(list(seeds().items())), st.integers(0, 2**32))
    def mutate_and_read(seed, number):
        execute(seed[0], mutated(seed[1], Random(number)))

    mutate_and_read()
    assert outcomes.count("refused") > examples / 10
    assert outcomes.count("read") > examples / 20
