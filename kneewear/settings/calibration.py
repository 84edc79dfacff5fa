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

    key: Key
    also: tuple[Key, ...] = ()
    low: Finite
    high: Finite
    source: str = Field(min_length=1)
    plain: Finite
    scale: Literal["linear", "reciprocal"] = "linear"

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

    rows: Annotated[int, Field(ge=8, le=400)]
    columns: Annotated[int, Field(ge=8, le=400)]
    frames: Annotated[int, Field(ge=8, le=1000)]


class StageSettings(ResolutionSettings):
    """One stage of the search."""

    starts: Annotated[int, Field(ge=1, le=100_000)]
    steps: Annotated[int, Field(ge=0, le=200)]


class SpreadSettings(Settings):
    """Spread a value is expected to agree within, per cent; errors count in its multiples."""

    max_pressure: Positive
    avg_pressure: Positive
    wear_depth: Positive
    creep_depth: Positive
    damage_depth: Positive
    damage_area: Positive
    damage_volume: Positive


class CalibrationSettings(Settings):
    """Fit of constants of the default implant and gait to published cells."""

    spread_percent: SpreadSettings
    exponent: Annotated[float, Field(ge=1, le=4)]
    stages: tuple[StageSettings, ...] = Field(min_length=1)
    trade_off: tuple[Annotated[int, Field(ge=1)], ...]
    constants: dict[str, ConstantSettings] = Field(min_length=1)

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

    kind: Literal["calibration"]
    calibration: CalibrationSettings

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
