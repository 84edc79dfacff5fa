"""Models of studies: one record for each, found by scanning the folders of the package.

A model is a folder with a module `record`, whose `MODEL` is a :class:`Model`; a record may also
have `COMMANDS`, which are added to the command line. Nothing imports such a folder: its functions
are named, and imported when they are first called, so that reading settings loads no more than the
classes of settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = Path(__file__).parents[1]


class Lazy:
    """A function, class or value by the name "module:attribute", imported at its first use.

    Parameters
    ----------
    name : str
        Module below `kneewear`, a colon, and the attribute.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function."""
        return self.load()(*arguments, **named)

    def __repr__(self) -> str:
        return f"Lazy({self.name!r})"

    @property
    def module(self) -> str:
        """Full name of the module."""
        return f"kneewear.{self.name.partition(':')[0]}"

    def load(self) -> Any:
        """Return what is named; ImportError or AttributeError if there is no such thing."""
        return getattr(import_module(self.module), self.name.partition(":")[2])


Function = Callable[..., Any]


def _absent(*arguments: Any) -> Any:
    """Refuse what a model has not."""
    raise TypeError("a function that the record of the model does not name")


def _nothing(*arguments: Any) -> Mapping[str, Any]:
    """Stand for a function of a model that has nothing to return."""
    return {}


@dataclass(frozen=True)
class Command:
    """A command of the command line that a slice or a wing adds.

    Parameters
    ----------
    name, text : str
        Its name, and a sentence on it.
    add_options : Lazy
        Adds its options to a parser of arguments.
    run : Lazy
        Runs it with these arguments; returns lines for the terminal, and files of settings that it
        wrote and that are to be checked. The argument `redraw` draws a group of the figures of a
        finished study again (`runs.finished.redraw_group`), which no slice or wing may import.
    """

    name: str
    text: str
    add_options: Lazy
    run: Lazy


@dataclass(frozen=True)
class SetUp:
    """Option of `kneewear new` with which a study of a model is set up.

    Parameters
    ----------
    option, text : str
        Its name, and what it says.
    write : Lazy
        What is added to the settings, a :class:`kneewear.setup.implant.Added`, from the recognised
        shapes and the dish of the bearing.
    follows_motion : bool
        True if the model needs a prescribed motion: neither the bearing nor forces decide it.
    holds_condyle_if : str
        When an insert that holds its condyle is one of the model; none of other models.
    """

    option: str
    text: str
    write: Lazy
    follows_motion: bool = False
    holds_condyle_if: str = ""

    @property
    def remedy(self) -> str:
        """Remedy of an insert that holds its condyle where it was set up otherwise."""
        return f"if {self.holds_condyle_if}, set it up with kneewear new --{self.option}"


@dataclass(frozen=True)
class Model:
    """Record of a model: all that the program knows of it.

    Cases of a model have a row of results each (`compute` to `join`), or its tables are computed by
    jobs (`list_jobs`, `compute_job`). What is left out returns nothing, or refuses to be called.

    Parameters
    ----------
    name : str
        Name in settings.
    settings : Lazy
        Class of its studies.
    compute : callable
        Result of a case from its settings and inputs. KneewearError or ValueError if the case
        cannot be computed.
    tabulate : callable
        Values of a result by the names of their columns in tables of cases.
    outputs : callable
        Numbers of the cases of a study, in the order of tables.
    further : callable
        Columns of the cases of a study that are not analysed.
    collect : callable
        Collector of what is kept of results in addition to their numbers, from study and inputs:
        its method `add` takes the row of each computed case and its result, `total` is what is
        kept.
    join : callable
        What the files of several batches of cases keep, as one.
    list_jobs, compute_job : callable
        Jobs of a study by name; result of one.
    side_jobs : callable
        Jobs in addition to the cases, by the names of the analyses that ask for them.
    surfaces : callable
        Surfaces of a case that wear, with their cycles, and the settings of their wear, from study
        and inputs: what an interval of its wear is computed from.
    draw, view : callable
        Figures of the results of jobs; data of the view in space.
    draw_cases : callable
        Figures of a study of cases from the study, its tables, what cases keep, the elements, and
        the implants of its designs.
    check_files : callable
        Reads the data files of a study, and yields findings about them.
    verify : callable
        Tables of solutions of the model beside analytical ones, for verification studies, by their
        names, from the settings of contact and of wear.
    try_cases : callable
        Contact of cases that are tried before a run, from the study and what
        `kneewear.motion.cases.simulate_cases` takes, which computes it otherwise.
    set_up : SetUp, optional
        How `kneewear new` sets up a study of the model.
    check_quoted : callable
        Refuses to quote a finished study of the model in another study; see `kneewear.study.files`.
    run : callable
        Tables of a study computed in this process, where its jobs need a folder of results.
    compile : callable
        Compiles the kernels of the model.
    """

    name: str
    settings: Lazy
    compute: Function = _absent
    tabulate: Function = _absent
    outputs: Function = _absent
    further: Function = _absent
    collect: Function = _absent
    join: Function = _absent
    list_jobs: Function = _absent
    compute_job: Function = _absent
    side_jobs: Function = _nothing
    surfaces: Function = _nothing
    draw: Function = _nothing
    view: Function = _nothing
    draw_cases: Function = _nothing
    check_files: Function = _nothing
    verify: Function = _nothing
    try_cases: Function = _absent
    set_up: SetUp | None = None
    check_quoted: Function = _absent
    run: Function = _absent
    compile: Function = _nothing

    @property
    def has_cases(self) -> bool:
        """True if cases have a row of results each."""
        return self.compute is not _absent

    @property
    def can_be_quoted(self) -> bool:
        """True if other studies may quote a finished study of the model."""
        return self.check_quoted is not _absent

    @property
    def runs_in_process(self) -> bool:
        """True if a study has a function of its own without a folder of results."""
        return self.run is not _absent

    def simulate_trial(self, study: Any, otherwise: Function) -> Function:
        """Function that computes contact of cases that are tried before a run, or the other one."""
        return otherwise if self.try_cases is _absent else partial(self.try_cases, study)

    def modules(self, *names: str) -> list[str]:
        """Modules of some of its functions, which are imported by name, for fingerprints."""
        functions = (getattr(self, name) for name in names)
        return [function.module for function in functions if isinstance(function, Lazy)]

    def columns(self, study: Any) -> list[str]:
        """Columns of the results in tables of cases."""
        return [*(output.column for output in self.outputs(study)), *self.further(study)]


def _read_records() -> list[ModuleType]:
    """Modules `record` of all folders, in the order of their paths."""
    files = sorted(PACKAGE.rglob("record.py"))
    names = [".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) for file in files]
    return list(map(import_module, names))


def _find_models() -> dict[str, Model]:
    """Record of every model, that of the wear study first."""
    models = [record.MODEL for record in _RECORDS if hasattr(record, "MODEL")]
    models.sort(key=lambda model: (not model.settings.name.startswith("study."), model.name))
    return {model.name: model for model in models}


_RECORDS = _read_records()
MODELS = _find_models()
# Folder of each model.
FOLDERS: dict[str, Path] = {
    record.MODEL.name: Path(str(record.__file__)).parent
    for record in _RECORDS
    if hasattr(record, "MODEL")
}
# Commands that slices and wings add to the command line.
COMMANDS: tuple[Command, ...] = tuple(
    command for record in _RECORDS for command in getattr(record, "COMMANDS", ())
)


# How `kneewear new` sets up studies of models, by the names of its options.
SET_UPS: dict[str, SetUp] = {
    model.set_up.option: model.set_up for model in MODELS.values() if model.set_up is not None
}


def remedy_of_conforming() -> str:
    """Remedy of a fixed insert that holds its condyle; empty if no model suits such inserts."""
    return " or ".join(model.remedy for model in SET_UPS.values() if model.holds_condyle_if)


def model_of(study: Any) -> Model:
    """Record of the model of a study."""
    return MODELS[study.model]


def compile_models() -> Iterator[Callable[[], Any]]:
    """Yield what compiles the kernels of each model."""
    return (model.compile for model in MODELS.values())
