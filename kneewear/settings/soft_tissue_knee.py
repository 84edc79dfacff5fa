"""Settings of knees with ligaments, patella and quadriceps: what their models share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.settings.faults import fault
from kneewear.settings.ranges import Range
from kneewear.settings.types import (
    FLEXION,
    MODULUS,
    POISSON_RATIO,
    FileName,
    Finite,
    LengthUnit,
    Name,
    Positive,
    Settings,
    quantity,
)

Triple = tuple[Finite, Finite, Finite]
Six = tuple[Finite, Finite, Finite, Finite, Finite, Finite]

POINT = Range("mm", -2000, -600, 600, 2000, "Within the leg")
DIRECTION = Range.unlimited("1", "A direction has any length")
_POSE = Range("mm and deg", -1000, -300, 300, 1000, "Bones of the knee are within 300 mm")
FORCE = Range("N", 0.001, 1, 1e4, 1e5, "Ten body weights are 7500 N")
_MASS = Range("kg", 0.001, 0.01, 20, 300, "A patella has 0.02 kg, a leg below the knee 5 kg")


class FlexionSettings(Settings):
    """Flexion angles of the equilibria, from first to last."""

    first: Finite = quantity("First flexion.", FLEXION)
    last: Finite = quantity("Last flexion.", FLEXION)
    frames: int = quantity(
        "Number of equilibria, equally spaced; with dampers over time.",
        Range("1", 2, 5, 1000, 2000, "Steps of about 1 deg"),
    )

    @model_validator(mode="after")
    def check_order(self) -> FlexionSettings:
        """Refuse a flexion that does not grow, for it starts at the pose of the first one."""
        if self.first >= self.last:
            found = f"first: {self.first:g}, last: {self.last:g}"
            raise fault(found, "first below last", "Exchange or correct them.")
        return self


class BodySettings(Settings):
    """A bone with its bearing surface."""

    frames: Annotated[dict[Name, Triple], Field(min_length=1)] = quantity(
        "Frames of tables that are fixed to the body, by name, and the position of the origin of "
        "each in the body's frame; all are parallel. A placement is in the first of them.",
        POINT,
    )
    surface: FileName = Field(
        description="Mesh of the bearing surface, normals out of the material."
    )
    bone: FileName | None = Field(
        description="Mesh of the bone under a cartilage, to measure its thickness; null if the "
        "thickness is given."
    )
    placement: Name | None = Field(
        description="Name of the 4 x 4 matrix that places the meshes in the body; null if they are "
        "in its frame."
    )
    start: Six | None = quantity(
        "Position, mm, and flexion, adduction and rotation (patella: flexion, rotation and tilt), "
        "deg, from which the search starts; null for the femur, which is fixed.",
        _POSE,
    )
    drawn_bones: tuple[FileName, ...] = Field(
        (), description="Meshes of whole bones that pages draw in place of `bone`."
    )


class LayerSettings(Settings):
    """The elastic layers of bodies in contact, taken as one."""

    youngs_modulus_mpa: Positive = quantity("Young's modulus of both layers.", MODULUS)
    poisson_ratio: Annotated[float, Field(lt=0.5)] = quantity(
        "Poisson's ratio of both layers.", POISSON_RATIO
    )
    thickness_mm: Positive | None = quantity(
        "Thickness of both layers together; null to measure it to the bones.",
        Range("mm", 0.1, 0.5, 30, 60, "Two layers of cartilage have 2 to 10 mm, inserts up to 25"),
    )
    strain: Literal["small", "large"] = Field(description="Linear or logarithmic strain.")
    field_spacing_mm: Positive = quantity(
        "Distance of the nodes of the field of distances.",
        Range("mm", 0.2, 0.3, 2, 5, "Meshes of cartilage have edges of 1 mm"),
    )


class MusclePathSettings(Settings):
    """Paths of muscles that share a force by their maximum isometric forces."""

    file: FileName = Field(description="Table of the muscles' paths.")
    origins_mm: dict[Name, Triple] = quantity(
        "First point in the femur's frame of muscles whose origin is on a body that the model does "
        "not have.",
        POINT,
    )

    @property
    def total_n(self) -> float:
        """Force of all muscles together, N; one where something else scales it."""
        return 1.0


class MuscleSettings(MusclePathSettings):
    """Muscles with a constant force, or with tensions over their length."""

    force_n: Positive | None = quantity(
        "Constant force of all muscles together, shared by their maximum isometric forces; null if "
        "a table has it.",
        FORCE,
        None,
    )
    tensions: FileName | None = Field(
        None, description="Table of the tension of each muscle over its length."
    )

    @model_validator(mode="after")
    def check_force(self) -> MuscleSettings:
        """Require one law of the force."""
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

    file: FileName = Field(description="Table of the muscles' paths.")
    wrap_objects: FileName = Field(
        description="Table of cylinders, spheres and ellipsoids that they wrap on."
    )
    tensions: FileName = Field(description="Table of the tension of each muscle over its length.")


class MassSettings(Settings):
    """Mass of a body, and its centre."""

    mass_kg: Positive = quantity("Mass.", _MASS)
    centre_mm: Triple = quantity("Centre of mass in the frame of the body.", POINT)


class WeightSettings(Settings):
    """Weight of the leg below the knee and of the patella."""

    bodies: dict[Literal["tibia", "patella"], MassSettings] = Field(
        min_length=1, description="Masses by body."
    )
    direction: Triple = quantity("Direction of gravity in the femur's frame.", DIRECTION)

    @model_validator(mode="after")
    def check_direction(self) -> WeightSettings:
        """Refuse a direction of length zero."""
        if not any(self.direction):
            found = "direction: 0, 0, 0"
            raise fault(found, "the direction of gravity in the femur", "Give three components.")
        return self


class SoftTissueKneeSettings(Settings):
    """A knee with ligaments, patella and quadriceps."""

    unit: LengthUnit = Field(description="Unit of meshes and placements.")
    placements: FileName | None = Field(description="Table (JSON) of 4 x 4 matrices; null without.")
    bodies: dict[str, BodySettings] = Field(description="Femur, tibia and patella.")
    layers: LayerSettings
    ligaments: FileName = Field(description="Table of ligament bundles.")
    wrap_objects: FileName | None = Field(
        description="Table of cylinders, spheres and ellipsoids that bundles wrap on; null without."
    )
    unused_wrap_objects: tuple[Name, ...] = Field(
        description="Names of wrap objects that bundles pass straight."
    )
    straight_bundles: tuple[Name, ...] = Field(
        (), description="Names of bundles that pass their wrap objects straight."
    )
    quadriceps: MusclePathSettings
    muscles: OtherMuscleSettings | None = None
    weight: WeightSettings | None = Field(
        None, description="Weight of the leg below the knee and of the patella; null for none."
    )

    @model_validator(mode="after")
    def check_bodies(self) -> SoftTissueKneeSettings:
        """Require three bodies and their starts."""
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
