"""A finished study, read from its folder."""

from __future__ import annotations

from pathlib import Path

from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.io import netcdf
from kneewear.io.documents import load_computed, load_json
from kneewear.settings.base import WearStudy
from kneewear.settings.study import load_study
from kneewear.simulation.history import ContactHistory
from kneewear.studies.comparison import FinishedStudy
from kneewear.wear.records import DamageMaps

# Not in every study.
SAMPLES = "tables/constant_samples.csv"
RECORD, KNEE, DAMAGE = "provenance.json", "geometry/knee.nc", "wear/b*.nc"


def finished_files(folder: str | Path) -> list[Path]:
    """Files of a finished study of kind wear that `load_finished` reads.

    Raises InputDataError where there are none.
    """
    folder = Path(folder)
    damage = sorted(folder.glob(DAMAGE))
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
    provenance = load_json(record)
    try:
        study = load_study(provenance["settings"], str(record))
    except InputDataError as error:
        found, expected = "settings of another version", "those of this one"
        raise InputDataError(record, found, expected, "Run the study again.") from error
    if not isinstance(study, WearStudy):
        raise InputDataError(record, f"kind: {study.kind}", "kind: wear", "Name another study.")
    missing = sorted(set(study.batches()) - {path.stem for path in damage})
    if missing:
        found = f"no wear/{missing[0]}.nc" + (f", {len(missing)} missing" if missing[1:] else "")
        raise InputDataError(folder, found, "the wear of every case", "Run the study again.")
    samples = folder / SAMPLES
    maps = list(netcdf.load_all(DamageMaps, damage))
    # In the order of the maps, without activities that the study had before.
    cycles = [
        [folder / "simulation" / name / path.name for name in one.activities]
        for one, path in zip(maps, damage, strict=True)
    ]
    return FinishedStudy(
        settings=study,
        grid=netcdf.load(ElementGrid, knee, "grid"),
        maps=maps,
        histories=[
            list(netcdf.load_all(ContactHistory, files, leave_out=("pressure", "slip")))
            for files in cycles
        ],
        samples=load_computed([str(samples)] if samples.is_file() else []).get(samples.stem),
        warnings=tuple((log, message) for log, message in provenance.get("warnings", ())),
    )


def _histories(folder: Path, damage: Path) -> list[Path]:
    """Contact histories of the batch of a file of damage, one for each activity."""
    return sorted(folder.glob(f"simulation/*/{damage.name}"))
