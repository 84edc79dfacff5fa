"""Settings of the report: limits of pressure, and what results are drawn beside."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kneewear.base.faults import fault, fault_at, refuse_repeated
from kneewear.base.ranges import Range
from kneewear.base.types import FileName, Name, NonNegative, Positive, Removable, Settings, quantity

# Samples of uncertain constants of the centre case: the first and last of 20 in order are the 2.5
# and 97.5 percentiles.
MIN_SAMPLES = 20

_DEPTH_RATE = Range("mm/year", 0.0, 0.0, 3.0, 20.0, "Up to 1.68: Benjamin et al. 2001", least=0.01)
_MASS_RATE = Range("mg/10^6", 0.0, 0.0, 200.0, 1e4, "3 to 30 mg in simulators", least=0.1)
_VOLUME_RATE = Range("mm3/year", 0.0, 0.0, 5e3, 1e5, "Up to 4088: Benjamin et al. 2001", least=0.1)
# Part of the whole spread by which both sides of a standard deviation differ when they are rounded.
_UNEVEN = 0.1
_PRESSURE_LIMIT = Range("MPa", 1.0, 5.0, 60.0, 200.0, "Yield stress of polyethylene 10 to 25 MPa")


class RateSettings(Settings):
    """Mean of a rate among retrieved inserts, and its spread."""

    mean: NonNegative
    low: NonNegative
    high: NonNegative

    @model_validator(mode="after")
    def _mean_is_between(self) -> RateSettings:
        if not self.low <= self.mean <= self.high:
            raise fault(
                f"low: {self.low:g}, mean: {self.mean:g}, high: {self.high:g}",
                "low <= mean <= high",
                "Correct the numbers.",
            )
        if self.low == self.high:
            raise fault(f"{self.low:g} for low and high", "a spread", "Give the published spread.")
        return self


class DepthRateSettings(RateSettings):
    """Loss of thickness in a year."""

    mean: NonNegative = quantity("Mean rate.", _DEPTH_RATE)
    low: NonNegative = quantity("Lower end of the spread.", _DEPTH_RATE)
    high: NonNegative = quantity("Upper end of the spread.", _DEPTH_RATE)


class VolumeRateSettings(RateSettings):
    """Loss of volume in a year."""

    mean: NonNegative = quantity("Mean rate.", _VOLUME_RATE)
    low: NonNegative = quantity("Lower end of the spread.", _VOLUME_RATE)
    high: NonNegative = quantity("Upper end of the spread.", _VOLUME_RATE)


class MassRateSettings(RateSettings):
    """Loss of mass in a million cycles of a simulator."""

    mean: NonNegative = quantity("Mean rate.", _MASS_RATE)
    low: NonNegative = quantity("Lower end of the spread.", _MASS_RATE)
    high: NonNegative = quantity("Upper end of the spread.", _MASS_RATE)


class RetrievalSettings(Settings):
    """Wear of one published group of inserts, retrieved or tested in a simulator."""

    linear_mm_per_year: DepthRateSettings | None = Field(
        description="Loss of thickness, mm per year; null when not published."
    )
    volume_mm3_per_year: VolumeRateSettings | None = Field(
        description="Loss of volume of the whole insert, mm3 per year; null when not published."
    )
    mass_mg_per_million_cycles: MassRateSettings | None = Field(
        None, description="Loss of mass of inserts in a simulator, of wear alone."
    )
    includes_creep: bool = Field(
        description="Whether the rates are of all that is missing, or of material worn off."
    )
    creep_percent: float | None = quantity(
        "Part of creep in the volume of penetration; left out when not published.",
        Range("%", 0.0, 0.0, 90.0, 100.0, "31 (Engh et al. 2013); a part of a whole", least=1.0),
        None,
    )
    spread: Literal["standard deviation", "range"] = Field(
        description="What low and high are: the mean less and plus one standard deviation (not "
        "below zero), or the smallest and largest value."
    )
    source: str = Field(min_length=1, description="Authors, year, inserts, and how it was read.")

    @model_validator(mode="after")
    def _rates_are_as_stated(self) -> RetrievalSettings:
        rates = {
            "linear_mm_per_year": self.linear_mm_per_year,
            "volume_mm3_per_year": self.volume_mm3_per_year,
            "mass_mg_per_million_cycles": self.mass_mg_per_million_cycles,
        }
        given = {key: rate for key, rate in rates.items() if rate is not None}
        if not given:
            raise fault("no rate", f"one of {', '.join(rates)}", "Give one, or remove the group.")
        if self.includes_creep and self.mass_mg_per_million_cycles is not None:
            raise fault_at(
                ("includes_creep",),
                "true with a loss of mass",
                "false: creep removes no mass",
                "Set includes_creep to false.",
            )
        for key, rate in given.items():
            below, above = rate.mean - rate.low, rate.high - rate.mean
            # Rates are not below zero.
            symmetric = self.spread == "range" or rate.low == 0.0
            if not symmetric and abs(above - below) > _UNEVEN * (rate.high - rate.low):
                raise fault_at(
                    (key,),
                    f"a mean {below:.3g} above low and {above:.3g} below high",
                    "one standard deviation to either side",
                    "Correct the numbers, or use spread: range.",
                )
        return self


class MeasuredSettings(Settings):
    """Measured activities that are drawn beside a built-in one."""

    activity: Name = Field(description="Built-in activity that the measured ones are drawn beside.")
    settings: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        description="Settings files, in the data folder or the checkout, of a study of measured "
        "activities, merged in this order; activities without their data files are left out."
    )


class SimulatorColumns(Settings):
    """Columns of measured wear in a file."""

    million_cycles: str = Field(
        description="Column of the million cycles after which the insert was weighed; ascending."
    )
    loss: str = Field(description="Column of the material lost so far, in the unit stated.")
    error: str | None = Field(
        default=None,
        description="Column of the error of the loss, as it is drawn; left out when not known.",
    )

    @model_validator(mode="after")
    def check_columns_differ(self) -> SimulatorColumns:
        """Refuse one column for two quantities."""
        refuse_repeated(self.model_dump())
        return self


class SimulatorTestSettings(Settings):
    """Wear that was measured in a knee simulator."""

    file: FileName = Field(description="CSV file of one test, in the data folder or the checkout.")
    unit: Literal["mg", "mm3"] = Field(
        description="Unit of the loss and its error; mg are converted by wear.density_mg_per_mm3."
    )
    columns: SimulatorColumns = Field(description="Names of the file's columns.")
    source: str = Field(
        min_length=1,
        description="Simulator, inserts, number of specimens, and what the error is.",
    )


class VariationSettings(Settings):
    """Choices of the model and uncertain constants that are changed for the centre case."""

    blocks: int = quantity(
        "Blocks of cycles between which the centre case's surface follows wear and creep; 1 leaves "
        "that out.",
        Range("1", 1, 1, 64, 1000, "Results change little beyond 16 blocks"),
    )
    samples: int = quantity(
        "Samples of the centre case with all uncertain constants changed at once, 20 or more; 0 "
        "leaves that out. On at most 60 by 45 elements and 100 frames, by equilibria, on a fresh "
        "surface.",
        Range("1", 0, 0, 1000, 100_000, "20 samples reach the ends of a 95 % interval"),
    )
    constants: FileName = Field(
        description="YAML file whose block variables has the constants and their distributions "
        "with sources; those of an implant or activity that this study does not have are left out."
    )
    wear_factors_mm3_per_n_m: tuple[Positive, ...] = quantity(
        "Wear factors that the centre case is computed with as well.",
        Range("mm3/(N m)", 1e-10, 1e-9, 1e-5, 1e-3, "As of wear.wear_factor_mm3_per_n_m"),
    )

    @field_validator("samples")
    @classmethod
    def _reach_the_ends(cls, samples: int) -> int:
        if 0 < samples < MIN_SAMPLES:
            raise fault(
                f"{samples}",
                f"0, or {MIN_SAMPLES} and more: fewer do not reach the ends of an interval",
                f"Take {MIN_SAMPLES}, or 0 for no interval.",
            )
        return samples


class ReportSettings(Settings):
    """Report."""

    compare_with_published: bool = Field(
        description="Whether results are compared with the published tables."
    )
    pressure_limit_mpa: Positive = quantity(
        "Largest element pressure the linear layer is trusted for.", _PRESSURE_LIMIT
    )
    avg_pressure_limit_mpa: Positive = quantity(
        "Largest mean pressure the linear layer is trusted for.", _PRESSURE_LIMIT
    )
    spread: VariationSettings = Field(
        description="Choices of the model that are changed for the centre case."
    )
    measured: Annotated[dict[str, MeasuredSettings], Removable] = Field(
        description="Measured activities that are drawn beside built-in ones, by subject."
    )
    retrievals: Annotated[dict[str, RetrievalSettings], Removable] = Field(
        description="Published wear of retrieved inserts that results are compared with, by name."
    )
    simulator_tests: Annotated[dict[str, SimulatorTestSettings], Removable] = Field(
        description="Wear measured in a knee simulator that is drawn over the predicted wear."
    )
    number: str = Field(
        default="",
        max_length=80,
        description="Number of the report; empty for one that follows from settings, version and "
        "input files.",
    )
    operator: str = Field(
        default="",
        max_length=200,
        description="Who ran the study, for the line of the operator on the page.",
    )
    film: bool = Field(
        default=False,
        description="Draw a film of one cycle, `results/<study>/film.gif`: pressure on the insert "
        "under the moving component, with curves of the cycle beside it.",
    )
    fe_comparison: FileName | None = Field(
        default=None,
        description="Table of a finished finite-element comparison "
        "(`results/<study>/tables/fe_twin.csv`) of the same implant and material, whose errors the "
        "page of a wear study states; null for none.",
    )


# The report of studies whose results do not depend on it.
NO_REPORT = {
    "compare_with_published": False,
    "pressure_limit_mpa": 1.0,
    "avg_pressure_limit_mpa": 1.0,
    "spread": {"blocks": 1, "samples": 0, "constants": ".", "wear_factors_mm3_per_n_m": []},
    "measured": {},
    "retrievals": {},
    "simulator_tests": {},
}
