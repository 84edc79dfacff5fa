"""Settings of static studies: equilibria without cycles and wear."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kneewear.settings.base import Study
from kneewear.settings.faults import fault, suggestion
from kneewear.settings.simulation import PressureLawSettings
from kneewear.settings.types import Finite, Name, Positive, Settings

Coordinate = Literal[
    "anterior_posterior",
    "superior_inferior",
    "medial_lateral",
    "varus_valgus",
    "internal_external",
    "flexion",
]


class ElementStudySettings(Settings):
    """How far the results of one static case depend on the elements."""

    material: Name = Field(description="Material, one of `materials`.")
    flexion_deg: Finite = Field(description="Flexion of the case, deg.")
    load_n: Positive = Field(description="Load of the case, N.")
    active_elements: tuple[Annotated[int, Field(ge=4, le=5000)], ...] = Field(
        min_length=2,
        description="Wanted numbers of loaded elements per side, ascending; the last is taken as "
        "the true solution.",
    )
    offsets: int = Field(
        ge=1, le=1000, description="Random positions of the elements for each of these numbers."
    )
    divisions: tuple[Annotated[int, Field(ge=4, le=500)], ...] = Field(
        min_length=2,
        description="Numbers of rows and of columns over a whole plateau that are combined at a "
        "fixed pose, ascending; the last is taken as the true solution.",
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
    load_line_mm: Finite = Field(description="Medial-lateral position of the loads, mm, fixed.")
    materials: dict[Name, PressureLawSettings] = Field(
        min_length=1,
        description="Pressure laws by name, instead of simulation.pressure_law; the first is "
        "the one others are compared with.",
    )
    active_elements: Annotated[int, Field(ge=4, le=5000)] | None = Field(
        description="Wanted loaded elements of each pair, reached in every case by changing the "
        "number of rows and columns; null keeps those of `grid`."
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


class StaticStudy(Study):
    """One equilibrium per static case."""

    kind: Literal["static"] = Field(description="Equilibria without cycles and wear.")
    static: StaticSettings = Field(description="Cases of a static study.")
