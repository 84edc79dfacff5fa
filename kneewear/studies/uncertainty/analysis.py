"""What samples tell: the table of an uncertainty study, by its method."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from kneewear.settings.uncertainty import UncertaintyStudy
from kneewear.sides import SIDES
from kneewear.studies.uncertainty.effects import step_effects
from kneewear.studies.uncertainty.indices import SobolIndices, sobol_indices
from kneewear.studies.uncertainty.intervals import prediction_interval
from kneewear.studies.uncertainty.plan import LABELS, NOMINAL, POSE_ERROR
from kneewear.studies.uncertainty.samples import OUTPUTS, column_name


def analyse_samples(study: UncertaintyStudy, samples: pd.DataFrame) -> pd.DataFrame:
    """Reduce the samples of a study to what its method asks for.

    Parameters
    ----------
    study : UncertaintyStudy
        Settings.
    samples : DataFrame
        All samples, as `evaluate_samples` gives them.

    Returns
    -------
    DataFrame
        Columns side, quantity, unit and nominal; then those of
        `PredictionInterval` for monte_carlo, a row per output; of `StepEffects` for one_at_a_time
        and of `SobolIndices` for variance_based, a row per output and constant.
    """
    make = {"monte_carlo": _intervals, "one_at_a_time": _effects, "variance_based": _indices}
    ordered = samples.sort_values("sample")
    rows = []
    for side in SIDES:
        for quantity, unit in OUTPUTS.items():
            output = ordered[[*LABELS]].assign(value=ordered[column_name(side, quantity)])
            nominal = float(output.loc[output["role"] == NOMINAL, "value"].iloc[0])
            labels = {"side": side, "quantity": quantity, "unit": unit, "nominal": nominal}
            rows += [labels | row for row in make[study.uncertainty.method](study, output)]
    return pd.DataFrame(rows)


def _intervals(study: UncertaintyStudy, output: pd.DataFrame) -> Iterator[dict[str, object]]:
    drawn = output.loc[output["role"] == "draw", "value"].to_numpy(float)
    yield prediction_interval(drawn, study.uncertainty.level_percent).row()


def _effects(study: UncertaintyStudy, output: pd.DataFrame) -> Iterator[dict[str, object]]:
    for effect in step_effects(output):
        yield effect.row()


def _indices(study: UncertaintyStudy, output: pd.DataFrame) -> Iterator[dict[str, object]]:
    names = list(study.uncertainty.constants)
    if study.uncertainty.pose_errors:
        names.append(POSE_ERROR)
    # SALib takes a seed of zero for none.
    seed, level = study.seed + 1, study.uncertainty.level_percent
    found: list[SobolIndices] = sobol_indices(output, names, level, seed)
    for index in found:
        yield index.row()
