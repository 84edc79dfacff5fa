"""Settings of a verification study."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from kneewear.settings.base import CaseStudy
from kneewear.settings.cases import Case
from kneewear.settings.faults import fault_at


class VerificationStudy(CaseStudy):
    """The engine against analytical solutions, and one case by each method."""

    kind: Literal["verification"]

    @model_validator(mode="after")
    def _is_of_one_case(self) -> VerificationStudy:
        if len(self.case_list()) > 1:
            raise fault_at(
                ("cases",),
                f"{len(self.case_list())} cases in a verification study",
                "one thickness and one body mass",
                "Name one of each, as config/verification.yaml does.",
            )
        return self

    @property
    def case(self) -> Case:
        """The case that is simulated by each method."""
        return self.case_list()[0]
