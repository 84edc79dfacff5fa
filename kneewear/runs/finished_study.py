"""A finished study, read from its folder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from kneewear.analysis.comparison import FinishedStudy
from kneewear.base.findings import Reported
from kneewear.base.renamed_keys import present_settings
from kneewear.base.schemas import CONTACT, DAMAGE
from kneewear.base.types import STUDY_NAME
from kneewear.errors import DamagedFileError, InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.io.documents import load_computed, load_record
from kneewear.study import netcdf
from kneewear.study.settings import validate_study
from kneewear.study.study import WearStudy

# Not in every study.
SAMPLES = "tables/constant_samples.csv"
RECORD, KNEE, WEAR = "provenance.json", "geometry/knee.nc", "wear/b*.nc"
SUMMARY = "report/summary.json"


def study_folders(names: Sequence[str]) -> list[Path]:
    """Folders of studies by their names; InputDataError for none, or one that leaves `results/`."""
    if not names:
        expected, remedy = "names of finished studies", "Name some, the reference first."
        raise InputDataError("STUDIES", "no name", expected, remedy, check="compare.studies")
    for name in names:
        if not STUDY_NAME.fullmatch(name):
            raise InputDataError(
                f"STUDIES, {name}", "a name with other signs", "letters, digits, _ and -",
                "Name studies as in their settings, without results/.", check="compare.studies",
            )  # fmt: skip
    return [Path("results", name) for name in names]


def finished_files(folder: str | Path) -> list[Path]:
    """Files of a finished study of kind wear that `load_finished` reads.

    Raises InputDataError where there are none.
    """
    folder = Path(folder)
    damage = sorted(folder.glob(WEAR))
    histories = [file for path in damage for file in _histories(folder, path)]
    files = [folder / RECORD, folder / KNEE, *damage, *histories]
    if not histories or not all(file.is_file() for file in files):
        found = "no finished wear study" if folder.is_dir() else "no such folder"
        expected = "the folder of a finished study of kind wear, results/<study>"
        raise InputDataError(folder, found, expected, "Run the study (make study), or correct it.")
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
    samples, summary = folder / SAMPLES, folder / SUMMARY
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
        findings=_findings_of(summary) if summary.is_file() else (),
    )


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

    Empty where there is neither wear nor contact.
    """
    folders = [folder / "wear", *sorted(folder.glob("simulation/*"))]
    found = {one: {path.stem for path in one.glob("b*.nc")} for one in folders if one.is_dir()}
    names = set().union(*found.values())
    if names and (folder / RECORD).is_file():
        # Studies of another version have settings of their own.
        with suppress(InputDataError):
            study = validate_study(_settings_of(folder / RECORD), str(folder / RECORD))
            names |= set(study.batches())
    return [
        f"{one.relative_to(folder)}/{name}.nc"
        for one, known in found.items()
        for name in sorted(names - known)
        if known
    ]


def _histories(folder: Path, damage: Path) -> list[Path]:
    """Contact histories of the batch of a file of damage, one for each activity."""
    return sorted(folder.glob(f"simulation/*/{damage.name}"))
