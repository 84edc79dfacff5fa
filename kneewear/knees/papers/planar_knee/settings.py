"""Settings of the planar knee."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from kneewear.base.faults import fault, suggestion
from kneewear.base.ranges import Range
from kneewear.base.types import (
    FLEXION,
    Ascending,
    FileName,
    Finite,
    LengthUnit,
    Name,
    NonNegative,
    Positive,
    Settings,
    quantity,
)
from kneewear.knees.papers.point_contact.ranges import (
    CONDYLE_RADIUS,
    FALL,
    GRAVITY,
    INERTIA,
    OUTPUT_STEP,
    SHANK_MASS,
    SLACK_LENGTH,
    SQUARE_STIFFNESS,
)
from kneewear.knees.papers.point_contact.settings import PointContactSettings
from kneewear.knees.settings import aims
from kneewear.knees.settings.bodies import POINT
from kneewear.knees.settings.composed_knee import Law

Array = NDArray[np.float64]

_PULSE = Range("N", 0.1, 5, 1000, 1e4, "50 and 150 N (Machado, chapter 5)")
RADIUS = Range("mm", 0.5, 3, 500, 1000, "10 to 52 mm of the femur, 209 mm of the tibia")
_ANGLE = Range("deg", -720, -360, 360, 720, "A turn")
Plane = tuple[Finite, Finite]
PROFILES = ("femoral_profile", "tibial_profile")
Spline = Literal["cubic", "akima", "shape_preserving"]


class PlanarLigamentSettings(Settings):
    """A ligament between two points in the sagittal plane."""

    femur_mm: Plane = quantity("Attachment in the femur's frame.", POINT)
    tibia_mm: Plane = quantity("Attachment in the tibia's frame.", POINT)
    slack_length_mm: Positive = quantity("Length up to which it is slack.", SLACK_LENGTH)
    stiffness_n_per_mm2: Positive = quantity(
        "Factor of the square of its stretch.", SQUARE_STIFFNESS
    )


class OutlineSettings(Settings):
    """Sagittal section of a mesh with the axes x anterior, y superior."""

    mesh: FileName = Field(description="Mesh of the surface.")
    unit: LengthUnit = Field(description="Unit of the mesh.")
    z_mm: Finite = quantity("Position of the section across the mesh, along its z.", POINT)
    origin_mm: Plane = quantity("Origin of the body in x and y of the mesh.", POINT)
    rotation_deg: Finite = quantity(
        "Turn from the mesh's axes to the body's, anticlockwise.",
        Range("deg", -360, -180, 180, 360, "-90: first axis of the body proximal"),
        0.0,
    )
    angle_deg: Annotated[Plane, Ascending] = quantity("Polar angles of its ends.", _ANGLE)
    points: int = quantity(
        "Number of points at equal steps of the angle.",
        Range("1", 4, 10, 60, 500, "28 and 18 (Machado, section 5.1.1)"),
    )
    smoothing_mm: NonNegative = quantity(
        "Root mean square distance from the section of a smoothing spline, on which the points "
        "are; zero for points of the section.",
        Range("mm", 0, 0, 0.5, 5, "Voxels of MRI leave waves of 0.1 mm"),
        0.0,
    )


class ProfileSettings(Settings):
    """Points of a profile in polar coordinates of its body, given or cut from a mesh."""

    angle_deg: Annotated[tuple[Finite, ...], Field(min_length=4), Ascending] | None = quantity(
        "Polar angles of its points about the origin of the body, ascending; null with `outline`.",
        _ANGLE,
        None,
    )
    radius_mm: tuple[Positive, ...] | None = quantity(
        "Distances of its points from that origin; null with `outline`.",
        RADIUS,
        None,
    )
    outline: OutlineSettings | None = Field(
        None, description="Section of a mesh in place of given points; null for these."
    )

    @model_validator(mode="after")
    def _points_or_outline(self) -> ProfileSettings:
        given = [
            name
            for name in ("angle_deg", "radius_mm", "outline")
            if getattr(self, name) is not None
        ]
        if given not in (["outline"], ["angle_deg", "radius_mm"]):
            raise fault(
                " and ".join(given) or "no points",
                "angle_deg and radius_mm, or outline",
                "Set the others to null.",
            )
        if len(self.angle_deg or ()) != len(self.radius_mm or ()):
            raise fault(
                f"{len(self.radius_mm or ())} radii and {len(self.angle_deg or ())} angles",
                "one radius per angle",
                "Complete the lists.",
            )
        return self

    @property
    def points(self) -> tuple[Array, Array]:
        """Angles, rad, and radii, mm, of its points; an outline has none until it is read."""
        if self.angle_deg is None or self.radius_mm is None:
            raise ValueError("an outline without points: expected a profile that was read")
        return np.radians(self.angle_deg), np.array(self.radius_mm)


class SpherePairSettings(Settings):
    """A sphere of the femur, and a sphere or a cup of the tibia, in place of their profiles."""

    femur_mm: Plane = quantity("Centre in the femur's frame.", POINT)
    femur_radius_mm: Positive = quantity("Radius of the femoral sphere.", CONDYLE_RADIUS)
    tibia_mm: Plane = quantity("Centre in the tibia's frame.", POINT)
    tibia_radius_mm: Finite = quantity(
        "Radius of the tibial sphere; negative for a cup, which is larger than the sphere.",
        Range("mm", -1000, -300, 300, 1000, "36 and -75 mm (Machado, Table 5.3)"),
    )

    @model_validator(mode="after")
    def _touch_in_one_point(self) -> SpherePairSettings:
        if -self.femur_radius_mm <= self.tibia_radius_mm <= 0.0:
            raise fault(
                f"tibia_radius_mm: {self.tibia_radius_mm:g} around a sphere of "
                f"{self.femur_radius_mm:g} mm",
                "a positive radius, or a cup larger than the sphere",
                "Correct the sign or the size.",
            )
        return self


class PlanarBodySettings(Settings):
    """The tibia in the sagittal plane: start, mass and inertia about its centre of mass."""

    x_mm: Finite = quantity("Start of the centre of mass.", POINT)
    y_mm: Finite = quantity("Start of the centre of mass.", POINT)
    angle_rad: Finite = quantity(
        "Start of the angle of its long axis; flexion is a quarter turn minus this angle.",
        Range("rad", -3.2, -1.6, 1.9, 3.2, "Flexion of -20 to 180 deg"),
    )
    mass_kg: Positive = quantity("Mass.", SHANK_MASS)
    inertia_kg_m2: Positive = quantity("Moment of inertia about the centre of mass.", INERTIA)


class PulseSettings(Settings):
    """Force along the tibia that decays."""

    amplitude_n: Positive = quantity("Amplitude of the usual runs.", _PULSE)
    strong_amplitude_n: Positive = quantity("Amplitude they are compared with.", _PULSE)
    duration_s: Positive = quantity("Time of the first change of sign.", FALL)


class PlanarSettings(Settings):
    """Knee in the sagittal plane with one point contact (Machado thesis, chapter 5)."""

    model: Literal["planar"] = Field(description="This model: the sagittal plane.")
    duration_s: Positive = quantity("Duration of the motion.", FALL)
    output_step_s: Positive = quantity("Time between two rows of the results.", OUTPUT_STEP)
    last_flexion_deg: Finite = quantity("Flexion at which the results end.", FLEXION)
    gravity_mm_per_s2: NonNegative = quantity(
        "Acceleration towards distal (minus y); zero without.", GRAVITY
    )
    pulse: PulseSettings = Field(description="Force along the tibia at its centre of mass.")
    tibia: PlanarBodySettings = Field(description="The body that moves.")
    ligaments: dict[Name, PlanarLigamentSettings] = Field(
        min_length=1, description="Ligaments by name."
    )
    femoral_profile: ProfileSettings = Field(description="Outline of the femur.")
    tibial_profile: ProfileSettings = Field(description="Outline of the tibia.")
    contact_radius_mm: Positive = quantity(
        "Radius of the sphere on a plane whose stiffness the contact has.", CONDYLE_RADIUS
    )
    sphere_pairs: dict[Name, SpherePairSettings] = Field(
        description="Shapes that are compared with the profiles, by name."
    )
    knees: dict[Name, PointContactSettings] = Field(
        min_length=1, description="Materials of knees that are compared, by name."
    )
    reference_knee: Name = Field(description="The one of all other comparisons.")
    laws: Annotated[tuple[Law, ...], Field(min_length=1)] = Field(
        description="Contact laws that are compared."
    )
    splines: Annotated[tuple[Spline, ...], Field(min_length=1)] = Field(
        description="Types of spline of the profiles that are compared; the first is the usual one."
    )
    aims: tuple[str, ...] = Field((), description=aims.DESCRIPTION)

    @property
    def files(self) -> dict[str, str]:
        """Meshes of outlines by profile, as the settings give them."""
        profiles = {name: getattr(self, name) for name in PROFILES}
        return {name: one.outline.mesh for name, one in profiles.items() if one.outline is not None}

    @model_validator(mode="after")
    def _aims_are_printed(self) -> PlanarSettings:
        aims.require_aims(self.aims, __package__)
        return self

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


SETTINGS = PlanarSettings
