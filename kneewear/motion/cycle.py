"""Boundary conditions of one cycle of an activity, its motion, and contact along it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact import _kernels
from kneewear.contact.ends import PatchEnds
from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.geometry.element_grid import ElementGrid
from kneewear.mechanics.coordinates import coordinate_numbers, weights
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rotations import body_three_123, turn_axes
from kneewear.mechanics.springs import Spring
from kneewear.motion.alignment import Alignment

Array = NDArray[np.float64]
# Results of each pair, by the names of `Resultant` and of the schema CONTACT.
RESULTANTS = (
    "force",
    "torque",
    "max_pressure",
    "avg_pressure",
    "contact_area",
    "max_penetration",
    "active_elements",
    "centre_of_pressure",
)
# Contact where a surface of a pair ends, by the names of `AtEnds`, each (frame, side, window).
BORDER = {"pressure": "border_pressure", "force": "border_force", "area": "border_area"}
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
    body, in N; `load_line` in mm. `contact` (n_frames, 6) is the force of all contact on the moving
    body, N, and moment about its origin, N mm, when the pose was solved, `inertia` those that
    accelerate it. `residual` is the largest unbalanced force then, relative to the load. Inertia is
    zero in quasi-static analysis, the residual in forward dynamics.
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


def activity_loads(
    activity: Activity, weight: float, alignment: Alignment | None = None
) -> tuple[Load, ...]:
    """Loads of an activity with a load line on the femoral component, over its frames.

    The axial load, along the insert's -y at its load line, for a body weight in N, and the further
    force and moment, along the insert's axes at the femoral origin, of the components as the
    activity gives them. ValueError without a load line.
    """
    if activity.load_line is None:
        raise ValueError(f"activity '{activity.name}' has no load line for its axial load")
    load_line = np.full(activity.load.size, activity.load_line)
    loads = (
        axial_forces(weight * activity.load, load_line, np.zeros_like(load_line)),
        Load(force=weight * activity.wrench[:, :3], moment=weight * activity.wrench[:, 3:]),
    )
    return loads if alignment is None else tuple(alignment.load(load) for load in loads)


def axial_forces(load: Array, load_line: Array, posterior: Array) -> Load:
    """Axial load, N, at its medial-lateral and anterior-posterior position of each frame, mm."""
    zero = np.zeros_like(load)
    force = np.stack([zero, -load, zero], axis=-1)
    point = np.stack([posterior, zero, load_line], axis=-1)
    return Load(force, point=point, point_frame="fixed")


def evaluate_cycle(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    solution: CycleSolution,
    on_frame_done: Callable[[], None] = lambda: None,
) -> Contacts:
    """Contact of each pair at every pose of a motion.

    The pairs may have a finer grid than that of the motion; `on_frame_done` is called every frame.
    """
    found = []
    for pose in solution.coordinates:
        rotation = body_three_123(pose[3:])
        both = zip(pairs, layers, strict=True)
        found.append(tuple(pair.evaluate(rotation, pose[:3], layer) for pair, layer in both))
        on_frame_done()
    return tuple(found)


def empty_histories(
    grid: ElementGrid, frames: int, leading: tuple[int, ...] = ()
) -> dict[str, NDArray[Any]]:
    """Variables of CONTACT for a knee whose surfaces are apart.

    `leading` are the lengths of the axes before the frames.
    """
    sides = len(grid.sides)
    each = (*leading, frames)
    elements = (*each, *grid.area.shape)
    scalars = ("max_pressure", "avg_pressure", "contact_area", "max_penetration")
    vectors = ("reaction_force", "reaction_moment", "inertia_force", "inertia_moment")
    return {
        "pressure": np.zeros(elements, np.float32),
        "slip": np.zeros((*elements, 2), np.float32),
        **{name: np.zeros((*each, sides)) for name in scalars},
        "active_elements": np.zeros((*each, sides), np.int64),
        **{name: np.zeros((*each, sides, 2)) for name in BORDER.values()},
        **{name: np.zeros((*each, sides, 3)) for name in ("force", "torque")},
        "centre_of_pressure": np.full((*each, sides, 3), np.nan),
        **{name: np.zeros((*each, 3)) for name in ("translation", "rotation", *vectors)},
        **{name: np.zeros(each) for name in ("load", "load_line", "spring_force", "residual")},
    }


def contact_histories(
    pairs: Sequence[ContactPair],
    grid: ElementGrid,
    solution: CycleSolution,
    contacts: Contacts,
    arrays: dict[str, NDArray[Any]] | None = None,
) -> dict[str, NDArray[Any]]:
    """Variables of CONTACT of one case, without the case axis.

    Written into `arrays` of `empty_histories` where they are given.
    """
    arrays = empty_histories(grid, len(contacts)) if arrays is None else arrays
    # Writes through these views reach the arrays.
    pressure = arrays["pressure"].reshape(len(contacts), len(pairs), -1)
    slip = arrays["slip"].reshape(*pressure.shape, 2)
    translation = solution.coordinates[:, :3]
    rotation = body_three_123(solution.coordinates[:, 3:])
    for side, pair in enumerate(pairs):
        at_ends = PatchEnds(pair).along(
            rotation, translation, [contact[side] for contact in contacts]
        )
        for name, values in at_ends._asdict().items():
            arrays[BORDER[name]][:, side] = values
    for frame, results in enumerate(contacts):
        poses = [
            part
            for n in (frame, frame - 1, (frame + 1) % len(contacts))
            for part in (rotation[n], translation[n])
        ]
        for side, (pair, result) in enumerate(zip(pairs, results, strict=True)):
            for name in RESULTANTS:
                arrays[name][frame, side] = getattr(result, name)
            local = result.element
            if local.size == 0:
                continue
            sliding = np.empty((local.size, 2))
            _kernels.slide(
                pair.centre[local],
                pair.tangent_row[local],
                pair.tangent_column[local],
                *poses,
                sliding,
            )
            pressure[frame, side, pair.index[local]] = result.pressure
            slip[frame, side, pair.index[local]] = sliding
    total = np.array([sum(result.wrench for result in frame) for frame in contacts])
    # What keeps coordinates prescribed is what acceleration takes beyond contact and loads.
    reaction = solution.inertia - total - solution.conditions.applied(solution.coordinates)
    motion = {
        "translation": translation,
        "rotation": solution.coordinates[:, 3:],
        "load": solution.load,
        "load_line": solution.load_line,
        "spring_force": solution.spring_force,
        "reaction_force": reaction[:, :3],
        "reaction_moment": reaction[:, 3:],
        "inertia_force": solution.inertia[:, :3],
        "inertia_moment": solution.inertia[:, 3:],
        "residual": solution.residual + _mismatch(solution, total),
    }
    for name, values in motion.items():
        arrays[name][:] = values
    return arrays


def _mismatch(solution: CycleSolution, total: Array) -> Array:
    """Largest change of contact since the pose was solved, along free coordinates, of the load."""
    change = total - solution.contact
    axes = turn_axes(solution.coordinates[:, 3:])
    change[:, 3:] = np.einsum("nij,ni->nj", axes, change[:, 3:])
    free = coordinate_numbers(solution.conditions.free)
    return np.max(np.abs(change / weights(1))[:, free], axis=1) / solution.load
