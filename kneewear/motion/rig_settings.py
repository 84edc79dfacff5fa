"""An implant under an axial load: position, load, what is free, and the path of a laxity test."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.activity.settings import POSE_COLUMNS, Motion
from kneewear.base.faults import fault
from kneewear.base.ranges import Range
from kneewear.base.types import (
    AXIAL_LOAD,
    FLEXION,
    MEDIAL,
    POSTERIOR,
    ROTATION,
    Ascending,
    Finite,
    NonNegative,
    Positive,
    Settings,
    quantity,
)

Coordinate = Literal[
    "anterior_posterior",
    "superior_inferior",
    "medial_lateral",
    "varus_valgus",
    "internal_external",
    "flexion",
]
LaxityTest = Literal[
    "anterior_posterior", "medial_lateral", "internal_external", "varus_valgus", "distraction"
]
Share = Annotated[float, Field(gt=0, lt=1)]
_OFFSET = Range("mm", -60, -20, 20, 60, "Contact stays on the insert")
_TILT = Range("deg", -15, -10, 10, 15, "Outliers of implanted components are at 10 deg")
# Numbers that say under which condition a case is, in the order of tables.
CONDITIONS = (
    "flexion_deg",
    "posterior_mm",
    "load_n",
    "medial_share",
    "tibial_external_rotation_deg",
    "posterior_offset_mm",
    "medial_offset_mm",
    "varus_offset_deg",
    "posterior_slope_deg",
    "friction",
)


class PathSettings(Settings):
    """Path of a laxity test: to the amplitude of the driven coordinate, the opposite, and back."""

    coordinate: LaxityTest
    amplitude: Positive
    end_load: Positive
    steps: int = quantity(
        "Steps per amplitude.", Range("1", 4, 10, 200, 500, "20 steps resolve a loop")
    )
    speed_mm_per_s: Positive = quantity(
        "Speed of the driven coordinate, that of a condyle in a rotation; friction is full above "
        "1 mm/s.",
        Range("mm/s", 1e-3, 0.1, 100, 1e4, "Laxity tests are slow"),
    )

    @property
    def is_angular(self) -> bool:
        """True if the displacement is an angle (deg, N m) rather than a length (mm, N)."""
        return self.coordinate in ("internal_external", "varus_valgus")

    @property
    def units(self) -> tuple[str, str]:
        """Units of displacement and load."""
        return ("deg", "N m") if self.is_angular else ("mm", "N")


class TranslationPath(PathSettings):
    """Path along a displacement."""

    coordinate: Literal["anterior_posterior", "medial_lateral", "distraction"] = Field(
        description="Driven coordinate; distraction lifts the component, all others held."
    )
    amplitude: Positive = quantity(
        "Largest displacement.", Range("mm", 0.01, 0.1, 20, 60, "Half the length of an insert")
    )
    end_load: Positive = quantity(
        "Force whose displacement is reported.",
        Range("N", 0.1, 10, 1000, 1e4, "ASTM F1223 and laxity tests of patients: 50 to 250 N"),
    )


class RotationPath(PathSettings):
    """Path about an axis."""

    coordinate: Literal["internal_external", "varus_valgus"] = Field(
        description="Driven coordinate."
    )
    amplitude: Positive = quantity(
        "Largest rotation.", Range("deg", 0.01, 0.5, 45, 60, "Range of a replaced knee")
    )
    end_load: Positive = quantity(
        "Moment whose rotation is reported.",
        Range("N m", 0.01, 0.1, 30, 200, "Laxity tests of patients: 1.5 to 10 N m"),
    )


AnyPath = Annotated[TranslationPath | RotationPath, Field(discriminator="coordinate")]


class PressSettings(Settings):
    """An implant or natural knee under an axial load: position, load, and what is free."""

    flexion_deg: Finite = quantity(
        "Flexion relative to the insert, held unless it is free.", FLEXION, 0.0
    )
    tibial_external_rotation_deg: Finite = quantity(
        "External rotation of the tibia relative to the femur.", ROTATION, 0.0
    )
    posterior_mm: Finite | None = quantity(
        "Position of the femoral origin posterior of that of the insert, from which the search "
        "starts, held unless anterior_posterior is free; null starts with the condyles' lowest "
        "points above the middle of the plateaus.",
        POSTERIOR,
        None,
    )
    medial_mm: Finite | None = quantity(
        "Position of the femoral origin medial of that of the insert; null as of posterior_mm.",
        Range("mm", -30, -10, 10, 30, "Half the width of a plateau"),
        None,
    )
    posterior_offset_mm: Finite = quantity(
        "Held displacement towards posterior from the equilibrium; 0 leaves it in equilibrium.",
        _OFFSET,
        0.0,
    )
    medial_offset_mm: Finite = quantity(
        "Held displacement towards medial from the equilibrium; 0 leaves it in equilibrium.",
        _OFFSET,
        0.0,
    )
    varus_offset_deg: Finite = quantity(
        "Held varus of the femoral component relative to the equilibrium, by which the sides no "
        "longer share the load as given; 0 leaves it in equilibrium.",
        _TILT,
        0.0,
    )
    posterior_slope_deg: Finite = quantity(
        "Slope of the insert, posterior edge low, that inclines the load to it.", _TILT, 0.0
    )
    load_n: Positive | None = quantity("Axial load, inferior.", AXIAL_LOAD, None)
    load_line_mm: Finite | None = quantity(
        "Medial-lateral position of the load; null is midway between the plateaus, or where the "
        "medial share puts it.",
        MEDIAL,
        None,
    )
    medial_share: Share | None = quantity(
        "Part of the load on the medial condyle, reached by moving the load line; values other "
        "than 0.5 represent varus or valgus. Null leaves the line alone.",
        Range("1", 0, 0.1, 0.9, 1, "0.58 to 0.70 with a neutral leg"),
        None,
    )
    free: tuple[Coordinate, ...] = Field(
        (), description="Coordinates in equilibrium; the others are held."
    )
    centring_per_mm: NonNegative = quantity(
        "Stiffness per load of springs that hold free translations at the start; 0 without.",
        Range("1/mm", 0, 0, 0.01, 10, "Where a bearing restores nothing 1e-4 is enough"),
        0.0,
    )
    friction: NonNegative = quantity(
        "Coefficient of Coulomb friction along a path.",
        Range("1", 0, 0, 0.3, 1, "Metal on polyethylene has 0.01 to 0.15"),
        0.0,
    )
    distance: Literal["minimum_distance", "ray"] = Field(
        "minimum_distance",
        description="Penetration as the minimum distance to the femoral surface, or along a ray on "
        "the element's normal.",
    )
    force_direction: Literal["minimum_distance", "element_normal", "mid_surface"] | None = Field(
        None, description="Direction of the pressure; null for simulation.force_direction."
    )
    active_elements: int | None = quantity(
        "Wanted number of loaded elements of each side, reached by changing the rows and columns; "
        "null keeps those of `grid`.",
        Range("1", 4, 10, 2000, 5000, "12 to 400 in Bei (2003)"),
        None,
    )
    pressures_mpa: Annotated[tuple[Positive, ...], Ascending] = quantity(
        "Pressures above which areas are reported.",
        Range("MPa", 0.01, 0.1, 100, 1000, "Polyethylene yields at 10 to 25 MPa"),
        (),
    )
    path: AnyPath | None = Field(
        None, description="Path of a laxity test from the equilibrium; null for one position."
    )
    poses: Motion | None = Field(
        None,
        description="File of given poses, all six coordinates, one per row; nothing is solved, and "
        "`free` and `load_n` are left out.",
    )
    pose: int = quantity(
        "Number of the given pose in the file, from 1.", Range("1", 1, 1, 1e6, 1e9, "Rows"), 1
    )

    @model_validator(mode="after")
    def check_poses(self) -> PressSettings:
        """Require given poses, or what equilibria need."""
        for key in ("free", "load_n"):
            if bool(getattr(self, key)) == bool(self.poses):
                given = getattr(self, key) or "nothing"
                raise fault(
                    f"{key}: {given} {'with' if self.poses else 'without'} poses",
                    "all six coordinates from a file of poses, or a load and free coordinates",
                    f"{'Remove' if self.poses else 'Give'} {key}.",
                )
        if self.poses is not None:
            if self.path is not None or self.active_elements is not None:
                raise fault(
                    "poses with path or active_elements",
                    "given poses on the elements of the grid",
                    "Remove path and active_elements.",
                )
            missing = sorted(set(POSE_COLUMNS) - set(self.poses.columns.given()))
            if missing or self.poses.convention in ("jointtrack", "matrices"):
                raise fault(
                    f"poses without columns of {', '.join(missing) or 'a table'}",
                    "a table with all six coordinates and a column of time (or of a number)",
                    "Name the columns.",
                )
        return self

    @model_validator(mode="after")
    def check_start(self) -> PressSettings:
        """Require one start and one load line."""
        if (self.posterior_mm is None) != (self.medial_mm is None):
            raise fault(
                f"posterior_mm: {self.posterior_mm}, medial_mm: {self.medial_mm}",
                "both, or none for condyles above the middle of the plateaus",
                "Give the other.",
            )
        if self.load_line_mm is not None and self.medial_share is not None:
            raise fault(
                f"load_line_mm: {self.load_line_mm:g} with medial_share: {self.medial_share:g}",
                "one of both: the share decides on the line",
                "Remove one.",
            )
        return self

    @model_validator(mode="after")
    def check_path(self) -> PressSettings:
        """Require a free height along a path, from the equilibrium."""
        if self.path is None:
            return self
        if "superior_inferior" not in self.free:
            raise fault(
                f"free: {', '.join(self.free)}",
                "superior_inferior among them; at a held height the axial load has no effect",
                "Add superior_inferior.",
            )
        changed = [
            key
            for key in (
                "posterior_offset_mm",
                "medial_offset_mm",
                "varus_offset_deg",
                "medial_share",
                "active_elements",
            )
            if getattr(self, key)
        ]
        if changed:
            raise fault(
                f"path with {', '.join(changed)}",
                "a path from the settled position, on the elements of the grid",
                f"Remove {' and '.join(changed)}.",
            )
        return self


class StiffnessSettings(Settings):
    """Laxity tests whose mean stiffness over some flexions is a result of a design."""

    press: PressSettings = Field(description="Load, friction and free coordinates of the tests.")
    flexion_deg: Annotated[tuple[Finite, ...], Field(min_length=1)] = quantity(
        "Flexion angles whose stiffnesses are averaged.", FLEXION
    )
    paths: dict[LaxityTest, AnyPath] = Field(description="Tests by their driven coordinates.")
