"""Settings of a knee composed of bodies, contacts, tissues, joints and loads in any number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import inf, isnan
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from kneewear.base.faults import fault, fault_at, suggestion
from kneewear.base.ranges import Range
from kneewear.base.types import (
    SOLID_MODULUS,
    SOLID_POISSON_RATIO,
    FileName,
    Finite,
    LengthUnit,
    Name,
    NonNegative,
    Positive,
    Removable,
    Settings,
    quantity,
)
from kneewear.knees.settings.bodies import (
    DIRECTION,
    POINT,
    POSE,
    BodySettings,
    Coordinate,
    CourseSettings,
    Curve,
    CurveSettings,
    LayerSettings,
    Part,
    PlaneShapeSettings,
    Shape,
    Triple,
)
from kneewear.knees.settings.knee_results import (
    CLINICAL,
    COMPONENTS,
    ComparedMotionSettings,
    ComponentsSettings,
    LaxitySettings,
    TuningSettings,
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
# Frames of a part of the course that is compared by itself.
_MIN_FRAMES = 3
_JOINT = Range("N/mm", 1, 1e3, 1e6, 1e8, "A gap of 0.1 mm under 1 kN at 1e4 N/mm")
_LOAD = Range("N", -1e5, -5000, 5000, 1e5, "Seven body weights are 5000 N")
_MOMENT = Range("N m", -1e3, -100, 100, 1e3, "Moments about the knee are up to 100 N m")
_SPRING = Range("N/mm or N m/deg", 0, 0, 100, 1e6, "Restraints of simulators: 9 to 44 N/mm")
_WIDTH = Range("mm or deg", 0, 0, 50, 180, "Gaps of simulators: 2 to 6 mm and deg")
_SECONDS = Range("s", 0, 0, 0.01, 1, "0.003 s of ligaments in OpenSim models")


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
    rest: Finite = quantity("Middle of the range without force.", POSE, 0.0)
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
        "Its axis in the frame of the first body; any length.", DIRECTION, (0.0, 0.0, 1.0)
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


class KneeSettings(Settings):
    """Bodies of a knee, and what acts on them."""

    unit: LengthUnit = Field("mm", description="Unit of meshes.")
    ground: Name = Field(description="The body at rest.")
    bodies: dict[Name, BodySettings] = Field(
        min_length=2, description="Bodies by name, the ground among them."
    )
    contacts: Annotated[dict[Name, PairContact], Removable] = Field(
        {}, description="Contacts by name; null removes one."
    )
    ligaments: Annotated[dict[Name, LigamentTableSettings], Removable] = Field(
        {}, description="Ligaments by name; null removes one."
    )
    muscles: Annotated[dict[Name, MuscleTableSettings], Removable] = Field(
        {}, description="Muscles by name; null removes one."
    )
    springs: Annotated[dict[Name, SpringSettings], Removable] = Field(
        {}, description="Springs by name; null removes one."
    )
    joints: Annotated[dict[Name, JointSettings], Removable] = Field(
        {}, description="Joints by name; null removes one."
    )
    loads: Annotated[dict[Name, BodyLoadSettings], Removable] = Field(
        {}, description="Loads by name; null removes one."
    )
    gravity: Triple | None = quantity(
        "Direction of gravity in the ground, any length; null for no weight.", DIRECTION, None
    )

    @model_validator(mode="after")
    def check_bodies(self) -> Self:
        """Require a ground, starts of all other bodies, and one way to move a coordinate."""
        self._require_body(self.ground, ("ground",))
        frames = Counter(
            name for body, one in self.bodies.items() for name in {body: (), **one.frames}
        )
        for name, count in frames.items():
            if count > 1:
                raise fault(f"frame {name} twice", "different names of frames", "Rename one.")
        for name, body in self.bodies.items():
            for key, mesh in body.meshes.items():
                known = {name: (), **body.frames}
                if mesh.matrix is not None and mesh.matrix.frame not in known:
                    at = ("bodies", name, "shapes", key, "matrix", "frame")
                    remedy = suggestion(mesh.matrix.frame, known) or "Correct the name."
                    raise fault_at(at, mesh.matrix.frame, f"one of {', '.join(known)}", remedy)
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
                    ("bodies", name, "held"),
                    f"{', '.join(sorted(both))}, also driven",
                    "one of both",
                    "Remove it from held, or from driven.",
                )
        return self

    @model_validator(mode="after")
    def check_parts(self) -> Self:
        """Require the bodies, shapes and coordinates that contacts, joints and loads name."""
        for name, contact in self.contacts.items():
            for key, kinds, part in _contact_parts(contact):
                shape = self._shape(part, ("contacts", name, key))
                if shape.kind not in kinds:
                    raise fault_at(
                        ("contacts", name, key),
                        f"{part}, a {shape.kind}",
                        f"a {' or '.join(kinds)}",
                        "Name another shape, or change the contact.",
                    )
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
        for name, one in self.springs.items():
            self._require_coordinate(one.coordinate, ("springs", name, "coordinate"))
        return self

    @model_validator(mode="after")
    def check_names(self) -> Self:
        """Require different names of all that acts, and directions of some length."""
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
                ("contacts", name),
                f"radii of {radii[0]:g} and {radii[1]:g} mm",
                "a ball of positive radius, and a plane, a ball or a larger cup",
                "Exchange both, or correct the radii.",
            )

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
            for shape, mesh in body.meshes.items():
                given[f"{name}.{shape}"] = mesh.file
                if mesh.matrix is not None:
                    given[f"{name}.{shape}_matrix"] = mesh.matrix.file
            given |= {f"{name}_bone_{n}": file for n, file in enumerate(body.bones)}
        tables: dict[str, WrappedTableSettings] = {**self.ligaments, **self.muscles}
        for name, table in tables.items():
            given |= {name: table.file, f"{name}_wrap_objects": table.wrap_objects}
        given |= {f"{name}_tensions": one.tensions for name, one in self.muscles.items()}
        return {name: file for name, file in given.items() if file is not None}


class ComposedKneeSettings(KneeSettings):
    """A knee of bodies, contacts, tissues, joints and loads in any number, over a course."""

    model: Literal["composed"] = Field(description="A knee composed by its settings.")
    course: CourseSettings
    dynamics: DynamicsSettings | None = Field(
        None, description="Forward dynamics; null for an equilibrium in each frame."
    )
    tolerance: Positive = quantity(
        "Largest unbalanced force of an equilibrium over the largest force that acts.",
        Range("1", 1e-12, 1e-10, 1e-3, 1e-2, "1e-6"),
        1e-6,
    )
    components: ComponentsSettings | None = Field(
        None,
        description="Components whose relative motion is shown; null shows the motion of bodies.",
    )
    compare: Annotated[dict[Name, ComparedMotionSettings], Removable] = Field(
        {}, description="Motions to compare with, by name; null removes one."
    )
    tuning: TuningSettings | None = Field(None, description="Fit of slack lengths; null for none.")
    laxity: LaxitySettings | None = Field(None, description="Laxity tests; null for none.")
    literature: FileName | None = Field(
        None,
        description="Table of printed numbers: panel, series and place on the course of a curve, "
        "published number with its tolerance, or limits, and source; null without.",
    )

    @model_validator(mode="after")
    def check_method(self) -> Self:
        """Require what dynamics need, and nothing that they do not have."""
        for name, body in self.bodies.items():
            if self.dynamics and body.dampers:
                at, remedy = ("bodies", name, "dampers"), "Remove them."
                raise fault_at(at, "dampers and dynamics", "dampers of equilibria", remedy)
            free = name != self.ground and len(body.held) + len(body.driven) < 6
            if self.dynamics and free and (body.mass is None or body.mass.inertia_kg_m2 is None):
                expected = "mass and inertia of each body with free coordinates, for dynamics"
                raise fault_at(("bodies", name, "mass"), f"{body.mass}", expected, "Give both.")
        flexion = self.components.flexion if self.components else None
        given = {"tuning": self.tuning, "laxity": self.laxity, "components.flexion": flexion}
        for key, value in given.items() if self.dynamics else ():
            if value is not None:
                where: tuple[str, ...] = tuple(key.split("."))
                remedy = "Set one of them to null."
                raise fault_at(where, f"{key} and dynamics", f"{key} with equilibria", remedy)
        return self

    @model_validator(mode="after")
    def check_components(self) -> Self:
        """Require meshes of components, and a tibial one that moves where it is driven."""
        parts = self.components
        for key in ("femoral", "tibial", "button") if parts else ():
            part = getattr(parts, key)
            if part is not None and self._shape(part, ("components", key)).kind != "mesh":
                raise fault_at(("components", key), part, "a mesh", "Name another shape.")
        if parts is None:
            if self.course.is_cycle:
                expected = "components, whose motion over the cycle is a table"
                raise fault_at(("course", "is_cycle"), "no components", expected, "Name them.")
            return self
        if parts.flexion is not None or parts.load is not None:
            self._require_flexing(parts.tibial.split(".")[0], ("components", "tibial"))
        if parts.flexion is not None and "theta_1" not in self._free_of(parts.tibial):
            found, remedy = f"theta_1 of {parts.tibial} held or driven", "Remove it there."
            raise fault_at(("components", "flexion"), found, "a free theta_1", remedy)
        if parts.button is not None and self.button_contact is None:
            expected = f"a foundation between {parts.button} and the body of {parts.femoral}"
            raise fault_at(("components", "button"), "no contact", expected, "Add the contact.")
        return self

    @model_validator(mode="after")
    def check_compared(self) -> Self:
        """Require known coordinates of motions, and what tuning and laxity tests need."""
        named: list[tuple[tuple[str, ...], str]] = [
            (("compare", name, "columns"), part)
            for name, one in self.compare.items()
            for part in one.columns
        ]
        if self.course.over is not None:
            named.append((("course", "over"), self.course.over))
        for where, part in named:
            body, _, name = part.partition(".")
            if self.components is None or body != COMPONENTS:
                self._require_coordinate(part, where)
            elif name not in CLINICAL:
                raise fault_at(where, part, f"one of {', '.join(CLINICAL)}", "Correct the name.")
        places = np.linspace(self.course.first, self.course.last, self.course.frames)
        for name, motion in self.compare.items():
            for part, (start, end) in motion.parts.items():
                if np.count_nonzero((places >= start) & (places <= end)) < _MIN_FRAMES:
                    found, remedy = f"{start:g} to {end:g}", "Give it in units of the course."
                    expected = f"a part of the course with {_MIN_FRAMES} frames or more"
                    raise fault_at(("compare", name, "parts", part), found, expected, remedy)
        first = next(iter(self.compare.values()), None)
        if self.tuning is not None and (first is None or any(map(isnan, first.targets.values()))):
            expected = "a motion with rotation_target_deg and translation_target_mm in compare"
            raise fault_at(("tuning",), "no motion with targets", expected, "Give one.")
        if self.laxity is not None:
            self._check_laxity(self.laxity)
        return self

    def _check_laxity(self, tests: LaxitySettings) -> None:
        """Require a body whose flexion is driven, and flexions within its curve."""
        self._require_flexing(tests.body, ("laxity", "body"))
        curve = self.bodies[tests.body].driven.get("theta_1")
        if curve is None:
            found = f"theta_1 of {tests.body}, which is not driven"
            raise fault_at(("laxity", "body"), found, "a driven flexion", "Drive theta_1.")
        values = [value for _, value in curve.points or ()]
        for angle in tests.flexion_deg if values else ():
            if not min(values) <= angle <= max(values):
                expected = f"flexions of the curve, {min(values):g} to {max(values):g}"
                at, remedy = ("laxity", "flexion_deg"), "Correct it, or flex further."
                raise fault_at(at, f"{angle:g}", expected, remedy)

    def _require_flexing(self, name: str, at: tuple[str, ...]) -> None:
        """Require a body that moves, whose theta_1 is flexion."""
        self._require_body(name, at)
        if name == self.ground or self.bodies[name].turns != "flexion_first":
            expected = "a body that moves, with turns: flexion_first"
            raise fault_at(at, name, expected, "Name another body, or change its turns.")

    def _free_of(self, part: str) -> set[str]:
        """Coordinates of the body of a part that are neither held nor driven."""
        body = self.bodies[part.split(".", maxsplit=1)[0]]
        return set(Coordinate.__args__) - {*body.held, *body.driven}  # type: ignore[attr-defined]

    @property
    def button_contact(self) -> str | None:
        """Name of the foundation between button and femoral component; None without."""
        if self.components is None or self.components.button is None:
            return None
        wanted = {self.components.button, self.components.femoral}
        for name, one in self.contacts.items():
            if isinstance(one, FoundationSettings) and {one.elements, one.indenter} == wanted:
                return name
        return None

    @property
    def table_curves(self) -> dict[str, CurveSettings]:
        """Curves of tables, by the names of their files."""
        flexion = self.components.flexion if self.components else None
        own = {"components_flexion": flexion} if flexion is not None and flexion.file else {}
        return super().table_curves | own

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        load = self.components.load if self.components else None
        return (
            super().files
            | {f"compare_{name}": one.file for name, one in self.compare.items()}
            | ({} if load is None else {"components_load": load.file})
            | ({} if self.literature is None else {"literature": self.literature})
        )


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
