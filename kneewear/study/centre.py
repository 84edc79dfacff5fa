"""Interval of one case of a study over all its uncertain constants, from few samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.activity.settings import FileActivity
from kneewear.base.cases import OUTPUTS, Case
from kneewear.base.sides import BOTH, SIDES
from kneewear.base.variables import Variable
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.study.inputs import CaseInputs
from kneewear.study.job_files import JobFiles
from kneewear.study.jobs import JobResult
from kneewear.study.plans import NOMINAL, ROLE, applies, stratify_samples
from kneewear.study.run import run_cases
from kneewear.study.settings import apply_case
from kneewear.study.study import WearStudy
from kneewear.study.wear import column_name

# Elements per side and frames of samples, at most. Against 200 x 150 elements and 200 frames, ends
# of intervals err by up to 2.1 %, single results by up to 4.3 %.
MAX_ROWS = 60
MAX_COLUMNS = 45
MAX_FRAMES = 100
# Residual of their equilibria, of the load: results change by up to 0.14 %.
TOLERANCE = 1e-4
# Percentiles of the intervals enclose this part of the samples.
LEVEL_PERCENT = 95.0


def sampled_study(study: WearStudy, case: Case, constants: Mapping[str, Variable]) -> WearStudy:
    """Study of samples of one case of a study and of its first life.

    Equilibria on few elements, on a surface that stays fresh. Constants of an implant or of an
    activity that the case does not have are left out.
    """
    changed = apply_case(study, case)
    life, shares = next(iter(changed.wear.lives.items()))
    settings: dict[str, Any] = changed.computed()
    settings["grid"] = {
        "rows": min(changed.grid.rows, MAX_ROWS),
        "columns": min(changed.grid.columns, MAX_COLUMNS),
    }
    tolerance = max(changed.simulation.tolerance, TOLERANCE)
    settings["simulation"] |= {"analysis": "quasi_static", "tolerance": tolerance}
    # Curves of files are prepared at the frames of the study.
    if not any(isinstance(changed.activities[name], FileActivity) for name in shares):
        settings["simulation"]["frames"] = min(changed.simulation.frames, MAX_FRAMES)
    settings["activities"] = {name: settings["activities"][name] for name in shares}
    fresh = changed.wear.without_updates().model_dump(mode="json")
    settings["wear"] = fresh | {"lives": {life: shares}}
    settings["cases"] = {"plan": "latin_hypercube", "samples": 2}
    settings["variables"] = {
        name: constant.model_dump(mode="json")
        for name, constant in constants.items()
        if applies(settings, constant)
    }
    return WearStudy.model_validate(settings)


def sample_constants(
    study: WearStudy, samples: int, knee: KneeModel, activities: Mapping[str, Activity]
) -> pd.DataFrame:
    """Results of samples of a Latin hypercube of all constants.

    Parameters
    ----------
    study : WearStudy
        Study of `sampled_study`.
    samples : int
        Number of samples.
    knee : KneeModel
        Knee of the case; its elements are replaced by those of the study.
    activities : mapping of name to Activity
        Cycles of the case; those of the study's life are used.

    Returns
    -------
    DataFrame
        As of :func:`kneewear.study.run.run_cases`, the case without changes first.
    """
    grid = build_grid(knee.implant, study.grid.rows, study.grid.columns)
    used = {name: activities[name] for name in study.simulated_activities()}
    inputs = CaseInputs(study, replace(knee, grid=grid), used, exact=study.varies_geometry)
    return run_cases(study, stratify_samples(study, samples), inputs)


def sample_intervals(samples: pd.DataFrame, level_percent: float = LEVEL_PERCENT) -> pd.DataFrame:
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
    present = [one for one in (BOTH, *SIDES) if column_name(one, next(iter(OUTPUTS))) in samples]
    for side in present:
        for quantity, unit in OUTPUTS.items():
            values = samples[column_name(side, quantity)]
            drawn = values[samples[ROLE] != NOMINAL]
            known = drawn.dropna()
            shares = [tail, 0.5, 1.0 - tail]
            ends = np.quantile(known, shares, method="hazen") if len(known) else [np.nan] * 3
            rows.append(
                {
                    "side": side,
                    "quantity": quantity,
                    "unit": unit,
                    "nominal": values[samples[ROLE] == NOMINAL].iloc[0],
                    "percentiles": f"{100 * tail:g} to {100 * (1 - tail):g}",
                    "samples": len(known),
                    "failed": len(drawn) - len(known),
                    **dict(zip(("lower", "median", "upper"), ends, strict=True)),
                }
            )
    return pd.DataFrame(rows)


def constant_table(constants: Mapping[str, Variable], study: WearStudy) -> pd.DataFrame:
    """Constants with distribution and source, and whether a study of samples varies them.

    Columns constant, settings, change, distribution, mean, standard_deviation, unit, source,
    varied.
    """
    return pd.DataFrame(
        [
            {
                "constant": name,
                "settings": ", ".join(constant.settings),
                "change": constant.change,
                "distribution": "normal" if constant.normal is not None else "uniform",
                "mean": constant.mean,
                "standard_deviation": constant.standard_deviation,
                "unit": constant.unit,
                "source": constant.source,
                "varied": name in study.variables,
            }
            for name, constant in constants.items()
        ]
    )


def evaluate_constants(settings: Mapping[str, Any], given: JobFiles) -> JobResult:
    """Compute the centre case with uncertain constants."""
    constants = {name: Variable(**one) for name, one in settings["constants"].items()}
    case, base = Case(**settings["case"]), WearStudy(**settings["study"])
    study = sampled_study(base, case, constants)
    activities = given.rebuilt_activities(settings["activities"])
    samples = sample_constants(study, settings["samples"], given.the_knee, activities)
    tables = {
        "uncertain_constants": constant_table(constants, study),
        "constant_samples": samples,
        "constant_intervals": sample_intervals(samples),
    }
    return JobResult(tables)
