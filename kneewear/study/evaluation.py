"""Steps of the rule evaluate_cases: batches of the cases of a plan, and fits.

Each takes the settings of its job and its files, and returns what the job writes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kneewear.io.documents import replace_values
from kneewear.study.files import FileReader
from kneewear.study.inputs import CaseInputs
from kneewear.study.job_files import RESULTS, JobFiles
from kneewear.study.jobs import JobResult
from kneewear.study.models import model_of
from kneewear.study.run import run_cases, start_up_share
from kneewear.study.search import planned_cases
from kneewear.study.settings import study_of


def evaluate_batch(settings: Mapping[str, Any], given: JobFiles) -> JobResult:
    """Compute a batch of the cases of a plan, or of a generation of a search.

    Settings are `study`; `cases`, the first of the batch, the one after its last, and the step;
    and `generation`, the number of that of a search, None of its front and of other plans.
    """
    study = study_of(settings["study"])
    tables = given.tables("tables")
    plan, knee = planned_cases(study, tables, settings["generation"], given.knee)
    reader, exact = FileReader(given.root), not study.reads_distance_tables
    inputs = CaseInputs(study, knee, given.activities, exact=exact, reader=reader)
    kept = model_of(study).collect(study, inputs)
    cases = plan[slice(*settings["cases"])]
    with start_up_share(len(cases)):
        results = run_cases(study, cases, inputs, kept.add)
    return JobResult({RESULTS: results}, kept=kept.total)


def evaluate_fit(settings: Mapping[str, Any], given: JobFiles) -> JobResult:
    """Fit the constants of a study to published cells; its settings are `study`."""
    # Lines of some ten thousand cases would hide those of the search.
    for name in ("simulation", "progress", "study.run"):
        logging.getLogger(f"kneewear.{name}").setLevel(logging.ERROR)
    study: Any = study_of(settings["study"])
    outcome = study.cases.solve(study, given.threads)
    defaults = Path(given.paths("defaults")[0]).read_text(encoding="utf-8")
    texts = {"defaults.yaml": replace_values(defaults, outcome.settings(study))}
    return JobResult({RESULTS: outcome.results, "points": outcome.points}, texts=texts)
