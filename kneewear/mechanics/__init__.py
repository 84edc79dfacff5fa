"""Angles, frames and poses of the two components."""

from kneewear.mechanics.rotations import (
    angles_123,
    body_three_123,
    clinical_angles,
    grood_suntay,
)

__all__ = ["angles_123", "body_three_123", "clinical_angles", "grood_suntay"]
