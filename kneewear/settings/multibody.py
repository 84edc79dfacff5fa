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
from kneewear.settings.types import (
    Ascending,
    FileName,
    Finite,
    Modulus,
    Name,
    Positive,
    Removable,
    Settings,
)

Triple = tuple[Finite, Finite, Finite]
Six = tuple[Finite, Finite, Finite, Finite, Finite, Finite]


class BodySettings(Settings):
    """A bone with its bearing surface.

    `drawn_bones` are the files of whole bones that pages draw, in place of `bone`.
    """

    frames: Annotated[dict[Name, Triple], Field(min_length=1)]
    surface: FileName
    bone: FileName | None
    placement: Name | None
    start: Six | None
    drawn_bones: tuple[FileName, ...] = ()


class LayerSettings(Settings):
    """The elastic layers of bodies in contact, taken as one."""

    youngs_modulus_mpa: Modulus
    poisson_ratio: Annotated[float, Field(ge=0, lt=0.5)]
    thickness_mm: Positive | None
    strain: Literal["small", "large"]
    field_spacing_mm: Annotated[float, Field(ge=0.2, le=5)]


class MusclePathSettings(Settings):
    """Paths of muscles that share a force by their maximum isometric forces."""

    file: FileName
    origins_mm: dict[Name, Triple]

    @property
    def total_n(self) -> float:
        """Force of all muscles together, N; one where something else scales it."""
        return 1.0


class MuscleSettings(MusclePathSettings):
    """Muscles that pull with a constant force, or with tensions over their length."""

    force_n: Positive | None = None
    tensions: FileName | None = None

    @model_validator(mode="after")
    def _one_law(self) -> MuscleSettings:
        if (self.force_n is None) == (self.tensions is None):
            given = "neither" if self.force_n is None else "both"
            expected = "either a force_n or a table of tensions"
            raise fault(f"{given} of force_n and tensions", expected, "Give one of them.")
        return self

    @property
    def total_n(self) -> float:
        """Force of all muscles together, N; one where a table of tensions has it."""
        return 1.0 if self.force_n is None else self.force_n


class OtherMuscleSettings(Settings):
    """Muscles beside the quadriceps, with tensions over their length."""

    file: FileName
    wrap_objects: FileName
    tensions: FileName


class MassSettings(Settings):
    """Mass of a body, and where its centre is."""

    mass_kg: Positive
    centre_mm: Triple


class WeightSettings(Settings):
    """Weight of the leg below the knee and of the patella; `direction` is that of gravity."""

    bodies: dict[Literal["tibia", "patella"], MassSettings] = Field(min_length=1)
    direction: Triple

    @model_validator(mode="after")
    def _direction_is_one(self) -> WeightSettings:
        if not any(self.direction):
            found = "direction: 0, 0, 0"
            raise fault(found, "the direction of gravity in the femur", "Give three components.")
        return self


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


class DamperSettings(Settings):
    """Dampers of the joints' coordinates, N s/m and N m s/rad, and the duration of the flexion."""

    rest_s: Positive
    duration_s: Positive
    tibia: Six
    patella: Six

    @model_validator(mode="after")
    def _resist(self) -> DamperSettings:
        if min(*self.tibia, *self.patella) < 0.0:
            found = f"a damper of {min(*self.tibia, *self.patella):g}"
            raise fault(found, "zero or more", "Correct the sign.")
        return self


class SoftTissueKneeSettings(Settings):
    """A knee with ligaments, patella and quadriceps."""

    unit: Literal["mm", "m"]
    placements: FileName | None
    bodies: dict[str, BodySettings]
    layers: LayerSettings
    ligaments: FileName
    wrap_objects: FileName | None
    unused_wrap_objects: tuple[Name, ...]
    straight_bundles: tuple[Name, ...] = ()
    quadriceps: MusclePathSettings
    muscles: OtherMuscleSettings | None = None
    weight: WeightSettings | None = None

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
            "quadriceps_tensions": getattr(self.quadriceps, "tensions", None),
        }
        if self.muscles is not None:
            given |= {
                "muscles": self.muscles.file,
                "muscle_wrap_objects": self.muscles.wrap_objects,
                "muscle_tensions": self.muscles.tensions,
            }
        for name, body in self.bodies.items():
            given |= {f"{name}_surface": body.surface, f"{name}_bone": body.bone}
            given |= {f"{name}_drawn_{n}": file for n, file in enumerate(body.drawn_bones)}
        return {name: file for name, file in given.items() if file is not None}


class PassiveFlexionSettings(SoftTissueKneeSettings):
    """A knee with ligaments and patella that is flexed slowly; all else is free."""

    model: Literal["passive_flexion"]
    quadriceps: MuscleSettings
    flexion_deg: FlexionSettings
    dampers: DamperSettings | None = None
    reference: ReferenceMotionSettings | None
    source_model: ReferenceMotionSettings | None = None
    tuning: TuningSettings | None

    @model_validator(mode="after")
    def _motions_are_alike(self) -> PassiveFlexionSettings:
        if self.source_model is not None:
            beside = self.reference.convention if self.reference else "no reference"
            if beside != self.source_model.convention:
                found = f"source_model.convention {self.source_model.convention} beside {beside}"
                raise fault(found, "a reference of the same convention", "Correct it.")
        return self

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

    motion: FileName
    load: FileName
    lever_mm: Positive
    least_load_n: Positive
    stance_percent: Annotated[float, Field(gt=0, le=100)]
    source: str = Field(min_length=1)


class PredictedGaitSettings(SoftTissueKneeSettings):
    """A knee replacement whose position and rotation follow from flexion, load and soft tissue."""

    model: Literal["predicted_gait"]
    quadriceps: MuscleSettings
    gait: GaitSettings

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        return super().files | {"motion": self.gait.motion, "load": self.gait.load}


class InertiaSettings(MassSettings):
    """Mass of a body, and its inertia about the axes of the body at its centre of mass."""

    inertia_kg_m2: tuple[Positive, Positive, Positive]


class ForcingSettings(Settings):
    """Quadriceps forces over the flexion of the knee, linear between the angles, by case."""

    flexion_deg: Annotated[tuple[Finite, ...], Field(min_length=2), Ascending]
    force_n: Annotated[dict[Name, tuple[Positive, ...]], Removable, Field(min_length=1)]

    @model_validator(mode="after")
    def _one_force_per_angle(self) -> ForcingSettings:
        for name, forces in self.force_n.items():
            if len(forces) != len(self.flexion_deg):
                raise fault(
                    f"force_n.{name}: {len(forces)} forces and {len(self.flexion_deg)} angles",
                    "one force per angle",
                    "Complete the lists.",
                )
        return self


class PatellarLigamentSettings(Settings):
    """One linear spring in place of bundles; its slack length gives a force ratio at the start."""

    bundles: Annotated[tuple[Name, ...], Field(min_length=1)]
    stiffness_n_per_mm: Positive
    force_ratio: Annotated[float, Field(gt=0, le=3)]


class ExtensionSettings(Settings):
    """Dynamic extension: bundles, patellar ligament, forces of the quadriceps and inertia."""

    bundles: Annotated[dict[Name, tuple[Name, ...]], Removable, Field(min_length=1)]
    patellar_ligament: PatellarLigamentSettings
    forcing: ForcingSettings
    inertia: dict[Literal["tibia", "patella"], InertiaSettings] = Field(min_length=2)
    gravity_mm_per_s2: Triple
    last_flexion_deg: Finite
    longest_s: Positive
    output_step_s: Positive


class KneeExtensionSettings(SoftTissueKneeSettings):
    """Extension of a knee with patella by the quadriceps (Caruntu and Hefzy 2004)."""

    model: Literal["knee_extension"]
    extension: ExtensionSettings

    @model_validator(mode="after")
    def _extends(self) -> KneeExtensionSettings:
        if self.weight is not None:
            raise fault(
                f"weight of {', '.join(self.weight.bodies)}",
                "null, because extension.inertia has the mass of the leg",
                "Remove it.",
            )
        start = self.bodies["tibia"].start
        last = self.extension.last_flexion_deg
        if start is not None and not start[3] > last:
            raise fault(
                f"bodies.tibia.start: a flexion of {start[3]:g} deg",
                f"one above extension.last_flexion_deg, {last:g} deg",
                "Start in flexion.",
            )
        return self


# Each model has a property `files`.
MultibodyModel = Annotated[
    PassiveFlexionSettings
    | PredictedGaitSettings
    | KneeExtensionSettings
    | PlanarSettings
    | SpatialSettings,
    Field(discriminator="model"),
]


class MultibodyStudy(Study):
    """A knee whose motion follows from contact, ligaments, muscles and loads."""

    kind: Literal["multibody"]
    multibody: MultibodyModel
