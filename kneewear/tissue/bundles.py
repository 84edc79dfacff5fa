"""Bundles of fibres between bodies: length, tension, and the forces on the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics.bodies import BodyForces, BodyPoses, body_number
from kneewear.tissue import _kernels as kernels
from kneewear.tissue import _wrapped_kernels as wrapping
from kneewear.tissue.laws import TensionLaw
from kneewear.tissue.wrapping import KINDS, WrapObject, require_path, wrapped_points

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
# A point of a path: the name of its body, and where it is in that body's frame, mm.
Attachment = tuple[str, ArrayLike]


class Pulls(NamedTuple):
    """Length, mm, tension, N, and stored energy, N mm, of each bundle, shape (n,)."""

    length: Array
    tension: Array
    energy: Array


@dataclass(frozen=True)
class Bundles:
    """Bundles of fibres, each along straight segments between points of bodies.

    A path has two or more points; at inner ones the bundle slides without friction, so that one
    tension acts along the whole of it. Everything is evaluated by one compiled kernel.

    Parameters
    ----------
    names : tuple of str
        Names of the n bundles.
    bodies : tuple of str
        Names of the bodies, in the order of the poses that are passed.
    paths : tuple of tuples of (str, array)
        For each bundle the body of each of its points and where it is in that body's frame, mm.
    law : TensionLaw
        Tension of the n bundles.

    Raises
    ------
    UnknownBodyError
        If a point is on a body that is not one of `bodies`.
    ValueError
        If a path has fewer than two points, or numbers of names, paths and laws differ.
    """

    names: tuple[str, ...]
    bodies: tuple[str, ...]
    paths: tuple[tuple[Attachment, ...], ...]
    law: TensionLaw

    def __post_init__(self) -> None:
        count = len(self.paths)
        if len(self.names) != count or self.law.slack_length.size != count:
            raise ValueError(
                f"found {len(self.names)} names, {count} paths and {self.law.slack_length.size} "
                "tension laws of bundles; expected one of each per bundle"
            )
        for name, path in zip(self.names, self.paths, strict=True):
            if len(path) < 2:
                raise ValueError(f"bundle {name}: found {len(path)} points, expected two or more")
        _ = self.arrays  # names of bodies are checked here, not when forces are first needed

    @cached_property
    def arrays(self) -> kernels.PathArrays:
        """Points of all paths as kernels take them."""
        parts = [
            (body_number(f"bundle {name}", body, self.bodies), np.asarray(point, dtype=float))
            for name, path in zip(self.names, self.paths, strict=True)
            for body, point in path
        ]
        return kernels.PathArrays(
            first=np.cumsum([0, *(len(path) for path in self.paths)], dtype=np.int64),
            body=np.array([number for number, _ in parts], dtype=np.int64),
            point=np.array([point for _, point in parts]).reshape(-1, 3),
        )

    def on(self, bodies: Sequence[str]) -> Bundles:
        """The same bundles for poses of other or further bodies, or in another order."""
        return replace(self, bodies=tuple(bodies))

    def chosen(self, numbers: ArrayLike) -> Bundles:
        """Some of the bundles, by number."""
        take = np.asarray(numbers, dtype=np.int64)
        law = TensionLaw(*(part[take] for part in self.law.arrays))
        return replace(
            self,
            names=tuple(self.names[n] for n in take),
            paths=tuple(self.paths[n] for n in take),
            law=law,
        )

    def with_law(self, law: TensionLaw) -> Bundles:
        """The same paths with other slack lengths or stiffnesses."""
        return replace(self, law=law)

    def evaluate(self, poses: BodyPoses) -> Pulls:
        """Length, tension and energy of every bundle at given poses and velocities."""
        return self.add(poses, BodyForces.zero(len(self.bodies)))

    def add(self, poses: BodyPoses, total: BodyForces) -> Pulls:
        """Add forces, their derivatives and energy of all bundles to a total.

        The derivatives are exact for straight segments. Where damping would make the tension
        negative a bundle is slack and adds energy only.
        """
        found = Pulls(*np.empty((3, len(self.names))))
        kernels.add_bundles(
            self.arrays, self.law.arrays, *poses[:3], total.wrench, total.stiffness, total.damping,
            *found,
        )  # fmt: skip
        total.energy[0] += found.energy.sum()
        return found

    def lines(self, poses: BodyPoses) -> tuple[Array, ...]:
        """Points of each path in the ground frame, mm, each of shape (n_points, 3)."""
        placed = poses.translation[self.arrays.body] + np.einsum(
            "nij,nj->ni", poses.rotation[self.arrays.body], self.arrays.point
        )
        return tuple(np.split(placed, self.arrays.first[1:-1]))


@dataclass(frozen=True)
class WrappedBundles:
    """Bundles of which some segments wrap on smooth bodies.

    Each segment between points of different bodies of a bundle wraps on the bundle's obstacle, as
    `kneewear.tissue.wrapping.shortest_path` describes, where the straight line meets it. The
    obstacle's body feels the reaction. Where an attachment is inside an obstacle the segment is
    straight; `check` refuses such poses.

    Parameters
    ----------
    bundles : Bundles
        Paths and laws; their bodies are those of the poses.
    obstacles : tuple of WrapObject or None
        Obstacle of each bundle, None for a straight one.
    """

    bundles: Bundles
    obstacles: tuple[WrapObject | None, ...]

    def __post_init__(self) -> None:
        if len(self.obstacles) != len(self.bundles.names):
            raise ValueError(
                f"found {len(self.obstacles)} wrap objects of {len(self.bundles.names)} bundles; "
                "expected one (or None) per bundle"
            )
        _ = self._parts  # bodies of obstacles are checked here

    @cached_property
    def _parts(self) -> tuple[Numbers, Bundles, Numbers, Bundles, Numbers, Any]:
        """Numbers and bundles of straight and of wrapped ones, and the obstacles of the latter."""
        is_wrapped = np.array([one is not None for one in self.obstacles], dtype=bool)
        straight, wrapped = np.flatnonzero(~is_wrapped), np.flatnonzero(is_wrapped)
        own = [one for one in self.obstacles if one is not None]
        distinct = list({id(one): one for one in own}.values())
        numbers = {id(one): number for number, one in enumerate(distinct)}
        bent = self.bundles.chosen(wrapped)
        first, body = bent.arrays.first, bent.arrays.body
        obstacle = np.full(body.size, -1, dtype=np.int64)
        for number, one in enumerate(own):
            for point in range(first[number], first[number + 1] - 1):
                if body[point] != body[point + 1]:
                    obstacle[point] = numbers[id(one)]
        arrays = wrapping.ObstacleArrays(
            kind=np.array([KINDS[one.kind] for one in distinct], dtype=np.int64),
            body=np.array(
                [body_number(f"wrap object {one.name}", one.body, self.bundles.bodies)
                 for one in distinct], dtype=np.int64,
            ),
            size=np.array([one.size for one in distinct]).reshape(-1, 3),
            side=np.array([one.side for one in distinct]).reshape(-1, 3),
            rotation=np.array([one.rotation for one in distinct]).reshape(-1, 3, 3),
            origin=np.array([one.origin for one in distinct]).reshape(-1, 3),
        )  # fmt: skip
        return straight, self.bundles.chosen(straight), wrapped, bent, obstacle, arrays

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bundles."""
        return self.bundles.names

    @property
    def law(self) -> TensionLaw:
        """Tension of the bundles."""
        return self.bundles.law

    def on(self, bodies: Sequence[str]) -> WrappedBundles:
        """The same bundles for poses of other or further bodies, or in another order."""
        return replace(self, bundles=self.bundles.on(bodies))

    def with_law(self, law: TensionLaw) -> WrappedBundles:
        """The same paths with other slack lengths or stiffnesses."""
        return replace(self, bundles=self.bundles.with_law(law))

    def evaluate(self, poses: BodyPoses) -> Pulls:
        """Length, tension and energy of every bundle at given poses and velocities."""
        return self.add(poses, BodyForces.zero(len(self.bundles.bodies)))

    def add(self, poses: BodyPoses, total: BodyForces) -> Pulls:
        """Add forces, their derivatives and energy of all bundles to a total."""
        return self._add(poses, total)[0]

    def _add(self, poses: BodyPoses, total: BodyForces) -> tuple[Pulls, Numbers]:
        straight, plain, wrapped, bent, obstacle, arrays = self._parts
        found = Pulls(*np.empty((3, len(self.names))))
        status = np.zeros(wrapped.size, dtype=np.int64)
        if straight.size:
            for out, values in zip(found, plain.add(poses, total), strict=True):
                out[straight] = values
        if wrapped.size:
            part = Pulls(*np.empty((3, wrapped.size)))
            wrapping.add_wrapped(
                bent.arrays, obstacle, arrays, bent.law.arrays, *poses[:3], total.wrench,
                total.stiffness, total.damping, *part, status,
            )  # fmt: skip
            total.energy[0] += part.energy.sum()
            for out, values in zip(found, part, strict=True):
                out[wrapped] = values
        return found, status

    def lines(self, poses: BodyPoses) -> tuple[Array, ...]:
        """Points of each path in the ground frame, mm, with points of its arcs where it wraps."""
        paths = list(self.bundles.lines(poses))
        for number, obstacle in enumerate(self.obstacles):
            if obstacle is None:
                continue
            body = self.bundles.bodies.index(obstacle.body)
            turn, place = poses.rotation[body], poses.translation[body]
            local = (paths[number] - place) @ turn
            bodies = [name for name, _ in self.bundles.paths[number]]
            points = [local[:1]]
            for n in range(len(bodies) - 1):
                if bodies[n] != bodies[n + 1]:
                    touched = wrapped_points(obstacle, local[n], local[n + 1])
                    points += [] if touched is None else [touched]
                points.append(local[n + 1 : n + 2])
            paths[number] = np.concatenate(points) @ turn.T + place
        return tuple(paths)

    def check(self, poses: BodyPoses) -> None:
        """Raise InputDataError about a bundle that cannot wrap at these poses, with the reason."""
        _, status = self._add(poses, BodyForces.zero(len(self.bundles.bodies)))
        for number, one in zip(self._parts[2], status, strict=True):
            obstacle = self.obstacles[number]
            if obstacle is not None:
                require_path(int(one), self.names[number], obstacle)
