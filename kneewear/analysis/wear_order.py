"""Which of two designs wears less, by common draws of law and laboratory."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import scipy

from kneewear.wear.draws import WEIGHTED

ALL_LAWS = "all laws"
COLUMNS = ["life", "law", "ratio", "ratio_low", "ratio_high", "percent", "law_decides"]


def order_of_designs(
    reference: pd.DataFrame, design: pd.DataFrame, within_log_sd: float
) -> pd.DataFrame:
    """Ratio of the wear of two designs, and the part of the draws in which the second wears less.

    Parameters
    ----------
    reference, design : DataFrame
        Tables of :func:`kneewear.wear.draws.law_draws`.
    within_log_sd : float
        Standard deviation of the logarithm of measured over predicted wear within a laboratory.

    Returns
    -------
    DataFrame
        Rows of every life and law, of all laws with equal weights, and of laws and constants that
        measured wear weighs, where both tables have these draws; columns life, law, ratio
        (median), ratio_low and ratio_high (5 and 95 %, with the deviations within a laboratory),
        percent (draws in which `design` wears less) and law_decides (True if laws give different
        orders by their medians).

    Notes
    -----
    Both designs are tested in one laboratory, whose factor cancels. What a law leaves unexplained
    within it does not: it has `within_log_sd` in either test, independently.
    """
    keys = ["life", "law", "draw"]
    both = reference.merge(design, on=keys, suffixes=("_reference", "_design"))
    both["log_ratio"] = np.log(both["work_design"] / both["work_reference"])
    spread = math.sqrt(2.0) * within_log_sd
    rows = []
    for life, own in both.groupby("life", sort=False):
        parts = {
            str(law): part["log_ratio"].to_numpy() for law, part in own.groupby("law", sort=False)
        }
        weighted = {name: parts.pop(name) for name in [WEIGHTED] if name in parts}
        signs = {float(np.sign(np.median(values))) for values in parts.values()}
        # Draws of a law count as one law, however many it has.
        longest = max(len(values) for values in parts.values())
        parts[ALL_LAWS] = np.concatenate([np.resize(values, longest) for values in parts.values()])
        parts |= weighted
        for law, values in parts.items():
            less = float(np.mean(scipy.special.ndtr(-values / spread)))
            low, high = _ends(values, spread)
            middle = math.exp(float(np.median(values)))
            rows.append((life, law, middle, low, high, 100.0 * less, len(signs) > 1))
    return pd.DataFrame(rows, columns=COLUMNS)


def _ends(values: np.ndarray, spread: float) -> tuple[float, float]:
    """5 and 95 % points of the ratio: of draws that each have a normal deviation."""
    points = scipy.special.ndtri((np.arange(99) + 0.5) / 99)
    spreaded = (values[:, None] + spread * points).ravel()
    low, high = np.exp(np.percentile(spreaded, (5.0, 95.0)))
    return float(low), float(high)
