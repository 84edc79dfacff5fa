"""Jobs of studies of each kind: lives, plans of cases, searches, fits, and jobs of models."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from kneewear.analysis.tables import analysis_modules
from kneewear.report.declared import figure_modules
from kneewear.runs.lives import LivesChain
from kneewear.runs.workflow import Chain, JobStep, block_settings
from kneewear.study.files import case_files, count_cases, model_files, plan_file
from kneewear.study.models import model_of
from kneewear.study.search import search_settings
from kneewear.study.side_jobs import job_settings, list_chosen_jobs
from kneewear.study.study import Study

# Batch of the designs of a search that are computed in full, after its generations.
FRONT = "front"


class RowsChain(Chain):
    """Cases with a row of results each, and their analyses."""

    # Files that cases read themselves.
    case_files: Sequence[str] = ()
    # What cases keep besides, in files.
    kept: Sequence[str] = ()

    @property
    def rows(self) -> dict[str, list[str]]:
        """Files of results, or folders of jobs with them, as input of the analysis."""
        return {
            "results": [self.evaluated_files["results"].format(job=job) for job in self.evaluated]
        }

    @property
    def judged(self) -> dict[str, Any]:
        """Settings of analyses and figures: the report's where cases are judged by them."""
        study, analyses = self.study, self.study.analyses
        names = ["pressure_limit_mpa", "avg_pressure_limit_mpa"] if analyses.validity else []
        names += ["compare_with_published"] if analyses.materials else []
        computed, report = study.computed(), block_settings(study.report)
        return {
            "study": computed
            | {
                "analyses": block_settings(analyses),
                "data_folder": study.data_folder if self.drawn_files else ".",
                "report": computed["report"] | {name: report[name] for name in names},
            }
        }

    @property
    def drawn_files(self) -> Sequence[str]:
        """Files of designs that are drawn."""
        return self.case_files if self.study.draws_designs else ()

    @property
    def analysis(self) -> JobStep:
        """Tables of all analyses."""
        jobs = [self.folder(job) for job, step in self.variants.items() if step.tables]
        inputs = {"kept": self.kept, "jobs": jobs} | self.rows
        loaded = [*self.model.modules("outputs", "join"), *analysis_modules(self.study)]
        return JobStep("analysis.steps:analyse_plan", self.judged, inputs, self.drawn_files, loaded)

    @cached_property
    def drawn(self) -> Mapping[str, JobStep]:
        """Figures of all analyses."""
        knee = [self.knee] if self.kept and self.study.has_knee else []
        tables = [*self.paths(self.tables), *self.paths(self.copied)]
        jobs = [self.folder(job) for job, step in self.variants.items() if not step.tables]
        inputs = {
            "tables": tables,
            "kept": self.kept,
            "knee": knee,
            "jobs": jobs,
            "files": self.drawn_files,
        }
        return {
            "figures": JobStep(
                "report.plan_group:plot_plan",
                self.judged,
                inputs,
                self.drawn_files,
                [*self.model.modules("outputs", "join", "draw_cases"), *figure_modules("cases")],
            )
        }

    def batch(
        self,
        study: dict[str, Any],
        cases: list[int | None],
        inputs: Mapping[str, Any],
        generation: int | None = None,
    ) -> JobStep:
        """Job of some cases."""
        return JobStep(
            "study.evaluation:evaluate_batch",
            {"study": study, "cases": cases, "generation": generation},
            {**self.of_knee, **inputs},
            self.case_files,
            ["kneewear.study.datasets", *self.model.modules("compute", "tabulate", "collect")],
            memory=self.sizes.sample_mb,
            minutes=self.sizes.sample_minutes,
        )


class PlanChain(RowsChain):
    """Cases of any plan without maps."""

    has_plan = True
    job_pattern = "b[0-9]+"

    def __init__(self, study: Study, root: str) -> None:
        super().__init__(study, root)
        self.plan_files = plan_file(study, root)
        self.case_files = [*self.plan_files, *case_files(study, root)]
        self.kept = [self.evaluated_files["kept"][0].format(job=job) for job in self.evaluated]

    @property
    def evaluated_files(self) -> dict[str, Any]:
        """Results of a batch, and what its cases keep."""
        return {
            "results": f"{self.results}/cases/{{job}}.csv",
            "kept": [f"{self.results}/cases/{{job}}.nc"],
        }

    @property
    def _data(self) -> dict[str, Any]:
        """Folder where cases read files, as a setting."""
        return {"data_folder": self.study.data_folder if self.case_files else "."}

    @cached_property
    def evaluated(self) -> Mapping[str, JobStep]:
        """Batches of cases: the first case of each, the one after its last, and the step."""
        settings = self.study.computed() | self._data
        inputs = {"tables": [f"{self.results}/cases.csv"], "files": self.case_files}
        ranges = self.study.batch_ranges(count_cases(self.study, self.root))
        return {name: self.batch(settings, [*part, 1], inputs) for name, part in ranges.items()}

    @cached_property
    def variants(self) -> Mapping[str, JobStep]:
        """Jobs in addition to the cases."""
        loaded = self.model.modules("side_jobs", "surfaces")
        return {
            name: JobStep(
                "study.side_jobs:evaluate_job",
                {"study": job_settings(self.study, name) | self._data, "job": name},
                {**self.of_knee, "files": self.case_files},
                self.case_files,
                loaded,
                job.tables,
                job.optional,
                self.sizes.more(job.memory_mb),
                self.sizes.longer(job.minutes),
                job.category,
            )
            for name, job in list_chosen_jobs(self.study).items()
        }

    @property
    def data_files(self) -> list[str]:
        """Data files that are recorded with the results."""
        return sorted({*super().data_files, *self.case_files})


class SearchChain(RowsChain):
    """Generations of designs, their front in full, and the designs chosen from it."""

    def __init__(self, study: Any, root: str) -> None:
        super().__init__(study, root)
        self.generations = [f"g{number:03d}" for number in range(study.cases.generations)]
        self.designs = list(study.batch_ranges(study.cases.population))

    job_pattern = rf"(g[0-9]+|{FRONT})/b[0-9]+"

    @property
    def evaluated_files(self) -> dict[str, Any]:
        """Results of a part of a generation."""
        return {"results": f"{self.results}/search/{{job}}.csv", "kept": []}

    @cached_property
    def evaluated(self) -> Mapping[str, JobStep]:
        """Parts of all generations, and of the front.

        Each job plans its whole generation again from the results before it and computes its part:
        the same designs in every job, on any machine and after any interruption.
        """
        searched, parts, jobs = search_settings(self.study), len(self.designs), {}
        earlier: list[str] = []
        for number, generation in enumerate([*self.generations, FRONT]):
            full = generation == FRONT
            names = [f"{generation}/{batch}" for batch in self.designs]
            for first, name in enumerate(names):
                jobs[name] = self.batch(
                    self.study.computed() if full else searched,
                    [first, None, parts],
                    {"tables": list(earlier)},
                    None if full else number,
                )
            earlier += [self.evaluated_files["results"].format(job=name) for name in names]
        return jobs

    @cached_property
    def variants(self) -> Mapping[str, JobStep]:
        """The chosen designs in full, and the intervals of their wear, which analysis copies."""
        designs = {"front": [self.path("front")], "chosen": [self.path("chosen_designs")]}
        settings = {"study": self.study.computed()}
        job = partial(JobStep, settings=settings, memory=self.sizes.batch_mb)
        return {
            "chosen": job("report.chosen_designs:evaluate_chosen", inputs=self.of_knee | designs),
            "intervals": job(
                "analysis.design_intervals:evaluate_intervals",
                inputs=self.of_knee | self.rows,
                tables=("wear_intervals",),
                optional=True,
            ),
        }

    @cached_property
    def export(self) -> JobStep:
        """The knees of the chosen designs, and a study of each."""
        settings: dict[str, Any] = {"case": None, "cases": [], "study": block_settings(self.study)}
        inputs = {"jobs": [self.folder("chosen")], "chosen": [self.path("chosen_designs")]}
        return JobStep("study.designs:write_design", settings, inputs, memory=self.sizes.more(1000))

    @property
    def exported(self) -> dict[str, list[str]]:
        """Files of each design."""
        designs = [f"{self.results}/designs/{name}.yaml" for name in self.study.cases.chosen]
        return super().exported | {"designs": designs}

    @property
    def exported_folders(self) -> list[str]:
        """Folders of the exported knees."""
        return [f"{self.results}/geometry/{name}" for name in self.study.cases.chosen]


class FitChain(RowsChain):
    """Constants of the built-in implant and gait with which cells are as published."""

    # Processes that share the points of the search.
    threads = 16
    uses_knee = False

    @cached_property
    def evaluated(self) -> Mapping[str, JobStep]:
        """The fit."""
        defaults = os.path.relpath(f"{self.root}/config/defaults.yaml")
        return {
            "fit": JobStep(
                "study.evaluation:evaluate_fit",
                {"study": self.study.computed()},
                {"published": self.published, "defaults": [defaults]},
                loaded=[self.study.cases.solve.module],
                tables=("points",),
                memory=self.sizes.more(1000),
                minutes=self.sizes.longer(120),
            )
        }

    @property
    def rows(self) -> dict[str, list[str]]:
        """Folder of the fit."""
        return {"jobs": [self.folder("fit")]}

    @property
    def copied(self) -> dict[str, tuple[str, ...]]:
        """Points of the search."""
        return {"Results": tuple(self.evaluated["fit"].tables)}

    @property
    def copied_files(self) -> list[str]:
        """Settings to be looked through and copied over config/defaults.yaml."""
        return [f"{self.results}/defaults.yaml"]

    @property
    def reported(self) -> dict[str, Any]:
        """Input of the page but for figures and data files."""
        return {"tables": [*self.paths(self.tables), *self.paths(self.copied)]}


class JobsChain(Chain):
    """A model that is computed by jobs instead of cases."""

    def folder(self, job: str) -> str:
        """Folder of a job."""
        return f"{self.results}/{self.study.model}/{job}"

    @cached_property
    def jobs(self) -> Mapping[str, Any]:
        """Jobs of the model."""
        return list_chosen_jobs(self.study)

    @property
    def uses_knee(self) -> bool:
        """True if any job is computed from the knee of the study."""
        return any(job.knee for job in self.jobs.values())

    @property
    def uses_kernels(self) -> bool:
        """True if any job waits for the compiled kernels."""
        return any(job.kernels for job in self.jobs.values())

    @cached_property
    def evaluated(self) -> Mapping[str, JobStep]:
        """Jobs of the model."""
        curves = (path for named in self.activity_files.values() for path in named.values())
        data = sorted({*model_files(self.study, self.root).values(), *curves})
        study = self.study.computed() | {"data_folder": self.study.data_folder if data else "."}
        loaded = [
            *self.model.modules("list_jobs", "compute_job"),
            *self.study.loaded_packages,
            "kneewear.report.vtk",
        ]
        knee = {"knee": [self.knee], "activities": self.prepared}
        return {
            name: JobStep(
                "study.side_jobs:evaluate_job",
                {"study": study, "job": name},
                {
                    "earlier": list(map(self.folder, job.needs)),
                    "data": data,
                    **(knee if job.knee else {}),
                },
                data,
                loaded,
                job.tables,
                job.optional,
                self.sizes.more(job.memory_mb),
                self.sizes.longer(job.minutes),
            )
            for name, job in self.jobs.items()
        }

    @property
    def analysis(self) -> JobStep:
        """Tables of all jobs, those of one name below each other."""
        settings = {"tables": list(self.tables["Results"])}
        inputs = {"jobs": list(map(self.folder, self.evaluated))}
        return JobStep("analysis.steps:join_jobs", settings, inputs, minutes=self.sizes.longer(10))

    def path(self, table: str) -> str:
        """Path of a table; those that are only drawn are no tables of the study."""
        hidden = any(table in job.only_drawn for job in self.jobs.values())
        return self.folder(f"{table}.csv") if hidden else super().path(table)

    @property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """Names of the tables of all jobs."""
        names = (name for step in self.evaluated.values() for name in step.tables)
        return {"Results": tuple(dict.fromkeys(names))}

    @property
    def copied_files(self) -> list[str]:
        """Files of jobs that are results of the study."""
        return [self.folder(name) for job in self.jobs.values() for name in job.files]

    @cached_property
    def drawn(self) -> Mapping[str, JobStep]:
        """Figures of all jobs, found by name."""
        names = list(self.tables["Results"])
        settings = {"model": self.study.model, "tables": names}
        inputs = {
            "tables": list(map(self.path, names)),
            "jobs": list(map(self.folder, self.evaluated)),
        }
        loaded = self.model.modules("draw", "view")
        return {
            "figures": JobStep(
                "report.jobs_group:plot_jobs",
                settings,
                inputs,
                (),
                loaded,
                minutes=self.sizes.longer(10),
            )
        }

    @property
    def reported(self) -> dict[str, Any]:
        """Input of the page but for figures and data files."""
        found = super().reported
        shown = [path for path in found["tables"] if not path.startswith(self.folder(""))]
        return found | {"tables": shown, "activities": self.prepared if self.uses_knee else []}


def chain_of(study: Study, root: str) -> Chain:
    """Jobs of a study; KneewearError as `measured_activities` and `uncertain_constants`."""
    plans = {"search": SearchChain, "fit": FitChain}
    if study.cases.plan in plans:
        return plans[study.cases.plan](study, root)
    if not model_of(study).has_cases:
        return JobsChain(study, root)
    return (LivesChain if study.has_maps else PlanChain)(study, root)
