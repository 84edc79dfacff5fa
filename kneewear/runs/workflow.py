"""Contents of the rule files: the study of a run, its jobs and their files."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from os.path import relpath
from pathlib import Path
from typing import Any

import kneewear
from kneewear.analysis.tables import table_names
from kneewear.base.files import read_settings_file, unfiled_settings
from kneewear.base.findings import Reported, gather
from kneewear.base.kernel_cache import kernel_folder
from kneewear.base.registry import declared
from kneewear.base.types import Settings
from kneewear.errors import InputDataError
from kneewear.io.cad import cad_is_installed
from kneewear.io.result_files import check_writable, file_hash
from kneewear.runs.launch import OWN_SETTINGS
from kneewear.runs.provenance import source_fingerprint
from kneewear.study.files import (
    activity_files,
    check_inputs,
    design_studies,
    mesh_files,
    model_files,
    pose_files,
    simulator_tests,
)
from kneewear.study.job_sizes import JobSizes
from kneewear.study.models import Lazy, model_of
from kneewear.study.settings import merge_settings, refuse_alone, validate_study
from kneewear.study.study import Study
from kneewear.study.tried_motions import TriedMotions

# Memory or minutes of a job, from its wildcards and the number of the attempt.
Size = Callable[[Any, int], int]
Paths = Sequence[str]
_BRACES = re.compile(r"\{([^{}]*)\}")
VTK_PARTS = "insert", "insert_net", "femoral", "femoral_net", "grid"


def study_of_run(
    own: Mapping[str, Any],
    files: Sequence[str | Path],
    root: str,
    check_files: bool,
    typed: Mapping[str, Any] | None = None,
) -> tuple[Study, tuple[str, ...]]:
    """Study of a run of the workflow, and notes for the user.

    `files` and `typed`, the settings of the option `--config`, override the default study; without
    files it is the study of `OWN_SETTINGS`. `own` are the settings of another workflow, used
    instead. `check_files` also checks the data files and the folder of the results. Raises
    InputDataError and OutputFileError.
    """
    default = relpath(f"{root}/config/defaults.yaml")
    if not files and (typed or not own):
        files = [f"{root}/{OWN_SETTINGS}"]
    read = [read_settings_file(path) for path in (default, *map(relpath, files))]
    if typed:
        read.append(unfiled_settings(typed, "option --config of the command line"))
    for earlier, file in enumerate(read[1:]):
        refuse_alone(file.content, file.path, earlier)
    # Not as Snakemake merges files: some blocks are replaced as a whole.
    further = [file.content for file in read[1:]] or [dict(own)]
    settings = reduce(merge_settings, further, read[0].content)
    study = validate_study(settings, " + ".join(file.path for file in read), read)
    notes: tuple[str, ...] = ()
    if check_files:
        findings = [finding for file in read for finding in file.findings]
        findings += check_inputs(study, root)
        notes = tuple(one.text() for one in gather(map(Reported, findings)))
        check_folder(Path.cwd())
        check_writable(f"results/{study.study}")
    return study, notes


def check_folder(folder: Path) -> None:
    """Refuse a working directory whose path Snakemake cannot read.

    It takes braces in the path for a wildcard, and stops where no name is in them. Raises
    InputDataError.
    """
    if not all(name.isidentifier() for name in _BRACES.findall(str(folder))):
        expected = "a folder without braces, or with a name of letters in them"
        raise InputDataError(folder, "braces in its path", expected, "Rename or move the folder.")


def input_digests(files: Iterable[str]) -> list[str]:
    """SHA-256 of data files, in their order: a rule parameter, so that a changed one is noticed.

    Snakemake compares times, and a file that replaces another one may be older. It leaves
    parameters that are functions of its `input` out of the comparison.
    """
    return [file_hash(file) if Path(file).is_file() else "" for file in files]


def block_settings(block: Settings) -> dict[str, Any]:
    """Settings of a block as plain builtins, which Snakemake can compare."""
    return block.model_dump(mode="json")


def kernel_marker(root: str) -> str:
    """Name of the file that stands for compiled kernels.

    It contains all that Snakemake compares: the code, the environment, and the script and its time.
    """
    script = Path(root, "scripts/compile_kernels.py")
    digest = hashlib.sha256(source_fingerprint("compile_kernels", root).encode())
    digest.update(script.read_bytes() + str(script.stat().st_mtime_ns).encode())
    digest.update(Path(root, "workflow/envs/kneewear.yaml").read_bytes())
    return f"{kernel_folder().name}_{digest.hexdigest()[:12]}"


@dataclass(frozen=True)
class JobStep:
    """Step of a job: its function and its parameters.

    Parameters
    ----------
    name : str
        Function that the script of the rule calls, "module:attribute" below the package.
    settings : mapping
        Its settings, plain builtins.
    inputs : mapping of str to sequence of str
        Input files by the names of their lists.
    files : sequence of str
        Data files, whose content counts.
    loaded : sequence of str
        Further modules that it loads by name.
    tables : sequence of str
        Tables that it writes into its folder.
    optional : bool
        Whether a job that fails leaves the study complete without these tables.
    memory, minutes : callable
        Size of the job.
    category : str
        Category of its tables.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Paths] = field(default_factory=dict)
    files: Paths = ()
    loaded: Sequence[str] = ()
    tables: Sequence[str] = ()
    optional: bool = False
    memory: Size = lambda wildcards, attempt: 1500 * attempt
    minutes: Size = lambda wildcards, attempt: 15 * attempt
    category: str = "Verification"

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules that the script of the rule loads by name."""
        return (Lazy(self.name).module, *self.loaded)

    def memory_of(self, wildcards: Any, attempt: int, threads: int) -> int:
        """Memory of a job that may start processes, MB."""
        return self.memory(wildcards, attempt) + (500 * threads if threads > 1 else 0)


class Chain(TriedMotions, ABC):
    """Jobs of a study and their files, by rules.

    Parameters
    ----------
    study : Study
        Settings.
    root : str
        Checkout, relative to the working directory.
    """

    # Folder below that of the results for the figures of a group.
    figures = "{group}"
    # Whether cases have maps of damage (rules/lives.smk), or rows of a plan (rules/plan.smk).
    has_lives = has_plan = False
    # Processes of a job of evaluate_cases.
    threads = 1

    def __init__(self, study: Study, root: str) -> None:
        self.study, self.root, self.model = study, root, model_of(study)
        self.sizes = JobSizes(study, root)
        self.results = f"results/{study.study}"
        self.knee = f"{self.results}/geometry/knee.nc"
        self.meshes = mesh_files(study, root)
        blocks = study.simulated_activities()
        self.activities = list(blocks)
        # Motions whose positions refer to the dwell pose of the components follow from contact.
        self.at_dwell_pose = [
            name for name, block in blocks.items() if block.zero.refers_to_dwell_pose
        ]
        self.activity_files = {name: activity_files(study, name, root) for name in blocks}
        self.prepared = [f"{self.results}/activity/{name}.nc" for name in blocks]
        self.tests = simulator_tests(study, root)
        # Printed results; only comparison and calibration may read them.
        folder = Path(relpath(Path(kneewear.__file__).parent), "evidence/published")
        self.published = sorted(map(str, folder.glob("*.csv")))
        self.measured: list[dict[str, Any]] = []

    def source(self, script: str, step: JobStep) -> str:
        """Fingerprint of the code of a job."""
        return source_fingerprint(script, self.root, step.modules)

    def dwell_pose(self, activity: str) -> dict[str, Any] | None:
        """Settings of the dwell pose of an activity; None if its positions do not refer to it."""
        return block_settings(self.study.simulation) if activity in self.at_dwell_pose else None

    def dwell_pose_modules(self, activity: str) -> list[str]:
        """Modules that find the dwell pose."""
        return ["kneewear.motion.dwell_pose"] if activity in self.at_dwell_pose else []

    def side_tables(self, job: str) -> list[str]:
        """Tables of a job that never stops the study."""
        step = self.variants.get(job) or self.evaluated[job]
        return [f"{self.folder(job)}/{name}.csv" for name in step.tables if step.optional]

    @property
    def uses_knee(self) -> bool:
        """True if any job is computed from the knee of the study."""
        return self.study.has_knee

    @property
    def uses_kernels(self) -> bool:
        """True if any job of evaluate_cases waits for the compiled kernels."""
        return True

    @property
    def of_knee(self) -> dict[str, Paths]:
        """Knee, where there is one, and activities as input of a job."""
        return {"knee": [self.knee] if self.study.has_knee else [], "activities": self.prepared}

    @property
    @abstractmethod
    def evaluated(self) -> Mapping[str, JobStep]:
        """Jobs of evaluate_cases."""

    @property
    def evaluated_files(self) -> dict[str, Any]:
        """Their output: a `folder`, or `results` and what cases `kept`."""
        return {"folder": self.folder("{job}")}

    def folder(self, job: str) -> str:
        """Folder of a job that writes tables."""
        return f"{self.results}/evaluated/{job}"

    @property
    def job_pattern(self) -> str:
        """Regular expression for the names of the jobs of evaluate_cases."""
        return "|".join(map(re.escape, self.evaluated))

    @cached_property
    def variants(self) -> Mapping[str, JobStep]:
        """Jobs in addition to those of all cases, in folders of their own."""
        return {}

    @property
    @abstractmethod
    def analysis(self) -> JobStep:
        """Step of the rule analyse_cases."""

    @property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """Names of the tables of the study that analyse_cases computes, by category."""
        return {"Results": (*table_names(self.study), "results")}

    @property
    def copied(self) -> dict[str, tuple[str, ...]]:
        """Names of the tables that other jobs have written, by category."""
        steps = self.variants.values()
        return {
            category: tuple(
                name for step in steps if step.category == category for name in step.tables
            )
            for category in dict.fromkeys(step.category for step in steps)
        }

    @property
    def copied_files(self) -> list[str]:
        """Files of the study that other jobs have written."""
        return []

    def paths(self, tables: Mapping[str, Iterable[str]]) -> list[str]:
        """Paths of tables, which are given by category."""
        return [self.path(name) for names in tables.values() for name in names]

    def path(self, table: str) -> str:
        """Path of a table."""
        return f"{self.results}/tables/{table}.csv"

    @property
    @abstractmethod
    def drawn(self) -> Mapping[str, JobStep]:
        """Jobs of plot_figures by group."""

    @property
    def figure_folders(self) -> list[str]:
        """Folders of the figures of all groups."""
        return [f"{self.results}/{self.figures.format(group=group)}" for group in self.drawn]

    @cached_property
    def export(self) -> JobStep:
        """Parameters of export_files; `settings` are the cases with maps and their centre."""
        return JobStep(
            "report.vtk:save_geometry_vtk",
            {"case": None, "cases": []},
            {"knee": [self.knee]},
            memory=self.sizes.more(1000),
        )

    @property
    def exported(self) -> dict[str, list[str]]:
        """Files that export_files writes."""
        folders = self.exported_folders
        vtk = [f"{folder}/vtk/{part}.vtp" for folder in folders for part in VTK_PARTS]
        # Only where the optional extra `cad` is installed and can be loaded.
        return {
            "vtk": vtk,
            "step": [f"{one}/surfaces.step" for one in folders if cad_is_installed()],
        }

    @property
    def exported_folders(self) -> list[str]:
        """Folders of the exported knees."""
        return [f"{self.results}/geometry"]

    @property
    def reported(self) -> dict[str, Paths]:
        """Input of the page but for figures and data files."""
        quality = [f"{self.results}/geometry/fit_quality.csv"] if self.uses_knee else []
        tables = [*self.paths(self.tables), *self.paths(self.copied), *quality]
        return {"tables": tables, "activities": self.prepared, "signs": self.placements}

    @property
    def exported_maps(self) -> dict[str, list[str]]:
        """Folders of maps that export_files writes."""
        return {}

    @property
    def targets(self) -> list[str]:
        """Further results that a run asks for beside the page."""
        return []

    @property
    def page_modules(self) -> list[str]:
        """Modules of derived tables, which pages find by name."""
        return sorted({one.module for one in declared("derived").values()})

    @property
    def data_files(self) -> list[str]:
        """Data files that are recorded with the results."""
        study, root = self.study, self.root
        designs = design_studies(study).values()
        return sorted(
            {
                *(path for one in designs for path in mesh_files(one, root).values()),
                *pose_files(study, root),
                *model_files(study, root).values(),
                *self.tests.values(),
                *(path for named in self.activity_files.values() for path in named.values()),
                *(path for one in self.measured for path in one["files"].values()),
            }
        )
