"""Wear of cases that differ in any settings, one after the other: a row of results each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity, sample_activity
from kneewear.errors import InputDataError, KneewearError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.settings.activity import ActivitySettings, FileActivity, MotionScale
from kneewear.settings.base import LifeStudy, WearStudy
from kneewear.settings.cases import OUTPUTS, Case
from kneewear.settings.study import apply_case
from kneewear.sides import BOTH, SIDES
from kneewear.simulation.history import ContactHistory
from kneewear.studies.life import (
    built_in_activities,
    exact_knee,
    simulate_cycles,
    summarize_life,
    with_exact_distances,
)
from kneewear.wear.records import DamageMaps

logger = logging.getLogger(__name__)

# Units whose results of both sides are summed; of others the larger one counts.
SUMMED = ("mm2", "mm3", "mm3/year")
FAILURE = "failure"
BORDER = "border_pressure"

# Activity of a case by its name, read from the files that its study names.
ReadActivity = Callable[[Case, WearStudy, str], Activity]


def column_name(side: str, quantity: str) -> str:
    """Column of one output of one side in a table of cases."""
    return f"{side}_{quantity}"


def output_columns() -> list[str]:
    """Columns of the outputs of each side."""
    return [column_name(side, name) for side in SIDES for name in OUTPUTS]


def join_sides(found: pd.DataFrame) -> pd.DataFrame:
    """The table with each output of both sides: sums of areas and volumes, the larger of others."""
    joined = {}
    for quantity, unit in OUTPUTS.items():
        sides = found[[column_name(side, quantity) for side in SIDES]]
        how = "sum" if unit in SUMMED else "max"
        joined[column_name(BOTH, quantity)] = sides.agg(how, axis=1, skipna=False)
    return found.assign(**joined)


def evaluate_cases(runner: CaseRunner, cases: Iterable[Case]) -> pd.DataFrame:
    """Results of some cases.

    One row per case: its name `case`, each of `OUTPUTS` of each side, the largest `border_pressure`
    (MPa, above zero where contact is cut off at the end of the elements), and the reason of a
    `failure`, empty where there is none. A case that cannot be built or computed is logged, and the
    others are computed.
    """
    rows: list[dict[str, object]] = []
    for case in cases:
        try:
            _, values = runner.evaluate(case)
        # Formulas refuse impossible values by ValueError.
        except (KneewearError, ValueError) as error:
            logger.warning("case %s fails: %s", case.name, error)
            rows.append({"case": case.name, FAILURE: str(error)})
        else:
            rows.append({"case": case.name, **values, FAILURE: ""})
    return pd.DataFrame(rows, columns=["case", *output_columns(), BORDER, FAILURE])


class CaseRunner:
    """Computes cases one after the other and keeps what the next one may need again.

    Parameters
    ----------
    study : LifeStudy
        Study whose settings the cases change.
    knee : KneeModel
        Knee of the study's settings.
    activities : mapping of name to Activity
        Cycles of the study's settings.
    exact : bool
        Whether all cases take distances from the surfaces: where geometry varies a distance table
        costs more than a cycle. They differ by less than 0.1 %.
    read_activity : callable, optional
        Reads an activity from files of a case's settings that are not the study's: of the case, its
        study, and the activity's name. Without it activities of files are as the study has them.

    Notes
    -----
    Geometry and activities are rebuilt only where a case changes them, and contact is solved again
    only where anything but wear and creep changes. No result depends on the order of the cases.
    """

    def __init__(
        self,
        study: LifeStudy,
        knee: KneeModel,
        activities: Mapping[str, Activity],
        *,
        exact: bool,
        read_activity: ReadActivity | None = None,
    ) -> None:
        self.study = study
        self.activities = activities
        self.exact = exact
        self.read_activity = read_activity
        # The last knee and the last cycles, with the settings they belong to.
        self.nominal_knee = knee
        self.last_knee: tuple[object, KneeModel] = None, knee
        self.last_cycles: tuple[object, dict[str, ContactHistory]] = None, {}

    def evaluate(
        self, case: Case, pose_error: float = np.nan
    ) -> tuple[DamageMaps, dict[str, float]]:
        """Damage maps and outputs of one case; `pose_error` as of `with_pose_error`.

        The outputs are `OUTPUTS` of each side and the largest `border_pressure`, MPa, above zero
        where contact is cut off at the end of the elements. KneewearError if the settings of the
        case are not possible, its knee cannot be built, or a frame has no equilibrium.
        """
        study = apply_case(self.study, case)
        knee = self._knee(study)
        contact = {"implant", "grid", "coarse_grid", "activities", "cases", "simulation"}
        files = case.name if self.read_activity else ""
        key = study.model_dump_json(include=contact), repr(pose_error), files
        if key != self.last_cycles[0]:
            self.last_cycles = key, self._cycles(case, study, knee, pose_error)
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
        """Knee of a case, the nominal one where the case does not change it."""
        own, nominal = (
            (one.implant, one.grid, one.coarse_grid, one.table) for one in (study, self.study)
        )
        if own == nominal:
            return self.nominal_knee
        if own != self.last_knee[0]:
            self.last_knee = own, self._new_knee(study)
        return self.last_knee[1]

    def _new_knee(self, study: WearStudy) -> KneeModel:
        """Knee of a case; surfaces that are the study's are not built again."""
        if study.implant == self.study.implant and study.table == self.study.table:
            nominal = self.nominal_knee
            grid = build_grid(nominal.implant, study.grid.rows, study.grid.columns)
            return replace(nominal, grid=grid, coarse_grid=None)
        try:
            return exact_knee(study)
        except ValueError as error:
            # Of geometry: an element too steep, or surfaces that do not meet.
            raise InputDataError(
                f"implant {study.implant.name}",
                str(error),
                "a shape that can be built",
                "Correct the settings of the implant.",
            ) from error

    def _cycles(
        self, case: Case, study: WearStudy, knee: KneeModel, pose_error: float
    ) -> dict[str, ContactHistory]:
        """One cycle of every activity: rebuilt where the case or the frames differ."""
        built = built_in_activities(study)
        activities = {
            name: with_pose_error(
                self._activity(name, case, study, prepared, built),
                pose_error,
                study.seed,
                _measurement(study.activities[name], name),
            )
            for name, prepared in self.activities.items()
        }
        if self.exact:
            study = with_exact_distances(study)
        return simulate_cycles(study, knee, activities, study.case_list())

    def _activity(
        self,
        name: str,
        case: Case,
        study: WearStudy,
        prepared: Activity,
        built: Mapping[str, Activity],
    ) -> Activity:
        """Cycle of an activity of a case, the prepared one where it is that of its settings."""
        same = study.activities[name] == self.study.activities[name]
        if same and study.simulation.frames == prepared.percent.size:
            return prepared
        if name in built:
            return built[name]
        if self.read_activity is not None and _own_files(study, name) != _own_files(
            self.study, name
        ):
            return self.read_activity(case, study, name)
        own, nominal = (np.array(_motion_factors(one, name)) for one in (study, self.study))
        return prepared.scaled(own / nominal)


def _own_files(study: LifeStudy, name: str) -> object:
    """Settings of an activity from which its files are read, and its frames."""
    block = study.activities[name].model_dump(exclude={"motion": {"scale"}})
    return block, study.simulation.frames


def _motion_factors(study: LifeStudy, name: str) -> tuple[float, ...]:
    """Factors of the motion of an activity of files."""
    block = study.activities[name]
    return (block.motion.scale if isinstance(block, FileActivity) else MotionScale()).factors


def _measurement(settings: ActivitySettings, name: str) -> str:
    """What was measured: the motion file, which several activities and studies may have."""
    return settings.motion.file if isinstance(settings, FileActivity) else name


def with_pose_error(activity: Activity, error: float, seed: int, measurement: str) -> Activity:
    """Activity with the random error of its measured poses that a number from 0 to 1 names.

    The same one for the same number, measurement and seed of the study; as measured for NaN.
    """
    if np.isnan(error):
        return activity
    key = [seed, int(error * 2.0**53), *measurement.encode()]
    return sample_activity(activity, np.random.default_rng(key))
