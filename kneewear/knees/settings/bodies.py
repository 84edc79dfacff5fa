"""Settings of bodies of a knee: shapes, layers, masses, coordinates and curves over a course."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from kneewear.base.faults import fault, fault_at, refuse_repeated
from kneewear.base.ranges import Range
from kneewear.base.types import (
    MODULUS,
    POISSON_RATIO,
    FileName,
    Finite,
    Name,
    Positive,
    Settings,
    check_inertia,
    quantity,
)

Triple = tuple[Finite, Finite, Finite]
Six = tuple[Finite, Finite, Finite, Finite, Finite, Finite]
Coordinate = Literal["x", "y", "z", "theta_1", "theta_2", "theta_3"]
# A body and one of its coordinates or shapes, such as tibia.theta_1 or femur.condyles.
Part = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$")]
Pair = tuple[Finite, Finite]
Label = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9 _-]*$", max_length=40)]

POINT = Range("mm", -2000, -600, 600, 2000, "Within the leg")
DIRECTION = Range("1", -1e6, -1e3, 1e3, 1e6, "Components of a direction of any length")
POSE = Range("mm and deg", -1000, -600, 600, 1000, "Bones of the leg are within 600 mm")
COURSE = Range("1", -1e6, -1e4, 1e4, 1e6, "Angles, times, percent, or forces of ten body weights")
_POINTS = Range("course, and mm, deg or 1", -1e6, -1e4, 1e4, 1e6, "Courses and what follows them")
_DAMPER = Range("N s/m and N m s/rad", 0, 0, 1e4, 1e7, "Joints of OpenSim models have 1 to 1000")
_INERTIA = Range("kg m2", 1e-7, 1e-6, 0.5, 5, "0.007 to 0.07 of a shank, 2e-5 of a patella")
_MASS = Range("kg", 0.001, 0.01, 20, 300, "A patella has 0.02 kg, a leg below the knee 5 kg")
_RADIUS = Range("mm", -500, -100, 100, 500, "Condyles have 15 to 40 mm; a cup is negative")


class CourseSettings(Settings):
    """Abscissa of the frames of a study, such as flexion, time or percent of a cycle."""

    of: str = Field(min_length=1, description='Name with unit, such as "flexion (deg)".')
    over: Part | None = Field(
        None,
        description="Coordinate over which curves are shown and compared, such as tibia.theta_1 or "
        "components.flexion; null for the course.",
    )
    is_cycle: bool = Field(
        False,
        description="Whether the course is the percent of a cycle, so that the motion of "
        "components is a table for activities.",
    )
    first: Finite = quantity("Value at the first frame.", COURSE)
    last: Finite = quantity("Value at the last frame.", COURSE)
    frames: int = quantity(
        "Number of frames, equally spaced.", Range("1", 2, 5, 1000, 10000, "Small steps converge")
    )

    @model_validator(mode="after")
    def check_order(self) -> CourseSettings:
        """Refuse a course that does not grow."""
        if self.first >= self.last:
            found = f"first: {self.first:g}, last: {self.last:g}"
            raise fault(found, "first below last", "Exchange or correct them.")
        return self


class CurveSettings(Settings):
    """A curve over the course: points in place, or columns of a table."""

    points: tuple[Pair, ...] | None = quantity(
        "Course and value of each point, in ascending order; null for a table.", _POINTS, None
    )
    file: FileName | None = Field(None, description="Table of the curve; null for points.")
    over: str = Field("", description="Column of the course.")
    column: str = Field("", description="Column of the values.")
    between: Literal["linear", "monotone"] = Field(
        "linear",
        description="Linear between points, or a monotone cubic (Fritsch and Butland 1984).",
    )

    @model_validator(mode="after")
    def check_source(self) -> CurveSettings:
        """Require points that ascend, or a table with its columns."""
        if (self.points is None) == (self.file is None):
            given = "neither" if self.points is None else "both"
            raise fault(f"{given} of points and file", "one of them", "Give points, or a file.")
        if self.file is not None and not (self.over and self.column):
            raise fault(
                f"over: '{self.over}', column: '{self.column}'",
                "two columns of the file",
                "Name the columns of the course and of the values.",
            )
        refuse_repeated({"over": self.over, "column": self.column})
        if self.points is not None and len(self.points) < 2:
            found = f"{len(self.points)} points"
            raise fault_at(("points",), found, "two or more", "Add points.")
        for (before, _), (after, _) in pairwise(self.points or ()):
            if after <= before:
                found = f"{after:g} after {before:g}"
                raise fault_at(("points",), found, "ascending places on the course", "Sort them.")
        return self


def _as_curve(value: Any) -> Any:
    """Points alone are a curve."""
    return {"points": value} if isinstance(value, list | tuple) else value


Curve = Annotated[
    CurveSettings,
    BeforeValidator(_as_curve, json_schema_input_type=tuple[Pair, ...] | CurveSettings),
]


class MatrixSettings(Settings):
    """A placement by a matrix of a file."""

    file: FileName = Field(description="Table (JSON) of 4 x 4 matrices, in the unit of meshes.")
    name: Name = Field(description="Name of the matrix.")
    frame: Name = Field(description="Frame of the body in which it places the file's axes.")


class MeshShapeSettings(Settings):
    """A triangle mesh, with normals out of the material."""

    kind: Literal["mesh"] = Field(description="A mesh.")
    file: FileName = Field(description="Its file.")
    matrix: MatrixSettings | None = Field(
        None, description="Matrix of a file in place of `placement`; null without."
    )
    placement: Six = quantity(
        "Position, mm, and body-fixed rotations about x, y and z, deg, of the file's axes in the "
        "body's frame.",
        POSE,
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    )

    @model_validator(mode="after")
    def check_placement(self) -> MeshShapeSettings:
        """Require one placement."""
        if self.matrix is not None and any(self.placement):
            raise fault("matrix and placement", "one of them", "Remove one.")
        return self


class SphereShapeSettings(Settings):
    """A sphere, or the cup that it leaves in a body."""

    kind: Literal["sphere"] = Field(description="A sphere.")
    centre_mm: Triple = quantity("Centre in the body's frame.", POINT)
    radius_mm: Finite = quantity("Radius; negative of a cup.", _RADIUS)


class PlaneShapeSettings(Settings):
    """An endless plane."""

    kind: Literal["plane"] = Field(description="A plane.")
    point_mm: Triple = quantity("A point of it in the body's frame.", POINT)
    normal: Triple = quantity("Its normal out of the material; any length.", DIRECTION)


Shape = Annotated[
    MeshShapeSettings | SphereShapeSettings | PlaneShapeSettings, Field(discriminator="kind")
]


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


class MassSettings(Settings):
    """Mass of a body, its centre, and its inertia in dynamics."""

    mass_kg: Positive = quantity("Mass.", _MASS)
    centre_mm: Triple = quantity("Centre of mass in the frame of the body.", POINT)
    inertia_kg_m2: (
        Annotated[tuple[Positive, Positive, Positive], AfterValidator(check_inertia)] | None
    ) = quantity(
        "Moments of inertia about the centre of mass along the body's axes; needed in dynamics.",
        _INERTIA,
        None,
    )


class BodySettings(Settings):
    """A rigid body: frames of tables, shapes, and its coordinates in the ground."""

    frames: dict[Name, Triple] = quantity(
        "Further frames of tables that are fixed to the body, by name: position of the origin of "
        "each in the body's frame; all are parallel. The body's own frame has its name, unless "
        "one here has it.",
        POINT,
        {},
    )
    shapes: dict[Name, Shape] = Field({}, description="Shapes by name, for contacts and figures.")
    bones: tuple[FileName, ...] = Field((), description="Meshes that pages draw as bones.")
    turns: Literal["flexion_first", "body_three"] = Field(
        "flexion_first",
        description="What theta_1 to theta_3 are: flexion (about -z), adduction (x) and rotation "
        "(y), in this order, or body-fixed rotations about x, y and z.",
    )
    names: tuple[Label, Label, Label, Label, Label, Label] | None = Field(
        None, description="Names of x to theta_3 in tables and figures; null for the usual ones."
    )
    start: Six | None = quantity(
        "Position, mm, and theta_1 to theta_3, deg, in the ground, where the search starts; null "
        "of the ground.",
        POSE,
        None,
    )
    held: tuple[Coordinate, ...] = Field((), description="Coordinates that keep their start.")
    driven: dict[Coordinate, Curve] = Field(
        {}, description="Coordinates that follow a curve over the course, mm or deg."
    )
    dampers: Six | None = quantity(
        "Dampers of x to z, N s/m, and of theta_1 to theta_3, N m s/rad, over a course in s, which "
        "equilibria balance at the rates from frame to frame; null for none.",
        _DAMPER,
        None,
    )
    mass: MassSettings | None = Field(
        None, description="Mass, for weight and dynamics; null without."
    )

    @model_validator(mode="after")
    def check_names(self) -> BodySettings:
        """Require different names of coordinates."""
        if self.names is not None and len(set(self.names)) < len(self.names):
            found = ", ".join(self.names)
            raise fault_at(("names",), found, "six different names", "Rename one.")
        return self

    @property
    def meshes(self) -> dict[str, MeshShapeSettings]:
        """Meshes among the shapes."""
        return {
            name: one for name, one in self.shapes.items() if isinstance(one, MeshShapeSettings)
        }
