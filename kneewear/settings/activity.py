"""Settings of activities: what moves and loads the knee over one cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from kneewear.settings.faults import fault, fault_at
from kneewear.settings.standards import Standard, expand_standard
from kneewear.settings.types import (
    Duration,
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
)

Percent = Annotated[float, Field(ge=0, lt=100, allow_inf_nan=False)]
Sign = Literal[1, -1]
ISO_CONVENTIONS = ("iso14243-3:2004", "iso14243-3:2014")


class Bump(Settings):
    """One smooth rise (or fall) within the cycle."""

    height: Finite
    centre_percent: Percent
    width_percent: Annotated[float, Field(gt=0, le=50)]


class BumpCurve(Settings):
    """Periodic curve over one cycle: a base value plus bumps."""

    base: Finite
    bumps: tuple[Bump, ...]


# As given, at the seat, or as given and moved by mm.
Zero = Literal["file", "seat"] | Finite


class ZeroSettings(Settings):
    """What the translations of a motion count from."""

    anterior_posterior: Zero = "file"
    superior_inferior: Zero = "file"
    medial_lateral: Zero = "file"

    @property
    def refers_to_seat(self) -> bool:
        """Whether a translation counts from the seat, which depends on the implant."""
        return "seat" in (self.anterior_posterior, self.superior_inferior, self.medial_lateral)


class ParametricActivity(Settings):
    """Built-in activity, one bump curve for each prescribed quantity."""

    source: Literal["parametric"]
    duration_s: Duration
    flexion_deg: BumpCurve
    tibial_external_rotation_deg: BumpCurve
    femur_posterior_mm: BumpCurve
    load_body_weights: BumpCurve
    zero: ZeroSettings = ZeroSettings()


class _CurveColumns(Settings):
    """Columns of a file of curves; one of the first two gives the position in the cycle."""

    percent: str | None = None
    time_s: str | None = None

    @model_validator(mode="after")
    def _has_one_clock(self) -> _CurveColumns:
        if (self.percent is None) == (self.time_s is None):
            raise fault(
                "percent and time_s" if self.percent else "neither percent nor time_s",
                "one of percent and time_s",
                "Name the column of the position in the cycle.",
            )
        return self

    @model_validator(mode="after")
    def _columns_differ(self) -> _CurveColumns:
        named: dict[str, str] = {}
        for name, column in self.given().items():
            if column in named:
                raise fault(
                    f"column '{column}' for {named[column]} and {name}",
                    "a column of its own for each",
                    "Correct one of the names.",
                )
            named[column] = name
        return self

    def given(self) -> dict[str, str]:
        """Columns the file must have: quantity to name in the file's header."""
        return {name: column for name, column in self.model_dump().items() if column is not None}


class MotionColumns(_CurveColumns):
    """Columns of the motion file; the convention says which way each is positive."""

    flexion: str
    varus: str | None = None
    rotation: str | None = None
    anterior_posterior: str | None = None
    superior_inferior: str | None = None
    medial_lateral: str | None = None
    anterior_posterior_force_n: str | None = None
    rotation_torque_n_m: str | None = None


class MotionSigns(Settings):
    """Which way each column of a motion file is positive."""

    flexion: Sign
    varus: Sign
    tibial_external_rotation: Sign
    femur_anterior: Sign
    femur_superior: Sign
    femur_lateral: Sign


Row = tuple[Finite, Finite, Finite, Finite]
Placement = tuple[Row, Row, Row]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


class PlacementSettings(Settings):
    """Where the components sit in the bodies an OpenSim joint connects."""

    femoral_mm: Placement
    insert_mm: Placement

    @field_validator("femoral_mm", "insert_mm")
    @classmethod
    def _axes_are_a_rotation(cls, rows: Placement) -> Placement:
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
        return rows


class MotionDeviation(Settings):
    """Standard deviation of a measured pose."""

    flexion_deg: NonNegative = 0.0
    varus_deg: NonNegative = 0.0
    rotation_deg: NonNegative = 0.0
    anterior_posterior_mm: NonNegative = 0.0
    superior_inferior_mm: NonNegative = 0.0
    medial_lateral_mm: NonNegative = 0.0
    out_of_plane_mm: NonNegative | None = None
    harmonics: int = Field(default=0, ge=0, le=20)


Scale = Annotated[float, Field(gt=0, le=10)]


class MotionScale(Settings):
    """Factors of the deviations of a motion's coordinates from their means; 1 leaves them."""

    anterior_posterior: Scale = 1.0
    superior_inferior: Scale = 1.0
    medial_lateral: Scale = 1.0
    varus: Scale = 1.0
    rotation: Scale = 1.0
    flexion: Scale = 1.0

    @property
    def factors(self) -> tuple[float, ...]:
        """Factors in the order of the six coordinates of a pose."""
        return tuple(self.model_dump().values())


# Columns of the motion that two pose files give.
_REGISTERED = {
    name: name
    for name in (
        "time_s",
        "flexion",
        "varus",
        "rotation",
        "anterior_posterior",
        "superior_inferior",
        "medial_lateral",
    )
}


class MotionSettings(Settings):
    """Motion read from a file, or from the pose files of two registered components."""

    file: FileName
    tibial_file: FileName | None = None
    convention: Literal[
        "grood-suntay",
        "opensim",
        "iso14243-3:2004",
        "iso14243-3:2014",
        "body-123",
        "jointtrack",
        "signs",
    ]
    signs: MotionSigns | None = None
    columns: MotionColumns
    frame_rate_hz: Positive | None = None
    window_s: Limits | None = None
    reference_posterior_mm: Finite | None = None
    placement: PlacementSettings | None = None
    smoothing_harmonics: Annotated[int, Field(ge=1, le=200)] | None = None
    standard_deviation: MotionDeviation | None = None
    scale: MotionScale = MotionScale()

    @model_validator(mode="before")
    @classmethod
    def _pose_files_have_no_names_of_columns(cls, block: Any) -> Any:
        if not isinstance(block, Mapping) or block.get("convention") != "jointtrack":
            return block
        columns = block.get("columns") or _REGISTERED
        # Settings that were read once before have all keys.
        if drop_nulls(columns) != _REGISTERED:
            expected = "no columns with convention: jointtrack, whose files have fixed ones"
            raise fault_at(("columns",), "names of columns", expected, "Remove columns.")
        return {**block, "columns": _REGISTERED}

    @model_validator(mode="after")
    def _keys_go_with_the_convention(self) -> MotionSettings:
        iso, registered = self.convention in ISO_CONVENTIONS, self.convention == "jointtrack"
        if not iso:
            self._goes_with("signs", self.convention == "signs")
        self._goes_with("reference_posterior_mm", iso)
        self._goes_with("tibial_file", registered)
        self._goes_with("frame_rate_hz", registered)
        if registered:
            self._goes_with("placement", wanted=True)
        elif self.placement is not None and self.convention != "opensim":
            raise fault(
                f"placement with convention: {self.convention}",
                "placement with convention: opensim or jointtrack only",
                "Remove placement, or give the pose of the components themselves.",
            )
        error = self.standard_deviation.out_of_plane_mm if self.standard_deviation else None
        if registered != (error is not None):
            raise fault(
                f"convention: {self.convention} with standard_deviation.out_of_plane_mm: {error}",
                "it with convention: jointtrack and only then",
                "Give the error of the relative position along the x-ray beam (millimetres with "
                "one view, 0 with two), or remove the key.",
            )
        if self.window_s is not None and self.columns.time_s is None:
            raise fault("window_s without columns.time_s", "a column of time", "Name it.")
        pose = {"varus", "rotation", "superior_inferior", "anterior_posterior", "medial_lateral"}
        missing = sorted(pose - set(self.columns.given()))
        if self.convention == "opensim" and missing:
            raise fault(
                f"no column of {', '.join(missing)}",
                "all six coordinates of the knee joint with convention: opensim",
                "Export the joint's six coordinates.",
            )
        beyond = sorted(
            {"varus", "superior_inferior", "medial_lateral"} & set(self.columns.given())
        )
        if iso and beyond:
            raise fault(
                f"columns of {', '.join(beyond)} with convention: {self.convention}",
                "flexion, rotation and anterior_posterior, all that ISO 14243 defines",
                "Remove them, or use convention: signs.",
            )
        return self

    def _goes_with(self, key: str, wanted: bool) -> None:
        if (getattr(self, key) is not None) != wanted:
            raise fault(
                f"convention: {self.convention} {'without' if wanted else 'with'} {key}",
                f"{key} {'with' if wanted else 'without'} it",
                f"{'Add' if wanted else 'Remove'} {key}, or choose the convention that fits.",
            )


class LoadColumns(_CurveColumns):
    """Columns of the load file."""

    load: str | None = None
    medial: str | None = None
    lateral: str | None = None
    medial_share: str | None = None
    varus_moment_n_m: str | None = None
    flexion: str | None = None

    @property
    def sharing(self) -> tuple[str, ...]:
        """Quantities that say how the load is shared; none where the settings say it."""
        names = ("medial", "lateral", "medial_share", "varus_moment_n_m")
        return tuple(name for name in names if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _give_one_load(self) -> LoadColumns:
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

    file: FileName
    columns: LoadColumns
    kind: Literal["axial_load", "axial_force_n", "ground_reaction"]
    load_range_body_weights: PositiveLimits | None = None
    body_mass_kg: Positive | None = None

    @model_validator(mode="after")
    def _keys_go_with_the_kind(self) -> LoadSettings:
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
    """How each coordinate is controlled, as in a knee simulator; flexion and load always are."""

    anterior_posterior: Driven
    rotation: Driven
    varus: Guided
    medial_lateral: Guided
    load_line_mm: Finite
    anterior_posterior_springs: tuple[LinearSpring, ...] = ()
    medial_lateral_springs: tuple[LinearSpring, ...] = ()
    rotation_springs: tuple[TurningSpring, ...] = ()


class FileActivity(Settings):
    """Activity read from curves in files."""

    source: Literal["file"]
    standard: Standard | None = None
    motion: MotionSettings
    load: LoadSettings
    duration_s: Duration
    closing_percent: Annotated[float, Field(ge=0, le=50)]
    control: ControlSettings | None = None
    zero: ZeroSettings = ZeroSettings()

    @model_validator(mode="after")
    def _columns_go_with_the_control(self) -> FileActivity:
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
    BeforeValidator(expand_standard),
]


def parse_activity(settings: Mapping[str, Any]) -> ParametricActivity | FileActivity:
    """Activity settings from plain builtins that were checked before, as `source` says."""
    shape = FileActivity if settings["source"] == "file" else ParametricActivity
    return shape.model_validate(dict(settings))


def prescribes_motion(settings: ParametricActivity | FileActivity) -> bool:
    """Whether anterior-posterior position and rotation come from a file."""
    if not isinstance(settings, FileActivity):
        return False
    control = settings.control
    return control is None or control.anterior_posterior == control.rotation == "prescribed"
