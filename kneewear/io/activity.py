"""Activities (`activity/{activity}.nc`)."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from kneewear.activity.activity import Activity
from kneewear.io import netcdf
from kneewear.io.netcdf import Variable
from kneewear.mechanics.loads import Spring

_AXES = ("x", "y", "z")
_TRANSLATIONS = tuple(f"translation_{axis}" for axis in _AXES)
_ROTATIONS = tuple(f"rotation_{number}" for number in (1, 2, 3))
_MEANINGS = {
    "translation_x": "posterior position of the femoral component",
    "translation_y": "superior position of the femoral component",
    "translation_z": "medial position of the femoral component",
    "rotation_1": "first body-three angle (varus positive)",
    "rotation_2": "second body-three angle (tibial external rotation positive)",
    "rotation_3": "third body-three angle (flexion negative)",
}
_FORCES = tuple(f"force_{axis}" for axis in _AXES)
_MOMENTS = tuple(f"moment_{axis}" for axis in _AXES)
_WRENCH_MEANING = "on the femoral component besides the axial load, along"
LAYOUT = netcdf.Layout(
    "activity",
    (
        Variable("percent", ("frame",), "percent", "percent of the cycle"),
        Variable("time", ("frame",), "s", "time"),
        *(Variable(name, ("frame",), "mm", _MEANINGS[name]) for name in _TRANSLATIONS),
        *(Variable(name, ("frame",), "rad", _MEANINGS[name]) for name in _ROTATIONS),
        Variable("load", ("frame",), "body weights", "axial load, downwards positive"),
        *(
            Variable(name, ("frame",), "body weights", f"force {_WRENCH_MEANING} {name[-1]}")
            for name in _FORCES
        ),
        *(
            Variable(name, ("frame",), "body weights mm", f"moment {_WRENCH_MEANING} {name[-1]}")
            for name in _MOMENTS
        ),
    ),
)


def save_activity(activity: Activity, path: str | Path) -> None:
    """Write an activity.

    Parameters
    ----------
    activity : Activity
        One cycle.
    path : str or Path
        File to write.
    """
    values = {
        "percent": activity.percent,
        "time": activity.percent / 100 * activity.duration,
        "load": activity.load,
    }
    values |= {name: activity.translation[:, i] for i, name in enumerate(_TRANSLATIONS)}
    values |= {name: activity.rotation[:, i] for i, name in enumerate(_ROTATIONS)}
    values |= {name: activity.wrench[:, i] for i, name in enumerate((*_FORCES, *_MOMENTS))}
    attributes = {
        "name": activity.name,
        "duration_s": float(activity.duration),
        "prescribed": " ".join(activity.prescribed),
        # NetCDF has no empty value: an activity without a line says so by not having a number.
        "load_line_mm": np.nan if activity.load_line is None else float(activity.load_line),
        "springs": json.dumps([asdict(spring) for spring in activity.springs]),
        "deviation": np.asarray(activity.deviation, dtype=float),
        "deviation_harmonics": int(activity.deviation_harmonics),
        "notes": "\n".join(activity.notes),
        "warnings": "\n".join(activity.warnings),
    }
    netcdf.save(LAYOUT, values, path, attributes)


@netcdf.tells_damage("activity")
def load_activity(path: str | Path) -> Activity:
    """Read an activity.

    Parameters
    ----------
    path : str or Path
        File written by `save_activity`.

    Returns
    -------
    Activity
        One cycle.

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    values, attributes = netcdf.load(LAYOUT, path)
    line = float(attributes["load_line_mm"])
    springs = json.loads(str(attributes["springs"]))
    return Activity(
        name=str(attributes["name"]),
        percent=values["percent"],
        duration=float(attributes["duration_s"]),
        translation=np.stack([values[name] for name in _TRANSLATIONS], axis=-1),
        rotation=np.stack([values[name] for name in _ROTATIONS], axis=-1),
        load=values["load"],
        prescribed=tuple(str(attributes["prescribed"]).split()),
        load_line=None if np.isnan(line) else line,
        wrench=np.stack([values[name] for name in (*_FORCES, *_MOMENTS)], axis=-1),
        springs=tuple(Spring(**spring) for spring in springs),
        deviation=np.asarray(attributes["deviation"], dtype=float),
        deviation_harmonics=int(attributes["deviation_harmonics"]),
        notes=_lines(attributes["notes"]),
        warnings=_lines(attributes["warnings"]),
    )


def _lines(text: object) -> tuple[str, ...]:
    return tuple(str(text).split("\n")) if str(text) else ()
