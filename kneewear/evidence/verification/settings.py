"""Settings of a verification study."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from kneewear.base.cases import Case
from kneewear.base.faults import fault_at
from kneewear.study.study import CaseStudy


class VerificationStudy(CaseStudy):
    """The engine against analytical solutions, and one case by each method."""

    model: Literal["verification"] = Field(description="Checks of the code itself.")

    @model_validator(mode="after")
    def _is_of_one_case(self) -> VerificationStudy:
        if self.variables:
            raise fault_at(
                ("variables",),
                f"{', '.join(self.variables)} in a verification study",
                "a single case",
                "Set variables to {}.",
            )
        return self

    @property
    def only_case(self) -> Case:
        """The case that is simulated by each method."""
        return self.case_list()[0]
