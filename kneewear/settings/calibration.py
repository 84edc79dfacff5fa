"""Settings of a calibration: which constants are fitted, between which bounds, and how finely."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.settings.base import LifeStudy
from kneewear.settings.faults import fault
from kneewear.settings.types import Finite, Positive, Settings

Key = Annotated[str, Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)+$")]


class ConstantSettings(Settings):
    """One constant that is fitted; values are in the unit of its key."""

    key: Key = Field(
        description="Key of the study, with dots; entries of lists count from 0, as in "
        "activities.gait.flexion_deg.bumps.0.height."
    )
    also: tuple[Key, ...] = Field(default=(), description="Keys that share the value.")
    low: Finite = Field(description="Smallest value allowed.")
    high: Finite = Field(description="Largest value allowed.")
    source: str = Field(
        min_length=1, description="Where the bounds come from: measurement, publication or choice."
    )
    plain: Finite = Field(description="Value where it is not among the fitted constants.")
    scale: Literal["linear", "reciprocal"] = Field(
        default="linear",
        description="Whether steps are even in the value, or in its reciprocal, as for radii whose "
        "curvature matters.",
    )

    @model_validator(mode="after")
    def _values_lie_within(self) -> ConstantSettings:
        if not self.low < self.high or not self.low <= self.plain <= self.high:
            raise fault(
                f"low {self.low:g}, plain {self.plain:g}, high {self.high:g}",
                "low < high, with plain between them",
                "Correct the values.",
            )
        if self.scale == "reciprocal" and self.low <= 0:
            raise fault(f"low: {self.low:g}", "above 0 for scale: reciprocal", "Raise it.")
        return self


class ResolutionSettings(Settings):
    """How finely a cycle is analysed."""

    rows: Annotated[int, Field(ge=8, le=400)] = Field(
        description="Elements of a plateau from front to back."
    )
    columns: Annotated[int, Field(ge=8, le=400)] = Field(
        description="Elements of a plateau from side to side."
    )
    frames: Annotated[int, Field(ge=8, le=1000)] = Field(description="Frames of the cycle.")


class StageSettings(ResolutionSettings):
    """One stage of the search."""

    starts: Annotated[int, Field(ge=1, le=100_000)] = Field(
        description="Points it begins from: the best of the stage before; in the first stage a "
        "Latin hypercube between the bounds."
    )
    steps: Annotated[int, Field(ge=0, le=200)] = Field(
        description="Most steps of least squares from each point, each with an analysis for every "
        "constant; 0 only compares the points."
    )


class SpreadSettings(Settings):
    """Spread a value is expected to agree within, per cent; errors count in its multiples."""

    max_pressure: Positive = Field(description="Of the maximum pressure.")
    avg_pressure: Positive = Field(description="Of the average pressure.")
    wear_depth: Positive = Field(description="Of the wear depth.")
    creep_depth: Positive = Field(description="Of the creep depth.")
    damage_depth: Positive = Field(description="Of the damage depth.")
    damage_area: Positive = Field(description="Of the damaged area.")
    damage_volume: Positive = Field(description="Of the damaged volume.")


class CalibrationSettings(Settings):
    """Fit of constants of the default implant and gait to published cells."""

    spread_percent: SpreadSettings = Field(
        description="Spread of each quantity; rounding of the printed value is added to it."
    )
    exponent: Annotated[float, Field(ge=1, le=4)] = Field(
        description="What errors are raised to before their squares are summed: above 1, the "
        "largest weigh more."
    )
    stages: tuple[StageSettings, ...] = Field(
        min_length=1,
        description="Stages of the search; each begins from the best points of the one before.",
    )
    trade_off: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        description="Numbers of constants, from the top of the list, that are fitted for the "
        "trade-off curve in addition to all of them."
    )
    constants: dict[str, ConstantSettings] = Field(
        min_length=1, description="Constants by name, those kept longest first."
    )

    @model_validator(mode="after")
    def _stages_and_trade_off_narrow(self) -> CalibrationSettings:
        starts = [stage.starts for stage in self.stages]
        if starts != sorted(starts, reverse=True):
            raise fault(
                f"stages of {starts} starts", "no more than in the stage before", "Reorder."
            )
        if any(number >= len(self.constants) for number in self.trade_off):
            raise fault(
                f"trade_off {list(self.trade_off)} of {len(self.constants)} constants",
                "fewer than there are constants",
                "Shorten the list.",
            )
        return self


class CalibrationStudy(LifeStudy):
    """Fit of constants of the study to published cells."""

    kind: Literal["calibration"] = Field(description="Fit of constants to published cells.")
    calibration: CalibrationSettings = Field(description="Constants, target and search.")

    @model_validator(mode="after")
    def _analyses_are_quick(self) -> CalibrationStudy:
        found = {
            f"implant.source: {self.implant.source}": self.implant.source != "parametric",
            "activities from files": any(
                block.source != "parametric" for block in self.simulated_activities().values()
            ),
            f"{len(self.wear.lives)} lives": len(self.wear.lives) != 1,
            f"wear.blocks: {self.wear.blocks}, mixing: {self.wear.mixing}": (
                self.wear != self.wear.without_updates()
            ),
        }
        if any(found.values()):
            raise fault(
                f"a calibration with {', '.join(text for text, there in found.items() if there)}",
                "the built-in implant, one life of built-in activities, and a surface that stays "
                "as it was made",
                "Set these in the study, as config/calibration.yaml does.",
            )
        return self
