"""Contact of all cases under axial loads as one tidy table."""

from __future__ import annotations

import pandas as pd

from kneewear.analysis.distributions import plan_columns
from kneewear.motion.rig_settings import CONDITIONS
from kneewear.study.models import model_of
from kneewear.study.plans import CASE
from kneewear.study.study import Study

LOAD = "load_n"
FLEXION = "flexion_deg"


def case_conditions(results: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Values of the variables of each case, and flexion, load and position even if constant."""
    columns = [name for name in plan_columns(results, study) if name != CASE]
    constant = {
        name: value
        for name, value in study.conditions.items()
        if name in CONDITIONS and value is not None and name not in columns
    }
    conditions = [name for name in CONDITIONS if name in columns or name in constant]
    keys = [CASE, *(name for name in columns if name not in conditions), *conditions]
    return results.assign(**constant)[keys]


def contact_table(results: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Results of every case and side: the conditions, side, quantity, value and unit.

    Rows without a value, as the centre of pressure of an unloaded side, are left out.
    """
    wide = case_conditions(results, study)
    parts = [
        wide.assign(
            side=output.side,
            quantity=output.quantity,
            value=results[output.column].astype(float),
            unit=output.unit,
        )
        for output in model_of(study).outputs(study)
    ]
    return pd.concat(parts, ignore_index=True).dropna(subset="value").reset_index(drop=True)
