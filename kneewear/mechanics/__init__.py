"""Angles, frames and poses of the two components, and what moves them."""

from kneewear.mechanics.coordinates import (
    COORDINATES,
    coordinate_numbers,
    generalized_forces,
    turn_axes,
)
from kneewear.mechanics.loads import Load, Spring, spring_force
from kneewear.mechanics.rotations import (
    angles_123,
    body_three_123,
    clinical_angles,
    grood_suntay,
)

__all__ = [
    "COORDINATES",
    "Load",
    "Spring",
    "angles_123",
    "body_three_123",
    "clinical_angles",
    "coordinate_numbers",
    "generalized_forces",
    "grood_suntay",
    "spring_force",
    "turn_axes",
]
