"""Settings of the dynamic finite-element knee: bones, cartilage and rods that meet an obstacle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from kneewear.base.faults import fault
from kneewear.base.ranges import Range
from kneewear.base.types import (
    SOLID_MODULUS,
    SOLID_POISSON_RATIO,
    FileName,
    Finite,
    LengthUnit,
    Name,
    NonNegative,
    Removable,
    Settings,
    quantity,
)
from kneewear.geometry.settings import AxesSettings
from kneewear.study.study import Study

Triple = tuple[Finite, Finite, Finite]
Size = Annotated[float, Field(ge=1.0, le=500.0)]
ElementSize = Annotated[float, Field(ge=1.0, le=50.0)]
Poisson = Annotated[float, Field(ge=0.0, le=0.49)]
_POINT = Range("mm", -500, -120, 120, 500, "Within the bones of the knee")
_SIZE = Range("mm", 1, 10, 150, 500, "Bones of the knee are 50 to 100 mm wide")
_SHAFT = Range("mm", 0, 0, 400, 500, "A tibia has 350 to 400 mm (from memory)")
_GAP = Range("mm", 0, 0, 10, 500, "Surfaces of a joint nearly touch")
_TOLERANCE = Range("1", 0, 1e-12, 1e-3, 0.1, "Rounding, and an error of 0.1 %")


class InsertionSettings(Settings):
    """Where a ligament is attached, in the frame of each bone."""

    femur: Triple = quantity(
        "Point on the femur, whose condyles are lowest at height 0 before cartilage and gap are "
        "added.",
        _POINT,
    )
    tibia: Triple = quantity("Point on the tibia, whose plateau is at height 0.", _POINT)


class FibulaSettings(Settings):
    """A fibula, tied to the tibia at the lower ends of both."""

    tie_mm: Size = quantity(
        "Height of the lower ends that are tied; coarse triangles wholly within it.",
        Range("mm", 1, 5, 100, 500, "The source ties the bottom ends"),
    )


class SimplifiedFibulaSettings(FibulaSettings):
    """A block beside the tibia, as low as it."""

    size_mm: tuple[Size, Size, Size] = quantity(
        "Front to back, height and side to side; in cells as high as the lowest of the tibia.",
        _SIZE,
    )
    gap_mm: NonNegative = quantity("Distance from the lateral side of the tibia.", _GAP)
    posterior_mm: Finite = quantity("Distance behind the middle of the tibia.", _POINT)
    ligaments_mm: dict[Name, Triple] = quantity(
        "Points of the ligaments that end on it, in place of those on the tibia.", _POINT
    )


class NaturalFibulaSettings(FibulaSettings):
    """A fibula from a mesh of its surface, in the frame of the tibia."""

    surface: FileName = Field(description="Surface of the proximal fibula.")
    ligaments: tuple[Name, ...] = Field(
        description="Ligaments whose ends on the tibia are on the fibula."
    )


class DishesSettings(Settings):
    """Two hollows of a plateau, below the condyles."""

    radii_mm: tuple[Size, Size] = quantity(
        "Radii of curvature at their lowest points, front to back and side to side; at least "
        "those of the condyles.",
        Range("mm", 1, 10, 400, 500, "From 15 mm to nearly flat"),
    )
    depth_mm: Annotated[float, Field(ge=0.1, le=50.0)] = quantity(
        "Depth of the lowest points below the plateau, which is flat beside the hollows.",
        Range("mm", 0.1, 1, 10, 50, "Plateaus with menisci are some mm deep (from memory)"),
    )


class SimplifiedBonesSettings(Settings):
    """A block with two condyles on a block with a plateau."""

    size_mm: tuple[Size, Size, Size] = quantity(
        "Front to back, height and side to side of the blocks of both bones.", _SIZE
    )
    shaft_mm: Annotated[float, Field(ge=0.0, le=500.0)] = quantity(
        "Further height of each block, away from the joint, in cells up to three times as high. "
        "A blow lasts as long as its wave runs to the end of the bones and back.",
        _SHAFT,
        0.0,
    )
    condyle_radii_mm: tuple[Size, Size] = quantity(
        "Radii of curvature of the condyles at their lowest points, front to back and side to "
        "side.",
        Range("mm", 1, 10, 400, 500, "From 15 mm to nearly flat"),
    )
    condyle_spacing_mm: Size = quantity(
        "Distance between the lowest points of both condyles.",
        Range("mm", 1, 20, 80, 500, "Condyles of adults are 40 to 55 mm apart"),
    )
    dishes: DishesSettings | None = Field(
        None, description="Hollows of the plateau; null for a flat one."
    )
    cartilage_size_mm: tuple[Size, Size] = quantity(
        "Front to back and side to side of the cartilage of each compartment; coarse triangles "
        "whose centres are within it are covered.",
        _SIZE,
    )
    attachments_mm: Annotated[dict[Name, InsertionSettings], Field(min_length=0)] = Field(
        description=(
            "Attachments of each ligament, posterior, superior and medial of the middle of "
            "the knee."
        )
    )
    fibula: SimplifiedFibulaSettings | None = Field(
        None, description="Fibula beside the tibia; null for none."
    )

    @model_validator(mode="after")
    def _blocks_are_possible(self) -> SimplifiedBonesSettings:
        if self.highest_mm >= self.size_mm[1]:
            raise fault(
                f"a lower side of the femur that rises {self.highest_mm:.1f} mm",
                f"less than its height of {self.size_mm[1]:g} mm",
                "Take larger radii, or a higher block.",
            )
        return self

    @model_validator(mode="after")
    def _condyles_fit_into_dishes(self) -> SimplifiedBonesSettings:
        own = self.dishes
        if own is None:
            return self
        for direction, dish, condyle in zip(
            ("front to back", "side to side"), own.radii_mm, self.condyle_radii_mm, strict=True
        ):
            if dish < condyle:
                raise fault(
                    f"dishes.radii_mm: {dish:g} mm {direction}",
                    f"at least the {condyle:g} mm of the condyles",
                    "Take flatter dishes, or more curved condyles (condyle_radii_mm).",
                )
        if own.depth_mm >= self.size_mm[1]:
            raise fault(
                f"dishes.depth_mm: {own.depth_mm:g} mm",
                f"less than the height of the block, {self.size_mm[1]:g} mm",
                "Take shallower dishes, or a higher block.",
            )
        return self

    @model_validator(mode="after")
    def _fibula_is_beside_the_tibia(self) -> SimplifiedBonesSettings:
        own = self.fibula
        if own is None:
            return self
        _check_ligaments(own.ligaments_mm, self.attachments_mm)
        height = self.size_mm[1] + self.shaft_mm
        if not own.tie_mm < own.size_mm[1] <= height:
            raise fault(
                f"a fibula {own.size_mm[1]:g} mm high, tied over {own.tie_mm:g} mm",
                f"more than the tie, at most the {height:g} mm of the tibia",
                "Correct its height (fibula.size_mm) or fibula.tie_mm.",
            )
        if abs(own.posterior_mm) >= 0.5 * (own.size_mm[0] + self.size_mm[0]):
            raise fault(
                f"a fibula {own.posterior_mm:g} mm behind the middle of the tibia",
                "a place beside the tibia, to which it is tied",
                "Correct fibula.posterior_mm.",
            )
        return self

    @property
    def highest_mm(self) -> float:
        """Highest point of the lower side of the femur, mm."""
        across = max(self.condyle_spacing_mm, self.size_mm[2] - self.condyle_spacing_mm)
        ends = (0.5 * self.size_mm[0], 0.5 * across)
        return sum(0.5 * end**2 / r for end, r in zip(ends, self.condyle_radii_mm, strict=True))


class NaturalBonesSettings(Settings):
    """Bones of a natural knee from meshes of surfaces, and attachments from a table of bundles."""

    tibia: FileName = Field(description="Closed surface of the proximal tibia.")
    tibial_sheet: FileName = Field(
        description="Subchondral bone of the tibia, an open sheet; cartilage covers it."
    )
    femoral_sheet: FileName = Field(
        description="The same of the femur; walls and a top from a convex hull make it a block."
    )
    unit: LengthUnit = Field(
        description="Unit of the surfaces; points of the table of ligaments are in mm."
    )
    axes: AxesSettings = Field(
        description="Anatomical directions of the axes of surfaces and table."
    )
    femur_top_mm: Finite = quantity("Height of the cut through the femur, in its frame.", _POINT)
    shaft_mm: Annotated[float, Field(ge=0.0, le=500.0)] = quantity(
        "Length by which tibia and fibula are extruded downwards, and the femur upwards.",
        _SHAFT,
        0.0,
    )
    ligaments: FileName = Field(description="Table of two-point bundles, as of multibody studies.")
    frames: dict[Name, Literal["femur", "tibia", "patella"]] = Field(
        description="Bone of each frame of the table."
    )
    bundles: dict[Name, Name] = Field(
        description=(
            "For each ligament the beginning of the names of its bundles; its ends are "
            "their mean ends."
        )
    )
    fibula: NaturalFibulaSettings | None = Field(None, description="Fibula; null for none.")

    @model_validator(mode="after")
    def _fibula_has_known_ligaments(self) -> NaturalBonesSettings:
        if self.fibula is not None:
            _check_ligaments(self.fibula.ligaments, self.bundles)
        return self

    @property
    def files(self) -> dict[str, str]:
        """Data files by name."""
        names = "tibia", "tibial_sheet", "femoral_sheet", "ligaments"
        found = {name: getattr(self, name) for name in names}
        return found if self.fibula is None else found | {"fibula": self.fibula.surface}


def _check_ligaments(own: Iterable[str], known: Iterable[str]) -> None:
    """Fault if a ligament of the fibula is none of the knee."""
    if unknown := sorted(set(own) - set(known)):
        raise fault(
            f"ligaments of the fibula: {', '.join(unknown)}",
            f"some of {', '.join(known)}",
            "Correct the names.",
        )


class BonesSettings(Settings):
    """Geometry of the bones and their meshes."""

    source: Literal["simplified", "natural"] = Field(
        description="Blocks that need no data, or surfaces of a natural knee."
    )
    simplified: SimplifiedBonesSettings | None = Field(description="Shape of the blocks.")
    natural: NaturalBonesSettings | None = Field(
        description="Surfaces of natural bones; null for none."
    )
    element_mm: ElementSize = quantity(
        "Largest edge of cells of simplified bones, wanted edge length of natural ones, before "
        "refinement.",
        Range("mm", 1, 2, 40, 50, "Bones are 80 mm wide"),
    )
    cartilage_mm: Annotated[float, Field(ge=0.1, le=10.0)] = quantity(
        "Constant thickness of the cartilage.",
        Range("mm", 0.1, 0.5, 7, 10, "Cartilage is up to 7 mm thick"),
    )
    joint_gap_mm: NonNegative = quantity(
        "Least vertical distance between both cartilages at the start; the femur is moved up or "
        "down for it.",
        _GAP,
    )
    patch_radius_mm: Size = quantity(
        "Coarse triangles with centres so near to the middle one are a ligament's insertion, at "
        "least one.",
        Range("mm", 1, 1, 30, 500, "Insertions are 5 to 20 mm wide"),
    )
    refinements: Annotated[int, Field(ge=0, le=3)] = quantity(
        "Uniform refinements; each divides every element into eight.",
        Range("1", 0, 0, 3, 3, "Three make 512 elements of one"),
    )

    @property
    def fibula(self) -> FibulaSettings | None:
        """The fibula of the chosen source; None without one."""
        own = self.natural if self.source == "natural" else self.simplified
        return None if own is None else own.fibula

    @model_validator(mode="after")
    def _needs_its_block(self) -> BonesSettings:
        if getattr(self, self.source) is None:
            raise fault(
                f"source: {self.source} without a block '{self.source}'",
                f"a block '{self.source}'",
                f"Fill fe_knee.bones.{self.source} in, or choose the other source.",
            )
        return self


class SolidMaterialSettings(Settings):
    """Linear elastic material."""

    youngs_modulus_mpa: Annotated[float, Field(ge=0.01, le=1e6)] = quantity(
        "Young's modulus.", SOLID_MODULUS
    )
    poisson_ratio: Poisson = quantity("Poisson's ratio.", SOLID_POISSON_RATIO)
    density_g_per_cm3: Annotated[float, Field(ge=0.01, le=25.0)] = quantity(
        "Mass density.",
        Range("g/cm3", 0.01, 0.8, 5, 25, "Soft tissue 1.0 to 1.1, bone up to 2, titanium 4.4"),
    )


class ViscousMaterialSettings(SolidMaterialSettings):
    """Kelvin-Voigt material."""

    viscosity_mpa_s: NonNegative = quantity(
        "Viscosity of the Kelvin-Voigt law.",
        Range("MPa s", 0, 0, 100, 1e4, "A modulus of 10 MPa relaxes within seconds at most"),
    )


class KneeMaterialsSettings(Settings):
    """Materials of the dynamic knee."""

    bone: SolidMaterialSettings = Field(description="Material of the bones.")
    cartilage: ViscousMaterialSettings = Field(description="Material of the cartilage.")
    ligament: SolidMaterialSettings = Field(description="Material of the rods.")


class RodSettings(Settings):
    """Ligaments as Cosserat rods of circular cross-section."""

    radius_mm: Annotated[float, Field(ge=0.1, le=20.0)] = quantity(
        "Radius of their circular cross-section.",
        Range("mm", 0.1, 0.5, 10, 20, "Cruciate ligaments are about 10 mm thick"),
    )
    elements: Annotated[int, Field(ge=1, le=200)] = quantity(
        "Elements of each rod.", Range("1", 1, 2, 100, 200, "A rod bends within several elements")
    )
    pre_strain: Annotated[float, Field(ge=0.0, le=0.2)] = quantity(
        "Distance of the insertions at the start over the unstressed length, less one. The bones "
        "are unstressed, so that tension pulls them from the first step.",
        Range("1", 0, 0, 0.06, 0.2, "Ligaments of the extended knee: up to 5 % (from memory)"),
        0.0,
    )


class RegionSettings(Settings):
    """A part of a bone's surface."""

    body: Literal["femur", "tibia", "fibula"] = Field(description="Bone.")
    point_mm: Triple = quantity("Place on it, in the frame of the attachments.", _POINT)
    radius_mm: Size = quantity(
        "Triangles of the finest mesh with centres so near to the one nearest to the place.",
        Range("mm", 1, 1, 50, 500, "Insertions are 5 to 20 mm wide"),
    )


class TractionSettings(RegionSettings):
    """A constant force, even over a part of a bone's surface, such as of a muscle."""

    force_n: Triple = quantity(
        "Force, posterior, superior and medial.",
        Range(
            "N", -1e5, -5000, 5000, 1e5, "Muscles of the knee: up to 5 kN (from memory)", least=1
        ),
    )


class PrescribedSettings(RegionSettings):
    """A part of a bone's surface that is held, or moved along a straight line and then held."""

    displacement_mm: Triple = quantity(
        "Displacement, posterior, superior and medial; zero holds the part where it is.",
        Range("mm", -50, -5, 5, 50, "Strains and rotations are small", least=1e-4),
    )
    ramp_s: NonNegative = quantity(
        "Time in which the displacement is reached, at a constant velocity.",
        Range("s", 0, 0, 1, 100, "0.1 ms passes a wave through the bones"),
        0.0,
    )


class CouplingSettings(Settings):
    """Dirichlet-Neumann iteration between rods and bones."""

    rotation: Literal["mean_gradient", "least_squares"] = Field(
        description=(
            "Rotation of an insertion, the polar factor of its mean deformation gradient "
            "(as the source) or the least-squares rotation of its displacement in the step,"
            " which conserves energy."
        )
    )
    relative_to: Literal["displacement", "step"] = Field(
        description=(
            "What corrections are related to, the largest displacement of rods and of bones"
            " since the start, or in the step; the source does not say which."
        )
    )
    damping: Annotated[float, Field(gt=0.0, le=1.0)] = quantity(
        "Part of the way that the rods' ends move towards their insertions in an iteration, along "
        "a geodesic.",
        Range("1", 0, 0.05, 1, 1, "Less makes no progress"),
    )
    tolerance: Annotated[float, Field(gt=0.0, le=0.1)] = quantity(
        "Relative correction of rods and bones, infinity norm, at which the iteration ends.",
        _TOLERANCE,
    )
    max_iterations: Annotated[int, Field(ge=1, le=200)] = quantity(
        "Iterations after which a step fails.",
        Range("1", 1, 5, 200, 200, "A step takes about ten"),
    )


class ContactSolverSettings(Settings):
    """Solver of the contact problem of a time step."""

    method: Literal["truncated_newton", "direct"] = Field(
        description=(
            "Truncated nonsmooth Newton multigrid, or a primal-dual active set with a sparse "
            "factorisation."
        )
    )
    tolerance: Annotated[float, Field(gt=0.0, le=0.1)] = quantity(
        "Relative correction in the energy norm at which the iteration ends.", _TOLERANCE
    )
    smoothing_steps: Annotated[int, Field(ge=1, le=10)] = quantity(
        "Steps of Gauss and Seidel before and after the correction of coarser meshes.",
        Range("1", 1, 1, 10, 10, "Three are usual"),
    )
    linear_cycles: Annotated[int, Field(ge=1, le=10)] = quantity(
        "Linear multigrid cycles in an iteration of the truncated Newton method; more than one "
        "are accelerated by conjugate gradients. The source has one.",
        Range("1", 1, 1, 10, 10, "One in the source"),
    )
    max_iterations: Annotated[int, Field(ge=1, le=1000)] = quantity(
        "Iterations after which a step fails.",
        Range("1", 1, 10, 1000, 1000, "A step takes tens"),
    )


class FeKneeSettings(Settings):
    """A knee that falls on a rigid obstacle."""

    bones: BonesSettings = Field(description="Bones and their meshes.")
    materials: KneeMaterialsSettings = Field(description="Materials.")
    rods: RodSettings | None = Field(
        description="Ligaments as Cosserat rods; null leaves them out."
    )
    tractions: Annotated[dict[Name, TractionSettings], Removable] = Field(
        {}, description="Constant forces on the bones by name; null removes one."
    )
    prescribed: Annotated[dict[Name, PrescribedSettings], Removable] = Field(
        {}, description="Parts of bones with a given displacement by name; null removes one."
    )
    obstacle_gap_mm: NonNegative = quantity(
        "Distance of the rigid horizontal obstacle below tibia and fibula at the start.", _GAP
    )
    velocity_m_per_s: Triple = quantity(
        "Velocity of everything at the start, posterior, superior and medial.",
        Range("m/s", -100, -10, 10, 100, "5 m/s after a fall of 1.3 m", least=0.001),
    )
    gravity_m_per_s2: Triple = quantity(
        "Gravity on everything.",
        Range("m/s2", -1000, -9.83, 9.83, 1000, "9.81 on earth", least=0.1),
    )
    time_step_s: Annotated[float, Field(ge=1e-9, le=1e-2)] = quantity(
        "Time step.", Range("s", 1e-9, 1e-7, 1e-3, 1e-2, "An impact takes about 10 ms")
    )
    steps: Annotated[int, Field(ge=1, le=100_000)] = quantity(
        "Time steps.", Range("1", 1, 1, 1e5, 1e5, "An impact takes some hundred steps")
    )
    frames: Annotated[int, Field(ge=1, le=200)] = quantity(
        "Times at which displacements and stresses are kept, evenly over the steps.",
        Range("1", 1, 1, 200, 200, "Size of the results"),
    )
    shown_steps: tuple[Annotated[int, Field(ge=0, le=100_000)], ...] = quantity(
        "Steps that are kept too, and that the figure of frames shows; without any up to the last "
        "step, it shows even ones.",
        Range("1", 0, 0, 1e5, 1e5, "Steps of the run"),
        (),
    )
    coupling: CouplingSettings = Field(
        description="Dirichlet-Neumann iteration between rods and bones."
    )
    solver: ContactSolverSettings = Field(description="Solver of the contact problem.")

    @model_validator(mode="after")
    def _multigrid_has_levels(self) -> FeKneeSettings:
        if self.bones.refinements == 0 and self.solver.method != "direct":
            raise fault(
                f"solver.method: {self.solver.method} with bones.refinements: 0",
                "one refinement or more for multigrid, or method: direct",
                "Refine the meshes, or set the method to direct.",
            )
        return self

    @model_validator(mode="after")
    def _regions_are_possible(self) -> FeKneeSettings:
        for kind, regions in (("tractions", self.tractions), ("prescribed", self.prescribed)):
            for name, one in regions.items():
                if one.body == "fibula" and self.bones.fibula is None:
                    raise fault(
                        f"{kind}.{name}.body: fibula without a fibula",
                        "femur or tibia",
                        f"Fill fe_knee.bones.{self.bones.source}.fibula in, or correct the bone.",
                    )
        for name, moved in self.prescribed.items():
            if any(moved.displacement_mm) and moved.ramp_s < self.time_step_s:
                raise fault(
                    f"prescribed.{name}: a displacement within {moved.ramp_s:g} s",
                    f"at least a time step, {self.time_step_s:g} s",
                    "Set ramp_s; a jump would be a blow of infinite speed.",
                )
        return self

    @property
    def files(self) -> dict[str, str]:
        """Data files of the bones by name; none of simplified ones."""
        natural = self.bones.natural
        return natural.files if self.bones.source == "natural" and natural is not None else {}

    @property
    def ligaments(self) -> tuple[str, ...]:
        """Names of the rods."""
        if self.rods is None:
            return ()
        bones = self.bones
        if bones.source == "natural" and bones.natural is not None:
            return tuple(bones.natural.bundles)
        return tuple(bones.simplified.attachments_mm) if bones.simplified is not None else ()


class FeKneeStudy(Study):
    """A dynamic finite-element knee."""

    model: Literal["fe_knee"] = Field(description="Dynamic finite-element knee.")
    has_knee: ClassVar[bool] = False
    fe_knee: FeKneeSettings = Field(description="Bones, materials, fall and solvers.")

    @property
    def model_files(self) -> Mapping[str, str]:
        """Data files of the knee by name, as the settings give them."""
        return self.fe_knee.files


SETTINGS = FeKneeStudy
