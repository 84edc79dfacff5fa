"""Contact histories (`simulation/{activity}/{batch}.nc`)."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from kneewear.io import netcdf
from kneewear.io.netcdf import Variable
from kneewear.settings.cases import Case
from kneewear.simulation.history import ContactHistory, Failure

_FRAME = ("case", "frame")
_SIDE = (*_FRAME, "side")
_ELEMENT = (*_SIDE, "row", "column")
# A few frames of one case in a chunk: reading one case or one frame stays cheap.
_FEW_FRAMES = (1, 10, 2, 1000, 1000)
LAYOUT = netcdf.Layout(
    "contact history",
    (
        Variable("case", ("case",), "1", "name of the case", coordinate=True),
        Variable("thickness", ("case",), "mm", "minimum insert thickness", coordinate=True),
        Variable("body_mass", ("case",), "kg", "body mass", coordinate=True),
        Variable("side", ("side",), "1", "side of the knee", coordinate=True),
        Variable("component", ("component",), "1", "axis of the insert's frame", coordinate=True),
        Variable("percent", ("frame",), "percent", "percent of the cycle", coordinate=True),
        Variable("time", ("frame",), "s", "time", coordinate=True),
        Variable("pressure", _ELEMENT, "MPa", "contact pressure", chunks=_FEW_FRAMES),
        Variable(
            "slip",
            (*_ELEMENT, "tangent"),
            "mm",
            "tangential displacement of the femoral surface during one frame interval",
            chunks=(*_FEW_FRAMES, 2),
        ),
        Variable("translation", (*_FRAME, "component"), "mm", "position of the femoral component"),
        Variable("rotation", (*_FRAME, "component"), "rad", "body-three angles 1-2-3"),
        Variable("load", _FRAME, "N", "load along -y"),
        Variable("load_line", _FRAME, "mm", "medial position of the load"),
        Variable("force", (*_SIDE, "component"), "N", "contact force on the insert"),
        Variable(
            "torque", (*_SIDE, "component"), "N mm", "contact torque about the insert's origin"
        ),
        Variable(
            "reaction_force", (*_FRAME, "component"), "N", "drivers' force on the femoral component"
        ),
        Variable(
            "reaction_moment",
            (*_FRAME, "component"),
            "N mm",
            "drivers' moment on the femoral component about its origin",
        ),
        Variable(
            "inertia_force",
            (*_FRAME, "component"),
            "N",
            "force the femoral component's acceleration takes",
        ),
        Variable(
            "inertia_moment",
            (*_FRAME, "component"),
            "N mm",
            "moment the femoral component's acceleration takes, about its origin",
        ),
        Variable("spring_force", _FRAME, "N", "medial-lateral spring force"),
        Variable("max_pressure", _SIDE, "MPa", "largest element pressure"),
        Variable("avg_pressure", _SIDE, "MPa", "mean non-zero element pressure"),
        Variable("contact_area", _SIDE, "mm2", "loaded area"),
        Variable("max_penetration", _SIDE, "mm", "largest penetration"),
        Variable("active_elements", _SIDE, "1", "number of loaded elements"),
        Variable(
            "centre_of_pressure",
            (*_SIDE, "component"),
            "mm",
            "pressure-weighted mean of element centres, NaN where unloaded",
            may_be_nan=True,
        ),
        Variable(
            "residual",
            _FRAME,
            "1",
            "largest unbalanced force along a free coordinate relative to the load",
        ),
    ),
)
# Histories of single elements, which are most of a file, and their dimensions beyond the elements'.
ELEMENT_HISTORIES: dict[str, tuple[int, ...]] = {"pressure": (), "slip": (2,)}
_LABELS = ("case", "thickness", "body_mass", "side", "component")


def save_history(history: ContactHistory, path: str | Path) -> None:
    """Write a contact history.

    Parameters
    ----------
    history : ContactHistory
        Histories of a batch of cases.
    path : str or Path
        File to write.
    """
    values = {
        field.name: getattr(history, field.name)
        for field in fields(history)
        if field.name not in ("activity", "analysis", "cases", "failures", "sides")
    }
    values["pressure"] = np.asarray(history.pressure, dtype=np.float32)
    values["slip"] = np.asarray(history.slip, dtype=np.float32)
    values |= case_labels(history.cases)
    values |= {"side": np.array(history.sides), "component": np.array(["x", "y", "z"])}
    attributes = {
        "activity": history.activity,
        "analysis": history.analysis,
        "failures": json.dumps([asdict(failure) for failure in history.failures]),
    }
    netcdf.save(LAYOUT, values, path, attributes)


@netcdf.tells_damage("contact history")
def load_history(
    path: str | Path | Sequence[str | Path], leave_out: Collection[str] = ()
) -> ContactHistory:
    """Read a contact history.

    Parameters
    ----------
    path : str, Path or sequence of them
        Files written by `save_history`; several are joined along the cases.
    leave_out : collection of str
        Histories of elements that stay on disk, of `ELEMENT_HISTORIES`; they then have no rows and
        columns.

    Returns
    -------
    ContactHistory
        The histories.

    Raises
    ------
    InputDataError
        When a file is missing, damaged or of another kind.
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    return _history([netcdf.load(LAYOUT, one, leave_out) for one in paths], leave_out)


def _history(
    files: Sequence[tuple[dict[str, Any], dict[str, Any]]], left_out: Collection[str] = ()
) -> ContactHistory:
    """One history from values and attributes of files."""
    values = netcdf.joined((values for values, _ in files), LAYOUT, "case")
    cases = labelled_cases(values)
    sides = tuple(str(side) for side in values["side"])
    empty = (len(cases), values["percent"].size, len(sides), 0, 0)
    for name in left_out:
        values[name] = np.zeros((*empty, *ELEMENT_HISTORIES[name]), np.float32)
    arrays = {name: value for name, value in values.items() if name not in _LABELS}
    attributes = files[0][1]
    return ContactHistory(
        activity=str(attributes["activity"]),
        analysis=str(attributes["analysis"]),
        cases=cases,
        failures=tuple(failure for _, one in files for failure in _failures(one["failures"])),
        sides=sides,
        **arrays,
    )


@netcdf.tells_damage("contact history")
def load_case(paths: Sequence[str | Path], name: str) -> dict[str, ContactHistory]:
    """Read the contact histories of one case.

    Parameters
    ----------
    paths : sequence of str or Path
        Files written by `save_history`, one an activity.
    name : str
        Name of the case.

    Returns
    -------
    dict of activity name to ContactHistory
        Of no case where it failed.

    Raises
    ------
    InputDataError
        When a file is missing, damaged or of another kind.
    """
    parts = (_history([netcdf.load(LAYOUT, path, only={"case": name})]) for path in paths)
    return {history.activity: history for history in parts}


def _failures(text: Any) -> list[Failure]:
    """Failures from the attribute they are stored in."""
    return [
        Failure(Case(**row["case"]), row["reason"], row["frame"], row["residual"])
        for row in json.loads(str(text))
    ]


def case_labels(cases: Sequence[Case]) -> dict[str, Any]:
    """Coordinates of the case axis.

    Parameters
    ----------
    cases : sequence of Case
        The cases.

    Returns
    -------
    dict of name to array
        `case` (names), `thickness` (mm) and `body_mass` (kg).
    """
    return {
        "case": np.array([case.name for case in cases]),
        "thickness": np.array([case.thickness for case in cases], dtype=float),
        "body_mass": np.array([case.body_mass for case in cases], dtype=float),
    }


def labelled_cases(values: dict[str, Any]) -> tuple[Case, ...]:
    """Cases from the coordinates of the case axis.

    Parameters
    ----------
    values : dict
        Arrays `case`, `thickness` and `body_mass`.

    Returns
    -------
    tuple of Case
        The cases.
    """
    columns = zip(values["case"], values["thickness"], values["body_mass"], strict=True)
    return tuple(Case(str(name), float(h), float(mass)) for name, h, mass in columns)
