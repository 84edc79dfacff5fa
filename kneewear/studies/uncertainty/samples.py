"""Wear of every sample of a plan: one row of results each, and sums per element."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity, sample_activity
from kneewear.errors import KneewearError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.settings.base import WearStudy
from kneewear.settings.study import apply_case
from kneewear.settings.uncertainty import UncertaintyStudy
from kneewear.sides import SIDES
from kneewear.simulation.history import ContactHistory
from kneewear.studies.life import (
    built_in_activities,
    exact_knee,
    simulate_cycles,
    summarize_life,
    with_exact_distances,
)
from kneewear.studies.uncertainty.element_sums import ElementSums, add_sample, no_sums
from kneewear.studies.uncertainty.plan import LABELS, NOMINAL, POSE_ERROR, sample_case
from kneewear.wear.records import DamageMaps

logger = logging.getLogger(__name__)

# Results of every sample and side, with their units.
OUTPUTS = {
    "max_pressure": "MPa",
    "avg_pressure": "MPa",
    "wear_depth": "mm",
    "creep_depth": "mm",
    "damage_depth": "mm",
    "damage_area": "mm2",
    "damage_volume": "mm3",
    "wear_volume": "mm3",
    "creep_volume": "mm3",
    "linear_wear_rate": "mm/year",
    "linear_penetration_rate": "mm/year",
    "volumetric_wear_rate": "mm3/year",
    "volumetric_penetration_rate": "mm3/year",
}
FAILURE = "failure"
BORDER = "border_pressure"


def column_name(side: str, quantity: str) -> str:
    """Column of one output of one side in a table of samples."""
    return f"{side}_{quantity}"


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
    Each sample is a case of the study: geometry and activities are rebuilt only where a
    constant changes them, and contact is solved again only where anything but wear and creep
    changes. No history outlives its sample. Where geometry is uncertain all samples use exact
    distances, because a distance table costs more than a cycle; they differ by less than 0.1 %.
    """
    sampler = _Sampler(study, knee, activities)
    sums = no_sums(knee.grid)
    rows = []
    for _, row in plan.iterrows():
        labels = {name: row[name] for name in LABELS}
        try:
            maps, values = sampler.evaluate(row)
        except KneewearError as error:
            logger.warning("sample %s fails: %s", row["sample"], error)
            rows.append({**labels, FAILURE: str(error)})
            continue
        rows.append({**labels, **values, FAILURE: ""})
        if row["role"] != NOMINAL:
            sums = add_sample(sums, maps)
    columns = [column_name(side, name) for side in SIDES for name in OUTPUTS]
    return pd.DataFrame(rows, columns=[*LABELS, *columns, BORDER, FAILURE]), sums


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
    _, here = _Sampler(study, knee, activities).evaluate(nominal)
    _, there = _Sampler(finer, finer_knee, activities).evaluate(nominal)
    found = [
        {"side": side, "quantity": name, "unit": unit, "here": here[column], "finer": there[column]}
        for side in SIDES
        for name, unit in OUTPUTS.items()
        for column in [column_name(side, name)]
    ]
    table = pd.DataFrame(found)
    return table.assign(difference_percent=100.0 * (table["here"] / table["finer"] - 1.0))


class _Sampler:
    """Simulates samples one after the other and keeps what the next one may need again."""

    def __init__(
        self, study: UncertaintyStudy, knee: KneeModel, activities: Mapping[str, Activity]
    ) -> None:
        self.study = study
        self.activities = activities
        constants = study.uncertainty.constants.values()
        paths = [path for constant in constants for path in constant.settings]
        self.exact = any(path.startswith("implant.") for path in paths)
        # The last knee and the last cycles, with the settings they belong to.
        self.nominal_knee = knee
        self.last_knee = study.implant, knee
        self.last_cycles: tuple[object, dict[str, ContactHistory]] = None, {}

    def evaluate(self, row: pd.Series) -> tuple[DamageMaps, dict[str, float]]:
        """Damage maps and outputs of one sample."""
        study = apply_case(self.study, sample_case(self.study, row))
        error = float(row.get(POSE_ERROR, np.nan))
        knee = self._knee(study)
        contact = {"implant", "activities", "cases", "simulation"}
        key = study.model_dump_json(include=contact), repr(error)
        if key != self.last_cycles[0]:
            self.last_cycles = key, self._cycles(study, knee, error)
        maps, summary = summarize_life(study, knee, self.last_cycles[1])
        chosen = summary[summary["quantity"].isin(OUTPUTS)]
        border = float(summary.loc[summary["quantity"] == BORDER, "value"].max())
        return maps, {BORDER: border} | {
            column_name(side, quantity): float(value)
            for side, quantity, value in zip(
                chosen["side"], chosen["quantity"], chosen["value"], strict=True
            )
        }

    def _knee(self, study: WearStudy) -> KneeModel:
        """Knee of a sample, the nominal one where no constant changes it."""
        if study.implant == self.study.implant:
            return self.nominal_knee
        if study.implant != self.last_knee[0]:
            self.last_knee = study.implant, exact_knee(study)
        return self.last_knee[1]

    def _cycles(self, study: WearStudy, knee: KneeModel, error: float) -> dict[str, ContactHistory]:
        """One cycle of every activity: rebuilt where a constant or the frames differ."""
        built = built_in_activities(study)
        activities = {
            name: prepared if self._is_prepared(name, study, prepared) else built[name]
            for name, prepared in self.activities.items()
        }
        activities = {
            name: with_pose_error(activity, error, study.seed)
            for name, activity in activities.items()
        }
        if self.exact:
            study = with_exact_distances(study)
        return simulate_cycles(study, knee, activities, study.case_list())

    def _is_prepared(self, name: str, study: WearStudy, prepared: Activity) -> bool:
        """Whether the cycle of an activity is the one of the study's settings."""
        block = study.activities[name]
        frames = study.simulation.frames
        unchanged = block == self.study.activities[name] and frames == prepared.percent.size
        return unchanged or block.source == "file"


def with_pose_error(activity: Activity, error: float, seed: int) -> Activity:
    """Activity with the random error of its measured poses that a number from 0 to 1 names.

    The same one for the same number, activity and seed of the study; as measured for NaN.
    """
    if np.isnan(error):
        return activity
    name = list(activity.name.encode())
    return sample_activity(activity, np.random.default_rng([seed, int(error * 2.0**53), *name]))
