"""Tables of a study: all of its analyses of the results of its cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kneewear.base.registry import Declared, declared
from kneewear.study.study import Study

# Rule files need the names of tables, none of what these are computed with.
if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def chosen_analyses(study: Study) -> Iterator[tuple[Declared, Any]]:
    """Yield the analyses that a study asks for, with their options."""
    known = declared("analysis")
    for name, options in study.analyses.chosen.items():
        if name in known:
            yield known[name], options


def table_names(study: Study) -> list[str]:
    """Names of the tables of the analyses of a study."""
    return [table for analysis, _ in chosen_analyses(study) for table in analysis.options["tables"]]


def analysis_modules(study: Study) -> list[str]:
    """Modules of the analyses of a study, for the fingerprints of rules."""
    return sorted({analysis.module for analysis, _ in chosen_analyses(study)})


def needs_dataset(study: Study) -> bool:
    """True if an analysis of a study needs the datasets of its cases."""
    return any(analysis.options.get("of_datasets") for analysis, _ in chosen_analyses(study))


def analyse_results(
    study: Study, results: pd.DataFrame, dataset: xr.Dataset | None = None
) -> dict[str, pd.DataFrame]:
    """Tables of all analyses of a study, by their names.

    Parameters
    ----------
    study : Study
        Settings.
    results : DataFrame
        One row per case, as of :func:`kneewear.study.run.run_cases`.
    dataset : Dataset, optional
        Datasets of the cases, as of :func:`kneewear.motion.press_results.join_cases`.
    """
    tables: dict[str, pd.DataFrame] = {}
    for analysis, options in chosen_analyses(study):
        if not analysis.options.get("of_datasets"):
            tables |= analysis(results, study, options)
        elif dataset is not None:
            tables |= analysis(dataset, results, study, options)
    return tables
