"""Settings of the evaluation of a worn insert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from kneewear.base.faults import refusal
from kneewear.base.files import read_settings_file
from kneewear.base.ranges import Range
from kneewear.base.types import Settings, quantity

_PER = "A plateau is 40 to 50 mm long"
Corner = tuple[float, float]
Polygon = Annotated[tuple[Corner, ...], Field(min_length=3)]


class AreaSettings(Settings):
    """Polygons of corners [x, z], mm, drawn on the plan: x posterior, z medial, as the page has."""

    worn: tuple[Polygon, ...] = Field(
        (), description="Worn areas; without them they are found from the deviations."
    )
    damage: tuple[Polygon, ...] = Field(
        (), description="Damage that is no wear (embedded particles, extraction marks), left out."
    )
    measured: tuple[Polygon, ...] = Field(
        (), description="Areas that are evaluated; without them all that is recognised."
    )


class ScanSettings(Settings):
    """Settings of `kneewear retrieval`, read from the file that `--settings` names."""

    block_mm: float = quantity(
        "Side of the squares of the plan whose mean deviations are evaluated.",
        Range("mm", 0.5, 1.0, 2.0, 4.0, _PER),
        1.5,
    )
    smallest_scar_mm2: float = quantity(
        "Area below which a group of low squares is no scar.",
        Range("mm2", 0.0, 4.0, 50.0, 500.0, "Contact areas are 50 to 300 mm2 (from memory)"),
        12.0,
    )
    least_unworn: float = quantity(
        "Least unworn fraction of a plateau: less does not show where the reference is.",
        Range("1", 0.02, 0.03, 0.3, 0.9, "Phantoms of benchmarks/retrieval"),
        0.05,
    )
    areas_mm: AreaSettings = Field(AreaSettings(), description="Areas drawn by the user.")


def read_retrieval_settings(path: str | Path) -> ScanSettings:
    """Settings in a YAML file; InputDataError, with the line, for what they do not allow."""
    file = read_settings_file(path)
    try:
        return ScanSettings.model_validate(file.content)
    except ValidationError as error:
        raise refusal(error, ScanSettings, file.content, str(path), [file]) from None
