"""Settings of sweeps: cases of a plan over factors that change any settings."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.settings.base import CaseStudy
from kneewear.settings.factors import Factor, check_factors
from kneewear.settings.faults import fault, fault_at
from kneewear.settings.types import FileName, Name, Removable, Settings

# Cases of the largest plan.
MOST_CASES = 1_000_000


class SweepSettings(Settings):
    """Plan of the cases of a sweep, and the factors they vary."""

    plan: Literal["full_factorial", "latin_hypercube", "sobol", "file"]
    samples: Annotated[int, Field(ge=2, le=MOST_CASES)] | None
    file: FileName | None
    factors: Annotated[dict[Name, Factor], Field(min_length=1), Removable]

    @property
    def case_count(self) -> int | None:
        """Cases of the plan; None where a file has them."""
        if self.plan == "full_factorial":
            return prod(factor.levels for factor in self.factors.values())
        return self.samples

    @model_validator(mode="after")
    def _keys_go_with_the_plan(self) -> SweepSettings:
        wanted = {
            "samples": self.plan in ("latin_hypercube", "sobol"), "file": self.plan == "file"
        }  # fmt: skip
        for key, needed in wanted.items():
            if (getattr(self, key) is not None) != needed:
                found = f"plan: {self.plan} {'without' if needed else 'with'} {key}"
                expected = f"{key} with it" if needed else f"{key}: null"
                raise fault(found, expected, f"{'Give' if needed else 'Remove'} {key}.")
        samples = self.samples or 1
        if self.plan == "sobol" and samples & (samples - 1):
            raise fault(
                f"samples: {samples} with plan: sobol",
                "a power of two, for which the sequence is balanced",
                f"Take {1 << samples.bit_length() - 1} or {1 << samples.bit_length()}.",
            )
        if (self.case_count or 0) > MOST_CASES:
            levels = " x ".join(str(factor.levels) for factor in self.factors.values())
            expected = f"at most {MOST_CASES:,}"
            raise fault(f"{levels} cases", expected, "Take fewer levels, or plan: sobol.")
        return self

    @model_validator(mode="after")
    def _factors_have_bounds(self) -> SweepSettings:
        for name, factor in self.factors.items():
            bounded = factor.low is not None
            if bounded == (self.plan == "file"):
                raise fault_at(
                    ("factors", name),
                    f"{'bounds' if bounded else 'no bounds'} with plan: {self.plan}",
                    "none: the file has the values" if bounded else "low and high",
                    "Remove low and high." if bounded else "Give both.",
                )
        return self


class SweepStudy(CaseStudy):
    """Wear of cases whose settings, geometry included, follow a plan."""

    kind: Literal["sweep"]
    sweep: SweepSettings

    @property
    def varies_geometry(self) -> bool:
        """Whether a factor changes the implant, so that cases have surfaces of their own."""
        paths = [path for factor in self.sweep.factors.values() for path in factor.settings]
        return any(path.startswith(("implant.", "table.")) for path in paths)

    @property
    def reads_distance_tables(self) -> bool:
        """Whether distances are taken from tables, which cost more than a cycle of one case."""
        return super().reads_distance_tables and not self.varies_geometry

    @model_validator(mode="after")
    def _is_of_one_case(self) -> SweepStudy:
        self.require_single("a sweep", "config/sweep.yaml")
        check_factors(self, self.sweep.factors, ("sweep", "factors"))
        return self
