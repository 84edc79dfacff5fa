"""Inputs of a case: its knee, activities and cycles, rebuilt only where they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.activity.activity import Activity, sample_activity
from kneewear.activity.settings import FileActivity, MotionScale, ParametricActivity
from kneewear.activity.sources import build_activity
from kneewear.contact.pair import ContactPair
from kneewear.errors import InputDataError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel, assemble_knee
from kneewear.geometry.meshes import TriangleMesh
from kneewear.motion.cases import simulate_activities
from kneewear.motion.evaluation import build_pairs
from kneewear.motion.history import keep_common
from kneewear.motion.settings import SimulationSettings
from kneewear.study.study import CaseStudy, Study

Array = NDArray[np.float64]
T = TypeVar("T")

# Knees that are kept: designs and sizes of a batch.
KNEES = 8


class Reader(Protocol):
    """Reads the files that a study names."""

    def shapes(self, study: Study) -> Mapping[str, TriangleMesh]:
        """Meshes of the implant, by the names of the arguments of `assemble_knee`."""

    def files(self, study: Study) -> Mapping[str, str]:
        """Data files of the model of a study by name."""

    def shape(self, study: Study, file: str) -> TriangleMesh:
        """Mesh of a file."""

    def activity(self, study: Study, name: str) -> Activity:
        """Cycle of an activity."""

    def curves(self, study: Study, file: str, columns: Mapping[str, str]) -> pd.DataFrame:
        """Columns of a file of curves, renamed to their quantities."""

    def poses(self, study: Study) -> Array:
        """Given poses (n, 6), mm and body-three 1-2-3 angles, rad."""


def exact_knee(study: Study, meshes: Mapping[str, TriangleMesh] | None = None) -> KneeModel:
    """Knee without distance tables, which cost more than a cycle."""
    knee, _ = assemble_knee(
        study.implant, study.grid, study.table, meshes=meshes, tabulate_distances=False
    )
    return knee


def with_exact_distances(study: CaseStudy) -> CaseStudy:
    """The study with distances from the surfaces instead of from tables."""
    simulation = study.simulation.model_copy(update={"distance": "exact"})
    return study.model_copy(update={"simulation": simulation})


def built_in_activities(study: Study) -> dict[str, Activity]:
    """Built-in activities of a study's lives, by name."""
    return {
        name: build_activity(name, block, study.simulation.frames)
        for name, block in study.simulated_activities().items()
        if isinstance(block, ParametricActivity)
    }


class CaseInputs:
    """Knee, activities and cycles of the cases of a study, one case after the other.

    Parameters
    ----------
    study : Study
        Study whose settings the cases change.
    knee : KneeModel or None
        Knee of the study's settings; None of a model without one.
    activities : mapping of name to Activity
        Cycles of the study's settings.
    exact : bool
        Whether all cases take distances from the surfaces: where geometry varies a distance table
        costs more than a cycle. They differ by less than 0.1 %.
    reader : Reader, optional
        Reads files of a case; without it, implants and activities of files are the study's.
    kept_cycles : int
        Cases whose cycles are kept, the last ones.

    Notes
    -----
    Geometry and activities are rebuilt only where a case changes them, and contact is solved again
    only where anything but wear and creep changes. No result depends on the order of the cases.
    """

    def __init__(
        self,
        study: Study,
        knee: KneeModel | None,
        activities: Mapping[str, Activity],
        *,
        exact: bool,
        reader: Reader | None = None,
        kept_cycles: int = 1,
    ) -> None:
        self.study = study
        self._nominal_knee = knee
        self.nominal_activities = activities
        self.exact = exact
        self.reader = reader
        self.kept_cycles = kept_cycles
        self._knees: dict[str, KneeModel] = {}
        self._pairs: tuple[KneeModel, tuple[str, ...], tuple[ContactPair, ...]] | None = None
        self._cycles: dict[str, dict[str, xr.Dataset]] = {}
        self._latest: tuple[str, Any] | None = None

    @property
    def nominal_knee(self) -> KneeModel:
        """Knee of the study; TypeError where there is none."""
        if self._nominal_knee is None:
            raise TypeError(f"a study of model {self.study.model}, which has no knee")
        return self._nominal_knee

    def latest(self, key: str, build: Callable[[], T]) -> T:
        """Return what a model builds for a case; the previous result where the key is the same."""
        if self._latest is None or self._latest[0] != key:
            self._latest = key, build()
        value: T = self._latest[1]
        return value

    def knee(self, study: Study) -> KneeModel:
        """Knee of a case; InputDataError if it cannot be built."""
        blocks = {"implant", "grid", "coarse_grid", "table"}
        key, nominal = (
            settings.model_dump_json(include=blocks) for settings in (study, self.study)
        )
        if key == nominal:
            return self.nominal_knee
        if key not in self._knees:
            if len(self._knees) >= KNEES:
                self._knees.pop(next(iter(self._knees)))
            self._knees[key] = self._build_knee(study)
        return self._knees[key]

    def _build_knee(self, study: Study) -> KneeModel:
        """Knee of a case; surfaces that are the study's are not built again."""
        if study.implant == self.study.implant and study.table == self.study.table:
            nominal = self.nominal_knee
            grid = build_grid(nominal.implant, study.grid.rows, study.grid.columns)
            return replace(nominal, grid=grid, coarse_grid=None)
        try:
            return exact_knee(study, self.reader.shapes(study) if self.reader else None)
        except ValueError as error:
            # Of geometry: an element too steep, or surfaces that do not meet.
            raise InputDataError(
                f"implant {study.implant.name}",
                str(error),
                "a shape that can be built",
                "Correct the settings of the implant.",
            ) from error

    def activities(self, study: CaseStudy) -> dict[str, Activity]:
        """Cycles of the activities of a case, those of the study where they are equal."""
        built = built_in_activities(study)
        return {
            name: _with_pose_error(self._activity(name, study, built), study, name)
            for name in study.simulated_activities()
        }

    def _activity(self, name: str, study: CaseStudy, built: Mapping[str, Activity]) -> Activity:
        if name in self.nominal_activities:
            prepared = self.nominal_activities[name]
            equal = _curve_settings(study, name) == _curve_settings(self.study, name)
            if equal and study.simulation.frames == prepared.percent.size:
                factors = np.array(_motion_factors(study, name))
                nominal = np.array(_motion_factors(self.study, name))
                return (
                    prepared if (factors == nominal).all() else prepared.scaled(factors / nominal)
                )
        if name in built:
            return built[name]
        if self.reader is None:
            raise ValueError(f"activity {name} of files cannot be read here")
        return self.reader.activity(study, name)

    def cycles(self, study: CaseStudy) -> dict[str, xr.Dataset]:
        """Contact over one cycle of each activity of a case.

        KneewearError if the knee cannot be built, or a frame has no equilibrium.
        """
        blocks = {"implant", "grid", "coarse_grid", "table", "insert", "patient", "simulation"}
        before = study.activities_before()
        key = study.model_dump_json(include=blocks) + repr([study.simulated_activities(), before])
        if key not in self._cycles:
            if len(self._cycles) >= self.kept_cycles:
                self._cycles.pop(next(iter(self._cycles)))
            exact = with_exact_distances(study) if self.exact else study
            knee, cases = self.knee(study), study.case_list()
            pairs = self._pairs_of(knee, exact.simulation)
            histories = simulate_activities(
                knee, self.activities(study), cases, exact.simulation, before, pairs=pairs
            )
            self._cycles[key] = keep_common(list(histories.values()))
        return self._cycles[key]

    def _pairs_of(self, knee: KneeModel, settings: SimulationSettings) -> tuple[ContactPair, ...]:
        """Contact pairs of a knee, those of the case before where nothing of them differs."""
        key = settings.distance, settings.force_direction, settings.analysis
        if self._pairs is None or self._pairs[0] is not knee or self._pairs[1] != key:
            self._pairs = knee, key, build_pairs(knee, settings)
        return self._pairs[2]


def _curve_settings(study: Study, name: str) -> object:
    """Settings of the curves of an activity, without its scale and the error of its poses."""
    block = study.simulated_activities().get(name)
    excluded = {"motion": {"scale", "pose_error"}} if isinstance(block, FileActivity) else None
    return None if block is None else block.model_dump(exclude=excluded)


def _motion_factors(study: Study, name: str) -> tuple[float, ...]:
    """Factors of the motion of an activity of files."""
    block = study.simulated_activities()[name]
    return (block.motion.scale if isinstance(block, FileActivity) else MotionScale()).factors


def _with_pose_error(activity: Activity, study: CaseStudy, name: str) -> Activity:
    """Activity with the random error of its measured poses that `motion.pose_error` names.

    The same error for the same number, motion file and seed of the study.
    """
    block = study.activities[name]
    if not isinstance(block, FileActivity) or block.motion.pose_error is None:
        return activity
    key = [study.seed, int(block.motion.pose_error * 2.0**53), *block.motion.file.encode()]
    return sample_activity(activity, np.random.default_rng(key))
