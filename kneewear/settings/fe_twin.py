"""Settings of finite-element twins: frames of a wear study computed by finite elements."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.settings.base import CaseStudy
from kneewear.settings.cases import Case, Levels, centre_case
from kneewear.settings.faults import fault, fault_at, suggestion
from kneewear.settings.types import Name, Positive, Settings

Size = Annotated[float, Field(ge=0.1, le=5.0)]
Percent = Annotated[float, Field(ge=0.0, lt=100.0)]


class SolidElementSettings(Settings):
    """Largest sizes of the elements under contact, and how much larger those of the check are."""

    along_mm: Size
    across_mm: Size
    ends_mm: Size
    below_mm: Size
    coarsening: Annotated[float, Field(ge=1.2, le=3.0)]


class PlasticitySettings(Settings):
    """Yield stress of the insert by plastic strain, and the steps in which the load rises."""

    plastic_strain: Annotated[tuple[Annotated[float, Field(ge=0, le=2)], ...], Field(min_length=1)]
    yield_stress_mpa: Annotated[tuple[Positive, ...], Field(min_length=1)]
    load_steps: Annotated[int, Field(ge=1, le=50)]
    source: str = Field(min_length=1)

    @model_validator(mode="after")
    def _curve_is_possible(self) -> PlasticitySettings:
        strain, stress = self.plastic_strain, self.yield_stress_mpa
        rises = all(a < b for a, b in pairwise(strain))
        hardens = all(a <= b for a, b in pairwise(stress))
        if strain[0] != 0.0 or not rises or not hardens or len(strain) != len(stress):
            raise fault(
                f"plastic strains {list(strain)} with yield stresses {list(stress)} MPa",
                "strains that ascend from 0, and as many stresses that do not descend",
                "Correct the points of the curve.",
            )
        return self


class FeTwinSettings(Settings):
    """Frames and cases that are computed by finite elements."""

    activity: Name
    frames_percent: Annotated[tuple[Percent, ...], *Levels]
    cases: Literal["corners_and_centre", "all"]
    elements: SolidElementSettings
    plasticity: PlasticitySettings | None


class FeTwinStudy(CaseStudy):
    """Finite elements beside the foundation at chosen frames of an activity."""

    kind: Literal["fe_twin"]
    fe_twin: FeTwinSettings

    @model_validator(mode="after")
    def _activity_is_simulated(self) -> FeTwinStudy:
        name, known = self.fe_twin.activity, self.simulated_activities()
        if name not in known:
            raise fault_at(
                ("fe_twin", "activity"),
                f"no activity '{name}' in a life of this study",
                f"one of: {', '.join(known)}",
                suggestion(name, known) or "Name an activity of wear.lives.",
            )
        return self

    @model_validator(mode="after")
    def _frames_differ(self) -> FeTwinStudy:
        count = self.simulation.frames
        if len(set(self.twin_frames())) < len(self.fe_twin.frames_percent):
            raise fault_at(
                ("fe_twin", "frames_percent"),
                f"{list(self.fe_twin.frames_percent)}, two of which are one of {count} frames",
                f"values at least {100 / count:g} % apart",
                "Set them further apart, or raise simulation.frames.",
            )
        return self

    def twin_frames(self) -> tuple[int, ...]:
        """Numbers of the frames nearest the wanted parts of the cycle."""
        count = self.simulation.frames
        return tuple(round(one * count / 100.0) % count for one in self.fe_twin.frames_percent)

    def twin_cases(self) -> tuple[Case, ...]:
        """Cases that are computed: all, or the corners and the centre of the design."""
        cases = self.case_list()
        if self.fe_twin.cases == "all":
            return cases
        masses = len(self.cases.body_mass_kg)
        corners = 0, masses - 1, centre_case(cases), len(cases) - masses, len(cases) - 1
        return tuple(cases[number] for number in dict.fromkeys(corners))
