"""Settings of multibody studies: knees that find their own motion.

To add a model: a class of settings with a `model` of its own in the union `MultibodyModel`, and a
function from these settings to a `MultibodyResult` in `kneewear.studies.multibody.models`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import Field, model_validator

from kneewear.settings.base import Study
from kneewear.settings.composed_knee import ComposedKneeSettings
from kneewear.settings.faults import fault, fault_at
from kneewear.settings.ranges import Range
from kneewear.settings.replications import MULTIBODY_MODELS, replication
from kneewear.settings.soft_tissue_knee import (
    POINT,
    FlexionSettings,
    MuscleSettings,
    Six,
    SoftTissueKneeSettings,
    Triple,
)
from kneewear.settings.types import (
    FLEXION,
    FileName,
    Finite,
    Name,
    Positive,
    Settings,
    quantity,
)

_SECONDS = Range("s", 1e-6, 1e-4, 1000, 1e5, "From one step of the solver to a slow flexion")
_DAMPER = Range("N s/m and N m s/rad", 0, 0, 1e4, 1e7, "Joints of OpenSim models have 1 to 1000")
_TEST_FORCE = Range("N", -1e4, -300, 300, 1e4, "Laxity tests of patients: 50 to 250 N", least=2.0)
_TEST_MOMENT = Range(
    "N m", -100, -30, 30, 100, "Laxity tests of patients: 1.5 to 10 N m", least=0.05
)
_TARGET = Range("deg or mm", 1e-6, 0.01, 10, 100, "Repeatability of measured motions")


class ReferenceMotionSettings(Settings):
    """Motion to compare with: of components, or of the joints' coordinates."""

    file: FileName = Field(description="Table of the motion.")
    convention: Literal["components", "joints"] = Field(
        description="Clinical coordinates of the femoral component in the tibial one, or "
        "coordinates of tibia and patella in the femur."
    )
    from_s: Finite = quantity(
        "Time before which rows are not compared, with a column of time.",
        Range("s", -1e5, -1000, 1000, 1e5, "Within the motion"),
    )
    rotation_target_deg: Positive = quantity("Wanted rms difference of angles.", _TARGET)
    translation_target_mm: Positive = quantity("Wanted rms difference of positions.", _TARGET)
    source: str = Field(min_length=1, description="Source of the motion.")


class TuningSettings(Settings):
    """Slack lengths fitted to every other frame of the reference, and tested on the rest."""

    strain_percent: Positive = quantity(
        "Largest change of the reference strain of each ligament.",
        Range("percent", 0, 0.5, 10, 20, "Ligaments fail at strains of 15 percent and more"),
    )
    evaluations: int = quantity(
        "Largest number of evaluations with derivatives, each of one flexion per ligament.",
        Range("1", 1, 1, 50, 100, "Ten converge"),
    )


class DamperSettings(Settings):
    """Dampers of the joints' coordinates, and the duration of the flexion."""

    rest_s: Positive = quantity(
        "Rest before the flexion, which starts without a jump of speed.", _SECONDS
    )
    duration_s: Positive = quantity("Duration of the flexion; frames are at equal times.", _SECONDS)
    tibia: Six = quantity(
        "Dampers of three positions, N s/m, and of flexion, adduction and rotation, N m s/rad.",
        _DAMPER,
    )
    patella: Six = quantity(
        "Dampers of three positions, N s/m, and of flexion, rotation and tilt, N m s/rad.", _DAMPER
    )


class TibialLoadSettings(Settings):
    """A load on the tibia, along its axes: x anterior, y superior, z lateral."""

    force_n: Triple = quantity("Force.", _TEST_FORCE, (0.0, 0.0, 0.0))
    moment_n_m: Triple = quantity("Moment.", _TEST_MOMENT, (0.0, 0.0, 0.0))
    point_mm: Triple = quantity(
        "Point at which the force acts, in the frame of the tibia.", POINT, (0.0, 0.0, 0.0)
    )

    @model_validator(mode="after")
    def _acts(self) -> TibialLoadSettings:
        if not (any(self.force_n) or any(self.moment_n_m)):
            raise fault("no force and no moment", "a load", "Give a force or a moment.")
        return self


class KneeLaxitySettings(Settings):
    """Laxity tests of the knee with its soft tissue: loads on the tibia at held flexions."""

    flexion_deg: Annotated[tuple[Finite, ...], Field(min_length=1)] = quantity(
        "Flexions at which the loads act.", FLEXION
    )
    steps: int = quantity(
        "Steps in which a load grows.", Range("1", 1, 2, 50, 200, "Ten steps follow a loose knee")
    )
    loads: dict[Name, TibialLoadSettings] = Field(min_length=1, description="Loads by test.")


class PassiveFlexionSettings(SoftTissueKneeSettings):
    """A knee with ligaments and patella that is flexed slowly; all else is free."""

    model: Literal["passive_flexion"] = Field(description="Passive flexion.")
    quadriceps: MuscleSettings
    flexion_deg: FlexionSettings
    dampers: DamperSettings | None = Field(
        None, description="Dampers, and the duration of the flexion; null for a slow one."
    )
    reference: ReferenceMotionSettings | None = Field(
        description="Motion to compare with; null without."
    )
    source_model: ReferenceMotionSettings | None = Field(
        None, description="Motion of the model that the numbers are from; null without."
    )
    tuning: TuningSettings | None = Field(description="Fit of slack lengths; null for none.")
    laxity: KneeLaxitySettings | None = Field(
        None, description="Laxity tests of the knee with its soft tissue; null for none."
    )

    @model_validator(mode="after")
    def check_conventions(self) -> PassiveFlexionSettings:
        """Require motions of one convention."""
        if self.source_model is not None:
            beside = self.reference.convention if self.reference else "no reference"
            if beside != self.source_model.convention:
                found = f"source_model.convention {self.source_model.convention} beside {beside}"
                raise fault(found, "a reference of the same convention", "Correct it.")
        return self

    @model_validator(mode="after")
    def check_laxity(self) -> PassiveFlexionSettings:
        """Require laxity tests within the flexion."""
        sweep = self.flexion_deg
        for angle in () if self.laxity is None else self.laxity.flexion_deg:
            if not sweep.first <= angle <= sweep.last:
                raise fault_at(
                    ("laxity", "flexion_deg"),
                    f"{angle:g}",
                    f"flexions within flexion_deg, {sweep.first:g} to {sweep.last:g}",
                    "Correct it, or flex further.",
                )
        return self

    @property
    def places_button(self) -> bool:
        """Whether femoral component and button of the patella have placements."""
        return all(self.bodies[name].placement is not None for name in ("femur", "patella"))

    @property
    def motions(self) -> dict[str, ReferenceMotionSettings]:
        """Motions to compare with, by the names of their files."""
        given = {"reference": self.reference, "source_model": self.source_model}
        return {name: one for name, one in given.items() if one is not None}

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        return super().files | {name: one.file for name, one in self.motions.items()}


class GaitSettings(Settings):
    """Measured gait: flexion and load are prescribed, the rest is compared."""

    motion: FileName = Field(description="Motion of the components over the cycle.")
    load: FileName = Field(description="Contact force on both sides over the cycle.")
    lever_mm: Positive = quantity(
        "Distance of the force of each side from the middle of the tibial component.",
        Range("mm", 1, 10, 40, 100, "Condyles are 40 to 55 mm apart"),
    )
    least_load_n: Positive = quantity(
        "Smallest force of each side.",
        Range("N", 0.001, 1, 100, 1000, "Noise of instrumented trays is 20 to 50 N"),
    )
    stance_percent: Positive = quantity(
        "End of stance.", Range("percent", 0, 40, 80, 100, "Stance is about 60 percent of gait")
    )
    source: str = Field(min_length=1, description="Source of motion and load.")


class PredictedGaitSettings(SoftTissueKneeSettings):
    """A knee replacement whose position and rotation follow from flexion, load and soft tissue."""

    model: Literal["predicted_gait"] = Field(description="Predicted gait.")
    quadriceps: MuscleSettings
    gait: GaitSettings

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        return super().files | {"motion": self.gait.motion, "load": self.gait.load}


# Each model has a property `files`.
if TYPE_CHECKING:
    MultibodyModel = Any
else:
    _REPLICATIONS = (replication(name, "settings").SETTINGS for name in MULTIBODY_MODELS)
    MultibodyModel = Annotated[
        Union[
            (PassiveFlexionSettings, PredictedGaitSettings, ComposedKneeSettings, *_REPLICATIONS)
        ],
        Field(discriminator="model"),
    ]


class MultibodyStudy(Study):
    """A knee whose motion follows from contact, ligaments, muscles and loads."""

    model: Literal["multibody"] = Field(description="Knees of several bodies.")
    has_knee: ClassVar[bool] = False
    multibody: MultibodyModel

    @property
    def model_files(self) -> Mapping[str, str]:
        """Data files of the knee by name, as the settings give them."""
        return dict(self.multibody.files)
