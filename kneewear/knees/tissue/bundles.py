"""Bundles of fibres between bodies: length, tension, and the forces on the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.knees.tissue import _wrapped_kernels as wrapping
from kneewear.knees.tissue._wrapping_kernels import STRAIGHT, WRONG_SIDE
from kneewear.knees.tissue.wrapping import KINDS, WrapObject, require_path, wrapped_points
from kneewear.mechanics import _tissue_kernels as kernels
from kneewear.mechanics.bodies import BodyForces, BodyPoses, body_number
from kneewear.mechanics.tension_laws import TensionLaw

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
# A point of a path: the name of its body, and where it is in that body's frame, mm.
Attachment = tuple[str, ArrayLike]


class BundleForces(NamedTuple):
    """Length, mm, tension, N, and stored energy, N mm, of each bundle, shape (n,)."""

    length: Array
    tension: Array
    energy: Array


@dataclass(frozen=True)
class Bundles:
    """Bundles of fibres, each along a path between points of bodies.

    A path has two or more points; at inner ones the bundle slides without friction, so that one
    tension acts along the whole of it. Its segments are straight, except that those between
    different bodies wrap on the obstacle of the bundle, as
    `kneewear.knees.tissue.wrapping.shortest_path` describes, where the straight line meets it. The
    obstacle's body feels the reaction. Where an attachment is inside an obstacle the segment is
    straight; `check` refuses such poses.

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
    obstacles : tuple of WrapObject or None
        Obstacle of each bundle, None for a straight one; empty if all are straight.

    Raises
    ------
    UnknownBodyError
        If a point or an obstacle is on a body that is not one of `bodies`.
    ValueError
        If a path has fewer than two points, or numbers of names, paths, laws and obstacles differ.
    """

    names: tuple[str, ...]
    bodies: tuple[str, ...]
    paths: tuple[tuple[Attachment, ...], ...]
    law: TensionLaw
    obstacles: tuple[WrapObject | None, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.paths)
        if not self.obstacles:
            object.__setattr__(self, "obstacles", (None,) * count)
        sizes = len(self.names), self.law.slack_length.size, len(self.obstacles)
        if set(sizes) != {count}:
            raise ValueError(
                "found {} names, {} tension laws and {} wrap objects of {} paths of bundles; "
                "expected one of each per bundle".format(*sizes, count)
            )
        for name, path in zip(self.names, self.paths, strict=True):
            if len(path) < 2:
                raise ValueError(f"bundle {name}: found {len(path)} points, expected two or more")
        _ = self.arrays, self._wrapped  # bodies are checked here, not when forces are first needed

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

    @property
    def straight(self) -> Bundles:
        """The same bundles without obstacles."""
        return replace(self, obstacles=())

    def on(self, bodies: Sequence[str]) -> Bundles:
        """The same bundles for poses of other or further bodies, or in another order."""
        return replace(self, bodies=tuple(bodies))

    def chosen(self, numbers: ArrayLike) -> Bundles:
        """Some of the bundles, by number."""
        take = np.asarray(numbers, dtype=np.int64)
        return Bundles(
            tuple(self.names[n] for n in take),
            self.bodies,
            tuple(self.paths[n] for n in take),
            TensionLaw(*(part[take] for part in self.law.arrays)),
            tuple(self.obstacles[n] for n in take),
        )

    def with_law(self, law: TensionLaw) -> Bundles:
        """The same paths with other slack lengths or stiffnesses."""
        return replace(self, law=law)

    def evaluate(self, poses: BodyPoses) -> BundleForces:
        """Length, tension and energy of every bundle at given poses and velocities."""
        return self.add(poses, BodyForces.zero(len(self.bodies)))

    def add(self, poses: BodyPoses, total: BodyForces) -> BundleForces:
        """Add forces, their derivatives and energy of all bundles to a total.

        The derivatives are exact for straight segments; of damping in bundles with an obstacle the
        derivative over poses is left out. Where damping would make the tension negative a bundle is
        slack and adds energy only.
        """
        return self._add(poses, total)[0]

    def _add(self, poses: BodyPoses, total: BodyForces) -> tuple[BundleForces, Numbers]:
        """The same, and the status of each bundle's path."""
        count, wrapped = len(self.names), self._wrapped
        forces = BundleForces(*np.empty((3, count)))
        status = np.full(count, STRAIGHT)
        inputs, outputs = poses[:3], (total.wrench, total.stiffness, total.damping)
        if wrapped is None:
            kernels.add_bundles(self.arrays, self.law.arrays, *inputs, *outputs, *forces)
            total.energy[0] += forces.energy.sum()
            return forces, status
        if wrapped.others is not None:
            plain = wrapped.others.add(poses, total)
            for out, values in zip(forces, plain, strict=True):
                out[wrapped.other_numbers] = values
        bent = BundleForces(*np.empty((3, wrapped.numbers.size)))
        bent_status = np.zeros(wrapped.numbers.size, dtype=np.int64)
        wrapping.add_wrapped(
            wrapped.paths,
            wrapped.obstacle,
            wrapped.objects,
            wrapped.law,
            *inputs,
            *outputs,
            *bent,
            bent_status,
        )
        total.energy[0] += bent.energy.sum()
        for out, values in zip(forces, bent, strict=True):
            out[wrapped.numbers] = values
        status[wrapped.numbers] = bent_status
        return forces, status

    @cached_property
    def _wrapped(self) -> _Wrapped | None:
        """Bundles with an obstacle as kernels take them, apart from the others; None without."""
        has_obstacle = np.array([one is not None for one in self.obstacles], dtype=bool)
        numbers, others = np.flatnonzero(has_obstacle), np.flatnonzero(~has_obstacle)
        if not numbers.size:
            return None
        bent = self.straight.chosen(numbers)
        objects = [one for one in self.obstacles if one is not None]
        distinct = list({id(one): one for one in objects}.values())
        index = {id(one): number for number, one in enumerate(distinct)}
        first, body = bent.arrays.first, bent.arrays.body
        obstacle = np.full(body.size, -1, dtype=np.int64)
        for number, one in enumerate(objects):
            for point in range(first[number], first[number + 1] - 1):
                if body[point] != body[point + 1]:
                    obstacle[point] = index[id(one)]
        return _Wrapped(
            numbers,
            others,
            self.chosen(others) if others.size else None,
            bent.arrays,
            obstacle,
            _object_arrays(distinct, self.bodies),
            bent.law.arrays,
        )

    def lines(self, poses: BodyPoses) -> tuple[Array, ...]:
        """Points of each path in the ground frame, mm, with points of its arcs where it wraps."""
        rotation, place = poses.rotation[self.arrays.body], poses.translation[self.arrays.body]
        placed = place + np.einsum("nij,nj->ni", rotation, self.arrays.point)
        paths = np.split(placed, self.arrays.first[1:-1])
        for number, obstacle in enumerate(self.obstacles):
            if obstacle is not None:
                body = self.bodies.index(obstacle.body)
                turn, origin = poses.rotation[body], poses.translation[body]
                local = (paths[number] - origin) @ turn
                bodies = [name for name, _ in self.paths[number]]
                points = _with_arcs(obstacle, local, bodies)
                paths[number] = points @ turn.T + origin
        return tuple(paths)

    def check(self, poses: BodyPoses) -> None:
        """Raise InputDataError about a bundle that cannot wrap at these poses, with the reason."""
        _, status = self._add(poses, BodyForces.zero(len(self.bodies)))
        for name, obstacle, one in zip(self.names, self.obstacles, status, strict=True):
            if obstacle is not None:
                require_path(int(one), name, obstacle)


def sided(bundles: Bundles, poses: BodyPoses) -> Bundles:
    """The same bundles, whose paths stay on the side of their cylinders on which they are now.

    Objects that state a side keep it. Around spheres and ellipsoids without one they take the
    shortest path, whose length has no jumps. InputDataError if a path passes beside its cylinder on
    the side opposite to that which is stated.
    """
    obstacles: list[WrapObject | None] = []
    for bundle, obstacle in enumerate(bundles.obstacles):
        if obstacle is None or obstacle.kind != "cylinder":
            obstacles.append(obstacle)
            continue
        path = bundles.chosen([bundle]).straight.lines(poses)[0]
        body = bundles.bodies.index(obstacle.body)
        local = (path - poses.translation[body]) @ poses.rotation[body]
        bodies = [name for name, _ in bundles.paths[bundle]]
        spans = [n for n in range(len(bodies) - 1) if bodies[n] != bodies[n + 1]]
        axes = np.asarray(obstacle.rotation)
        one, other = (local[[spans[0], spans[0] + 1]] - obstacle.origin) @ axes
        along = (other - one) / np.linalg.norm(other - one)
        side = 0.5 * (one + other)
        side[2] = along[2] = 0.0
        along /= max(float(np.linalg.norm(along)), 1e-9)
        side -= (side @ along) * along
        stated, away = np.asarray(obstacle.side), float(np.linalg.norm(side))
        if not stated.any():
            obstacles.append(replace(obstacle, side=side / max(away, 1e-9)))
            continue
        # A straight path beside the cylinder would have to wind all the way around it.
        if stated @ side < 0.0 and away > float(np.asarray(obstacle.size)[0]):
            require_path(WRONG_SIDE, bundles.names[bundle], obstacle)
        obstacles.append(obstacle)
    return replace(bundles, obstacles=tuple(obstacles))


class _Wrapped(NamedTuple):
    """Bundles with an obstacle as kernels take them, and the others."""

    numbers: Numbers
    other_numbers: Numbers
    others: Bundles | None
    paths: kernels.PathArrays
    obstacle: Numbers  # of the segment that begins at each point, -1 for none
    objects: wrapping.ObstacleArrays
    law: kernels.TensionLawArrays


def _object_arrays(objects: Sequence[WrapObject], bodies: Sequence[str]) -> wrapping.ObstacleArrays:
    numbers = [body_number(f"wrap object {one.name}", one.body, bodies) for one in objects]
    return wrapping.ObstacleArrays(
        kind=np.array([KINDS[one.kind] for one in objects], dtype=np.int64),
        body=np.array(numbers, dtype=np.int64),
        size=np.array([one.size for one in objects]).reshape(-1, 3),
        side=np.array([one.side for one in objects]).reshape(-1, 3),
        rotation=np.array([one.rotation for one in objects]).reshape(-1, 3, 3),
        origin=np.array([one.origin for one in objects]).reshape(-1, 3),
    )


def _with_arcs(obstacle: WrapObject, points: Array, bodies: Sequence[str]) -> Array:
    """Points of a path in the frame of the obstacle's body, with those of its arcs."""
    parts = [points[:1]]
    for n in range(len(bodies) - 1):
        if bodies[n] != bodies[n + 1]:
            arc = wrapped_points(obstacle, points[n], points[n + 1])
            parts += [] if arc is None else [arc]
        parts.append(points[n + 1 : n + 2])
    return np.concatenate(parts)
