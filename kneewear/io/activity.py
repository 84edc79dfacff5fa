"""Activities (`activity/{activity}.nc`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kneewear.activity.activity import Activity
from kneewear.io import netcdf
from kneewear.io.netcdf import Variable

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
LAYOUT = netcdf.Layout(
    "activity",
    (
        Variable("percent", ("frame",), "percent", "percent of the cycle"),
        Variable("time", ("frame",), "s", "time"),
        *(Variable(name, ("frame",), "mm", _MEANINGS[name]) for name in _TRANSLATIONS),
        *(Variable(name, ("frame",), "rad", _MEANINGS[name]) for name in _ROTATIONS),
        Variable("load", ("frame",), "body weights", "axial load, downwards positive"),
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
    attributes = {
        "name": activity.name,
        "duration_s": float(activity.duration),
        "notes": "\n".join(activity.notes),
    }
    netcdf.save(LAYOUT, values, path, attributes)


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
    with netcdf.damage_told(path, LAYOUT):
        notes = str(attributes.get("notes", ""))
        return Activity(
            name=str(attributes["name"]),
            percent=values["percent"],
            duration=float(attributes["duration_s"]),
            translation=np.stack([values[name] for name in _TRANSLATIONS], axis=-1),
            rotation=np.stack([values[name] for name in _ROTATIONS], axis=-1),
            load=values["load"],
            notes=tuple(notes.split("\n")) if notes else (),
        )
