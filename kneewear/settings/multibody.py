"""Settings of multibody studies: knees that find their own motion.

To add a model: a class of settings with a `model` of its own in the union `MultibodyModel`, and a
function from these settings to a `MultibodyResult` in `kneewear.studies.multibody.models`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.settings.base import Study
from kneewear.settings.faults import fault
from kneewear.settings.point_contact import PlanarSettings, SpatialSettings
from kneewear.settings.types import FileName, Finite, Modulus, Name, Positive, Settings

Triple = tuple[Finite, Finite, Finite]
Six = tuple[Finite, Finite, Finite, Finite, Finite, Finite]


class BodySettings(Settings):
    """A bone with its bearing surface."""

    frames: Annotated[dict[Name, Triple], Field(min_length=1)]
    surface: FileName
    bone: FileName | None
    placement: Name | None
    start: Six | None


class LayerSettings(Settings):
    """The elastic layers of bodies in contact, taken as one."""

    youngs_modulus_mpa: Modulus
    poisson_ratio: Annotated[float, Field(ge=0, lt=0.5)]
    thickness_mm: Positive | None
    strain: Literal["small", "large"]
    field_spacing_mm: Annotated[float, Field(ge=0.2, le=5)]


class MuscleSettings(Settings):
    """Muscles that pull with a constant force, shared by their maximum isometric force."""

    file: FileName
    force_n: Positive
    origins_mm: dict[Name, Triple]


class ReferenceMotionSettings(Settings):
    """Motion to compare with: of components, or of the joints' coordinates."""

    file: FileName
    convention: Literal["components", "joints"]
    from_s: Finite
    rotation_target_deg: Positive
    translation_target_mm: Positive
    source: str = Field(min_length=1)


class TuningSettings(Settings):
    """Slack lengths that are fitted to one half of the reference, and tested on the other."""

    strain_percent: Annotated[float, Field(gt=0, le=20)]
    evaluations: Annotated[int, Field(ge=1, le=100)]


class FlexionSettings(Settings):
    """Flexion angles of the equilibria, from first to last."""

    first: Finite
    last: Finite
    frames: Annotated[int, Field(ge=2, le=2000)]


class SoftTissueKneeSettings(Settings):
    """A knee with ligaments, patella and quadriceps."""

    unit: Literal["mm", "m"]
    placements: FileName | None
    bodies: dict[str, BodySettings]
    layers: LayerSettings
    ligaments: FileName
    wrap_objects: FileName | None
    unused_wrap_objects: tuple[Name, ...]
    quadriceps: MuscleSettings

    @model_validator(mode="after")
    def _bodies_are_complete(self) -> SoftTissueKneeSettings:
        if set(self.bodies) != {"femur", "tibia", "patella"}:
            found = f"bodies {', '.join(self.bodies)}"
            raise fault(found, "femur, tibia and patella", "Correct the names.")
        for name, body in self.bodies.items():
            if (body.start is None) != (name == "femur"):
                raise fault(
                    f"bodies.{name}.start: {body.start or 'nothing'}",
                    "a start of the tibia and the patella, none of the femur",
                    "Give six numbers, mm and deg, or null.",
                )
            if body.placement is not None and self.placements is None:
                raise fault(
                    f"bodies.{name}.placement: {body.placement} without placements",
                    "a file of placements",
                    "Name it, or set placement to null.",
                )
        return self

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        given = {
            "placements": self.placements,
            "ligaments": self.ligaments,
            "wrap_objects": self.wrap_objects,
            "quadriceps": self.quadriceps.file,
        }
        for name, body in self.bodies.items():
            given |= {f"{name}_surface": body.surface, f"{name}_bone": body.bone}
        return {name: file for name, file in given.items() if file is not None}


class PassiveFlexionSettings(SoftTissueKneeSettings):
    """A knee with ligaments and patella that is flexed slowly; all else is free."""

    model: Literal["passive_flexion"]
    flexion_deg: FlexionSettings
    reference: ReferenceMotionSettings | None
    tuning: TuningSettings | None

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        return super().files | ({"reference": self.reference.file} if self.reference else {})


class GaitSettings(Settings):
    """Measured gait: flexion and load are prescribed, the rest is compared."""

    motion: FileName
    load: FileName
    lever_mm: Positive
    least_load_n: Positive
    stance_percent: Annotated[float, Field(gt=0, le=100)]
    source: str = Field(min_length=1)


class PredictedGaitSettings(SoftTissueKneeSettings):
    """A knee replacement whose position and rotation follow from flexion, load and soft tissue."""

    model: Literal["predicted_gait"]
    gait: GaitSettings

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        return super().files | {"motion": self.gait.motion, "load": self.gait.load}


# Each model has a property `files`.
MultibodyModel = Annotated[
    PassiveFlexionSettings | PredictedGaitSettings | PlanarSettings | SpatialSettings,
    Field(discriminator="model"),
]


class MultibodyStudy(Study):
    """A knee whose motion follows from contact, ligaments, muscles and loads."""

    kind: Literal["multibody"]
    multibody: MultibodyModel
