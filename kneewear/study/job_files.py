"""Files that a job of the workflow is given, read when they are asked for, and what it returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activities
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import load_table, save_json, save_table, save_text
from kneewear.study import netcdf
from kneewear.study.models import Lazy

# Results name the class of studies, which few jobs need.
if TYPE_CHECKING:
    import pandas as pd

    from kneewear.study.jobs import JobResult

# Name of the results of a batch of cases among the tables of its job.
RESULTS = "results"


class JobFiles:
    """Input of a job by the names of its lists: paths, and what is in them.

    Parameters
    ----------
    files : mapping of str to str or iterable of str
        Paths by the names of the lists.
    root : str
        Checkout, where data files are looked for.
    source : str
        Fingerprint of the code of the job.
    folder : str, optional
        Folder that the job writes.
    threads : int
        Processes that the job may start.
    """

    def __init__(
        self,
        files: Mapping[str, str | Iterable[str]],
        root: str = ".",
        source: str = "",
        folder: str | None = None,
        threads: int = 1,
    ) -> None:
        self._files = {
            name: [paths] if isinstance(paths, str) else list(paths)
            for name, paths in files.items()
        }
        self.root = root
        self.source = source
        self.folder = None if folder is None else Path(folder)
        self.threads = threads

    def paths(self, name: str) -> list[str]:
        """Paths of a list; none where the job is given no such list."""
        return self._files.get(name, [])

    def tables(self, name: str) -> list[pd.DataFrame]:
        """Tables of a list, in its order."""
        return list(map(load_table, self.paths(name)))

    def inside(self, name: str) -> dict[str, Path]:
        """Files in the folders of a list, by their names with endings."""
        return {file.name: file for folder in self.paths(name) for file in Path(folder).iterdir()}

    @cached_property
    def knee(self) -> KneeModel | None:
        """Knee of the study; None where the job is given none."""
        return next((netcdf.load(KneeModel, path) for path in self.paths("knee")), None)

    @property
    def the_knee(self) -> KneeModel:
        """Knee of the study; TypeError where there is none."""
        if self.knee is None:
            raise TypeError("a job that is given no knee")
        return self.knee

    def grid(self) -> ElementGrid:
        """Elements of the knee, without the rest of it."""
        grid: ElementGrid = netcdf.load(ElementGrid, self.paths("knee")[0], "grid")
        return grid

    @cached_property
    def activities(self) -> dict[str, Activity]:
        """Activities by name."""
        loaded: Iterator[Activity] = netcdf.load_all(Activity, self.paths("activities"))
        return {activity.name: activity for activity in loaded}

    def rebuilt_activities(self, settings: Mapping[str, Any]) -> dict[str, Activity]:
        """Activities, those of some settings rebuilt as cases change them."""
        return dict(rebuild_activities(list(self.activities.values()), settings))


def save_result(result: JobResult, output: Mapping[str, Any]) -> None:
    """Write the result of a job: to a `folder`, or the files `results` and `kept` of a batch."""
    if "folder" not in output:
        save_table(result.tables[RESULTS], output[RESULTS])
        for path in output["kept"]:
            Lazy("study.datasets:save_kept")(result.kept, path)
        return
    folder = Path(output["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in result.tables.items():
        save_table(table, folder / f"{name}.csv")
    for name, record in result.records.items():
        save_json(record, folder / f"{name}.json")
    for name, text in result.texts.items():
        save_text(text, folder / name)
    for name, knee in result.knees.items():
        netcdf.save(knee, folder / f"{name}.nc")
    if result.solids:
        Lazy("report.vtk:save_solids_vtk")(result.solids, folder / "vtk", result.left)
