"""Settings of uncertainty studies: uncertain constants, their spread, and the method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from kneewear.settings.activity import FileActivity
from kneewear.settings.base import CaseStudy, LifeStudy
from kneewear.settings.cases import check_varied, is_built_in, scales_a_motion, setting_locations
from kneewear.settings.factors import Change, check_not_updated
from kneewear.settings.faults import fault, fault_at
from kneewear.settings.files import Location
from kneewear.settings.types import Name, Positive, Removable, Settings


class UncertainConstant(Settings):
    """One uncertain constant: a random number that changes one setting, or several alike."""

    settings: tuple[str, ...] = Field(min_length=1)
    change: Literal["add", "multiply"]
    distribution: Literal["normal", "uniform"]
    spread: Positive
    unit: str = Field(min_length=1)
    source: str = Field(min_length=1)

    def changed(self, number: float) -> Change:
        """The change of its settings by a random number, in the unit of the spread."""
        multiplies = self.change == "multiply"
        return Change(self.settings, self.change, 1.0 + number if multiplies else number)

    @model_validator(mode="after")
    def _factors_have_no_unit(self) -> UncertainConstant:
        if (self.change == "multiply") != (self.unit == "1"):
            raise fault(
                f"change: {self.change} with unit: {self.unit}",
                "unit 1 with change: multiply, and only then",
                "Give the spread in the unit of the setting and add, or as a part and multiply.",
            )
        return self


class UncertaintySettings(Settings):
    """Uncertainty study of one case."""

    method: Literal["monte_carlo", "one_at_a_time", "variance_based"]
    samples: Annotated[int, Field(ge=2, le=1_000_000)]
    level_percent: Annotated[float, Field(ge=50, lt=100)]
    pose_errors: bool
    constants: Annotated[dict[Name, UncertainConstant], Field(min_length=1), Removable]

    @property
    def sample_count(self) -> int:
        """Samples of the plan, the nominal one among them."""
        uncertain = len(self.constants) + self.pose_errors
        drawn = {
            "monte_carlo": self.samples,
            "one_at_a_time": 2 * len(self.constants),
            "variance_based": self.samples * (uncertain + 2),
        }
        return 1 + drawn[self.method]

    @model_validator(mode="after")
    def _fits_the_method(self) -> UncertaintySettings:
        if self.method == "variance_based" and self.samples & (self.samples - 1):
            raise fault(
                f"samples: {self.samples} with method: variance_based",
                "a power of two, for which the sequence of samples is balanced",
                f"Take {1 << self.samples.bit_length() - 1} or {1 << self.samples.bit_length()}.",
            )
        if self.method == "one_at_a_time" and self.pose_errors:
            raise fault(
                "pose_errors: true with method: one_at_a_time",
                "pose_errors: false",
                "Set it to false, or choose another method.",
            )
        return self


class ConstantsFile(Settings):
    """What is read of a file that another study takes its uncertain constants from."""

    uncertainty: UncertaintySettings


def check_constants(settings: Mapping[str, Any], uncertainty: UncertaintySettings) -> None:
    """Refuse constants that change no number, or a setting that samples do not depend on."""
    for name, constant in uncertainty.constants.items():
        where = ("uncertainty", "constants", name, "settings")
        for path in constant.settings:
            check_varied(
                settings,
                path,
                where,
                "samples",
                _is_sampled,
                "a setting of the built-in implant, of a built-in activity, motion.scale of files, "
                "or a setting of cases, simulation or wear",
                "Leave it out: surfaces and motions of files are as they were measured. Their own "
                "standard deviations count with pose_errors: true.",
            )
            for location in setting_locations(settings, path):
                check_not_updated(location, where)


def applies(settings: Mapping[str, Any], constant: UncertainConstant) -> bool:
    """Whether samples of a study depend on all settings of a constant."""
    try:
        return all(
            _is_sampled(settings, location)
            for path in constant.settings
            for location in setting_locations(settings, path)
        )
    except KeyError:
        return False


def _is_sampled(settings: Mapping[str, Any], location: Location) -> bool:
    """Whether samples depend on a setting."""
    if location[0] == "implant":
        return settings["implant"]["source"] == "parametric" and "parametric" in location
    if location[0] in ("cases", "simulation", "wear"):
        return True
    return is_built_in(settings, location) or scales_a_motion(settings, location)


def has_pose_errors(study: LifeStudy) -> bool:
    """Whether a motion of a study was measured with a standard deviation."""
    return any(
        isinstance(block, FileActivity) and block.motion.standard_deviation is not None
        for block in study.simulated_activities().values()
    )


class UncertaintyStudy(CaseStudy):
    """Samples of a single case and life with uncertain constants."""

    kind: Literal["uncertainty"]
    uncertainty: UncertaintySettings

    @property
    def varies_geometry(self) -> bool:
        """Whether a constant changes the implant, so that samples have surfaces of their own."""
        constants = self.uncertainty.constants.values()
        return any(path.startswith("implant.") for one in constants for path in one.settings)

    @property
    def reads_distance_tables(self) -> bool:
        """Whether distances are taken from tables, which cost more than a cycle of one sample."""
        return super().reads_distance_tables and not self.varies_geometry

    @model_validator(mode="after")
    def _is_of_one_plain_case(self) -> UncertaintyStudy:
        self.require_single("an uncertainty study", "config/monte_carlo.yaml")
        check_constants(self.model_dump(mode="json"), self.uncertainty)
        if self.uncertainty.pose_errors and not has_pose_errors(self):
            raise fault_at(
                ("uncertainty", "pose_errors"),
                "true, and no motion with a standard deviation",
                "false where no motion has one",
                "Set it to false, or give motion.standard_deviation of a measured activity.",
            )
        return self

    def computed(self) -> dict[str, Any]:
        """As of every study; the level of intervals decides tables, but no sample."""
        settings = super().computed()
        settings["uncertainty"]["level_percent"] = 95.0
        return settings

    def batches(self) -> dict[str, tuple[int, int]]:
        """First sample of each job and the one after its last, by the name of the batch."""
        return self.batch_ranges(self.uncertainty.sample_count)
