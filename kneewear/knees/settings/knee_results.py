"""Settings of what is computed from the motion of a composed knee, and compared."""

from __future__ import annotations

from math import nan
from typing import Annotated

from pydantic import Field, model_validator

from kneewear.base.faults import fault, fault_at, refuse_repeated
from kneewear.base.ranges import Range
from kneewear.base.types import FLEXION, FileName, Finite, Name, Positive, Settings, quantity
from kneewear.knees.settings.bodies import COURSE, POINT, Curve, Pair, Part, Triple

# Clinical coordinates of the femoral component in the tibial one, named like coordinates of a body.
COMPONENTS = "components"
CLINICAL = {
    "flexion": "deg",
    "varus": "deg",
    "tibial_external_rotation": "deg",
    "femur_anterior": "mm",
    "femur_superior": "mm",
    "femur_lateral": "mm",
}

_TEST_FORCE = Range("N", -1e4, -300, 300, 1e4, "Laxity tests of patients: 50 to 250 N", least=2.0)
_TEST_MOMENT = Range(
    "N m", -100, -30, 30, 100, "Laxity tests of patients: 1.5 to 10 N m", least=0.05
)
_TARGET = Range("deg or mm", 1e-6, 0.01, 10, 100, "Repeatability of measured motions")


class TrayLoadSettings(Settings):
    """A measured load on both sides of the tibial component, along its axis."""

    file: FileName = Field(description="Table of the load.")
    over: str = Field(min_length=1, description="Column of the course.")
    medial: str = Field(min_length=1, description="Column of the medial force, N.")
    lateral: str = Field(min_length=1, description="Column of the lateral force, N.")
    lever_mm: Positive = quantity(
        "Distance of the force of each side from the middle of the tibial component.",
        Range("mm", 1, 10, 40, 100, "Condyles are 40 to 55 mm apart"),
    )
    min_force_n: Positive = quantity(
        "Smallest force of each side.",
        Range("N", 0.001, 1, 100, 1000, "Noise of instrumented trays is 20 to 50 N"),
    )

    @model_validator(mode="after")
    def check_columns_differ(self) -> TrayLoadSettings:
        """Refuse one column for two quantities."""
        refuse_repeated({"over": self.over, "medial": self.medial, "lateral": self.lateral})
        return self


class ComponentsSettings(Settings):
    """Components whose relative motion is given in clinical coordinates (Grood and Suntay).

    Axes of their files are x posterior, y superior, z medial.
    """

    femoral: Part = Field(description="Body and mesh of the femoral component.")
    tibial: Part = Field(description="Body and mesh of the tibial component.")
    button: Part | None = Field(
        None,
        description="Body and mesh of the patella's button; its motion and force are tabulated. "
        "Null for no such table.",
    )
    flexion: Curve | None = Field(
        None,
        description="Flexion of the components over the course, deg, which theta_1 of the tibial "
        "body follows; null where that is free, held or driven.",
    )
    load: TrayLoadSettings | None = Field(None, description="Measured load; null without.")


class ComparedMotionSettings(Settings):
    """A motion beside the computed one."""

    file: FileName = Field(description="Table of the motion.")
    over: str = Field(min_length=1, description="Column of the course, or of what is shown over.")
    columns: dict[Part, str] = Field(
        min_length=1,
        description="Column of each coordinate, mm or deg, such as tibia.x; of components, such as "
        f"components.varus, {', '.join(CLINICAL)}.",
    )
    from_s: Finite | None = quantity(
        "Time before which rows are not compared, of the column time_s; null for all.",
        Range("s", -1e5, -1000, 1000, 1e5, "Within the motion"),
        None,
    )
    rotation_target_deg: Positive | None = quantity(
        "Wanted rms difference of angles; null for none.", _TARGET, None
    )
    translation_target_mm: Positive | None = quantity(
        "Wanted rms difference of positions; null for none.", _TARGET, None
    )
    parts: dict[Name, Pair] = quantity(
        "Parts of the course by name, from and to, that are compared one by one, and then ranges "
        "of both motions; none to compare all of it.",
        COURSE,
        {},
    )
    source: str = Field(min_length=1, description="Source of the motion.")

    @model_validator(mode="after")
    def check_parts(self) -> ComparedMotionSettings:
        """Require parts that do not end before they begin."""
        for name, (first, last) in self.parts.items():
            if first >= last:
                found = f"from {first:g} to {last:g}"
                raise fault_at(("parts", name), found, "a part of the course", "Correct it.")
        return self

    @property
    def targets(self) -> dict[str, float]:
        """Wanted rms differences by unit, deg and mm; NaN for none."""
        given = {"deg": self.rotation_target_deg, "mm": self.translation_target_mm}
        return {unit: nan if value is None else value for unit, value in given.items()}


class TuningSettings(Settings):
    """Slack lengths fitted to every other row of the first compared motion, tested on the rest."""

    strain_percent: Positive = quantity(
        "Largest change of the reference strain of each ligament.",
        Range("percent", 0, 0.5, 10, 20, "Ligaments fail at strains of 15 percent and more"),
    )
    evaluations: int = quantity(
        "Largest number of evaluations with derivatives, each of one motion per ligament.",
        Range("1", 1, 1, 50, 100, "Ten converge"),
    )


class TestLoadSettings(Settings):
    """A load of a laxity test, along the axes of the body: x anterior, y superior, z lateral."""

    force_n: Triple = quantity("Force.", _TEST_FORCE, (0.0, 0.0, 0.0))
    moment_n_m: Triple = quantity("Moment.", _TEST_MOMENT, (0.0, 0.0, 0.0))
    point_mm: Triple = quantity(
        "Point at which the force acts, in the frame of the body.", POINT, (0.0, 0.0, 0.0)
    )

    @model_validator(mode="after")
    def _acts(self) -> TestLoadSettings:
        if not (any(self.force_n) or any(self.moment_n_m)):
            raise fault("no force and no moment", "a load", "Give a force or a moment.")
        return self


class LaxitySettings(Settings):
    """Laxity tests: loads on a body at held flexions."""

    body: Name = Field(description="The body, whose theta_1 is driven.")
    flexion_deg: Annotated[tuple[Finite, ...], Field(min_length=1)] = quantity(
        "Flexions at which the loads act.", FLEXION
    )
    steps: int = quantity(
        "Steps in which a load grows.", Range("1", 1, 2, 50, 200, "Ten steps follow a loose knee")
    )
    loads: dict[Name, TestLoadSettings] = Field(min_length=1, description="Loads by test.")
