"""Bearing sheets cut out of solids: what is seen from above, or from outside the condyles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh, condyle_axis

Array = NDArray[np.float64]

# A bearing inclines up to 66 deg to the direction it is seen from: rims and walls more.
_MIN_COSINE = 0.4
# Of two layers this far apart (mm) in one line of sight the hidden one is no bearing.
_HIDDEN_BY = 1.0
# Raster for hiding, mm; the mesh edges of scans and of exported CAD are about as long.
_CELL = 1.0
# Cells that the corners and the middle of a triangle cover.
_SHORT = 2
# Separate pieces smaller than this part of the largest one are chamfers and screw holes.
_MIN_PIECE = 0.1
_MIN_TRIANGLES = 50


@dataclass(frozen=True)
class Extraction:
    """A component in mm and knee axes, and whether each of its triangles is of the bearing."""

    mesh: TriangleMesh
    kept: NDArray[np.bool_]

    @cached_property
    def sheet(self) -> TriangleMesh:
        """The bearing alone, as an open sheet."""
        return self.mesh.part(self.kept)


def whole_sheet(mesh: TriangleMesh) -> Extraction:
    """Bearing of a component whose mesh is the bearing alone."""
    return Extraction(mesh, np.ones(len(mesh.faces), dtype=bool))


def extract_plateaus(mesh: TriangleMesh, source: str = "insert mesh") -> Extraction:
    """Bearing of a solid insert (in mm and knee axes): upward triangles with nothing above them.

    Kept are triangles inclined less than 66 deg to the horizontal, not more than 1 mm below others
    over the same square millimetre, in connected pieces of at least a tenth of the largest one.
    InputDataError if there are none.
    """
    area = np.linalg.norm(mesh.face_normals, axis=1)
    cosine = np.divide(mesh.face_normals[:, 1], area, out=np.zeros_like(area), where=area > 0)
    kept = cosine > _MIN_COSINE
    kept &= _in_sight(mesh, mesh.vertices[:, 1], kept, lambda points: points[:, [0, 2]])
    return _checked(mesh, _main_pieces(mesh, kept, area), source, "facing up")


def extract_condyles(mesh: TriangleMesh, source: str = "femoral mesh") -> Extraction:
    """Bearing of a solid femoral component: outward triangles with nothing outside them.

    As `extract_plateaus`, with the distance from the condyles' best-fitting medial-lateral axis in
    place of height: box cuts, pegs and notch walls are left out.
    """
    reach = np.abs(mesh.vertices[:, 2]).max()
    axis = np.array(condyle_axis(mesh, (0.3 * reach, 0.9 * reach)))
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    offset = middle[:, :2] - axis
    radius = np.linalg.norm(offset, axis=1)
    area = np.linalg.norm(mesh.face_normals, axis=1)
    outward = (mesh.face_normals[:, :2] * offset).sum(axis=1)
    scale = area * radius
    kept = np.divide(outward, scale, out=np.zeros_like(scale), where=scale > 0) > _MIN_COSINE
    usual = float(np.median(radius[kept])) if kept.any() else 1.0

    def unrolled(points: Array) -> Array:
        arms = points[:, :2] - axis
        return np.column_stack([usual * np.arctan2(arms[:, 0], -arms[:, 1]), points[:, 2]])

    distance = np.hypot(*(mesh.vertices[:, :2] - axis).T)
    kept &= _in_sight(mesh, distance, kept, unrolled)
    return _checked(mesh, _main_pieces(mesh, kept, area), source, "facing outward")


def _in_sight(
    mesh: TriangleMesh,
    height: Array,
    candidates: NDArray[np.bool_],
    unroll: Callable[[Array], Array],
) -> NDArray[np.bool_]:
    """True where a triangle is about the highest at its position in the unrolled plane.

    Heights are those of vertices; only candidates hide others.
    """
    positions = unroll(mesh.vertices[mesh.faces].mean(axis=1))
    faces = mesh.faces[candidates]
    # Corners and middles of the candidates fill the raster, and points inside those that are long.
    inside, within = _inside_long(mesh.vertices, faces, height)
    points = np.concatenate(
        [unroll(mesh.vertices[faces.ravel()]), positions[candidates], unroll(inside)]
    )
    level = np.concatenate([height[faces.ravel()], height[faces].mean(axis=1), within])
    low = points.min(axis=0) - 2 * _CELL
    shape = tuple(np.ceil((points.max(axis=0) - low) / _CELL).astype(int) + 3)
    top = np.full(shape, -np.inf)
    np.maximum.at(top, tuple(((points - low) / _CELL).astype(int).T), level)
    cell = np.clip(((positions - low) / _CELL).astype(int), 1, np.array(shape) - 2)
    own = height[mesh.faces]
    hidden_by = top[cell[:, 0], cell[:, 1]] - own.max(axis=1)
    # Inside its own cell a steep flank may rise by the width of the cell times its slope.
    spread = np.ptp(own, axis=1)
    return np.asarray(hidden_by < _HIDDEN_BY + 4.0 * np.maximum(spread, 0.25 * _CELL))


def _inside_long(vertices: Array, faces: NDArray[np.int64], height: Array) -> tuple[Array, Array]:
    """Points (n, 3) about a cell apart inside triangles longer than two cells, and their heights.

    Noise leaves a flat face of a few triangles no plane, and so they are not subdivided.
    """
    corners = vertices[faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1, initial=0.0)
    parts = np.ceil(longest / _CELL).astype(int)
    points, levels = [np.empty((0, 3))], [np.empty(0)]
    for count in np.unique(parts[parts > _SHORT]):
        first, second = np.indices((count + 1, count + 1)).reshape(2, -1)
        usable = first + second <= count
        weights = np.column_stack([first, second, count - first - second])[usable] / count
        long = parts == count
        points.append((weights @ corners[long]).reshape(-1, 3))
        levels.append((weights @ height[faces[long]].T).T.ravel())
    return np.concatenate(points), np.concatenate(levels)


def _main_pieces(mesh: TriangleMesh, kept: NDArray[np.bool_], area: Array) -> NDArray[np.bool_]:
    """Triangles of the large connected pieces among those kept."""
    chosen = np.flatnonzero(kept)
    if chosen.size == 0:
        return kept
    codes = TriangleMesh(mesh.vertices, mesh.faces[chosen]).edge_codes
    _, edge = np.unique(codes, return_inverse=True)
    owner = np.tile(np.arange(chosen.size), 3)
    borders = scipy.sparse.csr_array((np.ones(edge.size), (owner, edge)))
    _, piece = scipy.sparse.csgraph.connected_components(borders @ borders.T, directed=False)
    size = np.bincount(piece, weights=area[chosen])
    result = np.zeros_like(kept)
    result[chosen[size[piece] >= _MIN_PIECE * size.max()]] = True
    return result


def _checked(mesh: TriangleMesh, kept: NDArray[np.bool_], source: str, wanted: str) -> Extraction:
    """Refuse a solid without a bearing."""
    if kept.sum() < _MIN_TRIANGLES:
        found = f"{int(kept.sum())} triangles {wanted} on the solid"
        expected = f"a bearing of at least {_MIN_TRIANGLES} triangles"
        remedy = "Check `axes`, or cut the bearing out yourself and state `sheet`."
        raise InputDataError(source, found, expected, remedy)
    return Extraction(mesh, kept)
