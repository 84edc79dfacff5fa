"""Settings of activities: what moves and loads the knee over one cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from kneewear.activity.standards import Standard, StandardActivity, expand_standard
from kneewear.base.faults import fault, fault_at, refuse_repeated
from kneewear.base.ranges import Range
from kneewear.base.types import (
    BODY_MASS,
    DURATION,
    PERCENT,
    POSTERIOR,
    FileName,
    Finite,
    Limits,
    LinearSpring,
    NonNegative,
    Positive,
    PositiveLimits,
    Settings,
    TurningSpring,
    drop_nulls,
    quantity,
)

Percent = Annotated[float, Field(ge=0, lt=100, allow_inf_nan=False)]
Sign = Literal[1, -1]

_CURVE = Range.unlimited(
    "that of the curve", "The sampled curve is judged (checks motion and load)"
)
_ORIGIN = Range("mm", -2000, -500, 500, 2000, "Origins of frames are arbitrary", least=0.06)
_SIGN = Range.unlimited("1", "1 or -1")


class Bump(Settings):
    """Smooth rise (or fall) within the cycle."""

    height: Finite = quantity("Height above the base, in the unit of the curve.", _CURVE)
    centre_percent: Percent = quantity("Position of the peak.", PERCENT)
    width_percent: Positive = quantity(
        "Full width at half the height; the bump ends a width to either side of its centre.",
        Range("percent", 0, 2, 50, 50, "Narrower bumps are spikes; wider ones overlap themselves"),
    )


class BumpCurve(Settings):
    """Periodic curve over one cycle: a base value plus bumps."""

    base: Finite = quantity("Value outside the bumps, in the unit of the curve.", _CURVE)
    bumps: tuple[Bump, ...] = Field(description="Bumps added to the base.")


# As given, at the dwell pose, or as given and moved by mm.
Zero = Literal["file", "dwell_pose"] | Finite


class ZeroSettings(Settings):
    """Reference position of the translations, where origins of the components are unrelated."""

    anterior_posterior: Zero = quantity(
        "`file`: as given. `dwell_pose`: that pose at each flexion, without friction, plus the "
        "deviation of the given curve from its mean. A number: as given and displaced by it, "
        "posterior positive.",
        _ORIGIN,
        "file",
    )
    superior_inferior: Zero = quantity(
        "As anterior_posterior, superior positive.",
        _ORIGIN,
        "file",
    )
    medial_lateral: Zero = quantity(
        "As anterior_posterior, medial positive; where it is solved, it only starts the search.",
        _ORIGIN,
        "file",
    )

    @property
    def refers_to_dwell_pose(self) -> bool:
        """True if a translation counts from the dwell pose, which depends on the implant."""
        return "dwell_pose" in (
            self.anterior_posterior,
            self.superior_inferior,
            self.medial_lateral,
        )


class ParametricActivity(Settings):
    """Built-in activity with a curve for each prescribed quantity."""

    source: Literal["parametric"] = Field(description="Built-in curves.")
    duration_s: Positive = quantity("Duration of one cycle.", DURATION)
    flexion_deg: BumpCurve = Field(description="Flexion, deg.")
    tibial_external_rotation_deg: BumpCurve = Field(
        description="External rotation of the tibia relative to the femur, deg."
    )
    femur_posterior_mm: BumpCurve = Field(
        description="Position of the femoral origin posterior of that of the insert, mm."
    )
    load_body_weights: BumpCurve = Field(description="Axial load, body weights.")
    zero: ZeroSettings = ZeroSettings()


class _CurveColumns(Settings):
    """Columns of a file of curves; percent or time_s gives the position in the cycle."""

    percent: str | None = Field(None, description="Column of the percent of the cycle.")
    time_s: str | None = Field(
        None, description="Column of time, s; the cycle runs from the first row to the last."
    )

    @model_validator(mode="after")
    def check_time_column(self) -> _CurveColumns:
        """Require either percent or time."""
        if (self.percent is None) == (self.time_s is None):
            raise fault(
                "percent and time_s" if self.percent else "neither percent nor time_s",
                "one of percent and time_s",
                "Name the column of the position in the cycle.",
            )
        return self

    @model_validator(mode="after")
    def check_columns_differ(self) -> _CurveColumns:
        """Refuse one column for two quantities."""
        refuse_repeated(self.given(), whole=True)
        return self

    def given(self) -> dict[str, str]:
        """Columns the file must have: quantity to name in the file's header."""
        return {name: column for name, column in self.model_dump().items() if column is not None}


class MotionColumns(_CurveColumns):
    """Columns of the motion file; the convention states the positive directions."""

    flexion: str = Field(description="Column of flexion.")
    varus: str | None = Field(None, description="Column of varus; a start value if varus is free.")
    rotation: str | None = Field(None, description="Column of internal-external rotation.")
    anterior_posterior: str | None = Field(
        None, description="Column of the anterior-posterior position."
    )
    superior_inferior: str | None = Field(
        None, description="Column of the superior-inferior position; a start value."
    )
    medial_lateral: str | None = Field(
        None, description="Column of the medial-lateral position; a start value if it is solved."
    )
    anterior_posterior_force_n: str | None = Field(
        None,
        description="Column of the anterior-posterior force, N, with the sign of the position; for "
        "control: force.",
    )
    rotation_torque_n_m: str | None = Field(
        None,
        description="Column of the internal-external torque, N m, with the sign of the rotation; "
        "for control: force.",
    )


class MotionSigns(Settings):
    """Positive direction of each column of a motion file."""

    flexion: Sign = quantity("1 if flexion is positive, -1 if extension is.", _SIGN)
    varus: Sign = quantity("1 if varus is positive, -1 if valgus is.", _SIGN)
    tibial_external_rotation: Sign = quantity(
        "1 if external rotation of the tibia is positive, -1 if internal rotation is.", _SIGN
    )
    femur_anterior: Sign = quantity(
        "1 if a femur moved to anterior (a tibia to posterior) is positive, else -1.", _SIGN
    )
    femur_superior: Sign = quantity("1 if a femur moved up is positive, else -1.", _SIGN)
    femur_lateral: Sign = quantity("1 if a femur moved to lateral is positive, else -1.", _SIGN)


Row = tuple[Finite, Finite, Finite, Finite]
Placement = tuple[Row, Row, Row]
_PLACEMENT = Range(
    "1 and mm", -2000, -600, 600, 2000, "Axes are unit vectors; origins are within the leg"
)

# Components are millimetres to centimetres away from the origin of a bone; in metres below this.
_MIN_ORIGIN = 0.2


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


class PlacementSettings(Settings):
    """Position of the components in the bodies or meshes whose motion is given."""

    femoral_mm: Placement = quantity(
        "Three rows of four: axes (posterior, superior, medial; of registered left knees anterior, "
        "superior, medial) and origin of the femoral component in the femoral frame.",
        _PLACEMENT,
    )
    insert_mm: Placement = quantity("The same of the insert in the tibial frame.", _PLACEMENT)

    @field_validator("femoral_mm", "insert_mm")
    @classmethod
    def check_axes(cls, rows: Placement) -> Placement:
        """Refuse axes that are not a rotation."""
        # Without numpy: every job reads settings, and few need arrays.
        x, y, z = (tuple(row[axis] for row in rows) for axis in range(3))
        products = [_dot(a, b) for a in (x, y, z) for b in (x, y, z)]
        off = max(abs(product - (n % 4 == 0)) for n, product in enumerate(products))
        cross = (y[1] * z[2] - y[2] * z[1], y[2] * z[0] - y[0] * z[2], y[0] * z[1] - y[1] * z[0])
        handedness = _dot(x, cross)
        if off > 1e-4 or handedness < 0:
            raise fault(
                f"axes that miss a rotation by {off:.2g} (determinant {handedness:.2g})",
                "three perpendicular unit axes, right-handed, in the first three columns",
                "Take the rows of the component's transform; only the fourth column is in mm.",
            )
        reach = max(abs(row[3]) for row in rows)
        if 0.0 < reach < _MIN_ORIGIN:
            raise fault(
                f"an origin {reach:g} mm away",
                f"zero, or {_MIN_ORIGIN:g} mm and more",
                "This looks like metres: give the fourth column in mm.",
            )
        return rows


# Standard deviations: fluoroscopy errs by about 1 deg and 1 mm, skin markers by several of both.
_ANGLE_ERROR = Range(
    "deg", 0, 0, 10, 45, "Fluoroscopy errs by about 1 deg, skin markers by 5", least=0.09
)
_POSITION_ERROR = Range(
    "mm", 0, 0, 10, 50, "Fluoroscopy errs by about 1 mm, skin markers by 10", least=0.03
)
_SCALE = Range("1", 0, 0.2, 3, 10, "Subjects differ by up to a factor of about 3")


class MotionDeviation(Settings):
    """Standard deviation of a measured pose."""

    flexion_deg: NonNegative = quantity("Of flexion.", _ANGLE_ERROR, 0.0)
    varus_deg: NonNegative = quantity("Of varus.", _ANGLE_ERROR, 0.0)
    rotation_deg: NonNegative = quantity("Of rotation.", _ANGLE_ERROR, 0.0)
    anterior_posterior_mm: NonNegative = quantity(
        "Of the anterior-posterior position.", _POSITION_ERROR, 0.0
    )
    superior_inferior_mm: NonNegative = quantity(
        "Of the superior-inferior position.", _POSITION_ERROR, 0.0
    )
    medial_lateral_mm: NonNegative = quantity(
        "Of the medial-lateral position.", _POSITION_ERROR, 0.0
    )
    harmonics: int = quantity(
        "Rate of change of the error: 0 is a constant unknown shift, n adds an error of the first "
        "n harmonics of the cycle.",
        Range("1", 0, 0, 10, 20, "A cycle has about ten significant harmonics"),
        0,
    )


class RegisteredDeviation(MotionDeviation):
    """Standard deviation of a pose registered in x-ray images."""

    out_of_plane_mm: NonNegative = quantity(
        "Of the relative position along the x-ray beam: millimetres with one view, 0 with two.",
        Range(
            "mm",
            0,
            0,
            10,
            50,
            "Registration in one view errs by 1 to 5 mm along the beam",
            least=0.03,
        ),
    )


class MotionScale(Settings):
    """Factors of the deviations of the pose from its mean, of the femur on the insert."""

    anterior_posterior: Positive = quantity("Of the anterior-posterior position.", _SCALE, 1.0)
    superior_inferior: Positive = quantity(
        "Of the superior-inferior position; where it is solved, it only starts the search.",
        _SCALE,
        1.0,
    )
    medial_lateral: Positive = quantity("As superior_inferior.", _SCALE, 1.0)
    varus: Positive = quantity("As superior_inferior.", _SCALE, 1.0)
    rotation: Positive = quantity("Of the rotation.", _SCALE, 1.0)
    flexion: Positive = quantity("Of flexion.", _SCALE, 1.0)

    @property
    def factors(self) -> tuple[float, ...]:
        """Factors in the order of the six coordinates of a pose."""
        return tuple(self.model_dump().values())


# Quantities of a table of poses.
POSE_COLUMNS = (
    "flexion",
    "varus",
    "rotation",
    "anterior_posterior",
    "superior_inferior",
    "medial_lateral",
)
# Columns of the motion that two pose files give.
_REGISTERED = {name: name for name in ("time_s", *POSE_COLUMNS)}


class MotionSettings(Settings):
    """Motion read from a file; a subclass for each convention."""

    file: FileName = Field(
        description="File of the motion (.csv, .xlsx, .sto, .mot, or exported text), or of the "
        "femoral poses (.jts, .jtak, .tra); path in the data folder."
    )
    convention: str
    columns: MotionColumns
    window_s: Limits | None = quantity(
        "Part of a file with time_s that is the cycle; null for all.",
        Range("s", 0.1, 0.5, 10, 600, "One cycle", of_width=True),
        None,
    )
    strides_s: tuple[Finite, ...] | None = quantity(
        "Times at which strides of files with time_s begin, and the last one ends: they are cut "
        "there and averaged, of motion and load alike; null for one cycle.",
        Range("s", 0, 0, 600, 86400, "Recordings take minutes"),
        None,
    )
    smoothing_harmonics: int | None = quantity(
        "Harmonics of the cycle that are kept of each motion curve; null keeps every sample.",
        Range("1", 1, 5, 50, 200, "Five harmonics describe gait; 20 samples resolve no more"),
        None,
    )
    standard_deviation: MotionDeviation | None = Field(
        None, description="Standard deviation of the measured pose; null if unknown."
    )
    pose_error: float | None = quantity(
        "Number that names a random error of the poses, drawn from standard_deviation; variables "
        "set it.",
        Range("1", 0, 0, 1, 1, "A probability"),
        None,
    )
    knee: Literal["right", "left"] | None = Field(
        None, description="Side of the measured knee; null: that of the implant."
    )
    scale: MotionScale = MotionScale()

    @model_validator(mode="after")
    def check_window(self) -> MotionSettings:
        """Require a column of time with a window."""
        if self.window_s is not None and self.columns.time_s is None:
            raise fault("window_s without columns.time_s", "a column of time", "Name it.")
        return self

    @model_validator(mode="after")
    def check_strides(self) -> MotionSettings:
        """Require a column of time, no window, and at least two strides in order."""
        times = self.strides_s
        if times is None:
            return self
        if self.columns.time_s is None or self.window_s is not None:
            found = "strides_s without columns.time_s" if self.window_s is None else "window_s too"
            raise fault(found, "strides_s with a column of time, and no window_s", "Remove one.")
        if len(times) < 3 or any(b <= a for a, b in pairwise(times)):
            listed = ", ".join(f"{time:g}" for time in times)
            raise fault(
                f"strides_s: [{listed}]",
                "three ascending times or more: the beginnings of two strides and an end",
                "Sort them, or use window_s for one stride.",
            )
        return self


class ClinicalMotion(MotionSettings):
    """Six coordinates of the femoral component in the insert."""

    convention: Literal["grood-suntay", "body-123"] = Field(
        description="Clinical angles, or rotations about x (varus), y (rotation) and z (flexion)."
    )


class SignedMotion(MotionSettings):
    """As grood-suntay, with stated signs."""

    convention: Literal["signs"] = Field(description="Clinical angles with stated signs.")
    signs: MotionSigns


class IsoMotion(MotionSettings):
    """Displacements of ISO 14243-3, which count from the pose at rest."""

    convention: Literal["iso14243-3:2004", "iso14243-3:2014"] = Field(
        description="Edition of the standard."
    )
    signs: MotionSigns | None = Field(
        None, description="Signs of the curves; null for those of the edition."
    )
    reference_posterior_mm: Finite = quantity(
        "Position of the femoral origin posterior of that of the insert at rest.", POSTERIOR
    )

    @model_validator(mode="after")
    def check_columns(self) -> IsoMotion:
        """Refuse columns that the standard does not define."""
        beyond = {"varus", "superior_inferior", "medial_lateral"} & set(self.columns.given())
        if beyond:
            raise fault(
                f"columns of {', '.join(sorted(beyond))} with convention: {self.convention}",
                "flexion, rotation and anterior_posterior, all that ISO 14243 defines",
                "Remove them, or use convention: signs.",
            )
        return self


class OpenSimMotion(MotionSettings):
    """Six coordinates of a knee joint whose parent is the femur and whose child is the tibia."""

    convention: Literal["opensim"] = Field(description="Coordinates of a joint of OpenSim.")
    placement: PlacementSettings | None = Field(
        None,
        description="Position of the components in the bodies; null if their meshes are in the "
        "frames of the joint.",
    )

    @model_validator(mode="after")
    def check_columns(self) -> OpenSimMotion:
        """Require all coordinates of the joint."""
        missing = [name for name in POSE_COLUMNS if name not in self.columns.given()]
        if missing:
            raise fault(
                f"no column of {', '.join(missing)}",
                "all six coordinates of the knee joint with convention: opensim",
                "Export the joint's six coordinates.",
            )
        return self


class RegisteredMotion(MotionSettings):
    """Pose files of both components, registered in x-ray images."""

    convention: Literal["jointtrack", "matrices"] = Field(
        description="Pose files of both components: of JointTrack or JTML, or 4x4 matrices, such "
        "as `.tra` files of Autoscoper."
    )
    tibial_file: FileName = Field(description="File of the poses of the tibial component.")
    frame_rate_hz: Positive = quantity(
        "X-ray frames per second.",
        Range("1/s", 0.1, 3, 250, 5000, "Fluoroscopes take 7 to 60 frames, fast ones up to 200"),
    )
    placement: PlacementSettings = Field(
        description="Axes of the components in the frames of the registered meshes."
    )
    standard_deviation: RegisteredDeviation

    @model_validator(mode="before")
    @classmethod
    def add_columns(cls, block: Any) -> Any:
        """Add the columns, which pose files have without names."""
        if not isinstance(block, Mapping):
            return block
        columns = block.get("columns") or _REGISTERED
        # Settings that were read once before have all keys.
        if drop_nulls(columns) != _REGISTERED:
            expected = (
                "no columns with convention: jointtrack or matrices, whose files have fixed ones"
            )
            raise fault_at(("columns",), "names of columns", expected, "Remove columns.")
        return {**block, "columns": _REGISTERED}


Motion = Annotated[
    ClinicalMotion | SignedMotion | IsoMotion | OpenSimMotion | RegisteredMotion,
    Field(discriminator="convention"),
]


class LoadColumns(_CurveColumns):
    """Columns of the load file."""

    load: str | None = Field(
        None,
        description="Column of the load of both sides together; after a minus where compression is "
        "negative in the file.",
    )
    medial: str | None = Field(
        None, description="Column of the force on the medial side, with lateral instead of load."
    )
    lateral: str | None = Field(None, description="Column of the force on the lateral side.")
    medial_share: str | None = Field(
        None, description="Column of the part of the load on the medial side, 0 to 1, with load."
    )
    varus_moment_n_m: str | None = Field(
        None,
        description="Column of the moment of the load about the anterior-posterior axis through "
        "the insert's origin, N m, positive if it loads the medial side; with load.",
    )
    flexion: str | None = Field(
        None,
        description="Column of flexion recorded with the load, deg, to compare with the motion.",
    )

    @property
    def sharing(self) -> tuple[str, ...]:
        """Quantities that say how the load is shared; none where the settings say it."""
        names = ("medial", "lateral", "medial_share", "varus_moment_n_m")
        return tuple(name for name in names if getattr(self, name) is not None)

    @model_validator(mode="after")
    def check_load_columns(self) -> LoadColumns:
        """Require one statement of the load."""
        given = (*(("load",) if self.load is not None else ()), *self.sharing)
        if given not in (
            ("load",),
            ("medial", "lateral"),
            ("load", "medial_share"),
            ("load", "varus_moment_n_m"),
        ):
            raise fault(
                f"columns of {', '.join(given) or 'no load'}",
                "load; medial and lateral; load and medial_share; or load and varus_moment_n_m",
                "Name the columns of one of these.",
            )
        return self


class LoadSettings(Settings):
    """Load read from a file."""

    file: FileName = Field(
        description="File of the load (.csv, .xlsx, .sto, .mot, or exported text); path in the "
        "data folder."
    )
    columns: LoadColumns
    kind: Literal["axial_load", "axial_force_n", "ground_reaction"] = Field(
        description="Axial load of the joint in body weights or in N, or a ground reaction that is "
        "scaled."
    )
    load_range_body_weights: PositiveLimits | None = quantity(
        "Range that a ground reaction is scaled to; for ground_reaction only.",
        Range("body weights", 0.01, 0.05, 5, 12, "Measured 0.2 to 3.5 in gait and stairs"),
        None,
    )
    body_mass_kg: Positive | None = quantity(
        "Body mass that forces in N belong to; cases of other mass scale them. For axial_force_n "
        "only.",
        BODY_MASS,
        None,
    )

    @model_validator(mode="after")
    def check_kind(self) -> LoadSettings:
        """Require the keys of the kind."""
        wanted = {"load_range_body_weights": "ground_reaction", "body_mass_kg": "axial_force_n"}
        for key, kind in wanted.items():
            value = getattr(self, key)
            if (self.kind == kind) != (value is not None):
                raise fault(
                    f"kind: {self.kind} with {key}: {value}",
                    f"{key} with kind: {kind} and only then",
                    f"Add or remove {key}.",
                )
        sharing = self.columns.sharing
        moment = "varus_moment_n_m" in sharing
        if (sharing and self.kind == "ground_reaction") or (moment and self.body_mass_kg is None):
            raise fault(
                f"kind: {self.kind} with columns of {', '.join(sharing)}",
                f"kind: axial_force_n{'' if moment else ' or axial_load'} with them",
                "Choose the kind that the forces of the file are of.",
            )
        return self


Driven = Literal["prescribed", "held", "force"]
Guided = Literal["prescribed", "held", "free"]


class ControlSettings(Settings):
    """Control of each coordinate, as in a knee simulator; flexion and load are prescribed."""

    anterior_posterior: Driven = Field(
        description="Position from the file, held at its mean (or reference), or force from the "
        "file (none without a column)."
    )
    rotation: Driven = Field(
        description="Angle from the file, held at its mean (or zero), or torque from the file "
        "(none without a column)."
    )
    varus: Guided = Field(description="Angle from the file, held at its mean (or zero), or free.")
    medial_lateral: Guided = Field(
        description="Position from the file, held at its mean (or zero), or free."
    )
    load_line_mm: Finite = quantity(
        "Medial-lateral position of the axial load in the insert's frame, medial positive.",
        Range("mm", -300, 0, 20, 300, "5 mm medial in ISO 14243 (from memory)", least=0.06),
    )
    anterior_posterior_springs: tuple[LinearSpring, ...] = Field(
        (), description="Springs along the anterior-posterior position."
    )
    medial_lateral_springs: tuple[LinearSpring, ...] = Field(
        (), description="Springs along the medial-lateral position."
    )
    rotation_springs: tuple[TurningSpring, ...] = Field(
        (), description="Springs about the axis of internal-external rotation."
    )
    friction: NonNegative = quantity(
        "Coefficient of Coulomb friction of the bearing, on the elastic foundation.",
        Range("1", 0, 0, 0.2, 1, "0.04 to 0.16 of UHMWPE on CoCr (185142, 2015)", least=0.005),
        0.0,
    )

    @property
    def damped(self) -> list[tuple[str, int]]:
        """Keys and numbers of the springs with damping."""
        dampings = {
            "anterior_posterior_springs": "damping_n_s_per_mm",
            "medial_lateral_springs": "damping_n_s_per_mm",
            "rotation_springs": "damping_n_m_s_per_deg",
        }
        return [
            (key, number)
            for key, damping in dampings.items()
            for number, spring in enumerate(getattr(self, key))
            if getattr(spring, damping) > 0.0
        ]


_COORDINATES = ("anterior_posterior", "rotation", "varus", "medial_lateral")
# Control of each coordinate by the name of the boundary conditions.
_BOUNDARY_CONDITIONS: dict[str, dict[str, Any] | None] = {
    "prescribed": None,
    "settled_ap_rotation": {
        "anterior_posterior": "force",
        "rotation": "force",
        "varus": "free",
        "medial_lateral": "free",
    },
    "simulator": {
        "anterior_posterior": "prescribed",
        "rotation": "prescribed",
        "varus": "free",
        "medial_lateral": "held",
    },
}


class FileActivity(Settings):
    """Activity read from curves in files."""

    source: Literal["file"] = Field(description="Curves from files.")
    standard: Standard | None = Field(
        None, description="Standard of the curves; set by `source: iso14243-3` and others."
    )
    motion: Motion
    load: LoadSettings
    duration_s: Positive = quantity("Duration of one cycle.", DURATION)
    closing_percent: NonNegative = quantity(
        "Part of the cycle over which the gap from last to first sample is blended.",
        Range(
            "percent",
            0,
            0,
            15,
            50,
            "Beyond a sixth, forces of late swing and stance change",
            least=0.5,
        ),
    )
    control: ControlSettings | None = Field(
        None,
        description="Control of each coordinate; null prescribes flexion, rotation and "
        "anterior-posterior position and solves the others.",
    )
    boundary_conditions: Literal["prescribed", "settled_ap_rotation", "simulator"] | None = Field(
        None,
        description="Control by name. prescribed: position and rotation from the file, the others "
        "solved. settled_ap_rotation: position and rotation free as well, for bearings whose dish "
        "decides them. simulator: position and rotation from the file, varus free, medial-lateral "
        "held. null: as `control`.",
    )
    zero: ZeroSettings = ZeroSettings()

    @model_validator(mode="before")
    @classmethod
    def expand_boundary_conditions(cls, block: Any) -> Any:
        """Add the control that the boundary conditions name; refuse another one beside them."""
        name = block.get("boundary_conditions") if isinstance(block, Mapping) else None
        if name not in _BOUNDARY_CONDITIONS:
            return block
        control, given = _BOUNDARY_CONDITIONS[name], block.get("control")
        if control is not None:
            line = given.get("load_line_mm", 0.0) if isinstance(given, Mapping) else 0.0
            control = control | {"load_line_mm": line}
        named = drop_nulls(given) if isinstance(given, Mapping) else given
        chosen = {key: value for key, value in (named or {}).items() if key in _COORDINATES}
        # A load line goes with boundary conditions that have one.
        wanted = {key: value for key, value in (control or {}).items() if key in _COORDINATES}
        if (named and control is None) or (chosen and chosen != wanted):
            raise fault(
                f"control beside boundary_conditions: {name}",
                "one of them",
                "Remove boundary_conditions, or control.",
            )
        return {**block, "control": {**(control or {}), **named} if named else control}

    @model_validator(mode="after")
    def check_control(self) -> FileActivity:
        """Require the columns of the control."""
        columns, control = self.motion.columns.given(), self.control
        if control is not None and self.load.columns.sharing:
            raise fault(
                f"load.columns.{self.load.columns.sharing[0]} with control",
                "load alone with control, whose load_line_mm says how it is shared",
                "Remove the column, or control.",
            )
        forces = {
            "anterior_posterior": "anterior_posterior_force_n",
            "rotation": "rotation_torque_n_m",
        }
        for name in ("anterior_posterior", "rotation", "varus", "medial_lateral"):
            way = getattr(control, name) if control else "prescribed"
            solved = control is None and name not in forces
            if way == "prescribed" and not solved and name not in columns:
                raise fault(
                    f"no column of {name}, which is prescribed",
                    f"motion.columns.{name}",
                    "Name the column, or let `control` hold or free this coordinate.",
                )
            if way != "force" and forces.get(name) in columns:
                raise fault(
                    f"motion.columns.{forces[name]} with {name}: {way}",
                    f"control.{name}: force with it",
                    "Remove the column, or set the control to force.",
                )
        for name in ("anterior_posterior", "medial_lateral", "rotation") if control else ():
            springs, way = getattr(control, f"{name}_springs"), getattr(control, name)
            if springs and way in ("prescribed", "held"):
                raise fault_at(
                    ("control", f"{name}_springs"),
                    f"springs with {name}: {way}",
                    f"springs where {name} is not given",
                    "Remove the springs, which change nothing, or set the control to force.",
                )
            if any(springs.count(spring) > 1 for spring in springs):
                raise fault_at(
                    ("control", f"{name}_springs"),
                    "the same spring twice",
                    "springs that differ",
                    "Remove one, or double the stiffness.",
                )
        given = [column for column in forces.values() if column in columns]
        if given and self.load.body_mass_kg is None:
            raise fault(
                f"motion.columns.{given[0]} with load.kind: {self.load.kind}",
                "kind: axial_force_n, so that all forces are in N and belong to one body mass",
                "Give the axial load in N, with body_mass_kg.",
            )
        return self


ActivitySettings = Annotated[
    Annotated[ParametricActivity | FileActivity, Field(discriminator="source")],
    BeforeValidator(
        expand_standard,
        json_schema_input_type=ParametricActivity | FileActivity | StandardActivity,
    ),
]


def parse_activity(settings: Mapping[str, Any]) -> ParametricActivity | FileActivity:
    """Activity settings from plain builtins that were checked before, as `source` says."""
    shape = FileActivity if settings["source"] == "file" else ParametricActivity
    return shape.model_validate(dict(settings))


def prescribes_motion(settings: ParametricActivity | FileActivity) -> bool:
    """True if anterior-posterior position and rotation come from a file."""
    if not isinstance(settings, FileActivity):
        return False
    control = settings.control
    return control is None or control.anterior_posterior == control.rotation == "prescribed"
