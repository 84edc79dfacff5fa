"""Static studies (`simulation/static.nc`)."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np

from kneewear.io import netcdf
from kneewear.io.netcdf import Variable
from kneewear.studies.static.record import StaticCase, StaticRecord

_CASE, _SIDE, _ELEMENT = ("case",), ("case", "side"), ("element",)
LAYOUT = netcdf.Layout(
    "static study",
    (
        Variable("material", _CASE, "1", "pressure law", coordinate=True),
        Variable("flexion", _CASE, "deg", "flexion", coordinate=True),
        Variable("posterior", _CASE, "mm", "position or start behind the insert", coordinate=True),
        Variable("load", _CASE, "N", "load along -y", coordinate=True),
        Variable("side", ("side",), "1", "pair of surfaces", coordinate=True),
        Variable("component", ("component",), "1", "axis of the insert's frame", coordinate=True),
        Variable("translation", (*_CASE, "component"), "mm", "position of the femoral component"),
        Variable("rotation", (*_CASE, "component"), "rad", "body-three angles 1-2-3"),
        Variable(
            "reaction",
            (*_CASE, "coordinate"),
            "N, N mm",
            "what holds the coordinates: three forces, three moments",
        ),
        Variable("residual", _CASE, "1", "largest residual relative to the load"),
        Variable("force", (*_SIDE, "component"), "N", "contact force on the insert"),
        Variable(
            "torque", (*_SIDE, "component"), "N mm", "contact torque about the insert's origin"
        ),
        Variable("max_pressure", _SIDE, "MPa", "largest element pressure"),
        Variable("avg_pressure", _SIDE, "MPa", "mean non-zero element pressure"),
        Variable("contact_area", _SIDE, "mm2", "loaded area"),
        Variable("max_penetration", _SIDE, "mm", "largest penetration"),
        Variable("active_elements", _SIDE, "1", "number of loaded elements"),
        Variable("rows", _SIDE, "1", "rows of elements"),
        Variable("columns", _SIDE, "1", "columns of elements"),
        Variable(
            "centre_of_pressure",
            (*_SIDE, "component"),
            "mm",
            "force-weighted mean of element centres, NaN where unloaded",
            may_be_nan=True,
        ),
        Variable("element_case", _ELEMENT, "1", "case of a loaded element, counted from 0"),
        Variable("element_side", _ELEMENT, "1", "its side, counted from 0"),
        Variable("element_pressure", _ELEMENT, "MPa", "its pressure"),
        Variable("element_area", _ELEMENT, "mm2", "its area"),
        Variable("element_centre", (*_ELEMENT, "component"), "mm", "its centre"),
        Variable(
            "element_corners",
            (*_ELEMENT, "element_corner", "plan"),
            "mm",
            "corners of its cell: x and z, on a post -y and z",
        ),
    ),
)
_LABELS = ("material", "flexion", "posterior", "load", "side", "component")


def save_static(record: StaticRecord, path: str | Path) -> None:
    """Write a static study.

    Parameters
    ----------
    record : StaticRecord
        All cases.
    path : str or Path
        File to write.
    """
    values = {
        field.name: getattr(record, field.name)
        for field in fields(record)
        if field.name not in ("cases", "sides")
    }
    values |= {
        name: np.array([getattr(case, name) for case in record.cases])
        for name in ("material", "flexion", "posterior", "load")
    }
    values |= {"side": np.array(record.sides), "component": np.array(["x", "y", "z"])}
    netcdf.save(LAYOUT, values, path, {})


@netcdf.tells_damage("static study")
def load_static(path: str | Path) -> StaticRecord:
    """Read a static study.

    Parameters
    ----------
    path : str or Path
        File written by `save_static`.

    Returns
    -------
    StaticRecord
        All cases.

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    values, _ = netcdf.load(LAYOUT, path)
    columns = (values[name] for name in ("material", "flexion", "posterior", "load"))
    return StaticRecord(
        cases=tuple(
            StaticCase(str(material), float(flexion), float(posterior), float(load))
            for material, flexion, posterior, load in zip(*columns, strict=True)
        ),
        sides=tuple(str(side) for side in values["side"]),
        **{name: value for name, value in values.items() if name not in _LABELS},
    )
