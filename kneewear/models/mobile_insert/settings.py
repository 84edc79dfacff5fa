"""Settings of both faces of an insert: its bearing, and the backside on its tray."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, pi
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kneewear.base.faults import check_ring_radii, fault, fault_at
from kneewear.base.ranges import Range
from kneewear.base.types import MEDIAL, POSTERIOR, Finite, NonNegative, Positive, Settings, quantity
from kneewear.study.study import CaseStudy
from kneewear.wear.law_settings import WEAR_LAWS

# Cases of mobile inserts that a job computes in some minutes.
MOBILE_PER_JOB = 4
_FACE = Range("mm", 0.5, 3, 50, 200, "Inserts are 35 to 60 mm long and 60 to 90 mm wide")
_HOLE = Range("mm", 0, 0, 12, 100, "Posts of mobile inserts have radii of 4 to 10 mm", least=2.0)
_SLIDE = Range(
    "mm", 0, 0, 1, 10, "Loose locking mechanisms let inserts move by 0.01 to 0.5 mm", least=0.002
)
_TURN = Range(
    "deg", 0, 0, 2, 30, "Locking mechanisms let inserts turn by less than 1 deg", least=0.02
)

# Larger coefficients are meant to hold a face, which friction does badly: an insert whose faces
# both stick has no equilibrium while the femoral component glides on it.
_MAX_COEFFICIENT = 2.0

# Radius of the smallest circle that a face is larger than, mm.
_MIN_FACE = 3.0

Glide = Literal["anterior_posterior", "medial_lateral", "rotation"]


class RingFace(Settings):
    """Backside whose plan is a circle or a ring about the pivot."""

    shape: Literal["ring"] = Field(description="Circle or ring about the pivot.")
    inner_radius_mm: NonNegative = quantity("Inner radius: that of a post, or zero.", _HOLE, 0.0)
    outer_radius_mm: Positive = quantity("Outer radius.", _FACE)

    @model_validator(mode="after")
    def _is_a_ring(self) -> RingFace:
        check_ring_radii(self.inner_radius_mm, self.outer_radius_mm)
        return self


class RectangleFace(Settings):
    """Backside whose plan is a rectangle with a round hole, both about the pivot."""

    shape: Literal["rectangle"] = Field(description="Rectangle about the pivot.")
    half_length_mm: Positive = quantity("Half of the anterior-posterior length.", _FACE)
    half_width_mm: Positive = quantity("Half of the medial-lateral width.", _FACE)
    hole_radius_mm: NonNegative = quantity("Radius of the hole for a post.", _HOLE, 0.0)

    @model_validator(mode="after")
    def _hole_is_inside(self) -> RectangleFace:
        least = min(self.half_length_mm, self.half_width_mm)
        if self.hole_radius_mm >= least:
            raise fault_at(
                ("hole_radius_mm",),
                f"{self.hole_radius_mm:g}",
                f"a hole inside the face, below {least:g}",
                "Make the hole smaller.",
            )
        return self


class OutlineFace(Settings):
    """Backside whose plan is a polygon with a round hole about the pivot."""

    shape: Literal["outline"] = Field(description="Polygon.")
    corners_mm: tuple[tuple[Finite, Finite], ...] = quantity(
        "Corners [posterior, medial] from the pivot, in their order.",
        Range("mm", -120, -50, 50, 120, "Inserts are 35 to 60 mm long and 60 to 90 mm wide"),
    )
    hole_radius_mm: NonNegative = quantity("Radius of the hole for a post.", _HOLE, 0.0)

    @model_validator(mode="after")
    def _encloses_an_area(self) -> OutlineFace:
        x, z = zip(*self.corners_mm, strict=True) if len(self.corners_mm) > 2 else ((), ())
        ahead = zip(x, z, (*x[1:], *x[:1]), (*z[1:], *z[:1]), strict=True)
        area = 0.5 * abs(sum(a * d - b * c for a, b, c, d in ahead))
        if area <= pi * max(self.hole_radius_mm, _MIN_FACE) ** 2:
            raise fault_at(
                ("corners_mm",),
                f"a polygon of {area:.3g} mm2",
                "three corners and more around a face larger than its hole",
                "List the corners in their order around the face.",
            )
        return self


AnyFace = Annotated[RingFace | RectangleFace | OutlineFace, Field(discriminator="shape")]


class FaceFriction(Settings):
    """Coulomb friction of a face: mu = coefficient (p / reference pressure) ** -exponent."""

    coefficient: NonNegative = quantity(
        "Coefficient at the reference pressure.",
        Range("1", 0, 0.01, 0.2, 1e9, "0.04 to 0.16 measured between 3 and 9 MPa (185142, 2015)"),
    )
    exponent: Annotated[float, Field(ge=0, lt=1)] = quantity(
        "Exponent of the pressure; 0 for Coulomb's law.",
        Range("1", 0, 0, 0.75, 1, "0.38 to 0.70 between 3 and 9 MPa (185142, 2015)", least=0.02),
        0.0,
    )
    reference_pressure_mpa: Positive = quantity(
        "Pressure of the coefficient; without effect where the exponent is 0.",
        Range("MPa", 0.01, 0.5, 20, 100, "Contact pressures of knees"),
        1.0,
    )

    @field_validator("coefficient")
    @classmethod
    def _slides(cls, coefficient: float) -> float:
        if coefficient > _MAX_COEFFICIENT:
            raise fault(
                f"{coefficient:g}",
                f"at most {_MAX_COEFFICIENT:g}",
                "Set movement.held to upper or lower for a face that does not slide.",
            )
        return coefficient


class MobileInsert(Settings):
    """Insert that moves on its tray; friction of both faces decides how much.

    The motion of the activity is that of the femoral component against the tray.
    """

    motion: Literal["mobile"] = Field(description="A motion that friction decides.")
    free: tuple[Glide, ...] = Field(
        ("rotation",),
        description="Coordinates of the insert that are free; a guide holds the others. rotation: "
        "a rotating platform; with anterior_posterior: a rotating and gliding insert; all three: a "
        "meniscal bearing.",
    )
    held: Literal["upper", "lower"] | None = Field(
        None,
        description="Face that does not slide along what is free, whatever its friction. upper: "
        "the insert follows the femoral component; lower: it stays where it is.",
    )
    upper_friction: FaceFriction = Field(description="Friction of the bearing on the femur.")
    lower_friction: FaceFriction = Field(description="Friction of the backside on the tray.")
    anterior_posterior_stop_mm: Positive | None = quantity(
        "Displacement from the middle at which a stop ends gliding; null for none.",
        Range("mm", 0, 0.5, 15, 30, "Gliding inserts have stops at 2 to 10 mm"),
        None,
    )

    @field_validator("free")
    @classmethod
    def _moves(cls, free: tuple[Glide, ...]) -> tuple[Glide, ...]:
        if not free or len(set(free)) != len(free):
            raise fault(
                ", ".join(free) or "none",
                "coordinates, each of them once",
                "Name what is free, or state a micromotion.",
            )
        return free

    @model_validator(mode="after")
    def _stop_has_a_glide(self) -> MobileInsert:
        if self.anterior_posterior_stop_mm is not None and "anterior_posterior" not in self.free:
            raise fault_at(
                ("anterior_posterior_stop_mm",),
                f"{self.anterior_posterior_stop_mm:g} with free: {', '.join(self.free)}",
                "anterior_posterior among what is free",
                "Add it, or set the stop to null.",
            )
        return self


class Micromotion(Settings):
    """Insert that is fixed on its tray but for a stated motion, once per cycle of an activity.

    Displacements are ranges from end to end: anterior-posterior as the cosine of the cycle,
    medial-lateral as its sine, rotation about the pivot as its cosine.
    """

    motion: Literal["micromotion"] = Field(description="A stated motion.")
    anterior_posterior_mm: NonNegative = quantity("Anterior-posterior range.", _SLIDE, 0.0)
    medial_lateral_mm: NonNegative = quantity("Medial-lateral range.", _SLIDE, 0.0)
    rotation_deg: NonNegative = quantity("Range of the rotation.", _TURN, 0.0)

    @model_validator(mode="after")
    def _moves(self) -> Micromotion:
        if not (self.anterior_posterior_mm or self.medial_lateral_mm or self.rotation_deg):
            raise fault(
                "no motion of the insert on its tray",
                "a range above zero",
                "Give a range, or set model to wear.",
            )
        return self


class BacksideSettings(Settings):
    """Backside of the insert: its plan, its motion on the tray, its wear."""

    face: AnyFace = Field(description="Plan of the backside, flat on a flat tray.")
    pivot_mm: tuple[Finite, Finite] = quantity(
        "Posterior and medial position of the axis of rotation, in the frame of the insert.",
        Range("mm", -60, -30, 30, 60, f"{POSTERIOR.source}, {MEDIAL.source}", least=0.06),
        (0.0, 0.0),
    )
    movement: Annotated[MobileInsert | Micromotion, Field(discriminator="motion")] = Field(
        description="How the insert moves on its tray."
    )
    element_mm: Positive = quantity(
        "Width of the elements.", Range("mm", 0.05, 0.3, 4, 20, "A tenth of the face's radius")
    )
    wear_law: str = Field(description="Wear law of the backside, of those of wear.wear_law.")
    wear_factor_mm3_per_n_m: Positive = quantity(
        "Wear factor of the backside, where its law has one.",
        Range("mm3/(N m)", 1e-10, 1e-9, 5e-6, 1e-4, "Straight paths 1e-9 to 1e-7 (from memory)"),
    )

    @model_validator(mode="after")
    def _law_is_known(self) -> BacksideSettings:
        if self.wear_law not in WEAR_LAWS:
            raise fault_at(
                ("wear_law",),
                self.wear_law,
                f"one of: {', '.join(WEAR_LAWS)}",
                "Name one of the laws.",
            )
        return self


class BacksideStudy(CaseStudy):
    """Wear of both faces of an insert."""

    model: Literal["backside"] = Field(
        description="Wear of the bearing of an insert, and of its backside."
    )
    backside: BacksideSettings = Field(description="The backside.")

    def combined_values(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Yield also the ratio of width and length of a rectangular backside."""
        yield from super().combined_values()
        face = self.backside.face
        if isinstance(face, RectangleFace) and len(self.implant.bearings) > 1:
            at = ("backside", "face", "half_width_mm")
            yield "settings.face_width", at, face.half_width_mm / face.half_length_mm

    def job_size(self, count: int) -> int:
        """Number of cases of a job; the place of a mobile insert takes half a minute a case."""
        size = super().job_size(count)
        if self.backside.movement.motion != "mobile" or self.cases_per_job is not None:
            return size
        return min(size, MOBILE_PER_JOB, max(1, ceil(count / 2)))

    @model_validator(mode="after")
    def _surface_stays_fresh(self) -> BacksideStudy:
        if self.wear != self.wear.without_updates():
            raise fault_at(
                ("wear", "blocks"),
                f"blocks: {self.wear.blocks}, mixing: {self.wear.mixing} in a study of model "
                "backside",
                "blocks: 1 and mixing: linear; both faces stay fresh",
                "Set blocks to 1 and mixing to linear.",
            )
        return self

    @model_validator(mode="after")
    def _rotation_is_quasi_static(self) -> BacksideStudy:
        if self.simulation.analysis != "quasi_static":
            raise fault_at(
                ("simulation", "analysis"),
                f"{self.simulation.analysis} in a study of model backside",
                "quasi_static: the moments on the insert are in equilibrium",
                "Set simulation.analysis to quasi_static.",
            )
        return self

    @model_validator(mode="after")
    def _one_of_two_bodies_is_held(self) -> BacksideStudy:
        movement = self.backside.movement
        glides = "medial_lateral" in getattr(movement, "free", ())
        if glides and self.simulation.medial_lateral != "held":
            raise fault_at(
                ("simulation", "medial_lateral"),
                f"{self.simulation.medial_lateral} with an insert that is free along "
                "medial_lateral",
                "held: nothing else states where both are",
                "Set simulation.medial_lateral to held, or hold the insert.",
            )
        return self

    @model_validator(mode="after")
    def _insert_follows_a_motion(self) -> BacksideStudy:
        if self.backside.movement.motion != "mobile":
            return self
        for name, block in self.simulated_activities().items():
            if getattr(block, "control", None) is not None:
                raise fault_at(
                    ("activities", name, "control"),
                    "forces on a mobile insert",
                    "a prescribed motion, which the faces of the insert share",
                    "Remove control, or fix the insert.",
                )
        return self
