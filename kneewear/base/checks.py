"""Checks of plausibility: ranges of settings and of computed quantities, findings outside them.

Ranges of settings are in their fields; the name of such a check is the path of the key. Ranges of
computed quantities are in `checks.csv`. A value outside its usual range gives a warning, one that
no knee, implant or study has is refused. `checks.ignore` of the settings names checks whose
warnings are not shown.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from kneewear.base.assumptions import unconfirmed
from kneewear.base.faults import fault_at, suggestion
from kneewear.base.files import Location
from kneewear.base.keys import ranges_by_path
from kneewear.base.ranges import Range
from kneewear.base.types import Settings, entries_of, numbers_in, ranges_of
from kneewear.errors import Finding, InputDataError

_TABLE = Path(__file__).with_suffix(".csv")


@dataclass(frozen=True)
class Check:
    """One row of the table: a computed quantity."""

    name: str
    quantity: str
    range: Range

    def judge(self, value: float, where: str, remedy: str = "") -> Finding | None:
        """Finding about a value; None within the usual range."""
        return self.range.judge(self.name, value, where, remedy, self.quantity)


@cache
def checks() -> dict[str, Check]:
    """All checks by their names."""
    table = {}
    with _TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            lowest, low = (float(row[key] or -inf) for key in ("lowest", "low"))
            high, highest = (float(row[key] or inf) for key in ("high", "highest"))
            span = Range(row["unit"], lowest, low, high, highest, row["source"])
            name = row["name"]
            table[name] = Check(name, row["quantity"], span)
    return table


def judge(
    name: str, value: float, position: str, remedy: str = "", where: str = ""
) -> Finding | None:
    """Finding about a value outside the usual range of a check; None within it.

    Parameters
    ----------
    name : str
        Name of the check in `checks.csv`.
    value : float
        The value, in the unit of the check.
    position, remedy, where : str
        File or key, what to do, and the position in the file, as in `InputDataError`.

    Raises
    ------
    InputDataError
        When the value is outside the range in which it is possible.
    """
    finding = checks()[name].judge(value, f"{position}, {where}" if where else position, remedy)
    if finding is not None and finding.severity == "refuse":
        raise InputDataError.of(finding)
    return finding


def drop_ignored(findings: Iterable[Finding], ignore: Sequence[str]) -> tuple[Finding, ...]:
    """Findings without those that the settings ignore, and a note with the number of these."""
    findings = tuple(findings)
    shown = [finding for finding in findings if finding.check not in ignore]
    counts = {name: sum(one.check == name for one in findings) for name in dict.fromkeys(ignore)}
    notes = [
        Finding(name, "note", "checks.ignore", f"{count} of {name} ignored", "", "")
        for name, count in counts.items()
        if count
    ]
    return (*shown, *notes)


class ChecksSettings(Settings):
    """Checks of plausibility."""

    ignore: tuple[str, ...] = Field(
        (),
        description="Names of checks whose warnings are not shown: paths of keys, or names of the "
        "table of checks. The page lists them.",
    )


def refuse_unknown_checks(study: type[BaseModel], ignore: Sequence[str]) -> None:
    """Refuse names that are neither a check nor the path of a quantity of a study."""
    known = {*checks(), *ranges_by_path(study)}
    for number, name in enumerate(ignore):
        if name not in known:
            remedy = suggestion(name, known) or "config/README.md lists all checks."
            at = ("checks", "ignore", number)
            raise fault_at(at, f"no check '{name}'", "the name of a check", remedy)


def setting_findings(study: Any) -> tuple[Finding, ...]:
    """Findings about the values of a study that were accepted, and its assumptions."""
    findings = [
        span.judge(check, value, f"key {'.'.join(map(str, at))}")
        for check, span, at, value in _quantities(study)
    ]
    findings += [
        checks()[name].judge(value, f"key {'.'.join(at)}") for name, at, value in _combined(study)
    ]
    if study.assumed:
        settings = study.model_dump(mode="json")
        findings += [assumption.finding() for assumption in unconfirmed(settings)]
    return tuple(finding for finding in findings if finding is not None)


def refuse_impossible(study: BaseModel) -> None:
    """Refuse values of a study that cannot be combined."""
    for name, at, value in _combined(study):
        finding = checks()[name].judge(value, "")
        if finding is not None and finding.severity == "refuse":
            raise fault_at(at, finding.found, finding.expected, finding.remedy)


def _quantities(
    block: Any, path: str = "", location: Location = ()
) -> Iterator[tuple[str, Range, Location, float]]:
    """Yield path, range, location and value of every number of a block that has a range."""
    spans = ranges_of(type(block)) if isinstance(block, BaseModel) else {}
    for key, value in entries_of(block):
        added = ".*" if isinstance(block, Mapping) else ""
        inner = path + (f".{key}" if isinstance(block, BaseModel) else added)
        inner, at = inner.lstrip("."), (*location, key)
        span = spans.get(str(key))
        if span is None:
            yield from _quantities(value, inner, at)
        else:
            for further, number in numbers_in(value, span.of_width):
                yield inner, span, (*at, *further), number


def _combined(study: Any) -> Iterator[tuple[str, tuple[str, ...], float]]:
    """Yield check, location and value of what follows from several settings."""
    implant, simulation = study.implant, study.simulation
    natural = implant.source == "natural"
    modulus = "settings.cartilage_modulus" if natural else "settings.modulus"
    yield modulus, ("simulation", "youngs_modulus_mpa"), simulation.youngs_modulus_mpa
    offset = simulation.pressure_law.thickness_offset_mm
    if offset != 0.0:
        at = ("simulation", "pressure_law", "thickness_offset_mm")
        yield "settings.effective_thickness", at, study.thinnest_mm + offset
    compared = study.has_lives and study.report.compare_with_published
    if compared and implant.source == "meshes":
        yield "settings.published", ("report", "compare_with_published"), 1.0
    yield from study.combined_values()
    if implant.source == "parametric":
        shape = implant.parametric
        ratio = shape.plateau_sagittal_radius_mm / shape.femoral_sagittal_radius_mm
        at = ("implant", "parametric", "plateau_sagittal_radius_mm")
        yield "settings.conformity", at, ratio
        for side in ("medial", "lateral"):
            radii = shape.plateau_coronal_radius_mm, shape.femoral_coronal_radius_mm
            plateau, condyle = (getattr(radius, side) for radius in radii)
            key = ("implant", "parametric", "plateau_coronal_radius_mm", side)
            yield "settings.coronal_conformity", key, plateau / condyle
        return
    block = getattr(implant, implant.source)
    for name in ("insert_region_mm", "tibial_region_mm", "femoral_region_mm"):
        regions = getattr(block, name, None)
        if regions is not None and len(regions.given) == 2:
            apart = 0.5 * (sum(regions.medial.z) - sum(regions.lateral.z))
            yield "settings.window_sides", ("implant", implant.source, name), apart
