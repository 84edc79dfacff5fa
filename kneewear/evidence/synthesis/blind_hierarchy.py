"""Predictions of the blind conditions by the hierarchical model of laws and laboratories.

`python -m kneewear.evidence.synthesis.blind_hierarchy` writes `blind_predictions_of_laws.csv`
and its digest from `kneewear/wear/wear_posterior.csv`. The file is
not to be renewed: it was stored before any result was looked for.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.evidence.synthesis import blind
from kneewear.evidence.synthesis.law_space import CONSTANTS, log_factor
from kneewear.wear.history import History, cross_shear_ratio
from kneewear.wear.law_settings import MM3_PER_N_MM_FROM_MM3_PER_N_M, UNIT_FACTOR
from kneewear.wear.posterior import measured_draws

Array = NDArray[np.float64]
PREDICTIONS = "blind_predictions_of_laws.csv"
# Wear of crosslinked over conventional polyethylene: mean rates of pins of 25 to 50 kGy (5.39 over
# 7.03 mm3 a million cycles), and of 90 kGy and more (0.67): Baykal et al. 2014, abstract read.
CROSSLINKED = (0.67 / 7.03, 5.39 / 7.03)
# Both faces of a rotating platform slide along a line: above by flexion, below by rotation.
STRAIGHT = ("H04b",)


def knee_cross_shear(given: blind.Draws) -> Array:
    """Cross-shear of the motion of a knee, mean of both condyles by their work, of every draw.

    Flexion slides along a direction that rotates with the tray; rotation slides along and, by the
    lever of the contact, across it. One point of each condyle stands for all.
    """
    percent = np.linspace(0.0, 100.0, blind.POINTS + 1)
    force = np.interp(percent, *np.transpose(blind.FORCE))
    load = 0.5 * (force[1:] + force[:-1])
    rolled, forward, rotation = blind.knee_motion(given)
    turn = 0.5 * (rotation[:, 1:] + rotation[:, :-1])
    slid, twist = np.diff(rolled, axis=1), np.diff(rotation, axis=1)
    along = slid * np.cos(turn) + np.diff(forward, axis=1)
    across = slid * np.sin(turn) - given["lever"][:, None] * twist
    aside = given["half_distance"][:, None] * twist
    pressure = np.repeat(load[:, None], len(slid), axis=1)
    total, crossed = np.zeros(len(slid)), np.zeros(len(slid))
    for side in (1.0, -1.0):
        slip = np.stack([(along + side * aside).T, across.T], axis=-1)
        work, cross_work = History(pressure, slip).frictional_work
        total += work
        crossed += cross_work
    return cross_shear_ratio(total, crossed)


def ellipse_cross_shear(first: Array, second: Array) -> Array:
    """Cross-shear of an ellipse with these semi-axes under a constant load, of every draw."""
    phase = 2.0 * np.pi * (np.arange(blind.POINTS) + 0.5) / blind.POINTS
    slip = np.stack([np.sin(phase)[:, None] * first, np.cos(phase)[:, None] * second], axis=-1)
    return History(np.ones(slip.shape[:2]), slip).cross_shear


def cross_shear_of(test: str, given: blind.Draws) -> Array:
    """Cross-shear of a test: drawn, or of its motion."""
    if "cross_shear" in given:
        return given["cross_shear"]
    if test in STRAIGHT:
        return np.zeros(blind.DRAWS)
    if test == "H02":
        half, aside = (np.radians(given[f"{name}_half_range"]) for name in ("flexion", "rotation"))
        return ellipse_cross_shear(half, 0.5 * aside)
    return knee_cross_shear(given)


def predict(draws: pd.DataFrame) -> pd.DataFrame:
    """Intervals of every asked quantity of the blind conditions.

    Parameters
    ----------
    draws : DataFrame
        Table `wear_posterior`.

    Returns
    -------
    DataFrame
        Columns id, quantity, unit, low, median, high (5, 50 and 95 %), cross_shear_low,
        cross_shear_median, cross_shear_high and seen.

    Notes
    -----
    Every draw has a law, its constants, a level and a laboratory, which two tests of a ratio share.
    Deviations of conditions within the laboratory are independent.
    """
    unknowns = np.random.default_rng(blind.SEED)
    given = blind.draw_unknowns(unknowns)
    random = np.random.default_rng((blind.SEED, 5))
    further = blind.draw_unknowns(random, "blind_unknowns_of_laws")
    chosen = draws.iloc[random.integers(len(draws), size=blind.DRAWS)].reset_index(drop=True)
    laboratory = chosen["tau"].to_numpy() * random.normal(size=blind.DRAWS)
    level = UNIT_FACTOR * np.exp(chosen["log_level"].to_numpy() + laboratory)
    low, high = np.log(CROSSLINKED)
    crosslinked = np.exp(random.uniform(low, high, blind.DRAWS))
    rows, wear = [], {}
    table = blind.conditions()
    for _, row in table.iterrows():
        name = str(row["id"])
        own = given[name] | further[name] | blind.stated(name)
        ratio = cross_shear_of(name, own)
        factor = level * np.exp(chosen["sigma"].to_numpy() * random.normal(size=blind.DRAWS))
        for law, part in chosen.groupby("law"):
            at = part.index.to_numpy()
            values = part[[constant.name for constant in CONSTANTS[str(law)]]].to_numpy(dtype=float)
            factor[at] *= np.exp(log_factor(str(law), values, ratio[at], own["pressure"][at]))
        if row["material_class"] == "crosslinked":
            factor = factor * crosslinked
        common = {"id": name, "seen": row["seen"], **blind.ends(ratio, "cross_shear_")}
        if not row["rate_unit"]:
            what = {"quantity": "wear factor", "unit": "mm3/(N m)", **blind.ends(factor)}
        else:
            work = blind.work_of_test(name, own)
            wear[name] = factor * MM3_PER_N_MM_FROM_MM3_PER_N_M * work * 1e6
            scale = blind.DENSITY if row["rate_unit"] == "mg" else 1.0
            unit = f"{row['rate_unit']}/10^6"
            what = {"quantity": "rate", "unit": unit, **blind.ends(scale * wear[name])}
        rows.append({**common, **what})
    for _, row in table.iterrows():
        if other := row["ratio_to"]:
            what = {"quantity": blind.ratio_over(other), "unit": "1"}
            points = blind.ends(wear[str(row["id"])] / wear[other])
            rows.append({"id": row["id"], "seen": row["seen"], **what, **points})
    columns = ["id", "quantity", "unit", "low", "median", "high", "cross_shear_low"]
    columns += ["cross_shear_median", "cross_shear_high", "seen"]
    return pd.DataFrame(rows).reindex(columns=columns)


if __name__ == "__main__":
    blind.write(blind.text_of(predict(measured_draws())), blind.PACKAGE, PREDICTIONS)
