"""Variance-based sensitivity: first and total indices after Sobol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

# Indices count as converged when the interval of each is narrower than this (Sarrazin, Pianosi and
# Wagener 2016, Environmental Modelling and Software 79, 135-152; from memory).
LARGEST_WIDTH = 0.05
RESAMPLES = 300
# Parts of the output's size below which its variance is rounding.
LEAST_DEVIATION = 1e-9


@dataclass(frozen=True)
class SobolIndices:
    """Part of an output's variance that one constant accounts for.

    Parameters
    ----------
    constant : str
        Name.
    first : float
        Part that goes away on average when the constant alone becomes known.
    first_error : float
        Half-width of its interval.
    total : float
        Part that stays on average when all the others become known: with the constant's share in
        interactions.
    total_error : float
        Half-width of its interval.
    blocks, dropped : int
        Blocks of samples that count, and those left out because a sample in them failed.
    converged : bool
        Whether the intervals of all constants' indices of this output are narrow enough.
    blocks_needed : int
        Blocks with which they would be, as errors fall with the root of the number.
    """

    constant: str
    first: float
    first_error: float
    total: float
    total_error: float
    blocks: int
    dropped: int
    converged: bool
    blocks_needed: int

    def row(self) -> dict[str, object]:
        """Names and values."""
        return asdict(self)


def sobol_indices(
    output: pd.DataFrame, names: Sequence[str], level_percent: float, seed: int
) -> list[SobolIndices]:
    """Indices of all constants for one output.

    Parameters
    ----------
    output : DataFrame
        Columns block, role and value of a variance_based plan, in its order.
    names : sequence of str
        Constants in the order of the plan.
    level_percent : float
        Level of the intervals, percent.
    seed : int
        Of the resampling; not zero.

    Returns
    -------
    list of SobolIndices
        NaN for an output that does not vary, or with fewer than two blocks left.

    Notes
    -----
    First index V(E(y | x)) / V(y) and total index E(V(y | others)) / V(y), by the estimators of
    Saltelli et al. (2010, table 2, rows b and f) in SALib; intervals by resampling the blocks.
    Holds for independent constants. Estimates of small indices may come out below zero.
    """
    drawn = output[output["role"].isin(["A", "mixed", "B"])]
    values = drawn["value"].to_numpy(float).reshape(-1, len(names) + 2)
    whole = np.isfinite(values).all(axis=1)
    left, dropped = values[whole], int(np.sum(~whole))
    found = {key: np.full(len(names), np.nan) for key in ("S1", "S1_conf", "ST", "ST_conf")}
    size = np.abs(left).max(initial=0.0)
    if len(left) > 1 and left.std() > LEAST_DEVIATION * size:
        found = _analysed(left.ravel(), names, level_percent, seed)
    widest = 2.0 * np.max([found["S1_conf"], found["ST_conf"]])
    needed = len(left) * (widest / LARGEST_WIDTH) ** 2
    return [
        SobolIndices(
            constant=name,
            first=float(found["S1"][place]),
            first_error=float(found["S1_conf"][place]),
            total=float(found["ST"][place]),
            total_error=float(found["ST_conf"][place]),
            blocks=len(left),
            dropped=dropped,
            converged=bool(widest <= LARGEST_WIDTH),
            blocks_needed=int(np.ceil(needed)) if np.isfinite(needed) else 0,
        )
        for place, name in enumerate(names)
    ]


def _analysed(
    values: np.ndarray, names: Sequence[str], level_percent: float, seed: int
) -> dict[str, np.ndarray]:
    from SALib.analyze import sobol  # noqa: PLC0415 - slow to load, and only needed here

    problem = {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}
    found = sobol.analyze(
        problem,
        values,
        calc_second_order=False,
        num_resamples=RESAMPLES,
        conf_level=0.01 * level_percent,
        seed=seed,
    )
    return {key: np.asarray(found[key]) for key in ("S1", "S1_conf", "ST", "ST_conf")}
