"""Settings of a knee composed of bodies, contacts, tissues, joints and loads in any number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import inf
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from kneewear.settings.faults import fault, fault_at, suggestion
from kneewear.settings.ranges import Range
from kneewear.settings.soft_tissue_knee import (
    POINT,
    LayerSettings,
    MassSettings,
    Six,
    Triple,
)
from kneewear.settings.types import (
    SOLID_MODULUS,
    SOLID_POISSON_RATIO,
    FileName,
    Finite,
    LengthUnit,
    Name,
    NonNegative,
    Positive,
    Settings,
    quantity,
)

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
Coordinate = Literal["x", "y", "z", "theta_1", "theta_2", "theta_3"]
# A body and one of its coordinates or shapes, such as tibia.theta_1 or femur.condyles.
Part = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$")]
Pair = tuple[Finite, Finite]

_POSE = Range("mm and deg", -1000, -600, 600, 1000, "Bones of the leg are within 600 mm")
_COURSE = Range("1", -1e6, -1e4, 1e4, 1e6, "Angles, times, percent, or forces of ten body weights")
_POINTS = Range("course, and mm, deg or 1", -1e6, -1e4, 1e4, 1e6, "Courses and what follows them")
_DIRECTION = Range("1", -1e6, -1e3, 1e3, 1e6, "Components of a direction of any length")
_INERTIA = Range("kg m2", 1e-7, 1e-6, 0.5, 5, "0.007 to 0.07 of a shank, 2e-5 of a patella")
_JOINT = Range("N/mm", 1, 1e3, 1e6, 1e8, "A gap of 0.1 mm under 1 kN at 1e4 N/mm")
_LOAD = Range("N", -1e5, -5000, 5000, 1e5, "Seven body weights are 5000 N")
_MOMENT = Range("N m", -1e3, -100, 100, 1e3, "Moments about the knee are up to 100 N m")
_RADIUS = Range("mm", -500, -100, 100, 500, "Condyles have 15 to 40 mm; a cup is negative")
_SPRING = Range("N/mm or N m/deg", 0, 0, 100, 1e6, "Restraints of simulators: 9 to 44 N/mm")
_WIDTH = Range("mm or deg", 0, 0, 50, 180, "Gaps of simulators: 2 to 6 mm and deg")
_SECONDS = Range("s", 0, 0, 0.01, 1, "0.003 s of ligaments in OpenSim models")


class CourseSettings(Settings):
    """What the frames of a study run over, such as flexion, time or percent of a cycle."""

    of: str = Field(min_length=1, description='Name with unit, such as "flexion (deg)".')
    first: Finite = quantity("Value at the first frame.", _COURSE)
    last: Finite = quantity("Value at the last frame.", _COURSE)
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
    """A curve over the course: points in place, or columns of a table; linear in between."""

    points: tuple[Pair, ...] | None = quantity(
        "Course and value of each point, in ascending order; null for a table.", _POINTS, None
    )
    file: FileName | None = Field(None, description="Table of the curve; null for points.")
    over: str = Field("", description="Column of the course.")
    column: str = Field("", description="Column of the values.")

    @model_validator(mode="after")
    def check_source(self) -> CurveSettings:
        """Require points that ascend, or a table with its columns."""
        if (self.points is None) == (self.file is None):
            given = "neither" if self.points is None else "both"
            raise fault(f"{given} of points and file", "one of them", "Give points, or a file.")
        if self.file is not None and not (self.over and self.column):
            raise fault(
                f"over: '{self.over}', column: '{self.column}'", "two columns of the file",
                "Name the columns of the course and of the values.",
            )  # fmt: skip
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
    CurveSettings, BeforeValidator(_as_curve, json_schema_input_type=list[Pair] | CurveSettings)
]


class MeshShapeSettings(Settings):
    """A triangle mesh, with normals out of the material."""

    kind: Literal["mesh"] = Field(description="A mesh.")
    file: FileName = Field(description="Its file.")
    placement: Six = quantity(
        "Position, mm, and body-fixed rotations about x, y and z, deg, of the file's axes in the "
        "body's frame.",
        _POSE,
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    )


class SphereShapeSettings(Settings):
    """A sphere, or the cup that it leaves in a body."""

    kind: Literal["sphere"] = Field(description="A sphere.")
    centre_mm: Triple = quantity("Centre in the body's frame.", POINT)
    radius_mm: Finite = quantity("Radius; negative of a cup.", _RADIUS)


class PlaneShapeSettings(Settings):
    """An endless plane."""

    kind: Literal["plane"] = Field(description="A plane.")
    point_mm: Triple = quantity("A point of it in the body's frame.", POINT)
    normal: Triple = quantity("Its normal out of the material; any length.", _DIRECTION)


Shape = Annotated[
    MeshShapeSettings | SphereShapeSettings | PlaneShapeSettings, Field(discriminator="kind")
]


class InertialMassSettings(MassSettings):
    """Mass of a body, its centre, and its inertia in dynamics."""

    inertia_kg_m2: Triple | None = quantity(
        "Moments of inertia about the centre of mass along the body's axes; needed in dynamics.",
        _INERTIA,
        None,
    )


class ComposedBodySettings(Settings):
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
    start: Six | None = quantity(
        "Position, mm, and theta_1 to theta_3, deg, in the ground, where the search starts; null "
        "of the ground.",
        _POSE,
        None,
    )
    held: tuple[Coordinate, ...] = Field((), description="Coordinates that keep their start.")
    driven: dict[Coordinate, Curve] = Field(
        {}, description="Coordinates that follow a curve over the course, mm or deg."
    )
    mass: InertialMassSettings | None = Field(
        None, description="Mass, for weight and dynamics; null without."
    )


class FoundationSettings(Settings):
    """Elastic foundation between two meshes, on the triangles of the first."""

    kind: Literal["foundation"] = Field(description="Elastic foundation between meshes.")
    elements: Part = Field(description="Body and mesh whose triangles carry the layer.")
    indenter: Part = Field(description="Body and mesh that press on them.")
    layer: LayerSettings
    bones: tuple[Part, Part] | None = Field(
        None,
        description="Meshes of the bones under `elements` and `indenter`, where the thickness of "
        "the layer is measured; null where it is given.",
    )

    @model_validator(mode="after")
    def check_thickness(self) -> FoundationSettings:
        """Require one source of the thickness."""
        if (self.bones is None) != (self.layer.thickness_mm is not None):
            given = "neither" if self.bones is None else "both"
            found = f"{given} of bones and layer.thickness_mm"
            raise fault(found, "one of them", "Give the bones, or a thickness.")
        return self


class ElasticSettings(Settings):
    """Elastic material of a surface."""

    youngs_modulus_mpa: Positive = quantity("Young's modulus.", SOLID_MODULUS)
    poisson_ratio: Annotated[float, Field(ge=0.0, lt=0.5)] = quantity(
        "Poisson's ratio.", SOLID_POISSON_RATIO
    )


class PointSettings(Settings):
    """Contact at one point of a sphere with a sphere, a cup or a plane, after Hertz."""

    kind: Literal["point"] = Field(description="Contact at one point.")
    fixed: Part = Field(description="Body and sphere.")
    moving: Part = Field(description="Body and sphere, cup or plane.")
    materials: tuple[ElasticSettings, ElasticSettings] = Field(
        description="Materials of both surfaces, in this order."
    )
    law: Law = Field("hertz", description="Law of the loss in impacts (Machado thesis, Table 5.4).")
    restitution: Annotated[float, Field(gt=0.0, le=1.0)] = quantity(
        "Coefficient of restitution that the law is given; Hertz's has no loss.",
        Range("1", 0, 0.1, 1, 1, "0.62 of cartilage, 0.79 of a replacement (Machado, Table 5.5)"),
        1.0,
    )


PairContact = Annotated[FoundationSettings | PointSettings, Field(discriminator="kind")]


class WrappedTableSettings(Settings):
    """A table of soft tissue, and what its paths wrap on."""

    file: FileName = Field(description="Table of the paths.")
    wrap_objects: FileName | None = Field(
        None, description="Table of cylinders, spheres and ellipsoids; null without."
    )
    straight: tuple[Name, ...] = Field(
        (), description="Names of paths that pass their wrap objects straight."
    )


class LigamentTableSettings(WrappedTableSettings):
    """Ligament bundles: quadratic, then linear over the strain (Blankevoort)."""

    transition_strain: Positive = quantity(
        "Strain at which the tension becomes linear.",
        Range("1", 0.001, 0.01, 0.1, 1, "0.06 (Blankevoort and Huiskes 1991)"),
        0.06,
    )
    damping_time_s: NonNegative = quantity(
        "Tension per rate of the strain over the stiffness.", _SECONDS, 0.0
    )


class MuscleTableSettings(WrappedTableSettings):
    """Muscles with constant forces, or with tensions over their length."""

    activation: NonNegative | None = quantity(
        "Constant tension over the maximum isometric force; null if a table has the tensions.",
        Range("1", 0, 0, 1, 2, "From rest to full activation"),
        None,
    )
    tensions: FileName | None = Field(
        None, description="Table of the tension of each muscle over its length."
    )

    @model_validator(mode="after")
    def check_law(self) -> MuscleTableSettings:
        """Require one law of the tension."""
        if (self.activation is None) == (self.tensions is None):
            given = "neither" if self.activation is None else "both"
            expected = "either an activation or a table of tensions"
            raise fault(f"{given} of activation and tensions", expected, "Give one of them.")
        return self


class SpringSettings(Settings):
    """A spring along a coordinate, slack over a gap."""

    coordinate: Part = Field(description="Body and coordinate, such as tibia.x.")
    stiffness: NonNegative = quantity("Stiffness, N/mm or N m/deg.", _SPRING)
    rest: Finite = quantity("Middle of the range without force.", _POSE, 0.0)
    gap: NonNegative = quantity("Half-width of that range.", _WIDTH, 0.0)


class JointSettings(Settings):
    """A joint of two bodies, closed at the start: stiff springs along what it locks."""

    kind: Literal["hinge", "ball", "planar"] = Field(
        description="Hinge: rotation about its axis is free; ball: all rotations; planar: motion "
        "in the plane across its axis, and rotation about it."
    )
    bodies: tuple[Name, Name] = Field(description="Both bodies.")
    point_mm: Triple = quantity("Its point in the frame of the first body.", POINT)
    axis: Triple = quantity(
        "Its axis in the frame of the first body; any length.", _DIRECTION, (0.0, 0.0, 1.0)
    )
    stiffness_n_per_mm: Positive = quantity("Stiffness of the locked directions.", _JOINT, 1e4)


class BodyLoadSettings(Settings):
    """A force and a moment on a body, scaled over the course."""

    body: Name = Field(description="The body.")
    force_n: Triple = quantity("Force.", _LOAD, (0.0, 0.0, 0.0))
    moment_n_m: Triple = quantity("Moment.", _MOMENT, (0.0, 0.0, 0.0))
    point_mm: Triple = quantity("Point in the body's frame.", POINT, (0.0, 0.0, 0.0))
    axes: Literal["ground", "body"] = Field(
        "ground", description="Axes of force and moment: at rest, or rotating with the body."
    )
    factor: Curve | None = Field(
        None, description="Factor of force and moment over the course; null for one."
    )


class DynamicsSettings(Settings):
    """Forward dynamics in place of equilibria; the course is time in s."""

    settle: bool = Field(
        True, description="Whether the motion starts at an equilibrium, not at the start itself."
    )
    relative_tolerance: Positive = quantity(
        "Largest relative error of a step.", Range("1", 1e-12, 1e-9, 1e-4, 1e-2, "1e-6"), 1e-6
    )
    largest_step_s: Positive = quantity(
        "Longest step; shorter than the shortest contact.",
        Range("s", 1e-6, 1e-5, 0.01, 1, "Impacts of knees take 1 to 10 ms"),
        1e-3,
    )


class ComparedMotionSettings(Settings):
    """A measured motion beside the computed one."""

    file: FileName = Field(description="Table of the motion.")
    over: str = Field(min_length=1, description="Column of the course.")
    columns: dict[Part, str] = Field(
        min_length=1, description="Column of each coordinate that was measured, mm or deg."
    )
    source: str = Field(min_length=1, description="Source of the motion.")


class ComposedKneeSettings(Settings):
    """A knee of bodies, contacts, tissues, joints and loads in any number."""

    model: Literal["composed"] = Field(description="A knee composed by its settings.")
    unit: LengthUnit = Field("mm", description="Unit of meshes.")
    ground: Name = Field(description="The body at rest.")
    bodies: dict[Name, ComposedBodySettings] = Field(
        min_length=2, description="Bodies by name, the ground among them."
    )
    course: CourseSettings
    dynamics: DynamicsSettings | None = Field(
        None, description="Forward dynamics; null for an equilibrium in each frame."
    )
    contacts: dict[Name, PairContact] = Field({}, description="Contacts by name.")
    ligaments: dict[Name, LigamentTableSettings] = Field({}, description="Ligaments by name.")
    muscles: dict[Name, MuscleTableSettings] = Field({}, description="Muscles by name.")
    springs: dict[Name, SpringSettings] = Field({}, description="Springs by name.")
    joints: dict[Name, JointSettings] = Field({}, description="Joints by name.")
    loads: dict[Name, BodyLoadSettings] = Field({}, description="Loads by name.")
    gravity: Triple | None = quantity(
        "Direction of gravity in the ground, any length; null for no weight.", _DIRECTION, None
    )
    tolerance: Positive = quantity(
        "Largest unbalanced force of an equilibrium over the largest force that acts.",
        Range("1", 1e-12, 1e-10, 1e-3, 1e-2, "1e-6"),
        1e-6,
    )
    compare: ComparedMotionSettings | None = Field(
        None, description="Measured motion; null without."
    )
    literature: FileName | None = Field(
        None,
        description="Table of printed numbers: panel, series and place on the course of a curve, "
        "published number with its tolerance, or limits, and source; null without.",
    )

    @model_validator(mode="after")
    def check_bodies(self) -> ComposedKneeSettings:
        """Require a ground, starts of all other bodies, and one way to move a coordinate."""
        self._require_body(self.ground, ("ground",))
        frames = Counter(
            name for body, one in self.bodies.items() for name in {body: (), **one.frames}
        )
        for name, count in frames.items():
            if count > 1:
                raise fault(f"frame {name} twice", "different names of frames", "Rename one.")
        for name, body in self.bodies.items():
            if (body.start is None) != (name == self.ground):
                raise fault_at(
                    ("bodies", name, "start"),
                    f"{body.start or 'nothing'}",
                    "a start of each body that moves, none of the ground",
                    "Give six numbers, mm and deg, or null.",
                )
            if name == self.ground and (body.held or body.driven):
                expected = "no coordinates of the ground"
                raise fault_at(("bodies", name), "held or driven", expected, "Remove them.")
            both = set(body.held) & set(body.driven)
            if both:
                raise fault_at(
                    ("bodies", name, "held"), f"{', '.join(sorted(both))}, also driven",
                    "one of both", "Remove it from held, or from driven.",
                )  # fmt: skip
        return self

    @model_validator(mode="after")
    def check_parts(self) -> ComposedKneeSettings:
        """Require the bodies, shapes and coordinates that contacts, joints and loads name."""
        for name, contact in self.contacts.items():
            for key, kinds, part in _contact_parts(contact):
                shape = self._shape(part, ("contacts", name, key))
                if shape.kind not in kinds:
                    raise fault_at(
                        ("contacts", name, key), f"{part}, a {shape.kind}",
                        f"a {' or '.join(kinds)}", "Name another shape, or change the contact.",
                    )  # fmt: skip
            if isinstance(contact, PointSettings):
                self._check_point(name, contact)
        for name, joint in self.joints.items():
            for body in joint.bodies:
                self._require_body(body, ("joints", name, "bodies"))
            if joint.bodies[0] == joint.bodies[1]:
                raise fault_at(("joints", name, "bodies"), "one body", "two bodies", "Correct it.")
        for name, load in self.loads.items():
            self._require_body(load.body, ("loads", name, "body"))
            if not (any(load.force_n) or any(load.moment_n_m)):
                at = ("loads", name)
                raise fault_at(at, "no force and no moment", "a load", "Give one, or remove it.")
        named: dict[tuple[str, ...], str] = {
            ("springs", name, "coordinate"): one.coordinate for name, one in self.springs.items()
        }
        if self.compare is not None:
            named |= {("compare", "columns", part): part for part in self.compare.columns}
        for where, part in named.items():
            self._require_coordinate(part, where)
        return self

    @model_validator(mode="after")
    def check_names(self) -> ComposedKneeSettings:
        """Require different names of all that acts, and what dynamics need."""
        groups = (
            self.contacts,
            self.ligaments,
            self.muscles,
            self.springs,
            self.joints,
            self.loads,
        )
        for name, count in Counter(name for group in groups for name in group).items():
            if count > 1:
                expected = "different names of contacts, tissues, springs, joints and loads"
                raise fault(f"{name} twice", expected, "Rename one.")
        zeros: dict[tuple[str, ...], Triple | None] = {("gravity",): self.gravity}
        zeros.update((("joints", name, "axis"), one.axis) for name, one in self.joints.items())
        zeros.update(
            (("bodies", name, "shapes", key, "normal"), shape.normal)
            for name, body in self.bodies.items()
            for key, shape in body.shapes.items()
            if isinstance(shape, PlaneShapeSettings)
        )
        for where, direction in zeros.items():
            if direction is not None and not any(direction):
                raise fault_at(where, "0, 0, 0", "a direction", "Give three components.")
        for name, body in self.bodies.items() if self.dynamics else ():
            free = name != self.ground and len(body.held) + len(body.driven) < 6
            if free and (body.mass is None or body.mass.inertia_kg_m2 is None):
                expected = "mass and inertia of each body with free coordinates, for dynamics"
                raise fault_at(("bodies", name, "mass"), f"{body.mass}", expected, "Give both.")
        return self

    def _require_body(self, name: str, at: tuple[str, ...]) -> None:
        if name not in self.bodies:
            remedy = suggestion(name, self.bodies) or "Correct the name."
            raise fault_at(at, name, f"one of {', '.join(self.bodies)}", remedy)

    def _check_point(self, name: str, contact: PointSettings) -> None:
        """Require a ball, and another one, a plane or a larger cup that it touches at a point."""
        radii = [
            getattr(self._shape(getattr(contact, key), ("contacts", name, key)), "radius_mm", inf)
            for key in ("fixed", "moving")
        ]
        if radii[0] <= 0.0 or radii[1] == 0.0 or 1.0 / radii[0] + 1.0 / radii[1] <= 0.0:
            raise fault_at(
                ("contacts", name), f"radii of {radii[0]:g} and {radii[1]:g} mm",
                "a ball of positive radius, and a plane, a ball or a larger cup",
                "Exchange both, or correct the radii.",
            )  # fmt: skip

    def _require_coordinate(self, part: str, at: tuple[str, ...]) -> None:
        body, name = part.split(".")
        self._require_body(body, at)
        known = Coordinate.__args__  # type: ignore[attr-defined]
        if body == self.ground or name not in known:
            expected = f"a coordinate ({', '.join(known)}) of a body that moves"
            raise fault_at(at, part, expected, "Correct the name.")

    def _shape(self, part: str, at: tuple[str, ...]) -> Shape:
        body, name = part.split(".")
        self._require_body(body, at)
        shapes = self.bodies[body].shapes
        if name not in shapes:
            remedy = suggestion(name, shapes) or "Add the shape to its body."
            raise fault_at(at, part, f"one of {', '.join(shapes) or 'no shapes'}", remedy)
        return shapes[name]

    @property
    def moving(self) -> tuple[str, ...]:
        """Names of the bodies that move, in their order."""
        return tuple(name for name in self.bodies if name != self.ground)

    @property
    def table_curves(self) -> dict[str, CurveSettings]:
        """Curves of tables, by the names of their files."""
        given: dict[str, CurveSettings | None] = {
            f"{body}_{coordinate}": curve
            for body, one in self.bodies.items()
            for coordinate, curve in one.driven.items()
        }
        given |= {f"load_{name}": load.factor for name, load in self.loads.items()}
        return {name: one for name, one in given.items() if one is not None and one.file}

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        given: dict[str, str | None] = {name: one.file for name, one in self.table_curves.items()}
        for name, body in self.bodies.items():
            given |= {
                f"{name}.{shape}": one.file
                for shape, one in body.shapes.items()
                if isinstance(one, MeshShapeSettings)
            }
            given |= {f"{name}_bone_{n}": file for n, file in enumerate(body.bones)}
        tables: dict[str, WrappedTableSettings] = {**self.ligaments, **self.muscles}
        for name, table in tables.items():
            given |= {name: table.file, f"{name}_wrap_objects": table.wrap_objects}
        given |= {f"{name}_tensions": one.tensions for name, one in self.muscles.items()}
        given |= {"compare": self.compare.file if self.compare else None}
        given |= {"literature": self.literature}
        return {name: file for name, file in given.items() if file is not None}


def _contact_parts(contact: PairContact) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield key, kinds of shapes that it may be, and the shape of each part of a contact."""
    if isinstance(contact, FoundationSettings):
        for key in ("elements", "indenter"):
            yield key, ("mesh",), getattr(contact, key)
        for bone in contact.bones or ():
            yield "bones", ("mesh",), bone
    else:
        yield "fixed", ("sphere",), contact.fixed
        yield "moving", ("sphere", "plane"), contact.moving
