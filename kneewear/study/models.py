"""Models: what is computed for one case."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Protocol

import numpy as np
import pandas as pd
import xarray as xr

from kneewear.base.cases import OUTPUTS, Output
from kneewear.base.checks import judge
from kneewear.base.sides import BOTH, POST, SIDES
from kneewear.geometry.settings import ParametricImplant
from kneewear.models.bearing_test.settings import WearTestStudy
from kneewear.models.bearing_test.simulation import OUTPUTS as TEST_OUTPUTS
from kneewear.models.bearing_test.simulation import TestWear, wear_of_test
from kneewear.models.mobile_insert.compute import OUTPUTS as FACE_OUTPUTS
from kneewear.models.mobile_insert.compute import compute_faces, join_alike
from kneewear.models.press.settings import PressStudy
from kneewear.motion.laxity import WORDS, drive_path, path_outputs, tabulate_path
from kneewear.motion.press import Rig, solve_press
from kneewear.motion.press_results import (
    CaseDatasets,
    contact_dataset,
    contact_outputs,
    tabulate_contact,
)
from kneewear.study.element_sums import SampleSums
from kneewear.study.inputs import CaseInputs
from kneewear.study.study import Study, WearStudy
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.records import record_cycles
from kneewear.wear.summary import summarize_cases

logger = logging.getLogger(__name__)

# Units whose results of both sides are summed; of others the larger one counts.
SUMMED = ("mm2", "mm3", "mm3/year")
BORDER = "border_pressure"


class Collector(Protocol):
    """Keeps of the results of cases more than their numbers."""

    def add(self, row: Mapping[str, Any], result: Any) -> None:
        """Take the result of one case of a plan."""

    @property
    def total(self) -> Any:
        """Kept arrays of all cases so far."""


@dataclass(frozen=True)
class CaseModel:
    """What is computed for one case.

    Parameters
    ----------
    compute : callable
        Result of a case from its settings and inputs. KneewearError or ValueError if the case
        cannot be computed.
    tabulate : callable
        Values of a result by the names of their columns in tables of cases.
    outputs : callable
        Numbers of the cases of a study, in the order of tables.
    further : callable
        Columns of the cases of a study that are not analysed.
    collect : callable
        What keeps of the results of cases more than their numbers: its method `add` takes the row
        of each computed case and its result, and its `total` is what is kept.
    """

    compute: Callable[[Any, CaseInputs], Any]
    tabulate: Callable[[Any], Mapping[str, float | str]]
    outputs: Callable[[Study], tuple[Output, ...]]
    further: Callable[[Study], tuple[str, ...]]
    collect: Callable[[Study, CaseInputs], Collector]

    def columns(self, study: Study) -> list[str]:
        """Columns of the results in tables of cases."""
        return [*(output.column for output in self.outputs(study)), *self.further(study)]


def column_name(side: str, quantity: str) -> str:
    """Column of one quantity of one side in a table of cases."""
    return f"{side}_{quantity}"


@dataclass(frozen=True)
class WearResult:
    """Damage maps of one case, the tidy table of its results, and further numbers by column."""

    maps: xr.Dataset
    summary: pd.DataFrame
    further: Mapping[str, float] = field(default_factory=dict)


def compute_wear(study: WearStudy, inputs: CaseInputs) -> WearResult:
    """Contact over one cycle of each activity, and wear and creep over the life of a case."""
    histories = inputs.cycles(study)
    grid = inputs.knee(study).grid
    maps = accumulate_wear(histories, grid, study.wear)
    return WearResult(maps, summarize_cases(maps, record_cycles(histories), grid, study.wear))


def tabulate_wear(result: WearResult) -> dict[str, float]:
    """`OUTPUTS` of each side and of the whole insert, and the largest `border_pressure`, MPa.

    Of both sides areas and volumes are summed, and the larger of other results counts. A border
    pressure above zero means that contact is cut off at the end of the insert's or femoral surface.
    """
    summary = result.summary
    values = summary.set_index(["side", "quantity"])["value"]
    present = set(summary["side"])
    ends = summary["quantity"].str.endswith(BORDER)
    row = {BORDER: float(summary.loc[ends, "value"].max())}
    for quantity, unit in OUTPUTS.items():
        sides = {side: float(values[side, quantity]) for side in SIDES if side in present}
        row |= {column_name(side, quantity): value for side, value in sides.items()}
        joined = sum(sides.values()) if unit in SUMMED else max(sides.values())
        row[column_name(BOTH, quantity)] = joined
    return row | dict(result.further)


def wear_outputs(study: Study) -> tuple[Output, ...]:
    """`OUTPUTS` of the whole insert and of each of its plateaus."""
    sides = (BOTH, *study.implant.sides)
    return tuple(Output(side, *result) for side in sides for result in OUTPUTS.items())


@dataclass(frozen=True)
class PressResult:
    """Contact at one position or along a path, and its numbers by their columns."""

    dataset: xr.Dataset
    values: Mapping[str, float | str]


def compute_press(study: PressStudy, inputs: CaseInputs) -> PressResult:
    """Contact of a case under its axial load, along its path, or at its given pose."""
    press = study.press
    rig = Rig(inputs.knee(study).implant, study)
    if press.path is not None:
        loop = drive_path(rig, press.path)
        return PressResult(loop, tabulate_path(loop, press.path))
    if press.poses is not None:
        solution = rig.hold(inputs.pose(study))
        total = float(np.linalg.norm(solution.equilibrium.reaction[:3]))
        warning = judge("press.pose_force", total, f"pose {press.pose}", "Check the pose.")
        if warning:
            logger.warning("%s", warning)
    else:
        solution = solve_press(rig)
    contact = contact_dataset(solution)
    return PressResult(contact, tabulate_contact(contact, press.pressures_mpa))


def press_outputs(study: Study) -> tuple[Output, ...]:
    """Results of all positions, or of all paths; of the post where a case has one."""
    if not isinstance(study, PressStudy):
        raise TypeError(f"a study of model {study.model}")
    cases = [study, *study.extreme_studies()]
    paths = [case.press.path for case in cases if case.press.path is not None]
    if paths:
        length, force = (
            " or ".join(dict.fromkeys(units))
            for units in zip(*(path.units for path in paths), strict=True)
        )
        return tuple(path_outputs((length, force)))
    implants = [case.implant for case in cases]
    shapes = [one.parametric for one in implants if isinstance(one, ParametricImplant)]
    post = any(shape.cam_and_post is not None for shape in shapes)
    plateaus = [side for side in SIDES if any(side in one.bearings for one in implants)]
    sides = [*plateaus, POST] if post else plateaus
    return tuple(contact_outputs(sides, study.press.pressures_mpa))


def compute_test(study: WearTestStudy, inputs: CaseInputs) -> TestWear:
    """Wear of the chosen test of bearings."""
    return wear_of_test(inputs.test_contact(study), study.wear)


class NamedDatasets:
    """Keeps datasets of cases along a dimension `case`; see `join_alike`."""

    def __init__(self) -> None:
        self._parts: list[xr.Dataset] = []

    def add(self, row: Mapping[str, Any], result: Any) -> None:
        """Take the dataset of one case of a plan."""
        self._parts.append(result.dataset.expand_dims(case=[str(row["case"])]))

    @property
    def total(self) -> xr.Dataset:
        """The cases so far."""
        return join_alike(self._parts)


MODELS = {
    "wear": CaseModel(
        compute_wear, tabulate_wear, wear_outputs, lambda study: (BORDER,),
        lambda study, inputs: SampleSums(inputs.nominal_knee.grid),
    ),
    "press": CaseModel(
        compute_press, attrgetter("values"), press_outputs,
        lambda study: WORDS if study.press.path is not None else (),  # type: ignore[attr-defined]
        lambda study, inputs: CaseDatasets(keep_elements=study.cases.maps),
    ),
    "backside": CaseModel(
        compute_faces, attrgetter("values"), lambda study: FACE_OUTPUTS, lambda study: (),
        lambda study, inputs: NamedDatasets(),
    ),
    "wear_test": CaseModel(
        compute_test, attrgetter("values"), lambda study: TEST_OUTPUTS, lambda study: (),
        lambda study, inputs: NamedDatasets(),
    ),
}  # fmt: skip
