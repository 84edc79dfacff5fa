"""Boundary conditions of one cycle of an activity, and the motion that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact.resultant import Resultant
from kneewear.mechanics.loads import Load, Spring
from kneewear.mechanics.rotations import body_three_123

Array = NDArray[np.float64]
# Contact of each pair at every frame.
Contacts = tuple[tuple[Resultant, ...], ...]


@dataclass(frozen=True)
class CycleBoundaryConditions:
    """Prescribed motion, loads and springs over one periodic cycle, at equally spaced frames.

    `motion` (n_frames, 6), mm and rad, is prescribed where not `free`; the free coordinates start
    from frame 0. `duration` is in s; loads are steady or over the frames.
    """

    motion: Array
    duration: float
    free: Sequence[str]
    loads: Sequence[Load] = ()
    springs: Sequence[Spring] = ()

    @property
    def n_frames(self) -> int:
        """Frames of the cycle."""
        return len(self.motion)

    def applied(self, coordinates: Array) -> Array:
        """Force of all loads, N, and moment about the moving origin, N mm, shape (n_frames, 6)."""
        poses = zip(coordinates[:, :3], body_three_123(coordinates[:, 3:]), strict=True)
        return np.array(
            [
                sum((load.at(n).wrench(*pose)[0] for load in self.loads), np.zeros(6))
                for n, pose in enumerate(poses)
            ]
        )


@dataclass(frozen=True)
class CycleSolution:
    """Motion over one cycle of a case, and the forces that belong to it, frame by frame.

    The `motion` of its `conditions` are the equilibria. `coordinates` (n_frames, 6) are in mm and
    rad (body-three 1-2-3 angles); `load` along -y and `spring_force`, medial-lateral on the moving
    body, in N; `load_line`, the medial-lateral position of the load, in mm. `contact` (n_frames, 6)
    is the force of all contact on the moving body, N, and moment about its origin, N mm, when the
    pose was solved, `inertia` (n_frames, 6) those that accelerate it, zero in quasi-static
    analysis. `residual` is the largest unbalanced force when the pose was solved, relative to the
    load, zero in forward dynamics.
    """

    conditions: CycleBoundaryConditions
    coordinates: Array
    load: Array
    load_line: Array
    spring_force: Array
    contact: Array
    inertia: Array
    residual: Array
    evaluations: int


def activity_loads(activity: Activity, weight: float) -> tuple[Load, ...]:
    """Loads of an activity with a load line on the femoral component, over its frames.

    The axial load, along the insert's -y at its load line, for a body weight in N, and the further
    force and moment, along the insert's axes at the femoral origin. ValueError without a load line.
    """
    if activity.load_line is None:
        raise ValueError(f"activity '{activity.name}' has no load line for its axial load")
    load_line = np.full(activity.load.size, activity.load_line)
    return (
        axial_load(weight * activity.load, load_line, np.zeros_like(load_line)),
        Load(force=weight * activity.wrench[:, :3], moment=weight * activity.wrench[:, 3:]),
    )


def axial_load(load: Array, load_line: Array, posterior: Array) -> Load:
    """Axial load, N, at its medial-lateral and anterior-posterior position of each frame, mm."""
    zero = np.zeros_like(load)
    force = np.stack([zero, -load, zero], axis=-1)
    point = np.stack([posterior, zero, load_line], axis=-1)
    return Load(force, point=point, point_frame="fixed")
