"""Bundles that wrap on surfaces of any shape, as muscle strings over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics.bodies import BodyForces, BodyPoses, body_number
from kneewear.tissue.bundles import Attachment, Bundles, Pulls
from kneewear.tissue.laws import TensionLaw
from kneewear.tissue.muscle_string import Obstacle, stretch_string

Array = NDArray[np.float64]


class Wrapping(NamedTuple):
    """Obstacles of a bundle, all on one body and in its frame, and a position to begin from.

    `begin` (nodes, 3), mm, in the frame of the obstacles' body, is on the side on which the bundle
    passes; without it a bundle is pushed out of the obstacles by the nearest way.
    """

    body: str
    obstacles: tuple[Obstacle, ...]
    begin: ArrayLike | None = None


@dataclass(frozen=True)
class SurfaceBundles:
    """Bundles each of which slides over meshes or patches between its last two points.

    At each pose the string over the obstacles is at rest; then the bundle is one that slides
    through the points where the string presses on them. The obstacles' body feels the reaction.

    Parameters
    ----------
    bundles : Bundles
        Paths and laws; their bodies are those of the poses.
    wrappings : tuple of Wrapping
        Obstacles of each bundle.
    nodes : int
        Nodes of each string. Lengths err by about the square of the turn per node over 24.
    tolerance : float
        Change of a string relative to itself at which it has converged.

    Raises
    ------
    UnknownBodyError
        If an obstacle is on a body that is not one of the bundles'.
    ValueError
        If there are not as many wrappings as bundles.

    Notes
    -----
    Each string begins from its last position, for which an object of this class is good for one
    motion at a time. The stiffness is that of a bundle through fixed points of the obstacles: exact
    for motions of an end in the plane in which its segment turns, in which the point of tangency
    moves along the segment, and else without the sideways slip on a curved surface. InputDataError
    and ConvergenceError as of `kneewear.tissue.muscle_string.stretch_string`.
    """

    bundles: Bundles
    wrappings: tuple[Wrapping, ...]
    nodes: int = 20
    tolerance: float = 1e-5
    _last: dict[int, Array] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.wrappings) != len(self.bundles.names):
            raise ValueError(
                f"found wrappings of {len(self.wrappings)} of {len(self.bundles.names)} bundles; "
                "expected one per bundle"
            )
        for one in self.wrappings:
            body_number("obstacles of a bundle", one.body, self.bundles.bodies)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bundles."""
        return self.bundles.names

    @property
    def law(self) -> TensionLaw:
        """Tension of the bundles."""
        return self.bundles.law

    def on(self, bodies: Sequence[str]) -> SurfaceBundles:
        """The same bundles for poses of other or further bodies, or in another order."""
        return replace(self, bundles=self.bundles.on(bodies), _last={})

    def with_law(self, law: TensionLaw) -> SurfaceBundles:
        """The same paths with other slack lengths or stiffnesses."""
        return replace(self, bundles=self.bundles.with_law(law), _last={})

    def evaluate(self, poses: BodyPoses) -> Pulls:
        """Length, tension and energy of every bundle at given poses and velocities."""
        return self.add(poses, BodyForces.zero(len(self.bundles.bodies)))

    def add(self, poses: BodyPoses, total: BodyForces) -> Pulls:
        """Add forces, their derivatives and energy of all bundles to a total."""
        return self._placed(poses).add(poses, total)

    def lines(self, poses: BodyPoses) -> tuple[Array, ...]:
        """Points of each path in the ground frame, mm, with those at which it presses."""
        return self._placed(poses).lines(poses)

    def _placed(self, poses: BodyPoses) -> Bundles:
        """The bundles through the points at which they press on their obstacles."""
        paths = []
        for number, (path, over) in enumerate(zip(self.bundles.paths, self.wrappings, strict=True)):
            body = self.bundles.bodies.index(over.body)
            turn, place = poses.rotation[body], poses.translation[body]
            start, end = (
                (poses.translation[n] + poses.rotation[n] @ np.asarray(point) - place) @ turn
                for n, point in ((self.bundles.bodies.index(name), at) for name, at in path[-2:])
            )
            string = stretch_string(
                start, end, over.obstacles, nodes=self.nodes, tolerance=self.tolerance,
                begin=self._last.get(number, over.begin), muscle=self.names[number],
            )  # fmt: skip
            self._last[number] = string.nodes[1:-1]
            pressed: list[Attachment] = [
                (over.body, node) for node in string.nodes[1:-1][string.touched >= 0]
            ]
            paths.append((*path[:-1], *pressed, path[-1]))
        return replace(self.bundles, paths=tuple(paths))
