"""What studies of every kind have in common, and those whose activities wear the insert."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from kneewear.settings.activity import ActivitySettings
from kneewear.settings.cases import Case, CaseSettings
from kneewear.settings.faults import fault, fault_at, suggestion
from kneewear.settings.implant import GridSettings, ImplantSettings, TableSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.types import Name, NonNegative, Positive, Removable, Settings
from kneewear.settings.wear import WearSettings


class RateSettings(Settings):
    """Mean of a rate among retrieved inserts, and its spread."""

    mean: NonNegative
    low: NonNegative
    high: NonNegative

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

    linear_mm_per_year: RateSettings | None
    volume_mm3_per_year: RateSettings | None
    includes_creep: bool
    spread: Literal["standard deviation", "range"]
    source: str = Field(min_length=1)


class ReportSettings(Settings):
    """Report."""

    compare_with_published: bool
    pressure_limit_mpa: Positive
    avg_pressure_limit_mpa: Positive
    retrievals: Annotated[dict[str, RetrievalSettings], Removable]


_NO_REPORT = {
    "compare_with_published": False,
    "pressure_limit_mpa": 1.0,
    "avg_pressure_limit_mpa": 1.0,
    "retrievals": {},
}


class Study(Settings):
    """What every kind of study has; the kinds are its subclasses."""

    kind: str
    study: Name
    data_folder: str
    seed: int = Field(ge=0)
    implant: ImplantSettings
    grid: GridSettings
    coarse_grid: GridSettings
    table: TableSettings
    simulation: SimulationSettings
    report: ReportSettings

    @property
    def thinnest_mm(self) -> float:
        """Minimum thickness of the thinnest insert of the study, mm."""
        return self.implant.nominal_thickness_mm

    def simulated_activities(self) -> dict[str, ActivitySettings]:
        """Activities whose cycles are simulated, by name; none unless the kind has some."""
        return {}

    def computed(self) -> dict[str, Any]:
        """Settings as plain builtins, equal for all studies with the same results.

        Jobs that need a whole study take these, so that its name, folder, jobs and report do not
        run them again.
        """
        same = {"study": "study", "data_folder": ".", "cases_per_job": 1, "report": _NO_REPORT}
        settings = self.model_dump(mode="json")
        return settings | {key: value for key, value in same.items() if key in settings}

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
        """Path of a data file named in the settings.

        Parameters
        ----------
        path : str
            Path as written in the settings: absolute, in the data folder, or in the checkout.
        root : str or Path
            The checkout; a relative data folder starts there.

        Returns
        -------
        Path
            The first of `path`, data folder / `path` and `root` / `path` that exists; the path
            in the data folder when none does.
        """
        given = Path(path).expanduser()
        if given.is_absolute():
            return given
        in_folder = Path(os.path.normpath(self.data_root(root) / given))
        in_checkout = Path(root) / given
        return in_checkout if in_checkout.exists() and not in_folder.exists() else in_folder


class LifeStudy(Study):
    """Study of the wear that activities cause over a life."""

    activities: Annotated[dict[Name, ActivitySettings], Field(min_length=1), Removable]
    wear: WearSettings

    @model_validator(mode="after")
    def _implant_wears(self) -> LifeStudy:
        if self.implant.source == "natural":
            raise fault(
                f"implant.source: natural in a study of kind {self.kind}",
                "kind: static; cartilage neither wears by these laws nor has a solved cycle",
                "Set kind to static, as config/natural_knee.yaml does.",
            )
        return self

    @model_validator(mode="after")
    def _lives_name_activities(self) -> LifeStudy:
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

    def simulated_activities(self) -> dict[str, ActivitySettings]:
        """Activities that at least one life contains, in the order of the settings."""
        used = {activity for shares in self.wear.lives.values() for activity in shares}
        return {name: block for name, block in self.activities.items() if name in used}


class CaseStudy(LifeStudy):
    """Study that simulates cases."""

    cases: CaseSettings
    cases_per_job: int = Field(ge=1)

    @property
    def thinnest_mm(self) -> float:
        """Minimum thickness of the thinnest insert of the study, mm."""
        return min(self.cases.thickness_mm)

    def case_list(self) -> tuple[Case, ...]:
        """Cases of the full factorial design."""
        return self.cases.listed()


class WearStudy(CaseStudy):
    """Wear of every case of a factorial design."""

    kind: Literal["wear"]

    def batches(self) -> dict[str, tuple[Case, ...]]:
        """Cases by job: batch name (b000, b001, ...) to `cases_per_job` consecutive cases."""
        cases, size = self.case_list(), self.cases_per_job
        starts = range(0, len(cases), size)
        return {f"b{i:03d}": cases[start : start + size] for i, start in enumerate(starts)}
