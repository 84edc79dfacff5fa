"""Invented implants as users' files: each has what makes a first attempt fail.

`python -m tests.geometry.invented FOLDER` writes them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from kneewear.geometry.meshes import TriangleMesh
from tests.geometry import ultracongruent
from tests.geometry.example_implant import example_meshes, joined, stl_bytes
from tests.geometry.solids import closed, closed_insert

# Rows of x, y and z of a left knee's files over posterior, superior and medial of the right one.
LEFT = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def posterior_stabilised_insert(n: int = 161) -> TriangleMesh:
    """Solid insert of a right knee with dishes, a raised front and a post."""
    u, v = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n), indexing="ij")
    x, z = 24.0 * u, 38.0 * v
    top = 9.0 + (x - 1.0) ** 2 / 110 + (np.abs(z) - 22.0) ** 2 / 300
    across, along = ((half - np.abs(at)) / 1.2 for half, at in ((8.0, z), (5.0, x + 4.0)))
    top = top + 15.0 * np.clip(across, 0, 1) * np.clip(along, 0, 1)
    upper, lower = (np.stack([x, y, z], axis=-1) for y in (top, 0.0 * top))
    return closed(upper, lower)


def rounded_femoral(n: int = 90, cam: bool = False, onset: int = 1) -> TriangleMesh:
    """Solid femoral component of a right knee: condyles of 28 mm coronal radius, perhaps a cam.

    The flange begins at angle zero with this power of the angle: with 1 there is a crease of 3 deg.
    """
    sweep, across = np.radians(np.linspace(-95, 105, 2 * n)), np.linspace(-1, 1, n)
    angle, v = np.meshgrid(sweep, across, indexing="ij")
    flange = np.clip(-angle / np.radians(95), 0, 1) ** onset
    z = (34.0 - 16.0 * flange) * v - 5.0 * flange
    radius = 30.0 + 3.0 * flange - (1.0 - flange) * (np.abs(z) - 21.0) ** 2 / 56
    shape, inner = (
        np.stack([r * np.sin(angle), -r * np.cos(angle), z], axis=-1) for r in (radius, radius - 7)
    )
    keep = (flange[:-1, :-1] > 0.05**onset) | (np.abs(v[:-1, :-1] + 1.0 / n) > 0.28)
    solid = closed(shape, inner, keep)
    if not cam:
        return solid
    turn, along = np.meshgrid(np.linspace(0, 0.98 * 2 * np.pi, 49), [-9.0, 9.0], indexing="ij")
    bar = np.stack([16.0 + 4.0 * np.sin(turn), 4.0 * np.cos(turn), along], axis=-1)
    return joined([solid, closed(bar, (bar - [16.0, 0.0, 0.0]) * [0.5, 0.5, 1.0] + [16.0, 0, 0])])


def left_posterior_stabilised() -> dict[str, TriangleMesh]:
    """Solids of a left knee in mm: x lateral, y posterior, z superior."""
    parts = {"insert": posterior_stabilised_insert(), "femoral": rounded_femoral(cam=True)}
    # Medial becomes the other direction: the matrix mirrors, so triangles are turned round.
    mirror = LEFT * [[-1.0], [1.0], [1.0]]
    return {
        name: TriangleMesh(mesh.vertices @ mirror.T, mesh.faces[:, ::-1])
        for name, mesh in parts.items()
    }


def split_insert() -> dict[str, list[TriangleMesh] | TriangleMesh]:
    """The example implant with its insert in two sheets, medial and lateral."""
    whole = example_meshes()
    insert = whole["insert"]
    medial = insert.vertices[insert.faces][..., 2].mean(axis=1) > 0.0
    return {"insert": [insert.part(medial), insert.part(~medial)], "femoral": whole["femoral"]}


def worn_scan(noise: float = 0.01, depth: float = 0.4) -> dict[str, TriangleMesh]:
    """Solids with a worn place on the medial plateau and noise, mm, as of a scan."""
    random = np.random.default_rng(3)
    insert, femoral = closed_insert(n=100), rounded_femoral(n=80)
    worn = insert.vertices.copy()
    x, _, z = worn.T
    top = worn[:, 1] > 4.0
    worn[:, 1] -= top * depth * np.exp(-((x - 2.0) ** 2) / 80 - (z - 22.0) ** 2 / 50)
    return {
        "insert": TriangleMesh(worn + noise * random.normal(size=worn.shape), insert.faces),
        "femoral": TriangleMesh(
            femoral.vertices + noise * random.normal(size=femoral.vertices.shape), femoral.faces
        ),
    }


def write_invented(folder: Path) -> dict[str, tuple[list[Path], Path]]:
    """Write all; returns the files of insert and femoral component by the name of the implant."""
    found = {}
    for name, parts in (
        ("ultracongruent", ultracongruent.components()),
        ("left_ps", left_posterior_stabilised()),
        ("two_files", split_insert()),
        ("worn_scan", worn_scan()),
    ):
        own = folder / name
        own.mkdir(parents=True, exist_ok=True)
        inserts = parts["insert"] if isinstance(parts["insert"], list) else [parts["insert"]]
        files = [own / f"insert{n if len(inserts) > 1 else ''}.stl" for n in range(len(inserts))]
        for file, mesh in zip(files, inserts, strict=True):
            file.write_bytes(stl_bytes(mesh))
        (own / "femoral.stl").write_bytes(stl_bytes(parts["femoral"]))
        found[name] = files, own / "femoral.stl"
    return found


if __name__ == "__main__":
    write_invented(Path(sys.argv[1]))
