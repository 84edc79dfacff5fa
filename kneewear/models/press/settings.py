"""Settings of contact under an axial load, at one position or along a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from kneewear.activity.settings import Motion
from kneewear.base.faults import fault_at
from kneewear.base.files import Location
from kneewear.base.ranges import Range
from kneewear.base.types import quantity
from kneewear.motion.rig_settings import CONDITIONS, PressSettings
from kneewear.study.study import Study

# Cases that a job computes in some minutes: of one position, and of a path.
POSITIONS_PER_JOB = 50
PATHS_PER_JOB = 12
# Name of the coordinate of a path among the conditions of a case.
TEST = "test"


class PressStudy(Study):
    """Contact under an axial load, at one position or along a path."""

    model: Literal["press"] = Field(description="Contact under an axial load.")
    has_coupled_contact: ClassVar[bool] = True
    presses_single_plateaus: ClassVar[bool] = True
    side_jobs_vary: ClassVar[bool] = False
    draws_designs: ClassVar[bool] = True
    press: PressSettings
    cases_per_job: int | None = quantity(
        "Cases of a job, which change no result; null for as many as a job computes in some "
        "minutes.",
        Range("1", 1, 1, 1000, 1e6, "Jobs of some minutes"),
    )

    @model_validator(mode="after")
    def _single_plateau_has_no_other_side(self) -> PressStudy:
        if len(self.implant.bearings) > 1:
            return self
        if self.implant.source == "natural":
            raise fault_at(
                ("implant", "bearings"),
                f"the {self.implant.bearings[0]} plateau alone of a natural knee",
                "both plateaus",
                "Name both plateaus.",
            )
        press, only = self.press, f"with the {self.implant.bearings[0]} plateau alone"
        turned = press.path is not None and press.path.coordinate == "varus_valgus"
        for key, found in (
            ("medial_share", press.medial_share is not None and f"{press.medial_share:g}"),
            ("free", "varus_valgus" in press.free and "varus_valgus"),
            ("path", turned and "varus_valgus"),
        ):
            if found:
                raise fault_at(
                    ("press", key),
                    f"{found} {only}",
                    "what one plateau can bear: the whole load at a given varus",
                    "Remove it, or name both plateaus.",
                )
        return self

    @model_validator(mode="after")
    def _settles_on_the_insert(self) -> PressStudy:
        options, press = self.analyses.settling, self.press
        if options is None:
            return self
        unfit = [
            key
            for key in (
                "poses",
                "path",
                "friction",
                "medial_share",
                "posterior_offset_mm",
                "medial_offset_mm",
                "varus_offset_deg",
            )
            if getattr(press, key)
        ]
        missing = [
            name
            for name, needed in (
                ("superior_inferior", True),
                ("varus_valgus", bool(options.varus_deg)),
            )
            if needed and name not in press.free
        ]
        if unfit or missing:
            found = f"press.{', press.'.join(unfit)}" if unfit else f"free: {', '.join(press.free)}"
            raise fault_at(
                ("analyses", "settling"),
                found,
                "a load on a given line, under which the component falls without friction",
                f"Remove {', '.join(unfit)}." if unfit else f"Add {', '.join(missing)} to free.",
            )
        return self

    def _uncoupled(self) -> Iterator[tuple[Location, str]]:
        """Places and values of settings that a coupled layer does not cover."""
        yield from super()._uncoupled()
        press = self.press
        for name, value, covered in (
            ("friction", press.friction, 0.0),
            ("distance", press.distance, "minimum_distance"),
            ("force_direction", press.force_direction, "minimum_distance"),
        ):
            if value not in (None, covered):
                yield ("press", name), f"{value}"
        shape = self.implant.parametric if self.implant.source == "parametric" else None
        if shape is not None and shape.cam_and_post is not None:
            yield ("implant", "parametric", "cam_and_post"), "a post"

    @property
    def pose_file(self) -> Motion | None:
        """File of given poses; None where poses are solved."""
        return self.press.poses

    @property
    def conditions(self) -> Mapping[str, Any]:
        """Flexion, load and position, and the coordinate of a path as `test`."""
        path = {} if self.press.path is None else {TEST: self.press.path.coordinate}
        return self.press.model_dump(include=set(CONDITIONS)) | path

    def pressed_studies(self) -> Iterator[PressStudy]:
        """Yield the study, and one for each extreme of each variable of the rig alone."""
        yield self
        for name, variable in self.variables.items():
            if all(path.startswith("press.") for path in variable.settings):
                for value in variable.extremes:
                    yield self.at({name: value})

    @property
    def reads_distance_tables(self) -> bool:
        """No: few poses are evaluated, at exact distances."""
        return False

    def job_size(self, count: int) -> int:
        """Number of cases of a job, of `count` in all."""
        most = PATHS_PER_JOB if self.press.path else POSITIONS_PER_JOB
        return self.cases_per_job or min(most, max(4, ceil(count / 2)))
