"""Angles, frames and poses of the two components, what moves them, and equations of motion."""

from kneewear.mechanics.coordinates import (
    COORDINATES,
    coordinate_numbers,
    generalized_forces,
    turn_axes,
)
from kneewear.mechanics.loads import Load, Spring, spring_forces
from kneewear.mechanics.periodic import PeriodicSpline, fit_periodic
from kneewear.mechanics.rigid_body import RigidBody, modal_damping, solid_body
from kneewear.mechanics.rotations import (
    angles_123,
    body_three_123,
    clinical_angles,
    grood_suntay,
)

__all__ = [
    "COORDINATES",
    "Load",
    "PeriodicSpline",
    "RigidBody",
    "Spring",
    "angles_123",
    "body_three_123",
    "clinical_angles",
    "coordinate_numbers",
    "fit_periodic",
    "generalized_forces",
    "grood_suntay",
    "modal_damping",
    "solid_body",
    "spring_forces",
    "turn_axes",
]
