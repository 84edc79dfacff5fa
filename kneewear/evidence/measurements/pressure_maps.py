"""Measured maps of pressure, and measured pressures beside those of a press study.

References
----------
Bei, Y. (2003), sections 3.2.4 and 3.3, Table 3-1, Figs 3-3B and 3-4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kneewear.base.sides import SIDES

Array = NDArray[np.float64]

# Weights of a cell and its neighbours. The source averages nine cells with weights that it does
# not print: these are binomial ones.
WEIGHTS = np.outer([1.0, 2.0, 1.0], [1.0, 2.0, 1.0]) / 16.0
# Measured quantities, and what a study calls them.
QUANTITIES = {
    "max_pressure_mpa": ("peak pressure without averaging", "max_pressure"),
    "averaged_max_pressure_mpa": ("peak pressure with averaging", "max_pressure"),
    "avg_pressure_mpa": ("average pressure", "avg_pressure"),
}
ERRORS = ("cases", "mean_mpa", "sd_mpa", "rms_mpa", "constant_mean_mpa", "skill")


class MapNumbers(NamedTuple):
    """Peaks without and with averaging, mean of loaded cells, MPa, and their area, mm2."""

    max_pressure_mpa: float
    averaged_max_pressure_mpa: float
    avg_pressure_mpa: float
    area_mm2: float


def reduce_map(pressure: ArrayLike, cut_off: float, cell_area: float) -> MapNumbers:
    """Numbers of a map of pressure (rows, columns), MPa, whose cells have one area, mm2.

    Cells below the cut-off count as unloaded: a sensor that wrinkles shows pressure outside the
    contact. ValueError if none is left.
    """
    cells = np.asarray(pressure, dtype=float)
    loaded = np.where(cells >= cut_off, cells, 0.0)
    if not (loaded > 0.0).any():
        raise ValueError(f"no cell with {cut_off:g} MPa or more")
    return MapNumbers(
        float(loaded.max()),
        float(averaged(loaded).max()),
        float(loaded[loaded > 0.0].mean()),
        float((loaded > 0.0).sum() * cell_area),
    )


def averaged(pressure: Array) -> Array:
    """Weighted mean of every cell and its eight neighbours; beyond the border there is none."""
    wide = np.pad(pressure, 1)
    rows, columns = pressure.shape
    return sum(
        (WEIGHTS[i, j] * wide[i : i + rows, j : j + columns] for i in range(3) for j in range(3)),
        np.zeros((rows, columns)),
    )


def vary_cut_off(pressure: ArrayLike, cut_offs: Sequence[float], cell_area: float) -> pd.DataFrame:
    """Loaded area, force, mean and peak pressure over the cut-off (Fig. 3-3B)."""
    cells = np.asarray(pressure, dtype=float)
    rows = []
    for cut_off in cut_offs:
        loaded = cells[(cells >= cut_off) & (cells > 0.0)]
        mean, peak = (loaded.mean(), loaded.max()) if loaded.size else (0.0, 0.0)
        area = loaded.size * cell_area
        rows.append((cut_off, area, area * mean, mean, peak))
    names = ["cut_off_mpa", "area_mm2", "force_n", "avg_pressure_mpa", "max_pressure_mpa"]
    return pd.DataFrame(rows, columns=names)


def average_trials(measured: pd.DataFrame, conditions: Sequence[str]) -> pd.DataFrame:
    """Mean over the trials of each condition, their number and standard deviations."""
    numbers = [name for name in QUANTITIES if name in measured]
    grouped = measured.groupby(list(conditions), sort=False)[numbers]
    spread = grouped.std(ddof=1).add_prefix("sd_")
    return grouped.mean().join(spread).assign(trials=grouped.size()).reset_index()


def pair_pressures(contact: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Computed beside measured pressures of every condition, and further choices of the study.

    Parameters
    ----------
    contact : DataFrame
        Table `contact` of a press study: conditions, side, quantity and value.
    measured : DataFrame
        Conditions by the names of the study's columns (of `average_trials`), and columns of
        `QUANTITIES`. Without a column `side` the mean of both sides is compared, as in the source.

    Returns
    -------
    DataFrame
        Columns quantity, those of conditions and choices, measured_mpa and computed_mpa.

    Raises
    ------
    ValueError
        If a condition is none of the study's columns, or the study has no case with those of a row.
    """
    given = [name for name in map(str, measured) if name not in (*QUANTITIES, "trials", "area_mm2")]
    conditions = [name for name in given if not name.startswith("sd_")]
    columns = list(map(str, contact.columns))
    known = [name for name in columns[: columns.index("quantity")] if name != "case"]
    if unknown := [name for name in conditions if name not in known]:
        raise ValueError(f"conditions {', '.join(unknown)}; the study has {', '.join(known)}")
    computed = contact[contact["side"].isin(SIDES)]
    keys = [name for name in known if name != "side" or "side" in conditions]
    computed = computed.groupby([*keys, "quantity"], sort=False)["value"].mean().reset_index()
    parts = []
    for column, (name, quantity) in QUANTITIES.items():
        if column not in measured:
            continue
        own = computed[computed["quantity"] == quantity].drop(columns="quantity")
        both = measured[[*conditions, column]].merge(own, on=conditions)
        both = both.rename(columns={column: "measured_mpa", "value": "computed_mpa"})
        parts.append(both.assign(quantity=name))
    paired = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    found = paired[conditions].to_numpy().tolist() if len(paired) else []
    for row in measured[conditions].to_numpy().tolist():
        if row not in found:
            wanted = ", ".join(f"{name} {one}" for name, one in zip(conditions, row, strict=True))
            there = "; ".join(f"{name} {_range(contact[name])}" for name in conditions)
            raise ValueError(f"no case with {wanted}; the study has {there}")
    return paired[
        ["quantity", *[key for key in keys if key in paired], "measured_mpa", "computed_mpa"]
    ]


def _range(values: pd.Series) -> str:
    return ", ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in values.unique())


def pressure_errors(paired: pd.DataFrame, conditions: Sequence[str]) -> pd.DataFrame:
    """Mean, standard deviation and rms of computed less measured pressures, as in Table 3-1.

    One row for each quantity and choice of the study that is none of the conditions.
    `constant_mean_mpa` is the rms difference of the measurements from their own mean, which a model
    has to beat, and `skill` is 1 - (rms / constant mean)^2.
    """
    fixed = (*conditions, "measured_mpa", "computed_mpa", "side")
    groups = [name for name in map(str, paired) if name not in fixed and paired[name].nunique() > 1]
    groups = ["quantity", *(name for name in groups if name != "quantity")]
    rows = []
    for key, own in paired.groupby(groups, sort=False):
        error = (own["computed_mpa"] - own["measured_mpa"]).to_numpy()
        constant = float(own["measured_mpa"].std(ddof=0))
        rms = float(np.sqrt(np.mean(error**2)))
        skill = 1.0 - (rms / constant) ** 2 if constant else np.nan
        spread = float(error.std(ddof=1)) if error.size > 1 else np.nan
        rows.append([*key, error.size, float(error.mean()), spread, rms, constant, skill])
    return pd.DataFrame(rows, columns=[*groups, *ERRORS])


def rank_choices(errors: pd.DataFrame) -> pd.DataFrame:
    """Choices of a study by the rms of all quantities, least first: a search of a position.

    Parameters
    ----------
    errors : DataFrame
        Table of `pressure_errors`. Choices are its columns beside quantities and errors, such as a
        medial position and a rotation that were varied because a test did not measure them.

    Returns
    -------
    DataFrame
        One row per choice with its rms over all conditions and quantities, MPa; empty where the
        study has no choices.
    """
    choices = [name for name in map(str, errors) if name not in ("quantity", *ERRORS)]
    if not choices:
        return pd.DataFrame()
    squares = errors.assign(square=errors["cases"] * errors["rms_mpa"] ** 2)
    sums = squares.groupby(choices, sort=False)[["cases", "square"]].sum()
    found = sums.assign(rms_mpa=np.sqrt(sums["square"] / sums["cases"])).reset_index()
    found = found.drop(columns=["cases", "square"])
    return found.sort_values("rms_mpa", kind="stable", ignore_index=True)
