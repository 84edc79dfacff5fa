"""Settings of a study: one closed, frozen tree that says type, unit, range and meaning of each key.

Default values stand in `config/config.yaml` only; a key may be left out here where leaving it out
has a meaning of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from kneewear.settings.activity import ActivitySettings, FileActivity
from kneewear.settings.calibration import CalibrationSettings
from kneewear.settings.faults import fault, fault_at, refusal, suggestion
from kneewear.settings.files import (
    SettingsFile,
    read_settings,  # noqa: F401 - the public name of it
    read_settings_file,
)
from kneewear.settings.implant import GridSettings, ImplantSettings, TableSettings
from kneewear.settings.simulation import SimulationSettings, StaticSettings
from kneewear.settings.types import (
    BodyMass,
    Name,
    NonNegative,
    Positive,
    Settings,
    Thickness,
    without_nulls,
)
from kneewear.settings.uncertainty import UncertaintySettings, check_constants
from kneewear.settings.wear import WearSettings


class CaseSettings(Settings):
    """Full factorial design of the cases."""

    thickness_mm: tuple[Thickness, ...] = Field(
        min_length=1, description="Minimum insert thicknesses, mm."
    )
    body_mass_kg: tuple[BodyMass, ...] = Field(min_length=1, description="Body masses, kg.")

    @field_validator("thickness_mm", "body_mass_kg")
    @classmethod
    def _names_differ(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        """Refuse levels that would give two cases one name."""
        names = [f"{value:g}" for value in values]
        for name, first in zip(names, values, strict=True):
            alike = [value for value, other in zip(values, names, strict=True) if other == name]
            if len(set(alike)) > 1:
                raise fault(
                    f"{' and '.join(repr(value) for value in alike)}, all shown as {name}",
                    "levels that differ in their first six digits",
                    "Drop all but one of them or set them further apart.",
                )
            if len(alike) > 1:
                raise fault(f"{first:g} more than once", "distinct values", "Name each level once.")
        return values


class RateSettings(Settings):
    """Mean of a rate among retrieved inserts, and how far it spread."""

    mean: NonNegative = Field(description="Mean rate.")
    low: NonNegative = Field(description="Lower end of the spread.")
    high: NonNegative = Field(description="Upper end of the spread.")

    @model_validator(mode="after")
    def _mean_is_between(self) -> RateSettings:
        if not self.low <= self.mean <= self.high:
            raise fault(
                f"low: {self.low:g}, mean: {self.mean:g}, high: {self.high:g}",
                "low <= mean <= high",
                "Correct the numbers.",
            )
        return self


class RetrievalSettings(Settings):
    """Wear of one published group of retrieved inserts."""

    linear_mm_per_year: RateSettings | None = Field(
        description="Loss of thickness, mm a year; null when not published."
    )
    volume_mm3_per_year: RateSettings | None = Field(
        description="Loss of volume of the whole insert, mm3 a year; null when not published."
    )
    includes_creep: bool = Field(
        description="Whether the rates are of all that is missing, or of material worn off."
    )
    spread: Literal["standard deviation", "range"] = Field(
        description="What low and high are: the mean less and plus one standard deviation (not "
        "below zero), or the smallest and largest value."
    )
    source: str = Field(min_length=1, description="Authors, year, inserts, and how it was read.")


class ReportSettings(Settings):
    """Report."""

    compare_with_published: bool = Field(
        description="Whether results are compared with the published tables."
    )
    pressure_limit_mpa: Positive = Field(
        description="Largest element pressure the linear layer is trusted for, MPa."
    )
    avg_pressure_limit_mpa: Positive = Field(
        description="Largest mean pressure the linear layer is trusted for, MPa."
    )
    retrievals: dict[str, RetrievalSettings] = Field(
        description="Published wear of retrieved inserts that results are set beside, by name."
    )

    @field_validator("retrievals", mode="before")
    @classmethod
    def _drop_removed(cls, retrievals: Any) -> Any:
        return without_nulls(retrievals)


class Study(Settings):
    """A whole study."""

    study: Name = Field(description="Name of the study; results stand in results/<study>/.")
    data_folder: str = Field(
        description="Folder of data files; $KNEEWEAR_DATA overrides it, relative to the checkout."
    )
    seed: int = Field(ge=0, description="Seed of everything random.")
    implant: ImplantSettings = Field(description="The implant.")
    grid: GridSettings = Field(description="Elements on each plateau.")
    coarse_grid: GridSettings = Field(
        description="Elements on each plateau in forward dynamics; pressures come from the grid "
        "above."
    )
    table: TableSettings = Field(description="Lookup tables of the condyles.")
    activities: dict[Name, ActivitySettings] = Field(
        min_length=1, description="Activities by name; those of a life are simulated."
    )
    cases: CaseSettings = Field(description="Full factorial design of the cases.")
    cases_per_job: int = Field(ge=1, description="Cases simulated by one job.")
    simulation: SimulationSettings = Field(description="Contact simulation.")
    static: StaticSettings | None = Field(
        description="Static study, in the place of cycles and wear; null for these."
    )
    wear: WearSettings = Field(description="Wear and creep over a life.")
    calibration: CalibrationSettings | None = Field(
        description="Fit of constants to published cells, in the place of all else; null for other "
        "studies."
    )
    uncertainty: UncertaintySettings | None = Field(
        description="Uncertainty study of a single case and life, in the place of the full one; "
        "null for that."
    )
    report: ReportSettings = Field(description="Report.")

    @field_validator("activities", mode="before")
    @classmethod
    def _drop_removed(cls, activities: Any) -> Any:
        return without_nulls(activities)

    @model_validator(mode="after")
    def _cartilage_is_static(self) -> Study:
        if self.implant.source == "natural" and self.static is None:
            raise fault(
                "implant.source: natural without a block 'static'",
                "a static study: cartilage neither wears by these laws nor has a solved cycle",
                "Fill static in, as config/natural_knee.yaml does.",
            )
        return self

    @model_validator(mode="after")
    def _lives_name_activities(self) -> Study:
        for life, shares in self.wear.lives.items():
            for activity in shares:
                if activity not in self.activities:
                    raise fault_at(
                        ("wear", "lives", life, activity),
                        f"no activity '{activity}'",
                        f"one of: {', '.join(self.activities)}",
                        suggestion(activity, self.activities) or "Name an activity of this study.",
                    )
        return self

    @model_validator(mode="after")
    def _uncertainty_is_of_one_plain_case(self) -> Study:
        if self.uncertainty is None:
            return self
        count = len(self.cases.thickness_mm) * len(self.cases.body_mass_kg)
        plain = self.wear == self.wear.without_updates()
        found = {
            "a block 'static'": self.static is not None,
            f"{count} cases": count > 1,
            f"{len(self.wear.lives)} lives": len(self.wear.lives) > 1,
            f"analysis: {self.simulation.analysis}": self.simulation.analysis != "quasi_static",
            f"blocks: {self.wear.blocks}, mixing: {self.wear.mixing}": not plain,
        }
        if any(found.values()):
            raise fault(
                f"an uncertainty study with {', '.join(k for k, there in found.items() if there)}",
                "one thickness, one body mass and one life, quasi-static, without updates of the "
                "surface",
                "Set these in the study, as config/monte_carlo.yaml does, or set uncertainty to "
                "null.",
            )
        check_constants(self.model_dump(mode="json"), self.uncertainty)
        if self.uncertainty.pose_errors and not any(map(self._is_uncertain, self.activities)):
            raise fault_at(
                ("uncertainty", "pose_errors"),
                "true, and no motion with a standard deviation",
                "false where no motion tells one",
                "Set it to false, or give motion.standard_deviation of a measured activity.",
            )
        return self

    def _is_uncertain(self, activity: str) -> bool:
        """Whether an activity is simulated and tells the standard deviation of its motion."""
        settings = self.activities[activity]
        return (
            isinstance(settings, FileActivity)
            and settings.motion.standard_deviation is not None
            and activity in self.simulated_activities()
        )

    def case_list(self) -> tuple[dict[str, Any], ...]:
        """Cases of the full factorial design.

        Returns
        -------
        tuple of dict
            `name`, `thickness` (mm) and `body_mass` (kg) of each case; the mass varies fastest.
        """
        return tuple(
            {"name": f"{thickness:g}mm_{mass:g}kg", "thickness": thickness, "body_mass": mass}
            for thickness in self.cases.thickness_mm
            for mass in self.cases.body_mass_kg
        )

    def batches(self) -> dict[str, tuple[dict[str, Any], ...]]:
        """Cases grouped into jobs.

        Returns
        -------
        dict
            Batch name (b000, b001, ...) to its consecutive cases, `cases_per_job` in each.
        """
        cases, size = self.case_list(), self.cases_per_job
        starts = range(0, len(cases), size)
        return {f"b{i:03d}": cases[start : start + size] for i, start in enumerate(starts)}

    def simulated_activities(self) -> tuple[str, ...]:
        """Activities that at least one life contains, in the order of the settings.

        Returns
        -------
        tuple of str
            None in a static study and in a calibration.
        """
        if self.static is not None or self.calibration is not None:
            return ()
        used = {activity for shares in self.wear.lives.values() for activity in shares}
        return tuple(activity for activity in self.activities if activity in used)

    def data_root(self, root: str | Path = ".") -> Path:
        """Folder of data files in use.

        Parameters
        ----------
        root : str or Path
            The checkout; a relative folder starts there.

        Returns
        -------
        Path
            $KNEEWEAR_DATA where it is set, `data_folder` otherwise; it need not exist.
        """
        folder = Path(os.environ.get("KNEEWEAR_DATA") or self.data_folder).expanduser()
        return Path(os.path.normpath(Path(root) / folder))

    def data_path(self, path: str, root: str | Path = ".") -> Path:
        """Place of a data file named in the settings.

        Parameters
        ----------
        path : str
            Path as written in the settings: absolute, in the data folder, or in the checkout.
        root : str or Path
            The checkout; a relative data folder starts there.

        Returns
        -------
        Path
            The first of `path`, data folder / `path` and `root` / `path` that exists; the place
            in the data folder when none does.
        """
        given = Path(path).expanduser()
        if given.is_absolute():
            return given
        in_folder = Path(os.path.normpath(self.data_root(root) / given))
        in_checkout = Path(root) / given
        return in_checkout if in_checkout.exists() and not in_folder.exists() else in_folder


def load_study(
    source: Mapping[str, Any] | str | Path,
    name: str = "settings",
    files: Sequence[SettingsFile] = (),
) -> Study:
    """Check the settings of a study.

    Parameters
    ----------
    source : mapping, str or Path
        Settings, or a YAML file of them. They must be complete; see `merge_settings`.
    name : str
        What error messages call a mapping; a file is called by its path.
    files : sequence of SettingsFile
        Files a mapping was merged from, so that messages can name file and line.

    Returns
    -------
    Study
        The checked, frozen settings.

    Raises
    ------
    InputDataError
        When a key is unknown or missing or a value is of the wrong type or out of range; the
        message lists all faults with place, key path, finding, expectation and remedy.
    """
    if not isinstance(source, Mapping):
        files = [read_settings_file(source)]
        name, source = str(source), files[0].content
    try:
        return Study.model_validate(dict(source))
    except ValidationError as error:
        raise refusal(error, Study, source, name, files) from None


def merge_settings(base: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with some of them replaced, as `snakemake --configfile` does it.

    Parameters
    ----------
    base, overrides : mapping
        Mappings are merged key by key, everything else (lists too) is replaced. An override of
        null removes an inherited activity or life.

    Returns
    -------
    dict
        A new mapping.
    """
    merged = dict(base)
    for key, value in overrides.items():
        inherited = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(inherited, Mapping)
        merged[key] = merge_settings(inherited, value) if both else value  # type: ignore[arg-type]
    return merged
