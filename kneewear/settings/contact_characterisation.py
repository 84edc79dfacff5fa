"""Settings of studies of contact area and pressure of designs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kneewear.settings.cases import Levels
from kneewear.settings.designs import DesignStudy
from kneewear.settings.types import Ascending, Finite, Positive, Settings

Flexion = Annotated[float, Field(ge=-30, le=160)]
Tilt = Annotated[float, Field(ge=-15, le=15)]
Share = Annotated[float, Field(gt=0, lt=1)]


class CharacterisationSettings(Settings):
    """Loads and positions, all combined with each other, and what is reported."""

    flexion_deg: Annotated[tuple[Flexion, ...], *Levels]
    load_n: Annotated[tuple[Positive, ...], *Levels]
    medial_share: Annotated[tuple[Share, ...], *Levels]
    tibial_external_rotation_deg: Annotated[tuple[Finite, ...], *Levels]
    posterior_offset_mm: Annotated[tuple[Finite, ...], *Levels]
    medial_offset_mm: Annotated[tuple[Finite, ...], *Levels]
    varus_offset_deg: Annotated[tuple[Tilt, ...], *Levels]
    posterior_slope_deg: Annotated[tuple[Tilt, ...], *Levels]
    free: tuple[Literal["anterior_posterior", "medial_lateral"], ...]
    pressures_mpa: Annotated[tuple[Positive, ...], Field(min_length=1), Ascending]


class CharacterisationStudy(DesignStudy):
    """Contact area and pressure of designs at chosen flexions and loads."""

    kind: Literal["contact_characterisation"]
    characterisation: CharacterisationSettings

    @property
    def flexions_deg(self) -> tuple[float, ...]:
        """Flexion angles that are tested, deg."""
        return self.characterisation.flexion_deg
