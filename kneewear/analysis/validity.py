"""Cases with results outside the range for which the model is validated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from kneewear.analysis.declared import analysis
from kneewear.motion.settings import pressure_limits
from kneewear.study.analysis_settings import ValidityOptions
from kneewear.study.models import MODELS
from kneewear.study.plans import CASE
from kneewear.study.run import FAILURE, WARNINGS, settings_of_case
from kneewear.study.study import Study
from kneewear.study.wear import BORDER

# Reasons, by which rows of the table are counted.
NO_RESULT = "no result"
PEAK = "peak pressure"
MEAN = "mean pressure"
CUT_OFF = "contact at the border"
UNUSUAL = "unusual settings"


@analysis("validity", tables=("outside",))
def analyse_validity(
    results: pd.DataFrame, study: Study, options: ValidityOptions
) -> dict[str, pd.DataFrame]:
    """Cases outside validity and why: table `outside`.

    Columns case, reason (`no result`, `peak pressure`, `mean pressure`, `contact at the border` or
    `unusual settings`), value, limit and unit of a pressure, and detail in words. A case has a row
    for each reason. Limits are those of the report; a case with another model of contact than the
    study's has those of its own.
    """
    names = MODELS[study.model].columns(study)
    columns = {
        reason: [name for name in names if name.endswith(quantity)]
        for reason, quantity in ((PEAK, "max_pressure"), (MEAN, "avg_pressure"), (CUT_OFF, BORDER))
    }
    configured = study.report.pressure_limit_mpa, study.report.avg_pressure_limit_mpa
    usual = pressure_limits(study.simulation)
    varies = any(pressure_limits(one.simulation) != usual for one in study.extreme_studies())
    rows = []
    for row in results.to_dict("records"):
        limits = configured
        # A case that could not be computed may have no settings.
        failed = isinstance(row[FAILURE], str) and row[FAILURE]
        if varies and not failed:
            own = pressure_limits(settings_of_case(study, row).simulation)
            limits = configured if own == usual else own
        judged = dict(zip(columns, zip(columns.values(), (*limits, 0.0), strict=True), strict=True))
        rows += [{CASE: row[CASE], **reason} for reason in _reasons(row, judged)]
    return {
        "outside": pd.DataFrame(rows, columns=[CASE, "reason", "value", "limit", "unit", "detail"])
    }


def _reasons(
    row: Mapping[Any, Any], judged: Mapping[str, tuple[list[str], float]]
) -> Iterator[dict[str, Any]]:
    """Why a result is outside validity."""
    if isinstance(row[FAILURE], str) and row[FAILURE]:
        yield {"reason": NO_RESULT, "detail": row[FAILURE]}
        return
    for reason, (columns, limit) in judged.items():
        value = max((row[name] for name in columns if row[name] == row[name]), default=0.0)
        if value > limit:
            yield {"reason": reason, "value": value, "limit": limit, "unit": "MPa"}
    if isinstance(row[WARNINGS], str) and row[WARNINGS]:
        yield {"reason": UNUSUAL, "detail": row[WARNINGS]}
