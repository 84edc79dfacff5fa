"""Changes of files that leave the implant the same, and by how much results may change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy
from matplotlib.tri import Triangulation

from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.mesh_formats import save_ply
from tests.geometry.example_implant import stl_bytes
from tests.transformations.implants import REAL

NOISE_MM = 0.015
# Between vertices along and across: chords of 10 um on radii of 12 and 110 mm.
CAD_STEPS_MM = (1.0, 3.0)
# A right-handed turn of the axes of files: x medial, y posterior, z superior.
TURNED = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@dataclass(frozen=True)
class Files:
    """Components as they are written: triangles, knee, ending, and fineness of the base."""

    parts: Mapping[str, TriangleMesh]
    knee: str = "right"
    ending: str = "ply"

    def changed(self, change: Callable[[str, TriangleMesh], TriangleMesh]) -> Files:
        """Files whose meshes are changed."""
        parts = {name: change(name, mesh) for name, mesh in self.parts.items()}
        return replace(self, parts=parts)

    def write(self, folder: Path) -> dict[str, str]:
        """Write both components; returns their files."""
        names = {}
        for name, mesh in self.parts.items():
            file = folder / f"{name}.{self.ending}"
            if self.ending == "stl":
                file.write_bytes(stl_bytes(mesh))
            elif self.ending == "obj":
                rows = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.vertices]
                rows += [f"f {a} {b} {c}" for a, b, c in mesh.faces + 1]
                file.write_text("\n".join(rows) + "\n", encoding="utf-8")
            else:
                save_ply(mesh.vertices, mesh.faces, file)
            names[name] = str(file)
        return names


def moved(files: Files, random: np.random.Generator) -> Files:
    """Each file with an origin of its own up to 100 mm away."""
    return files.changed(
        lambda _, mesh: TriangleMesh(mesh.vertices + random.uniform(-100, 100, 3), mesh.faces)
    )


def turned(files: Files, random: np.random.Generator) -> Files:
    """Other axes."""
    return files.changed(lambda _, mesh: TriangleMesh(mesh.vertices @ TURNED.T, mesh.faces))


def mirrored(files: Files, random: np.random.Generator) -> Files:
    """The implant of the other knee."""
    image = files.changed(
        lambda _, mesh: TriangleMesh(mesh.vertices * [1.0, 1.0, -1.0], mesh.faces[:, ::-1].copy())
    )
    return replace(image, knee="left")


def in_other_unit(files: Files, random: np.random.Generator) -> Files:
    """Metres or centimetres."""
    factor = random.choice([1e-3, 0.1])
    return files.changed(lambda _, mesh: TriangleMesh(factor * mesh.vertices, mesh.faces))


def reordered(files: Files, random: np.random.Generator) -> Files:
    """Vertices and triangles in another order."""

    def change(_: str, mesh: TriangleMesh) -> TriangleMesh:
        order = random.permutation(len(mesh.vertices))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        faces = place[mesh.faces][random.permutation(len(mesh.faces))]
        return TriangleMesh(mesh.vertices[order], faces)

    return files.changed(change)


def in_other_format(files: Files, random: np.random.Generator) -> Files:
    """Another ending."""
    return replace(files, ending=str(random.choice(["obj", "stl"])))


def noisy(files: Files, random: np.random.Generator) -> Files:
    """Noise of a scan."""
    return files.changed(
        lambda _, mesh: TriangleMesh(
            mesh.vertices + NOISE_MM * random.normal(size=mesh.vertices.shape), mesh.faces
        )
    )


def holed(files: Files, random: np.random.Generator) -> Files:
    """A triangle is missing on the side of the bone of each component."""

    def change(name: str, mesh: TriangleMesh) -> TriangleMesh:
        across = mesh.face_normals[:, 1] / np.linalg.norm(mesh.face_normals, axis=1)
        # The insert lies on bone, the femoral component under it.
        away = np.flatnonzero((across if name == "femoral" else -across) > 0.99)
        return TriangleMesh(mesh.vertices, np.delete(mesh.faces, random.choice(away), axis=0))

    return files.changed(change)


def in_cad_triangles(files: Files, random: np.random.Generator) -> Files:
    """Long triangles of the insert: on its dishes across them, below from border to border."""

    def change(name: str, mesh: TriangleMesh) -> TriangleMesh:
        if name == "femoral":
            return mesh
        for up, kept in ((1.0, CAD_STEPS_MM), (-1.0, None)):
            mesh = with_long_triangles(mesh, up, kept, random)
        return mesh

    return files.changed(change)


def with_long_triangles(
    mesh: TriangleMesh,
    up: float,
    steps: tuple[float, float] | None,
    random: np.random.Generator,
) -> TriangleMesh:
    """Mesh with other triangles between some vertices of its largest face above or below.

    All vertices of the border are kept, and inside about one in steps along x and z, mm, or none.
    """
    height = up * mesh.face_normals[:, 1] / np.linalg.norm(mesh.face_normals, axis=1)
    faces = mesh.faces[height > 0.5]
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    count = len(mesh.vertices)
    graph = scipy.sparse.coo_array((np.ones(len(edges)), edges.T), (count, count))
    body = scipy.sparse.csgraph.connected_components(graph, directed=False)[1][mesh.faces[:, 0]]
    chosen = (height > 0.5) & (body == np.bincount(body[height > 0.5]).argmax())
    faces = mesh.faces[chosen]
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    ends, uses = np.unique(edges, axis=0, return_counts=True)
    kept = border = np.unique(ends[uses == 1])
    plan = mesh.vertices[:, [0, 2]] / (steps or (1.0, 1.0))
    if steps is not None:
        inside = np.setdiff1d(faces, border)
        apart = scipy.spatial.cKDTree(plan[border]).query(plan[inside])[0]
        inside = random.permutation(inside[apart > 1.0])
        first = np.unique(np.floor(plan[inside]), axis=0, return_index=True)[1]
        kept = np.concatenate([border, inside[first]])
    x, z = plan.T
    longer = kept[scipy.spatial.Delaunay(plan[kept]).simplices]
    (a, b), (c, d) = plan[longer[:, 1:]].transpose(1, 2, 0) - plan[longer[:, 0]].T
    size = a * d - b * c
    longer = np.where((up * size < 0.0)[:, None], longer, longer[:, ::-1])
    within = Triangulation(x, z, faces).get_trifinder()(x[longer].mean(1), z[longer].mean(1)) >= 0
    longer = longer[within & (np.abs(size) > 1e-9)]
    found = TriangleMesh(mesh.vertices, np.concatenate([mesh.faces[~chosen], longer]))
    return found.part(np.ones(len(found.faces), dtype=bool))


@dataclass(frozen=True)
class Change:
    """A change, the fineness of the base, and the accepted relative change of volume and depth.

    `remeshes` states that other triangles are laid over the surface of the base.
    """

    volume: float
    depth: float
    apply: Callable[[Files, np.random.Generator], Files] = lambda files, random: files
    fineness: float = 1.0
    remeshes: bool = False

    @property
    def suits_real(self) -> bool:
        """True if the triangles of the base remain: a real implant has no others."""
        return self.fineness == 1.0 and not self.remeshes

    @property
    def same(self) -> bool:
        """True if the triangles are those of the base."""
        return self.volume <= 1e-3


CHANGES = {
    "moved": Change(1e-3, 1e-3, moved),
    "turned": Change(1e-3, 1e-3, turned),
    "mirrored": Change(1e-3, 1e-3, mirrored),
    "unit": Change(1e-3, 1e-3, in_other_unit),
    "order": Change(1e-3, 1e-3, reordered),
    "format": Change(1e-3, 1e-3, in_other_format),
    "finer": Change(0.02, 0.02, fineness=1.4),
    "coarser": Change(0.02, 0.02, fineness=0.75),
    "CAD triangles": Change(0.02, 0.02, in_cad_triangles, remeshes=True),
    "holes": Change(0.02, 0.02, holed),
    "noise": Change(0.05, 0.10, noisy),
}


def covering_plan(
    bases: list[str], seed: int, count: int = 24, changes: Mapping[str, Change] = CHANGES
) -> list[tuple[str, str]]:
    """Pairs of base and change: each of both about equally often, the pairs by a seed."""
    random = np.random.default_rng(seed)
    used = {name: 0 for name in (*bases, *changes)}
    pairs = [
        (base, name)
        for base in bases
        for name, change in changes.items()
        if base != REAL or change.suits_real
    ]
    random.shuffle(pairs)
    plan: list[tuple[str, str]] = []
    while pairs and len(plan) < count:
        best = min(pairs, key=lambda pair: used[pair[0]] + used[pair[1]])
        pairs.remove(best)
        plan.append(best)
        for name in best:
            used[name] += 1
    return plan
