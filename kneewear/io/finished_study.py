"""A finished study, read from its folder."""

from __future__ import annotations

from pathlib import Path

from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.io import netcdf
from kneewear.io.documents import load_json
from kneewear.settings.base import WearStudy
from kneewear.settings.study import load_study
from kneewear.studies.comparison import FinishedStudy
from kneewear.wear.records import CycleRecord, DamageMaps

RECORD, KNEE, DAMAGE = "provenance.json", "geometry/knee.nc", "wear/b*.nc"


def finished_files(folder: str | Path) -> list[Path]:
    """Files of a finished study of kind wear that `load_finished` reads.

    Raises InputDataError where there are none.
    """
    folder = Path(folder)
    damage = sorted(folder.glob(DAMAGE))
    cycles = [folder / "wear" / "cycles" / path.name for path in damage]
    files = [folder / RECORD, folder / KNEE, *damage, *cycles]
    if not damage or not all(file.is_file() for file in files):
        found = "no finished wear study" if folder.is_dir() else "no such folder"
        expected = "the folder of a finished study of kind wear, results/<study>"
        raise InputDataError(folder, found, expected, "Run the study (make study), or correct it.")
    return files


def load_finished(folder: str | Path) -> FinishedStudy:
    """Settings, grid, damage and cycles of a study; InputDataError as `finished_files`."""
    record, knee, *results = map(str, finished_files(folder))
    count = len(results) // 2
    try:
        study = load_study(load_json(record)["settings"], record)
    except InputDataError as error:
        found, expected = "settings of another version", "those of this one"
        raise InputDataError(record, found, expected, "Run the study again.") from error
    if not isinstance(study, WearStudy):
        raise InputDataError(record, f"kind: {study.kind}", "kind: wear", "Name another study.")
    return FinishedStudy(
        settings=study,
        grid=netcdf.load(ElementGrid, knee, "grid"),
        maps=list(netcdf.load_all(DamageMaps, results[:count])),
        cycles=list(netcdf.load_all(CycleRecord, results[count:])),
    )
