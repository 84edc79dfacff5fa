"""Local thickness of the elastic layers: an insert above its underside, cartilage over its bone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.geometry.coverage import Coverage
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.plane import Plane
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import SurfaceTable

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
# Function from points (n, 3) of a bearing to thicknesses (n,), mm; NaN where there is no layer.
Thickness = Callable[[Array], Array]

# Column of a table of samples that holds the thickness of cartilage.
_COLUMN = "thickness_mm"
# A vertical line that misses a triangle by less than this part of it still meets its edge.
_EDGE_SLACK = 1e-9


@dataclass(frozen=True)
class PlaneUnderside:
    """A plane under the insert, such as the top of the tray.

    `height` is that above the insert's origin, mm; the plane rises by `rise_posterior` per mm along
    +x and by `rise_medial` per mm along +z.
    """

    height: float
    rise_posterior: float = 0.0
    rise_medial: float = 0.0

    def height_below(self, points: Array) -> Array:
        """Height y of the plane below points (n, 3) of the insert's frame, mm, shape (n,)."""
        return self.height + self.rise_posterior * points[:, 0] + self.rise_medial * points[:, 2]


@dataclass(frozen=True)
class MeshUnderside:
    """Triangles of a meshed insert's underside in its frame, mm; see `underside_of_mesh`."""

    mesh: TriangleMesh

    def height_below(self, points: Array) -> Array:
        """Height y vertically below points (n, 3) of the insert's frame, mm, shape (n,).

        The maximum height at which the line down from a point meets a triangle; NaN where it meets
        none. Where the underside has a recess, that of the recess.
        """
        corners = self.mesh.vertices[self.mesh.faces]
        plan = corners[:, :, [0, 2]]
        middle = plan.mean(axis=1)
        reach = np.linalg.norm(plan - middle[:, None], axis=2).max(axis=1)
        near = scipy.spatial.cKDTree(points[:, [0, 2]]).query_ball_point(
            middle, reach * (1.0 + 1e-9)
        )
        counts = np.array([len(found) for found in near], dtype=int)
        heights = np.full(len(points), -np.inf)
        if counts.any():
            point = np.concatenate([np.asarray(found, dtype=int) for found in near if found])
            height, met = _heights(corners[np.repeat(np.arange(len(near)), counts)], points[point])
            met &= height < points[point, 1]
            np.maximum.at(heights, point[met], height[met])
        return np.where(np.isfinite(heights), heights, np.nan)


Underside = PlaneUnderside | MeshUnderside


def thickness_above(underside: float | Underside, points: Array) -> Array:
    """Vertical thickness from points (n, 3) of the bearing down to an underside, mm, shape (n,).

    A number is the height of a flat underside, mm. NaN where nothing lies below a point.
    """
    if isinstance(underside, PlaneUnderside | MeshUnderside):
        return points[:, 1] - underside.height_below(points)
    return points[:, 1] - underside


def thickness_to(backing: float | Surface, plane: Plane) -> Thickness:
    """Thickness of a layer, measured perpendicular to its plane.

    The layer ends at a height above the plane, mm, or at the surface of a backing.
    """

    def thickness(points: Array) -> Array:
        if not isinstance(backing, Surface):
            return plane.height(points) - backing
        *_, depth, hit = backing.ray_hits(points, -plane.frame[1])
        return np.where(hit, depth, np.nan)

    return thickness


def underside_of_mesh(mesh: TriangleMesh) -> MeshUnderside:
    """Underside of a solid insert with outward normals, or of a sheet of its underside alone.

    Of a solid, the triangles that face down, where a line from the bearing leaves it; of a sheet
    that faces one way, all that are not upright.
    """
    up = mesh.face_normals[:, 1]
    both_ways = bool((up > 0).any() and (up < 0).any())
    return MeshUnderside(mesh.part(up < 0 if both_ways else up != 0))


def _heights(corners: Array, points: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Height of each triangle on the vertical line through its point, and whether it is met."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab, ac, ap = ((end - a)[:, [0, 2]] for end in (b, c, points))
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    usable = np.abs(area) > 0.0
    area = np.where(usable, area, 1.0)
    to_b = (ap[:, 0] * ac[:, 1] - ap[:, 1] * ac[:, 0]) / area
    to_c = (ab[:, 0] * ap[:, 1] - ab[:, 1] * ap[:, 0]) / area
    met = usable & (to_b >= -_EDGE_SLACK) & (to_c >= -_EDGE_SLACK)
    met &= to_b + to_c <= 1.0 + _EDGE_SLACK
    return a[:, 1] + to_b * (b - a)[:, 1] + to_c * (c - a)[:, 1], met


def layer_thickness(
    points: Array, bone: Surface, limits: tuple[float, float], normal: Array | None = None
) -> Array:
    """Thickness of cartilage, mm, under points (n, 3) of its surface, in the frame of the bone.

    The shortest distance to the subchondral surface, within the limits (minimum, maximum); the
    minimum where a point lies inside the bone. With the cartilage's outward `normal` (n, 3) the
    distance along it, where it meets the bone. A vertical distance, as for an insert, would grow
    without bound towards the sides of a condyle.
    """
    thickness = bone.closest_points(points)[2]
    if normal is not None:
        *_, depth, hit = bone.ray_hits(points, -normal)
        thickness = np.where(hit, depth, thickness)
    return np.clip(thickness, *limits)


def without_bone(points: Array, cartilage: Surface, bone: Surface, covered: Coverage) -> Bools:
    """True where the normal at points (n, 3) of cartilage meets no bone that was measured.

    `bone` is a plateau's patch, u along z and v along x, which continues smoothly beyond the
    triangles it was fitted to; `covered` is the plan of these.
    """
    normal = cartilage.closest_points(points)[3]
    u, v, _, hit = bone.ray_hits(points, -normal)
    return ~(hit & covered.contains(np.where(hit, v, 0.0), np.where(hit, u, 0.0)))


def with_layer_thickness(
    samples: SurfaceTable,
    bone: Surface,
    limits: tuple[float, float],
    normal: Array | None = None,
) -> SurfaceTable:
    """Samples of the surface of a cartilage with its `layer_thickness` as a further column."""
    thickness = layer_thickness(samples.point.reshape(-1, 3), bone, limits, normal)
    return samples.with_columns(**{_COLUMN: thickness.reshape(samples.point.shape[:2])})


def joint_thickness(fixed: Array, moving: SurfaceTable, u: Array, v: Array) -> Array:
    """Thickness of the layers of both bodies, h_fixed + h_moving(u, v), mm (Bei 2003, 2.2.2).

    `fixed` is the layer of the fixed body at its elements (n,), u and v the parameters of the
    moving surface that face them, and `moving` its table `with_layer_thickness`.
    """
    return fixed + moving.interpolate(u, v)[..., moving.columns.index(_COLUMN)]
