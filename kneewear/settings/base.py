"""What studies of every kind have in common, and those whose activities wear the insert."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails

from kneewear.settings.accuracy import Accuracy, contradictions
from kneewear.settings.activity import ActivitySettings
from kneewear.settings.cases import Case, CaseSettings, check_varied, is_built_in, override
from kneewear.settings.checks import ChecksSettings, judged_settings
from kneewear.settings.faults import fault, fault_at, suggestion
from kneewear.settings.files import Location
from kneewear.settings.implant import GridSettings, ImplantSettings, TableSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.types import FileName, Name, NonNegative, Positive, Removable, Settings
from kneewear.settings.wear import WearSettings

# Element frames (elements times frames, activities and blocks) that a job simulates in about three
# minutes.
WORK_PER_JOB = 300_000_000
# Larger studies have longer jobs rather than more, because each job writes files: at most five per
# thousand cases, until one takes LONGEST_JOB times three minutes.
CASES_PER_JOB, FEW_JOBS, MOST_JOBS, LONGEST_JOB = 200, 5, 500, 20
# Cases whose maps are drawn and exported.
MOST_MAPS = 100
# Samples of uncertain constants of the centre case: the first and last of 20 in order are the 2.5
# and 97.5 percentiles.
FEWEST_SAMPLES = 20


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
    creep_percent: Annotated[float, Field(ge=0, le=100)] | None = None
    spread: Literal["standard deviation", "range"]
    source: str = Field(min_length=1)


class MeasuredSettings(Settings):
    """Measured activities that are drawn beside a built-in one."""

    beside: Name
    settings: Annotated[list[str], Field(min_length=1)]


class SimulatorColumns(Settings):
    """Columns of measured wear in a file."""

    million_cycles: str
    loss: str
    error: str | None = None


class SimulatorTestSettings(Settings):
    """Wear that was measured in a knee simulator."""

    file: FileName
    unit: Literal["mg", "mm3"]
    columns: SimulatorColumns
    source: str = Field(min_length=1)


class VariationSettings(Settings):
    """Choices of the model and uncertain constants that are changed for the centre case."""

    blocks: int = Field(ge=1)
    samples: Annotated[int, Field(ge=0, le=100_000)]
    constants: FileName
    wear_factors_mm3_per_n_m: tuple[Positive, ...]

    @field_validator("samples")
    @classmethod
    def _reach_the_ends(cls, samples: int) -> int:
        if 0 < samples < FEWEST_SAMPLES:
            raise fault(
                f"{samples}",
                f"0, or {FEWEST_SAMPLES} and more: fewer do not reach the ends of an interval",
                f"Take {FEWEST_SAMPLES}, or 0 for no interval.",
            )
        return samples


class ReportSettings(Settings):
    """Report."""

    compare_with_published: bool
    pressure_limit_mpa: Positive
    avg_pressure_limit_mpa: Positive
    spread: VariationSettings
    measured: Annotated[dict[str, MeasuredSettings], Removable]
    retrievals: Annotated[dict[str, RetrievalSettings], Removable]
    simulator_tests: Annotated[dict[str, SimulatorTestSettings], Removable]
    fe_twin: FileName | None


_NO_REPORT = {
    "compare_with_published": False,
    "pressure_limit_mpa": 1.0,
    "avg_pressure_limit_mpa": 1.0,
    "spread": {"blocks": 1, "samples": 0, "constants": ".", "wear_factors_mm3_per_n_m": []},
    "measured": {},
    "retrievals": {},
    "simulator_tests": {},
    "fe_twin": None,
}


class Study(Settings):
    """What every kind of study has; the kinds are its subclasses."""

    kind: str
    study: Name
    data_folder: FileName
    seed: int = Field(ge=0)
    accuracy: Accuracy | None
    implant: ImplantSettings
    grid: GridSettings
    coarse_grid: GridSettings
    table: TableSettings
    simulation: SimulationSettings
    report: ReportSettings
    checks: ChecksSettings = ChecksSettings()

    @property
    def reads_distance_tables(self) -> bool:
        """Whether distances to the condyles are taken from tables."""
        return self.kind != "static" and self.simulation.distance == "table"

    @model_validator(mode="after")
    def _values_are_possible(self) -> Study:
        lines: list[InitErrorDetails] = []
        for check, at, value in judged_settings(self):
            if check.verdict(value) == "refuse":
                said = check.fault(value, "")
                texts = said.found, said.expected, said.remedy
                lines.append(InitErrorDetails(type=fault(*texts), loc=at, input=value))
        if lines:
            raise ValidationError.from_exception_data("settings", lines)
        return self

    @model_validator(mode="after")
    def _aligned_components_have_an_activity(self) -> Study:
        if not self.simulation.alignment.is_neutral and not isinstance(self, LifeStudy):
            raise fault_at(
                ("simulation", "alignment"),
                f"components that are placed otherwise in a study of kind {self.kind}",
                "zeros: only motion and load of activities are given for the bones",
                "Remove it, and give the poses, offsets and loads of the components themselves.",
            )
        return self

    @model_validator(mode="after")
    def _accuracy_is_not_contradicted(self) -> Study:
        own_settings = self.model_dump(include={"grid", "coarse_grid", "simulation"})
        for at, own, value in contradictions(own_settings, self.accuracy):
            key = ".".join(at)
            raise fault_at(
                at,
                f"{own} with accuracy: {self.accuracy}",
                f"{value}, the value of that accuracy",
                f"Remove {key}, or set accuracy to null and choose elements and frames yourself.",
            )
        return self

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
        same = {
            "study": "study",
            "data_folder": ".",
            "accuracy": None,
            "cases_per_job": 1,
            "report": _NO_REPORT,
            "checks": ChecksSettings().model_dump(mode="json"),
        }
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
    cases_per_job: Annotated[int, Field(ge=1)] | None

    @property
    def thinnest_mm(self) -> float:
        """Minimum thickness of the thinnest insert of the study, mm."""
        return min(self.cases.thickness_mm)

    @model_validator(mode="after")
    def _only_wear_studies_override(self) -> CaseStudy:
        if self.cases.overrides and self.kind != "wear":
            raise fault_at(
                ("cases", "overrides"),
                f"overrides in a study of kind {self.kind}",
                "overrides in studies of kind wear only",
                "Remove them, or set kind to wear.",
            )
        return self

    def require_single(self, what: str, example: str, quasi_static: bool = True) -> None:
        """Refuse several cases or lives and updates where cases come from elsewhere than `cases`.

        Where `quasi_static`, other analyses too. `what` names the kind, `example` a file of it.
        """
        count = len(self.case_list())
        found = {
            f"analysis: {self.simulation.analysis}": (
                quasi_static and self.simulation.analysis != "quasi_static"
            ),
            f"{count} cases": count > 1,
            f"{len(self.wear.lives)} lives": len(self.wear.lives) > 1,
            f"blocks: {self.wear.blocks}, mixing: {self.wear.mixing}": (
                self.wear != self.wear.without_updates()
            ),
        }
        if any(found.values()):
            raise fault(
                f"{what} with {', '.join(name for name, there in found.items() if there)}",
                f"one thickness, one body mass and one life,{' quasi-static,' * quasi_static} "
                "without updates of the surface",
                f"Set these in the study, as {example} does.",
            )

    def job_size(self, count: int) -> int:
        """Number of cases or samples of a job, of `count` in all.

        `cases_per_job`, or as many as a job simulates in some minutes, `CASES_PER_JOB` at most: two
        jobs at least where each has four cases, and `FEW_JOBS` per thousand cases at most unless
        they would take over an hour.
        """
        if self.cases_per_job is not None:
            return self.cases_per_job
        activities = max(1, len(self.simulated_activities()))
        elements = 2 * self.grid.rows * self.grid.columns
        work = elements * self.simulation.frames * activities * self.wear.blocks
        fits = WORK_PER_JOB / work
        most = min(fits, CASES_PER_JOB)
        few = min(ceil(count / max(FEW_JOBS, count / CASES_PER_JOB)), LONGEST_JOB * fits)
        # Four cases take about as long as starting a job.
        return int(min(max(1, most, few, ceil(count / MOST_JOBS)), max(4, ceil(count / 2))))

    def batch_ranges(self, count: int) -> dict[str, tuple[int, int]]:
        """First of `count` cases or samples of each job, and the one after its last, by batch."""
        size = self.job_size(count)
        starts = range(0, count, size)
        return {f"b{i:03d}": (one, min(one + size, count)) for i, one in enumerate(starts)}

    def case_list(self) -> tuple[Case, ...]:
        """Cases of the full factorial design."""
        return self.cases.listed()

    def variants(self) -> list[tuple[Case, ...]]:
        """Cases that differ in thickness and mass only, one tuple per set of overrides."""
        groups = groupby(self.case_list(), key=lambda case: case.overrides)
        return [tuple(cases) for _, cases in groups]


class WearStudy(CaseStudy):
    """Wear of every case of a factorial design."""

    kind: Literal["wear"]

    @model_validator(mode="after")
    def _overrides_are_possible(self) -> WearStudy:
        if self.cases.overrides and self.report.compare_with_published:
            raise fault_at(
                ("cases", "overrides"),
                "overrides with report.compare_with_published: true",
                "false with overrides: published values are of one set of constants",
                "Set report.compare_with_published to false.",
            )
        settings = self.model_dump(mode="json")
        for path, levels in self.cases.overrides.items():
            where = ("cases", "overrides", path)
            check_varied(
                settings,
                path,
                where,
                "cases of one study",
                _varies_in_a_job,
                "a number of simulation, of wear or of a built-in activity, but not of frames, "
                "durations and lives, which all cases share",
                "Use thickness_mm or body_mass_kg for these two. Geometry is built once for all "
                "cases of a wear study: vary it in one study for each value, or as an uncertain "
                "constant of a study of kind uncertainty.",
            )
            for value in levels:
                changed = override(settings, {path: value})
                changed["cases"]["overrides"] = {}
                try:
                    type(self).model_validate(changed)
                except ValidationError as error:
                    first = error.errors()[0]
                    found = f"{value:g}, for which {'.'.join(map(str, first['loc']))} is refused"
                    raise fault_at(where, found, first["msg"], "Correct the level.") from None
        return self

    def batches(self) -> dict[str, tuple[Case, ...]]:
        """Cases by job: batch name (b000, b001, ...) to at most `job_size` consecutive cases.

        Cases of one batch have the same overrides.
        """
        parts: list[tuple[Case, ...]] = []
        size = self.job_size(len(self.case_list()))
        for cases in self.variants():
            parts += [cases[start : start + size] for start in range(0, len(cases), size)]
        return {f"b{number:03d}": part for number, part in enumerate(parts)}

    def cases_with_maps(self) -> list[str]:
        """Names of the cases whose maps are drawn and exported.

        All of a study of at most `MOST_MAPS` cases; of a larger one the corners and the centre of
        its first factorial design.
        """
        cases = self.case_list()
        if len(cases) > MOST_MAPS:
            first, masses = self.variants()[0], len(self.cases.body_mass_kg)
            at = 0, masses - 1, len(first) // 2, len(first) - masses, len(first) - 1
            cases = tuple(first[number] for number in at)
        return list(dict.fromkeys(case.name for case in cases))


def _varies_in_a_job(settings: Mapping[str, Any], location: Location) -> bool:
    """Whether a job can change a setting from case to case."""
    if location[:2] in (("simulation", "frames"), ("wear", "lives")):
        return False
    if location[0] in ("simulation", "wear"):
        return True
    return is_built_in(settings, location) and location[-1] != "duration_s"
