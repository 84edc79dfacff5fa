"""Settings of finite-element comparisons: frames of a wear study computed by finite elements."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.activity.settings import Percent
from kneewear.base.cases import Case, centre_case
from kneewear.base.faults import fault_at, suggestion
from kneewear.base.ranges import Range
from kneewear.base.types import PERCENT, Name, Positive, Settings, quantity
from kneewear.base.variables import Levels
from kneewear.motion.settings import YieldCurveSettings
from kneewear.study.study import CaseStudy

_SIZE = Range("mm", 0.1, 0.1, 2, 5, "Contacts are 5 to 20 mm long and 1 mm deep")


class SolidElementSettings(Settings):
    """Largest sizes of the quadratic elements of the insert, and coarsening of the second mesh."""

    along_mm: Positive = quantity(
        "Size under the contact from anterior to posterior; at most an eighth of the contact.",
        _SIZE,
    )
    across_mm: Positive = quantity("Size across, in the middle of the contact.", _SIZE)
    ends_mm: Positive = quantity("Size across, at the ends of the contact.", _SIZE)
    below_mm: Positive = quantity("Height of elements in the upper fifth of the insert.", _SIZE)
    coarsening: Positive = quantity(
        "Factor of all sizes in the second mesh, whose difference is the mesh error.",
        Range("1", 1.2, 1.2, 3, 3, "Smaller factors show no difference, larger ones no contact"),
    )


class PlasticitySettings(YieldCurveSettings):
    """Elastic-plastic insert (J2, isotropic hardening)."""

    load_steps: int = quantity(
        "Steps in which the load rises.", Range("1", 1, 2, 30, 50, "Five resolve the first yield")
    )


class FeComparisonSettings(Settings):
    """Frames and cases computed by finite elements, and their mesh."""

    activity: Name = Field(description="Activity whose frames are computed, one of `wear.lives`.")
    frames_percent: Annotated[tuple[Percent, ...], *Levels] = quantity(
        "Parts of the cycle; the nearest frames are computed.", PERCENT
    )
    cases: Literal["corners_and_centre", "all"] = Field(
        description="Corners and centre of the cases, or all."
    )
    elements: SolidElementSettings
    plasticity: PlasticitySettings | None = Field(
        description="Elastic-plastic insert; null is linear elastic, with `youngs_modulus_mpa` and "
        "`poisson_ratio` of `simulation`."
    )


class FeComparisonStudy(CaseStudy):
    """Finite elements beside the foundation at chosen frames of an activity."""

    model: Literal["fe_comparison"] = Field(description="Finite elements beside the foundation.")
    fe_comparison: FeComparisonSettings

    @model_validator(mode="after")
    def check_activity(self) -> FeComparisonStudy:
        """Require an activity of a life."""
        name, known = self.fe_comparison.activity, self.simulated_activities()
        if name not in known:
            raise fault_at(
                ("fe_comparison", "activity"),
                f"no activity '{name}' in a life of this study",
                f"one of: {', '.join(known)}",
                suggestion(name, known) or "Name an activity of wear.lives.",
            )
        return self

    @model_validator(mode="after")
    def check_frames(self) -> FeComparisonStudy:
        """Refuse one frame twice."""
        count = self.simulation.frames
        if len(set(self.compared_frames())) < len(self.fe_comparison.frames_percent):
            raise fault_at(
                ("fe_comparison", "frames_percent"),
                f"{list(self.fe_comparison.frames_percent)}, two of which are the same of {count}",
                f"values at least {100 / count:g} % apart",
                "Set them further apart, or raise simulation.frames.",
            )
        return self

    def compared_frames(self) -> tuple[int, ...]:
        """Numbers of the frames nearest the wanted parts of the cycle."""
        count = self.simulation.frames
        return tuple(
            round(one * count / 100.0) % count for one in self.fe_comparison.frames_percent
        )

    def compared_cases(self) -> tuple[Case, ...]:
        """Cases that are computed: all, or the corners and the centre of the design."""
        cases = self.case_list()
        if self.fe_comparison.cases == "all":
            return cases
        masses = len({case.body_mass for case in cases})
        corners = 0, masses - 1, centre_case(cases), len(cases) - masses, len(cases) - 1
        return tuple(cases[number] for number in dict.fromkeys(corners))
