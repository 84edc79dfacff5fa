"""Settings of tests of bearings of simple geometry, whose wear was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, inf, pi
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from kneewear.base.faults import check_ring_radii, fault, fault_at, refuse_repeated, suggestion
from kneewear.base.ranges import Range
from kneewear.base.types import (
    FileName,
    Finite,
    LengthUnit,
    Limits,
    Name,
    NonNegative,
    Positive,
    Removable,
    Settings,
    quantity,
)
from kneewear.geometry.settings import AxesSettings, Side
from kneewear.study.study import Study
from kneewear.wear.settings import WearSettings

# Cases that a job computes in some minutes.
TESTS_PER_JOB = 12

_RADIUS = Range("mm", 0.5, 3, 60, 500, "Pins from 3 mm, femoral heads and condyles up to 60 mm")
_TROCHLEA = Range("mm", 2, 12, 50, 500, "Femoral components have 17 to 40 mm")
_LENGTH = Range("mm", 0.1, 2, 60, 200, "Strokes and diameters of tracks of tests")
_LOAD = Range("N", 0.01, 1, 1e4, 1e5, "Pins 10 N and more, hips and knees up to 4 kN")
_ANGLE = Range("deg", -90, -60, 60, 90, "Hip and disc simulators: up to 46 deg in all", least=0.6)
# Of quadriceps and patellar tendon, neither of which pulls harder than the quadriceps.
_LARGEST_FORCE_RATIO = 2.0
_WHOLE = Range("1", 1, 1, 100, 1000, "Cycles within one period of the test")


class PlanarBearing(Settings):
    """A bearing of a body on a flat counterface."""

    thickness_mm: Positive = quantity(
        "Thickness of the polyethylene.", Range("mm", 0.5, 2, 30, 200, "Specimens of tests")
    )


class FlatPin(PlanarBearing):
    """Flat-ended pin of polyethylene on a metal plate: its contact is stationary."""

    shape: Literal["flat_pin"] = Field(description="Flat-ended pin of polyethylene.")
    radius_mm: Positive = quantity("Radius of the pin.", _RADIUS)

    @property
    def area_mm2(self) -> float:
        """Area of its end, mm2."""
        return pi * self.radius_mm**2


class RingPin(PlanarBearing):
    """Ring of polyethylene on a metal plate."""

    shape: Literal["ring_pin"] = Field(description="Ring of polyethylene.")
    inner_radius_mm: Positive = quantity("Inner radius of the ring.", _RADIUS)
    outer_radius_mm: Positive = quantity("Outer radius of the ring.", _RADIUS)

    @property
    def area_mm2(self) -> float:
        """Area of its end, mm2."""
        return pi * (self.outer_radius_mm**2 - self.inner_radius_mm**2)

    @model_validator(mode="after")
    def _is_a_ring(self) -> RingPin:
        check_ring_radii(self.inner_radius_mm, self.outer_radius_mm)
        return self


class SphereOnFlat(PlanarBearing):
    """Sphere on a flat."""

    shape: Literal["sphere"] = Field(description="Sphere on a flat.")
    radius_mm: Positive = quantity("Radius of the sphere.", _RADIUS)
    polyethylene: Literal["plate", "pin"] = Field(
        "plate",
        description="Body of polyethylene: the plate, over which the contact migrates, or the "
        "sphere, whose contact is stationary.",
    )


class CylinderOnFlat(PlanarBearing):
    """Cylinder across a flat; its axis is z, and motion along x may be rolling."""

    shape: Literal["cylinder"] = Field(description="Cylinder across a flat.")
    radius_mm: Positive = quantity("Radius of the cylinder.", _RADIUS)
    length_mm: Positive = quantity("Length of the contact along the axis.", _LENGTH)
    polyethylene: Literal["plate", "pin"] = Field(
        "plate", description="Body of polyethylene: the plate, or the cylinder."
    )
    rolling: Annotated[float, Field(ge=0, le=1)] = quantity(
        "Part of the motion along x that the cylinder rolls: 0 slides, 1 rolls without sliding.",
        Range("1", 0, 0, 1, 1, "A part"),
        0.0,
    )


class BallInSocket(PlanarBearing):
    """Ball in a socket: hips, and discs of the spine."""

    shape: Literal["ball_in_socket"] = Field(description="Ball in a socket.")
    radius_mm: Positive = quantity("Radius of the ball.", _RADIUS)
    clearance_mm: Positive = quantity(
        "Radius of the socket less that of the ball.",
        Range("mm", 0.005, 0.02, 1, 20, "Hips about 0.05 to 0.3 mm", least=0.005),
    )
    polyethylene: Literal["socket", "ball"] = Field(
        "socket", description="Body of polyethylene; it is fixed, and the other one moves."
    )
    inclination_deg: Finite = quantity(
        "Angle between the axis of the body of polyethylene and the load.", _ANGLE, 0.0
    )


class PatellarButton(PlanarBearing):
    """Dome of polyethylene, the button of a patella, in the groove of a trochlea."""

    shape: Literal["patellar_button"] = Field(description="Dome in the groove of a trochlea.")
    dome_radius_mm: Positive = quantity("Radius of the dome.", _RADIUS)
    half_width_mm: Positive = quantity("Radius of the button seen from the trochlea.", _RADIUS)
    groove_radius_mm: Positive = quantity(
        "Radius of the groove across, at least that of the dome.",
        Range("mm", 0.5, 15, 1e6, 1e6, "From that of the dome to flat"),
    )
    groove_half_width_mm: Positive = quantity("Half of the width of the groove.", _RADIUS)
    trochlea_radius_mm: Positive = quantity(
        "Radius of the bottom of the groove about the medial-lateral axis.", _TROCHLEA
    )

    @model_validator(mode="after")
    def _fits(self) -> PatellarButton:
        _refuse_larger(
            self,
            ("dome_radius_mm", "groove_radius_mm"),
            ("half_width_mm", "dome_radius_mm"),
            ("groove_half_width_mm", "groove_radius_mm"),
        )
        return self


class AnatomicButton(PlanarBearing):
    """Ridge of polyethylene with a hollow facet on either side, the button of a patella.

    Both surfaces are revolved about medial-lateral axes; the trochlea has a groove between two
    convex flanks.
    """

    shape: Literal["anatomic_button"] = Field(description="Ridge and facets on a trochlea.")
    sagittal_radius_mm: Positive = quantity(
        "Radius of the ridge from proximal to distal.",
        Range("mm", 0.5, 15, 1e6, 1e6, "From a dome to straight"),
    )
    ridge_radius_mm: Positive = quantity("Radius of the ridge across.", _RADIUS)
    ridge_half_width_mm: Positive = quantity("Half of the width of the ridge.", _RADIUS)
    facet_radius_mm: Positive = quantity("Radius of the hollow facets across.", _RADIUS)
    half_width_mm: Positive = quantity("Radius of the button seen from the trochlea.", _RADIUS)
    groove_radius_mm: Positive = quantity(
        "Radius of the groove across, no smaller than ridge_radius_mm.", _RADIUS
    )
    groove_half_width_mm: Positive = quantity("Half of the width of the groove.", _RADIUS)
    flank_radius_mm: Positive = quantity("Radius of the flanks of the trochlea across.", _RADIUS)
    trochlea_radius_mm: Positive = quantity(
        "Radius of the bottom of the groove about the medial-lateral axis.", _TROCHLEA
    )

    @model_validator(mode="after")
    def _fits(self) -> AnatomicButton:
        _refuse_larger(
            self,
            ("ridge_radius_mm", "groove_radius_mm"),
            ("flank_radius_mm", "facet_radius_mm"),
            ("ridge_half_width_mm", "ridge_radius_mm"),
            ("groove_half_width_mm", "groove_radius_mm"),
            ("ridge_half_width_mm", "half_width_mm"),
        )
        return self


class FittedButton(PlanarBearing):
    """Button of a patella and trochlea of a femoral component, fitted to sheets from files."""

    shape: Literal["fitted_button"] = Field(description="Button and trochlea from files.")
    button: FileName = Field(
        description="Sheet of the button's bearing surface (.stl, .ply, .obj, .vtp), path in the "
        "data folder, normals towards the trochlea."
    )
    trochlea: FileName = Field(description="Sheet of the femoral component, with its trochlea.")
    unit: LengthUnit = Field(description="Unit of length of the files.")
    knee: Side = Field("right", description="Side of the body the implant is made for.")
    button_axes: AxesSettings = Field(description="Directions of the axes of the button's file.")
    trochlea_axes: AxesSettings = Field(description="The same of the femoral component.")
    half_width_mm: Positive = quantity("Radius of the elements on the button.", _RADIUS)
    condyles_mm: Limits = quantity(
        "Distances from the middle of the component, smallest and largest, between which its "
        "condyles show the axis of flexion.",
        Range("mm", 0, 5, 45, 100, "Condyles are 15 to 40 mm from the middle"),
    )
    axis_mm: tuple[Finite, Finite] | None = quantity(
        "Posterior and superior position of the axis that the motion refers to, in the frame of "
        "the femoral component's file; null for the axis of the condyles.",
        Range("mm", -500, -60, 60, 500, "Origins of components are near the joint"),
        None,
    )
    trochlea_half_width_mm: Positive = quantity("Half of the width that is fitted.", _RADIUS)
    trochlea_angle_deg: Limits = quantity(
        "Limits of the angle about the axis of flexion that is fitted, ascending; 0 is distal, "
        "anterior negative.",
        Range("deg", -180, -150, 30, 90, "The trochlea is in front", least=2),
    )
    knot_spacing_mm: Positive = quantity(
        "Smallest distance of the knots of both surfaces.",
        Range("mm", 0.1, 0.5, 10, 50, "Mesh edges are 0.5 to 1 mm"),
        1.5,
    )
    smoothing_length_mm: NonNegative = quantity(
        "Length below which features are smoothed.",
        Range("mm", 0, 0, 5, 50, "Half a mesh edge"),
        0.3,
    )
    tolerance_mm: Positive = quantity(
        "Largest accepted distance between a mesh vertex and its surface.",
        Range("mm", 0, 0.001, 0.5, 5, "Rims are steep; a button penetrates 0.1 mm"),
        0.3,
    )
    mean_tolerance_mm: Positive = quantity(
        "Largest accepted mean distance between mesh vertices and their surface.",
        Range("mm", 0, 1e-4, 0.05, 5, "A button penetrates 0.1 mm"),
        0.005,
    )


def _refuse_larger(shape: Settings, *pairs: tuple[str, str]) -> None:
    """Refuse keys whose values are above the values of other keys."""
    for key, of in pairs:
        most = getattr(shape, of)
        if getattr(shape, key) > most:
            raise fault_at(
                (key,),
                f"{getattr(shape, key):g} with {of}: {most:g}",
                f"at most {most:g}; one surface fits into the other, and an arc in its radius",
                f"Correct {key} or {of}.",
            )


AnyBearing = Annotated[
    FlatPin
    | RingPin
    | SphereOnFlat
    | CylinderOnFlat
    | BallInSocket
    | PatellarButton
    | AnatomicButton
    | FittedButton,
    Field(discriminator="shape"),
]


class Straight(Settings):
    """Sinusoidal reciprocation along x."""

    path: Literal["straight"] = Field(description="Reciprocation along x.")
    stroke_mm: Positive = quantity("Distance between the ends.", _LENGTH)
    rotation_deg: NonNegative = quantity(
        "Amplitude of a rotation about the vertical axis in phase with the stroke.", _ANGLE, 0.0
    )


class Circle(Settings):
    """Circular translation without rotation."""

    path: Literal["circle"] = Field(description="Circular translation.")
    diameter_mm: Positive = quantity("Diameter of the track.", _LENGTH)


class RectanglePath(Settings):
    """Translation along a rectangle."""

    path: Literal["rectangle"] = Field(description="Translation along a rectangle.")
    length_mm: Positive = quantity("Side along x.", _LENGTH)
    width_mm: Positive = quantity("Side along z.", _LENGTH)


class RandomPath(Settings):
    """Random closed path within a circle, with changing speed."""

    path: Literal["random"] = Field(description="Random translation within a circle.")
    diameter_mm: Positive = quantity("Diameter of the circle.", _LENGTH)
    turns: int = quantity(
        "Highest number of oscillations of each coordinate in a period.",
        Range("1", 2, 5, 200, 1000, "More follow more of the area"),
    )
    number: int = quantity(
        "Number of the path: another one is another path.",
        Range("1", 0, 0, 1000, 1e9, "A number names a path"),
        1,
    )


class Hypotrochoid(Settings):
    """Path of a point of a circle that rolls within another one."""

    path: Literal["hypotrochoid"] = Field(description="Path of a point of a rolling circle.")
    fixed_mm: Positive = quantity("Radius of the fixed circle.", _LENGTH)
    rolling_mm: Positive = quantity("Radius of the circle that rolls inside.", _LENGTH)
    arm_mm: Positive = quantity("Distance of the point from the rolling circle's centre.", _LENGTH)
    turns: int = quantity("Turns about the centre until the path closes.", _WHOLE)


class Spin(Settings):
    """Full turns about the vertical axis."""

    path: Literal["spin"] = Field(description="Rotation about the vertical axis.")


class Rocking(Settings):
    """Biaxial rocking of a ball and socket: the axis precesses, without rotation about itself."""

    path: Literal["rocking"] = Field(description="Biaxial rocking.")
    angle_deg: Positive = quantity("Angle of the axis from the middle.", _ANGLE)


class AngleSpan(Settings):
    """Extremes of an angle, and its phase; sinusoidal between them."""

    low_deg: Finite = quantity("Smallest value.", _ANGLE)
    high_deg: Finite = quantity("Largest value.", _ANGLE)
    phase_deg: Finite = quantity(
        "Phase of the largest value after that of flexion.",
        Range("deg", -360, -180, 180, 360, "A turn", least=2),
        0.0,
    )

    @model_validator(mode="after")
    def _is_ascending(self) -> AngleSpan:
        if self.low_deg > self.high_deg:
            raise fault(
                f"low_deg: {self.low_deg:g}, high_deg: {self.high_deg:g}",
                "low_deg at most high_deg",
                "Exchange them.",
            )
        return self

    @property
    def farthest_over_range(self) -> float:
        """Largest size of the angle over its range; infinite for a constant one."""
        span = self.high_deg - self.low_deg
        return max(abs(self.low_deg), abs(self.high_deg)) / span if span > 0.0 else inf


_AT_REST = AngleSpan(low_deg=0.0, high_deg=0.0)


class Rotations(Settings):
    """Rotations of a ball and socket between extremes, each a sinusoid."""

    path: Literal["rotations"] = Field(description="Rotations between extremes.")
    flexion: AngleSpan = Field(_AT_REST, description="Flexion and extension, about z.")
    abduction: AngleSpan = Field(_AT_REST, description="Abduction or lateral bending, about x.")
    rotation: AngleSpan = Field(_AT_REST, description="Rotation about the vertical axis.")


class PatellarColumns(Settings):
    """Columns of the file of a patella's motion and force."""

    percent: str = Field("percent", description="Column of the percent of the cycle.")
    flexion: str = Field(description="Column of the flexion of the femur against the patella, deg.")
    quadriceps_n: str = Field(description="Column of the force of the quadriceps, N.")
    varus: str | None = Field(
        None,
        description="Column of the rotation about the proximal axis (tilt), deg; without it a "
        "button that two flanks carry (anatomic_button, fitted_button) is in equilibrium, and a "
        "dome has none.",
    )
    rotation: str | None = Field(
        None, description="Column of the rotation about the axis of the button, deg."
    )
    proximal_mm: str | None = Field(
        None, description="Column of the position of the trochlea's axis, proximal of the button."
    )
    lateral_mm: str | None = Field(
        None,
        description="Column of the position of the groove, lateral of the button; without it the "
        "position is in equilibrium.",
    )

    def given(self) -> dict[str, str]:
        """Columns the file must have: quantity to name in its header."""
        return {name: column for name, column in self.model_dump().items() if column is not None}

    @model_validator(mode="after")
    def check_columns_differ(self) -> PatellarColumns:
        """Refuse one column for two quantities."""
        refuse_repeated(self.model_dump())
        return self


class PatellarMotion(Settings):
    """Motion and force of a patella from a file; the test has no block `load` then."""

    path: Literal["patella"] = Field(description="Motion and force of a patella from a file.")
    file: FileName = Field(description="File of curves, path in the data folder or the checkout.")
    columns: PatellarColumns = Field(description="Names of its columns.")
    force_ratio: Annotated[tuple[tuple[Finite, NonNegative], ...], Field(min_length=1)] = quantity(
        "Force of the patella on the trochlea over that of the quadriceps: pairs [flexion in deg, "
        "ratio], flexion ascending, linear in between and constant beyond.",
        Range("deg, 1", -30, -10, 140, 160, "Flexion of knees; ratios are at most 1.5"),
    )

    @model_validator(mode="after")
    def _flexion_ascends(self) -> PatellarMotion:
        flexion = [pair[0] for pair in self.force_ratio]
        if flexion != sorted(set(flexion)):
            raise fault_at(
                ("force_ratio",),
                f"flexion of {', '.join(f'{value:g}' for value in flexion)}",
                "ascending values",
                "Sort the pairs, and remove those of equal flexion.",
            )
        largest = max(ratio for _, ratio in self.force_ratio)
        if largest > _LARGEST_FORCE_RATIO:
            raise fault_at(
                ("force_ratio",),
                f"a ratio of {largest:g}",
                f"at most {_LARGEST_FORCE_RATIO:g}, that of two parallel equal tensions",
                "Check that pairs are [flexion, ratio], ratios not in percent.",
            )
        return self


AnyPath = Annotated[
    Straight
    | Circle
    | RectanglePath
    | RandomPath
    | Hypotrochoid
    | Spin
    | Rocking
    | Rotations
    | PatellarMotion,
    Field(discriminator="path"),
]
# Shapes that move in ways of their own, and these ways.
_OWN_PATHS = {
    "ball_in_socket": ("rocking", "rotations"),
    "patellar_button": ("patella",),
    "anatomic_button": ("patella",),
    "fitted_button": ("patella",),
}


class BearingLoad(Settings):
    """Load over a period of the test."""

    low_n: Positive = quantity("Smallest load.", _LOAD)
    high_n: Positive = quantity("Largest load; equal to the smallest for a static one.", _LOAD)
    course: Literal["sinusoidal", "double_peak"] = Field(
        "sinusoidal",
        description="Sinusoid, or two peaks of equal height in the first six tenths of the period.",
    )
    cycles: int = quantity("Load cycles within the period.", _WHOLE, 1)
    phase_deg: Finite = quantity(
        "Phase of the largest load after the start of the period.",
        Range("deg", -360, -180, 360, 360, "A turn"),
        0.0,
    )
    fixed_to: Literal["polyethylene", "metal"] = Field(
        "polyethylene", description="Body in which the line of the load is fixed."
    )

    @model_validator(mode="after")
    def _is_ascending(self) -> BearingLoad:
        if self.low_n > self.high_n:
            raise fault(
                f"low_n: {self.low_n:g}, high_n: {self.high_n:g}",
                "low_n at most high_n",
                "Exchange them.",
            )
        return self


class BearingTest(Settings):
    """Bearing, motion, load and length of a test."""

    bearing: AnyBearing = Field(description="The bearing.")
    motion: AnyPath = Field(description="Motion of the metal against the polyethylene.")
    load: BearingLoad | None = Field(
        None, description="Load; absent where the file of the motion has the force."
    )
    million_cycles: Positive = quantity(
        "Periods of the test.", Range("10^6", 1e-6, 0.01, 20, 1000, "Five million are usual")
    )
    period_s: Positive = quantity(
        "Time of a period.",
        Range("s", 0.01, 0.2, 600, 1e5, "A cycle of gait, or a random path of a minute"),
        1.0,
    )
    factor_ratio: Positive = quantity(
        "Measured wear factor of flat pins under the kind of motion of this test over that under "
        "circular motion, where the law has no effect of the order of directions.",
        Range("1", 0.1, 0.8, 1.5, 10, "1.23 for random motion (Saikko and Kostamo 2013, abstract)"),
        1.0,
    )
    use: Literal["hip", "lumbar_disc"] | None = Field(
        None,
        description="Joint whose usual loads and sizes the test is judged by, which a shape does "
        "not say: hip, or lumbar_disc; null for none. It changes no result.",
    )
    lubricant: str = Field("", description="Lubricant, as the source states it; has no effect.")
    source: str = Field("", description="Where the conditions are from, and how it was read.")
    contact: Literal["foundation", "coupled_layer"] | None = Field(
        None, description="Model of contact of this test; null for simulation.contact."
    )
    blocks: int = quantity(
        "Blocks of the test between which the surface follows its wear; 1 leaves it fresh.",
        Range("1", 1, 1, 100, 1000, "More blocks than wear is deeper than the elastic depth"),
        1,
    )
    frames: int = quantity(
        "Frames of a period.", Range("1", 8, 24, 5000, 50000, "A frame moves less than the contact")
    )
    element_mm: Positive = quantity(
        "Width of the elements.", Range("mm", 0.005, 0.05, 2, 10, "A tenth of the contact's radius")
    )

    @property
    def shapes(self) -> dict[str, str]:
        """Files of the surfaces by their parts, of a bearing from files."""
        bearing = self.bearing
        if not isinstance(bearing, FittedButton):
            return {}
        return {"button": bearing.button, "trochlea": bearing.trochlea}

    @model_validator(mode="after")
    def _moves_as_its_bearing_can(self) -> BearingTest:
        own = {path for paths in _OWN_PATHS.values() for path in paths}
        possible = _OWN_PATHS.get(self.bearing.shape)
        path = self.motion.path
        if path not in possible if possible else path in own:
            raise fault_at(
                ("motion", "path"),
                f"{path} of a bearing of shape {self.bearing.shape}",
                "rocking or rotations of ball_in_socket, patella of buttons, another path "
                "of other shapes",
                "Choose another path.",
            )
        if (self.load is None) != (path == "patella"):
            raise fault_at(
                ("load",),
                f"{'no load' if self.load is None else 'a load'} with motion.path: {path}",
                "a block load, but none with path: patella, whose file has the force",
                "Add the block load, or remove it.",
            )
        return self


class WearTestSettings(Settings):
    """Tests, and the one that is computed."""

    test: Name = Field(description="Test that is computed, a level of variables.")
    tests: Annotated[dict[Name, BearingTest], Field(min_length=1), Removable] = Field(
        description="Tests by name."
    )

    @model_validator(mode="after")
    def _has_the_test(self) -> WearTestSettings:
        if self.test not in self.tests:
            raise fault_at(
                ("test",),
                f"no test '{self.test}'",
                f"one of: {', '.join(self.tests)}",
                suggestion(self.test, self.tests) or "Name one of the tests.",
            )
        return self

    @property
    def chosen(self) -> BearingTest:
        """Test that is computed."""
        return self.tests[self.test]


class WearTestStudy(Study):
    """Wear of bearings of simple geometry."""

    model: Literal["wear_test"] = Field(description="Wear of bearings of simple geometry.")
    has_coupled_contact: ClassVar[bool] = True
    has_knee: ClassVar[bool] = False
    wear_test: WearTestSettings
    wear: WearSettings = Field(
        description="Wear laws and constants; lives, months, cycles and blocks are those of the "
        "test."
    )
    cases_per_job: int | None = quantity(
        "Cases of a job, which change no result; null for as many as a job computes in some "
        "minutes.",
        Range("1", 1, 1, 1000, 1e6, "Jobs of some minutes"),
        None,
    )

    @property
    def model_files(self) -> Mapping[str, str]:
        """Files of motion by the names of the tests, and of shapes by further names."""
        found = {}
        for name, test in self.wear_test.tests.items():
            if isinstance(test.motion, PatellarMotion):
                found[name] = test.motion.file
            found |= {f"{name} {part}": file for part, file in test.shapes.items()}
        return found

    def combined_values(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Yield pressures of flat-ended pins, and what limits of angles and ratios say together."""
        yield from super().combined_values()
        for name, test in self.wear_test.tests.items():
            at = ("wear_test", "tests", name)
            if test.load is not None and isinstance(test.bearing, FlatPin | RingPin):
                pressure = test.load.high_n / test.bearing.area_mm2
                yield "pin.pressure", (*at, "load", "high_n"), pressure
            for key, span in dict(test.motion).items():
                if isinstance(span, AngleSpan) and span != _AT_REST:
                    yield "test.angle_over_range", (*at, "motion", key), span.farthest_over_range
            if isinstance(test.motion, PatellarMotion):
                smallest = min(ratio for _, ratio in test.motion.force_ratio)
                yield "button.ratio", (*at, "motion", "force_ratio"), smallest

    @property
    def reads_distance_tables(self) -> bool:
        """No: distances to simple surfaces are exact."""
        return False

    def job_size(self, count: int) -> int:
        """Number of cases of a job, of `count` in all."""
        return self.cases_per_job or min(TESTS_PER_JOB, max(4, ceil(count / 2)))
