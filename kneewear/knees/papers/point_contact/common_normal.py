"""Contact point of two smooth surfaces, where they share a normal.

Newton's method finds the pair of points, one on each surface, whose connecting line d is
perpendicular to both: four unknowns (two parameters on each surface), four equations. Started from
the pair of the previous pose, a motion in small steps needs two or three iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.geometry.table import SurfaceTable

Array = NDArray[np.float64]
LookUp = Callable[[float, float], tuple[Array, Array, Array]]

MAX_ITERATIONS = 30
MAX_HALVINGS = 8
# The iteration ends with a step this short, mm: convergence is quadratic.
FINAL_STEP = 1e-7
# Longest step, as a fraction of the parameter range: keeps a poor start from crossing the patch.
MAX_STEP = 0.2
# Tolerance of the solution: offset from the common normal, mm (for points further apart than 1 mm,
# rad), and angle between the normals, rad.
TOLERANCE = 1e-6


class LocalFrame(NamedTuple):
    """Point, two tangents and normal of a surface, and their derivatives over u and v."""

    point: Array  # 3
    tangents: Array  # 2 x 3
    normal: Array  # 3, outward, of any length
    point_slope: Array  # parameter x 3
    tangents_slope: Array  # parameter x 2 x 3
    normal_slope: Array  # parameter x 3


class FramedSurface(NamedTuple):
    """Local frames of a surface, and the range of its parameters."""

    frame: Callable[[float, float], LocalFrame]  # from u and v
    low: Array  # lowest u and v
    high: Array  # highest u and v


class CommonNormal(NamedTuple):
    """Points at which two surfaces are nearest, or overlap most."""

    parameters: Array  # u and v on the fixed surface, u and v on the moving one
    points: Array  # on the fixed and on the moving surface, in the fixed frame, mm, (2, 3)
    normal: Array  # outward unit normal of the fixed surface
    gap: float  # distance along that normal, mm; negative where the surfaces overlap
    iterations: int  # Newton steps


def frame_table(look_up: LookUp, low: ArrayLike, high: ArrayLike) -> FramedSurface:
    """Frames interpolated in a lookup table (Machado thesis, section 6.2).

    `look_up` gives all columns at (u, v) and their derivatives over u and v, as
    `bilinear_with_slopes`; `low` and `high` are the first and last u and v. Normals must point
    outward. Point, normal, tangent and binormal (twelve numbers per surface) are interpolated
    separately: exact at the samples, with an error of second order in the spacing between them.
    """

    def frame(u: float, v: float) -> LocalFrame:
        columns = np.array(look_up(u, v))[:, 2:14].reshape(3, 4, 3)
        value, slopes = columns[0], columns[1:]
        return LocalFrame(value[0], value[2:], value[1], slopes[:, 0], slopes[:, 2:], slopes[:, 1])

    return FramedSurface(frame, np.asarray(low, dtype=float), np.asarray(high, dtype=float))


def guess_common_normal(
    fixed: SurfaceTable, moving: SurfaceTable, rotation: ArrayLike, translation: ArrayLike
) -> Array:
    """Parameters of the pair of facing samples with the smallest signed gap, shape (4,).

    The start of the search at a pose without a previous one; normals of the samples point outward.
    Raises ValueError if no samples face each other.
    """
    rotation = np.asarray(rotation, dtype=float)
    nodes, normals = fixed.point.reshape(-1, 3), fixed.normal.reshape(-1, 3)
    moved = moving.point.reshape(-1, 3) @ rotation.T + np.asarray(translation, dtype=float)
    _, nearest = scipy.spatial.cKDTree(nodes).query(moved)
    d = moved - nodes[nearest]
    gap = (d * normals[nearest]).sum(-1)
    facing = (normals[nearest] * (moving.normal.reshape(-1, 3) @ rotation.T)).sum(-1) < -0.5
    # The gap of a sample beside the fixed patch is meaningless.
    spacing = max(np.linalg.norm(np.diff(fixed.point, axis=a), axis=-1).max() for a in (0, 1))
    over = np.linalg.norm(d - gap[:, None] * normals[nearest], axis=-1) < spacing
    gap = np.where(facing & over, gap, np.inf)
    best = int(np.argmin(gap))
    if not np.isfinite(gap[best]):
        raise ValueError("no samples of the two surfaces face each other")
    i, j = divmod(int(nearest[best]), fixed.v.size)
    k, m = divmod(best, moving.v.size)
    return np.array([fixed.u[i], fixed.v[j], moving.u[k], moving.v[m]])


def find_common_normal(
    fixed: FramedSurface,
    moving: FramedSurface,
    rotation: ArrayLike,
    translation: ArrayLike,
    start: ArrayLike,
) -> CommonNormal:
    """Points of two surfaces, each in its body's frame, whose connecting line is normal to both.

    The search starts from the parameters (4) of the previous pose, or of `guess_common_normal`; the
    pose (3, 3) and (3,), mm, is that of the moving body in the fixed frame. Raises ValueError if
    there is no common normal inside both patches near the start.

    Notes
    -----
    With d from the fixed point to the moving one, t the fixed surface's tangents and n the moving
    one's normal, the equations are d . t = 0 and n . t = 0, twice each. The thesis uses d . t = 0
    on both surfaces (Eqs 6.19, 6.20), which is equivalent where d is not zero but singular where
    the surfaces touch. The equations here (5.19 and 5.20 of the thesis, for the plane) are regular
    if the surfaces' curvatures differ; two planes have no single common normal. Surfaces with
    several common normals (waves, edges) need a good start.

    References
    ----------
    Machado thesis, sections 5.1 and 6.2.
    """
    rotation = np.asarray(rotation, dtype=float)
    translation = np.asarray(translation, dtype=float)
    low, high = np.concatenate([fixed.low, moving.low]), np.concatenate([fixed.high, moving.high])

    def frames(at: Array) -> tuple[LocalFrame, LocalFrame]:
        there = moving.frame(at[2], at[3])
        return fixed.frame(at[0], at[1]), _moved_frame(there, rotation, translation)

    at = np.clip(np.asarray(start, dtype=float), low, high)
    here, there = frames(at)
    iterations, moved = 0, np.inf
    while moved > FINAL_STEP and iterations < MAX_ITERATIONS:
        iterations += 1
        step, misfit = _newton_step(here, there), _miss(here, there).sum()
        step /= max(1.0, np.abs(step / (MAX_STEP * (high - low))).max())
        # Where curvature is discontinuous a whole step may oscillate.
        for _ in range(MAX_HALVINGS):
            tried = np.clip(at + step, low, high)
            moves = (tried - at)[:2] @ here.point_slope, (tried - at)[2:] @ there.point_slope
            moved = np.abs(moves).max()
            after = frames(tried)
            if moved <= FINAL_STEP or _miss(*after).sum() < misfit:
                break
            step *= 0.5
        at, (here, there) = tried, after
    _require_common_normal(here, there, iterations)
    normal = here.normal / np.linalg.norm(here.normal)
    gap = float((there.point - here.point) @ normal)
    return CommonNormal(at, np.array([here.point, there.point]), normal, gap, iterations)


def _moved_frame(frame: LocalFrame, rotation: Array, translation: Array) -> LocalFrame:
    """Frame of the moving surface in fixed coordinates."""
    turned = LocalFrame(*(part @ rotation.T for part in frame))
    return turned._replace(point=turned.point + translation)


def _misfit(here: LocalFrame, there: LocalFrame) -> Array:
    """D . t and n . t."""
    d = there.point - here.point
    return np.concatenate([here.tangents @ d, here.tangents @ there.normal])


def _newton_step(here: LocalFrame, there: LocalFrame) -> Array:
    """Shortest change of the parameters that removes the misfit to first order.

    At a pole, where the point does not depend on one parameter, that parameter is unchanged.
    """
    d, t = there.point - here.point, here.tangents
    jacobian = np.block(
        [
            [(here.tangents_slope @ d).T - t @ here.point_slope.T, t @ there.point_slope.T],
            [(here.tangents_slope @ there.normal).T, t @ there.normal_slope.T],
        ]
    )
    return -np.linalg.lstsq(jacobian, _misfit(here, there), rcond=None)[0]


def _miss(here: LocalFrame, there: LocalFrame) -> Array:
    """Offset of the points from each other's normal, mm, and angle between the normals, rad."""
    beside, tilted = np.abs(_misfit(here, there).reshape(2, 2)) / np.linalg.norm(
        here.tangents, axis=-1
    )
    return np.array([beside.max(), tilted.max() / np.linalg.norm(there.normal)])


def _require_common_normal(here: LocalFrame, there: LocalFrame, iterations: int) -> None:
    """Raise unless the two points face each other along their normals."""
    miss = _miss(here, there)
    length = np.array([1.0 + np.linalg.norm(there.point - here.point), 1.0])
    if not ((miss < TOLERANCE * length).all() and here.normal @ there.normal < 0.0):
        raise ValueError(
            f"no common normal inside both patches near the start: after {iterations} Newton steps "
            f"the points are {miss[0]:.2g} mm and {miss[1]:.2g} rad off it"
        )
