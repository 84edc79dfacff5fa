"""Settings of the dynamic finite-element knee: bones, cartilage and rods that meet an obstacle."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.settings.base import Study
from kneewear.settings.faults import fault
from kneewear.settings.implant import AxesSettings
from kneewear.settings.types import FileName, Finite, Name, NonNegative, Settings

Triple = tuple[Finite, Finite, Finite]
Size = Annotated[float, Field(ge=1.0, le=500.0)]
ElementSize = Annotated[float, Field(ge=1.0, le=50.0)]
Poisson = Annotated[float, Field(ge=0.0, le=0.49)]


class InsertionSettings(Settings):
    """Where a ligament is attached, in the frame of each bone."""

    femur: Triple
    tibia: Triple


class SimplifiedBonesSettings(Settings):
    """A block with two condyles on a block with a flat plateau."""

    size_mm: tuple[Size, Size, Size]
    condyle_radii_mm: tuple[Size, Size]
    condyle_spacing_mm: Size
    cartilage_size_mm: tuple[Size, Size]
    attachments_mm: Annotated[dict[Name, InsertionSettings], Field(min_length=0)]

    @model_validator(mode="after")
    def _blocks_are_possible(self) -> SimplifiedBonesSettings:
        if self.highest_mm >= self.size_mm[1]:
            raise fault(
                f"a lower side of the femur that rises {self.highest_mm:.1f} mm",
                f"less than its height of {self.size_mm[1]:g} mm",
                "Take larger radii, or a higher block.",
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

    tibia: FileName
    tibial_sheet: FileName
    femoral_sheet: FileName
    unit: Literal["m", "mm"]
    axes: AxesSettings
    femur_top_mm: Finite
    ligaments: FileName
    frames: dict[Name, Literal["femur", "tibia", "patella"]]
    bundles: dict[Name, Name]

    @property
    def files(self) -> dict[str, str]:
        """Data files by name."""
        names = "tibia", "tibial_sheet", "femoral_sheet", "ligaments"
        return {name: getattr(self, name) for name in names}


class BonesSettings(Settings):
    """Geometry of the bones and their meshes."""

    source: Literal["simplified", "natural"]
    simplified: SimplifiedBonesSettings | None
    natural: NaturalBonesSettings | None
    element_mm: ElementSize
    cartilage_mm: Annotated[float, Field(ge=0.1, le=10.0)]
    joint_gap_mm: NonNegative
    patch_radius_mm: Size
    refinements: Annotated[int, Field(ge=0, le=3)]

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

    youngs_modulus_mpa: Annotated[float, Field(ge=0.01, le=1e6)]
    poisson_ratio: Poisson
    density_g_per_cm3: Annotated[float, Field(ge=0.01, le=25.0)]


class ViscousMaterialSettings(SolidMaterialSettings):
    """Kelvin-Voigt material."""

    viscosity_mpa_s: NonNegative


class KneeMaterialsSettings(Settings):
    """Materials of the dynamic knee."""

    bone: SolidMaterialSettings
    cartilage: ViscousMaterialSettings
    ligament: SolidMaterialSettings


class RodSettings(Settings):
    """Ligaments as Cosserat rods of circular cross-section."""

    radius_mm: Annotated[float, Field(ge=0.1, le=20.0)]
    elements: Annotated[int, Field(ge=1, le=200)]


class CouplingSettings(Settings):
    """Dirichlet-Neumann iteration between rods and bones."""

    rotation: Literal["mean_gradient", "least_squares"]
    relative_to: Literal["displacement", "step"]
    damping: Annotated[float, Field(gt=0.0, le=1.0)]
    tolerance: Annotated[float, Field(gt=0.0, le=0.1)]
    most_iterations: Annotated[int, Field(ge=1, le=200)]


class ContactSolverSettings(Settings):
    """Solver of the contact problem of a time step."""

    method: Literal["truncated_newton", "active_set", "direct"]
    tolerance: Annotated[float, Field(gt=0.0, le=0.1)]
    smoothing_steps: Annotated[int, Field(ge=1, le=10)]
    linear_cycles: Annotated[int, Field(ge=1, le=10)]
    most_iterations: Annotated[int, Field(ge=1, le=1000)]


class FeKneeSettings(Settings):
    """A knee that falls on a rigid obstacle."""

    bones: BonesSettings
    materials: KneeMaterialsSettings
    rods: RodSettings | None
    obstacle_gap_mm: NonNegative
    velocity_m_per_s: Triple
    gravity_m_per_s2: Triple
    time_step_s: Annotated[float, Field(ge=1e-9, le=1e-2)]
    steps: Annotated[int, Field(ge=1, le=100_000)]
    frames: Annotated[int, Field(ge=1, le=200)]
    coupling: CouplingSettings
    solver: ContactSolverSettings

    @model_validator(mode="after")
    def _multigrid_has_levels(self) -> FeKneeSettings:
        if self.bones.refinements == 0 and self.solver.method != "direct":
            raise fault(
                f"solver.method: {self.solver.method} with bones.refinements: 0",
                "one refinement or more for multigrid, or method: direct",
                "Refine the meshes, or set the method to direct.",
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

    kind: Literal["fe_knee"]
    fe_knee: FeKneeSettings
