"""Settings of contact simulations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.settings.alignment import AlignmentSettings
from kneewear.settings.faults import fault
from kneewear.settings.types import (
    Finite,
    Modulus,
    NonNegative,
    Positive,
    Settings,
)


class ForwardSettings(Settings):
    """Forward dynamics of the femoral component."""

    mass_kg: Positive
    radius_of_gyration_mm: Positive
    centre_of_mass_mm: tuple[Finite, Finite, Finite]
    damping_ratio: NonNegative
    relative_tolerance: Annotated[float, Field(ge=1e-10, le=1e-2)]
    cycles: int = Field(ge=1, le=100)


class ThreeParameterSettings(Settings):
    """Material that softens as strain = strain0 / 2 (p / p0) + strain0 / 2 (p / p0)^n."""

    exponent: Annotated[float, Field(ge=1, allow_inf_nan=False)]
    reference_strain: Positive
    reference_pressure_mpa: Positive


class PressureLawSettings(Settings):
    """How pressure follows from penetration."""

    strain: Literal["small", "large"]
    material: Literal[
        "linear",
        "polyethylene_23c",
        "polyethylene_37c",
        "polyethylene_tuned",
        "polyethylene_tuned_linear",
        "own",
    ]
    nonlinear_form: Literal["published", "integrated"]
    own_material: ThreeParameterSettings | None
    cap_mpa: Positive | None
    thickness_offset_mm: Finite

    @model_validator(mode="after")
    def _own_goes_with_own_material(self) -> PressureLawSettings:
        if (self.material == "own") != (self.own_material is not None):
            raise fault(
                f"material: {self.material} with own_material: {self.own_material}",
                "own_material with material: own and only then",
                "Fill own_material in, or set it to null and name a material.",
            )
        return self


class SimulationSettings(Settings):
    """Contact simulation."""

    analysis: Literal["forward", "quasi_static"]
    forward: ForwardSettings
    frames: int = Field(ge=4, le=10000)
    youngs_modulus_mpa: Modulus
    poisson_ratio: Annotated[float, Field(ge=0, lt=0.5)]
    pressure_law: PressureLawSettings
    medial_share: Annotated[float, Field(gt=0, lt=1)]
    load_line: Literal["solved", "fixed"]
    fixed_load_line_mm: Finite
    force_direction: Literal["minimum_distance", "mid_surface"]
    distance: Literal["exact", "table"]
    medial_lateral: Literal["solved", "held"]
    medial_lateral_spring_per_mm: NonNegative
    tolerance: Annotated[float, Field(gt=0, le=1e-3)]
    alignment: AlignmentSettings
