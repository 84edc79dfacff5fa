"""Settings of the spatial knee."""

from __future__ import annotations

from statistics import mean
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from kneewear.base.faults import fault, fault_at
from kneewear.base.ranges import Range
from kneewear.base.types import (
    FLEXION,
    Finite,
    Name,
    NonNegative,
    Positive,
    Settings,
    check_inertia,
    check_unit,
    quantity,
)
from kneewear.knees.papers.point_contact.ranges import (
    CONDYLE_RADIUS,
    FALL,
    GRAVITY,
    INERTIA,
    OUTPUT_STEP,
    SHANK_MASS,
    SQUARE_STIFFNESS,
)
from kneewear.knees.papers.point_contact.settings import (
    BLOCK,
    BLOCKS,
    SAMPLES,
    Blocks,
    PointContactSettings,
    Samples,
    require_middle,
)
from kneewear.knees.settings.bodies import POINT
from kneewear.knees.settings.composed_knee import Law

Space = tuple[Finite, Finite, Finite]
_STRETCH = Range(
    "1", 0.5, 0.8, 1.15, 1.5, "0.94 to 1.05 (Machado, Table 6.5); ligaments fail at 1.15"
)


class SpatialLigamentSettings(Settings):
    """A ligament between two points."""

    femur_mm: Space = quantity("Attachment in the femur's frame.", POINT)
    tibia_mm: Space = quantity("Attachment in the tibia's frame.", POINT)
    stretch_at_extension: Positive = quantity(
        "Length at the start over the length up to which it is slack.", _STRETCH
    )
    stiffness_n_per_mm2: Positive = quantity(
        "Factor of the square of its stretch.", SQUARE_STIFFNESS
    )


class SpatialBodySettings(Settings):
    """The tibia: start, mass and inertia about the axes of its centre of mass."""

    position_mm: Space = quantity("Start of the centre of mass in the femur's frame.", POINT)
    mass_kg: Positive = quantity("Mass.", SHANK_MASS)
    inertia_kg_m2: Annotated[tuple[Positive, Positive, Positive], AfterValidator(check_inertia)] = (
        quantity("Moments of inertia about the axes of the centre of mass.", INERTIA)
    )


class SphereOnPlaneSettings(Settings):
    """A condyle as a sphere of the femur, on a plane of the tibia."""

    centre_mm: Space = quantity("Centre of the sphere in the femur's frame.", POINT)
    radius_mm: Positive = quantity("Its radius.", CONDYLE_RADIUS)
    plane_mm: Space = quantity("A point of the plane in the tibia's frame.", POINT)
    plane_normal: Annotated[Space, AfterValidator(check_unit)] = quantity(
        "Outward unit normal of the plane in the tibia's frame.",
        Range("1", -1, -1, 1, 1, "Components of a unit vector"),
    )


class LookupSettings(Settings):
    """Contact by lookup tables of both surfaces, compared with spheres on endless planes."""

    duration_s: Positive = quantity("Duration of these motions.", FALL)
    edge_mm: Positive = quantity(
        "Edge of the squares of the planes.",
        Range("mm", 1, 40, 100, 1000, "74.4 (Machado, section 6.2.2)"),
    )
    samples: Samples = quantity("Samples of each table along each parameter.", SAMPLES)
    block: Samples = quantity("Samples of a block of a table along each parameter.", BLOCK)
    window: Blocks = quantity(
        "Blocks in memory of a storage window, along u and v; odd and 3 or more, or all.", BLOCKS
    )

    @model_validator(mode="after")
    def _window_has_a_middle(self) -> LookupSettings:
        require_middle("window", self.window, -(-self.samples // self.block))
        return self


class SpatialSettings(Settings):
    """Knee with two spheres on planes (Machado thesis, chapter 6)."""

    model: Literal["spatial"] = Field(description="This model: two spheres on planes.")
    duration_s: Positive = quantity("Longest duration of the motion.", FALL)
    output_step_s: Positive = quantity("Time between two rows of the results.", OUTPUT_STEP)
    gravity_mm_per_s2: NonNegative = quantity(
        "Acceleration towards posterior (minus y); zero without.", GRAVITY
    )
    last_flexion_deg: Positive = quantity("Flexion at which the results end.", FLEXION)
    tibia: SpatialBodySettings = Field(description="The body that moves.")
    ligaments: dict[Name, SpatialLigamentSettings] = Field(
        min_length=1, description="Ligament fibres by name."
    )
    condyles: dict[Literal["medial", "lateral"], SphereOnPlaneSettings] = Field(
        min_length=2, description="Spheres and planes by side."
    )
    contact: PointContactSettings = Field(description="Materials of both contacts.")
    laws: Annotated[tuple[Law, ...], Field(min_length=1)] = Field(
        description="Contact laws that are compared; the first is the usual one."
    )
    assumed_stretches: dict[Name, Positive] = quantity(
        "Stretches at extension of ligaments that replace their own in a further motion under the "
        "first law, whose numbers are listed beside the others.",
        _STRETCH,
        {},
    )
    lookup: LookupSettings | None = Field(
        None, description="Contact by lookup tables under the first law; null without."
    )
    files: ClassVar[dict[str, str]] = {}

    @model_validator(mode="after")
    def _assumed_ligaments_exist(self) -> SpatialSettings:
        if unknown := sorted(set(self.assumed_stretches) - set(self.ligaments)):
            raise fault_at(
                ("assumed_stretches", unknown[0]),
                f"a ligament '{unknown[0]}' that the knee does not have",
                f"some of {', '.join(self.ligaments)}",
                "Correct the name.",
            )
        return self

    @property
    def assumed(self) -> SpatialSettings:
        """Knee with the assumed stretches in place of the printed ones."""
        ligaments = {
            name: one.model_copy(
                update={
                    "stretch_at_extension": self.assumed_stretches.get(
                        name, one.stretch_at_extension
                    )
                }
            )
            for name, one in self.ligaments.items()
        }
        return self.model_copy(update={"ligaments": ligaments})

    @model_validator(mode="after")
    def _sides_are_where_they_belong(self) -> SpatialSettings:
        medial, lateral = (
            [one.femur_mm[0] for name, one in self.ligaments.items() if name.startswith(start)]
            for start in ("MCL", "LCL")
        )
        # The collateral ligaments say which side is medial.
        apart = self.condyles["medial"].centre_mm[0] - self.condyles["lateral"].centre_mm[0]
        if medial and lateral and apart * (mean(medial) - mean(lateral)) <= 0.0:
            raise fault_at(
                ("condyles", "medial", "centre_mm"),
                f"a medial centre at x {apart:+g} mm of the lateral one",
                f"the side of the medial collateral ligament, at x {mean(medial):g} mm",
                "Exchange medial and lateral.",
            )
        for side, condyle in self.condyles.items():
            # The condyle is proximal of its plateau, z.
            if condyle.plane_normal[2] <= 0.0:
                raise fault_at(
                    ("condyles", side, "plane_normal"),
                    f"a normal with z {condyle.plane_normal[2]:g}",
                    "an outward normal, towards the femur: z above 0",
                    "Reverse its sign.",
                )
        return self

    @model_validator(mode="after")
    def _layers_have_no_loss(self) -> SpatialSettings:
        if self.contact.layer is not None and set(self.laws) != {"hertz"}:
            raise fault(
                f"laws: {', '.join(self.laws)} with a layer",
                "hertz, because the loss of a double layer is undefined",
                "Set the laws to hertz, or the layer and its thickness to null.",
            )
        return self


SETTINGS = SpatialSettings
