"""Base of the studies of all models, and of those whose activities wear the insert."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import ceil
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from kneewear import checkout_folder
from kneewear.activity.settings import ActivitySettings, Motion
from kneewear.base import types
from kneewear.base.accuracy import Accuracy, contradictions
from kneewear.base.assumptions import Assumption
from kneewear.base.cases import BODY_MASS, THICKNESS, Case, case_name
from kneewear.base.checks import ChecksSettings, refuse_impossible, refuse_unknown_checks
from kneewear.base.faults import fault, fault_at, suggestion
from kneewear.base.files import Location, value_at
from kneewear.base.ranges import Range
from kneewear.base.types import FileName, Finite, Name, Removable, Settings, quantity
from kneewear.base.variables import (
    Value,
    Variable,
    apply_values,
    is_unchanged,
    set_values,
)
from kneewear.geometry.settings import AnyImplant, GridSettings, TableSettings
from kneewear.motion.settings import SimulationSettings
from kneewear.study.analysis_settings import Analyses
from kneewear.study.plan_settings import AnyPlan, Factorial
from kneewear.study.report_settings import NO_REPORT, ReportSettings, SimulatorTestSettings
from kneewear.study.shipped import SHELVES, moved_file
from kneewear.wear.settings import WearSettings

# Element frames (elements times frames, activities and blocks) that a job simulates in about three
# minutes.
WORK_PER_JOB = 300_000_000
# Larger studies have longer jobs rather than more, because each job writes files: at most five per
# thousand cases, until one takes MAX_JOB times three minutes.
CASES_PER_JOB = 200
FEW_JOBS = 5
MAX_JOBS = 500
MAX_JOB = 20
# Cases whose maps are drawn and exported.
MAX_MAPS = 100


# Folders in results/ that are of no study.
_TAKEN = ("comparisons",)
# What part of plastic strain stays is not known: studies have both limits of it by default.
PERMANENT_SHARE = "simulation.material_yield.permanent_share"
PERMANENT_LIMITS = (1.0, 0.0)
# Setting and unit of variables that may be given as a list of levels.
_KNOWN = {THICKNESS: ("insert.thickness_mm", "mm"), BODY_MASS: ("patient.body_mass_kg", "kg")}


class Study(Settings):
    """A model, variables, a plan of cases and analyses; the models are its subclasses.

    A study remembers that it was checked as a whole; its copies do not, because `model_copy` takes
    values without checking them.
    """

    # Copies, pickles and comparisons take no account of slots.
    __slots__ = ("_is_checked",)

    model: str = Field(description="Model, which decides the blocks of the study.")
    study: Name = Field(description="Name of the study; results are in `results/<study>/`.")
    follows: FileName | None = Field(
        None,
        description="Settings file that this file changes and is given after. It is refused alone.",
    )
    variables: Annotated[dict[Name, Variable], Removable] = Field(
        default_factory=dict, description="What differs between cases, by name."
    )
    cases: AnyPlan = Field(default=Factorial(plan="factorial"), description="Plan of the cases.")
    analyses: Analyses = Field(
        default=Analyses(), description="What is made of the results of all cases."
    )
    page: Name | None = Field(default=None, description="Page that shows the results.")
    figure_formats: tuple[Literal["pdf", "png"], ...] = Field(
        default=(), description="Formats in which figures are written besides SVG."
    )
    data_folder: FileName = Field(
        description="Folder of data files; $KNEEWEAR_DATA overrides it, relative to the checkout."
    )
    seed: int = quantity(
        "Seed of everything random.", Range.unlimited("1", "Any seed is as good"), ge=0
    )
    accuracy: Accuracy | None = Field(
        description="Elements and frames for reported quantities within 3 % (draft), 1 % "
        "(standard) or 0.3 % (fine) of their converged values, instead of grid, coarse_grid and "
        "simulation.frames; null uses these three. The errors are in tables/accuracy.csv of a "
        "verification study."
    )
    implant: AnyImplant = Field(description="The implant.")
    grid: GridSettings = Field(description="Elements on each plateau.")
    coarse_grid: GridSettings = Field(
        description="Elements on each plateau in forward dynamics; pressures come from grid."
    )
    table: TableSettings = Field(description="Lookup tables of the condyles.")
    simulation: SimulationSettings = Field(description="Contact simulation.")
    report: ReportSettings = Field(description="Report.")
    assumed: tuple[Assumption, ...] = Field(
        default=(),
        description="Guesses that `kneewear new` wrote, repeated by check, run, page and summary; "
        "delete an entry to confirm it.",
    )
    checks: ChecksSettings = Field(default=ChecksSettings(), description="Checks of plausibility.")

    # Whether studies of the model have the knee of the block implant.
    has_knee: ClassVar[bool] = True
    # Whether studies of the model may have a coupled layer.
    has_coupled_contact: ClassVar[bool] = False
    has_material_yield: ClassVar[bool] = False
    # Whether one plateau alone may be pressed, beside studies of activities.
    presses_single_plateaus: ClassVar[bool] = False
    # Whether a case is a life of wear whose results printed values and simulator tests are of.
    has_lives: ClassVar[bool] = False
    # Whether side jobs have the variables of the study: where geometry varies, distances are exact.
    side_jobs_vary: ClassVar[bool] = True
    # Whether figures show the implants of all designs.
    draws_designs: ClassVar[bool] = False
    # Whether activities are simulated, with motion and load of the bones.
    has_activities: ClassVar[bool] = False

    @property
    def model_files(self) -> Mapping[str, str]:
        """Data files of the model by name, as the settings give them."""
        return {}

    def combined_values(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Yield check, key and value of what follows from several settings."""
        offset = self.simulation.pressure_law.thickness_offset_mm
        if offset != 0.0:
            at = ("simulation", "pressure_law", "thickness_offset_mm")
            yield "settings.effective_thickness", at, self.thinnest_mm + offset
        source = self.implant.source
        if self.has_lives and self.report.compare_with_published and source == "meshes":
            yield "settings.published", ("report", "compare_with_published"), 1.0
        block = getattr(self.implant, source)
        for name in ("insert_region_mm", "tibial_region_mm", "femoral_region_mm"):
            regions = getattr(block, name, None)
            if regions is not None and len(regions.given) == 2:
                apart = 0.5 * (sum(regions.medial.z) - sum(regions.lateral.z))
                yield "settings.window_sides", ("implant", source, name), apart

    @property
    def loaded_packages(self) -> tuple[str, ...]:
        """Packages whose modules the model of the study loads by name."""
        return ()

    @property
    def pose_file(self) -> Motion | None:
        """File of given poses; None where poses are solved."""
        return None

    @property
    def conditions(self) -> Mapping[str, Any]:
        """Conditions of contact that are the same in all cases, unless variables change them."""
        return {}

    @property
    def simulator_tests(self) -> Mapping[str, SimulatorTestSettings]:
        """Wear measured in a simulator, by the name of the test."""
        return {}

    @property
    def comparison_table(self) -> str | None:
        """Table of a finished finite-element comparison that the page quotes."""
        return None

    @property
    def constants_file(self) -> str | None:
        """File of the uncertain constants that the centre case is sampled over."""
        return None

    @property
    def body_masses_kg(self) -> tuple[float, ...]:
        """Smallest and largest body mass of the study, kg; empty where there is none."""
        return ()

    @property
    def blocks(self) -> int:
        """Blocks of cycles that a case simulates."""
        return 1

    @property
    def has_maps(self) -> bool:
        """True if damage and contact of every case are kept as maps."""
        return False

    @property
    def reads_distance_tables(self) -> bool:
        """True if distances to the condyles are taken from tables."""
        return self.simulation.distance == "table"

    @field_validator("study")
    @classmethod
    def _is_no_folder_of_all_studies(cls, study: str) -> str:
        if study in _TAKEN:
            raise fault(study, "a name of its own", f"results/{study} is of all studies: rename.")
        return study

    @field_validator(
        "variables",
        mode="before",
        json_schema_input_type=dict[Name, Variable | tuple[Value, ...]],
    )
    @classmethod
    def _expand_known_variables(cls, variables: Any) -> Any:
        """Take a list of levels of thickness or body mass for its variable."""
        if not isinstance(variables, Mapping):
            return variables
        return {
            name: {"settings": [_KNOWN[name][0]], "values": value, "unit": _KNOWN[name][1]}
            if isinstance(value, list | tuple) and name in _KNOWN
            else value
            for name, value in variables.items()
        }

    @model_validator(mode="before")
    @classmethod
    def _yield_is_computed_at_both_limits(cls, settings: Any) -> Any:
        """Make the permanent share of plastic strain a variable where it is not given."""
        material = value_at(settings, ("simulation", "material_yield"))
        plan = value_at(settings, ("cases", "plan"))
        given = isinstance(material, Mapping) and material.get("permanent_share") is not None
        if not isinstance(material, Mapping) or given or plan not in (None, "factorial"):
            return settings
        limits = {"settings": [PERMANENT_SHARE], "values": list(PERMANENT_LIMITS)}
        variables = settings.get("variables") or {}
        chosen = {"permanent_share": PERMANENT_LIMITS[0]}
        simulation = settings["simulation"] | {"material_yield": {**material, **chosen}}
        return {
            **settings,
            "simulation": simulation,
            "variables": {**variables, "permanent_share": limits},
        }

    @model_validator(mode="after")
    def _values_are_possible(self) -> Study:
        refuse_unknown_checks(type(self), self.checks.ignore)
        refuse_impossible(self)
        return self

    @model_validator(mode="after")
    def _variables_fit_the_plan(self) -> Study:
        self.cases.check_variables(self.variables)
        return self

    @model_validator(mode="after")
    def _aligned_components_have_an_activity(self) -> Study:
        if not self.simulation.alignment.is_neutral and not self.has_activities:
            raise fault_at(
                ("simulation", "alignment"),
                f"components that are placed otherwise in a study of model {self.model}",
                "zeros: only motion and load of activities are given for the bones",
                "Remove it, and give the poses, offsets and loads of the components themselves.",
            )
        return self

    @model_validator(mode="after")
    def _model_takes_single_plateaus(self) -> Study:
        given = self.implant.bearings
        if len(given) == 1 and not (self.has_activities or self.presses_single_plateaus):
            raise fault_at(
                ("implant", "bearings"),
                f"the {given[0]} plateau alone in a study of model {self.model}",
                "both plateaus, or a study of model wear or press",
                "Name both plateaus, or set model to wear.",
            )
        return self

    @model_validator(mode="after")
    def _layer_fits_the_model(self) -> Study:
        if self.simulation.contact == "foundation":
            return self
        for at, found in self._uncoupled():
            raise fault_at(
                at,
                f"{found} with simulation.contact: {self.simulation.contact}",
                "plateaus of an insert in a study of model wear or press, pressed along the "
                "minimum distance without friction",
                "Set simulation.contact to foundation.",
            )
        return self

    def _uncoupled(self) -> Iterator[tuple[Location, str]]:
        """Places and values of settings that a coupled layer does not cover."""
        if not self.has_coupled_contact:
            yield ("simulation", "contact"), f"model: {self.model}"
        if self.implant.source == "natural":
            yield ("implant", "source"), "natural: two layers of cartilage"

    @model_validator(mode="after")
    def _yield_fits_the_model(self) -> Study:
        if self.simulation.material_yield is None or self.has_material_yield:
            return self
        raise fault_at(
            ("simulation", "material_yield"),
            f"a curve in a study of model {self.model}",
            "null, or a study of model wear",
            "Remove simulation.material_yield.",
        )

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

    @property
    def is_checked(self) -> bool:
        """True if `remember_checked` was called for this study, and not for one it is a copy of."""
        return getattr(self, "_is_checked", False)

    def remember_checked(self) -> Self:
        """Return the study, which remembers that it was checked."""
        object.__setattr__(self, "_is_checked", True)
        return self

    def at(self, values: Mapping[str, Any]) -> Self:
        """Study of a single case, in which the variables have some values.

        Parameters
        ----------
        values : mapping of str to float or str
            Values by the names of the variables; one that is absent or NaN changes nothing.

        Returns
        -------
        Study
            Without variables and analyses.

        Raises
        ------
        ValidationError
            If the settings are not possible.
        KeyError
            If there is nothing at the path of a variable.
        """
        single = {"variables": {}, "analyses": {}, "cases": {"plan": "factorial"}}
        settings = self.model_dump(mode="json") | single
        set_values(settings, self.variables, values)
        return type(self).model_validate(settings)

    def extreme_studies(self) -> Iterator[Self]:
        """Yield the study of each level or bound of each variable alone."""
        for name, variable in self.variables.items():
            for value in variable.extremes:
                yield self.at({name: value})

    def job_size(self, count: int) -> int:
        """Number of cases of a job, of `count` in all."""
        return count

    def batch_ranges(self, count: int) -> dict[str, tuple[int, int]]:
        """First of `count` cases of each job, and the one after its last, by batch."""
        size = self.job_size(count)
        starts = range(0, count, size)
        return {f"b{i:03d}": (start, min(start + size, count)) for i, start in enumerate(starts)}

    def simulated_activities(self) -> dict[str, ActivitySettings]:
        """Activities whose cycles are simulated, by name; none unless the model has some."""
        return {}

    def preflight_cases(self) -> tuple[Case, ...]:
        """Cases whose motion is tried on the bearing before a run.

        All of a factorial plan; of other plans the study without changes, and with each level or
        bound of each variable alone. None of models whose cases have no activities.
        """
        return ()

    def case_label(self, values: Mapping[str, Any]) -> str:
        """Name of a case of a factorial plan by its values; empty where a number names it."""
        return ""

    def batches(self) -> dict[str, tuple[Case, ...]]:
        """Cases by job, of cases that are kept as maps: batch name (b000, b001, ...) to cases."""
        return {}

    def pressed_studies(self) -> Iterator[Any]:
        """Yield a study of each flexion and position in which the bearing is pressed."""
        yield from ()

    def computed(self) -> dict[str, Any]:
        """Settings as plain builtins, equal for all studies with the same results.

        Jobs that need a whole study take these, so that its name, folder, jobs and report do not
        run them again.
        """
        same: dict[str, Any] = {
            "study": "study",
            "data_folder": ".",
            "accuracy": None,
            "cases_per_job": 1,
            "report": NO_REPORT,
            "assumed": [],
            "checks": ChecksSettings().model_dump(mode="json"),
            "analyses": {},
            "page": None,
            "figure_formats": [],
        }
        settings = self.model_dump(mode="json")
        return settings | {key: value for key, value in same.items() if key in settings}

    def data_root(self, root: str | Path = ".") -> Path:
        """Folder of data files in use.

        Parameters
        ----------
        root : str or Path
            The checkout, where a relative folder starts; of studies that are run in another
            folder it is the checkout of the package, and a folder that is found there comes first.

        Returns
        -------
        Path
            $KNEEWEAR_DATA where it is set, `data_folder` otherwise; it need not exist.
        """
        folder = Path(os.environ.get("KNEEWEAR_DATA") or self.data_folder).expanduser()
        here = Path(os.path.normpath(folder))
        of_package = Path(root).resolve() == checkout_folder().resolve()
        if of_package and Path.cwd() != Path(root).resolve() and here.is_dir():
            return here
        return Path(os.path.normpath(Path(root) / folder))

    def data_path(self, path: str, root: str | Path = ".") -> Path:
        """Path of a data file named in the settings.

        Parameters
        ----------
        path : str
            Path as written in the settings: absolute, in the data folder, or in the checkout.
        root : str or Path
            The checkout; see `data_root`.

        Returns
        -------
        Path
            `path` where it is absolute; else the first of data folder / `path`, `root` / `path`
            and `path` in the working directory, which is that of the settings, that exists, or
            the file that was put on a shelf of `config` since; the path in the data folder when
            none does.
        """
        given = Path(path).expanduser()
        if given.is_absolute():
            return given
        in_folder = Path(os.path.normpath(self.data_root(root) / given))
        possible = in_folder, Path(root) / given, given
        found = next((one for one in possible if one.exists()), None)
        return found or moved_file(given, filter(None, SHELVES)) or in_folder


def place_of_level(variable: Variable, number: int, value: Value) -> Location:
    """Keys of the number-th of the extremes of a variable."""
    if variable.values is not None:
        return "values", number
    if variable.blocks is not None:
        return "blocks", str(value)
    if variable.low is not None:
        return (("low", "high")[number],)
    return ("uniform", number) if variable.uniform is not None else ("normal",)


# Least smoothing of a worn surface on a coupled layer times its blocks, mm: twice what keeps waves
# of the lowering from growing in the default study (docs/theory/coupled-layer.md).
SMOOTHING_ON_LAYER = 16.0


class LifeStudy(Study):
    """Study of the wear that activities cause over a life."""

    has_activities: ClassVar[bool] = True

    activities: Annotated[dict[Name, ActivitySettings], Field(min_length=1), Removable] = Field(
        description="Activities by name; those of a life are simulated."
    )
    wear: WearSettings = Field(description="Wear and creep over a life.")

    @model_validator(mode="after")
    def _worn_surface_is_smooth_enough(self) -> LifeStudy:
        wear, contact = self.wear, self.simulation.contact
        least = SMOOTHING_ON_LAYER / wear.blocks
        smoothing = wear.surface_update.smoothing_mm
        follows = wear != wear.without_updates()
        if contact != "foundation" and follows and smoothing < least:
            raise fault_at(
                ("wear", "surface_update", "smoothing_mm"),
                f"{smoothing:g} with {wear.blocks} blocks on simulation.contact: {contact}",
                f"{least:.3g} and more, {SMOOTHING_ON_LAYER:g} mm over the number of blocks: on a "
                "coupled layer shorter waves of the lowering grow from block to block",
                "Take a longer smoothing, more blocks, or blocks: 1.",
            )
        return self

    @model_validator(mode="after")
    def _single_plateau_has_a_share(self) -> LifeStudy:
        if len(self.implant.bearings) > 1:
            return self
        if self.simulation.load_line == "fixed":
            raise fault_at(
                ("simulation", "load_line"),
                f"fixed with the {self.implant.bearings[0]} plateau alone, which bears a share",
                "solved, and that share of the load as simulation.medial_share",
                "Set load_line to solved.",
            )
        for name, block in self.simulated_activities().items():
            if block.source == "file" and block.load.columns.varus_moment_n_m is not None:
                raise fault_at(
                    ("activities", name, "load", "columns", "varus_moment_n_m"),
                    f"a moment of the load with the {self.implant.bearings[0]} plateau alone",
                    "a share of that side, measured or simulation.medial_share",
                    "Remove the column, or give the shares or forces of the sides.",
                )
            control = getattr(block, "control", None)
            if control is not None and control.varus == "free":
                raise fault_at(
                    ("activities", name, "control", "varus"),
                    f"free with the {self.implant.bearings[0]} plateau alone",
                    "held or prescribed: nothing restores the varus of a single plateau",
                    "Hold it, or name both plateaus.",
                )
        return self

    @model_validator(mode="after")
    def _friction_is_of_elements(self) -> LifeStudy:
        chosen = self.simulation
        for name, block in self.simulated_activities().items():
            control = getattr(block, "control", None)
            if control is None or control.friction == 0.0:
                continue
            if chosen.contact != "foundation":
                raise fault_at(
                    ("activities", name, "control", "friction"),
                    f"{control.friction:g} with contact: {chosen.contact}",
                    "contact: foundation with friction",
                    "Set simulation.contact, or friction to 0.",
                )
        return self

    @model_validator(mode="after")
    def _dampers_have_speeds(self) -> LifeStudy:
        for name, block in self.simulated_activities().items():
            control = getattr(block, "control", None)
            for key, number in control.damped if control is not None else ():
                if self.simulation.analysis != "forward":
                    raise fault_at(
                        ("activities", name, "control", key, str(number)),
                        f"damping with analysis: {self.simulation.analysis}",
                        "analysis: forward with damping; equilibria have no speeds",
                        "Set simulation.analysis to forward, or leave the damping out.",
                    )
        return self

    @model_validator(mode="after")
    def _implant_wears(self) -> LifeStudy:
        if self.implant.source == "natural":
            raise fault(
                f"implant.source: natural in a study of model {self.model}",
                "model: press; cartilage neither wears by these laws nor has a solved cycle",
                "Set model to press, as config/papers/natural_knee.yaml does.",
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

    @property
    def simulator_tests(self) -> Mapping[str, SimulatorTestSettings]:
        """Wear measured in a simulator, by the name of the test."""
        return self.report.simulator_tests

    @property
    def blocks(self) -> int:
        """Blocks of cycles between which the surface follows wear and creep."""
        return self.wear.blocks

    def simulated_activities(self) -> dict[str, ActivitySettings]:
        """Activities that at least one life contains, in the order of the settings."""
        used = {activity for shares in self.wear.lives.values() for activity in shares}
        return {name: block for name, block in self.activities.items() if name in used}

    def activities_before(self) -> dict[str, str | None]:
        """Of each simulated activity, the one whose insert it continues on; None on a new insert.

        Activities of a life share one insert: where plastic strain stays, they follow each other in
        the order in which the life names them, as do the keys.
        """
        material = self.simulation.material_yield
        before: dict[str, str | None] = {}
        if material is not None and material.permanent_share > 0.0:
            for _, name, earlier in self.successions():
                before.setdefault(name, earlier)
        for name in self.simulated_activities():
            before.setdefault(name, None)
        return before

    def successions(self) -> Iterator[tuple[str, str, str | None]]:
        """Lives with each of their activities and the activity before it, None of the first."""
        for life, shares in self.wear.lives.items():
            earlier = None
            for name in [name for name, share in shares.items() if share > 0.0]:
                yield life, name, earlier
                earlier = name


class InsertSettings(Settings):
    """The insert of all cases, unless a variable changes it."""

    thickness_mm: Finite = quantity(
        "Minimum thickness of the insert where no variable changes it.", types.THICKNESS
    )


class PatientSettings(Settings):
    """The patient of all cases, unless a variable changes it."""

    body_mass_kg: Finite = quantity("Body mass where no variable changes it.", types.BODY_MASS)


class CaseStudy(LifeStudy):
    """Study of the wear of cases."""

    insert: InsertSettings = Field(description="The insert.")
    patient: PatientSettings = Field(description="The patient.")
    cases_per_job: int | None = quantity(
        "Cases simulated by one job; never changes a result. Null takes as many as a job simulates "
        "in about three minutes, or more in large studies, for few files.",
        Range("1", 1, 1, 10_000, 1_000_000, "Jobs of minutes"),
    )

    @property
    def thinnest_mm(self) -> float:
        """Minimum thickness of the thinnest insert of the study, mm."""
        return min(self._extremes_of(_KNOWN[THICKNESS][0], lambda study: study.insert.thickness_mm))

    @property
    def comparison_table(self) -> str | None:
        """Table of a finished finite-element comparison that the page quotes."""
        return None

    @property
    def constants_file(self) -> str | None:
        """File of the uncertain constants that the centre case is sampled over."""
        return None

    @property
    def body_masses_kg(self) -> tuple[float, ...]:
        """Smallest and largest body mass of the study, kg."""
        masses = self._extremes_of(_KNOWN[BODY_MASS][0], lambda study: study.patient.body_mass_kg)
        return min(masses), max(masses)

    def _extremes_of(self, path: str, value: Callable[[CaseStudy], float]) -> list[float]:
        """Values of a setting with each level or bound of the variables that change it."""
        changing = {
            name: variable
            for name, variable in self.variables.items()
            if path in variable.settings and variable.extremes
        }
        values = [
            value(self.at({name: extreme}))
            for name, variable in changing.items()
            for extreme in variable.extremes
        ]
        replaced = any(variable.replaces for variable in changing.values())
        return values if replaced else [value(self), *values]

    @property
    def has_maps(self) -> bool:
        """True if damage and contact of every case are kept as maps."""
        return self.cases.maps

    @property
    def varies_geometry(self) -> bool:
        """True if a variable changes the implant, so that cases have surfaces of their own."""
        blocks = ("implant", "table")
        return any(
            path.partition(".")[0] in blocks
            for variable in self.variables.values()
            for path in variable.settings
        ) or any(
            block in change
            for variable in self.variables.values()
            if not variable.settings
            for change in (variable.blocks or {}).values()
            for block in blocks
        )

    @property
    def reads_distance_tables(self) -> bool:
        """True if distances are taken from tables, which cost more than a cycle of one case."""
        return super().reads_distance_tables and not self.varies_geometry

    @model_validator(mode="after")
    def _maps_share_elements(self) -> CaseStudy:
        if not self.cases.maps:
            return self
        for name, variable in self.variables.items():
            changed = [
                path
                for path in variable.settings
                if path.startswith(("implant.", "grid.", "table.", "simulation.frames"))
            ]
            if changed or (variable.blocks is not None and self.varies_geometry):
                raise fault_at(
                    ("variables", name, "settings"),
                    f"{', '.join(changed) or 'blocks of the implant'} with cases.maps: true",
                    "maps of cases on the same elements and frames",
                    "Set cases.maps to false: cases then have results without maps.",
                )
        return self

    @model_validator(mode="after")
    def _published_values_are_of_one_set_of_constants(self) -> CaseStudy:
        further = set(self.variables) - {THICKNESS, BODY_MASS}
        if further and self.report.compare_with_published:
            raise fault_at(
                ("report", "compare_with_published"),
                f"true with the variable {', '.join(sorted(further))}",
                "false: published values are of one set of constants",
                "Set it to false.",
            )
        return self

    @model_validator(mode="after")
    def _samples_are_of_one_life(self) -> CaseStudy:
        count = len(self.wear.lives)
        if not self.cases.maps and count > 1:
            raise fault_at(
                ("wear", "lives"),
                f"{count} lives with cases.maps: false",
                "one life",
                "Remove the others, or vary wear.lives by blocks of a variable.",
            )
        return self

    @model_validator(mode="after")
    def _fits_are_quick(self) -> CaseStudy:
        if self.cases.plan != "fit":
            return self
        slow = {
            f"implant.source: {self.implant.source}": self.implant.source != "parametric",
            "activities from files": any(
                block.source != "parametric" for block in self.simulated_activities().values()
            ),
            f"wear.blocks: {self.wear.blocks}, mixing: {self.wear.mixing}": (
                self.wear != self.wear.without_updates()
            ),
        }
        if any(slow.values()):
            raise fault_at(
                ("cases", "plan"),
                f"fit with {', '.join(text for text, there in slow.items() if there)}",
                "the built-in implant, built-in activities, and a surface that stays as it was "
                "made",
                "Set these in the study, as config/evidence/calibration.yaml does.",
            )
        return self

    def job_size(self, count: int) -> int:
        """Number of cases of a job, of `count` in all.

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
        few = min(ceil(count / max(FEW_JOBS, count / CASES_PER_JOB)), MAX_JOB * fits)
        # Four cases take about as long as starting a job.
        return int(min(max(1, most, few, ceil(count / MAX_JOBS)), max(4, ceil(count / 2))))

    def case(self, values: Mapping[str, Any], name: str = "") -> Case:
        """Case of some values of the variables; without a name it is called by the values."""
        thickness, mass = self._thickness_and_mass(values)
        further = {
            variable: value
            for variable, value in values.items()
            if variable not in (THICKNESS, BODY_MASS) and not is_unchanged(value)
        }
        return Case(name or case_name(thickness, mass, further), thickness, mass, further)

    def _thickness_and_mass(self, values: Mapping[str, Any]) -> tuple[float, float]:
        """Thickness, mm, and body mass, kg, with some values of the variables."""
        settings = {
            "insert": self.insert.model_dump(mode="json"),
            "patient": self.patient.model_dump(mode="json"),
        }
        paths = {path for path, _ in _KNOWN.values()}
        changing = {
            name: variable
            for name, variable in self.variables.items()
            if not variable.settings or paths.intersection(variable.settings)
        }
        # Without validation, which is slow for many cases, where nothing else is needed.
        if all(paths.issuperset(variable.paths) for variable in changing.values()):
            settings = apply_values(settings, changing, values)
        else:
            settings = apply_values(self.model_dump(mode="json"), self.variables, values)
        return settings["insert"]["thickness_mm"], settings["patient"]["body_mass_kg"]

    def case_list(self) -> tuple[Case, ...]:
        """Cases of a factorial plan; ValueError for other plans."""
        if self.cases.plan != "factorial":
            raise ValueError(f"cases of plan {self.cases.plan} are not listed by the settings")
        levels = [variable.level_values for variable in self.variables.values()]
        return tuple(
            self.case(dict(zip(self.variables, values, strict=True))) for values in product(*levels)
        )

    def preflight_cases(self) -> tuple[Case, ...]:
        """Cases whose motion is tried on the bearing before a run."""
        if self.cases.plan == "factorial":
            return self.case_list()
        extremes = [
            self.case({name: value}, f"{name} {value}")
            for name, variable in self.variables.items()
            for value in variable.extremes
        ]
        return self.case({}), *extremes

    def case_label(self, values: Mapping[str, Any]) -> str:
        """Name of a case by its values."""
        return self.case(values).name

    def variants(self) -> list[tuple[Case, ...]]:
        """Cases that differ in thickness and mass only, one tuple per set of other values."""
        groups: dict[str, list[Case]] = {}
        for case in self.case_list():
            groups.setdefault(repr(case.overrides), []).append(case)
        return [tuple(cases) for cases in groups.values()]


class WearStudy(CaseStudy):
    """Pressures, wear and creep of every case."""

    model: Literal["wear"] = Field(description="Contact, wear and creep over a life.")
    has_coupled_contact: ClassVar[bool] = True
    has_material_yield: ClassVar[bool] = True
    has_lives: ClassVar[bool] = True

    @model_validator(mode="after")
    def _plastic_strain_has_one_cycle(self) -> WearStudy:
        """Refuse lives in which plastic strain would have to outlast its cycle."""
        material = self.simulation.material_yield
        if material is None:
            return self
        if self.wear != self.wear.without_updates():
            raise fault_at(
                ("wear", "blocks"),
                f"a surface that follows its wear (blocks: {self.wear.blocks}, mixing: "
                f"{self.wear.mixing}) with simulation.material_yield",
                "blocks: 1 and mixing: linear, as plastic strain is not carried to a worn surface",
                "Set wear.blocks to 1 and wear.mixing to linear, or material_yield to null.",
            )
        varied = any(PERMANENT_SHARE in variable.paths for variable in self.variables.values())
        if material.permanent_share > 0.0 or varied:
            self._refuse_other_successions()
        return self

    def _refuse_other_successions(self) -> None:
        """Refuse lives in which an activity, computed once, would continue on different inserts."""
        first: dict[str, tuple[str, str | None]] = {}
        for life, name, earlier in self.successions():
            other, before = first.setdefault(name, (life, earlier))
            if before == earlier:
                continue
            own, others = (f"after {name}" if name else "first" for name in (earlier, before))
            raise fault_at(
                ("wear", "lives", life, name),
                f"{name} {own} in life '{life}' and {others} in life '{other}', with "
                "simulation.material_yield.permanent_share above 0",
                "the same activities before it in all lives: it is computed once, on the insert "
                "that these left",
                "Name activities in the same order, compute such lives in studies of their own, or "
                "set permanent_share to 0.",
            )

    @property
    def comparison_table(self) -> str | None:
        """Table of a finished finite-element comparison that the page quotes."""
        return self.report.fe_comparison

    @property
    def constants_file(self) -> str | None:
        """File of the uncertain constants that the centre case is sampled over."""
        return self.report.spread.constants if self.report.spread.samples else None

    def batches(self) -> dict[str, tuple[Case, ...]]:
        """Cases by job: batch name (b000, b001, ...) to at most `job_size` cases.

        Cases of one batch differ in thickness and mass only.
        """
        parts: list[tuple[Case, ...]] = []
        size = self.job_size(len(self.case_list()))
        for cases in self.variants():
            parts += [cases[start : start + size] for start in range(0, len(cases), size)]
        return {f"b{number:03d}": part for number, part in enumerate(parts)}

    def cases_with_maps(self) -> list[str]:
        """Names of the cases whose maps are drawn and exported.

        All of a study of at most `MAX_MAPS` cases; of a larger one the corners and the centre of
        its first cases that differ in thickness and mass only.
        """
        cases = self.case_list()
        if len(cases) > MAX_MAPS:
            first = self.variants()[0]
            masses = len({case.body_mass for case in first})
            at = 0, masses - 1, len(first) // 2, len(first) - masses, len(first) - 1
            cases = tuple(first[number] for number in at)
        return list(dict.fromkeys(case.name for case in cases))
