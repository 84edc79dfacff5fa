"""Intervals of the wear of the chosen designs of a search, from measured wear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kneewear.analysis.front import analyse_front
from kneewear.study.analysis_settings import FrontOptions
from kneewear.study.designs import chosen_study
from kneewear.study.inputs import CaseInputs
from kneewear.study.job_files import JobFiles
from kneewear.study.jobs import JobResult
from kneewear.study.search import with_grid
from kneewear.study.study import WearStudy
from kneewear.study.wear import bearing_surfaces
from kneewear.wear.posterior import intervals_of_laws

CHOSEN = "chosen"


def evaluate_intervals(settings: Mapping[str, Any], given: JobFiles) -> JobResult:
    """Table `wear_intervals` of the chosen designs of a search; its settings are `study`.

    The designs are chosen from the results of all generations, as the analysis of the front does.
    """
    study = WearStudy(**settings["study"])
    results = pd.concat(given.tables("results"), ignore_index=True)
    chosen = analyse_front(results, study, FrontOptions())["chosen_designs"]
    knee = with_grid(study, given.the_knee)
    inputs = CaseInputs(study, knee, given.activities, exact=not study.reads_distance_tables)
    return JobResult({"wear_intervals": intervals_of_designs(study, chosen, inputs)})


def intervals_of_designs(
    study: WearStudy, chosen: pd.DataFrame, inputs: CaseInputs
) -> pd.DataFrame:
    """Intervals of the wear of chosen designs, rows of `tables/chosen_designs.csv`.

    The column `chosen` names the design, others are as in
    :func:`kneewear.wear.posterior.intervals_of_laws`. Draws of law, constants and laboratory are
    the same for all designs.
    """
    parts = []
    for _, row in chosen.iterrows():
        surfaces, wear = bearing_surfaces(chosen_study(study, row), inputs)
        parts.append(intervals_of_laws(surfaces, wear).assign(**{CHOSEN: row[CHOSEN]}))
    table = pd.concat(parts, ignore_index=True)
    return table[[CHOSEN, *table.columns.drop(CHOSEN)]]
