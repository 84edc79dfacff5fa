"""Base class and types of blocks of settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Generic, Literal, NoReturn, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails

from kneewear.base.faults import fault, fault_at, impossible
from kneewear.base.files import Location
from kneewear.base.keys import ANY
from kneewear.base.ranges import Range

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
LengthUnit = Literal["mm", "cm", "m", "inch"]
# Of Linux, in bytes.
_MAX_PATH = 4096
# Names become parts of file names, of which systems allow 255 bytes.
# One that starts with a hyphen would be an option of programs.
STUDY_NAME = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_-]*$")
# Devices on Windows, where no file or folder can have such a name.
_DEVICES = {"con", "prn", "aux", "nul"} | {
    f"{port}{n}" for port in ("com", "lpt") for n in range(10)
}


def is_file_name(name: str) -> bool:
    """True if a name of letters, digits, _ and - is possible for files of any system."""
    return bool(STUDY_NAME.match(name)) and name.lower() not in _DEVICES


def _is_no_device(name: str) -> str:
    """Refuse names of files that Windows does not have."""
    if not is_file_name(name):
        raise fault(name, "a name that files can have", f"Rename it, e.g. {name}_1.")
    return name


Name = Annotated[
    str, Field(pattern=STUDY_NAME.pattern, max_length=100), AfterValidator(_is_no_device)
]


def check_path(path: str) -> str:
    """Refuse a path that no system has, or that Snakemake would take for a pattern."""
    if "\0" in path:
        raise fault("a path with the character NUL", "a path", "Write the path again.")
    if "{" in path or "}" in path:
        raise fault(f"braces in {path}", "a path without braces", "Rename the file or folder.")
    if len(path) > _MAX_PATH:
        found = f"a path of {len(path)} characters"
        raise fault(found, f"at most {_MAX_PATH}", "Correct the path.")
    return path


FileName = Annotated[str, AfterValidator(check_path)]


def quantity(meaning: str, span: Range, default: Any = ..., **options: Any) -> Any:
    """Field of a number, or of several alike: meaning, unit and plausible range.

    Parameters
    ----------
    meaning : str
        Meaning in a sentence, without the unit.
    span : Range
        Unit, usual and possible values of each number of the field.
    default : object, optional
        Value where the key is left out; without a default the key is required.
    **options
        Further options of `pydantic.Field`.
    """
    return Field(default, description=meaning, json_schema_extra=span, **options)


def range_of(field: FieldInfo) -> Range | None:
    """Plausible range of a field; None of fields that are no quantity."""
    span = field.json_schema_extra
    return span if isinstance(span, Range) else None


@cache
def ranges_of(block: type[BaseModel]) -> dict[str, Range]:
    """Plausible ranges of the quantities of a block, by key."""
    spans = {name: range_of(field) for name, field in block.model_fields.items()}
    return {name: span for name, span in spans.items() if span is not None}


def numbers_in(value: Any, of_width: bool = False) -> Iterator[tuple[Location, float]]:
    """Yield location and value of each number in a value, a list, a mapping or a plain block.

    Of a pair of limits the width where `of_width`.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield (), value
    elif of_width and isinstance(value, tuple) and len(value) == 2:
        yield (), value[1] - value[0]
    else:
        for key, entry in entries_of(value):
            for at, number in numbers_in(entry, of_width):
                yield (key, *at), number


def entries_of(value: Any) -> Iterator[tuple[str | int, Any]]:
    """Yield key and value of the entries of a block, a mapping or a list; none of anything else."""
    if isinstance(value, BaseModel):
        yield from value
    elif isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def values_at(value: Any, path: str) -> Iterator[tuple[Location, Any]]:
    """Yield location and value of what is at a path of a block, where `*` stands for any name."""
    first, _, rest = path.partition(".")
    entries: list[tuple[str | int, Any]]
    if isinstance(value, BaseModel) and first != ANY:
        entries = [(first, getattr(value, first))] if first in type(value).model_fields else []
    else:
        entries = [(key, entry) for key, entry in entries_of(value) if first in (ANY, str(key))]
    for key, entry in entries:
        if rest:
            for at, inner in values_at(entry, rest):
                yield (key, *at), inner
        else:
            yield (key,), entry


class FrozenMapping(dict[Any, Any]):
    """A mapping that never changes, as all settings."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("settings never change; merge others over them with load_study")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[dict[Any, Any]], tuple[dict[Any, Any]]]:
        """As a new one of the same entries, for copies and pickles."""
        return type(self), (dict(self),)


def _frozen(value: Any) -> Any:
    """The value, with mappings at any depth that never change."""
    if not isinstance(value, dict):
        return value
    return FrozenMapping({key: _frozen(entry) for key, entry in value.items()})


class Settings(BaseModel):
    """Base of every block of settings: unknown keys are refused and values never change.

    Each field states its meaning: numbers by `quantity`, others by `pydantic.Field`, blocks by the
    docstring of their class.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="after")
    def freeze_mappings(self) -> Settings:
        """Make mappings as constant as blocks."""
        for name, value in self.__dict__.items():
            if type(value) is dict:
                self.__dict__[name] = _frozen(value)
        return self

    @model_validator(mode="after")
    def check_ranges(self) -> Settings:
        """Refuse impossible values."""
        lines = []
        for name, span in ranges_of(type(self)).items():
            for at, value in numbers_in(getattr(self, name), span.of_width):
                finding = span.judge("", value, "")
                if finding is not None and finding.severity == "refuse":
                    refused = impossible(finding.found, finding.expected, finding.remedy)
                    lines.append(InitErrorDetails(type=refused, loc=(name, *at), input=value))
        if lines:
            raise ValidationError.from_exception_data("settings", lines)
        return self

    @model_validator(mode="before")
    @classmethod
    def reject_booleans(cls, block: Any) -> Any:
        """Refuse true and false where they would be read as 1 and 0."""
        for key, value in block.items() if isinstance(block, Mapping) else ():
            wanted = cls.model_fields[key].annotation if key in cls.model_fields else bool
            entries = enumerate(value) if isinstance(value, list | tuple) else [(None, value)]
            for number, entry in entries:
                if isinstance(entry, bool) and wanted is not bool:
                    where = (key,) if number is None else (key, number)
                    remedy = "Correct the value (see config/README.md)."
                    raise fault_at(where, str(entry).lower(), "a number or text", remedy)
        return block


T = TypeVar("T")


class PerSide(Settings, Generic[T]):
    """A value for each side; classes of it have a name of their own, because pickle needs one."""

    medial: T
    lateral: T


class PerBearing(Settings, Generic[T]):
    """A value for each side that has a bearing."""

    medial: T | None = None
    lateral: T | None = None

    @property
    def given(self) -> dict[str, T]:
        """Values by side, medial first."""
        sides = {"medial": self.medial, "lateral": self.lateral}
        return {side: value for side, value in sides.items() if value is not None}


class PositivePerSide(PerSide[Positive]):
    """A positive number for each side."""


class FinitePerSide(PerSide[Finite]):
    """A number for each side."""


def ascend(values: Any) -> Any:
    """Refuse numbers that are not in ascending order."""
    if any(later <= earlier for earlier, later in pairwise(values)):
        found = ", ".join(f"{value:g}" for value in values)
        raise fault(found, "ascending numbers", "Order them.")
    return values


def check_limits(pair: tuple[float, float]) -> tuple[float, float]:
    """Refuse a pair whose first value is not the lower one."""
    if pair[0] >= pair[1]:
        raise fault(f"[{pair[0]:g}, {pair[1]:g}]", "[lower, upper]", "Give the lower value first.")
    return pair


def check_unit(vector: tuple[float, ...]) -> tuple[float, ...]:
    """Refuse a direction that is no unit vector."""
    length = sum(value**2 for value in vector) ** 0.5
    if abs(length - 1.0) > 1e-3:
        remedy = "Divide its components by its length."
        raise fault(f"a direction of length {length:.4g}", "a unit vector", remedy)
    return vector


def check_inertia(moments: tuple[float, ...]) -> tuple[float, ...]:
    """Refuse principal moments of inertia of which one exceeds the sum of both others."""
    largest = max(moments)
    if largest > (1.0 + 1e-6) * (sum(moments) - largest):
        found = f"moments of inertia {', '.join(f'{moment:g}' for moment in moments)}"
        expected = "no moment above the sum of both others, as of any body"
        raise fault(found, expected, "Correct the moments.")
    return moments


def drop_nulls(mapping: Any) -> Any:
    """Drop keys whose value is null, by which a file removes what it inherits.

    Anything but a mapping is returned for the model to refuse.
    """
    if not isinstance(mapping, Mapping):
        return mapping
    return {key: value for key, value in mapping.items() if value is not None}


Ascending = AfterValidator(ascend)
Removable = BeforeValidator(drop_nulls)
Limits = Annotated[tuple[Finite, Finite], AfterValidator(check_limits)]
PositiveLimits = Annotated[tuple[Positive, Positive], AfterValidator(check_limits)]


# Ranges of quantities that several blocks have.
THICKNESS = Range("mm", 0.5, 4, 30, 60, "Inserts have about 5 to 25 mm; 6 to 14 mm in Bei (2003)")
BODY_MASS = Range("kg", 5, 30, 200, 400, "Adults; 50 to 150 kg in Bei (2003)")
DURATION = Range("s", 0.1, 0.5, 4, 60, "Gait 0.8 to 1.6 s; stairs and rising up to 4 s")
MODULUS = Range("MPa", 0.5, 0.5, 1e4, 1e5, "Cartilage 0.5 to 50, polyethylene 400 to 1000 MPa")
SOLID_MODULUS = Range(
    "MPa", 0.01, 0.5, 2.5e5, 1e6, "Cartilage 0.5 to 25, bone 12,000 to 20,000, metal 200,000 MPa"
)
SOLID_POISSON_RATIO = Range("1", 0, 0, 0.48, 0.5, "0.3 of bone and metal, 0.38 to 0.46 of others")
POISSON_RATIO = Range(
    "1", 0, 0.3, 0.485, 0.5, "Polyethylene 0.46; the confined modulus doubles from 0.48 to 0.49"
)
PERCENT = Range("percent", 0, 0, 100, 100, "Part of a cycle")
# Sizes below `least` other than zero are those of radians and metres.
FLEXION = Range("deg", -45, -30, 160, 180, "Range of a knee, with hyperextension", least=2.0)
ROTATION = Range("deg", -45, -20, 20, 45, "Range of a replaced knee", least=0.2)
POSTERIOR = Range("mm", -60, -25, 25, 60, "Half the length of an insert", least=0.06)
MEDIAL = Range("mm", -60, -30, 30, 60, "Half the width of an insert", least=0.06)
AXIAL_LOAD = Range("N", 1, 50, 1e4, 1e5, "0.1 to 10 body weights")

# Angle of a test, deg.
Flexion = Annotated[float, Field(ge=-30, le=160)]


class LinearSpring(Settings):
    """Soft tissue that acts against a displacement."""

    stiffness_n_per_mm: NonNegative = quantity(
        "Stiffness outside the slack range.",
        Range(
            "N/mm",
            0,
            0,
            1000,
            1e5,
            "About 10 to 45 N/mm (config/standards/springs.csv); a cruciate 200",
            least=0.5,
        ),
    )
    gap_mm: NonNegative = quantity(
        "Half-width of the slack range; 0 for none.",
        Range(
            "mm",
            0,
            0,
            15,
            60,
            "2.5 mm (config/standards/springs.csv); laxity up to 15 mm",
            least=0.5,
        ),
    )
    rest_mm: Finite = quantity(
        "Middle of the slack range, counted as in the motion file.", POSTERIOR, 0.0
    )
    damping_n_s_per_mm: NonNegative = quantity(
        "Force against the speed over the speed, in the slack range too; in forward dynamics.",
        Range("N s/mm", 0, 0, 5, 1000, "Chosen: 5 N s/mm is 500 N at 100 mm/s", least=1e-4),
        0.0,
    )


class TurningSpring(Settings):
    """Soft tissue that acts against a rotation."""

    stiffness_n_m_per_deg: NonNegative = quantity(
        "Stiffness outside the slack range.",
        Range(
            "N m/deg",
            0,
            0,
            5,
            1000,
            "0.1 to 0.6 N m/deg (config/standards/springs.csv)",
            least=0.02,
        ),
    )
    gap_deg: NonNegative = quantity(
        "Half-width of the slack range; 0 for none.",
        Range("deg", 0, 0, 20, 45, "6 deg (config/standards/springs.csv)", least=0.4),
    )
    rest_deg: Finite = quantity(
        "Middle of the slack range, counted as in the motion file.", ROTATION, 0.0
    )
    damping_n_m_s_per_deg: NonNegative = quantity(
        "Torque against the speed over the speed, in the slack range too; in forward dynamics.",
        Range("N m s/deg", 0, 0, 0.2, 100, "Chosen: 0.2 is 10 N m at 50 deg/s", least=1e-5),
        0.0,
    )
