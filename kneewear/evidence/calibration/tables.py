"""Fits on published cells: errors by number of constants, and what the cells separate."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.declared import analysis
from kneewear.base.cases import BODY_MASS, THICKNESS
from kneewear.base.sides import SIDES
from kneewear.evidence.calibration.fit import (
    CONSTANTS,
    DIFFERENCE,
    ON_CELLS,
    QUANTITIES,
    ROLE,
    SLOPE,
    STEPPED,
    SUM,
    computed_values,
    fit_plan,
    fitted_cells,
    inward_steps,
    relative_spread,
)
from kneewear.evidence.published.comparison import compare_published
from kneewear.study.analysis_settings import FitOptions
from kneewear.study.study import Study
from kneewear.study.wear import column_name

Array = NDArray[np.float64]


@analysis("fit", tables=("comparison", "constants", "correlations", "singular_values", "trade_off"))
def analyse_fit(
    results: pd.DataFrame, study: Study, options: FitOptions
) -> dict[str, pd.DataFrame]:
    """Tables of the fits of a study.

    Parameters
    ----------
    results : DataFrame
        As of :class:`kneewear.evidence.calibration.fit.FittedStudy`.
    study : Study
        Settings.
    options : FitOptions
        None.

    Returns
    -------
    dict of str to DataFrame
        `comparison`, the 25 published cells as
        :func:`kneewear.evidence.published.comparison.compare_published` returns them.

        `constants`: bounds with their source, value, standard_error, at_bound, the largest
        correlation, and for each quantity how much it changes, per cent, when the constant moves by
        a hundredth of the way between its bounds (root mean square over cells and sides).

        `correlations` of the constants, and `singular_values` of the slopes (in spreads per width
        of the bounds), each with the standard_error of its combination of constants (in widths)
        and the weights in it: the cells do not determine a combination whose error is about 1.

        `trade_off`: errors by number of constants, cells (fitted, not fitted) and quantities
        (average pressure, all others), per cent, with and without rounding.
    """
    on_cells = results[results[ROLE] == ON_CELLS]
    parts = {
        number: on_cells[on_cells[CONSTANTS] == number]
        for number in sorted(map(int, on_cells[CONSTANTS].unique()))
    }
    comparisons = {
        number: (float(rows[SUM].iloc[0]), compare_published(tidy_cells(rows)))
        for number, rows in parts.items()
    }
    trade_off = []
    for number in comparisons:
        # A fit of fewer constants is one of more, with the others at their start.
        fewer = [fit for other, fit in comparisons.items() if other <= number]
        _, best = min(fewer, key=lambda fit: fit[0])
        trade_off += [{"constants": number} | row for row in error_rows(best)]
    return {
        "comparison": comparisons[max(comparisons)][1],
        "trade_off": pd.DataFrame(trade_off),
        **separate_constants(results[results[ROLE] == SLOPE], study),
    }


def tidy_cells(results: pd.DataFrame) -> pd.DataFrame:
    """Results of cells as the columns of a tidy case table that a comparison needs."""
    parts = [
        results[[THICKNESS, BODY_MASS]].assign(
            life="fit", side=side, quantity=name, value=results[column_name(side, name)]
        )
        for side, name in itertools.product(SIDES, QUANTITIES)
    ]
    return pd.concat(parts, ignore_index=True)


def error_rows(comparison: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Median and largest error, per cent, of fitted and other cells, average pressure apart."""
    average = comparison["quantity"] == "avg_pressure"
    for used, of_average in itertools.product((True, False), (False, True)):
        rows = comparison[(comparison["calibration"] == used) & (average == of_average)]
        plain, beyond = rows["relative_error"].abs(), rows["error_beyond_rounding"]
        yield {
            "cells": "fitted" if used else "not fitted",
            "quantities": "average pressure" if of_average else "all others",
            "median_percent": 100.0 * plain.median(),
            "largest_percent": 100.0 * plain.max(),
            "median_beyond_rounding_percent": 100.0 * beyond.median(),
            "largest_beyond_rounding_percent": 100.0 * beyond.max(),
        }


def separate_constants(results: pd.DataFrame, study: Study) -> dict[str, pd.DataFrame]:
    """Tables of how well the cells separate the constants of a fit, from the slopes at its end.

    `results` are those of role `slope`; tables as of `analyse_fit`.

    Notes
    -----
    With the singular value decomposition U S V' of the slopes, the covariance is s^2 V S^-2 V';
    s is the residuals' own scatter. Standard errors are how well the cells determine a constant,
    not how far it is from that of the source's implant.
    """
    names, published = list(study.variables), fitted_cells()
    results = results.assign(**{STEPPED: results[STEPPED].fillna("")})
    errors = {
        str(name): np.log(computed_values(rows, published.index) / published.to_numpy())
        for name, rows in results.groupby(STEPPED, sort=False)
    }
    at_end = results[results[STEPPED] == ""].iloc[0]
    parts = np.array([study.variables[name].position(at_end[name]) for name in names])
    inwards = inward_steps(parts)
    slopes = np.stack([errors[name] - errors[""] for name in names], axis=-1) / inwards
    spread = relative_spread(fit_plan(study), published)
    scatter = np.sqrt(np.sum((errors[""] / spread) ** 2) / max(len(published) - len(names), 1))
    _, singular, weights = np.linalg.svd(slopes / spread[:, None], full_matrices=False)
    combined = scatter / np.maximum(singular, 1e-12)
    covariance = (weights.T * combined**2) @ weights
    deviation = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(deviation, deviation)
    combinations = {"singular_value": singular, "standard_error": combined}
    return {
        "constants": pd.concat(
            [
                _constant_table(study, parts, deviation, correlation),
                _sensitivity(slopes, len(names)),
            ],
            axis=1,
        ),
        "correlations": pd.DataFrame(
            {"constant": names} | dict(zip(names, correlation, strict=True))
        ),
        "singular_values": pd.DataFrame(combinations | dict(zip(names, weights.T, strict=True))),
    }


def _constant_table(
    study: Study, parts: Array, deviation: Array, correlation: Array
) -> pd.DataFrame:
    """Value of each constant, its standard error and its largest correlation."""
    names, inwards = list(study.variables), inward_steps(parts)
    others = correlation - np.eye(len(names))
    partner = np.abs(others).argmax(axis=0)
    rows = []
    for index, (name, variable) in enumerate(study.variables.items()):
        value, nearby = (
            variable.quantiles(parts[index] + step).item() for step in (0.0, inwards[index])
        )
        rows.append(
            {
                "constant": name,
                "settings": ", ".join(variable.settings),
                "low": variable.low,
                "high": variable.high,
                "source": variable.source,
                "value": value,
                # A reciprocal scale is uneven: the error is that of the neighbourhood.
                "standard_error": deviation[index] * abs(nearby - value) / DIFFERENCE,
                "at_bound": bool(min(parts[index], 1.0 - parts[index]) < 0.005),
                "largest_correlation": others[partner[index], index],
                "correlated_with": names[partner[index]],
            }
        )
    return pd.DataFrame(rows)


def _sensitivity(slopes: Array, count: int) -> pd.DataFrame:
    """Change of each quantity, per cent per hundredth of the bounds' width, by constant."""
    sizes = np.sqrt(np.mean(slopes.reshape(-1, len(QUANTITIES), count) ** 2, axis=0))
    return pd.DataFrame(sizes.T, columns=[f"{name}_percent" for name in QUANTITIES])
