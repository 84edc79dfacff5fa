"""Settings of static studies: equilibria without cycles and wear."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.settings.activity import MotionSettings
from kneewear.settings.base import Study
from kneewear.settings.faults import fault, suggestion
from kneewear.settings.simulation import PressureLawSettings
from kneewear.settings.types import Ascending, Finite, Name, Positive, Settings

Coordinate = Literal[
    "anterior_posterior",
    "superior_inferior",
    "medial_lateral",
    "varus_valgus",
    "internal_external",
    "flexion",
]
_COLUMNS = {
    "flexion", "varus", "rotation", "anterior_posterior", "superior_inferior", "medial_lateral",
}  # fmt: skip
ElementCount = Annotated[int, Field(ge=4, le=5000)]


class ElementStudySettings(Settings):
    """How far the results of one static case depend on the elements."""

    material: Name
    flexion_deg: Finite
    load_n: Positive
    active_elements: Annotated[tuple[ElementCount, ...], Field(min_length=2), Ascending]
    offsets: int = Field(ge=1, le=1000)
    divisions: Annotated[
        tuple[Annotated[int, Field(ge=4, le=500)], ...], Field(min_length=2), Ascending
    ]


class StaticSettings(Settings):
    """Static study: equilibria for all materials, flexions, positions and loads, or given poses."""

    free: tuple[Coordinate, ...] = ()
    flexion_deg: tuple[Finite, ...] = ()
    tibial_external_rotation_deg: Finite = 0.0
    posterior_mm: tuple[Finite, ...] = ()
    medial_mm: Finite = 0.0
    load_n: tuple[Positive, ...] = ()
    load_line_mm: Finite = 0.0
    distance: Literal["minimum_distance", "ray"] = "minimum_distance"
    force_direction: Literal["minimum_distance", "element_normal", "mid_surface"] | None = None
    materials: dict[Name, PressureLawSettings] = Field(min_length=1)
    poses: MotionSettings | None = None
    active_elements: ElementCount | None
    element_study: ElementStudySettings | None

    @model_validator(mode="after")
    def _poses_are_given_or_solved(self) -> StaticSettings:
        solved = ("free", "flexion_deg", "posterior_mm", "load_n")
        further = ("active_elements", "element_study")
        for key in (*solved, *further) if self.poses else solved:
            if bool(getattr(self, key)) == bool(self.poses):
                found = getattr(self, key) or "nothing"
                raise fault(
                    f"{key}: {found} {'with' if self.poses else 'without'} poses",
                    "all six coordinates from a file of poses, or what is held, loaded and solved",
                    f"{'Remove' if self.poses else 'Give'} {key}.",
                )
        if self.poses is not None:
            missing = sorted(_COLUMNS - set(self.poses.columns.given()))
            if missing or self.poses.convention == "jointtrack":
                raise fault(
                    f"poses without columns of {', '.join(missing) or 'a table'}",
                    "a table with all six coordinates and a column of time (or of a number)",
                    "Name the columns.",
                )
        return self

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
    """Equilibria without cycles and wear."""

    kind: Literal["static"]
    static: StaticSettings
