"""Coarse meshes of bones: linear tetrahedra with a layer of prisms for the cartilage.

A bone is meshed from a closed surface, the triangles under cartilage are extruded along the mean
outward normals of their nodes (Sander et al. 2012, section 3.1), and the triangles near an
attachment become the insertion patch of a ligament. Axes: x posterior, y superior, z medial; mm.

Notes
-----
New nodes of refined meshes are on the coarse triangles until `boundary` moves them onto the
surface.
"""

from __future__ import annotations

from contextlib import chdir
from dataclasses import dataclass
from itertools import permutations
from tempfile import TemporaryDirectory

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import InputDataError
from kneewear.geometry.meshes import TriangleMesh, simplified
from kneewear.knees.papers.fe_knee.volume_mesh import (
    VolumeMesh,
    boundary_triangles,
    cartilage_surface,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Corners of the six tetrahedra of a cube around one diagonal (Kuhn), in steps along the axes.
_PATHS = [
    np.cumsum([np.zeros(3, int), *np.eye(3, dtype=int)[list(order)]], axis=0)
    for order in permutations(range(3))
]
# Height of cells of a shaft over the largest edge of others: waves along it are longer than these.
SHAFT_CELLS = 3.0
# Points of a surface that is given to the tetrahedral mesher, at most about: more only cost time.
_SURFACE_POINTS = 4000
# How far the boundary of a tetrahedral mesh may be from its surface, in parts of the element size.
_ENVELOPE = 0.08
# The mean ratio of a tetrahedron (1 if regular) below which a mesh is refused.
_MIN_QUALITY = 0.02
# Least volume of a prism at a corner, in parts of that of a straight one.
_FLAT_CORNER = 0.2
# Attachments further from their bone than this, mm, are mistaken.
_FAR = 20.0
# Height of the end of a natural bone that is moved to lengthen it, mm: its edge is rounded.
_END = 5.0
# Distance of hull triangles to the articular sheet that they would double, mm.
_DOUBLED = 3.0


def block_tetrahedra(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> tuple[Array, Ints]:
    """Nodes (n, 3) and tetrahedra (m, 4) of a box, six to each cell of a grid.

    `x`, `y` and `z` are ascending coordinates of the grid, mm. All cells are cut around parallel
    diagonals, so that neighbours share their faces.
    """
    lines = [np.asarray(one, dtype=float) for one in (x, y, z)]
    nodes = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3)
    shape = tuple(map(len, lines))
    cells = np.indices([count - 1 for count in shape]).reshape(3, -1).T
    parts = [
        np.ravel_multi_index(tuple(np.moveaxis(cells[:, None] + path, -1, 0)), shape)
        for path in _PATHS
    ]
    return nodes, oriented(nodes, np.concatenate(parts))


def oriented(nodes: Array, tetrahedra: Ints) -> Ints:
    """Tetrahedra with positive volume: two nodes of the others change places."""
    found = tetrahedra.astype(np.int64)
    inside_out = tetrahedron_volumes(nodes, found) < 0.0
    found[inside_out] = found[inside_out][:, [0, 2, 1, 3]]
    return found


def tetrahedron_volumes(nodes: Array, tetrahedra: Ints) -> Array:
    """Volume of each tetrahedron, mm3; negative if turned inside out."""
    corners = nodes[tetrahedra]
    return np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0


def _edges_from(count: float, length: float, size: float) -> Array:
    """Ends of equal parts of at most `size` of a length, from `count`."""
    return count + np.linspace(0.0, length, max(1, int(np.ceil(length / size - 1e-9))) + 1)


@dataclass(frozen=True)
class Dishes:
    """Two hollows of a plateau, mm: paraboloids with `radii` of curvature, `depth` below it."""

    radii: tuple[float, float]
    spacing: float
    depth: float


def simplified_tibia(
    size: tuple[float, float, float],
    element: float,
    shaft: float = 0.0,
    dishes: Dishes | None = None,
) -> tuple[Array, Ints]:
    """Nodes and tetrahedra of a box whose top, at y = 0, is the plateau.

    `size` is its extent along x, y and z, mm, `element` the largest edge of a cell, mm. A `shaft`,
    mm, below it has cells up to `SHAFT_CELLS` times as high.
    """
    x, y, z = _grid(size, element, shaft)
    nodes, tetrahedra = block_tetrahedra(x, -y[::-1], z)
    if dishes is None:
        return nodes, tetrahedra
    rise = _paraboloids(nodes, dishes.radii, dishes.spacing)
    low = np.minimum(rise - dishes.depth, 0.0)
    moved = nodes.copy()
    moved[:, 1] += low * (1.0 + nodes[:, 1] / (size[1] + shaft))
    return moved, tetrahedra


def _paraboloids(nodes: Array, radii: tuple[float, float], spacing: float) -> Array:
    """Height of each node's place over two lowest points at z = +-`spacing`/2, mm."""
    across = np.abs(nodes[:, 2]) - 0.5 * spacing
    return np.asarray(0.5 * (nodes[:, 0] ** 2 / radii[0] + across**2 / radii[1]))


def simplified_femur(
    size: tuple[float, float, float],
    element: float,
    radii: tuple[float, float],
    spacing: float,
    shaft: float = 0.0,
) -> tuple[Array, Ints]:
    """Nodes and tetrahedra of a block with two convex condyles, whose lowest points are at y = 0.

    `size`, `element` and `shaft`, above it, as for the tibia. Along z = +-`spacing`/2 the lower
    side is lowest; from there it rises as paraboloids with `radii` of curvature (front to back,
    side to side), mm, and forms a notch between them.
    """
    nodes, tetrahedra = block_tetrahedra(*_grid(size, element, shaft))
    low = _paraboloids(nodes, radii, spacing)
    moved = nodes.copy()
    moved[:, 1] = low + nodes[:, 1] * (1.0 - low / (size[1] + shaft))
    return moved, tetrahedra


def simplified_fibula(
    size: tuple[float, float, float], element: float, shaft: float = 0.0
) -> tuple[Array, Ints]:
    """Nodes and tetrahedra of a box above y = 0, its cells as high as the lowest of the tibia."""
    length, height, width = size
    x, z = (_edges_from(-0.5 * one, one, element) for one in (length, width))
    high = SHAFT_CELLS * element if shaft > 0.0 else element
    return block_tetrahedra(x, _edges_from(0.0, height, high), z)


def _grid(
    size: tuple[float, float, float], element: float, shaft: float
) -> tuple[Array, Array, Array]:
    """Lines of the cells of a block and its shaft along x, y from the joint, and z."""
    length, height, width = size
    y = _edges_from(0.0, height, element)
    if shaft > 0.0:
        y = np.append(y, _edges_from(height, shaft, SHAFT_CELLS * element)[1:])
    return _edges_from(-0.5 * length, length, element), y, _edges_from(-0.5 * width, width, element)


def tetrahedralise(surface: TriangleMesh, element: float, source: str) -> tuple[Array, Ints]:
    """Nodes and tetrahedra inside a surface by fTetWild.

    Parameters
    ----------
    surface : TriangleMesh
        Triangles in mm, outward. Holes are closed where the winding number is one half, and
        triangles may intersect; thus the articular sheet of a femur and a hull are enough.
    element : float
        Wanted edge length inside, mm; the boundary stays within 0.08 times this of the surface,
        where elements are smaller if it is curved.
    source : str
        What errors call the surface.

    Raises
    ------
    InputDataError
        Without the package pytetwild, or when no body is found inside.

    Notes
    -----
    gmsh and tetgen keep the triangles of a given surface or need it closed and free of
    intersections; fTetWild makes coarse tetrahedra of any triangles, and closes what is open. Its
    order of operations varies, so that meshes differ a little each time: keep the result.
    pytetwild 0.3 and 0.4 import pyvista without requiring it.

    References
    ----------
    Hu et al. 2020, Fast tetrahedral meshing in the wild, doi:10.1145/3386569.3392385.
    """
    try:
        from pytetwild.pytetwild import tetrahedralize  # noqa: PLC0415 - optional
    except ImportError:
        raise InputDataError(
            source,
            "no package pytetwild, which fills it with tetrahedra",
            "the optional packages of finite-element bones",
            'Run `pip install -e ".[fe]"`, or take simplified bones (fe_knee.bones.source).',
        ) from None
    coarse = simplified(surface, _SURFACE_POINTS)
    diagonal = float(np.linalg.norm(coarse.extent))
    # It writes a file of its own into the working directory.
    with TemporaryDirectory() as folder, chdir(folder):
        nodes, cells = tetrahedralize(
            coarse.vertices.copy(),  # it takes no read-only array
            coarse.faces.astype(np.int32),
            edge_length_fac=element / diagonal,
            epsilon=_ENVELOPE * element / diagonal,
            num_threads=1,
            quiet=True,
        )
    if not len(cells):
        expected = "triangles that enclose a body, their normals outward"
        raise InputDataError(source, "no tetrahedra inside", expected, "Check the surface.")
    return _largest_part(nodes, oriented(nodes, np.asarray(cells, dtype=np.int64)))


def _largest_part(nodes: Array, tetrahedra: Ints) -> tuple[Array, Ints]:
    """Leave out loose splinters, and nodes that no tetrahedron has."""
    ends = np.concatenate([tetrahedra[:, [0, other]] for other in (1, 2, 3)]).T
    graph = scipy.sparse.coo_array(
        (np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(len(nodes),) * 2
    )
    part = scipy.sparse.csgraph.connected_components(graph, directed=False)[1][tetrahedra[:, 0]]
    kept = tetrahedra[part == np.bincount(part).argmax()]
    used, number = np.unique(kept, return_inverse=True)
    return nodes[used], number.reshape(kept.shape)


def lengthened(surface: TriangleMesh, shaft: float) -> TriangleMesh:
    """Surface of a bone whose lower end, its lowest `_END`, is moved down by `shaft`, mm.

    Triangles between the end and the rest become the sides of a straight shaft.
    """
    vertices = surface.vertices.copy()
    vertices[vertices[:, 1] <= vertices[:, 1].min() + _END, 1] -= shaft
    return TriangleMesh(vertices, surface.faces)


def closed_femur(sheet: TriangleMesh, attachments: ArrayLike, top: float) -> TriangleMesh:
    """A distal femoral block: its articular sheet with walls and a top from a convex hull.

    Parameters
    ----------
    sheet : TriangleMesh
        Subchondral bone under the articular cartilage, open, normals outward, mm.
    attachments : array (n, 3)
        Points on the sides of the bone, such as attachments of the collateral ligaments.
    top : float
        Height of the cut through the bone, mm; above all points of the sheet.

    Returns
    -------
    TriangleMesh
        The sheet and the upward and sideways triangles of the hull that do not double it. It is
        neither closed nor free of intersections; `tetrahedralise` fills it. The block is wider
        than a femur above the condyles, and the notch is shallower.
    """
    low, high = sheet.vertices.min(axis=0), sheet.vertices.max(axis=0)
    middle = 0.5 * (low + high)
    ends = [middle + 0.75 * (low - middle), middle + 0.75 * (high - middle)]
    roof = np.array([[x[0], top, z[2]] for x in ends for z in ends])
    points = np.concatenate([sheet.vertices, np.asarray(attachments, dtype=float), roof])
    hull = scipy.spatial.ConvexHull(points)
    normals = hull.equations[:, :3]
    corners = points[hull.simplices]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flipped = (cross * normals).sum(axis=1) < 0.0
    faces = np.where(flipped[:, None], hull.simplices[:, ::-1], hull.simplices)
    distance = scipy.spatial.cKDTree(sheet.vertices).query(corners.mean(axis=1))[0]
    walls = faces[(normals[:, 1] > -0.2) & (distance > _DOUBLED)]
    own = simplified(sheet, _SURFACE_POINTS)
    return TriangleMesh(
        np.concatenate([own.vertices, points]),
        np.concatenate([own.faces, walls + len(own.vertices)]),
    )


def add_cartilage(
    nodes: Array, tetrahedra: Ints, covered: Ints, thickness: float, source: str = "cartilage"
) -> VolumeMesh:
    """Bone with a layer of prisms on the covered triangles.

    Parameters
    ----------
    nodes, tetrahedra : arrays (n, 3) and (m, 4)
        The bone.
    covered : array (t, 3)
        Boundary triangles under cartilage, outward.
    thickness : float
        Constant, mm, along the mean outward normals (weighted by area) of the covered nodes.
    source : str
        What errors call the layer.

    Raises
    ------
    InputDataError
        When prisms would turn inside out, because the bone is too curved for the thickness.
    """
    both, prisms = _extruded(nodes, covered, thickness)
    volumes = corner_volumes(both, prisms)
    if len(volumes) and volumes.min() <= 0.0:
        wrong = np.count_nonzero(volumes <= 0.0)
        raise InputDataError(
            source,
            f"{wrong} of {len(volumes)} prisms inside out at {thickness:g} mm",
            "a bone whose radii of curvature exceed the thickness",
            "Take a thinner layer, or smaller elements.",
        )
    return VolumeMesh(both, tetrahedra, prisms)


def _extruded(nodes: Array, covered: Ints, thickness: float) -> tuple[Array, Ints]:
    """Nodes with those of the upper side, and prisms on the covered triangles."""
    mesh = TriangleMesh(nodes, covered)
    used, number = np.unique(covered, return_inverse=True)
    upper = nodes[used] + thickness * mesh.vertex_normals[used]
    prisms = np.hstack([covered, len(nodes) + number.reshape(covered.shape)]).astype(np.int64)
    return np.concatenate([nodes, upper]), prisms


def extrudable(nodes: Array, covered: Ints, thickness: float) -> Ints:
    """Covered triangles without those whose prisms would be nearly flat at a corner.

    Such are in narrow concave places, as at the border of the notch. A prism is kept if its least
    volume at a corner is above 0.2 of that of a straight one.
    """
    while len(covered):
        straight = thickness * np.linalg.norm(TriangleMesh(nodes, covered).face_normals, axis=1)
        volumes = corner_volumes(*_extruded(nodes, covered, thickness))
        kept = volumes > _FLAT_CORNER * straight
        if kept.all():
            break
        covered = covered[kept]
    return covered


def corner_volumes(nodes: Array, prisms: Ints) -> Array:
    """Least volume of each prism as measured at its six corners, mm3: not positive if degenerate.

    At a corner it is half of the product of the three edges there, which is the volume of a
    prism with parallel triangles.
    """
    corners = nodes[prisms]
    found = []
    for first in range(3):
        second, third = (first + 1) % 3, (first + 2) % 3
        for base in (0, 3):
            along = corners[:, second + base] - corners[:, first + base]
            other = corners[:, third + base] - corners[:, first + base]
            up = corners[:, first + 3] - corners[:, first]
            found.append(0.5 * np.einsum("ij,ij->i", np.cross(along, other), up))
    return np.min(found, axis=0) if len(corners) else np.empty(0)


def tetrahedron_quality(mesh: VolumeMesh) -> Array:
    """Mean ratio of each tetrahedron: 12 (3 V)^(2/3) over the sum of squared edges; 1 if regular.

    Source: Liu and Joe 1994, doi:10.1007/BF01955874.
    """
    corners = mesh.nodes[mesh.tetrahedra]
    pairs = [(i, j) for i in range(4) for j in range(i)]
    edges = sum(((corners[:, i] - corners[:, j]) ** 2).sum(axis=1) for i, j in pairs)
    return 12.0 * np.cbrt(3.0 * tetrahedron_volumes(mesh.nodes, mesh.tetrahedra)) ** 2 / edges


def check_quality(mesh: VolumeMesh, source: str) -> None:
    """Raise InputDataError if a tetrahedron is nearly flat."""
    quality = tetrahedron_quality(mesh)
    if quality.min() < _MIN_QUALITY:
        raise InputDataError(
            source,
            f"a tetrahedron of mean ratio {quality.min():.2g}",
            f"at least {_MIN_QUALITY:g} (a regular one has 1)",
            "Take another element size.",
        )


def covered_triangles(boundary: Ints, nodes: Array, sheet: TriangleMesh, near: float) -> Ints:
    """Boundary triangles under cartilage: their centre is nearer than `near`, mm, to the sheet.

    The sheet is the subchondral bone; triangles must also face its way.
    """
    surface = TriangleMesh(nodes, boundary)
    centres = sheet.vertices[sheet.faces].mean(axis=1)
    distance, nearest = scipy.spatial.cKDTree(centres).query(nodes[boundary].mean(axis=1))
    facing = (surface.face_normals * sheet.face_normals[nearest]).sum(axis=1) > 0.0
    return boundary[(distance < near) & facing]


def insertion_patch(
    mesh: VolumeMesh, point: ArrayLike, radius: float, ligament: str = "ligament"
) -> Ints:
    """Triangles of bone around the place where a ligament inserts.

    Parameters
    ----------
    mesh : VolumeMesh
        Bone with cartilage.
    point : array (3,)
        Attachment, mm; the patch is around the nearest centre of a triangle of bone.
    radius : float
        Triangles whose centres are at most so far from there, mm; at least one.
    ligament : str
        Name for errors.

    Raises
    ------
    InputDataError
        When the attachment is further than 20 mm from the free surface of the bone.
    """
    triangles = boundary_triangles(mesh)
    layer = np.unique(mesh.prisms[:, 3:]) if len(mesh.prisms) else np.empty(0, dtype=int)
    triangles = triangles[~np.isin(triangles, layer).any(axis=1)]
    centres = mesh.nodes[triangles].mean(axis=1)
    away = np.linalg.norm(centres - np.asarray(point, dtype=float), axis=1)
    if away.min() > _FAR:
        raise InputDataError(
            ligament,
            f"an attachment {away.min():.1f} mm from the free surface of its bone",
            f"at most {_FAR:g} mm",
            "Check its coordinates, unit and axes.",
        )
    around = np.linalg.norm(centres - centres[away.argmin()], axis=1)
    return triangles[around <= radius]


def lowest_triangles(mesh: VolumeMesh, depth: float) -> Ints:
    """Boundary triangles whose nodes are all at most `depth`, mm, above the lowest one."""
    triangles = boundary_triangles(mesh)
    height = mesh.nodes[triangles][..., 1]
    return triangles[height.max(axis=1) <= mesh.nodes[:, 1].min() + depth]


def with_flat_base(nodes: Array, tetrahedra: Ints, depth: float) -> tuple[Array, Ints]:
    """Nodes and tetrahedra of a bone whose lowest side, a plane cut, is plane again.

    Nodes of `lowest_triangles` are moved down to the lowest one; tetrahedra between these nodes
    alone become flat and are left out. InputDataError if another one is turned inside out.
    """
    base = np.unique(lowest_triangles(VolumeMesh(nodes, tetrahedra), depth))
    moved = nodes.copy()
    moved[base, 1] = nodes[:, 1].min()
    kept = tetrahedra[~np.isin(tetrahedra, base).all(axis=1)]
    volumes = tetrahedron_volumes(moved, kept)
    if volumes.min() <= 0.0:
        raise InputDataError(
            "base of the tibia",
            f"{np.count_nonzero(volumes <= 0.0)} tetrahedra inside out where the cut is made plane",
            "a mesh whose lowest layer is even",
            "Take another element size (fe_knee.bones.element_mm).",
        )
    return _largest_part(moved, kept)


def joint_gap(femur: VolumeMesh, tibia: VolumeMesh) -> float:
    """Least vertical distance from the tibial to the femoral cartilage, mm; negative in overlap.

    Measured from the nodes of each surface to the triangles of the other; infinite if none is
    above another.
    """
    upper, lower = cartilage_surface(femur), cartilage_surface(tibia)
    return min(
        _least_height(femur.nodes, upper, tibia.nodes[lower]),
        -_greatest_height(tibia.nodes, lower, femur.nodes[upper]),
    )


def _least_height(nodes: Array, triangles: Ints, others: Array) -> float:
    heights = _heights_over(nodes[np.unique(triangles)], others)
    return float(np.nanmin(heights, initial=np.inf))


def _greatest_height(nodes: Array, triangles: Ints, others: Array) -> float:
    heights = _heights_over(nodes[np.unique(triangles)], others)
    return float(np.nanmax(heights, initial=-np.inf))


def _heights_over(points: Array, corners: Array) -> Array:
    """Heights (n_points, n_triangles) of points over triangles in plan; NaN beside them."""
    plan = [0, 2]
    first = corners[:, 0]
    along, other = corners[:, 1] - first, corners[:, 2] - first
    det = along[:, 0] * other[:, 2] - along[:, 2] * other[:, 0]
    away = points[:, None, plan] - first[None, :, plan]
    safe = np.where(np.abs(det) > 1e-9, det, np.nan)
    s = (away[..., 0] * other[:, 2] - away[..., 1] * other[:, 0]) / safe
    t = (along[:, 0] * away[..., 1] - along[:, 2] * away[..., 0]) / safe
    height = points[:, None, 1] - (first[:, 1] + s * along[:, 1] + t * other[:, 1])
    return np.where((s >= -1e-9) & (t >= -1e-9) & (s + t <= 1 + 1e-9), height, np.nan)
