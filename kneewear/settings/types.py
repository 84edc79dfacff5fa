"""Base class and types of blocks of settings."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from kneewear.settings.faults import fault, fault_at

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
# Of Linux, in bytes.
_LONGEST_PATH = 4096
# Wide enough for any insert, patient, material and cycle; outside it is another unit.
Thickness = Annotated[float, Field(ge=0.5, le=60, allow_inf_nan=False)]
BodyMass = Annotated[float, Field(ge=5, le=400, allow_inf_nan=False)]
# Names become parts of file names, of which systems allow 255 bytes.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)]
Modulus = Annotated[float, Field(ge=0.5, le=1e5, allow_inf_nan=False)]
Duration = Annotated[float, Field(ge=0.1, le=60, allow_inf_nan=False)]


def _can_be_a_path(path: str) -> str:
    """Refuse a path that no system has, or that Snakemake would take for a pattern."""
    if "\0" in path:
        raise fault("a path with the character NUL", "a path", "Write the path again.")
    if "{" in path or "}" in path:
        raise fault(f"braces in {path}", "a path without braces", "Rename the file or folder.")
    if len(path) > _LONGEST_PATH:
        found = f"a path of {len(path)} characters"
        raise fault(found, f"at most {_LONGEST_PATH}", "Correct the path.")
    return path


FileName = Annotated[str, AfterValidator(_can_be_a_path)]


class Settings(BaseModel):
    """Base of every block of settings: unknown keys are refused and values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _true_is_no_number(cls, block: Any) -> Any:
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


def _are_limits(pair: tuple[float, float]) -> tuple[float, float]:
    """Refuse a pair whose first value is not the lower one."""
    if pair[0] >= pair[1]:
        raise fault(f"[{pair[0]:g}, {pair[1]:g}]", "[lower, upper]", "Give the lower value first.")
    return pair


def drop_nulls(mapping: Any) -> Any:
    """Drop keys whose value is null, by which a file removes what it inherits.

    Anything but a mapping is returned for the model to refuse.
    """
    if not isinstance(mapping, Mapping):
        return mapping
    return {key: value for key, value in mapping.items() if value is not None}


Ascending = AfterValidator(ascend)
Removable = BeforeValidator(drop_nulls)
Limits = Annotated[tuple[Finite, Finite], AfterValidator(_are_limits)]
PositiveLimits = Annotated[tuple[Positive, Positive], AfterValidator(_are_limits)]


class LinearSpring(Settings):
    """Soft tissue that holds a position."""

    stiffness_n_per_mm: NonNegative
    gap_mm: NonNegative
    rest_mm: Finite = 0.0


class TurningSpring(Settings):
    """Soft tissue that holds an angle."""

    stiffness_n_m_per_deg: NonNegative
    gap_deg: NonNegative
    rest_deg: Finite = 0.0
