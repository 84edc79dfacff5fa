"""Components that sit on their bones elsewhere than the given motion and load have them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH, COORDINATES, weights
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rotations import angles_123, body_three_123, grood_suntay
from kneewear.mechanics.springs import Spring
from kneewear.motion.alignment_settings import AlignmentSettings, ComponentAlignment
from kneewear.motion.settings import SimulationSettings

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Alignment:
    """Placement of each component in its own frame as motion and load have it.

    `*_turn` (3, 3) rotate components of a vector in the placed frame into the given one, `*_shift`
    (3,) are the placed origins, mm.

    Notes
    -----
    With T the pose of the femoral component on the insert that the motion gives, and A the
    placements, the pose of the placed components is inv(A_tibial) T A_femoral.
    """

    tibial_rotation: Array
    tibial_shift: Array
    femoral_rotation: Array
    femoral_shift: Array

    def to_implant_frame(self, given: Array) -> Array:
        """Coordinates (..., 6), mm and rad, of the placed components from the given ones."""
        turn = body_three_123(given[..., 3:])
        place = given[..., :3] + turn @ self.femoral_shift - self.tibial_shift
        angles = angles_123(self.tibial_rotation.T @ turn @ self.femoral_rotation)
        return np.concatenate([place @ self.tibial_rotation, angles], axis=-1)

    def to_motion_frame(self, placed: Array) -> Array:
        """The inverse of `placed`."""
        turn = self.tibial_rotation @ body_three_123(placed[..., 3:]) @ self.femoral_rotation.T
        place = (
            placed[..., :3] @ self.tibial_rotation.T + self.tibial_shift - turn @ self.femoral_shift
        )
        return np.concatenate([place, angles_123(turn)], axis=-1)

    def with_insert_moved(self, path: Array, centre: Array) -> Alignment:
        """The placement of an insert that is elsewhere on its tray.

        `path` (3,) is its posterior and medial displacement, mm, and its rotation about its
        superior axis, rad, positive as tibial external rotation of the femoral component is;
        `centre` (3,), mm, is the point that is displaced, in the frame of the insert.
        """
        turn = body_three_123(np.array([0.0, path[2], 0.0]))
        moved = np.array([path[0], 0.0, path[1]]) + centre - turn @ centre
        shift = self.tibial_shift + self.tibial_rotation @ moved
        return replace(self, tibial_rotation=self.tibial_rotation @ turn, tibial_shift=shift)

    def load(self, given: Load) -> Load:
        """A load along the given insert's axes, along those of the placed one."""
        point = np.asarray(given.point, dtype=float)
        on_insert = given.point_frame == "fixed"
        turn = self.tibial_rotation if on_insert else self.femoral_rotation
        shift = self.tibial_shift if on_insert else self.femoral_shift
        return replace(
            given,
            force=np.asarray(given.force, dtype=float) @ self.tibial_rotation,
            moment=np.asarray(given.moment, dtype=float) @ self.tibial_rotation,
            point=(point - shift) @ turn,
        )


def neutral_alignment() -> Alignment:
    """Placement of components that are as the motion has them."""
    return Alignment(np.eye(3), np.zeros(3), np.eye(3), np.zeros(3))


def build_alignment(settings: AlignmentSettings) -> Alignment | None:
    """Placement of both components; None where they are as the motion has them.

    A component is rotated about its `centre_mm`, about its long axis first, then its
    anterior-posterior and its medial-lateral one, and then moved. All senses are those of a segment
    against the one above it: the insert on the tibia is in varus where its medial side is low, the
    femoral component on the femur where its medial side is high; slope lowers the posterior edge.
    """
    if settings.is_neutral:
        return None
    tibial, femoral = settings.tibial, settings.femoral
    # The insert turns as the upper of two bodies, and the femoral component as the lower one.
    below = grood_suntay(
        *np.radians([tibial.slope_deg, tibial.varus_deg, -tibial.external_rotation_deg])
    )
    above = grood_suntay(
        *np.radians([-femoral.flexion_deg, -femoral.varus_deg, -femoral.external_rotation_deg])
    )
    return Alignment(below, _shift(tibial, below), above, _shift(femoral, above))


def _shift(settings: ComponentAlignment, turn: Array) -> Array:
    """Where the origin of a component goes, mm."""
    centre = np.array(settings.centre_mm)
    return np.array([settings.posterior_mm, 0.0, settings.medial_mm]) + centre - turn @ centre


def given_coordinates(placed: Array, settings: SimulationSettings) -> Array:
    """Coordinates (..., 6) as an activity gives them, from those of the placed components."""
    alignment = build_alignment(settings.alignment)
    return placed if alignment is None else alignment.to_motion_frame(placed)


@dataclass(frozen=True)
class FollowedMotion:
    """The motion that the femoral component follows on the insert, as both are placed.

    `prescribed` are the coordinates that the activity prescribes, of the components as it gives
    them. Those of placed components depend on the coordinates that are solved: under a sloped
    insert the height decides the anterior-posterior position.
    """

    activity: Activity
    alignment: Alignment | None
    prescribed: Collection[str]

    def start(self, frame: int) -> Array:
        """Coordinates (6,) at a frame, mm and rad, with the free ones of the activity."""
        given = self.activity.coordinates[frame]
        return given if self.alignment is None else self.alignment.to_implant_frame(given)

    def followed(self, frame: int, pose: Array) -> Array:
        """The pose (6,) with the prescribed coordinates of a frame, at its free ones."""
        activity, alignment = self.activity, self.alignment
        given = pose if alignment is None else alignment.to_motion_frame(pose)
        follows = np.array([name in self.prescribed for name in COORDINATES])
        if activity.angles == "clinical":
            follows[3:] = False
        given = np.where(follows, activity.coordinates[frame], given)
        given[3:] = activity.rotation_at(frame, given[3:])
        return given if alignment is None else alignment.to_implant_frame(given)

    def deviation(self, frame: int, start: Array, found: Array) -> float:
        """Deviation of a pose from the prescribed motion, rad, or mm over `CHARACTERISTIC_LENGTH`.

        What springs refer to must have converged too.
        """
        off = np.abs(self.followed(frame, found) - found)
        if self.alignment is None:
            return float(off[3:].max())
        moved = np.abs(self.displacement(found) - self.displacement(start))
        return float((np.maximum(off, moved) * weights(1)).max()) / CHARACTERISTIC_LENGTH

    def displacement(self, placed: Array) -> Array:
        """Coordinates (..., 6) of the placed components minus the given ones, mm and rad."""
        if self.alignment is None:
            return np.zeros_like(placed)
        return placed - self.alignment.to_motion_frame(placed)

    def springs(self, springs: Collection[Spring], moved: Array) -> tuple[Spring, ...]:
        """Springs along coordinates whose rest positions moved by (6,), mm and rad.

        Each has its deflection along the given coordinate, but acts along that of the placed
        components.
        """
        if self.alignment is None:
            return tuple(springs)
        return tuple(
            replace(spring, rest=spring.rest + float(moved[COORDINATES.index(spring.coordinate)]))
            for spring in springs
        )
