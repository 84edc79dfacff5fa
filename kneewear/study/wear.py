"""The wear study: contact over one cycle of each activity, wear and creep over a life."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
import xarray as xr

from kneewear.base.cases import OUTPUTS, PLASTIC_OUTPUTS, Output
from kneewear.base.sides import BOTH, SIDES
from kneewear.study.inputs import CaseInputs
from kneewear.study.study import Study, WearStudy
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.interval import WearingSurface
from kneewear.wear.records import record_cycles
from kneewear.wear.settings import WearSettings
from kneewear.wear.summary import summarize_cases

# Units whose results of both sides are summed; of others the larger one counts.
SUMMED = ("mm2", "mm3", "mm3/year")
BORDER = "border_pressure"


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


def bearing_surfaces(
    study: WearStudy, inputs: CaseInputs
) -> tuple[Sequence[WearingSurface], WearSettings]:
    """Bearing of an insert with its cycles, and the settings of its wear."""
    return [WearingSurface(inputs.cycles(study), inputs.knee(study).grid)], study.wear


def tabulate_wear(result: WearResult) -> dict[str, float]:
    """`OUTPUTS` of each side and of the whole insert, and the largest `border_pressure`, MPa.

    With `PLASTIC_OUTPUTS` of an insert that yields.

    Of both sides areas and volumes are summed, and the larger of other results counts. A border
    pressure above zero means that contact is cut off at the end of the insert's or femoral surface.
    """
    summary = result.summary
    values = summary.set_index(["side", "quantity"])["value"]
    present = set(summary["side"])
    ends = summary["quantity"].str.endswith(BORDER)
    row = {BORDER: float(summary.loc[ends, "value"].max())}
    # Results stored by an earlier version may lack some.
    known = set(summary["quantity"])
    plastic = {name: unit for name, unit in PLASTIC_OUTPUTS.items() if name in known}
    for quantity, unit in (OUTPUTS | plastic).items():
        sides = {side: float(values[side, quantity]) for side in SIDES if side in present}
        row |= {column_name(side, quantity): value for side, value in sides.items()}
        joined = sum(sides.values()) if unit in SUMMED else max(sides.values())
        row[column_name(BOTH, quantity)] = joined
    return row | dict(result.further)


def wear_outputs(study: Study) -> tuple[Output, ...]:
    """`OUTPUTS` of the whole insert and of each of its plateaus."""
    sides = (BOTH, *study.implant.sides)
    results = OUTPUTS | ({} if study.simulation.material_yield is None else PLASTIC_OUTPUTS)
    return tuple(Output(side, *result) for side in sides for result in results.items())


def border_columns(study: Study) -> tuple[str, ...]:
    """Columns of the cases that are not analysed."""
    return (BORDER,)
