"""Settings of a study: one closed, frozen tree that says type, unit, range and meaning of each key.

Default values stand in `config/config.yaml` only; a key may be left out here where leaving it out
has a meaning of its own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from kneewear.activity_settings import ActivitySettings, FileActivity
from kneewear.calibration_settings import CalibrationSettings
from kneewear.setting_faults import fault, fault_at, refusal, suggestion
from kneewear.setting_types import (
    BodyMass,
    Finite,
    Modulus,
    NonNegative,
    Positive,
    Settings,
    Thickness,
    ascending,
)
from kneewear.settings_file import (
    SettingsFile,
    read_settings,  # noqa: F401 - the public name of it
    read_settings_file,
)
from kneewear.uncertainty_settings import UncertaintySettings, check_constants

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
Coordinate = Literal[
    "anterior_posterior",
    "superior_inferior",
    "medial_lateral",
    "varus_valgus",
    "internal_external",
    "flexion",
]
Direction = Literal["posterior", "anterior", "superior", "inferior", "medial", "lateral"]

_UNIT_VECTORS: dict[str, tuple[int, int, int]] = {
    "posterior": (1, 0, 0),
    "anterior": (-1, 0, 0),
    "superior": (0, 1, 0),
    "inferior": (0, -1, 0),
    "medial": (0, 0, 1),
    "lateral": (0, 0, -1),
}


class SideValues(Settings):
    """One positive number for each side."""

    medial: Positive = Field(description="Value of the medial side.")
    lateral: Positive = Field(description="Value of the lateral side.")


class SideOffsets(Settings):
    """One signed number for each side."""

    medial: Finite = Field(description="Value of the medial side.")
    lateral: Finite = Field(description="Value of the lateral side.")


class FemoralArc(Settings):
    """An arc of the condyles' sagittal outline."""

    from_flexion_deg: Annotated[float, Field(gt=-45, lt=140)] = Field(
        description="Flexion at which the condyles' lowest line comes onto it, deg."
    )
    radius_mm: Positive = Field(description="Its radius, mm.")


class CamSettings(Settings):
    """Cam of a posterior-stabilised implant: a bar between the condyles, in the femoral frame."""

    posterior_mm: Finite = Field(description="Place of its axis behind the femoral origin, mm.")
    superior_mm: Finite = Field(description="Place of its axis above the femoral origin, mm.")
    radius_mm: Positive = Field(description="Radius about its axis, at its middle, mm.")
    coronal_radius_mm: Positive = Field(description="Radius of its outline across, mm.")
    half_width_mm: Positive = Field(description="Half-width before its rounded ends, mm.")
    edge_radius_mm: Positive = Field(description="Radius of its rounded ends, mm.")


class PostSettings(Settings):
    """Post of a posterior-stabilised insert: its straight back, which meets the cam."""

    posterior_mm: Finite = Field(description="Place of its back behind the insert's origin, mm.")
    height_mm: Positive = Field(description="Height above the bottom of the dishes, mm.")
    depth_mm: Positive = Field(description="Thickness from its back to its front, mm.")
    coronal_radius_mm: Positive = Field(description="Radius of its back across, mm.")
    half_width_mm: Positive = Field(description="Half-width before its rounded edges, mm.")
    edge_radius_mm: Positive = Field(description="Radius of its rounded edges, mm.")


class CamAndPostSettings(Settings):
    """What makes an implant a posterior-stabilised one."""

    cam: CamSettings = Field(description="Cam of the femoral component.")
    post: PostSettings = Field(description="Post of the insert.")


class ParametricImplantSettings(Settings):
    """Shape of the built-in implant, mm: cruciate-retaining, or with cam and post."""

    femoral_sagittal_radius_mm: Positive = Field(
        description="Radius of the condyles about the flexion axis at their lowest line."
    )
    femoral_arcs: tuple[FemoralArc, ...] = Field(
        description="Arcs that follow it without a kink towards posterior, flexion ascending; an "
        "empty list gives condyles of revolution."
    )
    femoral_coronal_radius_mm: SideValues = Field(
        description="Radius of the condyles across, in the coronal plane."
    )
    femoral_half_width_mm: Positive = Field(
        description="Half-width of a condyle's bearing part, before its rounded edges."
    )
    femoral_edge_radius_mm: Positive = Field(
        description="Radius of the rounded edges of the condyles."
    )
    condyle_spacing_mm: Positive = Field(
        description="Distance between the middles of the two condyles."
    )
    plateau_sagittal_radius_mm: Positive = Field(
        description="Radius of the plateaus from front to back; large values are nearly flat."
    )
    plateau_coronal_radius_mm: SideValues = Field(
        description="Radius of the plateaus across; not below that of the condyle."
    )
    plateau_land_half_width_mm: Positive = Field(
        description="Half-width of a plateau's gently dished land, before its rounded edges."
    )
    plateau_edge_radius_mm: SideValues = Field(
        description="Radius of the rounded edges of the plateaus."
    )
    plateau_spacing_mismatch_mm: SideOffsets = Field(
        description="How much farther out a plateau's middle lies than that of its condyle."
    )
    plateau_half_length_mm: Positive = Field(
        description="Half of the front-to-back length of the plateaus."
    )
    extra_thickness_mm: NonNegative = Field(
        description="Insert thickness at the plateau's lowest line minus the nominal one."
    )
    cam_and_post: CamAndPostSettings | None = Field(
        description="Cam and post of a posterior-stabilised implant; null for a cruciate-retaining "
        "one."
    )

    @field_validator("femoral_arcs")
    @classmethod
    def _flexion_ascends(cls, arcs: tuple[FemoralArc, ...]) -> tuple[FemoralArc, ...]:
        starts = [arc.from_flexion_deg for arc in arcs]
        if any(later <= earlier for earlier, later in pairwise(starts)):
            raise fault(
                f"from_flexion_deg {', '.join(f'{start:g}' for start in starts)}",
                "ascending angles",
                "Order the arcs from anterior to posterior.",
            )
        return arcs


class AxesSettings(Settings):
    """Anatomical direction of each axis of a mesh file."""

    x: Direction = Field(description="Direction the file's +x axis points to.")
    y: Direction = Field(description="Direction the file's +y axis points to.")
    z: Direction = Field(description="Direction the file's +z axis points to.")

    def handedness(self) -> int:
        """Determinant of the file's axes along (posterior, superior, medial).

        Returns
        -------
        int
            1 for the axes of a right knee, -1 for those of a left knee, 0 when two axes share a
            line.
        """
        (a, b, c), (d, e, f), (g, h, i) = (_UNIT_VECTORS[axis] for axis in (self.x, self.y, self.z))
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


class InsertRegion(Settings):
    """Window of the insert's horizontal plane over which one plateau is fitted."""

    x: tuple[Finite, Finite] = Field(description="Anterior and posterior limit, mm, ascending.")
    z: tuple[Finite, Finite] = Field(
        description="Limits from lateral to medial, mm, ascending; medial is positive."
    )

    _check = field_validator("x", "z")(ascending)


class InsertRegions(Settings):
    """Window of each plateau."""

    medial: InsertRegion = Field(description="Window of the medial plateau.")
    lateral: InsertRegion = Field(description="Window of the lateral plateau.")


class FemoralRegion(Settings):
    """Part of the femoral component over which one condyle is fitted."""

    z: tuple[Finite, Finite] = Field(
        description="Limits from lateral to medial, mm, ascending; medial is positive. The patch "
        "ends on the rounded outer rim when that comes before the outer limit."
    )
    angle_deg: tuple[Finite, Finite] = Field(
        description="Limits of the angle about the condyles' best-fitting axis, deg, ascending; "
        "0 is distal, posterior positive."
    )

    _check = field_validator("z", "angle_deg")(ascending)


class FemoralRegions(Settings):
    """Part of each condyle."""

    medial: FemoralRegion = Field(description="Part of the medial condyle.")
    lateral: FemoralRegion = Field(description="Part of the lateral condyle.")


class KnotSpacingSettings(Settings):
    """Smallest distance of the knots of fitted surfaces; no more are taken than needed."""

    along: Positive = Field(description="In the sagittal direction, mm.")
    across: Positive = Field(
        description="In the coronal direction, mm; half of it along a condyle's outer rim."
    )


class PlaneSettings(Settings):
    """A plane the insert lies on, such as the top of a tilted tray."""

    height_mm: Finite = Field(description="Height at the origin of the insert's frame, mm.")
    posterior_rise_deg: Annotated[float, Field(gt=-45, lt=45)] = Field(
        description="Angle by which it rises towards posterior, deg."
    )
    medial_rise_deg: Annotated[float, Field(gt=-45, lt=45)] = Field(
        description="Angle by which it rises towards medial, deg."
    )


class MeshImplantSettings(Settings):
    """Implant read from files: meshes, point clouds or CAD."""

    insert: str = Field(
        description="File of the insert, path in the data folder: mesh (.stl, .ply, .obj), point "
        "cloud (.csv, .xyz, .ply) or CAD (.step, .stp, .iges, .igs; needs the extra `cad`)."
    )
    femoral: str = Field(description="File of the femoral component; formats as the insert's.")
    insert_form: Literal["sheet", "solid"] = Field(
        description="Whether the insert's file holds the bearing surface only, or a solid whose "
        "bearing is the part seen from above. Point clouds must be sheets."
    )
    femoral_form: Literal["sheet", "solid"] = Field(
        description="The same of the femoral component, whose bearing is the part seen from the "
        "condyles' outside."
    )
    unit: Literal["m", "mm"] = Field(description="Unit of length of the files.")
    axes: AxesSettings = Field(description="Anatomical directions of the files' axes.")
    underside_mm: Finite | None = Field(
        description="Height of the insert's flat underside in its frame, mm; null when one of the "
        "next two keys tells its shape."
    )
    underside_plane: PlaneSettings | None = Field(
        default=None, description="Tilted plane the thickness is measured down to."
    )
    underside_mesh: str | None = Field(
        default=None,
        description="Mesh of the solid insert (or of its underside alone) the thickness is "
        "measured down to; path in the data folder, unit and axes as above.",
    )
    insert_region_mm: InsertRegions = Field(
        description="Windows over which the plateaus are fitted, mm."
    )
    femoral_region_mm: FemoralRegions = Field(
        description="Parts of the condyles that are fitted, mm and deg."
    )
    knot_spacing_mm: KnotSpacingSettings = Field(
        description="Smallest distance of the knots of the fitted surfaces; one to three mesh "
        "edges. As few as the tolerances need are taken."
    )
    smoothing_length_mm: NonNegative = Field(
        description="Length below which the fit smooths features away, mm; about half a mesh edge."
    )
    tolerance_mm: Positive = Field(
        description="Largest accepted distance between a mesh vertex and the surface, mm; a fifth "
        "of it is the largest accepted ripple."
    )
    mean_tolerance_mm: Positive = Field(
        description="Largest accepted mean distance between mesh vertices and the surface, mm."
    )

    @model_validator(mode="after")
    def _has_one_underside(self) -> MeshImplantSettings:
        keys = ("underside_mm", "underside_plane", "underside_mesh")
        given = [key for key in keys if getattr(self, key) is not None]
        if len(given) != 1:
            raise fault(
                " and ".join(given) or "no underside",
                f"one of {', '.join(keys)}",
                "Say one of them and set underside_mm to null when it is another.",
            )
        return self


class NaturalKneeSettings(Settings):
    """Natural knee read from sheets of cartilage and subchondral bone."""

    femoral_cartilage: str = Field(
        description="File of the femur's cartilage, path in the data folder; an open sheet (.stl, "
        ".ply, .obj) with normals out of the bone, as the other three."
    )
    femoral_bone: str = Field(description="File of the femur's subchondral bone.")
    tibial_cartilage: str = Field(description="File of the tibia's cartilage.")
    tibial_bone: str = Field(description="File of the tibia's subchondral bone.")
    unit: Literal["m", "mm"] = Field(description="Unit of length of the files.")
    axes: AxesSettings = Field(description="Anatomical directions of the files' axes.")
    tibial_region_mm: InsertRegions = Field(
        description="Windows over which the plateaus are fitted, mm; they may reach beyond the "
        "cartilage, elements do not."
    )
    femoral_region_mm: FemoralRegions = Field(
        description="Parts of the condyles that are fitted, mm and deg."
    )
    knot_spacing_mm: KnotSpacingSettings = Field(
        description="Smallest distance of the knots of the fitted surfaces."
    )
    smoothing_length_mm: NonNegative = Field(
        description="Length below which the fit smooths features away, mm; about a voxel."
    )
    tolerance_mm: Positive = Field(
        description="Largest accepted distance between a mesh vertex and the surface, mm."
    )
    mean_tolerance_mm: Positive = Field(description="Largest accepted mean distance, mm.")
    tibial_thickness_mm: tuple[Positive, Positive] = Field(
        description="Least and greatest thickness of the tibia's cartilage, mm; measured ones "
        "outside are clipped."
    )
    femoral_thickness_mm: tuple[Positive, Positive] = Field(
        description="The same of the femur's cartilage, mm."
    )

    _check = field_validator("tibial_thickness_mm", "femoral_thickness_mm")(ascending)


class ImplantSettings(Settings):
    """The implant, or a natural knee in its place."""

    source: Literal["parametric", "meshes", "natural"] = Field(
        description="Where the implant comes from: built-in shape, mesh files, or the cartilage "
        "of a natural knee."
    )
    name: str = Field(min_length=1, description="Name shown in tables and figures.")
    knee: Literal["right", "left"] = Field(description="Side of the body the implant is made for.")
    nominal_thickness_mm: Thickness = Field(
        description="Minimum thickness the insert's geometry stands for, mm."
    )
    parametric: ParametricImplantSettings | None = Field(
        description="Shape of the built-in implant; needed when source is parametric."
    )
    meshes: MeshImplantSettings | None = Field(
        description="Mesh files and how to read them; needed when source is meshes."
    )
    natural: NaturalKneeSettings | None = Field(
        default=None,
        description="Sheets of cartilage and bone and how to read them; needed when source is "
        "natural, for static studies.",
    )

    @model_validator(mode="after")
    def _needs_its_block(self) -> ImplantSettings:
        if getattr(self, self.source) is None:
            raise fault(
                f"source: {self.source} without a block '{self.source}'",
                f"a block '{self.source}'",
                f"Fill implant.{self.source} in, or choose the other source.",
            )
        for name, block in (("meshes", self.meshes), ("natural", self.natural)):
            if block is not None:
                self._check_axes(block.axes, name)
        if self.natural is not None and self.nominal_thickness_mm != (
            least := self.natural.tibial_thickness_mm[0]
        ):
            raise fault(
                f"nominal_thickness_mm: {self.nominal_thickness_mm:g}",
                f"{least:g}, the least of natural.tibial_thickness_mm",
                "Make both the same.",
            )
        return self

    def _check_axes(self, axes: AxesSettings, block: str) -> None:
        wanted = 1 if self.knee == "right" else -1
        if axes.handedness() != wanted:
            raise fault(
                f"{block}.axes x: {axes.x}, y: {axes.y}, z: {axes.z}",
                f"three perpendicular axes that are right-handed in a {self.knee} knee",
                "Turn one direction round or correct implant.knee.",
            )


class GridSettings(Settings):
    """Elements on each plateau."""

    rows: int = Field(ge=4, le=2000, description="Elements from front to back, per side.")
    columns: int = Field(ge=4, le=2000, description="Elements from side to side, per side.")


class TableSettings(Settings):
    """Lookup tables of the condyles."""

    u_points: int = Field(ge=5, le=5000, description="Samples along the surface's first parameter.")
    v_points: int = Field(
        ge=5, le=5000, description="Samples along the surface's second parameter."
    )
    distance_error_um: Annotated[float, Field(ge=0.001, le=10.0)] = Field(
        description="Largest error of the smooth distance table, micrometres; four times that "
        "within 1 mm of edges rounded below 4 mm."
    )


class CaseSettings(Settings):
    """Full factorial design of the cases."""

    thickness_mm: tuple[Thickness, ...] = Field(
        min_length=1, description="Minimum insert thicknesses, mm."
    )
    body_mass_kg: tuple[BodyMass, ...] = Field(min_length=1, description="Body masses, kg.")

    @field_validator("thickness_mm", "body_mass_kg")
    @classmethod
    def _names_differ(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        """Refuse levels that would give two cases one name."""
        names = [f"{value:g}" for value in values]
        for name, first in zip(names, values, strict=True):
            alike = [value for value, other in zip(values, names, strict=True) if other == name]
            if len(set(alike)) > 1:
                raise fault(
                    f"{' and '.join(repr(value) for value in alike)}, all shown as {name}",
                    "levels that differ in their first six digits",
                    "Drop all but one of them or set them further apart.",
                )
            if len(alike) > 1:
                raise fault(f"{first:g} more than once", "distinct values", "Name each level once.")
        return values


class ForwardSettings(Settings):
    """Forward dynamics of the femoral component."""

    mass_kg: Positive = Field(description="Mass of the moving body, kg.")
    radius_of_gyration_mm: Positive = Field(
        description="Radius of gyration about all axes through its centre of mass, mm."
    )
    centre_of_mass_mm: tuple[Finite, Finite, Finite] = Field(
        description="Centre of mass in the femoral frame: posterior, superior, medial, mm."
    )
    damping_ratio: NonNegative = Field(
        description="Damping of the free vibrations at the frame of the largest load, as part of "
        "the critical one."
    )
    relative_tolerance: Annotated[float, Field(ge=1e-10, le=1e-2)] = Field(
        description="Largest error of a step, as part of 0.1 mm of penetration."
    )
    cycles: int = Field(ge=1, le=100, description="Cycles simulated; the last one is kept.")


class ThreeParameterSettings(Settings):
    """Material that softens as strain = strain0 / 2 (p / p0) + strain0 / 2 (p / p0)^n."""

    exponent: Annotated[float, Field(ge=1, allow_inf_nan=False)] = Field(
        description="Exponent n; one is a linear material."
    )
    reference_strain: Positive = Field(description="Reference strain strain0.")
    reference_pressure_mpa: Positive = Field(description="Reference pressure p0, MPa.")


class PressureLawSettings(Settings):
    """How pressure follows from penetration."""

    strain: Literal["small", "large"] = Field(
        description="Strain of the layer: penetration over thickness, d / h, or -ln(1 - d / h)."
    )
    material: Literal[
        "linear",
        "polyethylene_23c",
        "polyethylene_37c",
        "polyethylene_tuned",
        "polyethylene_tuned_linear",
        "own",
    ] = Field(
        description="Linear with youngs_modulus_mpa, a three-parameter polyethylene by name, or "
        "the one of own_material."
    )
    nonlinear_form: Literal["published", "integrated"] = Field(
        description="How a three-parameter material enters: its tangent modulus as a secant one, "
        "as published, or its stress-strain curve itself."
    )
    own_material: ThreeParameterSettings | None = Field(
        description="Three-parameter material of your own; null unless material is own."
    )
    cap_mpa: Positive | None = Field(
        description="Pressure at which the layer turns perfectly plastic, MPa; null for none. "
        "Without history: for a first, growing load."
    )
    thickness_offset_mm: Finite = Field(
        description="Added to the local thickness of every element, mm."
    )

    @model_validator(mode="after")
    def _own_goes_with_own_material(self) -> PressureLawSettings:
        if (self.material == "own") != (self.own_material is not None):
            raise fault(
                f"material: {self.material} with own_material: {self.own_material}",
                "own_material with material: own and only then",
                "Fill own_material in, or set it to null and name a material.",
            )
        return self


class SimulationSettings(Settings):
    """Contact simulation."""

    analysis: Literal["forward", "quasi_static"] = Field(
        description="Forward dynamics on the coarse grid and inverse dynamics on the fine one, or "
        "a row of equilibria on the fine grid."
    )
    forward: ForwardSettings = Field(description="Forward dynamics; for analysis: forward.")
    frames: int = Field(ge=4, le=10000, description="Frames of one cycle.")
    youngs_modulus_mpa: Modulus = Field(description="Young's modulus of the polyethylene, MPa.")
    poisson_ratio: Annotated[float, Field(ge=0, lt=0.5)] = Field(
        description="Poisson's ratio of the polyethylene, below 0.5."
    )
    pressure_law: PressureLawSettings = Field(description="How pressure follows from penetration.")
    medial_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        description="Part of the load carried by the medial side when the load line is solved."
    )
    load_line: Literal["solved", "fixed"] = Field(
        description="Whether the load's medial-lateral place is solved for the medial share."
    )
    fixed_load_line_mm: Finite = Field(
        description="Medial-lateral place of the load when the load line is fixed, mm, medial "
        "positive."
    )
    force_direction: Literal["minimum_distance", "mid_surface"] = Field(
        description="Direction in which pressure acts on an element."
    )
    distance: Literal["exact", "table"] = Field(
        description="Where distances come from: search on the surfaces, or the distance table."
    )
    medial_lateral: Literal["solved", "held"] = Field(
        description="Whether the medial-lateral position is solved, or held where the motion "
        "prescribes it, at the cost of a side force that is reported."
    )
    medial_lateral_spring_per_mm: NonNegative = Field(
        description="Stiffness of a weak medial-lateral spring, as part of the load per mm."
    )
    tolerance: Annotated[float, Field(gt=0, le=1e-3)] = Field(
        description="Largest equilibrium residual, as part of the load."
    )


class ElementStudySettings(Settings):
    """How far the results of one static case depend on the elements."""

    material: Name = Field(description="Material, one of `materials`.")
    flexion_deg: Finite = Field(description="Flexion of the case, deg.")
    load_n: Positive = Field(description="Load of the case, N.")
    active_elements: tuple[Annotated[int, Field(ge=4, le=5000)], ...] = Field(
        min_length=2,
        description="Numbers of loaded elements a side to aim at, ascending; the last stands for "
        "the true solution.",
    )
    offsets: int = Field(
        ge=1, le=1000, description="Random places of the elements for each of these numbers."
    )
    divisions: tuple[Annotated[int, Field(ge=4, le=500)], ...] = Field(
        min_length=2,
        description="Numbers of rows and of columns over a whole plateau that are combined at a "
        "fixed pose, ascending; the last stands for the true solution.",
    )

    @field_validator("active_elements", "divisions")
    @classmethod
    def _ascends(cls, values: tuple[int, ...]) -> tuple[int, ...]:
        if any(later <= earlier for earlier, later in pairwise(values)):
            raise fault(
                ", ".join(str(value) for value in values), "ascending numbers", "Order them."
            )
        return values


class StaticSettings(Settings):
    """Static study: one equilibrium for every material, flexion, position and load."""

    free: tuple[Coordinate, ...] = Field(
        min_length=1, description="Coordinates that equilibrium decides; the others are held."
    )
    flexion_deg: tuple[Finite, ...] = Field(min_length=1, description="Flexion angles, deg.")
    tibial_external_rotation_deg: Finite = Field(
        description="External rotation of the tibia against the femur, deg."
    )
    posterior_mm: tuple[Finite, ...] = Field(
        min_length=1,
        description="Positions of the femoral origin behind that of the insert, mm; a single one "
        "from which the search starts when anterior_posterior is free.",
    )
    medial_mm: Finite = Field(
        description="Position of the femoral origin medial of that of the insert, mm."
    )
    load_n: tuple[Positive, ...] = Field(min_length=1, description="Loads straight down, N.")
    load_line_mm: Finite = Field(description="Medial-lateral place of the loads, mm, fixed.")
    materials: dict[Name, PressureLawSettings] = Field(
        min_length=1,
        description="Pressure laws by name, in the place of simulation.pressure_law; the first is "
        "the one others are compared with.",
    )
    active_elements: Annotated[int, Field(ge=4, le=5000)] | None = Field(
        description="Loaded elements of each pair to aim at in every case by changing the number "
        "of rows and columns; null keeps those of `grid`."
    )
    element_study: ElementStudySettings | None = Field(
        description="How far results depend on the elements; null leaves it out."
    )

    @model_validator(mode="after")
    def _one_start_where_it_is_free(self) -> StaticSettings:
        if "anterior_posterior" in self.free and len(self.posterior_mm) > 1:
            raise fault(
                f"{len(self.posterior_mm)} values of posterior_mm with anterior_posterior free",
                "one value, from which the search starts",
                "Give one, or hold anterior_posterior by taking it out of `free`.",
            )
        study = self.element_study
        if study is not None and study.material not in self.materials:
            raise fault(
                f"element_study.material: {study.material}",
                f"one of: {', '.join(self.materials)}",
                suggestion(study.material, self.materials) or "Name a material of this study.",
            )
        return self


class SurfaceUpdateSettings(Settings):
    """How the insert's surface follows wear and creep when a life has blocks."""

    medial_lateral: Literal["held", "as_simulated"] = Field(
        description="Whether worn blocks keep every frame's medial-lateral position of the fresh "
        "insert, which creep would otherwise let go, or treat it as simulation.medial_lateral says."
    )
    smoothing_mm: NonNegative = Field(
        description="Length over which the lowering of the surface is levelled out, mm; about half "
        "an element's width. Depths themselves are not smoothed."
    )
    thins_layer: bool = Field(
        description="Whether wear makes the layer thinner, and so stiffer; creep never does."
    )


class WearSettings(Settings):
    """Wear and creep over a life."""

    wear_law: Literal[
        "archard",
        "unified_theory",
        "directional_work",
        "pressure_power",
        "cross_shear_and_pressure",
        "contact_area",
    ] = Field(
        description="Wear law: constant factor; by work across the principal direction; by work "
        "along and across it; factor falling with pressure; of cross-shear and pressure; by area."
    )
    wear_factor_mm3_per_n_m: Annotated[float, Field(ge=0, le=1e-3, allow_inf_nan=False)] = Field(
        description="Wear factor, mm3 per N and m of sliding, on a square path; for the laws "
        "archard, unified_theory and directional_work (the others have published constants)."
    )
    density_mg_per_mm3: Positive = Field(
        description="Density of the polyethylene, mg/mm3; for the mass lost by wear."
    )
    creep_law: Literal["pressure", "strain"] = Field(
        description="Creep depth from the largest pressure, or from a strain times the thickness."
    )
    creep_mm_per_mpa: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = Field(
        description="Creep depth for each MPa of largest pressure, mm/MPa; for creep_law pressure."
    )
    creep_time: Literal["constant", "logarithm"] = Field(
        description="Whether creep_mm_per_mpa holds at any age, or grows with the logarithm of "
        "time; for creep_law pressure (a strain always grows)."
    )
    creep_months: Positive = Field(
        description="Age at which creep_mm_per_mpa holds, months; for creep_time logarithm."
    )
    recovery_minutes: NonNegative = Field(
        description="Time without load after the life, over which part of the creep comes back, "
        "min; zero for an insert in use."
    )
    cycles_per_year: Positive = Field(description="Cycles of all activities in a year.")
    months: Annotated[float, Field(ge=0, le=1200, allow_inf_nan=False)] = Field(
        description="Length of the life, months."
    )
    mixing: Literal["linear", "sequence"] = Field(
        description="Whether activities of a life mix linearly or follow each other in every block."
    )
    blocks: int = Field(
        ge=1,
        le=1000,
        description="Blocks of cycles of a life; the surface is updated between them. One is the "
        "plain extrapolation of the fresh surface's cycle; 16 and more follow the surface.",
    )
    surface_update: SurfaceUpdateSettings = Field(
        description="How the surface follows wear and creep."
    )
    lives: dict[Name, dict[Name, Annotated[float, Field(ge=0, le=1)]]] = Field(
        min_length=1, description="Lives: name, and share of each activity's cycles; sum one."
    )

    @property
    def creep_takes_time(self) -> bool:
        """Whether creep grows with the age of the insert."""
        return self.creep_law == "strain" or self.creep_time == "logarithm"

    def without_updates(self) -> WearSettings:
        """The same life on a surface that stays fresh."""
        return self.model_copy(update={"blocks": 1, "mixing": "linear"})

    @model_validator(mode="after")
    def _strain_law_needs_time(self) -> WearSettings:
        if self.creep_law == "strain" and self.months == 0:
            raise fault(
                "creep_law: strain with months: 0",
                "months above 0, for this creep grows with the logarithm of time",
                "Give the life a length, or choose creep_law: pressure.",
            )
        return self

    @model_validator(mode="after")
    def _updates_need_time(self) -> WearSettings:
        if self == self.without_updates():
            return self
        if self.months < 1:
            raise fault(
                f"blocks: {self.blocks}, mixing: {self.mixing} with months: {self.months:g}",
                "a life of at least a month to divide",
                "Give the life a length, or set blocks to 1 and mixing to linear.",
            )
        if self.creep_mm_per_mpa > 0 and not self.creep_takes_time:
            raise fault(
                f"blocks: {self.blocks}, mixing: {self.mixing} with creep_time: constant",
                "creep_time: logarithm, for creep that is all there after the first block digs "
                "deeper than contact reaches",
                "Set creep_time to logarithm, or creep_mm_per_mpa to 0.",
            )
        return self

    @field_validator("lives", mode="before")
    @classmethod
    def _drop_removed(cls, lives: Any) -> Any:
        return _without_nulls(lives)

    @field_validator("lives")
    @classmethod
    def _shares_sum_to_one(cls, lives: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        for life, shares in lives.items():
            total = math.fsum(shares.values())
            if abs(total - 1) > 1e-9:
                found = f"shares of '{life}' that sum to {total:g}"
                raise fault_at((life,), found, "a sum of 1", "Correct the shares.")
        return lives


class RateSettings(Settings):
    """Mean of a rate among retrieved inserts, and how far it spread."""

    mean: NonNegative = Field(description="Mean rate.")
    low: NonNegative = Field(description="Lower end of the spread.")
    high: NonNegative = Field(description="Upper end of the spread.")

    @model_validator(mode="after")
    def _mean_is_between(self) -> RateSettings:
        if not self.low <= self.mean <= self.high:
            raise fault(
                f"low: {self.low:g}, mean: {self.mean:g}, high: {self.high:g}",
                "low <= mean <= high",
                "Correct the numbers.",
            )
        return self


class RetrievalSettings(Settings):
    """Wear of one published group of retrieved inserts."""

    linear_mm_per_year: RateSettings | None = Field(
        description="Loss of thickness, mm a year; null when not published."
    )
    volume_mm3_per_year: RateSettings | None = Field(
        description="Loss of volume of the whole insert, mm3 a year; null when not published."
    )
    includes_creep: bool = Field(
        description="Whether the rates are of all that is missing, or of material worn off."
    )
    spread: Literal["standard deviation", "range"] = Field(
        description="What low and high are: the mean less and plus one standard deviation (not "
        "below zero), or the smallest and largest value."
    )
    source: str = Field(min_length=1, description="Authors, year, inserts, and how it was read.")


class ReportSettings(Settings):
    """Report."""

    compare_with_published: bool = Field(
        description="Whether results are compared with the published tables."
    )
    pressure_limit_mpa: Positive = Field(
        description="Largest element pressure the linear layer is trusted for, MPa."
    )
    avg_pressure_limit_mpa: Positive = Field(
        description="Largest mean pressure the linear layer is trusted for, MPa."
    )
    retrievals: dict[str, RetrievalSettings] = Field(
        description="Published wear of retrieved inserts that results are set beside, by name."
    )

    @field_validator("retrievals", mode="before")
    @classmethod
    def _drop_removed(cls, retrievals: Any) -> Any:
        return _without_nulls(retrievals)


class Study(Settings):
    """A whole study."""

    study: Name = Field(description="Name of the study; results stand in results/<study>/.")
    data_folder: str = Field(
        description="Folder of data files; $KNEEWEAR_DATA overrides it, relative to the checkout."
    )
    seed: int = Field(ge=0, description="Seed of everything random.")
    implant: ImplantSettings = Field(description="The implant.")
    grid: GridSettings = Field(description="Elements on each plateau.")
    coarse_grid: GridSettings = Field(
        description="Elements on each plateau in forward dynamics; pressures come from the grid "
        "above."
    )
    table: TableSettings = Field(description="Lookup tables of the condyles.")
    activities: dict[Name, ActivitySettings] = Field(
        min_length=1, description="Activities by name; those of a life are simulated."
    )
    cases: CaseSettings = Field(description="Full factorial design of the cases.")
    cases_per_job: int = Field(ge=1, description="Cases simulated by one job.")
    simulation: SimulationSettings = Field(description="Contact simulation.")
    static: StaticSettings | None = Field(
        description="Static study, in the place of cycles and wear; null for these."
    )
    wear: WearSettings = Field(description="Wear and creep over a life.")
    calibration: CalibrationSettings | None = Field(
        description="Fit of constants to published cells, in the place of all else; null for other "
        "studies."
    )
    uncertainty: UncertaintySettings | None = Field(
        description="Uncertainty study of a single case and life, in the place of the full one; "
        "null for that."
    )
    report: ReportSettings = Field(description="Report.")

    @field_validator("activities", mode="before")
    @classmethod
    def _drop_removed(cls, activities: Any) -> Any:
        return _without_nulls(activities)

    @model_validator(mode="after")
    def _cartilage_is_static(self) -> Study:
        if self.implant.source == "natural" and self.static is None:
            raise fault(
                "implant.source: natural without a block 'static'",
                "a static study: cartilage neither wears by these laws nor has a solved cycle",
                "Fill static in, as config/natural_knee.yaml does.",
            )
        return self

    @model_validator(mode="after")
    def _lives_name_activities(self) -> Study:
        for life, shares in self.wear.lives.items():
            for activity in shares:
                if activity not in self.activities:
                    raise fault_at(
                        ("wear", "lives", life, activity),
                        f"no activity '{activity}'",
                        f"one of: {', '.join(self.activities)}",
                        suggestion(activity, self.activities) or "Name an activity of this study.",
                    )
        return self

    @model_validator(mode="after")
    def _uncertainty_is_of_one_plain_case(self) -> Study:
        if self.uncertainty is None:
            return self
        count = len(self.cases.thickness_mm) * len(self.cases.body_mass_kg)
        plain = self.wear == self.wear.without_updates()
        found = {
            "a block 'static'": self.static is not None,
            f"{count} cases": count > 1,
            f"{len(self.wear.lives)} lives": len(self.wear.lives) > 1,
            f"analysis: {self.simulation.analysis}": self.simulation.analysis != "quasi_static",
            f"blocks: {self.wear.blocks}, mixing: {self.wear.mixing}": not plain,
        }
        if any(found.values()):
            raise fault(
                f"an uncertainty study with {', '.join(k for k, there in found.items() if there)}",
                "one thickness, one body mass and one life, quasi-static, without updates of the "
                "surface",
                "Set these in the study, as config/monte_carlo.yaml does, or set uncertainty to "
                "null.",
            )
        check_constants(self.model_dump(mode="json"), self.uncertainty)
        if self.uncertainty.pose_errors and not any(map(self._is_uncertain, self.activities)):
            raise fault_at(
                ("uncertainty", "pose_errors"),
                "true, and no motion with a standard deviation",
                "false where no motion tells one",
                "Set it to false, or give motion.standard_deviation of a measured activity.",
            )
        return self

    def _is_uncertain(self, activity: str) -> bool:
        """Whether an activity is simulated and tells the standard deviation of its motion."""
        settings = self.activities[activity]
        return (
            isinstance(settings, FileActivity)
            and settings.motion.standard_deviation is not None
            and activity in self.simulated_activities()
        )

    def case_list(self) -> tuple[dict[str, Any], ...]:
        """Cases of the full factorial design.

        Returns
        -------
        tuple of dict
            `name`, `thickness` (mm) and `body_mass` (kg) of each case; the mass varies fastest.
        """
        return tuple(
            {"name": f"{thickness:g}mm_{mass:g}kg", "thickness": thickness, "body_mass": mass}
            for thickness in self.cases.thickness_mm
            for mass in self.cases.body_mass_kg
        )

    def batches(self) -> dict[str, tuple[dict[str, Any], ...]]:
        """Cases grouped into jobs.

        Returns
        -------
        dict
            Batch name (b000, b001, ...) to its consecutive cases, `cases_per_job` in each.
        """
        cases, size = self.case_list(), self.cases_per_job
        starts = range(0, len(cases), size)
        return {f"b{i:03d}": cases[start : start + size] for i, start in enumerate(starts)}

    def simulated_activities(self) -> tuple[str, ...]:
        """Activities that at least one life contains, in the order of the settings.

        Returns
        -------
        tuple of str
            None in a static study and in a calibration.
        """
        if self.static is not None or self.calibration is not None:
            return ()
        used = {activity for shares in self.wear.lives.values() for activity in shares}
        return tuple(activity for activity in self.activities if activity in used)

    def data_root(self, root: str | Path = ".") -> Path:
        """Folder of data files in use.

        Parameters
        ----------
        root : str or Path
            The checkout; a relative folder starts there.

        Returns
        -------
        Path
            $KNEEWEAR_DATA where it is set, `data_folder` otherwise; it need not exist.
        """
        folder = Path(os.environ.get("KNEEWEAR_DATA") or self.data_folder).expanduser()
        return Path(os.path.normpath(Path(root) / folder))

    def data_path(self, path: str, root: str | Path = ".") -> Path:
        """Place of a data file named in the settings.

        Parameters
        ----------
        path : str
            Path as written in the settings: absolute, in the data folder, or in the checkout.
        root : str or Path
            The checkout; a relative data folder starts there.

        Returns
        -------
        Path
            The first of `path`, data folder / `path` and `root` / `path` that exists; the place
            in the data folder when none does.
        """
        given = Path(path).expanduser()
        if given.is_absolute():
            return given
        in_folder = Path(os.path.normpath(self.data_root(root) / given))
        in_checkout = Path(root) / given
        return in_checkout if in_checkout.exists() and not in_folder.exists() else in_folder


def load_study(
    source: Mapping[str, Any] | str | Path,
    name: str = "settings",
    files: Sequence[SettingsFile] = (),
) -> Study:
    """Check the settings of a study.

    Parameters
    ----------
    source : mapping, str or Path
        Settings, or a YAML file of them. They must be complete; see `merge_settings`.
    name : str
        What error messages call a mapping; a file is called by its path.
    files : sequence of SettingsFile
        Files a mapping was merged from, so that messages can name file and line.

    Returns
    -------
    Study
        The checked, frozen settings.

    Raises
    ------
    InputDataError
        When a key is unknown or missing or a value is of the wrong type or out of range; the
        message lists all faults with place, key path, finding, expectation and remedy.
    """
    if not isinstance(source, Mapping):
        files = [read_settings_file(source)]
        name, source = str(source), files[0].content
    try:
        return Study.model_validate(dict(source))
    except ValidationError as error:
        raise refusal(error, Study, source, name, files) from None


def merge_settings(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with some of them replaced, as `snakemake --configfile` does it.

    Parameters
    ----------
    base, overrides : mapping
        Mappings are merged key by key, everything else (lists too) is replaced. An override of
        null removes an inherited activity or life.

    Returns
    -------
    dict
        A new mapping.
    """
    merged = dict(base)
    for key, value in overrides.items():
        inherited = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(inherited, Mapping)
        merged[key] = merge_settings(inherited, value) if both else value  # type: ignore[arg-type]
    return merged


def _without_nulls(mapping: Any) -> Any:
    if not isinstance(mapping, Mapping):
        return mapping
    return {key: value for key, value in mapping.items() if value is not None}
