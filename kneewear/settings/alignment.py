"""Settings of how components are aligned with the bones whose motion and load are given."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kneewear.settings.types import Finite, Settings

# Beyond what is ever implanted; outside it is another unit or sign.
Tilt = Annotated[float, Field(ge=-15, le=15, allow_inf_nan=False)]
Turn = Annotated[float, Field(ge=-30, le=30, allow_inf_nan=False)]
Offset = Annotated[float, Field(ge=-20, le=20, allow_inf_nan=False)]


class ComponentAlignment(Settings):
    """What both components have."""

    varus_deg: Tilt
    external_rotation_deg: Turn
    posterior_mm: Offset
    medial_mm: Offset
    centre_mm: tuple[Finite, Finite, Finite]

    @property
    def is_neutral(self) -> bool:
        """Whether the component is where the motion has it."""
        return not any(value for name, value in self if name != "centre_mm")


class TibialAlignment(ComponentAlignment):
    """Where the insert sits on the tibia, from where the motion has it."""

    slope_deg: Turn


class FemoralAlignment(ComponentAlignment):
    """Where the femoral component sits on the femur, from where the motion has it."""

    flexion_deg: Turn


class AlignmentSettings(Settings):
    """Where both components sit on their bones, from where motion and load have them."""

    tibial: TibialAlignment
    femoral: FemoralAlignment

    @property
    def is_neutral(self) -> bool:
        """Whether both components are where the motion has them."""
        return self.tibial.is_neutral and self.femoral.is_neutral
