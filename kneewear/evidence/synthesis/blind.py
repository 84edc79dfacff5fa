"""Predictions of tests before their results are looked for, by one wear factor a class.

`python -m kneewear.evidence.synthesis.blind` writes `blind_predictions.csv` and its digest. The
file is not to be renewed: tests compare it with what the module computes.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.errors import InputDataError
from kneewear.wear.interval import FactorInterval, factor_interval
from kneewear.wear.law_settings import MM3_PER_N_MM_FROM_MM3_PER_N_M

Array = NDArray[np.float64]
Draws = dict[str, Array]

PACKAGE = "kneewear.evidence.synthesis"
PREDICTIONS = "blind_predictions.csv"
DRAWS = 20_000
SEED = 20261129
POINTS = 100  # of a cycle
DENSITY = 0.935  # mg/mm3, of the masses of measured_wear.csv
# Curves of a knee over a cycle, percent and N or deg: shape of ISO 14243, from memory.
FORCE = ((0, 168), (3, 1950), (7, 1050), (13, 2430), (25, 1210), (45, 2600), (60, 168), (100, 168))
FLEXION = ((0, 0), (13, 15), (40, 5), (72, 58), (100, 0))
# Translation and half range of the rotation of tests where the conditions state them, mm and deg.
STATED = {
    "H03a": {"translation": 0.0, "rotation": 0.0},
    "H03b": {"translation": 0.0, "rotation": 5.0},
    "H03c": {"translation": -12.0, "rotation": 5.0},
    "H03d": {"translation": 12.0, "rotation": 5.0},
    "H04a": {"rotation": 4.5},
    "H04b": {"rotation": 7.0},
}
# Factor of the five laboratories that were known when the predictions were stored.
KNOWN = FactorInterval(2.45761e-07, 1.08250e-06, 4.76808e-06, 0.634889, 5, 8)
_HEAD_RADIUS = {"H02": 14.0, "H07": 21.0}  # mm, stated


def conditions() -> pd.DataFrame:
    """Conditions of the tests, one row a test."""
    return table("blind_conditions")


def table(name: str) -> pd.DataFrame:
    """Table of this package, without its comments."""
    with files(PACKAGE).joinpath(f"{name}.csv").open("r", encoding="utf-8") as file:
        return pd.read_csv(file, comment="#", keep_default_na=False)


def draw_unknowns(
    generator: np.random.Generator, name: str = "blind_unknowns"
) -> dict[str, dict[str, Array]]:
    """Draws of the unknowns of every test; tests of a group share those that are not their own."""
    unknowns = table(name)
    tests = conditions().set_index("id")["group"]
    drawn: dict[str, dict[str, Array]] = {name: {} for name in tests.index}
    for _, row in unknowns.iterrows():
        values = generator.uniform(float(row["low"]), float(row["high"]), DRAWS)
        for test, group in tests.items():
            if row["test"] in (test, group):
                drawn[str(test)][row["quantity"]] = values
    return drawn


def stated(test: str) -> Draws:
    """Stated conditions of a test, of every draw."""
    return {name: np.full(DRAWS, value) for name, value in STATED.get(test, {}).items()}


def work_of_test(test: str, given: Draws) -> Array:
    """Integral of load times sliding over a cycle, N mm, of every draw."""
    if test == "H02":
        half = _HEAD_RADIUS[test] * np.radians(given["flexion_half_range"])
        # A rotation about the vertical axis slides at the inclined load only.
        aside = 0.5 * _HEAD_RADIUS[test] * np.radians(given["rotation_half_range"])
        return given["pressure_share"] * given["mean_load"] * ellipse_length(half, aside)
    if test == "H07":
        path = _HEAD_RADIUS[test] * np.radians(given["travel"])
        return given["pressure_share"] * given["mean_load"] * path
    if test == "H08":
        path = 2.0 * np.pi * given["radius"] * np.sin(np.radians(given["half_angle"]))
        return given["pressure_share"] * given["mean_load"] * path
    return knee_work(given | stated(test))


def ellipse_length(first: Array, second: Array) -> Array:
    """Circumference of an ellipse with these semi-axes."""
    longer, shorter = np.maximum(first, second), np.minimum(first, second)
    return np.asarray(4.0 * longer * scipy.special.ellipe(1.0 - (shorter / longer) ** 2))


def knee_motion(given: Draws) -> tuple[Array, Array, Array]:
    """Sliding by flexion and by translation, mm, and rotation, rad, of every draw over a cycle."""
    percent = np.linspace(0.0, 100.0, POINTS + 1)
    cycle = percent / 100.0
    turned = np.radians(np.interp(percent, *np.transpose(FLEXION)))
    distance = np.abs(cycle - given["translation_centre"][:, None])
    near = np.minimum(distance, 1.0 - distance) / (0.5 * given["translation_width"][:, None])
    forward = given["translation"][:, None] * np.cos(0.5 * np.pi * np.minimum(near, 1.0)) ** 2
    phase = 2.0 * np.pi * (cycle + given["rotation_phase"][:, None])
    rotation = np.radians(given["rotation"])[:, None] * np.sin(phase)
    return given["radius"][:, None] * turned, forward, rotation


def knee_work(given: Draws) -> Array:
    """Work of a knee whose condyles slide by flexion, translation and rotation, N mm.

    Each condyle carries half of the load. With a `backside_radius` rotation is at the tray.
    """
    force = np.interp(np.linspace(0.0, 100.0, POINTS + 1), *np.transpose(FORCE))
    rolled, forward, rotation = knee_motion(given)
    load = 0.5 * (force[1:] + force[:-1])
    step = np.diff(rolled + forward, axis=1)
    twist = np.diff(rotation, axis=1)
    if "backside_radius" in given:
        slid = np.abs(step) + given["backside_radius"][:, None] * np.abs(twist)
    else:
        aside = given["half_distance"][:, None] * twist
        slid = 0.5 * (np.abs(step + aside) + np.abs(step - aside))
    return np.asarray(given["load_share"] * given["pressure_share"] * (slid @ load))


def predict() -> pd.DataFrame:
    """Intervals of every asked quantity of the blind conditions.

    Returns
    -------
    DataFrame
        Columns id, quantity, unit, low, median, high (5, 50 and 95 %), work_low, work_median,
        work_high (N m a cycle), seen and remark. Tests of classes without laboratories have no
        numbers, and a remark.

    Notes
    -----
    The logarithm of the factor is Student's distribution of :func:`factor_interval`. In a ratio of
    two tests of one laboratory the factor cancels, so that its interval is of the unknowns alone.
    """
    generator = np.random.default_rng(SEED)
    drawn = draw_unknowns(generator)
    factor = _draw_factors(KNOWN, generator)
    rows, works = [], {}
    for _, row in conditions().iterrows():
        name, common = row["id"], {"id": row["id"], "seen": row["seen"]}
        try:
            factor_interval(str(row["material_class"]))
        except InputDataError as error:
            rows.append({**common, "quantity": row["asked"], "remark": str(error)})
            continue
        if not row["rate_unit"]:
            rows.append({**common, "quantity": "wear factor", "unit": "mm3/(N m)", **ends(factor)})
            continue
        works[name] = work_of_test(name, drawn[name])
        volume = factor * MM3_PER_N_MM_FROM_MM3_PER_N_M * works[name] * 1e6
        unit, scale = f"{row['rate_unit']}/10^6", DENSITY if row["rate_unit"] == "mg" else 1.0
        work = ends(1e-3 * works[name], "work_")
        rows.append({**common, "quantity": "rate", "unit": unit, **ends(scale * volume), **work})
    for _, row in conditions().iterrows():
        if other := row["ratio_to"]:
            what = {"quantity": ratio_over(other), "unit": "1"}
            points = ends(works[row["id"]] / works[other])
            rows.append({"id": row["id"], "seen": row["seen"], **what, **points})
    columns = ["id", "quantity", "unit", "low", "median", "high", "work_low", "work_median"]
    return pd.DataFrame(rows).reindex(columns=[*columns, "work_high", "seen", "remark"])


def _draw_factors(interval: FactorInterval, generator: np.random.Generator) -> Array:
    """Factors of laboratories that were not measured, mm3/(N m)."""
    count = interval.laboratories
    spread = interval.log_sd * np.sqrt(1.0 + 1.0 / count)
    return np.asarray(interval.median * np.exp(spread * generator.standard_t(count - 1, DRAWS)))


def ratio_over(test: str) -> str:
    """Name of the ratio of the wear of a test over the wear of another one."""
    return f"ratio to {test}"


def ends(values: Array, prefix: str = "") -> dict[str, float]:
    """Points of 5, 50 and 95 % of draws."""
    low, median, high = np.percentile(values, (5.0, 50.0, 95.0))
    return {f"{prefix}low": low, f"{prefix}median": median, f"{prefix}high": high}


def text_of(predictions: pd.DataFrame) -> str:
    """Predictions as the text of a file, with four significant digits."""
    return predictions.to_csv(index=False, float_format="%.4g", lineterminator="\n")


def digest(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def write(text: str, package: str, name: str) -> None:
    """Write a text into a file of a package, with its digest beside it."""
    target = Path(str(files(package).joinpath(name)))
    target.write_text(text, encoding="utf-8")
    line = f"{digest(text)}  {name}\n"
    target.with_name(name + ".sha256").write_text(line, encoding="utf-8")


if __name__ == "__main__":
    write(text_of(predict()), PACKAGE, PREDICTIONS)
