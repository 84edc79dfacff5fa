"""Models that are computed in parts instead of cases, and the side studies of cases.

Each such model has a module, named in `PART_MODELS`, with the functions

- ``list_parts(study)``: parts by name, with their tables and what each needs;
- ``compute_part(study, name, inputs)``: the result of a part.

The parts of other models are their side studies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from kneewear.knees.replications import STUDY_MODELS, replication_room
from kneewear.study.study import Study

# Every rule file needs the names of the models, none of what their parts need.
if TYPE_CHECKING:
    import pandas as pd

    from kneewear.activity.activity import Activity
    from kneewear.evidence.fe_comparison.frames import TwinFields
    from kneewear.geometry.knee import KneeModel

PART_MODELS: Mapping[str, str] = MappingProxyType(
    {
        "multibody": "kneewear.knees.jobs",
        "fe_twin": "kneewear.evidence.fe_comparison.jobs",
        "verification": "kneewear.evidence.verification.jobs",
        **{name: f"{replication_room(name)[0]}.parts" for name in STUDY_MODELS},
    }
)
SIDE_STUDIES = "kneewear.study.side_jobs"


@dataclass(frozen=True)
class Part:
    """Tables of a part, and what its job needs.

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
        Whether a part that fails leaves the study complete without its tables.
    kernels : bool
        Whether it waits for the compiled kernels.
    needs : tuple of str
        Parts that are computed before, whose folders are beside its own.
    files : tuple of str
        Names of files in its folder that are results of the study.
    """

    tables: tuple[str, ...]
    memory_mb: int
    minutes: int
    knee: bool = True
    optional: bool = False
    kernels: bool = True
    needs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class PartInputs:
    """What a part is computed from.

    Parameters
    ----------
    knee : KneeModel or None
        Knee of the study, where the part needs one.
    activities : mapping of str to Activity
        Activities of the study, where the part needs them.
    activity : callable
        Activity of a study by name, read again, for other numbers of frames.
    bodies : callable
        Bodies, tissues and loads of a multibody study, read from its files.
    files : mapping of str to str
        Data files of the model by name.
    folder : Path or None
        Folder of the part's results; what outlasts a killed job is beside it. None where results
        are not written.
    source : str
        Fingerprint of the code.
    """

    knee: KneeModel | None
    activities: Mapping[str, Activity]
    activity: Callable[[Study, str], Activity]
    bodies: Callable[[Any], Any]
    files: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    source: str = ""

    @property
    def the_folder(self) -> Path:
        """Folder of the part's results; TypeError where there is none."""
        if self.folder is None:
            raise TypeError("a part that writes no files")
        return self.folder

    @property
    def the_knee(self) -> KneeModel:
        """Knee of the study; TypeError where there is none."""
        if self.knee is None:
            raise TypeError("a part that needs no knee")
        return self.knee


@dataclass(frozen=True)
class PartResult:
    """Tables and records of a part by their names, and fields of finite elements by frame."""

    tables: Mapping[str, pd.DataFrame]
    records: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    solids: Mapping[str, TwinFields] = field(default_factory=dict)


class PartModel(Protocol):
    """Module of a model that is computed in parts."""

    def list_parts(self, study: Any) -> dict[str, Part]:
        """Parts by name."""

    def compute_part(self, study: Any, name: str, inputs: PartInputs) -> PartResult:
        """Result of a part."""


def part_model(name: str) -> PartModel:
    """Module of a model: one of `PART_MODELS`, or its side studies."""
    module: Any = import_module(PART_MODELS.get(name, SIDE_STUDIES))
    return module


def join_parts(parts: list[PartResult]) -> dict[str, pd.DataFrame]:
    """Tables of all parts, those of one name below each other."""
    import pandas as pd  # noqa: PLC0415 - as above

    joined: dict[str, list[pd.DataFrame]] = {}
    for part in parts:
        for name, table in part.tables.items():
            joined.setdefault(name, []).append(table)
    return {name: pd.concat(tables, ignore_index=True) for name, tables in joined.items()}
