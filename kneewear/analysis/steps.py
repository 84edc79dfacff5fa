"""Steps of the rule analyse_cases of plans of cases, and of models computed by jobs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from kneewear.analysis.tables import analyse_results, needs_dataset
from kneewear.io.documents import load_table
from kneewear.study.datasets import load_press_cases
from kneewear.study.job_files import RESULTS, JobFiles
from kneewear.study.settings import study_of

Tables = dict[str, pd.DataFrame]


def analyse_plan(settings: Mapping[str, Any], given: JobFiles) -> Tables:
    """Tables of all analyses, from the results of all cases; its settings are `study`."""
    study = study_of(settings["study"])
    files = [*given.paths("results"), *_inside(given, f"{RESULTS}.csv")]
    results = pd.concat(map(load_table, files), ignore_index=True)
    dataset = load_press_cases(given.paths("kept")) if needs_dataset(study) else None
    return {RESULTS: results, **analyse_results(study, results, dataset)}


def join_jobs(settings: Mapping[str, Any], given: JobFiles) -> Tables:
    """Tables of all jobs of a study, those of one name below each other; settings are `tables`."""
    return {
        name: pd.concat(map(load_table, _inside(given, f"{name}.csv")), ignore_index=True)
        for name in settings["tables"]
    }


def _inside(given: JobFiles, name: str) -> list[str]:
    """Files of a name in the folders of all jobs that have one."""
    files = (f"{folder}/{name}" for folder in given.paths("jobs"))
    return [file for file in files if Path(file).exists()]
