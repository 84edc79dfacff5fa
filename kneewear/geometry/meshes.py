"""Triangle meshes and point clouds of an implant, converted to the axes of a right knee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.coverage import Coverage, mesh_coverage, polygon_coverage
from kneewear.mechanics.arrays import make_read_only

Array = NDArray[np.float64]

MM_PER_UNIT = {"mm": 1.0, "cm": 10.0, "m": 1000.0, "inch": 25.4}
# Axis inside (x posterior, y superior, z medial) and sign of each anatomical direction.
_DIRECTIONS = {
    "posterior": (0, 1.0),
    "anterior": (0, -1.0),
    "superior": (1, 1.0),
    "inferior": (1, -1.0),
    "medial": (2, 1.0),
    "lateral": (2, -1.0),
}
# Vertical component of normals below which a condyle faces down, for its axis.
FACING_DOWN = -0.3
# Triangles with an edge this many times the median one bridge holes and bays of a point cloud.
_MAX_EDGE = 4.0
# Least ratio of a triangle's area in the plane of triangulation to its area.
_EDGE_ON = 0.15
_MIN_POINTS = 100
# Remedy for meshes that are finer than contact needs.
FEWER_TRIANGLES = (
    "Decimate the mesh to edges of about 0.3 mm, or export the component with a coarser tolerance."
)


@dataclass(frozen=True)
class TriangleMesh:
    """A triangle mesh whose normals follow from the order of vertices (counter-clockwise).

    `vertices` (n, 3) are in the unit and frame of their file until `to_knee_axes` converts them;
    `faces` (n, 3) hold the vertex numbers of each triangle, none of a point cloud.
    """

    vertices: Array
    faces: NDArray[np.int64]

    def __post_init__(self) -> None:
        make_read_only(self, ("vertices", "faces"))

    @cached_property
    def face_normals(self) -> Array:
        """Normals of the triangles times their area, shape (n_faces, 3)."""
        a, b, c = (self.vertices[self.faces[:, corner]] for corner in range(3))
        return 0.5 * np.cross(b - a, c - a)

    @cached_property
    def vertex_normals(self) -> Array:
        """Area-weighted unit normals at vertices, shape (n_vertices, 3); zero for unused ones."""
        normals = np.zeros_like(self.vertices)
        for corner in range(3):
            np.add.at(normals, self.faces[:, corner], self.face_normals)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)

    @cached_property
    def border_vertices(self) -> NDArray[np.int64]:
        """Numbers of the vertices on open edges; none on a closed body."""
        code, uses = np.unique(self.edge_codes, return_counts=True)
        return np.unique(np.divmod(code[uses == 1], len(self.vertices)))

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Directed edges of the triangles, shape (3 n_faces, 2)."""
        return np.concatenate([self.faces[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])

    @property
    def edge_codes(self) -> NDArray[np.int64]:
        """One number for each of the `edges`, the same for both directions."""
        return np.sort(self.edges, axis=1) @ np.array([len(self.vertices), 1])

    @property
    def extent(self) -> Array:
        """Size of the box around the mesh, shape (3,)."""
        return np.ptp(self.vertices, axis=0)

    @property
    def bodies(self) -> list[TriangleMesh]:
        """Connected parts, from the one of most triangles on."""
        count = len(self.vertices)
        graph = scipy.sparse.coo_array(
            (np.ones(len(self.edges)), tuple(self.edges.T)), (count, count)
        )
        _, body = scipy.sparse.csgraph.connected_components(graph, directed=False)
        body = body[self.faces[:, 0]]
        numbers, sizes = np.unique(body, return_counts=True)
        return [self.part(body == number) for number in numbers[np.argsort(-sizes, kind="stable")]]

    @property
    def is_cloud(self) -> bool:
        """True if the mesh holds points and no triangles."""
        return len(self.faces) == 0 and len(self.vertices) > 0

    @property
    def is_closed(self) -> bool:
        """True if the vector areas cancel, as on a closed body."""
        total = np.linalg.norm(self.face_normals.sum(axis=0))
        return bool(total < 1e-3 * np.linalg.norm(self.face_normals, axis=1).sum())

    def moved(self, shift: ArrayLike) -> TriangleMesh:
        """Mesh moved by `shift` (3,), in its unit."""
        return TriangleMesh(self.vertices + np.asarray(shift, dtype=float), self.faces)

    def part(self, chosen: NDArray[np.bool_]) -> TriangleMesh:
        """Mesh of the chosen triangles (bool array over faces) and their vertices."""
        faces = self.faces[chosen]
        used, number = np.unique(faces, return_inverse=True)
        return TriangleMesh(self.vertices[used], number.reshape(faces.shape))


def to_knee_axes(
    mesh: TriangleMesh, unit: str, axes: Mapping[str, str], knee: str, source: str = "mesh"
) -> TriangleMesh:
    """Mesh in mm and in the axes of a right knee: x posterior, y superior, z medial.

    `unit` is "mm" or "m". `axes` gives the anatomical direction of the file's +x, +y and +z, such
    as {"x": "posterior", "y": "superior", "z": "medial"}. A left knee becomes its mirror image,
    triangles re-oriented. InputDataError about the file, `source`, if the axes repeat a direction,
    or do not form a right-handed frame on that knee.
    """
    columns = [_DIRECTIONS[axes[name]] for name in ("x", "y", "z")]
    matrix = np.zeros((3, 3))
    for column, (row, sign) in enumerate(columns):
        matrix[row, column] = sign
    determinant = round(float(np.linalg.det(matrix)))
    if determinant != (1 if knee == "right" else -1):
        found = f"axes {', '.join(f'+{name} {axes[name]}' for name in 'xyz')} for a {knee} knee"
        expected = "three different directions"
        if determinant:
            found += ", which is a left-handed frame"
            expected = f"a right-handed frame on a {knee} knee"
        remedy = "Check `knee`, and the medial/lateral and anterior/posterior words of `axes`."
        raise InputDataError(source, found, expected, remedy, "axes")
    faces = mesh.faces if determinant > 0 else mesh.faces[:, ::-1]
    return TriangleMesh(mesh.vertices @ matrix.T * MM_PER_UNIT[unit], np.ascontiguousarray(faces))


def condyle_axis(mesh: TriangleMesh, window: tuple[float, float]) -> tuple[float, float]:
    """Centre (x, y), mm, of the circle that best fits the downward half of a femoral mesh.

    Only vertices whose |z| lies in the window, mm, are used; the mesh is in knee axes.
    """
    return _axis_within(mesh, np.abs(mesh.vertices[:, 2]), window)


def bearing_axis(mesh: TriangleMesh, widths: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Centre (x, y), mm, by `condyle_axis`, of the condyles of some limits of z, mm.

    Of two condyles the window of |z| includes both.
    """
    if len(widths) == 1:
        return _axis_within(mesh, mesh.vertices[:, 2], widths[0])
    limits = [abs(z) for width in widths for z in width]
    return condyle_axis(mesh, (min(limits), max(limits)))


def _axis_within(
    mesh: TriangleMesh, across: Array, window: tuple[float, float]
) -> tuple[float, float]:
    kept = (across >= window[0]) & (across <= window[1])
    return circle_centre(mesh.vertices[kept & (mesh.vertex_normals[:, 1] < FACING_DOWN), :2])


def sheet_coverage(mesh: TriangleMesh, x: tuple[float, float], z: tuple[float, float]) -> Coverage:
    """Plan of the triangles of an insert (in knee axes) that face up, within a window, mm."""
    return mesh_coverage(mesh.vertices[mesh.faces[mesh.face_normals[:, 1] > 0]][:, :, [0, 2]], x, z)


def within_outline(mesh: TriangleMesh, outline: Array) -> TriangleMesh:
    """Triangles of an insert (in knee axes) inside a polygon with corners x, z, (n, 2), mm."""
    inside = polygon_coverage(outline).contains(*mesh.vertices[:, [0, 2]].T)
    return mesh.part(np.asarray(inside[mesh.faces].all(axis=1)))


def sagittal_section(mesh: TriangleMesh, z: float) -> Array:
    """Segments (n, 2, 2) in x and y where a mesh meets the plane at z, in its unit; none beside."""
    corners = mesh.vertices[mesh.faces]
    above = corners[..., 2] >= z
    cut = corners[above.any(axis=1) != above.all(axis=1)]
    # Two edges of a triangle cross the plane: those from the corner that is alone on its side.
    above = cut[..., 2] >= z
    alone = np.argmax(above == (above.sum(axis=1) == 1)[:, None], axis=1)
    rows = np.arange(len(cut))
    tip, ends = cut[rows, alone], np.stack([cut[rows, (alone + k) % 3] for k in (1, 2)], axis=1)
    part = (z - tip[:, None, 2]) / (ends[..., 2] - tip[:, None, 2])
    return np.asarray(tip[:, None, :2] + part[..., None] * (ends - tip[:, None])[..., :2])


def ray_distances(segments: Array, angle: Array, origin: ArrayLike = (0.0, 0.0)) -> Array:
    """Largest distances (n,) at which rays in directions (n,), rad, meet segments (m, 2, 2).

    Rays begin at one `origin` (2,), or each at its own (n, 2). NaN where one meets no segment.
    """
    x, y = np.moveaxis(segments - np.reshape(origin, (-1, 1, 1, 2)), 3, 0)
    cos, sin = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    # Coordinates of the ends along the rays and to the left of them.
    (a, b), (c, d) = np.moveaxis(cos * x + sin * y, 2, 0), np.moveaxis(cos * y - sin * x, 2, 0)
    crosses = (c < 0.0) != (d < 0.0)
    place = np.divide(a * d - b * c, d - c, out=np.full(a.shape, np.nan), where=crosses)
    return np.fmax.reduce(np.where(place > 0.0, place, np.nan), axis=1, initial=np.nan)


def simplified(mesh: TriangleMesh, most: int) -> TriangleMesh:
    """A mesh with at most about so many points: those in one cube of a grid become their mean."""
    if len(mesh.vertices) <= most:
        return mesh
    corners = mesh.vertices[mesh.faces]
    edges = corners[:, 1:] - corners[:, :1]
    area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum()
    # A surface passes about 1.5 cubes per square of their side.
    cell = np.sqrt(1.5 * area / most)
    _, number = np.unique(np.floor(mesh.vertices / cell), axis=0, return_inverse=True)
    number = number.ravel()
    count = np.bincount(number)
    sums = [np.bincount(number, weights=column) for column in mesh.vertices.T]
    faces = number[mesh.faces]
    whole = (np.diff(np.sort(faces, axis=1), axis=1) > 0).all(axis=1)
    return TriangleMesh(np.stack(sums, axis=1) / count[:, None], np.unique(faces[whole], axis=0))


def joined(meshes: Sequence[TriangleMesh]) -> TriangleMesh:
    """One mesh of several."""
    first = np.cumsum([0, *(len(one.vertices) for one in meshes)])
    return TriangleMesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([one.faces + at for one, at in zip(meshes, first, strict=False)]),
    )


def woven(points: Array) -> TriangleMesh:
    """Mesh of a grid of points (n, m, 3)."""
    number = np.arange(points[..., 0].size).reshape(points.shape[:2])
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    faces = [np.stack(corners, -1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))]
    return TriangleMesh(points.reshape(-1, 3), np.concatenate(faces))


def sphere_mesh(
    centre: ArrayLike, radius: float, around: int = 41, along: int = 21
) -> TriangleMesh:
    """A sphere of so many points along its equator, and from pole to pole along z."""
    turn = np.linspace(0.0, 2.0 * np.pi, around)
    fall = np.linspace(0.0, np.pi, along)[:, None]
    unit = [np.sin(fall) * np.cos(turn), np.sin(fall) * np.sin(turn), np.cos(fall) + 0.0 * turn]
    return woven(np.asarray(centre) + radius * np.stack(unit, -1))


def sampled_triangles(mesh: TriangleMesh, parts: int = 4) -> Array:
    """Points (n, 3) on all triangles of a mesh, at `parts` equal steps along their edges, mm."""
    steps = range(parts + 1)
    weights = [(i, j, parts - i - j) for i in steps for j in range(parts + 1 - i)]
    corners = mesh.vertices[mesh.faces]
    points = np.einsum("wk,nkd->nwd", np.array(weights) / parts, corners).reshape(-1, 3)
    return np.unique(np.round(points, 9), axis=0)


def circle_centre(points: Array) -> tuple[float, float]:
    """Centre of the algebraic least-squares circle through plane points, shape (n, 2)."""
    terms = np.column_stack([2.0 * points, np.ones(len(points))])
    centre = np.linalg.lstsq(terms, (points**2).sum(axis=1), rcond=None)[0]
    return float(centre[0]), float(centre[1])


def insert_from_points(points: Array, source: str = "insert points") -> TriangleMesh:
    """Bearing sheet of an insert through points (n, 3) in mm and knee axes, normals up.

    Delaunay triangles over the horizontal plane without long ones, over holes and bays.
    """
    _check_count(points, source)
    return _triangulated(points, points[:, [2, 0]], source)


def femoral_from_points(points: Array, source: str = "femoral points") -> TriangleMesh:
    """Bearing sheet of a femoral component through points in mm and knee axes, normals outward.

    Delaunay triangles over angle and width about the circle that best fits the lower part; each
    direction needs one radius. Raises as `insert_from_points`.
    """
    _check_count(points, source)
    low = points[points[:, 1] < np.median(points[:, 1])]
    offset = points[:, :2] - np.array(circle_centre(low[:, :2]))
    arc = np.arctan2(offset[:, 0], -offset[:, 1]) * np.median(np.hypot(*offset.T))
    return _triangulated(points, np.column_stack([arc, points[:, 2]]), source)


def _triangulated(points: Array, plane: Array, source: str) -> TriangleMesh:
    """Delaunay triangles over a plane, counter-clockwise there, without the long ones."""
    try:
        faces = scipy.spatial.Delaunay(plane).simplices.astype(np.int64)
    except scipy.spatial.QhullError as error:
        expected = "points spread over a bearing surface"
        remedy = "Check the columns of the file, and `axes`."
        raise InputDataError(source, "points along one line", expected, remedy) from error
    a, b, c = (plane[faces[:, corner]] for corner in range(3))
    ab, ac = b - a, c - a
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    faces[area < 0] = faces[area < 0][:, ::-1]
    corners = points[faces]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1)
    mesh = TriangleMesh(points, faces)
    # Rows of points along the outline leave triangles without area, or edge-on.
    seen = np.abs(area) / np.maximum(2.0 * np.linalg.norm(mesh.face_normals, axis=1), 1e-300)
    kept = (edges.max(axis=1) < _MAX_EDGE * np.median(edges)) & (seen > _EDGE_ON)
    return TriangleMesh(points, np.ascontiguousarray(faces[kept]))


def _check_count(points: Array, source: str) -> None:
    """Refuse a handful of points."""
    if len(points) < _MIN_POINTS:
        remedy = "Export more points, about one a millimetre."
        raise InputDataError(source, f"{len(points)} points", f"at least {_MIN_POINTS}", remedy)


def merge_vertices(
    vertices: Array, faces: NDArray[np.int64], step: float
) -> tuple[Array, NDArray[np.int64]]:
    """Merge vertices within `step` of each other; drop collapsed triangles and unused vertices."""
    used = np.unique(faces)
    # First those that round to the same multiple, which are most.
    _, first, number = np.unique(
        np.round(vertices[used] / step), axis=0, return_index=True, return_inverse=True
    )
    merged = np.empty(len(vertices), dtype=np.int64)
    merged[used] = number.reshape(-1)
    vertices, faces = vertices[used][first], merged[faces]
    pairs = scipy.spatial.cKDTree(vertices).query_pairs(step, output_type="ndarray")
    if len(pairs):
        count = len(vertices)
        graph = scipy.sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), (count, count))
        _, group = scipy.sparse.csgraph.connected_components(graph, directed=False)
        _, first, group = np.unique(group, return_index=True, return_inverse=True)
        vertices, faces = vertices[first], group.reshape(-1)[faces]
    a, b, c = faces.T
    return vertices, np.ascontiguousarray(faces[(a != b) & (b != c) & (c != a)])
