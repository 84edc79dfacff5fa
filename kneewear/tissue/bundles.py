"""Bundles of fibres between bodies: length, tension, and the forces on the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.mechanics.bodies import BodyForces, BodyPoses, body_number
from kneewear.tissue import _kernels as kernels
from kneewear.tissue.laws import TensionLaw

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
