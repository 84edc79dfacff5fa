"""A study computed in this process, without files of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import xarray as xr

from kneewear.activity.activity import Activity
from kneewear.analysis.tables import analyse_results
from kneewear.geometry.knee import KneeModel, assemble_knee
from kneewear.study.files import FileReader, model_files, plan_rows
from kneewear.study.inputs import CaseInputs, exact_knee
from kneewear.study.jobs import JobInputs, join_jobs
from kneewear.study.models import model_of
from kneewear.study.plans import plan_cases
from kneewear.study.run import run_cases
from kneewear.study.search import plan_designs, with_grid
from kneewear.study.study import Study


@dataclass(frozen=True)
class StudyRun:
    """Results of a study.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Tables by the names of their files in `results/<study>/tables/`.
    datasets : mapping of str to xarray.Dataset
        `damage` and the contact of each activity; of model press `cases`; else empty.
    """

    tables: Mapping[str, pd.DataFrame]
    datasets: Mapping[str, xr.Dataset]


def study_knee(study: Study, reader: FileReader) -> KneeModel:
    """Knee of a study, with distance tables where the study reads them."""
    shapes = reader.shapes(study)
    if not study.reads_distance_tables:
        return exact_knee(study, shapes)
    knee, _ = assemble_knee(
        study.implant, study.grid, study.table, meshes=shapes, coarse_grid=study.coarse_grid
    )
    return knee


def run_plan(study: Study, root: Path) -> StudyRun:
    """Results and analyses of a study whose cases have a row of results each.

    KneewearError if all cases fail.
    """
    reader = FileReader(root)
    if study.cases.plan == "fit":
        return StudyRun(_analysed(study, study.cases.solve(study).results), {})
    activities = {name: reader.activity(study, name) for name in study.simulated_activities()}
    exact = not study.reads_distance_tables
    inputs = CaseInputs(study, study_knee(study, reader), activities, exact=exact, reader=reader)
    if study.cases.plan == "search":
        return StudyRun(_analysed(study, _search(study, inputs, activities)), {})
    kept = model_of(study).collect(study, inputs)
    results = run_cases(study, plan_cases(study, plan_rows(study, root)), inputs, kept.add)
    datasets = {"cases": kept.total} if isinstance(kept.total, xr.Dataset) else {}
    return StudyRun(_analysed(study, results, datasets.get("cases")), datasets)


def _analysed(
    study: Study, results: pd.DataFrame, dataset: xr.Dataset | None = None
) -> dict[str, pd.DataFrame]:
    return {"results": results, **analyse_results(study, results, dataset)}


def _search(study: Study, inputs: CaseInputs, activities: Mapping[str, Activity]) -> pd.DataFrame:
    """Results of all generations, and of the front on the grid of the study."""
    results = pd.DataFrame()
    for number in (*range(study.cases.generations), None):  # type: ignore[union-attr]
        cases, searched = plan_designs(study, number, results)  # type: ignore[arg-type]
        knee = with_grid(searched, inputs.nominal_knee)
        of_generation = CaseInputs(searched, knee, activities, exact=True)
        results = pd.concat([results, run_cases(searched, cases, of_generation)])
    return results.reset_index(drop=True)


def run_jobs(study: Study, root: Path) -> StudyRun:
    """Tables of a model without cases."""
    reader = FileReader(root)
    model, files = model_of(study), model_files(study, root)
    if model.runs_in_process:
        return StudyRun(model.run(study, files), {})
    parts = model.list_jobs(study)
    needs_knee = any(part.knee for part in parts.values())
    names = study.simulated_activities() if needs_knee else ()
    inputs = JobInputs(
        knee=study_knee(study, reader) if needs_knee else None,
        activities={name: reader.activity(study, name) for name in names},
        activity=reader.activity,
        files=files,
    )
    return StudyRun(join_jobs([model.compute_job(study, name, inputs) for name in parts]), {})
