"""Settings of wear and creep over a life."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from kneewear.settings.faults import fault, fault_at
from kneewear.settings.types import (
    Name,
    NonNegative,
    Positive,
    Settings,
    without_nulls,
)


class SurfaceUpdateSettings(Settings):
    """How the insert's surface follows wear and creep when a life has blocks."""

    medial_lateral: Literal["held", "as_simulated"] = Field(
        description="Whether worn blocks keep every frame's medial-lateral position of the fresh "
        "insert, which creep would otherwise let go, or treat it as simulation.medial_lateral says."
    )
    smoothing_mm: NonNegative = Field(
        description="Length over which the lowering of the surface is levelled out, mm; about half "
        "an element's width. Depths themselves are not smoothed."
    )
    thins_layer: bool = Field(
        description="Whether wear makes the layer thinner, and so stiffer; creep never does."
    )


class WearSettings(Settings):
    """Wear and creep over a life."""

    wear_law: Literal[
        "archard",
        "unified_theory",
        "directional_work",
        "pressure_power",
        "cross_shear_and_pressure",
        "contact_area",
    ] = Field(
        description="Wear law: constant factor; by work across the principal direction; by work "
        "along and across it; factor falling with pressure; of cross-shear and pressure; by area."
    )
    wear_factor_mm3_per_n_m: Annotated[float, Field(ge=0, le=1e-3, allow_inf_nan=False)] = Field(
        description="Wear factor, mm3 per N and m of sliding, on a square path; for the laws "
        "archard, unified_theory and directional_work (the others have published constants)."
    )
    density_mg_per_mm3: Positive = Field(
        description="Density of the polyethylene, mg/mm3; for the mass lost by wear."
    )
    creep_law: Literal["pressure", "strain"] = Field(
        description="Creep depth from the largest pressure, or from a strain times the thickness."
    )
    creep_mm_per_mpa: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = Field(
        description="Creep depth for each MPa of largest pressure, mm/MPa; for creep_law pressure."
    )
    creep_time: Literal["constant", "logarithm"] = Field(
        description="Whether creep_mm_per_mpa holds at any age, or grows with the logarithm of "
        "time; for creep_law pressure (a strain always grows)."
    )
    creep_months: Positive = Field(
        description="Age at which creep_mm_per_mpa holds, months; for creep_time logarithm."
    )
    recovery_minutes: NonNegative = Field(
        description="Time without load after the life, over which part of the creep comes back, "
        "min; zero for an insert in use."
    )
    cycles_per_year: Positive = Field(description="Cycles of all activities in a year.")
    months: Annotated[float, Field(ge=0, le=1200, allow_inf_nan=False)] = Field(
        description="Length of the life, months."
    )
    mixing: Literal["linear", "sequence"] = Field(
        description="Whether activities of a life mix linearly or follow each other in every block."
    )
    blocks: int = Field(
        ge=1,
        le=1000,
        description="Blocks of cycles of a life; the surface is updated between them. One is the "
        "plain extrapolation of the fresh surface's cycle; 16 and more follow the surface.",
    )
    surface_update: SurfaceUpdateSettings = Field(
        description="How the surface follows wear and creep."
    )
    lives: dict[Name, dict[Name, Annotated[float, Field(ge=0, le=1)]]] = Field(
        min_length=1, description="Lives: name, and share of each activity's cycles; sum one."
    )

    @property
    def creep_takes_time(self) -> bool:
        """Whether creep grows with the age of the insert."""
        return self.creep_law == "strain" or self.creep_time == "logarithm"

    def without_updates(self) -> WearSettings:
        """The same life on a surface that stays fresh."""
        return self.model_copy(update={"blocks": 1, "mixing": "linear"})

    @model_validator(mode="after")
    def _strain_law_needs_time(self) -> WearSettings:
        if self.creep_law == "strain" and self.months == 0:
            raise fault(
                "creep_law: strain with months: 0",
                "months above 0, for this creep grows with the logarithm of time",
                "Give the life a length, or choose creep_law: pressure.",
            )
        return self

    @model_validator(mode="after")
    def _updates_need_time(self) -> WearSettings:
        if self == self.without_updates():
            return self
        if self.months < 1:
            raise fault(
                f"blocks: {self.blocks}, mixing: {self.mixing} with months: {self.months:g}",
                "a life of at least a month to divide",
                "Give the life a length, or set blocks to 1 and mixing to linear.",
            )
        if self.creep_mm_per_mpa > 0 and not self.creep_takes_time:
            raise fault(
                f"blocks: {self.blocks}, mixing: {self.mixing} with creep_time: constant",
                "creep_time: logarithm, for creep that is all there after the first block digs "
                "deeper than contact reaches",
                "Set creep_time to logarithm, or creep_mm_per_mpa to 0.",
            )
        return self

    @field_validator("lives", mode="before")
    @classmethod
    def _drop_removed(cls, lives: Any) -> Any:
        return without_nulls(lives)

    @field_validator("lives")
    @classmethod
    def _shares_sum_to_one(cls, lives: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        for life, shares in lives.items():
            total = math.fsum(shares.values())
            if abs(total - 1) > 1e-9:
                found = f"shares of '{life}' that sum to {total:g}"
                raise fault_at((life,), found, "a sum of 1", "Correct the shares.")
        return lives
