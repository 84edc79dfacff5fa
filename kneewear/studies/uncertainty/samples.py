"""Wear of every sample of a plan: one row of results each, and sums an element."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.activity.sources import build_activity
from kneewear.activity.uncertainty import sample_activity
from kneewear.errors import KneewearError
from kneewear.geometry.distance_table import DistanceTable
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import Implant
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import SurfaceTable, tabulate_surface
from kneewear.settings.activity import ParametricActivity
from kneewear.settings.base import WearStudy
from kneewear.settings.study import apply_case
from kneewear.settings.uncertainty import UncertaintyStudy
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.history import ContactHistory, keep_common
from kneewear.studies.uncertainty.element_sums import ElementSums, add_sample, no_sums
from kneewear.studies.uncertainty.plan import LABELS, POSE_ERROR, sample_case
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.cycles import record_cycles
from kneewear.wear.maps import DamageMaps
from kneewear.wear.summary import summarize_cases

logger = logging.getLogger(__name__)

# What is told of every sample and side, with its unit.
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
Value = TypeVar("Value")


def column_name(side: str, quantity: str) -> str:
    """Column of one output of one side in a table of samples."""
    return f"{side}_{quantity}"


@dataclass(frozen=True)
class SampledModel:
    """What samples share as long as no constant changes it.

    Parameters
    ----------
    implant : Implant
        Surfaces of the settings.
    grid : ElementGrid
        Elements of its insert.
    tables, distance_tables : mapping of side to SurfaceTable and DistanceTable
        Tables of its condyles.
    activities : mapping of name to Activity
        Cycles of the settings.
    """

    implant: Implant
    grid: ElementGrid
    tables: Mapping[str, SurfaceTable]
    distance_tables: Mapping[str, DistanceTable]
    activities: Mapping[str, Activity]


class _Last(Generic[Value]):
    """The value made last, made again only when what it depends on differs."""

    def __init__(self) -> None:
        self.key: object = None
        self.value: Value | None = None

    def get(self, key: object, make: Callable[[], Value]) -> Value:
        if self.value is None or key != self.key:
            self.value = make()
            self.key = key
        return self.value


def evaluate_samples(
    study: UncertaintyStudy, plan: pd.DataFrame, model: SampledModel
) -> tuple[pd.DataFrame, ElementSums]:
    """Simulate some samples of a plan.

    Parameters
    ----------
    study : UncertaintyStudy
        Settings.
    plan : DataFrame
        Rows of the plan to simulate.
    model : SampledModel
        What they share.

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
    Each sample is the plain study of its settings: geometry and activities are built anew only
    where a constant changes them, contact is solved again only where anything but wear and creep
    changes. No history outlives its sample. Where geometry is uncertain all samples take exact
    distances, for a distance table costs more than a cycle; they differ by less than 0.1 %.
    """
    bench = _Bench(study, model)
    sums = no_sums(model.grid)
    rows = []
    for _, row in plan.iterrows():
        labels = {name: row[name] for name in LABELS}
        try:
            maps, values = bench.evaluate(row)
        except KneewearError as error:
            logger.warning("sample %s fails: %s", row["sample"], error)
            rows.append({**labels, FAILURE: str(error)})
            continue
        rows.append({**labels, **values, FAILURE: ""})
        if row["role"] != "nominal":
            sums = add_sample(sums, maps)
    columns = [column_name(side, name) for side in model.grid.sides for name in OUTPUTS]
    return pd.DataFrame(rows, columns=[*LABELS, *columns, BORDER, FAILURE]), sums


def check_discretisation(study: UncertaintyStudy, model: SampledModel) -> pd.DataFrame:
    """Results of the settings themselves on the study's elements and frames, and on twice as many.

    Parameters
    ----------
    study : UncertaintyStudy
        Settings.
    model : SampledModel
        What samples share.

    Returns
    -------
    DataFrame
        Columns side, quantity, unit, here, finer and difference_percent. Frames are doubled where
        all activities are built in; those of files keep theirs.
    """
    grid, built_in = (
        study.grid,
        all(isinstance(study.activities[name], ParametricActivity) for name in model.activities),
    )
    finer = study.model_copy(
        update={
            "grid": grid.model_copy(update={"rows": 2 * grid.rows, "columns": 2 * grid.columns}),
            "simulation": study.simulation.model_copy(
                update={"frames": (1 + built_in) * study.simulation.frames}
            ),
        }
    )
    elements = build_grid(model.implant, **finer.grid.model_dump())
    nominal = pd.Series(dict.fromkeys(study.uncertainty.constants, 0.0))
    _, here = _Bench(study, model).evaluate(nominal)
    _, there = _Bench(finer, replace(model, grid=elements)).evaluate(nominal)
    rows = [
        {"side": side, "quantity": name, "unit": unit, "here": here[column], "finer": there[column]}
        for side in model.grid.sides
        for name, unit in OUTPUTS.items()
        for column in [column_name(side, name)]
    ]
    table = pd.DataFrame(rows)
    return table.assign(difference_percent=100.0 * (table["here"] / table["finer"] - 1.0))


class _Bench:
    """Simulates samples one after the other and keeps what the next one may need again."""

    def __init__(self, study: UncertaintyStudy, model: SampledModel) -> None:
        self.study = study
        self.model = model
        constants = study.uncertainty.constants
        paths = [path for constant in constants.values() for path in constant.settings]
        self.exact = any(path.startswith("implant.") for path in paths)
        self._geometry: _Last[SampledModel] = _Last()
        self._cycles: _Last[tuple[ElementGrid, dict[str, ContactHistory]]] = _Last()

    def evaluate(self, row: pd.Series) -> tuple[DamageMaps, dict[str, float]]:
        """Damage maps and outputs of one sample."""
        case, error = sample_case(self.study, row), float(row.get(POSE_ERROR, np.nan))
        study = apply_case(self.study, case)
        contact = {"implant", "activities", "cases", "simulation"}
        key = (study.model_dump_json(include=contact), repr(error))
        grid, histories = self._cycles.get(key, lambda: self._simulate(study, error))
        maps = accumulate_wear(histories, grid, study.wear)
        summary = summarize_cases(maps, record_cycles(histories), grid, study.wear)
        chosen = summary[summary["quantity"].isin(OUTPUTS)]
        border = float(summary.loc[summary["quantity"] == BORDER, "value"].max())
        return maps, {BORDER: border} | {
            column_name(side, quantity): float(value)
            for side, quantity, value in zip(
                chosen["side"], chosen["quantity"], chosen["value"], strict=True
            )
        }

    def _simulate(
        self, study: WearStudy, error: float
    ) -> tuple[ElementGrid, dict[str, ContactHistory]]:
        """One cycle of every activity."""
        geometry = self._geometry.get(study.implant, lambda: self._build_geometry(study))
        settings = study.simulation
        if self.exact:
            settings = settings.model_copy(update={"distance": "exact"})
        histories = [
            simulate_cases(
                KneeModel(
                    geometry.implant, geometry.grid, geometry.tables, geometry.distance_tables
                ),
                with_pose_error(self._activity(name, study), error, study.seed),
                list(study.case_list()),
                settings,
            )
            for name in self.model.activities
        ]
        return geometry.grid, keep_common(histories)

    def _build_geometry(self, study: WearStudy) -> SampledModel:
        """What is shared, with the surfaces, elements and tables of a sample's implant."""
        if study.implant == self.study.implant:
            return self.model
        implant, _ = build_implant(study.implant)
        points: dict[str, Any] = study.table.model_dump(include={"u_points", "v_points"})
        return replace(
            self.model,
            implant=implant,
            grid=build_grid(implant, **study.grid.model_dump()),
            tables={
                side: tabulate_surface(surface, **points)
                for side, surface in implant.femoral.items()
            },
        )

    def _activity(self, name: str, study: WearStudy) -> Activity:
        """A built-in activity of the sample's settings, or the one that is shared."""
        block, prepared = study.activities[name], self.model.activities[name]
        frames = study.simulation.frames
        same = block == self.study.activities[name] and frames == prepared.percent.size
        if same or not isinstance(block, ParametricActivity):
            return prepared
        return build_activity(name, block, frames)


def with_pose_error(activity: Activity, error: float, seed: int) -> Activity:
    """Activity as it could have been measured as well.

    Parameters
    ----------
    activity : Activity
        As measured, with the standard deviation of each coordinate.
    error : float
        Number from 0 to 1 that names the error; NaN for none.
    seed : int
        Seed of the study.

    Returns
    -------
    Activity
        The same one for the same number, activity and seed.
    """
    if np.isnan(error):
        return activity
    name = list(activity.name.encode())
    return sample_activity(activity, np.random.default_rng([seed, int(error * 2.0**53), *name]))
