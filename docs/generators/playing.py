"""Data of the page that plays: cases of the default study as small maps and their numbers."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

import kneewear as kw
from kneewear.study.study import WearStudy
from kneewear.wear.creep import creep_development, minutes_of_life

# Elements of a cell of the page along rows and along columns.
CELL = 2
# Steps of a depth in a byte.
STEPS = 255
# Longest life that the page shows, months.
MAX_MONTHS = 120
FILE = "play_data.js"


def write_playing_data(folder: Path) -> None:
    """Compute the default study, and write its maps as a script, which pages read from disk."""
    study = kw.default_study()
    knee = kw.build_knee(study)
    cycles = kw.simulate(knee, study)
    content = playing_data(kw.accumulate_wear(cycles, study), study)
    text = json.dumps(content, separators=(",", ":"))
    (folder / FILE).write_text(f"window.KNEEWEAR_CASES = {text};\n", encoding="utf-8")


def playing_data(damage: xr.Dataset, study: WearStudy) -> dict[str, Any]:
    """Maps and numbers of all cases, which must be all pairs of a thickness and a mass.

    Parameters
    ----------
    damage : xarray.Dataset
        From `kneewear.accumulate_wear`, of one life on a surface that stays fresh.
    study : WearStudy
        Its settings.

    Returns
    -------
    dict
        Levels of thickness (mm) and mass (kg); for each case, thickness first, `wear` and `creep`
        of the whole life as bytes (base64) of `STEPS` of the `scales` (mm), side by side, row by
        row; volumes of wear (mm3) of both sides and largest depths (mm); ratios of creep to its
        value at the end by month; and the place of the cells.

    Raises
    ------
    ValueError
        If the cases are not all pairs, or depths do not follow from one step.
    """
    life = damage.isel(life=0)
    thickness, mass = (np.unique(life[name].values) for name in ("thickness", "body_mass"))
    pairs = list(zip(life["thickness"].values, life["body_mass"].values, strict=True))
    order = [pairs.index((h, m)) for h in thickness for m in mass if (h, m) in pairs]
    if len(order) != len(thickness) * len(mass) or len(order) != len(pairs):
        raise ValueError("the page needs every pair of thickness and mass once")
    if study.wear.blocks != 1:
        raise ValueError("the page scales wear with time, which holds on a fresh surface only")
    wear, creep = (life[name].values[order] for name in ("wear_depth", "creep_depth"))
    scales = {"wear": float(wear.max()), "creep": float(creep.max())}
    maps = {"wear": wear, "creep": creep}
    pressure = life["max_pressure"].values[order].max((1, 2, 3))
    area = life["area"].values
    end = minutes_of_life(study.wear.months)
    months = range(1, MAX_MONTHS + 1)
    return {
        "thickness": thickness.tolist(),
        "mass": mass.tolist(),
        "months": study.wear.months,
        "cycles_per_year": study.wear.cycles_per_year,
        "density": study.wear.density_mg_per_mm3,
        "pressure_limit": study.report.pressure_limit_mpa,
        "scales": scales,
        "maps": {name: [_packed(depth, scales[name]) for depth in maps[name]] for name in maps},
        "volume": [float(f"{(depth * area).sum():.5g}") for depth in np.nan_to_num(wear)],
        "depth": [float(f"{depth.max():.4g}") for depth in wear],
        "pressure": [float(f"{largest:.4g}") for largest in pressure],
        "creep_ratio": [float(f"{creep_development(minutes_of_life(m), end):.5g}") for m in months],
        "cells": _cells(life),
    }


def _packed(depth: NDArray[np.float64], scale: float) -> str:
    """Depth of all sides, shape (side, row, column), as bytes of cells."""
    side, rows, columns = depth.shape
    rows, columns = rows // CELL, columns // CELL
    kept = depth[:, : rows * CELL, : columns * CELL]
    mean = kept.reshape(side, rows, CELL, columns, CELL).mean(axis=(2, 4))
    steps = np.round(STEPS * np.nan_to_num(mean) / scale).astype(np.uint8)
    return base64.b64encode(steps.tobytes()).decode("ascii")


def _cells(life: xr.Dataset) -> dict[str, Any]:
    """Number of rows and columns of cells, and the ends of each side along x and z, mm."""
    x, z = (life[name].values for name in ("x", "z"))
    rows, columns = (size // CELL for size in x.shape[1:])
    ends = [
        [float(f(axis)) for axis in (one_x, one_z) for f in (np.nanmin, np.nanmax)]
        for one_x, one_z in zip(x, z, strict=True)
    ]
    return {"rows": rows, "columns": columns, "ends": ends, "sides": life["side"].values.tolist()}
