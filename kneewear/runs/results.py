"""Results of a study: read from the folder of a finished one, or computed in this process."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pandas as pd
import xarray as xr

from kneewear.activity.activity import Activity
from kneewear.analysis.comparison import FinishedStudy
from kneewear.analysis.tables import analyse_results
from kneewear.base.findings import Reported
from kneewear.base.renamed_keys import present_settings
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.base.types import STUDY_NAME
from kneewear.errors import DamagedFileError, InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.knee import KneeModel, assemble_knee
from kneewear.io.documents import load_computed, load_record
from kneewear.io.result_files import refuse_irregular
from kneewear.study import netcdf
from kneewear.study.files import FileReader, model_files, plan_rows
from kneewear.study.inputs import CaseInputs, exact_knee
from kneewear.study.jobs import JobInputs, join_jobs
from kneewear.study.models import model_of
from kneewear.study.plans import plan_cases
from kneewear.study.run import run_cases
from kneewear.study.search import plan_designs, with_grid
from kneewear.study.settings import validate_study
from kneewear.study.study import Study, WearStudy

# Not in every study.
SAMPLES = "tables/constant_samples.csv"
DRAWS = "tables/wear_draws.csv"
RECORD = "provenance.json"
KNEE = "geometry/knee.nc"
WEAR = "wear/b*.nc"
SUMMARY = "report/summary.json"


def study_folders(names: Sequence[str]) -> list[Path]:
    """Folders of finished studies, by their names or as folders.

    InputDataError for none, or for a name that is no folder and would leave `results/`.
    """
    if not names:
        expected, remedy = "names of finished studies", "Name some, the reference first."
        raise InputDataError("STUDIES", "no name", expected, remedy, check="compare.studies")
    for name in names:
        if not STUDY_NAME.fullmatch(name) and not Path(name).is_dir():
            raise InputDataError(
                f"STUDIES, {name}",
                "no such folder, and a name with other signs",
                "letters, digits, _ and -",
                "Name studies as in their settings, or by the path of their folder.",
                check="compare.studies",
            )
    return [Path("results", name) if STUDY_NAME.fullmatch(name) else Path(name) for name in names]


def distinct_labels(folders: Sequence[Path]) -> list[str]:
    """Names of finished studies by their folders, with those above where names are the same."""
    parts = [[part for part in folder.resolve().parts if part != "results"] for folder in folders]
    for size in range(1, max(map(len, parts)) + 1):
        labels = ["_".join(names[-size:]) for names in parts]
        if len(set(labels)) == len(labels):
            break
    return [re.sub(r"[^\w-]+", "_", label) for label in labels]


def load_studies(folders: Sequence[Path]) -> list[FinishedStudy]:
    """Finished studies by their folders (`load_finished`), which tell equal names apart."""
    studies = [load_finished(folder) for folder in folders]
    if len({study.name for study in studies}) == len(studies):
        return studies
    labels = distinct_labels(folders)
    return [replace(study, label=label) for study, label in zip(studies, labels, strict=True)]


def finished_files(folder: str | Path) -> list[Path]:
    """Files of a finished study of model wear that `load_finished` reads.

    Raises InputDataError where there are none, and DamagedFileError of pipes and devices.
    """
    folder = Path(folder)
    damage = sorted(folder.glob(WEAR))
    histories = [file for path in damage for file in _histories(folder, path)]
    files = [folder / RECORD, folder / KNEE, *damage, *histories]
    if not histories or not all(file.exists() for file in files):
        found = "no finished wear study" if folder.is_dir() else "no such folder"
        expected = "the folder of a finished study of model wear, results/<study>"
        raise InputDataError(folder, found, expected, "Run the study (make study), or correct it.")
    for file in files:
        refuse_irregular(file)
    return files


def load_finished(folder: str | Path) -> FinishedStudy:
    """Settings, grid, damage and cycles of a study; InputDataError as `finished_files`."""
    folder = Path(folder)
    record, knee, *results = finished_files(folder)
    damage = [path for path in results if path.parent.name == "wear"]
    try:
        study = validate_study(_settings_of(record), str(record))
    except InputDataError as error:
        found, expected = "settings of another version", "those of this one"
        raise InputDataError(record, found, expected, "Run the study again.") from error
    if not study.has_lives:
        raise InputDataError(record, f"model: {study.model}", "model: wear", "Name another study.")
    missing = sorted(set(study.batches()) - {path.stem for path in damage})
    if missing:
        found = f"no wear/{missing[0]}.nc" + (f", {len(missing)} missing" if missing[1:] else "")
        raise InputDataError(folder, found, "the wear of every case", "Run the study again.")
    check_batches(results, study)
    samples, draws, summary = folder / SAMPLES, folder / DRAWS, folder / SUMMARY
    maps = list(netcdf.load_all(DAMAGE, damage))
    # In the order of the maps, without activities that the study had before.
    cycles = [
        [folder / "simulation" / name / path.name for name in one["activity"].values.tolist()]
        for one, path in zip(maps, damage, strict=True)
    ]
    return FinishedStudy(
        settings=cast("WearStudy", study),
        grid=netcdf.load(ElementGrid, knee, "grid"),
        maps=maps,
        histories=[
            list(netcdf.load_all(CONTACT, files, leave_out=("pressure", "slip")))
            for files in cycles
        ],
        samples=load_computed([str(samples)] if samples.is_file() else []).get(samples.stem),
        draws=load_computed([str(draws)] if draws.is_file() else []).get(draws.stem),
        findings=_findings_of(summary) if summary.is_file() else (),
        digests=load_record(record).get("inputs", {}),
    )


def check_batches(files: Iterable[Path], study: Study) -> None:
    """Refuse files of wear and contact with other cases than their batch.

    DamagedFileError for the first, also if its cases cannot be read.
    """
    batches = {name: {case.name for case in cases} for name, cases in study.batches().items()}
    for path in files:
        try:
            with xr.open_dataset(path, engine="h5netcdf", cache=False) as dataset:
                found = set(dataset["case"].values.tolist())
        except (OSError, ValueError, KeyError) as error:
            raise DamagedFileError(path, str(error), "a NetCDF file with cases") from error
        if others := sorted(found - batches.get(path.stem, found)):
            raise DamagedFileError(path, f"case {others[0]}", f"the cases of batch {path.stem}")


def _settings_of(record: Path) -> dict[str, Any]:
    """Settings in the record of a study by their present names; DamagedFileError without any."""
    settings = load_record(record).get("settings")
    if not isinstance(settings, dict):
        raise DamagedFileError(record, "no settings", "the record of a study", "key settings")
    return present_settings(settings, str(record))


def _findings_of(summary: Path) -> tuple[Reported, ...]:
    """Findings in the summary of a study; DamagedFileError where they are of another kind."""
    try:
        return tuple(map(Reported.of, load_record(summary)["findings"]))
    except (KeyError, TypeError) as error:
        found = f"findings without {error}"
        raise DamagedFileError(summary, found, "the summary of a study", "key findings") from error


def missing_batches(folder: Path) -> list[str]:
    """Files of wear and contact that a study in a folder lacks, by its settings or other files.

    Empty where there is neither wear nor contact. Raises as `check_batches`.
    """
    folders = [folder / "wear", *sorted(folder.glob("simulation/*"))]
    found = {one: {path.stem for path in one.glob("b*.nc")} for one in folders if one.is_dir()}
    names = set().union(*found.values())
    study = None
    if names and (folder / RECORD).is_file():
        # Studies of another version have settings of their own.
        with suppress(InputDataError):
            study = validate_study(_settings_of(folder / RECORD), str(folder / RECORD))
    if study is not None:
        names |= set(study.batches())
        check_batches((path for one in found for path in sorted(one.glob("b*.nc"))), study)
    return [
        f"{one.relative_to(folder)}/{name}.nc"
        for one, known in found.items()
        for name in sorted(names - known)
        if known
    ]


def _histories(folder: Path, damage: Path) -> list[Path]:
    """Contact histories of the batch of a file of damage, one for each activity."""
    return sorted(folder.glob(f"simulation/*/{damage.name}"))


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
