"""Settings of the implant, its elements and its lookup tables."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kneewear.settings.faults import fault, fault_at
from kneewear.settings.types import (
    FileName,
    Finite,
    FinitePerSide,
    Limits,
    NonNegative,
    PerSide,
    Positive,
    PositiveLimits,
    PositivePerSide,
    Settings,
    Thickness,
    ascend,
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


class FemoralArc(Settings):
    """An arc of the condyles' sagittal outline."""

    from_flexion_deg: Annotated[float, Field(gt=-45, lt=140)]
    radius_mm: Positive


class CamSettings(Settings):
    """Cam of a posterior-stabilised implant: a bar between the condyles, in the femoral frame."""

    posterior_mm: Finite
    superior_mm: Finite
    radius_mm: Positive
    coronal_radius_mm: Positive
    half_width_mm: Positive
    edge_radius_mm: Positive


class PostSettings(Settings):
    """Post of a posterior-stabilised insert: its straight back, which meets the cam."""

    posterior_mm: Finite
    height_mm: Positive
    depth_mm: Positive
    coronal_radius_mm: Positive
    half_width_mm: Positive
    edge_radius_mm: Positive


class CamAndPostSettings(Settings):
    """What makes an implant a posterior-stabilised one."""

    cam: CamSettings
    post: PostSettings


class ParametricImplantSettings(Settings):
    """Shape of the built-in implant, mm: cruciate-retaining, or with cam and post."""

    femoral_sagittal_radius_mm: Positive
    femoral_arcs: tuple[FemoralArc, ...]
    femoral_coronal_radius_mm: PositivePerSide
    femoral_half_width_mm: Positive
    femoral_edge_radius_mm: Positive
    condyle_spacing_mm: Positive
    plateau_sagittal_radius_mm: Positive
    plateau_coronal_radius_mm: PositivePerSide
    plateau_land_half_width_mm: Positive
    plateau_edge_radius_mm: PositivePerSide
    plateau_spacing_mismatch_mm: FinitePerSide
    plateau_half_length_mm: Positive
    extra_thickness_mm: NonNegative
    cam_and_post: CamAndPostSettings | None

    @field_validator("femoral_arcs")
    @classmethod
    def _flexion_ascends(cls, arcs: tuple[FemoralArc, ...]) -> tuple[FemoralArc, ...]:
        ascend([arc.from_flexion_deg for arc in arcs])
        return arcs

    @model_validator(mode="after")
    def _arcs_reach_their_ends(self) -> ParametricImplantSettings:
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
    """Anatomical direction of each axis of a mesh file."""

    x: Direction
    y: Direction
    z: Direction

    def handedness(self) -> int:
        """Determinant of the file's axes along (posterior, superior, medial).

        1 for the axes of a right knee, -1 for those of a left knee, 0 when two axes share a line.
        """
        (a, b, c), (d, e, f), (g, h, i) = (_UNIT_VECTORS[axis] for axis in (self.x, self.y, self.z))
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


class InsertRegion(Settings):
    """Window of the insert's horizontal plane over which one plateau is fitted."""

    x: Limits
    z: Limits


class FemoralRegion(Settings):
    """Part of the femoral component over which one condyle is fitted."""

    z: Limits
    angle_deg: Limits


class InsertRegions(PerSide[InsertRegion]):
    """Region of each side of the insert."""


class FemoralRegions(PerSide[FemoralRegion]):
    """Region of each side of the femoral component."""


class KnotSpacingSettings(Settings):
    """Smallest distance of the knots of fitted surfaces; no more are taken than needed."""

    along: Positive
    across: Positive


class PlaneSettings(Settings):
    """A plane the insert lies on, such as the top of a tilted tray."""

    height_mm: Finite
    posterior_rise_deg: Annotated[float, Field(gt=-45, lt=45)]
    medial_rise_deg: Annotated[float, Field(gt=-45, lt=45)]


class MeshImplantSettings(Settings):
    """Implant read from files: meshes, point clouds or CAD."""

    insert: FileName
    femoral: FileName
    insert_form: Literal["sheet", "solid"]
    femoral_form: Literal["sheet", "solid"]
    unit: Literal["m", "mm"]
    axes: AxesSettings
    underside_mm: Finite | None
    underside_plane: PlaneSettings | None = None
    underside_mesh: FileName | None = None
    insert_region_mm: InsertRegions
    femoral_region_mm: FemoralRegions
    knot_spacing_mm: KnotSpacingSettings
    smoothing_length_mm: NonNegative
    tolerance_mm: Positive
    mean_tolerance_mm: Positive
    wave_tolerance_mm: Positive | Literal["auto"] | None = None

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

    femoral_cartilage: FileName
    femoral_bone: FileName
    tibial_cartilage: FileName
    tibial_bone: FileName
    unit: Literal["m", "mm"]
    axes: AxesSettings
    tibial_region_mm: InsertRegions
    femoral_region_mm: FemoralRegions
    knot_spacing_mm: KnotSpacingSettings
    smoothing_length_mm: NonNegative
    tolerance_mm: Positive
    mean_tolerance_mm: Positive
    wave_tolerance_mm: Positive | None = None
    tibial_thickness_mm: PositiveLimits
    femoral_thickness_mm: PositiveLimits
    beyond_bone: Literal["nearest", "leave_out"] = "nearest"
    thickness_along: Literal["shortest", "normal"] = "shortest"


class ImplantSettings(Settings):
    """The implant, or a natural knee."""

    source: Literal["parametric", "meshes", "natural"]
    name: str = Field(min_length=1, max_length=200)
    knee: Literal["right", "left"]
    nominal_thickness_mm: Thickness
    parametric: ParametricImplantSettings | None
    meshes: MeshImplantSettings | None
    natural: NaturalKneeSettings | None = None

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

    rows: int = Field(ge=4, le=2000)
    columns: int = Field(ge=4, le=2000)


class TableSettings(Settings):
    """Lookup tables of the condyles."""

    u_points: int = Field(ge=5, le=5000)
    v_points: int = Field(ge=5, le=5000)
    distance_error_um: Annotated[float, Field(ge=0.001, le=10.0)]
