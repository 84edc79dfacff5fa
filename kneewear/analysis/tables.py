"""Tables of a study: all of its analyses of the results of its cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import xarray as xr

from kneewear.analysis.distributions import analyse_pairs, analyse_percentiles
from kneewear.analysis.effects import analyse_effects
from kneewear.analysis.front import analyse_front
from kneewear.analysis.samples import analyse_indices, analyse_intervals, analyse_steps
from kneewear.analysis.validity import analyse_validity
from kneewear.evidence.calibration.tables import analyse_fit
from kneewear.evidence.measured_wear.tables import analyse_measured
from kneewear.models.press.tables import (
    analyse_compared_laxity,
    analyse_contact,
    analyse_loops,
    analyse_materials,
    analyse_submission,
    analyse_worst_cases,
)
from kneewear.study.study import Study

# Tables from the results of cases, the study and the options of the analysis.
Analysis = Callable[[pd.DataFrame, Study, Any], dict[str, pd.DataFrame]]

# Analyses by their names in the settings, and the tables of each.
ANALYSES: dict[str, tuple[Analysis, tuple[str, ...]]] = {
    "effects": (analyse_effects, ("effects", "response", "coefficients")),
    "intervals": (analyse_intervals, ("intervals",)),
    "steps": (analyse_steps, ("steps",)),
    "indices": (analyse_indices, ("indices",)),
    "percentiles": (analyse_percentiles, ("percentiles",)),
    "paired": (analyse_pairs, ("differences",)),
    "validity": (analyse_validity, ("outside",)),
    "front": (
        analyse_front,
        ("designs", "front", "chosen_designs", "search_error", "search_progress"),
    ),
    "fit": (
        analyse_fit,
        ("comparison", "constants", "correlations", "singular_values", "trade_off"),
    ),
    "contact": (analyse_contact, ("contact",)),
    "worst_cases": (analyse_worst_cases, ("worst_cases",)),
    "submission": (analyse_submission, ("submission",)),
    "materials": (analyse_materials, ("material_comparison",)),
    "measured": (analyse_measured, ("measured_wear", "law_verdicts")),
    "compared_laxity": (analyse_compared_laxity, ("laxity_comparison",)),
}

# Analyses of the datasets of the cases too.
DATASET_ANALYSES: dict[str, tuple[Callable[..., dict[str, pd.DataFrame]], tuple[str, ...]]] = {
    "loops": (analyse_loops, ("laxity", "loops")),
}


def table_names(study: Study) -> list[str]:
    """Names of the tables of the analyses of a study."""
    known = {name: tables for name, (_, tables) in (ANALYSES | DATASET_ANALYSES).items()}
    return [table for name in study.analyses.chosen for table in known.get(name, ())]


def needs_dataset(study: Study) -> bool:
    """Whether an analysis of a study needs the datasets of its cases."""
    return any(name in DATASET_ANALYSES for name in study.analyses.chosen)


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
    for name, options in study.analyses.chosen.items():
        if name in ANALYSES:
            tables |= ANALYSES[name][0](results, study, options)
        elif name in DATASET_ANALYSES and dataset is not None:
            tables |= DATASET_ANALYSES[name][0](dataset, results, study, options)
    return tables
