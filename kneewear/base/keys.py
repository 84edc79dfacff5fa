"""Keys of the settings by their paths: fields with their meanings, units and ranges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kneewear.base.files import Location
from kneewear.base.ranges import Range

# Step of a path that stands for any name.
ANY = "*"


@dataclass(frozen=True)
class Key:
    """One key of the settings.

    Parameters
    ----------
    path : str
        Path with dots; `*` stands for names that the user chooses, and entries of lists have no
        step of their own.
    field : FieldInfo
        Its field.
    block : type
        Block that has the field.
    """

    path: str
    field: FieldInfo
    block: type[BaseModel]

    @property
    def range(self) -> Range | None:
        """Unit and plausible range; None of a key without numbers."""
        span = self.field.json_schema_extra
        return span if isinstance(span, Range) else None

    @property
    def meaning(self) -> str:
        """Meaning, that of the block for a block without a text of its own."""
        if self.field.description is not None:
            return self.field.description
        blocks = [block for _, block in blocks_in(self.field.annotation)]
        return str(blocks[0].__doc__).split("\n\n")[0].replace("\n    ", " ") if blocks else ""


def blocks_in(annotation: Any, suffix: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the blocks inside an annotation, each after the steps of the path that lead to it."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield suffix, annotation
    elif origin is dict:
        yield from blocks_in(parts[1], f"{suffix}.{ANY}")
    elif origin is not Literal:
        for part in parts[:1] if origin is Annotated else parts:
            yield from blocks_in(part, suffix)


def keys_of(block: type[BaseModel], path: str = "") -> Iterator[Key]:
    """Yield all keys of a block and of the blocks inside it, in their order."""
    for name, field in block.model_fields.items():
        key = Key(f"{path}.{name}" if path else name, field, block)
        yield key
        # A quantity with a value per side is one key.
        for suffix, inner in () if key.range is not None else blocks_in(field.annotation):
            yield from keys_of(inner, key.path + suffix)


@cache
def ranges_by_path(block: type[BaseModel]) -> dict[str, Range]:
    """Ranges of all quantities of a block by path."""
    return {key.path: key.range for key in keys_of(block) if key.range is not None}


def range_at(block: type[BaseModel], location: Location) -> tuple[str, Range] | None:
    """Path and range of the quantity at a location of settings; None where there is none."""
    steps = [step for step in location if not str(step).isdigit()]
    while steps:
        for path, span in ranges_by_path(block).items():
            pattern = path.split(".")
            if len(pattern) == len(steps) and all(
                expected in (ANY, step) for expected, step in zip(pattern, steps, strict=True)
            ):
                return path, span
        steps.pop()
    return None


class Place(NamedTuple):
    """Place in the settings that an error of pydantic is about.

    `location` is without the tags of unions, `block` the one that has, or lacks, the last key, and
    `annotation` what the last key should be.
    """

    location: Location
    block: type[BaseModel] | None
    annotation: Any


def find_place(
    annotation: Any, location: Location, tag: str = "", block: type[BaseModel] | None = None
) -> Place:
    """Place at a location of pydantic, which has the tags of discriminated unions as steps."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        tags = [str(mark.discriminator) for mark in metadata if getattr(mark, "discriminator", "")]
        return find_place(inner, location, tags[0] if tags else tag, block)
    if not location:
        return Place((), block, annotation)
    first, *rest = location
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(first))
        if field is None:
            return Place(location, annotation, None)
        inner, tag = field.annotation, str(field.discriminator or "")
        place = find_place(inner, tuple(rest), tag, annotation)
        return place._replace(location=(first, *place.location))
    if get_origin(annotation) in (Union, UnionType):
        member = _member(annotation, first, tag)
        if member is None:
            return Place(location, block, annotation)
        if not (isinstance(member, type) and issubclass(member, BaseModel)):
            return find_place(member, location, block=block)
        # Faults that validators of outer blocks raise are without tags.
        key = rest and first in member.model_fields and rest[0] not in member.model_fields
        tagged = bool(tag) and not key
        return find_place(member, tuple(rest) if tagged else location, block=member)
    parts = [part for part in get_args(annotation) if part is not Ellipsis]
    place = find_place(parts[-1] if parts else None, tuple(rest), block=block)
    return place._replace(location=(first, *place.location))


def _member(union: Any, step: str | int, tag: str) -> Any:
    """Member of a union that a step of pydantic selects; None of a union of several values."""
    members = [part for part in get_args(union) if part is not type(None)]
    if tag:
        blocks = (
            member
            for member in members
            if isinstance(member, type) and issubclass(member, BaseModel)
        )
        tagged = (block for block in blocks if step in get_args(block.model_fields[tag].annotation))
        return next(tagged, None)
    return members[0] if len(members) == 1 else None


def tags_of(annotation: Any, tag: str) -> list[str]:
    """Values of the key that selects the member of a discriminated union."""
    values = [get_args(block.model_fields[tag].annotation) for _, block in blocks_in(annotation)]
    return [str(value) for group in values for value in group]
