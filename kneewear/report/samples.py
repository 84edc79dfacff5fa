"""Data of the chart of samples: results of all cases over their variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from kneewear.base.sides import BOTH
from kneewear.report.derived import Settings
from kneewear.report.study_tables import KEY_OUTPUTS, SHOWN, validity
from kneewear.report.summary import MAX_ROWS
from kneewear.report.tables import quantity_name, unit_name, without_unit
from kneewear.study.models import model_of
from kneewear.study.settings import study_of

# Significant digits of a value: more than a chart shows.
_DIGITS = 5


def samples_data(tables: Mapping[str, pd.DataFrame], settings: Settings) -> dict[str, Any] | None:
    """Data of the chart of samples; None without a variable that is a number.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of which `results` has a row for each case.
    settings : mapping
        Settings of the study; its variables are columns of the results.

    Returns
    -------
    dict
        `inputs` and `outputs` with label and unit, the latter with their limit of validity; the
        `samples`, at most 1,000, each with label, validity and the values of both in their order.
    """
    results = tables.get("results")
    if results is None:
        return None
    known = {
        name: str(one["unit"])
        for name, one in settings.get("variables", {}).items()
        if name in results and pd.api.types.is_numeric_dtype(results[name])
    }
    inputs = {name: unit for name, unit in known.items() if results[name].nunique() > 1}
    study = study_of(settings)
    named = {output.column: output for output in model_of(study).outputs(study)}
    wanted = [f"{BOTH}_{name}" for name in dict.fromkeys((*KEY_OUTPUTS, *SHOWN))]
    outputs = {name: named[name] for name in wanted if name in named and name in results}
    if not inputs or not outputs:
        return None
    rows = results.dropna(subset=list(outputs)).head(MAX_ROWS)
    limits = {
        "max_pressure": settings["report"]["pressure_limit_mpa"],
        "avg_pressure": settings["report"]["avg_pressure_limit_mpa"],
    }
    values = rows[[*inputs, *outputs]].to_numpy(dtype=float)
    outside = (validity(rows, settings) == "outside").tolist()
    return {
        "inputs": [
            {"label": without_unit(name, unit), "unit": unit_name(unit)}
            for name, unit in inputs.items()
        ],
        "outputs": [
            {
                "label": quantity_name(output.quantity),
                "unit": unit_name(output.unit),
                "limit": limits.get(output.quantity),
            }
            for output in outputs.values()
        ],
        "samples": [
            {"label": str(case), "outside": beyond, "values": _rounded(row)}
            for case, beyond, row in zip(rows["case"], outside, values, strict=True)
        ],
        "count": len(results),
    }


def _rounded(row: Any) -> list[float | None]:
    """Values to a few digits; None for what is no number, which JSON does not have."""
    return [float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None for value in row]
