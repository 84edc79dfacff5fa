"""Settings of knees with point contacts, which are models of multibody studies."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from kneewear.settings.faults import fault, suggestion
from kneewear.settings.types import Ascending, Finite, Name, NonNegative, Positive, Settings

Plane = tuple[Finite, Finite]
Space = tuple[Finite, Finite, Finite]
Law = Literal[
    "hertz",
    "hunt_crossley",
    "herbert_mcwhannell",
    "lee_wang",
    "lankarani_nikravesh",
    "gonthier",
    "zhiying_qishao",
    "flores",
]
Spline = Literal["cubic", "akima", "shape_preserving"]
PoissonRatio = Annotated[float, Field(ge=0.0, lt=0.5)]


class ElasticSettings(Settings):
    """Elastic material of a surface."""

    youngs_modulus_mpa: Positive
    poisson_ratio: PoissonRatio


class PointContactSettings(Settings):
    """Materials of both surfaces of a point contact, of a first layer over them, and their loss."""

    femur: ElasticSettings
    tibia: ElasticSettings
    restitution: Annotated[float, Field(gt=0.0, le=1.0)]
    layer: ElasticSettings | None = None
    layer_thickness_mm: Positive | None = None

    @model_validator(mode="after")
    def _layer_has_a_thickness(self) -> PointContactSettings:
        if (self.layer is None) != (self.layer_thickness_mm is None):
            raise fault(
                f"layer: {self.layer} and layer_thickness_mm: {self.layer_thickness_mm}",
                "both or neither",
                "Give both, or leave both out.",
            )
        return self


class PlanarLigamentSettings(Settings):
    """A ligament between two points in the sagittal plane."""

    femur_mm: Plane
    tibia_mm: Plane
    slack_length_mm: Positive
    stiffness_n_per_mm2: Positive


class SpatialLigamentSettings(Settings):
    """A ligament between two points."""

    femur_mm: Space
    tibia_mm: Space
    stretch_at_extension: Positive
    stiffness_n_per_mm2: Positive


class ProfileSettings(Settings):
    """Points of a profile in polar coordinates of its body."""

    angle_deg: Annotated[tuple[Finite, ...], Field(min_length=4), Ascending]
    radius_mm: tuple[Positive, ...]

    @model_validator(mode="after")
    def _one_radius_per_angle(self) -> ProfileSettings:
        if len(self.angle_deg) != len(self.radius_mm):
            raise fault(
                f"{len(self.radius_mm)} radii and {len(self.angle_deg)} angles",
                "one radius per angle",
                "Complete the lists.",
            )
        return self


class PlanarBodySettings(Settings):
    """The tibia in the sagittal plane: start, mass and inertia about its centre of mass."""

    x_mm: Finite
    y_mm: Finite
    angle_rad: Finite
    mass_kg: Positive
    inertia_kg_m2: Positive


class SpatialBodySettings(Settings):
    """The tibia: start, mass and inertia about the axes of its centre of mass."""

    position_mm: Space
    mass_kg: Positive
    inertia_kg_m2: tuple[Positive, Positive, Positive]


class PulseSettings(Settings):
    """Force along the tibia that decays."""

    amplitude_n: Positive
    strong_amplitude_n: Positive
    duration_s: Positive


class PlanarSettings(Settings):
    """Knee in the sagittal plane with one point contact (Machado thesis, chapter 5)."""

    model: Literal["planar"]
    duration_s: Positive
    output_step_s: Positive
    gravity_mm_per_s2: NonNegative
    pulse: PulseSettings
    tibia: PlanarBodySettings
    ligaments: dict[Name, PlanarLigamentSettings] = Field(min_length=1)
    femoral_profile: ProfileSettings
    tibial_profile: ProfileSettings
    contact_radius_mm: Positive
    knees: dict[Name, PointContactSettings] = Field(min_length=1)
    reference_knee: Name
    laws: Annotated[tuple[Law, ...], Field(min_length=1)]
    splines: Annotated[tuple[Spline, ...], Field(min_length=1)]
    files: ClassVar[dict[str, str]] = {}

    @model_validator(mode="after")
    def _reference_is_a_knee(self) -> PlanarSettings:
        if self.reference_knee not in self.knees:
            raise fault(
                f"reference_knee: {self.reference_knee}",
                f"one of: {', '.join(self.knees)}",
                suggestion(self.reference_knee, self.knees) or "Name a knee of this study.",
            )
        if self.knees[self.reference_knee].layer is not None:
            # It is solved with laws of energy loss too.
            raise fault(
                f"reference_knee: {self.reference_knee}, which has a layer",
                "a knee without one, because the loss of a double layer is undefined",
                "Name another knee.",
            )
        return self


class SphereOnPlaneSettings(Settings):
    """A condyle as a sphere of the femur, on a plane of the tibia."""

    centre_mm: Space
    radius_mm: Positive
    plane_mm: Space
    plane_normal: Space


class SpatialSettings(Settings):
    """Knee with two spheres on planes (Machado thesis, chapter 6)."""

    model: Literal["spatial"]
    duration_s: Positive
    output_step_s: Positive
    gravity_mm_per_s2: NonNegative
    last_flexion_deg: Positive
    tibia: SpatialBodySettings
    ligaments: dict[Name, SpatialLigamentSettings] = Field(min_length=1)
    condyles: dict[Literal["medial", "lateral"], SphereOnPlaneSettings] = Field(min_length=2)
    contact: PointContactSettings
    law: Law
    files: ClassVar[dict[str, str]] = {}

    @model_validator(mode="after")
    def _layers_have_no_loss(self) -> SpatialSettings:
        if self.contact.layer is not None and self.law != "hertz":
            raise fault(
                f"law: {self.law} with a layer",
                "hertz, because the loss of a double layer is undefined",
                "Set the law to hertz, or the layer and its thickness to null.",
            )
        return self
