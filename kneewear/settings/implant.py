"""Settings of the implant, its elements and its lookup tables."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kneewear.settings.faults import fault
from kneewear.settings.types import (
    Finite,
    NonNegative,
    Positive,
    Settings,
    Thickness,
    ascending,
)

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

        1 for the axes of a right knee, -1 for those of a left knee, 0 when two axes share a line.
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
        "next two keys gives its shape."
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
    """The implant, or a natural knee."""

    source: Literal["parametric", "meshes", "natural"] = Field(
        description="Where the implant comes from: built-in shape, mesh files, or the cartilage "
        "of a natural knee."
    )
    name: str = Field(min_length=1, description="Name shown in tables and figures.")
    knee: Literal["right", "left"] = Field(description="Side of the body the implant is made for.")
    nominal_thickness_mm: Thickness = Field(
        description="Minimum thickness of the insert's geometry as given, mm."
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
