"""Settings of contact simulations, driven or static."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kneewear.settings.faults import fault, suggestion
from kneewear.settings.files import (
    read_settings,  # noqa: F401 - the public name of it
)
from kneewear.settings.types import (
    Finite,
    Modulus,
    Name,
    NonNegative,
    Positive,
    Settings,
)

Coordinate = Literal[
    "anterior_posterior",
    "superior_inferior",
    "medial_lateral",
    "varus_valgus",
    "internal_external",
    "flexion",
]


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
        description="Whether the load's medial-lateral place is solved for the medial share."
    )
    fixed_load_line_mm: Finite = Field(
        description="Medial-lateral place of the load when the load line is fixed, mm, medial "
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


class ElementStudySettings(Settings):
    """How far the results of one static case depend on the elements."""

    material: Name = Field(description="Material, one of `materials`.")
    flexion_deg: Finite = Field(description="Flexion of the case, deg.")
    load_n: Positive = Field(description="Load of the case, N.")
    active_elements: tuple[Annotated[int, Field(ge=4, le=5000)], ...] = Field(
        min_length=2,
        description="Numbers of loaded elements a side to aim at, ascending; the last stands for "
        "the true solution.",
    )
    offsets: int = Field(
        ge=1, le=1000, description="Random places of the elements for each of these numbers."
    )
    divisions: tuple[Annotated[int, Field(ge=4, le=500)], ...] = Field(
        min_length=2,
        description="Numbers of rows and of columns over a whole plateau that are combined at a "
        "fixed pose, ascending; the last stands for the true solution.",
    )

    @field_validator("active_elements", "divisions")
    @classmethod
    def _ascends(cls, values: tuple[int, ...]) -> tuple[int, ...]:
        if any(later <= earlier for earlier, later in pairwise(values)):
            raise fault(
                ", ".join(str(value) for value in values), "ascending numbers", "Order them."
            )
        return values


class StaticSettings(Settings):
    """Static study: one equilibrium for every material, flexion, position and load."""

    free: tuple[Coordinate, ...] = Field(
        min_length=1, description="Coordinates that equilibrium decides; the others are held."
    )
    flexion_deg: tuple[Finite, ...] = Field(min_length=1, description="Flexion angles, deg.")
    tibial_external_rotation_deg: Finite = Field(
        description="External rotation of the tibia against the femur, deg."
    )
    posterior_mm: tuple[Finite, ...] = Field(
        min_length=1,
        description="Positions of the femoral origin behind that of the insert, mm; a single one "
        "from which the search starts when anterior_posterior is free.",
    )
    medial_mm: Finite = Field(
        description="Position of the femoral origin medial of that of the insert, mm."
    )
    load_n: tuple[Positive, ...] = Field(min_length=1, description="Loads straight down, N.")
    load_line_mm: Finite = Field(description="Medial-lateral place of the loads, mm, fixed.")
    materials: dict[Name, PressureLawSettings] = Field(
        min_length=1,
        description="Pressure laws by name, in the place of simulation.pressure_law; the first is "
        "the one others are compared with.",
    )
    active_elements: Annotated[int, Field(ge=4, le=5000)] | None = Field(
        description="Loaded elements of each pair to aim at in every case by changing the number "
        "of rows and columns; null keeps those of `grid`."
    )
    element_study: ElementStudySettings | None = Field(
        description="How far results depend on the elements; null leaves it out."
    )

    @model_validator(mode="after")
    def _one_start_where_it_is_free(self) -> StaticSettings:
        if "anterior_posterior" in self.free and len(self.posterior_mm) > 1:
            raise fault(
                f"{len(self.posterior_mm)} values of posterior_mm with anterior_posterior free",
                "one value, from which the search starts",
                "Give one, or hold anterior_posterior by taking it out of `free`.",
            )
        study = self.element_study
        if study is not None and study.material not in self.materials:
            raise fault(
                f"element_study.material: {study.material}",
                f"one of: {', '.join(self.materials)}",
                suggestion(study.material, self.materials) or "Name a material of this study.",
            )
        return self
