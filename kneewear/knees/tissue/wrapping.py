"""Shortest paths of tendons and ligaments around cylinders, spheres and ellipsoids of a bone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import InputDataError
from kneewear.knees.tissue import _wrapping_kernels as kernels

Array = NDArray[np.float64]

KINDS = {"cylinder": kernels.CYLINDER, "sphere": kernels.SPHERE, "ellipsoid": kernels.ELLIPSOID}
# Turn between drawn points of a wrapped path, rad.
DRAWN_TURN = np.radians(15.0)


@dataclass(frozen=True)
class WrapObject:
    """A smooth body around which paths slide without friction.

    Parameters
    ----------
    name, kind, body : str
        Its name; "cylinder" (endless, about its z axis), "sphere" or "ellipsoid"; the body to which
        it is fixed.
    size : array, shape (3,)
        Semi-axes along x, y, z, mm; a cylinder or sphere has the first as its radius.
    rotation, origin : array, shape (3, 3) and (3,)
        Its axes (columns) and centre, mm, in the frame of the body.
    side : array, shape (3,)
        Direction, in its own axes, to the side on which paths pass; zero for the shorter way.
    """

    name: str
    kind: str
    body: str
    size: ArrayLike
    rotation: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    origin: ArrayLike = (0.0, 0.0, 0.0)
    side: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(
                f"wrap object {self.name}: found kind '{self.kind}', expected one of "
                f"{', '.join(KINDS)}"
            )
        for name in ("size", "rotation", "origin", "side"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=float))
        used = 3 if self.kind == "ellipsoid" else 1
        if not (np.asarray(self.size)[:used] > 0.0).all():
            raise ValueError(
                f"wrap object {self.name}: found size {np.asarray(self.size)[:used]} mm, expected "
                "positive lengths"
            )


@dataclass(frozen=True)
class Path:
    """A stretched path between two points.

    `length`, mm; `pulls` (2, 3), unit vectors along which its tension acts on the bodies at the
    start and at the end; `points` (2, 3), where it touches and leaves the wrap object (its ends if
    it is straight), mm. The tension T acts on the wrapped body by -T `pulls` at `points`.
    """

    length: float
    pulls: Array
    points: Array
    is_wrapped: bool


def shortest_path(
    obstacle: WrapObject, start: ArrayLike, end: ArrayLike, bundle: str = "path"
) -> Path:
    """Shortest path between two points, in the frame of the obstacle's body, mm.

    A line that misses the obstacle is straight. Around a cylinder the path is a helix between two
    tangents, around a sphere an arc of a great circle, around an ellipsoid a geodesic. Raises
    InputDataError, with the name of the `bundle`, if an end is inside the obstacle, if the path
    passes on the other side than the obstacle states, or if the geodesic is not found.

    Notes
    -----
    Where wrapping begins the length and its derivative, minus `pulls`, are continuous; its second
    derivative jumps. Without a side the path changes side with a kink when both ways are equally
    long. A cylinder with a side is wound by up to three quarters of a turn. The geodesic of an
    ellipsoid is found from the plane section towards the side; for paths wound by far more than a
    quarter turn around slender ellipsoids it may be another than the shortest, or not be found.
    """
    status, length, points, pulls = _placed(obstacle, start, end)
    require_path(status, bundle, obstacle)
    return Path(length, pulls, points, status == kernels.WRAPPED)


def wrapped_points(obstacle: WrapObject, start: ArrayLike, end: ArrayLike) -> Array | None:
    """Points (n, 3) where a path lies on the obstacle, in its body's frame, mm, for drawing.

    The first and the last are where it touches and leaves it. Those between are on the obstacle, on
    a curve that has the path's directions there: on cylinders and spheres the path itself, on an
    ellipsoid near it. None if the path is straight, or cannot wrap.
    """
    status, length, ends, pulls = _placed(obstacle, start, end)
    if status != kernels.WRAPPED:
        return None
    straight = np.linalg.norm(ends - np.array([start, end]), axis=1).sum()
    turned = np.arccos(np.clip(-(pulls[0] @ pulls[1]), -1.0, 1.0))
    t = np.linspace(0.0, 1.0, 2 + int(turned / DRAWN_TURN))[:, None]
    along = (length - straight) * np.array([pulls[0], -pulls[1]])
    points = (
        (1 + 2 * t) * (1 - t) ** 2 * ends[0]
        + t * (1 - t) ** 2 * along[0]
        + t**2 * (3 - 2 * t) * ends[1]
        - t**2 * (1 - t) * along[1]
    )
    axes, size = np.asarray(obstacle.rotation), np.asarray(obstacle.size)
    own = (points - obstacle.origin) @ axes
    used = 2 if obstacle.kind == "cylinder" else 3
    semi = size if obstacle.kind == "ellipsoid" else np.full(3, size[0])
    own[:, :used] /= np.linalg.norm(own[:, :used] / semi[:used], axis=1, keepdims=True)
    return np.concatenate([ends[:1], (own @ axes.T + obstacle.origin)[1:-1], ends[1:]])


def _placed(
    obstacle: WrapObject, start: ArrayLike, end: ArrayLike
) -> tuple[int, float, Array, Array]:
    """Status, length, tangent points and pulls in the frame of the obstacle's body."""
    points, pulls = np.empty((2, 3)), np.empty((2, 3))
    status, length = kernels.placed_path(
        KINDS[obstacle.kind],
        np.asarray(obstacle.size),
        np.asarray(obstacle.side),
        np.asarray(obstacle.rotation),
        np.asarray(obstacle.origin),
        np.asarray(start, dtype=float),
        np.asarray(end, dtype=float),
        points,
        pulls,
    )
    return status, length, points, pulls


def overlap(obstacle: WrapObject, start: ArrayLike, end: ArrayLike) -> float:
    """Depth by which the straight line between two points cuts a wrap object, over its size.

    One minus the least distance of the line from the centre, or from the axis of a cylinder, in
    lengths relative to the semi-axes: positive where the line cuts, zero where a path begins or
    ends to wrap, if it may pass on either side. Points are in the frame of the obstacle's body, mm.
    """
    size, axes = np.asarray(obstacle.size), np.asarray(obstacle.rotation)
    relative = {
        "cylinder": np.array([1.0, 1.0, 0.0]) / size[0],
        "sphere": np.ones(3) / size[0],
        "ellipsoid": 1.0 / np.maximum(size, 1e-300),
    }[obstacle.kind]
    one, other = (
        relative * ((np.asarray(point, dtype=float) - np.asarray(obstacle.origin)) @ axes)
        for point in (start, end)
    )
    along = other - one
    at = np.clip(-(one @ along) / max(float(along @ along), 1e-300), 0.0, 1.0)
    return 1.0 - float(np.linalg.norm(one + at * along))


def require_path(status: int, bundle: str, obstacle: WrapObject) -> None:
    """Raise InputDataError unless a path was found: the message names bundle and wrap object."""
    if status in (kernels.STRAIGHT, kernels.WRAPPED):
        return
    found, expected, remedy = _FAULTS[status]
    raise InputDataError(f"bundle {bundle}", found.format(obstacle), expected, remedy)


_FAULTS = {
    kernels.INSIDE: (
        "an attachment inside the wrap object {0.name} of body {0.body}",
        "attachments outside it",
        "Check the attachment and the size and place of the wrap object, or remove the wrap object "
        "from the bundle.",
    ),
    kernels.WRONG_SIDE: (
        "a path that winds around {0.name} of body {0.body} on the side opposite to {0.side}",
        "a path on the stated side",
        "Reverse `side`, or correct the pose or the attachments.",
    ),
    kernels.NOT_CONVERGED: (
        "no geodesic around {0.name} of body {0.body}",
        "a path that winds by less than half a turn",
        "State the `side` on which it passes, or use a cylinder.",
    ),
}
