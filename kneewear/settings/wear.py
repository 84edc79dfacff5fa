"""Settings of wear and creep over a life."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kneewear.settings.faults import fault, fault_at
from kneewear.settings.types import (
    Finite,
    Name,
    NonNegative,
    Positive,
    Removable,
    Settings,
)

# Part of the cycles of a life.
Share = Annotated[float, Field(ge=0, le=1)]


class SurfaceUpdateSettings(Settings):
    """How the insert's surface follows wear and creep when a life has blocks."""

    medial_lateral: Literal["held", "as_simulated"]
    smoothing_mm: NonNegative
    thins_layer: bool


class DirectionalWorkSettings(Settings):
    """Coefficient of the law directional_work."""

    work_along_over_across: Positive


class PressurePowerSettings(Settings):
    """Coefficients of the law pressure_power."""

    coefficient_mm3_per_n_m: NonNegative
    exponent: Annotated[float, Field(gt=-1, le=0)]


class CrossShearAndPressureSettings(Settings):
    """Coefficients of the law cross_shear_and_pressure."""

    constant: Finite
    cross_shear_exponent: NonNegative
    pressure_rate_per_mpa: Annotated[float, Field(le=0, allow_inf_nan=False)]


class ContactAreaSettings(Settings):
    """Coefficients of the law contact_area."""

    low_slope: NonNegative
    low_intercept: NonNegative
    high_slope: NonNegative
    high_intercept: NonNegative
    border: Annotated[float, Field(ge=0, le=0.5)]


class UnverifiedSettings(Settings):
    """Coefficients of wear laws that were not read in a paper."""

    directional_work: DirectionalWorkSettings
    pressure_power: PressurePowerSettings
    cross_shear_and_pressure: CrossShearAndPressureSettings
    contact_area: ContactAreaSettings


class WearSettings(Settings):
    """Wear and creep over a life."""

    wear_law: Literal[
        "archard",
        "unified_theory",
        "directional_work",
        "pressure_power",
        "cross_shear_and_pressure",
        "contact_area",
    ]
    unverified: UnverifiedSettings
    wear_factor_mm3_per_n_m: Annotated[float, Field(ge=0, le=1e-3, allow_inf_nan=False)]
    density_mg_per_mm3: Positive
    creep_law: Literal["pressure", "strain"]
    creep_mm_per_mpa: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    creep_time: Literal["constant", "logarithm"]
    creep_months: Positive
    recovery_minutes: NonNegative
    cycles_per_year: Positive
    months: Annotated[float, Field(ge=0, le=1200, allow_inf_nan=False)]
    mixing: Literal["linear", "sequence"]
    blocks: int = Field(ge=1, le=1000)
    surface_update: SurfaceUpdateSettings
    lives: Annotated[dict[Name, dict[Name, Share]], Field(min_length=1), Removable]

    @property
    def creep_takes_time(self) -> bool:
        """Whether creep grows with the age of the insert."""
        return self.creep_law == "strain" or self.creep_time == "logarithm"

    def mm3_per(self, unit: str) -> float:
        """Volume of one unit ("mg" or "mm3") of lost material."""
        return 1.0 / self.density_mg_per_mm3 if unit == "mg" else 1.0

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
    def _constant_creep_has_one_age(self) -> WearSettings:
        if (
            self.creep_mm_per_mpa > 0
            and not self.creep_takes_time
            and self.months != self.creep_months
        ):
            raise fault(
                f"creep_time: constant with months: {self.months:g} and creep_months: "
                f"{self.creep_months:g}",
                "a life of creep_months, the age at which creep_mm_per_mpa holds",
                "Set creep_time to logarithm, which scales creep to other ages; or creep_months to "
                "months if creep_mm_per_mpa was found for that age.",
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

    @field_validator("lives")
    @classmethod
    def _shares_sum_to_one(cls, lives: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        for life, shares in lives.items():
            total = math.fsum(shares.values())
            if abs(total - 1) > 1e-9:
                found = f"shares of '{life}' that sum to {total:g}"
                raise fault_at((life,), found, "a sum of 1", "Correct the shares.")
        return lives
