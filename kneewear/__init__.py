"""Wear of total knee replacements: contact, kinematics and damage over a life of activities.

The public API covers the chain from the settings of a study to its wear without Snakemake, and
opens the results of a finished study:

    import kneewear as kw

    study = kw.load_study("config/evidence/nominal.yaml")
    knee = kw.build_knee(study)
    cycles = kw.simulate(knee, study)
    damage = kw.accumulate_wear(cycles, study)

It is implemented in :mod:`kneewear.api`, which is imported when a name of it is first used: every
job of a study imports this package, and most need little of it.
"""

import kneewear.base.search_path  # noqa: F401 - before all that is searched for

# isort: split
import gc
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kneewear.api import (
        Cycles,
        Results,
        accumulate_wear,
        build_knee,
        compare,
        default_study,
        evaluate_contact,
        load_study,
        open_results,
        posterior_draws,
        predict_wear,
        run,
        simulate,
        tabulate_cases,
        wear_posterior,
    )
    from kneewear.runs.results import StudyRun

__version__ = "1.0.0"
# Variable of the environment that is set where Snakemake runs jobs.
JOB = "KNEEWEAR_JOB"
COLLECTIONS = gc.get_threshold()
# What a job imports lasts until it ends: collections would find nothing in it, and take a fifth of
# the time of imports. All imports together make a quarter of a million objects; `joblog.job_log`
# lowers the threshold when they are done.
if os.environ.get(JOB):
    gc.set_threshold(10_000_000, 50, 100)
# Of the files of a finished study, in `report/summary.json` and `provenance.json`: raised with a
# change after which earlier versions cannot read them. All up to this one are read.
RESULTS_SCHEMA = 1
__all__ = [
    "Cycles",
    "Results",
    "StudyRun",
    "accumulate_wear",
    "build_knee",
    "compare",
    "default_settings_file",
    "default_study",
    "evaluate_contact",
    "load_study",
    "open_results",
    "posterior_draws",
    "predict_wear",
    "run",
    "simulate",
    "tabulate_cases",
    "wear_posterior",
]


def checkout_folder() -> Path:
    """Folder of workflow, scripts and settings: this checkout, or its copy in an installed package.

    Returns
    -------
    Path
        Absolute path of a folder with `Snakefile`, `workflow/`, `scripts/` and `config/`.
    """
    package = Path(__file__).resolve().parent
    return package.parent if (package.parent / "Snakefile").is_file() else package / "checkout"


def default_settings_file() -> Path:
    """File of the default study.

    Returns
    -------
    Path
        `config/defaults.yaml` of this checkout, or of the copy an installed package carries.

    Examples
    --------
    >>> import kneewear as kw
    >>> kw.default_settings_file().suffix
    '.yaml'
    """
    return checkout_folder() / "config" / "defaults.yaml"


def __getattr__(name: str) -> Any:
    """Import the API when one of its names is first used (PEP 562)."""
    if name in __all__:
        return getattr(import_module("kneewear.api"), name)
    raise AttributeError(f"module 'kneewear' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
