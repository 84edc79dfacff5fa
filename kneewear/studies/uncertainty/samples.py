"""Wear of every sample of a plan: one row of results each, and sums per element."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.errors import KneewearError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.settings.cases import OUTPUTS
from kneewear.settings.uncertainty import UncertaintyStudy
from kneewear.sides import SIDES
from kneewear.studies.cases import (
    BORDER,
    FAILURE,
    CaseRunner,
    column_name,
    output_columns,
)
from kneewear.studies.life import built_in_activities
from kneewear.studies.uncertainty.element_sums import ElementSums, add_sample, no_sums
from kneewear.studies.uncertainty.plan import LABELS, NOMINAL, POSE_ERROR, sample_case
from kneewear.wear.records import DamageMaps

logger = logging.getLogger(__name__)


def evaluate_samples(
    study: UncertaintyStudy,
    plan: pd.DataFrame,
    knee: KneeModel,
    activities: Mapping[str, Activity],
) -> tuple[pd.DataFrame, ElementSums]:
    """Simulate some samples of a plan.

    Parameters
    ----------
    study : UncertaintyStudy
        Settings.
    plan : DataFrame
        Rows of the plan to simulate.
    knee : KneeModel
        Knee of the study's settings.
    activities : mapping of name to Activity
        Cycles of the study's settings.

    Returns
    -------
    samples : DataFrame
        The labels of the plan, each of `OUTPUTS` of each side, the largest `border_pressure` (MPa,
        above zero where contact is cut off at the end of the elements), and the reason of a
        `failure`, empty where there is none.
    sums : ElementSums
        Depths of the samples that count, nominal ones left out, summed by element.

    Notes
    -----
    Each sample is a case of the study (see :class:`kneewear.studies.cases.CaseRunner`); where
    geometry is uncertain all samples use exact distances.
    """
    runner = _runner(study, knee, activities)
    sums = no_sums(knee.grid)
    rows = []
    for _, row in plan.iterrows():
        labels = {name: row[name] for name in LABELS}
        try:
            maps, values = _evaluate(runner, study, row)
        # Formulas refuse impossible values by ValueError.
        except (KneewearError, ValueError) as error:
            logger.warning("sample %s fails: %s", row["sample"], error)
            rows.append({**labels, FAILURE: str(error)})
            continue
        rows.append({**labels, **values, FAILURE: ""})
        if row["role"] != NOMINAL:
            sums = add_sample(sums, maps)
    return pd.DataFrame(rows, columns=[*LABELS, *output_columns(), BORDER, FAILURE]), sums


def check_discretisation(
    study: UncertaintyStudy, knee: KneeModel, activities: Mapping[str, Activity]
) -> pd.DataFrame:
    """Results of the settings themselves on the study's elements and frames, and on twice as many.

    Columns side, quantity, unit, here, finer and difference_percent. Frames are doubled where all
    activities are built in; those of files keep theirs.
    """
    built_in = len(built_in_activities(study)) == len(activities)
    rows, columns = 2 * study.grid.rows, 2 * study.grid.columns
    frames = (1 + built_in) * study.simulation.frames
    finer = study.model_copy(
        update={
            "grid": study.grid.model_copy(update={"rows": rows, "columns": columns}),
            "simulation": study.simulation.model_copy(update={"frames": frames}),
        }
    )
    finer_knee = replace(knee, grid=build_grid(knee.implant, rows, columns))
    nominal = pd.Series(dict.fromkeys(study.uncertainty.constants, 0.0))
    _, here = _evaluate(_runner(study, knee, activities), study, nominal)
    _, there = _evaluate(_runner(finer, finer_knee, activities), finer, nominal)
    found = [
        {"side": side, "quantity": name, "unit": unit, "here": here[column], "finer": there[column]}
        for side in SIDES
        for name, unit in OUTPUTS.items()
        for column in [column_name(side, name)]
    ]
    table = pd.DataFrame(found)
    return table.assign(difference_percent=100.0 * (table["here"] / table["finer"] - 1.0))


def _runner(
    study: UncertaintyStudy, knee: KneeModel, activities: Mapping[str, Activity]
) -> CaseRunner:
    """Runner of the samples, with exact distances where geometry is uncertain."""
    return CaseRunner(study, knee, activities, exact=study.varies_geometry)


def _evaluate(
    runner: CaseRunner, study: UncertaintyStudy, row: pd.Series
) -> tuple[DamageMaps, dict[str, float]]:
    """Damage maps and outputs of one sample."""
    return runner.evaluate(sample_case(study, row), float(row.get(POSE_ERROR, np.nan)))
