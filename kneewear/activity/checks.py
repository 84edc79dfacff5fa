"""Checks whether a motion can be that of a knee, before any long computation."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.conventions import ANGLES, POSE, column_signs
from kneewear.activity.plausibility import farthest_from_neighbours
from kneewear.activity.settings import FileActivity, MotionSettings
from kneewear.base.checks import checks
from kneewear.errors import Finding, InputDataError

Array = NDArray[np.float64]

# Hyperextension that no knee reaches unless it flexes more, deg.
_HYPEREXTENSION = 15.0
# Ends of a cycle differ by less than this, or than this fraction of its range.
_GAP = {"deg": 5.0, "mm": 3.0}
_GAP_OF_RANGE = 0.3
# A sample is an outlier if it is off the line through its neighbours by this many medians more than
# the range of `motion.spike`.
_OFF_USUAL = 10.0
# Main sign of the curves of each edition (Wang et al. 2018, PLoS ONE 13:e0206496).
_POLARITY = {
    "iso14243-3:2004": {"anterior_posterior": -1, "rotation": 1},
    "iso14243-3:2014": {"anterior_posterior": 1, "rotation": -1},
}


def check_motion(motion: pd.DataFrame, settings: MotionSettings) -> tuple[Finding, ...]:
    """Refuse an impossible motion of a knee; return warnings of a suspicious one.

    `motion` has a column percent, and those of the pose (deg and mm) in the sense of the
    convention. Warnings name single samples far off their neighbours, and curves of the opposite
    sign to those of the named edition of a standard.

    Raises
    ------
    InputDataError
        If flexion has its sign reversed, or the motion does not end where it starts.
    """
    names = [name for name in POSE if name in motion]
    _check_flexion(motion, settings)
    for name in names:
        _check_periodic(motion, name, settings)
    found = [_outlier(motion, name, settings) for name in names]
    return (*filter(None, found), *_polarity(motion, settings))


def check_side(settings: FileActivity, knee: str) -> None:
    """Refuse columns whose names are those of the other knee than the implant's, right or left.

    InputDataError if a name ends in `_l` or holds "left" and the knee is a right one, or the
    reverse; or if the motion of a left knee is given in the convention of OpenSim.
    """
    other = "left" if knee == "right" else "right"
    pattern = re.compile(rf"(^|[_/ ]){other[0]}($|[/ ])|(^|[_/ ]){other}($|[_/ ])", re.IGNORECASE)
    for part in (settings.motion, settings.load):
        for name, column in part.columns.given().items():
            # "force_l" may well be that of the lateral side.
            if name != "lateral" and pattern.search(column):
                raise InputDataError(
                    part.file,
                    f"column '{column}' ({name}), which looks like that of a {other} knee",
                    f"columns of the {knee} knee the implant is made for",
                    "Name the other columns, or correct implant.knee.",
                )
    if settings.motion.convention == "opensim" and knee == "left":
        raise InputDataError(
            settings.motion.file,
            "convention: opensim for a left knee",
            "a right knee; left models differ in the signs of their axes",
            "Give the pose of the femoral component in the insert as grood-suntay.",
        )


def _unit(name: str) -> str:
    return "deg" if name in ANGLES else "mm"


def _position(settings: MotionSettings, name: str, row: int | None = None) -> str:
    column = f"column '{getattr(settings.columns, name)}'"
    return column if row is None else f"{column}, data row {row + 1}"


def _check_flexion(motion: pd.DataFrame, settings: MotionSettings) -> None:
    """Refuse a knee that extends more than it flexes."""
    flexion = column_signs(settings)["flexion"] * motion["flexion"].to_numpy(dtype=float)
    least = int(np.argmin(flexion))
    if flexion[least] < -_HYPEREXTENSION and -flexion[least] > flexion.max():
        raise InputDataError(
            settings.file,
            f"flexion of {motion['flexion'].iloc[least]:g}, hyperextended by "
            f"{-flexion[least]:.3g} deg in this convention",
            "a knee that flexes more than it hyperextends",
            "Flexion is negative in this file: "
            + (
                f"use convention: signs with flexion: {-column_signs(settings)['flexion']}."
                if settings.convention in ("grood-suntay", "signs")
                else "reverse its sign there."
            ),
            _position(settings, "flexion", least),
        )


def _check_periodic(motion: pd.DataFrame, name: str, settings: MotionSettings) -> None:
    """Refuse a motion whose last sample does not lead to the first."""
    percent, values = (motion[column].to_numpy(dtype=float) for column in ("percent", name))
    gap, unit = float(values[0] - values[-1]), _unit(name)
    if percent[-1] < 100.0 - 1e-9:
        # The step over the end may be as large as any other of its length.
        steps = np.abs(np.diff(values)) / np.diff(percent)
        allowed = 3.0 * float(steps.max()) * (100.0 - percent[-1])
    else:
        allowed = _GAP_OF_RANGE * float(np.ptp(values))
    if abs(gap) > max(allowed, _GAP[unit]):
        raise InputDataError(
            settings.file,
            f"{name.replace('_', ' ')} of {values[0]:g} in the first row and {values[-1]:g} in the "
            f"last, {abs(gap):.3g} {unit} apart",
            "a cycle that ends where it starts",
            "Cut the cycle from one heel strike to the next of the same foot.",
            _position(settings, name),
        )


def _outlier(motion: pd.DataFrame, name: str, settings: MotionSettings) -> Finding | None:
    """Finding about the sample farthest off its neighbours, if it is an outlier."""
    percent, values = (motion[column].to_numpy(dtype=float) for column in ("percent", name))
    worst = farthest_from_neighbours(percent, values)
    if worst is None:
        return None
    row, size, usual = worst
    if size < checks()["motion.spike"].range.high + _OFF_USUAL * usual:
        return None
    return Finding(
        "motion.spike",
        "warn",
        f"{settings.file}, {_position(settings, name, row)}",
        f"{values[row]:g}, {size:.3g} {_unit(name)} off the line through its neighbours",
        "a smooth motion",
        "Check this sample; motion.smoothing_harmonics smooths noise away.",
    )


def _polarity(motion: pd.DataFrame, settings: MotionSettings) -> tuple[Finding, ...]:
    """Findings about curves of the opposite sign to those of the named edition."""
    found = []
    for name, way in _POLARITY.get(settings.convention, {}).items():
        # Signs of the user's own go before those of the edition.
        if getattr(settings, "signs", None) is not None or name not in motion:
            continue
        values = motion[name].to_numpy(dtype=float)
        farthest = int(np.argmax(np.abs(values)))
        if values[farthest] * way < 0:
            finding = Finding(
                "motion.polarity",
                "warn",
                f"{settings.file}, {_position(settings, name, farthest)}",
                f"{name.replace('_', ' ')} mainly {'negative' if way > 0 else 'positive'} (up to "
                f"{values[farthest]:g} {_unit(name)})",
                f"mainly {'positive' if way > 0 else 'negative'} values, as in the curves of "
                f"{settings.convention}",
                "Check the edition; with convention: signs nothing is assumed.",
            )
            found.append(finding)
    return tuple(found)
