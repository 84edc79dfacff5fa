"""Settings of contact simulations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

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

    mass_kg: Positive = Field(description="Mass of the moving body, kg.")
    radius_of_gyration_mm: Positive = Field(
        description="Radius of gyration about all axes through its centre of mass, mm."
    )
    centre_of_mass_mm: tuple[Finite, Finite, Finite] = Field(
        description="Centre of mass in the femoral frame: posterior, superior, medial, mm."
    )
    damping_ratio: NonNegative = Field(
        description="Damping of the free vibrations at the frame of the largest load, as part of "
        "the critical one."
    )
    relative_tolerance: Annotated[float, Field(ge=1e-10, le=1e-2)] = Field(
        description="Largest error of a step, as part of 0.1 mm of penetration."
    )
    cycles: int = Field(ge=1, le=100, description="Cycles simulated; the last one is kept.")


class ThreeParameterSettings(Settings):
    """Material that softens as strain = strain0 / 2 (p / p0) + strain0 / 2 (p / p0)^n."""

    exponent: Annotated[float, Field(ge=1, allow_inf_nan=False)] = Field(
        description="Exponent n; one is a linear material."
    )
    reference_strain: Positive = Field(description="Reference strain strain0.")
    reference_pressure_mpa: Positive = Field(description="Reference pressure p0, MPa.")


class PressureLawSettings(Settings):
    """How pressure follows from penetration."""

    strain: Literal["small", "large"] = Field(
        description="Strain of the layer: penetration over thickness, d / h, or -ln(1 - d / h)."
    )
    material: Literal[
        "linear",
        "polyethylene_23c",
        "polyethylene_37c",
        "polyethylene_tuned",
        "polyethylene_tuned_linear",
        "own",
    ] = Field(
        description="Linear with youngs_modulus_mpa, a three-parameter polyethylene by name, or "
        "the one of own_material."
    )
    nonlinear_form: Literal["published", "integrated"] = Field(
        description="How a three-parameter material enters: its tangent modulus as a secant one, "
        "as published, or its stress-strain curve itself."
    )
    own_material: ThreeParameterSettings | None = Field(
        description="Three-parameter material of your own; null unless material is own."
    )
    cap_mpa: Positive | None = Field(
        description="Pressure at which the layer turns perfectly plastic, MPa; null for none. "
        "Without history: for a first, growing load."
    )
    thickness_offset_mm: Finite = Field(
        description="Added to the local thickness of every element, mm."
    )

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

    analysis: Literal["forward", "quasi_static"] = Field(
        description="Forward dynamics on the coarse grid and inverse dynamics on the fine one, or "
        "a row of equilibria on the fine grid."
    )
    forward: ForwardSettings = Field(description="Forward dynamics; for analysis: forward.")
    frames: int = Field(ge=4, le=10000, description="Frames of one cycle.")
    youngs_modulus_mpa: Modulus = Field(description="Young's modulus of the polyethylene, MPa.")
    poisson_ratio: Annotated[float, Field(ge=0, lt=0.5)] = Field(
        description="Poisson's ratio of the polyethylene, below 0.5."
    )
    pressure_law: PressureLawSettings = Field(description="How pressure follows from penetration.")
    medial_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        description="Part of the load carried by the medial side when the load line is solved."
    )
    load_line: Literal["solved", "fixed"] = Field(
        description="Whether the load's medial-lateral position is solved for the medial share."
    )
    fixed_load_line_mm: Finite = Field(
        description="Medial-lateral position of the load when the load line is fixed, mm, medial "
        "positive."
    )
    force_direction: Literal["minimum_distance", "mid_surface"] = Field(
        description="Direction in which pressure acts on an element."
    )
    distance: Literal["exact", "table"] = Field(
        description="Where distances come from: search on the surfaces, or the distance table."
    )
    medial_lateral: Literal["solved", "held"] = Field(
        description="Whether the medial-lateral position is solved, or held where the motion "
        "prescribes it, at the cost of a side force that is reported."
    )
    medial_lateral_spring_per_mm: NonNegative = Field(
        description="Stiffness of a weak medial-lateral spring, as part of the load per mm."
    )
    tolerance: Annotated[float, Field(gt=0, le=1e-3)] = Field(
        description="Largest equilibrium residual, as part of the load."
    )
