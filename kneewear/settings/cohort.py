"""Settings of cohorts: subjects in a file, and the designs that each of them is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from kneewear.settings.activity import FileActivity
from kneewear.settings.base import CaseStudy
from kneewear.settings.cases import Case, Levels, merged
from kneewear.settings.designs import ONLY
from kneewear.settings.factors import Factor, changed_case, changed_settings, check_factors
from kneewear.settings.faults import fault_at, suggestion
from kneewear.settings.types import FileName, Name, Removable, Settings

# Columns of the file of subjects that are not in the settings.
SUBJECT, SIDE, SIZE, MOTION, LOAD = "subject", "side", "size", "motion_file", "load_file"
RESERVED = (SUBJECT, SIDE, SIZE, MOTION, LOAD)
Percent = Annotated[float, Field(gt=0, lt=100)]


@dataclass(frozen=True)
class Subject:
    """One row of the file of subjects.

    Parameters
    ----------
    name : str
        Unique name.
    side : str
        "right" or "left", of the subject's own motion file; empty without one.
    size : str
        Size of the implant; empty where designs have no sizes.
    files : mapping of str to str
        Own files of the activity, `motion` and `load`, as the row names them.
    numbers : mapping of str to float
        Value of each column that changes settings, and of each covariate.
    """

    name: str
    side: str = ""
    size: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)


class DesignSettings(Settings):
    """One design: changes of the implant, and further ones of each size."""

    changes: dict[str, Any] = Field(default_factory=dict)
    sizes: Annotated[dict[Name, dict[str, Any]], Removable] = Field(default_factory=dict)


class CohortSettings(Settings):
    """Subjects of a cohort, what their columns change, and what is reported."""

    subjects: FileName
    columns: Annotated[dict[Name, Factor], Removable]
    covariates: tuple[Name, ...]
    activity: Name | None
    percentiles: Annotated[tuple[Percent, ...], *Levels]


class CohortStudy(CaseStudy):
    """Wear of every subject of a cohort with every design."""

    kind: Literal["cohort"]
    cohort: CohortSettings
    designs: Annotated[dict[Name, DesignSettings], Removable] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_of_one_case(self) -> Self:
        self.require_single("a cohort", "config/cohort_example.yaml")
        return self

    @model_validator(mode="after")
    def _columns_are_possible(self) -> Self:
        check_factors(self, self.cohort.columns, ("cohort", "columns"))
        for name, column in self.cohort.columns.items():
            at = ("cohort", "columns", name)
            if name in RESERVED:
                expected = f"a name other than {', '.join(RESERVED)}"
                raise fault_at(at, f"column {name}", expected, "Rename the column.")
            if any(path.startswith(("implant.", "grid.", "table.")) for path in column.settings):
                raise fault_at(
                    (*at, "settings"),
                    f"{', '.join(column.settings)}, which a subject cannot have",
                    "settings other than those of the implant and its elements",
                    "Give designs or sizes to the implant; a sweep changes geometry by case.",
                )
            if column.low is not None:
                raise fault_at(at, "bounds", "none: the file has the values", "Remove them.")
        return self

    @model_validator(mode="after")
    def _activity_is_of_files(self) -> Self:
        name = self.cohort.activity
        measured = [
            key
            for key, one in self.activities.items()
            if isinstance(one, FileActivity) and one.motion.tibial_file is None
        ]
        if name is not None and name not in measured:
            raise fault_at(
                ("cohort", "activity"),
                f"'{name}'",
                f"an activity of curve files: {', '.join(measured) or 'this study has none'}",
                suggestion(name, measured) or "Correct the name, or set it to null.",
            )
        return self

    @model_validator(mode="after")
    def _designs_are_possible(self) -> Self:
        base = self.model_dump(mode="json", exclude={"designs"})
        for name, design in self.designs.items():
            for size in design.sizes or [""]:
                try:
                    type(self).model_validate(_variant(base, design, size))
                except ValidationError as error:
                    first = error.errors()[0]
                    at = ("sizes", size) if size else ("changes",)
                    found = f"a change after which {'.'.join(map(str, first['loc']))} is refused"
                    raise fault_at(
                        ("designs", name, *at),
                        found,
                        first["msg"],
                        "Give keys of the block implant, with possible values.",
                    ) from None
        return self

    @property
    def design_names(self) -> tuple[str, ...]:
        """Designs that every subject is given."""
        return tuple(self.designs) or (ONLY,)

    def computed(self) -> dict[str, Any]:
        """As of every study; percentiles decide tables, but no subject."""
        settings = super().computed()
        settings["cohort"]["percentiles"] = [50.0]
        return settings

    def implants(self) -> dict[str, CohortStudy]:
        """Study of each design in each of its sizes, without others, by `implant_name`."""
        if not self.designs:
            return {ONLY: self}
        base = self.model_dump(mode="json", exclude={"designs"})
        return {
            implant_name(name, size): type(self).model_validate(_variant(base, design, size))
            for name, design in self.designs.items()
            for size in design.sizes or [""]
        }

    def implant_of(self, subject: Subject, design: str) -> str:
        """Name of the implant, of `implants`, that a subject has with a design."""
        sized = design in self.designs and self.designs[design].sizes
        return implant_name(design, subject.size if sized else "")

    def case_of(self, subject: Subject, design: str) -> Case:
        """Case of a subject with a design: what the subject's columns and files change."""
        settings = self.model_dump(
            mode="json", include={"cases", "activities", "simulation", "wear"}
        )
        changes = [one.at(subject.numbers[name]) for name, one in self.cohort.columns.items()]
        values: dict[str, Any] = dict(changed_settings(settings, changes))
        for part, file in subject.files.items():
            values[f"activities.{self.cohort.activity}.{part}.file"] = file
        return changed_case(self, f"{subject.name}, {design}", values)


def implant_name(design: str, size: str) -> str:
    """Name of a design in a size, for files."""
    return f"{design}_{size}" if size else design


def _variant(base: Mapping[str, Any], design: DesignSettings, size: str) -> dict[str, Any]:
    """Settings of one design in one size as a study of its own."""
    implant = merged(base["implant"], merged(design.changes, design.sizes.get(size, {})))
    return {**base, "implant": implant, "designs": {}}
