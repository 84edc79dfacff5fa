"""Settings of the implant, its elements and its lookup tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from kneewear.base.faults import fault, fault_at
from kneewear.base.ranges import Range
from kneewear.base.sides import SIDES
from kneewear.base.types import (
    THICKNESS,
    FileName,
    Finite,
    FinitePerSide,
    LengthUnit,
    Limits,
    NonNegative,
    PerBearing,
    Positive,
    PositiveLimits,
    PositivePerSide,
    Settings,
    ascend,
    quantity,
)

Corner = tuple[Finite, Finite]
Direction = Literal["posterior", "anterior", "superior", "inferior", "medial", "lateral"]

_UNIT_VECTORS: dict[str, tuple[int, int, int]] = {
    "posterior": (1, 0, 0),
    "anterior": (-1, 0, 0),
    "superior": (0, 1, 0),
    "inferior": (0, -1, 0),
    "medial": (0, 0, 1),
    "lateral": (0, 0, -1),
}

_SAGITTAL = Range("mm", 2, 12, 50, 500, "Condyles of adults have 17 to 40 mm")
_ARC = Range("mm", 2, 8, 80, 500, "Condyles of adults have 17 to 40 mm")
_CORONAL = Range("mm", 2, 8, 1e6, 1e6, "From 15 mm to flat")
_DISH = Range("mm", 2, 15, 1e6, 1e6, "From 25 mm to flat")
_HALF_WIDTH = Range("mm", 1, 4, 25, 60, "Condyles are 15 to 30 mm wide")
_EDGE = Range("mm", 0.05, 1, 30, 100, "Edges are rounded; the widest edge is a whole condyle")
_POST_EDGE = Range("mm", 0.05, 0.5, 15, 50, "Half the width of a cam or post at most")
_POST_SIZE = Range("mm", 0.5, 2, 30, 60, "Posts are 8 to 20 mm wide, deep and high")
_CAM_BEHIND = Range("mm", -60, 2, 40, 60, "A cam is behind the flexion axis")
_CAM_HEIGHT = Range("mm", -60, -40, 2, 60, "A cam is below the flexion axis")
_POST_PLACE = Range("mm", -60, -40, 40, 60, "Within the component")
_REGION_X = Range(
    "mm", 5, 20, 70, 150, "Width of the window: inserts are 35 to 60 mm long", of_width=True
)
_REGION_Z = Range(
    "mm", 3, 8, 45, 100, "Width of the window: half an insert is 28 to 45 mm wide", of_width=True
)
_CORNER = Range("mm", -500, -500, 500, 500, "Any origin: the widths of the window are judged")
_REGION_ANGLE = Range(
    "deg", 30, 60, 200, 270, "Width of the window: gait needs an arc of about 90 deg", of_width=True
)
_KNOTS = Range(
    "mm", 0.1, 0.5, 10, 50, "Mesh edges are 0.5 to 1 mm; lines of finer surfaces follow noise"
)
_SMOOTHING = Range("mm", 0, 0, 5, 50, "Half a mesh edge; 5 mm is a third of a radius")
FIT_TOLERANCE = Range("mm", 0, 0.001, 0.2, 5, "A condyle penetrates 0.1 mm")
_WAVE = Range("mm", 0, 1e-5, 0.05, 5, "1 % of the penetration is about 0.3 um")
_CARTILAGE = Range("mm", 0, 0, 20, 50, "Cartilage is up to 7 mm thick; 20 mm clips nothing")
_CARTILAGE_TOLERANCE = Range("mm", 0, 0.001, 1, 5, "Voxels of 0.3 to 1 mm")
_RISE = Range("deg", -45, -20, 20, 45, "Trays are tilted by less than 20 deg")
_HEIGHT = Range("mm", -300, -100, 100, 300, "Origins of meshes are near the joint")
_ELEMENT_ROWS = Range("1", 4, 20, 500, 2000, "An accuracy of 1 to 3 % needs about 100 (Bei 2003)")
_ELEMENT_COLUMNS = Range("1", 4, 15, 500, 2000, "An accuracy of 1 to 3 % needs about 75 (Bei 2003)")
_SAMPLES = Range("1", 5, 20, 1000, 5000, "Searches start from these samples; 100 give 0.5 mm")


class FemoralArc(Settings):
    """Arc of the sagittal outline of the condyles."""

    from_flexion_deg: Finite = quantity(
        "Flexion from which the lowest line of the condyles is on this arc.",
        Range("deg", -45, -30, 120, 140, "Range of flexion of a replaced knee", least=2.0),
    )
    radius_mm: Positive = quantity("Radius of the arc.", _ARC)


class CamSettings(Settings):
    """Cam of the femoral component: a bar between the condyles, in the femoral frame."""

    posterior_mm: Finite = quantity(
        "Position of its axis posterior of the femoral origin.", _CAM_BEHIND
    )
    superior_mm: Finite = quantity(
        "Position of its axis superior of the femoral origin.", _CAM_HEIGHT
    )
    radius_mm: Positive = quantity(
        "Radius about its axis, at its middle.",
        Range("mm", 0.5, 2, 15, 50, "Bars of 4 to 15 mm between the condyles"),
    )
    coronal_radius_mm: Positive = quantity("Radius of its outline in the coronal plane.", _CORONAL)
    half_width_mm: Positive = quantity("Half-width without its rounded ends.", _POST_SIZE)
    edge_radius_mm: Positive = quantity("Radius of its rounded ends.", _POST_EDGE)


class PostSettings(Settings):
    """Post of the insert: its straight posterior face, which meets the cam."""

    posterior_mm: Finite = quantity(
        "Position of its posterior face, posterior of the insert's origin.", _POST_PLACE
    )
    height_mm: Positive = quantity("Height above the lowest points of the plateaus.", _POST_SIZE)
    depth_mm: Positive = quantity("Thickness from the posterior to the anterior face.", _POST_SIZE)
    coronal_radius_mm: Positive = quantity(
        "Radius of the posterior face in the horizontal plane.", _CORONAL
    )
    half_width_mm: Positive = quantity("Half-width without its rounded edges.", _POST_SIZE)
    edge_radius_mm: Positive = quantity("Radius of its rounded edges.", _POST_EDGE)


class CamAndPostSettings(Settings):
    """Cam and post of a posterior-stabilised implant."""

    cam: CamSettings
    post: PostSettings


class ParametricImplantSettings(Settings):
    """Shape of the built-in implant: cruciate-retaining, or with cam and post."""

    femoral_sagittal_radius_mm: Positive = quantity(
        "Radius of the condyles about the flexion axis, at their lowest line.", _SAGITTAL
    )
    femoral_arcs: tuple[FemoralArc, ...] = Field(
        description="Arcs that follow it tangentially towards posterior, flexion ascending; an "
        "empty list gives condyles of revolution."
    )
    femoral_coronal_radius_mm: PositivePerSide = quantity(
        "Radius of the condyles in the coronal plane.", _CORONAL
    )
    femoral_half_width_mm: Positive = quantity(
        "Half-width of a condyle's bearing part, without its rounded edges.", _HALF_WIDTH
    )
    femoral_edge_radius_mm: Positive = quantity(
        "Radius of the rounded edges of the condyles.", _EDGE
    )
    condyle_spacing_mm: Positive = quantity(
        "Distance between the middles of the condyles.",
        Range("mm", 15, 35, 60, 120, "Implants of adults have 40 to 55 mm"),
    )
    plateau_sagittal_radius_mm: Positive = quantity(
        "Radius of the plateaus in the sagittal plane; large values are nearly flat.", _DISH
    )
    plateau_coronal_radius_mm: PositivePerSide = quantity(
        "Radius of the plateaus in the coronal plane; at least that of the condyle.", _CORONAL
    )
    plateau_land_half_width_mm: Positive = quantity(
        "Half-width of the dished land of a plateau, without its rounded edges.", _HALF_WIDTH
    )
    plateau_edge_radius_mm: PositivePerSide = quantity(
        "Radius of the rounded edges of the plateaus.", _EDGE
    )
    plateau_spacing_mismatch_mm: FinitePerSide = quantity(
        "Offset of the middle of a plateau from that of its condyle, positive away from the middle "
        "of the knee.",
        Range("mm", -30, -5, 5, 30, "More puts the condyle on the rim"),
    )
    plateau_half_length_mm: Positive = quantity(
        "Half of the anterior-posterior length of the plateaus.",
        Range("mm", 3, 10, 35, 100, "Inserts of adults are 35 to 60 mm long"),
    )
    extra_thickness_mm: NonNegative = quantity(
        "Insert thickness at the lowest line of the plateaus minus the nominal thickness.",
        Range("mm", 0, 0, 5, 30, "The published cases have 1.1 mm"),
    )
    cam_and_post: CamAndPostSettings | None = Field(
        description="Cam and post of a posterior-stabilised implant; null for a cruciate-retaining "
        "one."
    )

    @field_validator("femoral_arcs")
    @classmethod
    def check_arcs_ascend(cls, arcs: tuple[FemoralArc, ...]) -> tuple[FemoralArc, ...]:
        """Refuse arcs out of order."""
        ascend([arc.from_flexion_deg for arc in arcs])
        return arcs

    @model_validator(mode="after")
    def check_radii(self) -> ParametricImplantSettings:
        """Refuse arcs that are wider than their radius."""
        reaches = {
            "plateau_sagittal_radius_mm": ("plateau_half_length_mm", self.plateau_half_length_mm)
        }
        for radius, width in (
            ("femoral_coronal_radius_mm", "femoral_half_width_mm"),
            ("plateau_coronal_radius_mm", "plateau_land_half_width_mm"),
        ):
            for side in ("medial", "lateral"):
                reaches[f"{radius}.{side}"] = (width, getattr(self, width))
        for path, (name, reach) in reaches.items():
            key, _, side = path.partition(".")
            radius_mm = getattr(getattr(self, key), side) if side else getattr(self, key)
            if radius_mm <= reach:
                raise fault_at(
                    tuple(path.split(".")),
                    f"{radius_mm:g} with {name}: {reach:g}",
                    "a radius above it; an arc is no wider than its radius",
                    "Enlarge the radius, or make the surface narrower.",
                )
        return self


class AxesSettings(Settings):
    """Anatomical directions of the axes of the files."""

    x: Direction = Field(description="Direction of the file's +x axis.")
    y: Direction = Field(description="Direction of the file's +y axis.")
    z: Direction = Field(description="Direction of the file's +z axis.")

    def handedness(self) -> int:
        """Determinant of the file's axes along (posterior, superior, medial).

        1 for the axes of a right knee, -1 for those of a left knee, 0 when two axes share a line.
        """
        (a, b, c), (d, e, f), (g, h, i) = (_UNIT_VECTORS[axis] for axis in (self.x, self.y, self.z))
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


class InsertRegion(Settings):
    """Window in the insert's horizontal plane in which a plateau is fitted."""

    x: Limits = quantity("Anterior and posterior limit, ascending.", _REGION_X)
    z: Limits = quantity("Lateral and medial limit, ascending, medial positive.", _REGION_Z)
    outline: tuple[Corner, ...] | None = quantity(
        "Corners [x, z] of a polygon around the bearing, inside the window; null for the whole "
        "window. The surface is fitted inside it, and elements end there.",
        _CORNER,
        None,
        min_length=3,
    )


class FemoralRegion(Settings):
    """Part of the femoral component in which a condyle is fitted."""

    z: Limits = quantity(
        "Lateral and medial limit, ascending, medial positive; the rounded outer rim is a limit "
        "too.",
        _REGION_Z,
    )
    angle_deg: Limits = quantity(
        "Limits of the angle about the best-fitting axis of the condyles, ascending; 0 is distal, "
        "posterior positive.",
        _REGION_ANGLE,
    )


class InsertRegions(PerBearing[InsertRegion]):
    """Windows in which the plateaus are fitted; elements do not reach beyond cartilage."""


class FemoralRegions(PerBearing[FemoralRegion]):
    """Parts of the condyles that are fitted."""


class KnotSpacingSettings(Settings):
    """Smallest distance of the knots of fitted surfaces: one to three mesh edges."""

    along: Positive = quantity("In the sagittal direction.", _KNOTS)
    across: Positive = quantity(
        "In the coronal direction; half of it along a condyle's outer rim.", _KNOTS
    )


class PlaneSettings(Settings):
    """Tilted plane that the thickness is measured down to, such as the top of a tray."""

    height_mm: Finite = quantity("Height at the origin of the insert's frame.", _HEIGHT)
    posterior_rise_deg: Finite = quantity("Angle by which it rises towards posterior.", _RISE)
    medial_rise_deg: Finite = quantity("Angle by which it rises towards medial.", _RISE)


class SurfaceFitSettings(Settings):
    """Surfaces fitted to meshes."""

    unit: LengthUnit = Field(description="Unit of length of the files.")
    axes: AxesSettings
    femoral_region_mm: FemoralRegions
    knot_spacing_mm: KnotSpacingSettings
    smoothing_length_mm: NonNegative = quantity(
        "Length below which features are smoothed: half a mesh edge, or a voxel.", _SMOOTHING
    )
    tolerance_mm: Positive = quantity(
        "Largest accepted distance between a mesh vertex and the surface; the largest accepted "
        "ripple is a fifth of it.",
        FIT_TOLERANCE,
    )
    mean_tolerance_mm: Positive = quantity(
        "Largest accepted mean distance between mesh vertices and the surface.", FIT_TOLERANCE
    )


class MeshImplantSettings(SurfaceFitSettings):
    """Implant read from files: meshes, point clouds or CAD."""

    insert: FileName = Field(
        description="File of the insert, path in the data folder: mesh (.stl, .ply, .obj, .vtp), "
        "point cloud (.csv, .xyz, .ply) or CAD (.step, .stp, .iges, .igs; needs the extra `cad`)."
    )
    femoral: FileName = Field(description="File of the femoral component; formats as of insert.")
    insert_form: Literal["sheet", "solid"] = Field(
        description="Whether the file holds the bearing surface only, or a solid whose bearing is "
        "the part visible from above. Point clouds must be sheets."
    )
    femoral_form: Literal["sheet", "solid"] = Field(
        description="The same of the femoral component, whose bearing is the outer part."
    )
    underside_mm: Finite | None = quantity(
        "Height of the flat underside in the insert's frame; null if underside_plane or "
        "underside_mesh gives its shape.",
        _HEIGHT,
    )
    underside_plane: PlaneSettings | None = None
    underside_mesh: FileName | None = Field(
        None,
        description="Mesh of the solid insert, or of its underside, that the thickness is measured "
        "down to; path in the data folder, unit and axes as of the insert.",
    )
    insert_region_mm: InsertRegions
    wave_tolerance_mm: Positive | Literal["auto"] | None = quantity(
        "Mean deviation of a strip along the bearing above which further lines of knots are added, "
        "as at the start of a fillet. auto: 1 % of the penetration of the nominal insert at 10 MPa "
        "(0.28 um at 6 mm); null adds none. The remaining deviation is reported, not refused.",
        _WAVE,
        None,
    )

    @model_validator(mode="after")
    def check_underside(self) -> MeshImplantSettings:
        """Require one form of the underside."""
        keys = ("underside_mm", "underside_plane", "underside_mesh")
        given = [key for key in keys if getattr(self, key) is not None]
        if len(given) != 1:
            raise fault(
                " and ".join(given) or "no underside",
                f"one of {', '.join(keys)}",
                "Say one of them and set underside_mm to null when it is another.",
            )
        return self


class NaturalKneeSettings(SurfaceFitSettings):
    """Natural knee read from open sheets of cartilage and bone (.stl, .ply, .obj, .vtp)."""

    femoral_cartilage: FileName = Field(
        description="File of the cartilage of the femur, normals out of the bone; path in the data "
        "folder."
    )
    femoral_bone: FileName = Field(description="File of the subchondral bone of the femur.")
    tibial_cartilage: FileName = Field(description="File of the cartilage of the tibia.")
    tibial_bone: FileName = Field(description="File of the subchondral bone of the tibia.")
    tibial_region_mm: InsertRegions
    wave_tolerance_mm: Positive | None = quantity("As of implants from meshes.", _WAVE, None)
    tolerance_mm: Positive = quantity(
        "Largest accepted distance between a mesh vertex and the surface.", _CARTILAGE_TOLERANCE
    )
    mean_tolerance_mm: Positive = quantity(
        "Largest accepted mean distance between mesh vertices and the surface.",
        _CARTILAGE_TOLERANCE,
    )
    tibial_thickness_mm: PositiveLimits = quantity(
        "Smallest and largest thickness of the cartilage of the tibia; measured values outside are "
        "clipped.",
        _CARTILAGE,
    )
    femoral_thickness_mm: PositiveLimits = quantity("The same of the femur.", _CARTILAGE)
    beyond_bone: Literal["nearest", "leave_out"] = Field(
        "nearest",
        description="Thickness of tibial cartilage without bone along its normal: the distance to "
        "the nearest bone, or no element. The page counts these elements.",
    )
    thickness_along: Literal["shortest", "normal"] = Field(
        "shortest",
        description="Line along which the thickness is measured: the shortest to the bone, or the "
        "normal of the cartilage (the shortest where the normal meets no bone).",
    )


Side = Literal["right", "left"]
PlateauName = Literal["medial", "lateral"]


class ImplantSettings(Settings):
    """The implant, or a natural knee; a subclass for each source."""

    source: str
    name: str = Field(min_length=1, max_length=200, description="Name shown in tables and figures.")
    knee: Side = Field(description="Side of the body the implant is made for.")
    nominal_thickness_mm: Positive = quantity(
        "Minimum thickness of the insert's geometry as given.", THICKNESS
    )
    bearings: tuple[PlateauName, ...] = Field(
        ("medial", "lateral"),
        description="Plateaus that are replaced: both, or one of a unicompartmental implant. What "
        "the settings state of the other one has no effect.",
    )

    @field_validator("bearings")
    @classmethod
    def _order_bearings(cls, bearings: tuple[PlateauName, ...]) -> tuple[PlateauName, ...]:
        """Bring plateaus into the order of all tables; refuse none, or one twice."""
        if not bearings or len(set(bearings)) != len(bearings):
            raise fault(
                f"{', '.join(bearings) or 'none'}",
                "medial, lateral, or each of them once",
                "Name each plateau that is replaced once.",
            )
        return tuple(sorted(bearings, key=SIDES.index))

    @property
    def sides(self) -> tuple[str, ...]:
        """Names of the plateaus, in the order of tables."""
        return self.bearings


class ParametricImplant(ImplantSettings):
    """Built-in implant."""

    source: Literal["parametric"] = Field(description="Built-in shape.")
    parametric: ParametricImplantSettings


class MeshImplant(ImplantSettings):
    """Implant from files."""

    source: Literal["meshes"] = Field(description="Files of an implant.")
    meshes: MeshImplantSettings

    @model_validator(mode="before")
    @classmethod
    def leave_out_regions(cls, given: object) -> object:
        """Leave out regions of a plateau that is not replaced: no axis or figure is of them."""
        return _without_others(given, "meshes", "insert_region_mm", "femoral_region_mm")

    @model_validator(mode="after")
    def check_axes(self) -> MeshImplant:
        """Refuse axes that are not those of the knee, and bearings without regions."""
        _check_axes(self.meshes.axes, self.knee, "meshes")
        _check_regions(self, "meshes", "insert_region_mm", "femoral_region_mm")
        return self


class NaturalKnee(ImplantSettings):
    """Cartilage of a natural knee; for static studies."""

    source: Literal["natural"] = Field(description="Files of a natural knee.")
    nominal_thickness_mm: Positive = quantity(
        "Smallest value of natural.tibial_thickness_mm.", _CARTILAGE
    )
    natural: NaturalKneeSettings

    @model_validator(mode="before")
    @classmethod
    def leave_out_regions(cls, given: object) -> object:
        """Leave out regions of a plateau that has no part in contact."""
        return _without_others(given, "natural", "tibial_region_mm", "femoral_region_mm")

    @model_validator(mode="after")
    def check_natural(self) -> NaturalKnee:
        """Refuse axes that are not those of the knee, and two values of the least thickness."""
        _check_axes(self.natural.axes, self.knee, "natural")
        _check_regions(self, "natural", "tibial_region_mm", "femoral_region_mm")
        least = self.natural.tibial_thickness_mm[0]
        if self.nominal_thickness_mm != least:
            raise fault(
                f"nominal_thickness_mm: {self.nominal_thickness_mm:g}",
                f"{least:g}, the least of natural.tibial_thickness_mm",
                "Make both the same.",
            )
        return self


def _check_axes(axes: AxesSettings, knee: str, block: str) -> None:
    if axes.handedness() != (1 if knee == "right" else -1):
        raise fault_at(
            (block, "axes"),
            f"x: {axes.x}, y: {axes.y}, z: {axes.z}",
            f"three perpendicular axes that are right-handed in a {knee} knee",
            "Turn one direction round or correct implant.knee.",
        )


def _without_others(given: object, block: str, *names: str) -> object:
    """Raw settings of an implant without the regions of plateaus beside its `bearings`."""
    if not isinstance(given, Mapping) or not isinstance(given.get(block), Mapping):
        return given
    bearings = given.get("bearings", SIDES)
    if not isinstance(bearings, Sequence) or isinstance(bearings, str):
        return given
    own = {
        name: {
            side: region
            for side, region in regions.items()
            if side in bearings or side not in SIDES
        }
        for name, regions in given[block].items()
        if name in names and isinstance(regions, Mapping)
    }
    return {**given, block: {**given[block], **own}}


def _check_regions(implant: ImplantSettings, block: str, *names: str) -> None:
    for name in names:
        given = getattr(getattr(implant, block), name).given
        for side in implant.sides:
            if side not in given:
                raise fault_at(
                    (block, name, side),
                    "nothing",
                    "the region of the bearing",
                    "Give the region, or leave the side out of implant.bearings.",
                )


_SOURCES = {"parametric", "meshes", "natural"}


def _drop_other_sources(block: Any) -> Any:
    """Drop blocks of other sources than the chosen one, such as that of the default study."""
    if not isinstance(block, Mapping):
        return block
    other = _SOURCES - {block.get("source")}
    return {key: value for key, value in block.items() if key not in other}


AnyImplant = Annotated[
    Annotated[ParametricImplant | MeshImplant | NaturalKnee, Field(discriminator="source")],
    BeforeValidator(_drop_other_sources),
]


def parse_implant(settings: Mapping[str, Any]) -> ImplantSettings:
    """Implant settings from plain builtins that were checked before, as `source` states."""
    shapes: dict[str, type[ImplantSettings]] = {
        "parametric": ParametricImplant,
        "meshes": MeshImplant,
        "natural": NaturalKnee,
    }
    return shapes[settings["source"]].model_validate(_drop_other_sources(settings))


class GridSettings(Settings):
    """Elements on each plateau."""

    rows: int = quantity("Elements from anterior to posterior, per side.", _ELEMENT_ROWS)
    columns: int = quantity("Elements from lateral to medial, per side.", _ELEMENT_COLUMNS)


class TableSettings(Settings):
    """Lookup tables of the condyles."""

    u_points: int = quantity("Samples along the surface's first parameter.", _SAMPLES)
    v_points: int = quantity("Samples along the surface's second parameter.", _SAMPLES)
    distance_error_um: Positive = quantity(
        "Largest error of the distance table; four times that within 1 mm of edges with radii "
        "below 4 mm.",
        Range("um", 0.001, 0.01, 5, 10, "A condyle penetrates about 100 um"),
    )
