"""Jobs that write tables: those of models without cases, and those in addition to cases.

The record of a model (:class:`kneewear.study.models.Model`) names its functions

- ``list_jobs(study)``: jobs by name, with their tables and what each needs;
- ``compute_job(study, name, inputs)``: the result of a job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kneewear.study.study import Study

# Rule files need the names of jobs, nothing of what these compute with.
if TYPE_CHECKING:
    import pandas as pd

    from kneewear.activity.activity import Activity
    from kneewear.geometry.knee import KneeModel
    from kneewear.study.inputs import Reader


@dataclass(frozen=True)
class Job:
    """Tables of a job, and what it needs.

    Parameters
    ----------
    tables : tuple of str
        Names of its tables.
    memory_mb : int
        Memory, MB.
    minutes : int
        Run time, min.
    knee : bool
        Whether it needs the knee and the activities of the study.
    optional : bool
        Whether a job that fails leaves the study complete without its tables.
    kernels : bool
        Whether it waits for the compiled kernels.
    needs : tuple of str
        Jobs that are computed before, whose folders are beside its own.
    files : tuple of str
        Names of files in its folder that are results of the study.
    only_drawn : tuple of str
        Names of those of its tables that are for figures only.
    category : str
        Category of its tables in a study with cases.
    """

    tables: tuple[str, ...]
    memory_mb: int
    minutes: int
    knee: bool = True
    optional: bool = False
    kernels: bool = True
    needs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    only_drawn: tuple[str, ...] = ()
    category: str = "Verification"


@dataclass(frozen=True)
class JobInputs:
    """Inputs of a job.

    Parameters
    ----------
    knee : KneeModel or None
        Knee of the study, where the job needs one.
    activities : mapping of str to Activity
        Activities of the study, where the job needs them.
    activity : callable
        Activity of a study by name, read again, for other numbers of frames.
    files : mapping of str to str
        Data files of the model by name.
    folder : Path or None
        Folder of the job's results; what outlasts a killed job is beside it. None where results
        are not written.
    source : str
        Fingerprint of the code.
    reader : Reader, optional
        Reads the files of a case.
    """

    knee: KneeModel | None
    activities: Mapping[str, Activity]
    activity: Callable[[Study, str], Activity]
    files: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    source: str = ""
    reader: Reader | None = None

    @property
    def the_folder(self) -> Path:
        """Folder of the job's results; TypeError where there is none."""
        if self.folder is None:
            raise TypeError("a job that writes no files")
        return self.folder

    @property
    def the_knee(self) -> KneeModel:
        """Knee of the study; TypeError where there is none."""
        if self.knee is None:
            raise TypeError("a job that needs no knee")
        return self.knee


@dataclass(frozen=True)
class JobResult:
    """Tables, records, texts and knees of a job by their names.

    `solids` are fields of finite elements by frame, mirrored back to a `left` knee, and
    `kept` what a batch of cases keeps besides.
    """

    tables: Mapping[str, pd.DataFrame]
    records: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    solids: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    knees: Mapping[str, KneeModel] = field(default_factory=dict)
    kept: Any = None
    left: bool = False


def join_jobs(results: list[JobResult]) -> dict[str, pd.DataFrame]:
    """Tables of all jobs, those of one name below each other."""
    import pandas as pd  # noqa: PLC0415 - as above

    joined: dict[str, list[pd.DataFrame]] = {}
    for result in results:
        for name, table in result.tables.items():
            joined.setdefault(name, []).append(table)
    return {name: pd.concat(tables, ignore_index=True) for name, tables in joined.items()}
