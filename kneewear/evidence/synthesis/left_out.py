"""Left-out laboratories, predicted from fewer and from more rows of measured wear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.evidence.synthesis.mixture import (
    COARSE_DRAWS,
    ENDS,
    POINTS,
    Chosen,
    Mixture,
    fit_mixture,
)
from kneewear.evidence.synthesis.posterior import (
    LEVEL,
    SEED,
    Evidence,
    left_out_scores,
    mixed_scores,
)

Array = NDArray[np.float64]
NOMINAL = (50.0, 80.0, 90.0)


def compare_rows(
    evidences: Sequence[Evidence], sets: Mapping[str, Chosen]
) -> tuple[pd.DataFrame, dict[str, dict[str, float]]]:
    """Predictions of every laboratory from the other laboratories of sets of rows.

    Parameters
    ----------
    evidences : sequence of Evidence
        Posteriors of all laws by all rows.
    sets : mapping of name to array of bool
        Rows that a prediction is made from. Rows of the predicted laboratory are left out of them.

    Returns
    -------
    left_out : DataFrame
        Columns rows (the set), name, laboratory, measured, low, median, high (90 %) and percent
        (of the predictive draws below the measurement).
    scores : dict of str to dict
        Log scores of all rows of every laboratory by each set.
    """
    coarse = [Evidence(evidence.model, COARSE_DRAWS) for evidence in evidences]
    rows = coarse[0].model.rows
    table, scores = [], {}
    for name, kept in sets.items():
        scores[name] = dict[str, float]()
        for laboratory in dict.fromkeys(rows.laboratory.tolist()):
            own = rows.laboratory == laboratory
            mixture = fit_mixture(coarse, kept=kept & ~own)
            asked = [
                left_out_scores(evidence, rows.log_wear, (kept & ~own) | own, own)
                for evidence in coarse
            ]
            scores[name] |= mixed_scores(asked, mixture.weights)
            table += [{"rows": name, **predict_row(mixture, int(at))} for at in np.flatnonzero(own)]
    return pd.DataFrame(table), scores


def predict_row(mixture: Mixture, row: int) -> dict[str, object]:
    """Predicted wear of a row in a laboratory that the mixture does not know.

    Columns as in :func:`compare_rows` without the set.
    """
    points = _draw_row(mixture, row, np.random.default_rng(SEED))
    rows = mixture.rows
    low, median, high = np.exp(np.quantile(points, ENDS))
    return {
        "name": rows.names[row],
        "laboratory": rows.laboratory[row],
        "measured": float(np.exp(rows.log_wear[row])),
        "low": low,
        "median": median,
        "high": high,
        "percent": 100.0 * float(np.mean(points < rows.log_wear[row])),
    }


def _draw_row(mixture: Mixture, row: int, random: np.random.Generator) -> Array:
    """Draws of the logarithm of a row, with all deviations and the error of the measurement."""
    shares = random.multinomial(POINTS, mixture.weights)
    parts = []
    for evidence, share in zip(mixture.evidences, shares, strict=True):
        if share == 0:
            continue
        at = mixture.resample(evidence, share, random)
        absolute = evidence.model.rows.is_absolute[row]
        middle, spread = (values[at] for values in evidence.level(mixture.log_wear, mixture.kept))
        variance = evidence.variance[at, row] + absolute * (spread**2 - LEVEL**2)
        mean = evidence.predicted[at, row] + absolute * middle
        parts.append(mean + np.sqrt(variance) * random.normal(size=share))
    return np.concatenate(parts)


def count_inside(left_out: pd.DataFrame) -> pd.DataFrame:
    """Measurements within intervals of left-out laboratories, by the rows they are made from.

    Columns rows, nominal (%), inside, asked, percent and interval_factor (median of the upper over
    the lower end of the 90 % intervals).
    """
    table = []
    for name, own in left_out.groupby("rows", sort=False):
        from_middle = 2.0 * (own["percent"] - 50.0).abs()
        factor = float((own["high"] / own["low"]).median())
        for nominal in NOMINAL:
            inside = int((from_middle <= nominal).sum())
            table.append(
                {
                    "rows": name,
                    "nominal": nominal,
                    "inside": inside,
                    "asked": len(own),
                    "percent": 100.0 * inside / len(own),
                    "interval_factor": factor,
                }
            )
    return pd.DataFrame(table)
