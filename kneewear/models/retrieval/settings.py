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


class SplitSettings(Settings):
    """Knowledge beside the surface, to separate wear from creep."""

    mass_loss_mg: float | None = quantity(
        "Mass that the insert lost, without a soak control's gain.",
        Range("mg", 0.0, 0.1, 1000.0, 1e5, "1 to 50 mg in a million cycles"),
        None,
    )
    density_mg_per_mm3: float = quantity(
        "Density of the polyethylene, for the mass loss.",
        Range("mg/mm3", 0.1, 0.85, 1.3, 20.0, "ISO 5834-2: 0.927 to 0.944 (from memory)"),
        0.93,
    )
    mass_loss_sd: float = quantity(
        "Relative standard deviation of the mass loss.",
        Range("1", 0.001, 0.005, 0.2, 1.0, "Balances and soak controls"),
        0.05,
    )
    soak_gain_mg: float = quantity(
        "Mass that a soak control gained in the same time; it is added to the loss.",
        Range("mg", -1e3, 0.0, 50.0, 1e3, "Inserts take up some mg of fluid"),
        0.0,
    )
    creep_constant_sd: float | None = quantity(
        "Relative standard deviation with which the creep constant of the study is known; null if "
        "it is not.",
        Range("1", 0.01, 0.05, 0.2, 1.0, "Tests of the polyethylene"),
        None,
    )
    hours_since_removal: float = quantity(
        "Hours without load before the scan, in which creep recovers; 0 for the study's.",
        Range("h", 0.0, 0.0, 2e4, 1e6, "Retrieved inserts are measured within two years"),
        0.0,
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
    split: SplitSettings = Field(
        SplitSettings(),
        description="What is known beside the surface, to separate wear from creep.",
    )


def read_retrieval_settings(path: str | Path) -> ScanSettings:
    """Settings in a YAML file; InputDataError, with the line, for what they do not allow."""
    file = read_settings_file(path)
    try:
        return ScanSettings.model_validate(file.content)
    except ValidationError as error:
        raise refusal(error, ScanSettings, file.content, str(path), [file]) from None
