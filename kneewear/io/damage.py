"""Damage maps (`wear/{batch}.nc`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kneewear.io import netcdf
from kneewear.io.history import case_labels, labelled_cases
from kneewear.io.netcdf import Variable
from kneewear.wear.maps import DamageMaps, join_damage

_MAP = ("life", "case", "side", "row", "column")
_ONE_MAP = (1, 1, 2, 1000, 1000)
LAYOUT = netcdf.Layout(
    "damage maps",
    (
        Variable("life", ("life",), "1", "name of the life", coordinate=True),
        Variable("activity", ("activity",), "1", "name of the activity", coordinate=True),
        Variable("case", ("case",), "1", "name of the case", coordinate=True),
        Variable("thickness", ("case",), "mm", "minimum insert thickness", coordinate=True),
        Variable("body_mass", ("case",), "kg", "body mass", coordinate=True),
        Variable("side", ("side",), "1", "side of the knee", coordinate=True),
        Variable("shares", ("life", "activity"), "1", "share of the life's cycles"),
        Variable("wear_depth", _MAP, "mm", "depth worn away", chunks=_ONE_MAP),
        Variable("creep_depth", _MAP, "mm", "depth crept", chunks=_ONE_MAP),
        Variable("damage_depth", _MAP, "mm", "depth worn away and crept", chunks=_ONE_MAP),
        Variable("max_pressure", _MAP, "MPa", "largest pressure in any activity", chunks=_ONE_MAP),
        Variable(
            "avg_pressure",
            ("life", "case", "side"),
            "MPa",
            "maximum over the cycle of the mean non-zero element pressure",
        ),
        Variable(
            "cross_shear",
            _MAP,
            "1",
            "frictional work across its principal direction as a part of all",
            chunks=_ONE_MAP,
        ),
    ),
)
_ARRAYS = (
    "shares",
    "wear_depth",
    "creep_depth",
    "damage_depth",
    "max_pressure",
    "avg_pressure",
    "cross_shear",
)


def save_damage(maps: DamageMaps, path: str | Path) -> None:
    """Write damage maps.

    Parameters
    ----------
    maps : DamageMaps
        Maps of a batch of cases.
    path : str or Path
        File to write.
    """
    values = {name: getattr(maps, name) for name in _ARRAYS}
    values |= case_labels(maps.cases)
    values |= {
        "life": np.array(maps.lives),
        "activity": np.array(maps.activities),
        "side": np.array(maps.sides),
    }
    netcdf.save(LAYOUT, values, path, {})


@netcdf.tells_damage("damage maps")
def load_damage(path: str | Path | Sequence[str | Path]) -> DamageMaps:
    """Read damage maps.

    Parameters
    ----------
    path : str, Path or sequence of them
        Files written by `save_damage`; several are joined along the cases.

    Returns
    -------
    DamageMaps
        The maps.

    Raises
    ------
    InputDataError
        When a file is missing, damaged or of another kind.
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    return join_damage([_load_one(one) for one in paths])


def _load_one(path: str | Path) -> DamageMaps:
    values, _ = netcdf.load(LAYOUT, path)
    return DamageMaps(
        lives=tuple(str(life) for life in values["life"]),
        activities=tuple(str(activity) for activity in values["activity"]),
        cases=labelled_cases(values),
        sides=tuple(str(side) for side in values["side"]),
        **{name: values[name] for name in _ARRAYS},
    )
