"""Poses as a caller gives them: arrays of the frame of the insert, or tables with named columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.activity.conventions import femoral_pose
from kneewear.activity.settings import POSE_COLUMNS, ClinicalMotion

Array = NDArray[np.float64]

# Columns of a table of poses as arrays have them.
COORDINATES = ("posterior", "superior", "medial", "varus", "external_rotation", "extension")
CONVENTIONS = ("insert", *get_args(ClinicalMotion.model_fields["convention"].annotation))
UNITS = {"mm": 1.0, "cm": 10.0, "m": 1000.0}
ANGLES = {"rad": 1.0, "deg": float(np.pi) / 180.0}


def poses_of_columns(poses: Any, convention: str, units: tuple[str, str]) -> Array:
    """Poses (n, 6) in the frame of the insert, mm and body-three 1-2-3 angles, rad.

    Parameters
    ----------
    poses : array or DataFrame
        Shape (6,) or (n, 6) in the order of `COORDINATES`; or a table whose columns are these, or,
        with another convention, those of motion files (`POSE_COLUMNS`), in any order.
    convention : str
        "insert"; "grood-suntay" or "body-123", as of motion files, for tables.
    units : tuple of str
        Units of positions and angles.

    Raises
    ------
    TypeError
        If the values are no plain real numbers.
    ValueError
        If columns are missing, a value is not finite, or an angle is above pi.
    """
    length, angle = _factors(convention, units)
    if isinstance(poses, xr.Dataset | xr.DataArray):
        raise TypeError("found a dataset of poses; expected an array, or a DataFrame")
    if isinstance(poses, pd.DataFrame):
        wanted = COORDINATES if convention == "insert" else POSE_COLUMNS
        missing = [name for name in wanted if name not in poses]
        if missing:
            raise ValueError(
                f"found columns {', '.join(map(str, poses))}; expected {', '.join(wanted)}. Name "
                "them, or give an array in that order."
            )
        given = _numbers(poses[list(wanted)])
    elif convention != "insert":
        raise ValueError(f"found an array with convention={convention!r}; expected a DataFrame")
    else:
        given = np.atleast_2d(_numbers(poses))
    if given.ndim != 2 or given.shape[1] != 6 or not len(given) or not np.isfinite(given).all():
        raise ValueError(
            f"poses of shape {np.shape(poses)}; expected finite numbers of shape (6,) or (n, 6): "
            "three coordinates of the position and three angles"
        )
    if convention == "insert":
        found = given * ([length] * 3 + [angle] * 3)
    else:
        found = _converted(given, convention, length, angle)
    largest = float(np.abs(found[:, 3:]).max())
    if largest > np.pi:
        raise ValueError(
            f"an angle of {largest:.4g} rad; expected at most pi. Angles in degrees need "
            "units=('mm', 'deg'); poses are rows."
        )
    return found


def _factors(convention: str, units: Sequence[str]) -> tuple[float, float]:
    """Factors to mm and rad."""
    if convention not in CONVENTIONS:
        raise ValueError(f"convention {convention!r}; expected one of {', '.join(CONVENTIONS)}")
    if len(units) != 2 or units[0] not in UNITS or units[1] not in ANGLES:
        raise ValueError(
            f"units {units!r}; expected one of {', '.join(UNITS)} and one of {', '.join(ANGLES)}"
        )
    return UNITS[units[0]], ANGLES[units[1]]


def _numbers(values: Any) -> Array:
    """Plain real numbers; no masks, complex numbers, booleans, dates or objects."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("found masked poses; expected plain numbers. Leave out the masked rows.")
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"found poses of type {array.dtype}; expected real numbers")
    return array.astype(float)


def _converted(given: Array, convention: str, length: float, angle: float) -> Array:
    """Poses of a motion's convention."""
    size = dict.fromkeys(POSE_COLUMNS[:3], np.degrees(angle)) | dict.fromkeys(
        POSE_COLUMNS[3:], length
    )
    table = pd.DataFrame(given * [size[name] for name in POSE_COLUMNS], columns=list(POSE_COLUMNS))
    columns = {name: name for name in POSE_COLUMNS} | {"percent": "percent"}
    settings = ClinicalMotion.model_validate(
        {"file": "poses", "convention": convention, "columns": columns}
    )
    return np.hstack(femoral_pose(table, settings))
