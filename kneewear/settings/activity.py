"""Settings of activities: what moves and loads the knee over one cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from kneewear.settings.faults import fault
from kneewear.settings.types import Duration, Finite, NonNegative, Positive, Settings, ascending

Percent = Annotated[float, Field(ge=0, lt=100, allow_inf_nan=False)]
Sign = Literal[1, -1]
ISO_CONVENTIONS = ("iso14243-3:2004", "iso14243-3:2014")


class Bump(Settings):
    """One smooth rise (or fall) within the cycle."""

    height: Finite = Field(description="Height above the base, in the unit of the curve.")
    centre_percent: Percent = Field(description="Place of the peak, percent of the cycle.")
    width_percent: Annotated[float, Field(gt=0, le=50)] = Field(
        description="Full width of the bump at half its height, percent of the cycle; the bump "
        "reaches one such width to either side of its centre."
    )


class BumpCurve(Settings):
    """Periodic curve over one cycle: a base value plus bumps."""

    base: Finite = Field(description="Value away from the bumps, in the unit of the curve.")
    bumps: tuple[Bump, ...] = Field(description="Bumps added to the base.")


class ParametricActivity(Settings):
    """Built-in activity, one bump curve for each prescribed quantity."""

    source: Literal["parametric"] = Field(description="This shape of activity: built-in curves.")
    duration_s: Duration = Field(description="Duration of one cycle, s.")
    flexion_deg: BumpCurve = Field(description="Flexion, deg.")
    tibial_external_rotation_deg: BumpCurve = Field(
        description="External rotation of the tibia against the femur, deg."
    )
    femur_posterior_mm: BumpCurve = Field(
        description="Position of the femoral origin behind that of the insert, mm."
    )
    load_body_weights: BumpCurve = Field(description="Axial load, body weights.")


class _CurveColumns(Settings):
    """Columns of a file of curves; one of the first two gives the position in the cycle."""

    percent: str | None = Field(
        default=None, description="Column of the percent of the cycle; this one or time_s."
    )
    time_s: str | None = Field(
        default=None,
        description="Column of time, s; the cycle runs from the first row to the last.",
    )

    @model_validator(mode="after")
    def _has_one_clock(self) -> _CurveColumns:
        if (self.percent is None) == (self.time_s is None):
            raise fault(
                "percent and time_s" if self.percent else "neither percent nor time_s",
                "one of percent and time_s",
                "Name the column of the position in the cycle.",
            )
        return self

    def given(self) -> dict[str, str]:
        """Columns the file must have: quantity to name in the file's header."""
        return {name: column for name, column in self.model_dump().items() if column is not None}


class MotionColumns(_CurveColumns):
    """Columns of the motion file; the convention says which way each is positive."""

    flexion: str = Field(description="Column of flexion.")
    varus: str | None = Field(
        default=None, description="Column of varus (adduction); a start value where it is free."
    )
    rotation: str | None = Field(default=None, description="Column of internal-external rotation.")
    anterior_posterior: str | None = Field(
        default=None, description="Column of the anterior-posterior position."
    )
    superior_inferior: str | None = Field(
        default=None, description="Column of the superior-inferior position; a start value."
    )
    medial_lateral: str | None = Field(
        default=None, description="Column of the medial-lateral position; a start value."
    )
    anterior_posterior_force_n: str | None = Field(
        default=None,
        description="Column of the anterior-posterior force, N; positive towards positive "
        "positions. For control: force.",
    )
    rotation_torque_n_m: str | None = Field(
        default=None,
        description="Column of the internal-external torque, N m; positive towards positive "
        "rotation. For control: force.",
    )


class MotionSigns(Settings):
    """Which way each column of a motion file is positive."""

    flexion: Sign = Field(description="1 where positive is flexed, -1 where it is extended.")
    varus: Sign = Field(description="1 where positive is varus, -1 where it is valgus.")
    tibial_external_rotation: Sign = Field(
        description="1 where positive turns the tibia outwards (the femur inwards), else -1."
    )
    femur_anterior: Sign = Field(
        description="1 where positive is the femur in front (the tibia behind), else -1."
    )
    femur_superior: Sign = Field(description="1 where positive is the femur higher up, else -1.")
    femur_lateral: Sign = Field(
        description="1 where positive is the femur farther lateral, else -1."
    )


Row = tuple[Finite, Finite, Finite, Finite]
Placement = tuple[Row, Row, Row]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


class PlacementSettings(Settings):
    """Where the components sit in the bodies an OpenSim joint connects."""

    femoral_mm: Placement = Field(
        description="Three rows of four: axes (posterior, superior, medial) and origin of the "
        "femoral component in the joint's femoral frame, mm."
    )
    insert_mm: Placement = Field(
        description="The same of the insert in the joint's tibial frame, mm."
    )

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

    flexion_deg: NonNegative = Field(default=0.0, description="Of flexion, deg.")
    varus_deg: NonNegative = Field(default=0.0, description="Of varus, deg.")
    rotation_deg: NonNegative = Field(default=0.0, description="Of rotation, deg.")
    anterior_posterior_mm: NonNegative = Field(default=0.0, description="Of that position, mm.")
    superior_inferior_mm: NonNegative = Field(default=0.0, description="Of that position, mm.")
    medial_lateral_mm: NonNegative = Field(default=0.0, description="Of that position, mm.")
    harmonics: int = Field(
        default=0,
        ge=0,
        le=20,
        description="How fast the error changes: 0 is one unknown shift for the whole cycle, n an "
        "error made of the first n harmonics of it too.",
    )


class MotionSettings(Settings):
    """Motion read from a file."""

    file: str = Field(description="File of the motion (.csv, .sto, .mot); path in the data folder.")
    convention: Literal[
        "grood-suntay", "opensim", "iso14243-3:2004", "iso14243-3:2014", "body-123", "signs"
    ] = Field(description="What the columns mean and which way they are positive; no default.")
    signs: MotionSigns | None = Field(
        default=None, description="The six signs, for convention: signs only."
    )
    columns: MotionColumns = Field(description="Names of the columns.")
    window_s: tuple[Finite, Finite] | None = Field(
        default=None, description="Part of a file with time_s that is the cycle, s; null for all."
    )
    reference_posterior_mm: Finite | None = Field(
        default=None,
        description="Position of the femoral origin behind that of the insert where the file's "
        "anterior-posterior position reads zero, mm; for ISO 14243 only, which counts from the "
        "pose at rest.",
    )
    placement: PlacementSettings | None = Field(
        default=None,
        description="Where the components sit in the bodies of an OpenSim model; null when their "
        "meshes are in the joint's frames.",
    )
    smoothing_harmonics: Annotated[int, Field(ge=1, le=200)] | None = Field(
        default=None,
        description="Harmonics of the cycle that are kept of each motion curve; null keeps every "
        "sample.",
    )
    standard_deviation: MotionDeviation | None = Field(
        default=None, description="Standard deviation of the measured pose; null when unknown."
    )

    @field_validator("window_s")
    @classmethod
    def _window_ascends(cls, window: tuple[float, float] | None) -> tuple[float, float] | None:
        return window and ascending(window)

    @model_validator(mode="after")
    def _keys_go_with_the_convention(self) -> MotionSettings:
        iso = self.convention in ISO_CONVENTIONS
        self._goes_with("signs", self.convention == "signs")
        self._goes_with("reference_posterior_mm", iso)
        if self.placement is not None and self.convention != "opensim":
            raise fault(
                f"placement with convention: {self.convention}",
                "placement with convention: opensim only",
                "Remove placement, or give the pose of the components themselves.",
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

    load: str = Field(description="Column of the load.")


class LoadSettings(Settings):
    """Load read from a file."""

    file: str = Field(description="File of the load (.csv, .sto, .mot); path in the data folder.")
    columns: LoadColumns = Field(description="Names of the columns.")
    kind: Literal["axial_load", "axial_force_n", "ground_reaction"] = Field(
        description="Axial joint load in body weights or in N, or a ground reaction to be scaled."
    )
    load_range_body_weights: tuple[Positive, Positive] | None = Field(
        default=None,
        description="Range a ground reaction is scaled to, body weights; for ground_reaction only.",
    )
    body_mass_kg: Positive | None = Field(
        default=None,
        description="Body mass that forces in N belong to; cases of other mass scale them. For "
        "axial_force_n only.",
    )

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
        if self.load_range_body_weights is not None:
            ascending(self.load_range_body_weights)
        return self


class LinearSpring(Settings):
    """Soft tissue that holds a position."""

    stiffness_n_per_mm: NonNegative = Field(description="Stiffness outside the gap, N/mm.")
    gap_mm: NonNegative = Field(description="Half-width of the slack part, mm; 0 for none.")
    rest_mm: Finite = Field(
        default=0.0, description="Middle of the slack part, mm, counted as in the motion file."
    )


class TurningSpring(Settings):
    """Soft tissue that holds an angle."""

    stiffness_n_m_per_deg: NonNegative = Field(description="Stiffness outside the gap, N m/deg.")
    gap_deg: NonNegative = Field(description="Half-width of the slack part, deg; 0 for none.")
    rest_deg: Finite = Field(
        default=0.0, description="Middle of the slack part, deg, counted as in the motion file."
    )


Driven = Literal["prescribed", "held", "force"]
Guided = Literal["prescribed", "held", "free"]


class ControlSettings(Settings):
    """How each coordinate is controlled, as in a knee simulator; flexion and load always are."""

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
    load_line_mm: Finite = Field(
        description="Medial-lateral position of the axial load in the insert's frame, mm, medial "
        "positive."
    )
    anterior_posterior_springs: tuple[LinearSpring, ...] = Field(
        default=(), description="Springs on the anterior-posterior position."
    )
    medial_lateral_springs: tuple[LinearSpring, ...] = Field(
        default=(), description="Springs on the medial-lateral position."
    )
    rotation_springs: tuple[TurningSpring, ...] = Field(
        default=(), description="Springs on internal-external rotation."
    )


class FileActivity(Settings):
    """Activity read from curves in files."""

    source: Literal["file"] = Field(description="This shape of activity: curves from files.")
    motion: MotionSettings = Field(description="Motion.")
    load: LoadSettings = Field(description="Load.")
    duration_s: Duration = Field(description="Duration of one cycle, s.")
    closing_percent: Annotated[float, Field(ge=0, le=50)] = Field(
        description="Part of the cycle over which the gap from last to first sample is blended, "
        "percent."
    )
    control: ControlSettings | None = Field(
        default=None,
        description="How each coordinate is controlled; null prescribes flexion, rotation and "
        "anterior-posterior position and solves the others.",
    )

    @model_validator(mode="after")
    def _columns_go_with_the_control(self) -> FileActivity:
        columns, control = self.motion.columns.given(), self.control
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


ActivitySettings = Annotated[ParametricActivity | FileActivity, Field(discriminator="source")]


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
