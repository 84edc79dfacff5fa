"""A muscle as an elastic string that slides over bones of any shape.

The nodes of a string without length of its own minimise J = u'Ku / 2 - u'f under the condition that
each stays above the tangent plane of the bone at its closest point. Planes and nodes are renewed
until the string rests.

References
----------
Vondrak, V., Dostal, Z., Damsgaard, M. and Rasmussen, J. (2004), Programs and Algorithms of
Numerical Mathematics 12:284-289, Eqs 1 to 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple, Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import ConvergenceError, InputDataError
from kneewear.geometry._mesh_kernels import MeshTree, closest_points
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.surface import Surface
from kneewear.knees.contact.mesh_tree import build_mesh_tree

Array = NDArray[np.float64]

# Least part of a change that is taken, and how many earlier planes are remembered.
_MIN_TAKEN = 0.2
_REMEMBERED = 6


class Obstacle(Protocol):
    """A body that a string cannot enter."""

    def closest(self, points: Array) -> tuple[Array, Array, Array]:
        """Closest points (n, 3), unit directions outward there, and gaps (n,), negative inside."""


@dataclass(frozen=True)
class MeshObstacle:
    """A bone as triangles that face outward; open sheets are solid below.

    At edges and vertices the side is that of the normals of all triangles that meet there. An open
    sheet goes on as its tangent plane by a `margin`, mm, beyond its border; nodes further beside it
    are not held.
    """

    mesh: TriangleMesh
    margin: float = 0.0

    def closest(self, points: Array) -> tuple[Array, Array, Array]:
        """Closest points, directions outward and gaps, exact for the triangles."""
        points = np.ascontiguousarray(points, dtype=float)
        (found, outward), gap = np.empty((2, *points.shape)), np.empty(len(points))
        closest_points(self._tree, self.margin, points, found, outward, gap)
        return found, outward, gap

    @cached_property
    def _tree(self) -> MeshTree:
        return build_mesh_tree(self.mesh)


@dataclass(frozen=True)
class SurfaceObstacle:
    """A smooth patch, solid below; nodes beside it are not held."""

    surface: Surface

    def closest(self, points: Array) -> tuple[Array, Array, Array]:
        """Closest points, directions outward and gaps along the normal."""
        u, v, *_ = self.surface.closest_points(points)
        found, normal = self.surface.evaluate(u, v), self.surface.normal(u, v)
        apart = points - found
        gap = (apart * normal).sum(-1)
        beside = np.linalg.norm(apart - gap[:, None] * normal, axis=-1) > 1e-6 + np.abs(gap)
        return found, normal, np.where(beside, np.inf, gap)


@dataclass(frozen=True)
class StringPath:
    """A string at rest.

    `nodes` (n + 2, 3) with both ends, mm; `length`, mm; `pulls` (2, 3), unit vectors along which
    its tension acts on the bodies at the ends; `pressing` (n, 3), force of the obstacle on each
    node as a part of the tension; `touched` (n,), number of the obstacle it presses on, or -1;
    `gap` (n,), mm, to the nearest obstacle, not negative; `residual`, the largest violation of the
    optimality conditions of the last quadratic programme as a part of the string's spacing;
    `iterations` counts renewals of the conditions of contact.
    """

    nodes: Array
    length: float
    pulls: Array
    pressing: Array
    touched: NDArray[np.int64]
    gap: Array
    residual: float
    iterations: int


class _Planes(NamedTuple):
    """Tangent planes of the nearest obstacles of the nodes, and the numbers of these (or -1)."""

    at: Array
    normal: Array
    gap: Array
    obstacle: NDArray[np.int64]

    def holds_at(self, other: _Planes) -> NDArray[np.bool_]:
        """True where the surface at another closest point is above these planes, as in a groove."""
        above = ((other.at - self.at) * self.normal).sum(-1)
        known = (self.obstacle >= 0) & (self.obstacle == other.obstacle)
        return known & (above > 1e-9 * (1.0 + np.abs(self.at).max(axis=-1)))


def stretch_string(
    start: ArrayLike,
    end: ArrayLike,
    obstacles: Sequence[Obstacle] = (),
    *,
    nodes: int = 20,
    begin: ArrayLike | None = None,
    tolerance: float = 1e-5,
    most: int = 200,
    muscle: str = "muscle",
) -> StringPath:
    """Rest position of a string between two fixed points over obstacles, all in one frame, mm.

    `nodes` move, in addition to both ends. `begin` (nodes, 3) is a position on the right side of
    the obstacles, such as that of the last time step; without it the straight line, which the
    obstacles push out by the nearest way. The position has converged when it changes by less than
    `tolerance` of itself, measured from the middle of both ends; changes that do not decrease are
    taken in part. InputDataError if an end is inside an obstacle; ConvergenceError after `most`
    renewals.

    Notes
    -----
    Each node keeps above the tangent plane of the nearest obstacle, and, in a groove, above planes
    of its last positions too. The programme min u'Ku/2 - u'f, C u <= d is solved in its dual form,
    which has bounds l >= 0 only: with K = L L' it is the programme of least distance, which
    `scipy.optimize.nnls` solves exactly (Lawson and Hanson 1995, Solving Least Squares Problems,
    section 23.4). The length is that of the chords, shorter than the geodesic by about the square
    of the turn per node over 24.
    """
    ends = np.array([start, end], dtype=float)
    _require_outside(ends, obstacles, muscle)
    share = np.linspace(0.0, 1.0, nodes + 2)[1:-1, None]
    line = (1.0 - share) * ends[0] + share * ends[1]
    position = line if begin is None else np.array(begin, dtype=float)
    middle = ends.mean(axis=0)
    change, iterations, taken = np.inf, 0, 1.0
    recent: list[_Planes] = [_planes(position, obstacles)]
    while change > tolerance and iterations < most:
        iterations += 1
        after, force, residual = _solve_programme(line, recent)
        before, change = (
            change,
            float(np.linalg.norm(after - position) / np.linalg.norm(after - middle)),
        )
        if change > 0.9 * before:
            taken = max(0.5 * taken, _MIN_TAKEN)
        position = position + taken * (after - position)
        recent = [_planes(position, obstacles), *recent[:_REMEMBERED]]
    if change > tolerance:
        remedy = "Give a position on the right side of the bone to begin from, or fewer nodes."
        raise ConvergenceError(f"String of {muscle}", 0, change, "of its position", remedy)
    chain = np.vstack([ends[:1], position, ends[1:]])
    steps = np.diff(chain, axis=0)
    spans = np.linalg.norm(steps, axis=1)
    return StringPath(
        chain,
        float(spans.sum()),
        np.array([steps[0] / spans[0], -steps[-1] / spans[-1]]),
        force / spans.mean(),
        np.where(force.any(axis=-1), recent[1].obstacle, -1),
        recent[0].gap,
        residual / float(spans.mean()),
        iterations,
    )


def _solve_programme(line: Array, recent: Sequence[_Planes]) -> tuple[Array, Array, float]:
    """Nodes above the planes nearest to the equally spaced ones, forces on them, and residual."""
    factor, inverse = _chain(len(line))
    kept = [recent[0].obstacle >= 0, *(old.holds_at(recent[0]) for old in recent[1:])]
    node = np.concatenate([np.flatnonzero(mask) for mask in kept])
    at, normal = (
        np.concatenate(
            [np.asarray(old[part])[mask] for old, mask in zip(recent, kept, strict=True)]
        )
        for part in (0, 1)
    )
    force = np.zeros_like(line)
    if not node.size:
        return line, force, 0.0
    # Least |x|, x = L'(u - line), with G x >= h: rows of G' and h, in parts of the string's length.
    size = float(np.linalg.norm(np.ptp(line, axis=0)))
    lift = ((at - line[node]) * normal).sum(-1) / size
    rows = (inverse[:, node] * normal.T[:, None, :]).reshape(-1, node.size)
    target = np.zeros(len(rows) + 1)
    target[-1] = 1.0
    dual = scipy.optimize.nnls(np.vstack([rows, lift]), target)[0]
    held = dual * size / (1.0 - lift @ dual)
    np.add.at(force, node, held[:, None] * normal)
    moved = inverse.T @ (inverse @ force)
    above = (moved[node] * normal).sum(-1) - size * lift
    unbalanced = factor @ (factor.T @ moved) - force
    worst = max(np.abs(unbalanced).max(), -above.min(), np.abs(held * above).max() / size)
    return line + moved, force, float(worst)


@cache
def _chain(nodes: int) -> tuple[Array, Array]:
    """Factor L of the tridiagonal stiffness (-1, 2, -1) = L L' of one direction, and its inverse.

    The inverse is that of L, so that K^-1 = L^-T L^-1.
    """
    stiffness = 2.0 * np.eye(nodes) - np.eye(nodes, k=1) - np.eye(nodes, k=-1)
    factor: Array = np.linalg.cholesky(stiffness).astype(float)
    return factor, np.linalg.inv(factor).astype(float)


def _planes(points: Array, obstacles: Sequence[Obstacle]) -> _Planes:
    """Tangent plane of the nearest obstacle of each point."""
    at, normal = points.copy(), np.zeros_like(points)
    gap, near = np.full(len(points), np.inf), np.full(len(points), -1)
    for number, obstacle in enumerate(obstacles):
        found, outward, apart = obstacle.closest(points)
        closer = apart < gap
        at[closer], normal[closer] = found[closer], outward[closer]
        gap[closer], near[closer] = apart[closer], number
    return _Planes(at, normal, gap, near)


def _require_outside(ends: Array, obstacles: Sequence[Obstacle], muscle: str) -> None:
    """Refuse attachments inside an obstacle."""
    for number, obstacle in enumerate(obstacles):
        gap = obstacle.closest(ends)[2]
        if gap.min() < 0.0:
            which = "start" if gap[0] < 0.0 else "end"
            raise InputDataError(
                f"muscle {muscle}",
                f"its {which} {-gap.min():.3g} mm inside obstacle {number}",
                "attachments outside or on the bone",
                "Check the attachment and the frame of the mesh.",
            )
