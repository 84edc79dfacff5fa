"""Interval of one case of a wear study over all its uncertain constants, from few samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.settings.base import WearStudy
from kneewear.settings.cases import OUTPUTS, Case
from kneewear.settings.study import apply_case
from kneewear.settings.uncertainty import (
    UncertaintySettings,
    UncertaintyStudy,
    applies,
    has_pose_errors,
)
from kneewear.sides import BOTH, SIDES
from kneewear.studies.cases import column_name, join_sides
from kneewear.studies.uncertainty.plan import LABELS, NOMINAL, stratify_samples
from kneewear.studies.uncertainty.samples import evaluate_samples

# Elements per side and frames of samples, at most: results err by up to 2 % (docs/validation.md).
MOST_ROWS, MOST_COLUMNS, MOST_FRAMES = 60, 45, 100


def sampled_study(
    study: WearStudy, case: Case, uncertainty: UncertaintySettings
) -> UncertaintyStudy:
    """Uncertainty study of a case of a wear study and of its first life.

    `uncertainty` has the number of samples: equilibria on few elements, on a surface that stays
    fresh. Constants of an implant or of an activity that the case does not have are left out, as
    are errors of poses that were not measured.
    """
    own = apply_case(study, case)
    life, shares = next(iter(own.wear.lives.items()))
    settings = own.computed()
    settings["kind"] = "uncertainty"
    settings["grid"] = {
        "rows": min(own.grid.rows, MOST_ROWS),
        "columns": min(own.grid.columns, MOST_COLUMNS),
    }
    settings["simulation"] |= {
        "analysis": "quasi_static",
        "frames": min(own.simulation.frames, MOST_FRAMES),
    }
    settings["activities"] = {name: settings["activities"][name] for name in shares}
    fresh = own.wear.without_updates().model_dump(mode="json")
    settings["wear"] = fresh | {"lives": {life: shares}}
    constants = uncertainty.model_dump(mode="json")["constants"]
    settings["uncertainty"] = uncertainty.model_dump(mode="json") | {
        "pose_errors": uncertainty.pose_errors and has_pose_errors(own),
        "constants": {
            name: constants[name]
            for name, constant in uncertainty.constants.items()
            if applies(settings, constant)
        },
    }
    return UncertaintyStudy.model_validate(settings)


def sample_constants(
    study: UncertaintyStudy, knee: KneeModel, activities: Mapping[str, Activity]
) -> pd.DataFrame:
    """Samples of a Latin hypercube of all constants, each of them with its random numbers.

    Parameters
    ----------
    study : UncertaintyStudy
        Study of `sampled_study`.
    knee : KneeModel
        Knee of the case; its elements are replaced by those of the study.
    activities : mapping of name to Activity
        Cycles of the case; those of the study's life are used.

    Returns
    -------
    DataFrame
        As of :func:`kneewear.studies.uncertainty.samples.evaluate_samples`, with the columns of the
        plan and, of the side `both`, sums of areas and volumes and the larger of other results.
    """
    plan = stratify_samples(study)
    grid = build_grid(knee.implant, study.grid.rows, study.grid.columns)
    used = {name: activities[name] for name in study.simulated_activities()}
    found, _ = evaluate_samples(study, plan, replace(knee, grid=grid), used)
    return plan.merge(join_sides(found).drop(columns=[*LABELS[1:]]), on=LABELS[0])


def sample_intervals(samples: pd.DataFrame, level_percent: float) -> pd.DataFrame:
    """Percentiles of the samples of `sample_constants` that hold a part of them.

    Columns side (`both` among them), quantity, unit, nominal (nothing changed), percentiles (the
    ends in words), samples, failed, lower, median, upper.

    Notes
    -----
    Sample k of n in order is the (k - 1/2) / n quantile, for each represents one of n equally
    probable parts (Hazen).
    """
    tail = 0.5 - 0.005 * level_percent
    rows = []
    for side in (BOTH, *SIDES):
        for quantity, unit in OUTPUTS.items():
            values = samples[column_name(side, quantity)]
            drawn = values[samples["role"] != NOMINAL]
            known = drawn.dropna()
            shares = [tail, 0.5, 1.0 - tail]
            ends = np.quantile(known, shares, method="hazen") if len(known) else [np.nan] * 3
            rows.append(
                {
                    "side": side, "quantity": quantity, "unit": unit,
                    "nominal": values[samples["role"] == NOMINAL].iloc[0],
                    "percentiles": f"{100 * tail:g} to {100 * (1 - tail):g}",
                    "samples": len(known), "failed": len(drawn) - len(known),
                    **dict(zip(("lower", "median", "upper"), ends, strict=True)),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def constant_table(uncertainty: UncertaintySettings, study: UncertaintyStudy) -> pd.DataFrame:
    """Constants of `uncertainty` with spread and source, and whether a study varies them.

    Columns constant, settings, change, distribution, spread, unit, source, varied; errors of
    measured poses have a row where they count.
    """
    rows = [
        {
            "constant": name,
            "settings": ", ".join(one.settings),
            **one.model_dump(include={"change", "distribution", "spread", "unit", "source"}),
            "varied": name in study.uncertainty.constants,
        }
        for name, one in uncertainty.constants.items()
    ]
    if uncertainty.pose_errors:
        source = "Standard deviations of the measured motion"
        varied = study.uncertainty.pose_errors
        rows.append({"constant": "pose_errors", "source": source, "varied": varied})
    return pd.DataFrame(rows)
