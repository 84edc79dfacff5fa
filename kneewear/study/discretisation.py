"""Error of the elements and frames of a study, from a computation on twice as many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.base.cases import OUTPUTS
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.study.inputs import CaseInputs, built_in_activities
from kneewear.study.settings import apply_case
from kneewear.study.study import CaseStudy
from kneewear.study.wear import column_name, compute_wear, tabulate_wear


def check_discretisation(
    study: CaseStudy, knee: KneeModel, activities: Mapping[str, Activity]
) -> pd.DataFrame:
    """Results of the case without changes on the study's elements and frames and on twice as many.

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
    here, there = (
        tabulate_wear(
            compute_wear(
                apply_case(chosen, chosen.case({})),
                CaseInputs(chosen, own, activities, exact=study.varies_geometry),
            )
        )
        for chosen, own in ((study, knee), (finer, finer_knee))
    )
    table = pd.DataFrame(
        [
            {
                "side": side,
                "quantity": name,
                "unit": unit,
                "here": here[column],
                "finer": there[column],
            }
            for side in study.implant.sides
            for name, unit in OUTPUTS.items()
            for column in [column_name(side, name)]
        ]
    )
    return table.assign(difference_percent=100.0 * (table["here"] / table["finer"] - 1.0))
