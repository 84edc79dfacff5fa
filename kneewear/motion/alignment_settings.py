"""Settings of how components are aligned with the bones whose motion and load are given."""

from __future__ import annotations

from kneewear.base.ranges import Range
from kneewear.base.types import Finite, Settings, quantity

_TILT = Range("deg", -15, -10, 10, 15, "Outliers of implanted components are at 10 deg", least=0.2)
_TURN = Range("deg", -30, -20, 20, 30, "Outliers of implanted components are at 20 deg", least=0.2)
_SLOPE = Range("deg", -30, -5, 12, 30, "Trays slope by 0 to 10 deg (from memory)", least=0.2)
_OFFSET = Range("mm", -20, -10, 10, 20, "Less than half of a bone is left uncovered", least=0.02)
_CENTRE = Range("mm", -200, -100, 100, 200, "Centres are within the bones of the knee", least=0.2)


class ComponentAlignment(Settings):
    """Alignment of a component, relative to the one that motion and load are given for."""

    varus_deg: Finite = quantity("Rotation about the anterior-posterior axis.", _TILT)
    external_rotation_deg: Finite = quantity(
        "Rotation about the long axis, positive outwards. The other two rotations are about the "
        "rotated axes.",
        _TURN,
    )
    posterior_mm: Finite = quantity(
        "Displacement towards posterior, along the axes before the rotations.", _OFFSET
    )
    medial_mm: Finite = quantity("Displacement towards medial.", _OFFSET)
    centre_mm: tuple[Finite, Finite, Finite] = quantity(
        "Centre of the rotations: posterior, superior and medial of the component's origin.",
        _CENTRE,
    )

    @property
    def rotates(self) -> bool:
        """True if the component is rotated."""
        return any(value for name, value in self if name.endswith("_deg"))

    @property
    def is_neutral(self) -> bool:
        """True if the component is where the motion has it."""
        return not any(value for name, value in self if name != "centre_mm")


class TibialAlignment(ComponentAlignment):
    """Insert on the tibia, along the insert's axes."""

    varus_deg: Finite = quantity(
        "Rotation about the anterior-posterior axis, positive with a low medial side. It turns the "
        "load towards medial by its sine.",
        _TILT,
    )
    slope_deg: Finite = quantity(
        "Rotation about the medial-lateral axis, positive with a low posterior edge. It turns the "
        "load towards posterior by its sine, and reduces the flexion on the insert.",
        _SLOPE,
    )


class FemoralAlignment(ComponentAlignment):
    """Femoral component on the femur, along the component's axes."""

    varus_deg: Finite = quantity(
        "Rotation about the anterior-posterior axis, positive with a high medial side.", _TILT
    )
    flexion_deg: Finite = quantity(
        "Rotation about the medial-lateral axis; flexion of the component on the femur is positive "
        "and reduces the flexion on the insert.",
        _TURN,
    )


class AlignmentSettings(Settings):
    """Alignment of both components with their bones; in studies with activities."""

    tibial: TibialAlignment
    femoral: FemoralAlignment

    @property
    def is_neutral(self) -> bool:
        """True if both components are where the motion has them."""
        return self.tibial.is_neutral and self.femoral.is_neutral
