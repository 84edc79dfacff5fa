"""Deviation of every judged point from its patch (`geometry/deviation.nc`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from kneewear.geometry.fit_quality import FitQuality
from kneewear.io import netcdf
from kneewear.io.netcdf import Layout, Variable
from kneewear.sides import SIDES

_PATCHES = tuple((body, side) for body in ("femoral", "insert") for side in SIDES)
_NUMBERS = ("n_u", "n_v", "max_mm", "mean_mm", "sd_mm", "n_points", "ripple_mm")


def fit_table(quality: Sequence[FitQuality]) -> pd.DataFrame:
    """Deviation and ripple of every patch, a row a patch (`geometry/fit_quality.csv`)."""
    return pd.DataFrame([fit.row() for fit in quality], columns=FitQuality.columns())


def save_deviation(quality: Sequence[FitQuality], path: str | Path) -> None:
    """Write points and deviations of all patches.

    Parameters
    ----------
    quality : sequence of FitQuality
        One for each of the four patches.
    path : str or Path
        File to write.
    """
    values: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    for fit in quality:
        patch = f"{fit.component}_{fit.side}"
        values[f"{patch}_points"] = fit.points
        values[f"{patch}_deviation"] = fit.deviation
        attributes |= {f"{patch}_{name}": getattr(fit, name) for name in _NUMBERS}
    netcdf.save(_LAYOUT, values, path, attributes)


@netcdf.tells_damage("deviation of fitted surfaces")
def load_deviation(path: str | Path) -> list[FitQuality]:
    """Read points and deviations of all patches.

    Parameters
    ----------
    path : str or Path
        File written by `save_deviation`.

    Returns
    -------
    list of FitQuality
        Condyles, then plateaus, the medial one first.

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    values, attributes = netcdf.load(_LAYOUT, path)
    return [
        FitQuality(
            side=side,
            component=body,
            points=values[f"{body}_{side}_points"],
            deviation=values[f"{body}_{side}_deviation"],
            **_numbers(attributes, f"{body}_{side}"),
        )
        for body, side in _PATCHES
    ]


def _numbers(attributes: dict[str, Any], patch: str) -> dict[str, Any]:
    """Counts and lengths of a patch."""
    return {
        name: (int if name.startswith("n_") else float)(attributes[f"{patch}_{name}"])
        for name in _NUMBERS
    }


def _variables() -> tuple[Variable, ...]:
    found = []
    for body, side in _PATCHES:
        dimension = f"{body}_{side}_point"
        text = f"{side} {'condyle' if body == 'femoral' else 'plateau'}"
        found += [
            Variable(
                f"{body}_{side}_points", (dimension, "component"), "mm", f"points of the {text}"
            ),
            Variable(
                f"{body}_{side}_deviation", (dimension,), "mm", f"signed deviation on the {text}"
            ),
        ]
    return tuple(found)


_LAYOUT = Layout("deviation of fitted surfaces", _variables())
