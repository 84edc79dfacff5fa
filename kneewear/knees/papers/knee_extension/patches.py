"""Bicubic Coons patches through points of natural surfaces, as the source represents them.

The digitised points of the source are not printed: these are representative.

References
----------
Caruntu and Hefzy 2004, doi:10.1115/1.1644565; de Boor 1962, doi:10.1002/sapm1962411212.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import make_interp_spline

from kneewear.geometry.meshes import (
    TriangleMesh,
    condyle_axis,
    ray_distances,
    sagittal_section,
    woven,
)
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Part of the width, from the middle of the femur outwards, that the condylar axis is fitted to.
_CONDYLES = (0.15, 1.0)
# Part of a range by which corners keep from its ends, where a ray may pass the mesh by.
_WITHIN = 1e-9
# Squares along each side of a patch when it is drawn, and Gauss points along each for its area.
_DRAWN = 3
_GAUSS = 3


class SourcePatches(NamedTuple):
    """Centres (n, 3), mm, outward unit normals there (n, 3), and areas (n,), mm2, of patches."""

    centre: Array
    normal: Array
    area: Array


class CoonsPatches:
    """Bicubic patches between the points of a grid, joined with continuous curvature.

    Natural cubic splines through the rows and columns of `points` (n, m, 3), mm, give the tangents
    at the corners, and splines through these tangents the twists. Patch (i, j) has the
    parameters w1 = u - i and w2 = v - j of `surface`, from 0 to 1; its normal, the product of the
    derivatives over both, points out of the material. Patches that are not `kept` (n - 1, m - 1)
    are left out.
    """

    def __init__(self, points: Array, kept: Mask | None = None) -> None:
        net, knots = points, []
        for axis in (0, 1):
            spline = make_interp_spline(
                np.arange(points.shape[axis]), np.moveaxis(net, axis, 0), k=3, bc_type="natural"
            )
            net = np.moveaxis(spline.c, 0, axis)
            knots.append(spline.t)
        weights = np.ones(net.shape[:2])
        self.surface = Surface(np.ascontiguousarray(net), weights, knots[0], knots[1], 3, 3)
        rows, columns = points.shape[:2]
        self.kept = np.ones((rows - 1, columns - 1), dtype=bool) if kept is None else kept

    def covers(self, u: ArrayLike, v: ArrayLike) -> Mask:
        """True where patches at parameters (NaN for none) are kept."""
        at = np.floor(np.nan_to_num(np.stack([u, v]), nan=-1.0)).astype(np.int64)
        rows, columns = (np.minimum(a, n - 1) for a, n in zip(at, self.kept.shape, strict=True))
        return np.asarray((rows >= 0) & (columns >= 0) & self.kept[rows, columns])

    @cached_property
    def sources(self) -> SourcePatches:
        """Arrays of each patch that contact uses."""
        rows, columns = np.nonzero(self.kept)
        _, along, across, *_ = self.surface.derivatives(rows + 0.5, columns + 0.5)
        normal = np.cross(along, across)
        node, weight = np.polynomial.legendre.leggauss(_GAUSS)
        area = np.zeros(rows.size)
        for one, part in zip(node, weight, strict=True):
            for other, share in zip(node, weight, strict=True):
                at = rows + 0.5 * (1.0 + one), columns + 0.5 * (1.0 + other)
                _, along, across, *_ = self.surface.derivatives(*at)
                area += 0.25 * part * share * np.linalg.norm(np.cross(along, across), axis=1)
        return SourcePatches(
            self.surface.evaluate(rows + 0.5, columns + 0.5),
            normal / np.linalg.norm(normal, axis=1, keepdims=True),
            area,
        )

    def mesh(self) -> TriangleMesh:
        """Triangles of the kept patches, for drawing."""
        rows, columns = self.kept.shape
        lines = [np.linspace(0.0, n, _DRAWN * n + 1) for n in (rows, columns)]
        points = self.surface.evaluate(*np.meshgrid(*lines, indexing="ij"))
        drawn = np.kron(self.kept, np.ones((_DRAWN, _DRAWN), dtype=bool))
        return woven(points).part(np.tile(drawn.ravel(), 2))


def joined_sources(parts: Sequence[CoonsPatches]) -> SourcePatches:
    """Source patches of several grids."""
    columns = zip(*(part.sources for part in parts), strict=True)
    return SourcePatches(*(np.concatenate(column) for column in columns))


def femoral_patches(mesh: TriangleMesh, step: float) -> CoonsPatches:
    """Patches of a femur whose corners are `step`, mm, apart around and along the condylar axis.

    The mesh is in x anterior, y superior. Corners that miss it, as in the notch, continue the
    surface; patches whose centre misses it are left out.
    """
    half = float(np.abs(mesh.vertices[:, 2]).max())
    axis = np.array(condyle_axis(mesh, (_CONDYLES[0] * half, _CONDYLES[1] * half)))
    out = mesh.vertices[:, :2] - axis
    # From distal, anterior positive: the open side of a femur is proximal.
    angle = np.arctan2(out[:, 0], -out[:, 1])
    radius = float(np.median(np.hypot(*out.T)))
    turn = _spaced(angle, step / radius)
    across = _spaced(mesh.vertices[:, 2], step)

    def cast(turn: Array, across: Array) -> Array:
        return _farthest(mesh, axis, turn - 0.5 * np.pi, across)

    distance = _continued(cast(turn, across))
    points = np.stack(
        [
            axis[0] + distance * np.sin(turn)[:, None],
            axis[1] - distance * np.cos(turn)[:, None],
            np.broadcast_to(across, distance.shape),
        ],
        axis=-1,
    )
    return CoonsPatches(points, np.isfinite(cast(_middles(turn), _middles(across))))


def patellar_patches(mesh: TriangleMesh, step: float) -> CoonsPatches:
    """Patches of a patella that face to posterior (-x), with corners `step`, mm, apart in y and z.

    Corners and patches that miss the mesh are as of `femoral_patches`.
    """
    high, across = _spaced(mesh.vertices[:, 1], step), _spaced(mesh.vertices[:, 2], step)
    front = float(mesh.vertices[:, 0].max()) + 1.0

    def cast(high: Array, across: Array) -> Array:
        origin = np.stack([np.full(high.size, front), high], axis=1)
        return front - _farthest(mesh, origin, np.full(high.size, np.pi), across)

    place = _continued(cast(high, across))
    grid = np.meshgrid(high, across, indexing="ij")
    points = np.stack([place, *grid], axis=-1)
    kept = np.isfinite(cast(_middles(high), _middles(across)))
    return CoonsPatches(np.swapaxes(points, 0, 1), kept.T)


def _spaced(values: Array, step: float) -> Array:
    """Equal steps of about `step` over a range, whose ends are just within it."""
    low, high = float(values.min()), float(values.max())
    within = _WITHIN * (high - low)
    return np.linspace(low + within, high - within, max(4, round((high - low) / step) + 1))


def _middles(line: Array) -> Array:
    return 0.5 * (line[1:] + line[:-1])


def _farthest(mesh: TriangleMesh, origin: Array, angle: Array, across: Array) -> Array:
    """Largest distances (n, m) at which rays (n,) at each of `across` (m,), z, meet a mesh."""
    sections = [sagittal_section(mesh, z) for z in across]
    return np.stack([ray_distances(section, angle, origin) for section in sections], axis=1)


def _continued(values: Array) -> Array:
    """Values of a grid, the missing ones with the least sum of squared second differences."""
    known = np.isfinite(values).ravel()
    rows, columns = values.shape
    bend = np.concatenate(
        [
            np.kron(np.diff(np.eye(rows), 2, axis=0), np.eye(columns)),
            np.kron(np.eye(rows), np.diff(np.eye(columns), 2, axis=0)),
        ]
    )
    filled = values.ravel().copy()
    filled[~known] = np.linalg.lstsq(bend[:, ~known], -bend[:, known] @ filled[known], rcond=None)[
        0
    ]
    return filled.reshape(values.shape)
