"""Settings of muscles as strings over the bones of a joint."""

from __future__ import annotations

from itertools import pairwise
from math import dist, hypot
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.base.checks import checks
from kneewear.base.faults import fault, suggestion
from kneewear.base.ranges import Range
from kneewear.base.types import (
    FLEXION,
    FileName,
    Finite,
    LengthUnit,
    Name,
    NonNegative,
    Positive,
    Settings,
    quantity,
)
from kneewear.knees.settings.bodies import DIRECTION, POINT, Triple

_RADIUS = Range("mm", 0.5, 5, 100, 1000, "Condyles have 15 to 40 mm")


class FlexionSettings(Settings):
    """Flexion angles of the frames, from first to last."""

    first: Finite = quantity("First flexion.", FLEXION)
    last: Finite = quantity("Last flexion.", FLEXION)
    frames: int = quantity(
        "Number of frames, equally spaced.",
        Range("1", 2, 5, 1000, 2000, "Steps of about 1 deg"),
    )

    @model_validator(mode="after")
    def check_order(self) -> FlexionSettings:
        """Refuse a flexion that does not grow, for it starts at the pose of the first one."""
        if self.first >= self.last:
            found = f"first: {self.first:g}, last: {self.last:g}"
            raise fault(found, "first below last", "Exchange or correct them.")
        return self


class StringBodySettings(Settings):
    """A body of the joint, and what strings cannot enter of it."""

    meshes: tuple[FileName, ...] = Field(
        (), description="Meshes in the body's frame, normals out of the bone; none without."
    )
    sphere_radius_mm: Positive | None = quantity(
        "Radius of a sphere about the origin of the body, of 686 points and 1368 triangles, in "
        "place of meshes; null without.",
        _RADIUS,
        None,
    )

    @model_validator(mode="after")
    def _one_kind(self) -> StringBodySettings:
        if self.meshes and self.sphere_radius_mm is not None:
            raise fault("meshes and sphere_radius_mm", "one of them", "Remove one.")
        return self


class StringEndSettings(Settings):
    """Attachment of a muscle."""

    body: Name = Field(description="Name of its body.")
    point_mm: Triple = quantity("Place in the body's frame.", POINT)


class StringMuscleSettings(Settings):
    """A muscle between two attachments."""

    origin: StringEndSettings
    insertion: StringEndSettings
    through_mm: Triple | None = quantity(
        "Point in the fixed body's frame on the side of the bones on which the muscle passes at "
        "the first flexion; null for the nearest way.",
        POINT,
        None,
    )


class HingeSettings(Settings):
    """Axis about which the second body turns; both frames are the same at no flexion."""

    point_mm: Triple = quantity("A point of it in the fixed body's frame.", POINT)
    direction: Triple = quantity("Its direction there; flexion is a right-hand turn.", DIRECTION)


class MuscleStringSettings(Settings):
    """Muscles as strings over bones of any shape (Vondrak et al. 2004), on a hinge."""

    model: Literal["muscle_string"] = Field(description="This model: strings over bones.")
    unit: LengthUnit = Field(description="Unit of meshes.")
    bodies: Annotated[dict[Name, StringBodySettings], Field(min_length=2, max_length=2)] = Field(
        description="The fixed body, then the one that turns."
    )
    hinge: HingeSettings
    flexion_deg: FlexionSettings
    muscles: dict[Name, StringMuscleSettings] = Field(min_length=1, description="By name.")
    nodes: Annotated[int, Field(ge=3, le=500)] = quantity(
        "Nodes of a string between its ends.",
        Range("1", 3, 10, 100, 500, "20 (Vondrak et al. 2004, section 4)"),
    )
    margin_mm: NonNegative = quantity(
        "Distance by which open meshes go on beyond their borders as tangent planes.",
        Range("mm", 0, 0, 20, 200, "Zero for closed meshes"),
        0.0,
    )

    @model_validator(mode="after")
    def _bodies_are_known(self) -> MuscleStringSettings:
        for name, muscle in self.muscles.items():
            for end in (muscle.origin, muscle.insertion):
                if end.body not in self.bodies:
                    raise fault(
                        f"muscles.{name}: body {end.body}",
                        f"one of: {', '.join(self.bodies)}",
                        suggestion(end.body, self.bodies) or "Name a body of this study.",
                    )
            self._check_course(name, muscle)
        seen: dict[str, str] = {}
        for name, muscle in self.muscles.items():
            course = muscle.model_dump_json()
            if course in seen:
                raise fault(
                    f"muscles.{name}: as {seen[course]}", "another course", "Remove one of them."
                )
            seen[course] = name
        if not any(self.hinge.direction):
            raise fault("hinge.direction: 0, 0, 0", "a direction", "Give three components.")
        return self

    def _check_course(self, name: str, muscle: StringMuscleSettings) -> None:
        """Refuse a muscle whose ends no joint parts, or are in a bone, or in another unit."""
        if muscle.origin.body == muscle.insertion.body:
            raise fault(
                f"muscles.{name}: both ends on {muscle.origin.body}",
                "ends on both bodies",
                "Name the other body at one end.",
            )
        fixed = next(iter(self.bodies))
        points = [(end.body, end.point_mm) for end in (muscle.origin, muscle.insertion)]
        if muscle.through_mm is not None:
            points.insert(1, (fixed, muscle.through_mm))
        for body, point in points:
            radius = self.bodies[body].sphere_radius_mm
            if radius is not None and hypot(*point) < radius:
                raise fault(
                    f"muscles.{name}: a point {hypot(*point):.3g} mm from the origin of {body}",
                    f"points outside its sphere of {radius:g} mm",
                    "Move the point, or give it in mm.",
                )
        length = sum(dist(a, b) for (_, a), (_, b) in pairwise(points))
        span = checks()["muscles.length"].range
        if span.severity(length) == "refuse":
            raise fault(
                f"muscles.{name}: a length of {length:.3g} mm", span.possible, "Give points in mm."
            )

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        return {
            f"{name}_{number}": file
            for name, body in self.bodies.items()
            for number, file in enumerate(body.meshes)
        }


SETTINGS = MuscleStringSettings
