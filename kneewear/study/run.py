"""The loop that computes the cases of a study: a row of results each."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pandas as pd
from pydantic import ValidationError

from kneewear.base.checks import setting_findings
from kneewear.errors import KneewearError
from kneewear.study.inputs import CaseInputs
from kneewear.study.plans import CASE, variable_values
from kneewear.study.stiffness import case_model
from kneewear.study.study import Study

logger = logging.getLogger(__name__)

FAILURE = "failure"
WARNINGS = "warnings"

# Receives the row of a case in the plan and its result.
Observer = Callable[[Mapping[str, Any], Any], None]


def settings_of_case(study: Study, row: Mapping[Any, Any]) -> Study:
    """Study of one row of a plan; ValidationError or KneewearError if it is not possible."""
    return study.at(variable_values(study, row))


def run_cases(
    study: Study, table: pd.DataFrame, inputs: CaseInputs, observe: Observer | None = None
) -> pd.DataFrame:
    """Results of some cases of a study, by its model.

    Parameters
    ----------
    study : Study
        Settings.
    table : DataFrame
        Rows of the plan, as of :func:`kneewear.study.plans.plan_cases`.
    inputs : CaseInputs
        Knee and activities.
    observe : callable, optional
        Called with the row of each case that was computed and its result.

    Returns
    -------
    DataFrame
        One row per case: the columns of the plan, those of the model, `warnings` about settings
        of the case that are unusual and not the study's, and the reason of a `failure`, empty
        where there is none.

    Notes
    -----
    A case that is not possible or cannot be computed is logged, and the others are computed. A
    result does not depend on the other cases.
    """
    model = case_model(study)
    usual = set(setting_findings(study))
    rows: list[dict[str, object]] = []
    for record in table.to_dict("records"):
        row = {str(name): value for name, value in record.items()}
        try:
            changed = settings_of_case(study, row)
            unusual = [each.text() for each in setting_findings(changed) if each not in usual]
            row[WARNINGS] = "; ".join(unusual)
            result = model.compute(changed, inputs)
            rows.append({**row, **model.tabulate(result), FAILURE: ""})
        # Formulas refuse impossible values by ValueError.
        except (KneewearError, ValidationError, ValueError) as error:
            logger.warning("case %s fails: %s", row[CASE], error)
            rows.append({**row, FAILURE: str(error)})
            continue
        if observe is not None:
            observe(row, result)
    columns = [*table, *model.columns(study), WARNINGS, FAILURE]
    return pd.DataFrame(rows, columns=list(dict.fromkeys(columns)))


@contextmanager
def start_up_share(count: int) -> Iterator[None]:
    """Log which part of a job's processor time passed before a block that computes its cases."""
    before = time.process_time()
    yield
    total = time.process_time()
    logger.info(
        "%d cases in %.2f s of processor time, after a start-up of %.2f s (%.1f %% of the job)",
        count,
        total - before,
        before,
        100.0 * before / total,
    )
